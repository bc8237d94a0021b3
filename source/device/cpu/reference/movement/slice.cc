// SPDX-License-Identifier: Apache-2.0
// The operators of operator/onnx/slice_ops.c, as strided copies.
#include <algorithm>
#include <cstring>

#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/learning/texts.h"
#include "device/cpu/reference/vector/small_elements.h"
#include "device/cpu/reference/vector/wide_element.h"
#include "device/cpu/shared/strided_copy.h"
#include "operator/onnx/slice_param.h"

namespace tengine::cpu {
namespace {

uint8_t* element_at(const tensor* tensor, int64_t index)
{
    return tensor->u8 + index * tensor->elem_size;
}

int run_slice(KernelContext& context)
{
    const tensor* input = context.input(0);
    const tensor* output = context.output(0);
    if (output->elem_num == 0) return TENGINE_OK;
    slice_range ranges[MAX_SHAPE_DIM_NUM];
    TENGINE_RETURN_IF_ERROR(resolve_slice(context.node, ranges));
    int64_t from[MAX_SHAPE_DIM_NUM];
    int64_t to[MAX_SHAPE_DIM_NUM];
    fill_dense_strides(input->dims, input->dim_num, from);
    fill_dense_strides(output->dims, output->dim_num, to);
    int64_t first = 0;
    StridedCopy copy;
    for (int i = 0; i < input->dim_num; ++i) {
        first += ranges[i].start * from[i];
        copy.add(ranges[i].length, ranges[i].step * from[i], to[i]);
    }
    copy.run(context.pool, input->elem_size, element_at(input, first), output->data);
    return TENGINE_OK;
}

// ---- Pad ----

// An axis of a Pad: the output's first `begin` elements are padding, then `size` elements come from
// the input, from `skip` on.
struct Interior
{
    int64_t begin[MAX_SHAPE_DIM_NUM];
    int64_t size[MAX_SHAPE_DIM_NUM];
    int64_t skip[MAX_SHAPE_DIM_NUM];
};

void fill(const tensor* output, const tensor* value)
{
    (void)dispatch_moved_size(output->elem_size, [&](auto type) {
        using T = typename decltype(type)::type;
        T element{};
        if (value) std::memcpy(&element, value->data, sizeof(T));
        std::fill_n(static_cast<T*>(output->data), output->elem_num, element);
        return TENGINE_OK;
    });
}

void copy_interior(thread_pool_t* pool, const tensor* input, const tensor* output,
                   const Interior& interior)
{
    int64_t from[MAX_SHAPE_DIM_NUM];
    int64_t to[MAX_SHAPE_DIM_NUM];
    fill_dense_strides(input->dims, input->dim_num, from);
    fill_dense_strides(output->dims, output->dim_num, to);
    int64_t source = 0;
    int64_t target = 0;
    StridedCopy copy;
    for (int i = 0; i < input->dim_num; ++i) {
        if (interior.size[i] == 0) return;
        source += interior.skip[i] * from[i];
        target += interior.begin[i] * to[i];
        copy.add(interior.size[i], from[i], to[i]);
    }
    copy.run(pool, input->elem_size, element_at(input, source), element_at(output, target));
}

int64_t modulo(int64_t value, int64_t period)
{
    const int64_t rest = value % period;
    return rest < 0 ? rest + period : rest;
}

// Returns the source of an element at `position` outside 0..size-1.
int64_t find_border_source(const char* mode, int64_t position, int64_t size)
{
    if (std::strcmp(mode, "edge") == 0) return std::clamp<int64_t>(position, 0, size - 1);
    if (std::strcmp(mode, "wrap") == 0) return modulo(position, size);
    if (size == 1) return 0;
    const int64_t folded = modulo(position, 2 * (size - 1));
    return std::min(folded, 2 * (size - 1) - folded);
}

// Fills the padding of `axis`. Axes inside it are padded already, axes outside it not yet.
void copy_border(thread_pool_t* pool, const char* mode, const tensor* output,
                 const Interior& interior, int axis)
{
    int64_t strides[MAX_SHAPE_DIM_NUM];
    fill_dense_strides(output->dims, output->dim_num, strides);
    int64_t first = 0;
    StridedCopy copy;
    for (int i = 0; i < axis; ++i) {
        first += interior.begin[i] * strides[i];
        copy.add(interior.size[i], strides[i], strides[i]);
    }
    copy.add(strides[axis], 1, 1);
    const int64_t begin = interior.begin[axis];
    const int64_t size = interior.size[axis];
    for (int64_t i = 0; i < output->dims[axis]; ++i) {
        if (i == begin) i += size;  // skip the interior
        if (i == output->dims[axis]) break;
        const int64_t source = begin + find_border_source(mode, i - begin, size);
        copy.run(pool, output->elem_size, element_at(output, first + source * strides[axis]),
                 element_at(output, first + i * strides[axis]));
    }
}

int fill_empty_texts(const KernelContext& context)
{
    for (int64_t i = 0; i < context.output(0)->elem_num; ++i)
        TENGINE_RETURN_IF_ERROR(write_text(context, i, ""));
    return TENGINE_OK;
}

int run_pad(KernelContext& context)
{
    const tensor* input = context.input(0);
    const tensor* output = context.output(0);
    if (output->elem_num == 0) return TENGINE_OK;
    int64_t before[MAX_SHAPE_DIM_NUM];
    int64_t after[MAX_SHAPE_DIM_NUM];
    TENGINE_RETURN_IF_ERROR(resolve_pads(context.node, before, after));
    Interior interior;
    for (int axis = 0; axis < input->dim_num; ++axis) {
        const int i = context.shown_axis(axis);
        interior.begin[i] = std::max<int64_t>(before[axis], 0);
        interior.skip[i] = std::max<int64_t>(-before[axis], 0);
        interior.size[i] = input->dims[i] - interior.skip[i] - std::max<int64_t>(-after[axis], 0);
    }
    const char* mode = context.param<pad_param>().mode;
    const bool constant = std::strcmp(mode, "constant") == 0;
    if (constant) fill(output, context.input(2));
    if (constant && output->data_type == TENGINE_DT_STRING && !context.input(2))
        TENGINE_RETURN_IF_ERROR(fill_empty_texts(context));
    copy_interior(context.pool, input, output, interior);
    for (int axis = input->dim_num - 1; axis >= 0 && !constant; --axis)
        copy_border(context.pool, mode, output, interior, axis);
    return TENGINE_OK;
}

// ---- CenterCropPad ----

// An axis that grows has the odd element of padding at its end; one that shrinks loses it there.
int run_center_crop_pad(KernelContext& context)
{
    const tensor* input = context.input(0);
    const tensor* output = context.output(0);
    if (output->elem_num == 0) return TENGINE_OK;
    Interior interior;
    for (int i = 0; i < input->dim_num; ++i) {
        const int64_t from = input->dims[i], to = output->dims[i];
        interior.begin[i] = std::max<int64_t>(to - from, 0) / 2;
        interior.skip[i] = std::max<int64_t>(from - to, 0) / 2;
        interior.size[i] = std::min(from, to);
    }
    fill(output, nullptr);
    copy_interior(context.pool, input, output, interior);
    return TENGINE_OK;
}

// ---- Tile ----

int run_tile(KernelContext& context)
{
    const tensor* input = context.input(0);
    const tensor* output = context.output(0);
    if (output->elem_num == 0) return TENGINE_OK;
    int64_t from[MAX_SHAPE_DIM_NUM];
    int64_t to[MAX_SHAPE_DIM_NUM];
    fill_dense_strides(input->dims, input->dim_num, from);
    fill_dense_strides(output->dims, output->dim_num, to);
    StridedCopy copy;
    for (int i = 0; i < input->dim_num; ++i) {
        copy.add(output->dims[i] / input->dims[i], 0, input->dims[i] * to[i]);
        copy.add(input->dims[i], from[i], to[i]);
    }
    copy.run(context.pool, input->elem_size, input->data, output->data);
    return TENGINE_OK;
}

// ---- ReverseSequence ----

int run_reverse_sequence(KernelContext& context)
{
    const tensor* input = context.input(0);
    const tensor* output = context.output(0);
    if (output->elem_num == 0) return TENGINE_OK;
    const auto& param = context.param<reverse_sequence_param>();
    int64_t strides[MAX_SHAPE_DIM_NUM];
    fill_dense_strides(input->dims, input->dim_num, strides);
    const int64_t inner = strides[1];
    const int64_t batch_stride = strides[param.batch_axis];
    const int64_t time_stride = strides[param.time_axis];
    const int64_t time_num = input->dims[param.time_axis];
    for (int64_t batch = 0; batch < input->dims[param.batch_axis]; ++batch) {
        const int64_t length = context.input(1)->i64[batch];
        if (length < 0 || length > time_num)
            return fail_node(context.node, TENGINE_ERANGE,
                             "sequence_lens[%d] is %lld, expected 0 to %d", static_cast<int>(batch),
                             static_cast<long long>(length), static_cast<int>(time_num));
        StridedCopy reversed;
        reversed.add(length, -time_stride, time_stride);
        reversed.add(inner, 1, 1);
        const int64_t begin = batch * batch_stride;
        reversed.run(context.pool, input->elem_size,
                     element_at(input, begin + std::max<int64_t>(length - 1, 0) * time_stride),
                     element_at(output, begin));
        StridedCopy rest;
        rest.add(time_num - length, time_stride, time_stride);
        rest.add(inner, 1, 1);
        rest.run(context.pool, input->elem_size, element_at(input, begin + length * time_stride),
                 element_at(output, begin + length * time_stride));
    }
    return TENGINE_OK;
}

// ---- Trilu ----

int run_trilu(KernelContext& context)
{
    const tensor* input = context.input(0);
    const tensor* output = context.output(0);
    if (output->elem_num == 0) return TENGINE_OK;
    const int64_t row_num = input->dims[input->dim_num - 2];
    const int64_t column_num = input->dims[input->dim_num - 1];
    const bool upper = context.param<trilu_param>().upper != 0;
    // Beyond the corners every k has the same effect.
    const int64_t k =
        context.input(1) ? std::clamp(context.input(1)->i64[0], -row_num, column_num) : 0;
    const size_t size = input->elem_size;
    const int64_t grain = std::max<int64_t>(16384 / column_num, 1);
    parallel_for(
        context.pool, input->elem_num / column_num, grain, [&](int64_t begin, int64_t end, int) {
            for (int64_t row = begin; row < end; ++row) {
                const int64_t diagonal = row % row_num + k;
                // Columns first..last-1 are kept.
                const int64_t first = upper ? std::clamp<int64_t>(diagonal, 0, column_num) : 0;
                const int64_t last =
                    upper ? column_num : std::clamp<int64_t>(diagonal + 1, 0, column_num);
                uint8_t* to = element_at(output, row * column_num);
                std::memset(to, 0, first * size);
                std::memmove(to + first * size, element_at(input, row * column_num + first),
                             (last - first) * size);
                std::memset(to + last * size, 0, (column_num - last) * size);
            }
        });
    return TENGINE_OK;
}

constexpr Kernel slice_rows[] = {
    {.op = "CenterCropPad", .name = "reference", .run = run_center_crop_pad},
    {.op = "Slice", .name = "reference", .run = run_slice},
    {.op = "Pad",
     .name = "reference",
     .run = run_unpacked<run_pad>,
     .prepare = prepare_unpacked,
     .layout = Layout::kAny},
    {.op = "Tile", .name = "reference", .run = run_tile},
    {.op = "ReverseSequence", .name = "reference", .run = run_reverse_sequence},
    {.op = "Trilu", .name = "reference", .run = run_trilu, .in_place_input = 0},
};

}  // namespace

extern const KernelTable slice_reference;
const KernelTable slice_reference = make_table<slice_rows>();

}  // namespace tengine::cpu
