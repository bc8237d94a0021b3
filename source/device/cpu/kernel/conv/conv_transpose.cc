// SPDX-License-Identifier: Apache-2.0
// ConvTranspose in fp32 as matrix products: GEMM + col2im.
//
// For one image and group the product of the transposed weight (output channels * taps x input
// channels) and the input (input channels x positions) has, for each output channel and tap, the
// term that every input position adds to the output element under that tap. These rows are added to
// an output that starts as the bias. A product is computed for a block of output channels and input
// rows, chosen to fill half the L2 cache, so that its rows are still in the cache when they are
// added. Blocks of channels, images and groups are the tiles that workers share (tile.h); blocks of
// input rows follow each other within a tile, because they add to the same outputs. Limits: the
// additions touch each output element once per tap; strides above 1 do not vectorise. Accuracy:
// |error| <= (input channels * taps + 2) * eps * (sum |weight| |input| + |bias|).
#include <algorithm>

#include "base/cpu.h"
#include "device/cpu/kernel/conv/conv_problem.h"
#include "device/cpu/kernel/product/matrix_product.h"
#include "device/cpu/kernel/product/tile/tile.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/shared/window_range.h"

namespace tengine::cpu {
namespace {

struct ConvTransposed : ConvProblem
{
    int64_t row_num;        // input rows of a plane
    int64_t channel_block;  // output channels and input rows of a product
    int64_t row_block;
    int64_t block_num;   // channel blocks of a group
    uint64_t workspace;  // floats of a block's product
    const float *input, *weight, *bias;
    float* output;

    int64_t tile_num() const { return batch * groups * block_num; }
    uint64_t workspace_size() const { return workspace; }
    // Returns the bytes of a block's product, rounded up to the cache line; the workspace follows
    // it.
    uint64_t product_size() const
    {
        const int64_t size = channel_block * taps * row_block * axes[2].input;
        return static_cast<uint64_t>((size + 15) / 16 * 16);
    }
    uint64_t matrix_size() const { return product_size() + workspace; }

