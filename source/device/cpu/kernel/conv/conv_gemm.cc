// SPDX-License-Identifier: Apache-2.0
// Conv in fp32 as matrix products: im2col + GEMM. conv_depthwise.cc is asked first.
//
// For one image and group the output (channels x positions) is the product of the weight (channels
// x input channels * taps) and the im2col matrix, which has a row for each input channel and tap,
// with the input element under that tap at every output position. The matrix is never complete in
// memory: the output's positions are cut into blocks, and a block of the matrix fills half the L2
// cache, from which the product reads it. A 1x1 kernel of stride 1 without padding needs no copy:
// its matrix is the input. The bias is written first and the product added to it. Images, groups
// and blocks are the tiles that workers share (tile.h). Limits: the product packs the block once
// more. Accuracy: |error| <= (input channels * taps + 2) * eps * (sum |weight| |input| + |bias|).
#include <algorithm>

#include "base/cpu.h"
#include "device/cpu/kernel/conv/conv_problem.h"
#include "device/cpu/kernel/conv/im2col.h"
#include "device/cpu/kernel/product/matrix_product.h"
#include "device/cpu/kernel/product/pixels_f32.h"
#include "device/cpu/kernel/product/tile/tile.h"
#include "device/cpu/kernel/vector/activation.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/grain.h"
#include "device/cpu/shared/rounding.h"

namespace tengine::cpu {
namespace {

constexpr int64_t kBlockUnit = 16;  // positions; a vector register of the widest instruction set
constexpr int64_t kMinBlock = 64;   // positions; the product of fewer is slow

struct ConvGemm : ConvProblem
{
    int64_t depth;        // of the product: input channels * taps
    int64_t block;        // output positions that are computed together
    int64_t block_num;    // blocks of a plane
    bool reads_in_place;  // whether the input is the matrix
    uint64_t workspace;   // floats of a block's product
    const float *input, *weight, *bias;
    const float* addend;  // may be null
    float* output;
    const Fusion* fusion;

    int64_t tile_num() const { return batch * groups * block_num; }
    uint64_t workspace_size() const { return workspace; }
    // Returns the bytes of a block's matrix, rounded up to the cache line; the workspace follows
    // it.
    uint64_t gathered_size() const
    {
        return reads_in_place ? 0 : static_cast<uint64_t>((depth * block + 15) / 16 * 16);
    }
    uint64_t matrix_size() const { return gathered_size() + workspace; }

