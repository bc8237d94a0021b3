// SPDX-License-Identifier: Apache-2.0
// Concat and Split: one strided copy per part. Parts of a Concat that were written into its result
// directly (plan/join.cc) are not copied.
#include "device/cpu/kernel_table.h"
#include "device/cpu/shared/strided_copy.h"
#include "operator/onnx/join_param.h"

namespace tengine::cpu {
namespace {

// Copies between a part and its place in the whole, from `begin` on along `axis`.
enum class Direction
{
    kIntoWhole,
    kOutOfWhole
};

void copy_part(thread_pool_t* pool, Direction direction, const tensor* whole, const tensor* part,
               int axis, int64_t begin)
{
    if (part->elem_num == 0) return;
    const int64_t outer = multiply_dims(whole, 0, axis);
    const int64_t inner = multiply_dims(whole, axis + 1, whole->dim_num);
    const int64_t whole_row = inner * whole->dims[axis];
    const int64_t part_row = inner * part->dims[axis];
    uint8_t* const place = whole->u8 + begin * inner * whole->elem_size;
    StridedCopy copy;
    if (direction == Direction::kIntoWhole) {
        copy.add(outer, part_row, whole_row);
        copy.add(part_row, 1, 1);
        copy.run(pool, whole->elem_size, part->data, place);
    } else {
        copy.add(outer, whole_row, part_row);
        copy.add(part_row, 1, 1);
        copy.run(pool, whole->elem_size, place, part->data);
    }
}

// Joins channels of NHWC tensors, with the distances between positions that the context gives.
int join_pixels(const KernelContext& context)
{
    const tensor& output = *context.output(0);
    const int64_t pixels = multiply_dims(&output, 0, 3);
    uint8_t* place = output.u8;
    for (int i = 0; i < context.input_num(); ++i) {
        const tensor& input = *context.input(i);
        const int64_t channels = input.dims[3];
        StridedCopy copy;
        copy.add(pixels, context.input_step(i), context.output_step());
        copy.add(channels, 1, 1);
        if (input.data != place) copy.run(context.pool, output.elem_size, input.data, place);
        place += channels * output.elem_size;
    }
    return TENGINE_OK;
}

int run_concat(KernelContext& context)
{
    if (kTakesSteps && context.pixel_steps) return join_pixels(context);
    const tensor* output = context.output(0);
    const int axis = context.param<concat_param>().axis;
    const int place = context.shown_axis(axis < 0 ? axis + output->dim_num : axis);
    int64_t begin = 0;
    for (int i = 0; i < context.input_num(); ++i) {
        const tensor* input = context.input(i);
        copy_part(context.pool, Direction::kIntoWhole, output, input, place, begin);
        begin += input->dims[place];
    }
    return TENGINE_OK;
}

// An output that is not read has no tensor with its size, so that sizes come from the parameters.
int64_t part_size(const KernelContext& context, int index, int64_t length)
{
    if (const tensor* output = context.output(index)) {
        const int axis = context.param<split_param>().axis;
        return output->dims[context.shown_axis(axis < 0 ? axis + output->dim_num : axis)];
    }
    if (const tensor* sizes = context.input(1))
        return sizes->data_type == TENGINE_DT_INT32 ? sizes->i32[index] : sizes->i64[index];
    return (length + context.output_num() - 1) / context.output_num();
}

int run_split(KernelContext& context)
{
    const tensor* input = context.input(0);
    const int axis = context.param<split_param>().axis;
    const int place = context.shown_axis(axis < 0 ? axis + input->dim_num : axis);
    int64_t begin = 0;
    for (int i = 0; i < context.output_num(); ++i) {
        if (const tensor* output = context.output(i))
            copy_part(context.pool, Direction::kOutOfWhole, input, output, place, begin);
        begin += part_size(context, i, input->dims[place]);
    }
    return TENGINE_OK;
}

constexpr Kernel join_rows[] = {
    {.op = "Concat",
     .name = "reference",
     .run = run_concat,
     .layout = Layout::kAny,
     .takes_steps = kTakesSteps},
    {.op = "Split", .name = "reference", .run = run_split, .layout = Layout::kAny},
};

}  // namespace

extern const KernelTable join_reference;
const KernelTable join_reference = make_table<join_rows>();

}  // namespace tengine::cpu
