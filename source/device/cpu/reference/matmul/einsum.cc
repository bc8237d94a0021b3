// SPDX-License-Identifier: Apache-2.0
// Einsum as the nested loop of its plan: the output's labels outside, the sums inside.
#include <algorithm>

#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/matmul/accumulator.h"
#include "device/cpu/shared/grain.h"
#include "device/cpu/shared/types.h"
#include "operator/infer.h"
#include "operator/onnx/einsum_param.h"
#include "operator/onnx/macs.h"

namespace tengine::cpu {
namespace {

// The position in each input.
struct Offsets
{
    int64_t values[EINSUM_MAX_INPUTS];
};

template <class T>
class Product
{
  public:
    Product(const KernelContext& context, const einsum_plan& plan)
        : plan_(plan), input_num_(context.input_num())
    {
        for (int i = 0; i < input_num_; ++i)
            inputs_[i] = static_cast<const T*>(context.input(i)->data);
    }

    // Returns the offsets for output element `index`.
    Offsets locate(int64_t index) const
    {
        Offsets at = {};
        for (int loop = plan_.output_rank - 1; loop >= 0; --loop) {
            const int64_t position = index % plan_.sizes[loop];
            index /= plan_.sizes[loop];
            for (int i = 0; i < input_num_; ++i)
                at.values[i] += position * plan_.strides[i][loop];
        }
        return at;
    }

    // Sums over the loops from `loop` on. Not inlined: compilers unroll the recursion, which makes
    // the code ten times as large and no faster.
    [[gnu::noinline]] accumulator_t<T> sum(int loop, Offsets at) const
    {
        if (loop == plan_.loop_num) return multiply(at);
        if (loop == plan_.loop_num - 1 && input_num_ == 2) return sum_pairs(loop, at);
        accumulator_t<T> total = 0;
        for (int64_t i = 0; i < plan_.sizes[loop]; ++i) {
            total += sum(loop + 1, at);
            for (int k = 0; k < input_num_; ++k)
                at.values[k] += plan_.strides[k][loop];
        }
        return total;
    }

  private:
    accumulator_t<T> multiply(const Offsets& at) const
    {
        accumulator_t<T> product = 1;
        for (int k = 0; k < input_num_; ++k)
            product *= widen(inputs_[k][at.values[k]]);
        return product;
    }

    accumulator_t<T> sum_pairs(int loop, const Offsets& at) const
    {
        const T* a = inputs_[0] + at.values[0];
        const T* b = inputs_[1] + at.values[1];
        const int64_t a_stride = plan_.strides[0][loop];
        const int64_t b_stride = plan_.strides[1][loop];
        accumulator_t<T> total = 0;
        for (int64_t i = 0; i < plan_.sizes[loop]; ++i)
            total += widen(a[i * a_stride]) * widen(b[i * b_stride]);
        return total;
    }

    const einsum_plan& plan_;
    int input_num_;
    const T* inputs_[EINSUM_MAX_INPUTS];
};

// The most multiplications that a few bytes of a file may request: minutes, not years.
constexpr int64_t kMostMultiplications = int64_t{1} << 38;

int check_work(const node& node, const einsum_plan& plan)
{
    int64_t macs = node.input_num - 1;
    for (int i = 0; i < plan.loop_num; ++i)
        macs = multiply_macs(macs, plan.sizes[i]);
    if (macs <= kMostMultiplications) return TENGINE_OK;
    return fail_node(&node, TENGINE_ELIMIT,
                     "the loops over all its labels multiply %lld times, expected at most %lld",
                     static_cast<long long>(macs), static_cast<long long>(kMostMultiplications));
}

int run_einsum(KernelContext& context)
{
    einsum_plan plan;
    TENGINE_RETURN_IF_ERROR(plan_einsum(context.node, &plan));
    TENGINE_RETURN_IF_ERROR(check_work(*context.node, plan));
    int64_t work = 1;
    for (int i = plan.output_rank; i < plan.loop_num; ++i)
        work *= plan.sizes[i];
    return dispatch_type(NumberTypes{}, context.input(0)->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        T* output = static_cast<T*>(context.output(0)->data);
        if (work == 0) {  // empty sums, over inputs without memory
            std::fill_n(output, context.output(0)->elem_num, static_cast<T>(0));
            return TENGINE_OK;
        }
        const Product<T> product(context, plan);
        parallel_for(context.pool, context.output(0)->elem_num, grain_for(work),
                     [&](int64_t begin, int64_t end, int) {
                         for (int64_t i = begin; i < end; ++i)
                             output[i] =
                                 static_cast<T>(product.sum(plan.output_rank, product.locate(i)));
                     });
        return TENGINE_OK;
    });
}

constexpr Kernel einsum_rows[] = {
    {"Einsum", "reference", nullptr, run_einsum},
};

}  // namespace

extern const KernelTable einsum_reference;
const KernelTable einsum_reference = make_table<einsum_rows>();

}  // namespace tengine::cpu