    void bind(const KernelContext& context)
    {
        input = context.input(0)->f32;
        weight = context.input(1)->f32;
        bias = context.input(2) ? context.input(2)->f32 : nullptr;
        addend = find_addend(context) ? find_addend(context)->f32 : nullptr;
        output = context.output(0)->f32;
        fusion = &context.fusion;
    }
};

// Chooses blocks of equal size, as large as the cache allows.
void choose_block(ConvGemm& conv)
{
    const int64_t cache_bytes = static_cast<int64_t>(get_cpu_cache_size().l2 / 2);
    const int64_t column_bytes = std::max<int64_t>(conv.depth, 1) * int64_t{sizeof(float)};
    // A block has at least one position, so that a plane without elements causes no division by
    // zero.
    const int64_t largest = conv.reads_in_place ? std::max<int64_t>(conv.output_plane, 1)
                                                : std::max(cache_bytes / column_bytes, kMinBlock);
    const int64_t fewest = divide_up(conv.output_plane, largest);
    const int64_t even = divide_up(conv.output_plane, std::max<int64_t>(fewest, 1));
    conv.block = std::min(round_up(even, kBlockUnit), conv.output_plane);
    conv.block_num = conv.block > 0 ? divide_up(conv.output_plane, conv.block) : 0;
}

// Describes the product of one group with `columns` positions, without its pointers.
Product make_product(const ConvGemm& conv, int64_t columns)
{
    Product product = {conv.output_channels, columns, conv.depth, {}, {}, nullptr, 0};
    product.a = {nullptr, conv.depth};
    product.b = {nullptr, conv.reads_in_place ? conv.input_plane : columns};
    product.c_stride = conv.output_plane;
    return product;
}

int describe(const node& node, ConvGemm* out_conv)
{
    ConvGemm& conv = *out_conv;
    TENGINE_RETURN_IF_ERROR(describe_conv(node, false, &conv));
    conv.depth = conv.input_channels * conv.taps;
    conv.reads_in_place = is_pointwise(conv);
    choose_block(conv);
    conv.workspace = find_product_workspace(make_product(conv, conv.block));
    return TENGINE_OK;
}

// Writes the matrix for output positions begin..end-1, `end - begin` elements a row.
void gather(const ConvGemm& conv, thread_pool_t* pool, const float* input, int64_t begin,
            int64_t end, float* matrix)
{
    const int64_t columns = end - begin;
    parallel_for(pool, conv.depth, grain_for(columns), [&](int64_t first, int64_t last, int) {
        for (int64_t row = first; row < last; ++row)
            gather_row(conv, input, row, begin, end, 0.0f, matrix + row * columns);
    });
}

#ifdef TENGINE_HAVE_HIGHWAY
constexpr bool kFuses = true;

// Applies the epilogue to `columns` positions of the channels; their results begin at element `at`.
void finish(const ConvGemm& conv, thread_pool_t* pool, int64_t at, int64_t columns)
{
    if (!conv.addend && conv.fusion->activation == Activation::kNone) return;
    const auto finish_channels = [&](int64_t first, int64_t last, int) {
        for (int64_t channel = first; channel < last; ++channel) {
            const int64_t begin = at + channel * conv.output_plane;
            float* output = conv.output + begin;
            for (int64_t i = 0; conv.addend && i < columns; ++i)
                output[i] += conv.addend[begin + i];
            activate(*conv.fusion, output, 1, columns, columns);
        }
    };
    parallel_for(pool, conv.output_channels, grain_for(columns), finish_channels);
}
#else
constexpr bool kFuses = false;

void finish(const ConvGemm&, thread_pool_t*, int64_t, int64_t) {}
#endif

// Computes one block of one group of one image.
void run_tile(const ConvGemm& conv, thread_pool_t* pool, int64_t tile, float* matrix)
{
    const int64_t begin = tile % conv.block_num * conv.block;
    const int64_t end = std::min(begin + conv.block, conv.output_plane);
    const int64_t slice = tile / conv.block_num;  // index in batch x groups
    const int64_t group = slice % conv.groups;
    const float* input = conv.input + slice * conv.input_channels * conv.input_plane;
    const int64_t at = slice * conv.output_channels * conv.output_plane + begin;
    float* output = conv.output + at;

    Product product = make_product(conv, end - begin);
    product.a.data = conv.weight + group * conv.output_channels * conv.depth;
    product.b.data = conv.reads_in_place ? input + begin : matrix;
    product.c = output;
    if (!conv.reads_in_place) gather(conv, pool, input, begin, end, matrix);
    if (conv.bias) {
        for (int64_t channel = 0; channel < conv.output_channels; ++channel)
            std::fill_n(output + channel * conv.output_plane, end - begin,
                        conv.bias[group * conv.output_channels + channel]);
        product.beta = 1;
    }
    multiply(pool, product, matrix + conv.gathered_size());
    finish(conv, pool, at, end - begin);
}

bool accepts(const node& node)
{
    ConvProblem p;
    return is_plain_conv(node) && describe_conv(node, false, &p) == TENGINE_OK &&
           fits_product(p.input_plane, p.output_plane, p.input_channels * p.taps);
}

constexpr Kernel conv_gemm_rows[] = {
    {.op = "Conv",
     .name = "conv.f32.im2col",
     .accepts = accepts,
     .run = run_tiled<ConvGemm, run_tile>,
     .prepare = prepare_tiled<ConvGemm, describe>,
     .fuses = kFuses},
};

}  // namespace

extern const KernelTable conv_gemm_kernels;
const KernelTable conv_gemm_kernels = make_table<conv_gemm_rows>();

}  // namespace tengine::cpu
