// SPDX-License-Identifier: Apache-2.0
// Reductions along axes, one axis after the other.
#include <algorithm>
#include <arm_compute/runtime/NEON/functions/NEReductionOperation.h>
#include <arm_compute/runtime/NEON/functions/NEReshapeLayer.h>

#include "device/acl/operator_table.h"
#include "operator/infer.h"

namespace tengine::acl {
namespace {

using arm_compute::ReductionOperation;

// The axes in ACL's count, none twice; all when none are given.
bool read_axes(Builder& builder, std::vector<unsigned>* axes)
{
    const int rank = builder.source(0)->dim_num;
    int64_t values[MAX_SHAPE_DIM_NUM] = {};
    int number = 0;
    if (read_int_input(&builder.of(), 1, values, MAX_SHAPE_DIM_NUM, &number) != TENGINE_OK)
        return builder.refuse(IR_REASON_CONSTANT, "", "", "its axes must be constant");
    if (number == 0) {
        if (get_ir_node_int(&builder.of(), "noop_with_empty_axes", 0) != 0)
            return builder.refuse_value("noop_with_empty_axes", 1, "0");
        for (number = 0; number < rank; ++number)
            values[number] = number;
    }
    for (int i = 0; i < number; ++i) {
        int axis = 0;
        if (normalize_axis(&builder.of(), values[i], rank, &axis) != TENGINE_OK)
            return builder.refuse_value("axes", values[i], "an axis of the input");
        const unsigned acl_axis = to_acl_axis(axis, rank);
        if (std::find(axes->begin(), axes->end(), acl_axis) == axes->end())
            axes->push_back(acl_axis);
    }
    return true;
}

template <ReductionOperation operation>
bool build_reduction(Builder& builder)
{
    std::vector<unsigned> axes;
    if (!read_axes(builder, &axes)) return false;
    // ACL has the square of a scalar as one element.
    if (axes.empty() && operation == ReductionOperation::SUM_SQUARE) axes.push_back(0);
    ITensor* so_far = builder.input(0);
    TensorInfo info = to_acl_info(*builder.source(0));
    ReductionOperation step = operation;
    for (const unsigned axis : axes) {
        TensorShape shape = info.tensor_shape();
        if (shape[axis] == 1 && step != ReductionOperation::SUM_SQUARE) continue;
        shape.set(axis, 1);
        info.set_tensor_shape(shape);
        ITensor* result = builder.temporary(info);
        if (!builder.add<arm_compute::NEReductionOperation>(so_far, result, axis, step, true))
            return false;
        so_far = result;
        // Only the first step squares.
        if (operation == ReductionOperation::SUM_SQUARE) step = ReductionOperation::SUM;
    }
    return builder.add<arm_compute::NEReshapeLayer>(so_far, builder.output());
}

constexpr Operator kReductionRows[] = {
    {"ReduceMean", kFloats, build_reduction<ReductionOperation::MEAN_SUM>},
    {"ReduceSum", kFloats, build_reduction<ReductionOperation::SUM>},
    {"ReduceSumSquare", kFloats, build_reduction<ReductionOperation::SUM_SQUARE>},
    {"ReduceProd", kFloats, build_reduction<ReductionOperation::PROD>},
    {"ReduceMax", kFloats, build_reduction<ReductionOperation::MAX>},
    {"ReduceMin", kFloats, build_reduction<ReductionOperation::MIN>},
};

}  // namespace

extern const OperatorTable reduction_operators;
const OperatorTable reduction_operators = make_table(kReductionRows);

}  // namespace tengine::acl
