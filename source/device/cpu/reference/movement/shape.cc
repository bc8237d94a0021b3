// SPDX-License-Identifier: Apache-2.0
// The operators of operator/onnx/shape_ops.c: the same elements with another shape, and the shape
// itself. Views cost nothing if the plan gives output and input the same memory.
#include <cstring>

#include "device/cpu/kernel_table.h"
#include "device/cpu/shared/strided_copy.h"
#include "operator/onnx/shape_param.h"

namespace tengine::cpu {
namespace {

int run_view(KernelContext& context)
{
    const tensor* input = context.input(0);
    tensor* output = context.output(0);
    if (output && output->data != input->data && output->elem_num > 0)
        std::memmove(output->data, input->data, get_ir_tensor_bytes(output));
    return TENGINE_OK;
}

int run_expand(KernelContext& context)
{
    const tensor* input = context.input(0);
    const tensor* output = context.output(0);
    int64_t from[MAX_SHAPE_DIM_NUM];
    int64_t to[MAX_SHAPE_DIM_NUM];
    fill_dense_strides(input->dims, input->dim_num, from);
    fill_dense_strides(output->dims, output->dim_num, to);
    const int shift = output->dim_num - input->dim_num;
    StridedCopy copy;
    for (int i = 0; i < output->dim_num; ++i) {
        const bool repeated = i < shift || input->dims[i - shift] == 1;
        copy.add(output->dims[i], repeated ? 0 : from[i - shift], to[i]);
    }
    copy.run(context.pool, input->elem_size, input->data, output->data);
    return TENGINE_OK;
}

int run_shape(KernelContext& context)
{
    const tensor* input = context.input(0);
    const tensor* output = context.output(0);
    int start = context.param<shape_param>().start;
    if (start < 0) start += input->dim_num;
    if (start < 0) start = 0;
    for (int i = 0; i < output->elem_num; ++i)
        output->i64[i] = input->dims[start + i];
    return TENGINE_OK;
}

int run_size(KernelContext& context)
{
    context.output(0)->i64[0] = context.input(0)->elem_num;
    return TENGINE_OK;
}

constexpr Kernel shape_rows[] = {
    {.op = "Reshape", .name = "reference", .run = run_view, .in_place_input = 0},
    {.op = "Flatten", .name = "reference", .run = run_view, .in_place_input = 0},
    {.op = "Squeeze", .name = "reference", .run = run_view, .in_place_input = 0},
    {.op = "Unsqueeze", .name = "reference", .run = run_view, .in_place_input = 0},
    {.op = "Identity", .name = "reference", .run = run_view, .in_place_input = 0},
    {.op = "Expand", .name = "reference", .run = run_expand},
    {.op = "Shape", .name = "reference", .run = run_shape},
    {.op = "Size", .name = "reference", .run = run_size},
};

}  // namespace

extern const KernelTable shape_reference;
const KernelTable shape_reference = make_table<shape_rows>();

}  // namespace tengine::cpu
