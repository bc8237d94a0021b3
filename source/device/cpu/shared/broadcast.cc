// SPDX-License-Identifier: Apache-2.0
// Broadcasting, see broadcast.h. The shapes are simplified once; the walk then carries an index
// like an odometer, without division.
#include "device/cpu/shared/broadcast.h"

#include <algorithm>

#include "device/cpu/parallel.h"

namespace tengine::cpu {
namespace {

// Smaller tensors are not worth a second thread.
constexpr int64_t kGrain = 8192;

// A dimension of the output, and the stride of each input along it, in elements.
struct Dimension
{
    int64_t size;
    int64_t strides[kMaxBroadcastInputs];
};

// Dimensions from the innermost outwards, without those of one element; neighbours are merged where
// all inputs allow it: equal shapes become one dimension, a bias per channel three.
struct BroadcastPlan
{
    int input_num = 0;
    int rank = 0;
    Dimension dims[MAX_SHAPE_DIM_NUM] = {};
};

bool continues(const BroadcastPlan& plan, const Dimension& next)
{
    if (plan.rank == 0) return false;
    const Dimension& inner = plan.dims[plan.rank - 1];
    for (int k = 0; k < plan.input_num; ++k) {
        if (next.strides[k] != inner.strides[k] * inner.size) return false;
    }
    return true;
}

BroadcastPlan make_plan(const tensor* output, const tensor* const inputs[], int input_num)
{
    BroadcastPlan plan;
    plan.input_num = input_num;
    int64_t dense[kMaxBroadcastInputs] = {1, 1, 1};
    for (int i = 1; i <= output->dim_num; ++i) {
        Dimension next = {output->dims[output->dim_num - i], {}};
        if (next.size == 1) continue;
        for (int k = 0; k < input_num; ++k) {
            const int axis = inputs[k]->dim_num - i;
            const int64_t size = axis >= 0 ? inputs[k]->dims[axis] : 1;
            next.strides[k] = size == 1 ? 0 : dense[k];
            dense[k] *= size;
        }
        if (continues(plan, next)) {
            plan.dims[plan.rank - 1].size *= next.size;
        } else {
            plan.dims[plan.rank++] = next;
        }
    }
    if (plan.rank == 0) plan.dims[plan.rank++].size = 1;
    return plan;
}

// Position in the output and in the inputs.
class Odometer
{
  public:
    Odometer(const BroadcastPlan& plan, int64_t position) : plan_(plan)
    {
        for (int d = 0; d < plan.rank; ++d) {
            index_[d] = position % plan.dims[d].size;
            position /= plan.dims[d].size;
            move(plan.dims[d], index_[d]);
        }
    }

    const int64_t* offsets() const { return offsets_; }
    int64_t left_in_run() const { return plan_.dims[0].size - index_[0]; }

    void advance(int64_t count)
    {
        for (int d = 0; d < plan_.rank; ++d, count = 1) {
            const Dimension& dimension = plan_.dims[d];
            index_[d] += count;
            move(dimension, count);
            if (index_[d] < dimension.size) return;
            move(dimension, -index_[d]);
            index_[d] = 0;
        }
    }

  private:
    void move(const Dimension& dimension, int64_t steps)
    {
        for (int k = 0; k < plan_.input_num; ++k)
            offsets_[k] += steps * dimension.strides[k];
    }

    const BroadcastPlan& plan_;
    int64_t index_[MAX_SHAPE_DIM_NUM] = {};
    int64_t offsets_[kMaxBroadcastInputs] = {};
};

}  // namespace

void broadcast(thread_pool_t* pool, const tensor* output, const tensor* const inputs[],
               int input_num, void (*body)(const void* argument, const BroadcastRun& run),
               const void* argument)
{
    if (output->elem_num == 0) return;
    const BroadcastPlan plan = make_plan(output, inputs, input_num);
    parallel_for(pool, output->elem_num, kGrain, [&](int64_t begin, int64_t end, int) {
        Odometer odometer(plan, begin);
        BroadcastRun run = {begin, 0, {}, {}};
        std::copy_n(plan.dims[0].strides, input_num, run.strides);
        while (run.position < end) {
            run.count = std::min(odometer.left_in_run(), end - run.position);
            std::copy_n(odometer.offsets(), input_num, run.offsets);
            body(argument, run);
            run.position += run.count;
            odometer.advance(run.count);
        }
    });
}

}  // namespace tengine::cpu
