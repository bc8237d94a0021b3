// SPDX-License-Identifier: Apache-2.0
// DepthToSpace, Slice and Resize (nearest) of tensors that are NHWC already, without copies to NCHW
// and back. Elements of any size; all channels of a position are moved at once, except in
// DepthToSpace in mode CRD, which splits them. Limits: memory bandwidth; positions of few bytes.
#include <cstdint>
#include <cstring>

#include "device/cpu/kernel/window/resize_source.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/grain.h"
#include "device/cpu/shared/strided_copy.h"
#include "operator/onnx/slice_param.h"
#include "operator/onnx/transpose_param.h"

namespace tengine::cpu {
namespace {

bool is_picture(const node& node)
{
    return get_ir_node_input(&node, 0)->dim_num == 4;
}

int run_depth_to_space(KernelContext& context)
{
    const auto& param = context.param<block_param>();
    const tensor &x = *context.input(0), &y = *context.output(0);
    if (y.elem_num == 0) return TENGINE_OK;
    const int64_t block = param.blocksize, depth = y.dims[1];
    const int64_t h = x.dims[2], w = x.dims[3], channels = x.dims[1];
    const bool is_crd = std::strcmp(param.mode, "CRD") == 0;
    const int64_t column = is_crd ? 1 : depth;  // distance of channels of consecutive columns
    StridedCopy copy;
    copy.add(x.dims[0] * h, w * channels, block * w * block * depth);
    copy.add(block, block * column, w * block * depth);
    copy.add(w, channels, block * depth);
    copy.add(block, column, depth);
    copy.add(depth, is_crd ? block * block : 1, 1);
    copy.run(context.pool, x.elem_size, x.data, y.data);
    return TENGINE_OK;
}

int run_slice(KernelContext& context)
{
    constexpr int kOrder[] = {0, 2, 3, 1};
    const tensor &x = *context.input(0), &y = *context.output(0);
    if (y.elem_num == 0) return TENGINE_OK;
    slice_range ranges[MAX_SHAPE_DIM_NUM];
    TENGINE_RETURN_IF_ERROR(resolve_slice(context.node, ranges));
    const int x_dims[] = {x.dims[0], x.dims[2], x.dims[3], x.dims[1]};
    const int y_dims[] = {y.dims[0], y.dims[2], y.dims[3], y.dims[1]};
    int64_t from[4], to[4], first = 0;
    fill_dense_strides(x_dims, 4, from);
    fill_dense_strides(y_dims, 4, to);
    StridedCopy copy;
    for (int i = 0; i < 4; ++i) {
        const slice_range& range = ranges[kOrder[i]];
        first += range.start * from[i];
        copy.add(range.length, range.step * from[i], to[i]);
    }
    copy.run(context.pool, x.elem_size, x.u8 + first * x.elem_size, y.data);
    return TENGINE_OK;
}

// ---- Resize ----

bool resizes_pixels(const node& node)
{
    const auto& param = *static_cast<const resize_param*>(node.op.param_mem);
    resize_axis axes[MAX_SHAPE_DIM_NUM];
    return is_picture(node) && std::strcmp(param.mode, "nearest") == 0 &&
           std::strcmp(param.coordinate_transformation_mode, "tf_crop_and_resize") != 0 &&
           resolve_resize(&node, axes) == TENGINE_OK && axes[0].identity && axes[1].identity;
}

// Offsets of lines and of positions in a line, in bytes.
int prepare_resize(KernelContext& context)
{
    const tensor& y = *context.output(0);
    context.scratch_size =
        (static_cast<uint64_t>(y.dims[2]) + static_cast<uint64_t>(y.dims[3])) * sizeof(int64_t);
    return TENGINE_OK;
}

int run_resize(KernelContext& context)
{
    const auto& param = context.param<resize_param>();
    const tensor &x = *context.input(0), &y = *context.output(0);
    if (y.elem_num == 0) return TENGINE_OK;
    resize_axis axes[MAX_SHAPE_DIM_NUM];
    TENGINE_RETURN_IF_ERROR(resolve_resize(context.node, axes));
    const int64_t lines = y.dims[2], pixels = y.dims[3];
    const int64_t pixel = int64_t{x.dims[1]} * x.elem_size, line = x.dims[3] * pixel;
    auto* const line_offsets = static_cast<int64_t*>(context.scratch);
    auto* const offsets = line_offsets + lines;
    find_nearest_offsets(param, axes[2], x.dims[2], line, line_offsets);
    find_nearest_offsets(param, axes[3], x.dims[3], pixel, offsets);
    parallel_for(context.pool, y.dims[0] * lines, grain_for(pixels * pixel),
                 [&](int64_t begin, int64_t end, int) {
                     for (int64_t i = begin; i < end; ++i) {
                         const uint8_t* from =
                             x.u8 + i / lines * x.dims[2] * line + line_offsets[i % lines];
                         uint8_t* to = y.u8 + i * pixels * pixel;
                         for (int64_t k = 0; k < pixels; ++k, to += pixel)
                             std::memcpy(to, from + offsets[k], static_cast<size_t>(pixel));
                     }
                 });
    return TENGINE_OK;
}

constexpr Kernel movement_pixels_rows[] = {
    {.op = "DepthToSpace",
     .name = "depth_to_space.x.nhwc",
     .accepts = is_picture,
     .run = run_depth_to_space,
     .layout = Layout::kChannelsLast},
    {.op = "Resize",
     .name = "resize.x.nearest_nhwc",
     .accepts = resizes_pixels,
     .run = run_resize,
     .prepare = prepare_resize,
     .layout = Layout::kChannelsLast},
    {.op = "Slice",
     .name = "slice.x.nhwc",
     .accepts = is_picture,
     .run = run_slice,
     .layout = Layout::kChannelsLast},
};

}  // namespace

extern const KernelTable movement_pixels_kernels;
const KernelTable movement_pixels_kernels = make_table<movement_pixels_rows>();

}  // namespace tengine::cpu