    void bind(const KernelContext& context)
    {
        input = context.input(0)->f32;
        weight = context.input(1)->f32;
        bias = context.input(2) ? context.input(2)->f32 : nullptr;
        output = context.output(0)->f32;
    }
};

// Describes the product of `channels` output channels and `rows` input rows, without its pointers.
Product make_product(const ConvTransposed& conv, int64_t channels, int64_t rows)
{
    const int64_t columns = rows * conv.axes[2].input;
    Product product = {channels * conv.taps, columns, conv.input_channels, {}, {}, nullptr, 0};
    product.a = {nullptr, conv.output_channels * conv.taps, true};
    product.b = {nullptr, conv.input_plane};
    product.c_stride = columns;
    return product;
}

int describe(const node& node, ConvTransposed* out_conv)
{
    const auto cache_size = static_cast<int64_t>(get_cpu_cache_size().l2 / 2 / sizeof(float));
    ConvTransposed& conv = *out_conv;
    TENGINE_RETURN_IF_ERROR(describe_conv(node, true, &conv));
    conv.row_num = int64_t{conv.axes[0].input} * conv.axes[1].input;
    const int64_t row_size = std::max<int64_t>(conv.taps * conv.axes[2].input, 1);
    const int64_t channel_size = std::max<int64_t>(row_size * conv.row_num, 1);
    conv.row_block =
        std::clamp<int64_t>(cache_size / row_size, 1, std::max<int64_t>(conv.row_num, 1));
    conv.channel_block = std::clamp<int64_t>(cache_size / channel_size, 1,
                                             std::max<int64_t>(conv.output_channels, 1));
    conv.block_num = (conv.output_channels + conv.channel_block - 1) / conv.channel_block;
    conv.workspace = find_product_workspace(make_product(conv, conv.channel_block, conv.row_block));
    return TENGINE_OK;
}

// Adds the products of input rows begin..end-1 under one tap to the plane of an output channel.
void scatter_tap(const ConvTransposed& conv, const float* matrix_row, const int (&tap)[kConvAxes],
                 int64_t begin, int64_t end, float* plane)
{
    const auto& [depth, height, width] = conv.axes;
    const int64_t stride = width.stride;
    const int64_t shift = int64_t{tap[2]} * width.dilation - width.pad_begin;
    const Range valid = positions_within(0, width.output, shift, stride, width.input);
    for (int64_t row = begin; row < end; ++row, matrix_row += width.input) {
        const int64_t z =
            row / height.input * depth.stride - depth.pad_begin + int64_t{tap[0]} * depth.dilation;
        const int64_t y = row % height.input * height.stride - height.pad_begin +
                          int64_t{tap[1]} * height.dilation;
        if (z < 0 || z >= depth.output || y < 0 || y >= height.output) continue;
        float* out = plane + (z * height.output + y) * width.output + shift;
        for (int64_t column = valid.begin; column < valid.end; ++column)
            out[column * stride] += matrix_row[column];
    }
}

void scatter(const ConvTransposed& conv, const float* matrix, int64_t channels, int64_t begin,
             int64_t end, float* output)
{
    const auto& [depth, height, width] = conv.axes;
    const int64_t columns = (end - begin) * width.input;
    for (int64_t channel = 0; channel < channels; ++channel) {
        int tap[kConvAxes];
        for (tap[0] = 0; tap[0] < depth.kernel; ++tap[0])
            for (tap[1] = 0; tap[1] < height.kernel; ++tap[1])
                for (tap[2] = 0; tap[2] < width.kernel; ++tap[2], matrix += columns)
                    scatter_tap(conv, matrix, tap, begin, end,
                                output + channel * conv.output_plane);
    }
}

// Computes one block of output channels of one group of one image.
void run_tile(const ConvTransposed& conv, thread_pool_t* pool, int64_t tile, float* matrix)
{
    const int64_t first = tile % conv.block_num * conv.channel_block;
    const int64_t channels = std::min(conv.channel_block, conv.output_channels - first);
    const int64_t slice = tile / conv.block_num;  // index in batch x groups
    const int64_t group = slice % conv.groups;
    const float* input = conv.input + slice * conv.input_channels * conv.input_plane;
    const float* weight =
        conv.weight + (group * conv.input_channels * conv.output_channels + first) * conv.taps;
    float* output = conv.output + (slice * conv.output_channels + first) * conv.output_plane;

    for (int64_t channel = 0; channel < channels; ++channel) {
        const float bias =
            conv.bias ? conv.bias[group * conv.output_channels + first + channel] : 0;
        std::fill_n(output + channel * conv.output_plane, conv.output_plane, bias);
    }
    for (int64_t row = 0; row < conv.row_num; row += conv.row_block) {
        const int64_t end = std::min(row + conv.row_block, conv.row_num);
        Product product = make_product(conv, channels, end - row);
        product.a.data = weight;
        product.b.data = input + row * conv.axes[2].input;
        product.c = matrix;
        multiply(pool, product, matrix + conv.product_size());
        scatter(conv, matrix, channels, row, end, output);
    }
}

bool accepts(const node& node)
{
    // elements of a row of the matrix: one channel, one input row
    constexpr int64_t kLargestRow = int64_t{1} << 26;
    ConvProblem p;
    return is_plain_conv(node) && describe_conv(node, true, &p) == TENGINE_OK &&
           p.taps <= kLargestRow / std::max(p.axes[2].input, 1) &&
           fits_product(p.input_plane, p.output_channels * p.taps, p.input_channels);
}

constexpr Kernel conv_transpose_rows[] = {
    {.op = "ConvTranspose",
     .name = "conv_transpose.f32.col2im",
     .accepts = accepts,
     .run = run_tiled<ConvTransposed, run_tile>,
     .prepare = prepare_tiled<ConvTransposed, describe>},
};

}  // namespace

extern const KernelTable conv_transpose_kernels;
const KernelTable conv_transpose_kernels = make_table<conv_transpose_rows>();

}  // namespace tengine::cpu
