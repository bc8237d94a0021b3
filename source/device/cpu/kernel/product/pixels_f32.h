// SPDX-License-Identifier: Apache-2.0
// Products of pixels (pixel_problem.h) in fp32: how they are cut into tiles, and how the weights
// are packed. The product itself is in tile_f32-inl.h.
#pragma once

#include <algorithm>

#include "device/cpu/kernel/product/pixel_problem.h"
#include "device/cpu/kernel_context.h"
#include "operator/onnx/gemm_param.h"

namespace tengine::cpu {

struct FloatPixels : PixelProblem
{
    int64_t slice_length;  // so much of each K segment at a time; less than all where there is one

    uint64_t packed_floats() const { return packed_bytes() / sizeof(float); }
};

// A matrix of `rows` x `depth`, whose rows are pixels, times one of `depth` x `columns`; to be
// planned.
inline FloatPixels describe_rows(int64_t rows, int64_t depth, int64_t columns)
{
    return describe_pointwise_rows<FloatPixels>(rows, depth, columns);
}

// Rows of a tile and lanes of a vector.
void describe_pixel_tile(int64_t* out_rows, int64_t* out_lanes);

// Says how panels of these K segments are packed, for plan_pixels() and for kernels that have
// panels of their own.
void describe_float_panels(FloatPixels& conv);

// Cuts the work into tiles and blocks, for the vectors that kernels use, and into items for the
// workers. Given are the ConvProblem, the K segments, image_step, output_step and is_pointwise.
void plan_pixels(FloatPixels& conv, int64_t workers);

// Whether kernels scale weights. Minimal builds do without.
constexpr bool kScalesWeights = !IS_MINIMAL;

// Columns of a panel with `left` results or more: the last has one vector where that is
// enough. Minimal builds do without the code for that.
inline int64_t find_panel_width(int64_t left, int64_t panel_lanes)
{
    if (IS_MINIMAL) return left > 0 ? panel_lanes : 0;
    return left <= panel_lanes / 2 ? panel_lanes / 2 : panel_lanes;
}

// Packs panel after panel: the biases (0 where `bias` is null), then a vector of the panel's width
// for each element of the K segments.
void pack_float_weights(const FloatPixels& conv, const float* weights, const float* bias,
                        const WeightSteps& steps, void* packed);

// Begins a panel with its biases; its weights follow, which are returned.
float* pack_bias(const PixelPanel& panel, const float* bias);

constexpr int64_t kCacheLineFloats = 64 / sizeof(float);

// A tile of results, a few pixels by the columns of a panel. Offsets and steps are in floats.
struct FloatTile
{
    const float* input;  // of the first row
    int64_t input_step;  // from a row to the next
    // The K segments of the input that a row is the sum over, each `segment_length` long.
    const int64_t* segments;  // where they begin, in bytes
    int64_t segment_num, segment_length;
    const int64_t* weight_gaps;  // floats of weights to pass over before each; null: none
    const float* bias;           // a vector; null: the output has that of other K segments
    const float* weights;        // a vector for each element of the K segments
    float* output;
    const float* addend;  // or null; it has the steps of the output
    int64_t output_step;
    int64_t columns;  // of the panel that are results
    const Fusion* fusion;
    const float* next;   // weights to prefetch, a few lines of the cache for each tile
    int64_t next_lines;  // of them for each; 0: none
};

// `rows` rows from the tile's first on, as many as there are, at most `most` at once; the panel has
// two vectors or one.
void multiply_pixel_rows(const FloatTile& tile, int64_t rows, int64_t most, bool is_wide);

// Whether rows with this distance in floats fall into one set of an L1 cache.
bool do_rows_collide(int64_t step);

// The most rows of a tile whose inputs are `input_step` floats apart.
int64_t find_most_pixel_rows(int64_t input_step);

// The operands of a run. Input and output have the channels of all groups next to each other.
struct FloatRun : PixelRun
{
    const float* addend;  // or null; it lies as the output does
    float* output;
    const Fusion* fusion;
};

// The whole of it. `scratch` has worker_bytes() for each worker.
void multiply_pixels(thread_pool_t* pool, const FloatPixels& conv, const FloatRun& operands,
                     void* scratch);

// Multiplies the only block, which is read in place, with the panels from `first` to before `last`,
// on the calling thread.
void multiply_pixel_panels(const FloatPixels& conv, const FloatRun& operands, int64_t first,
                           int64_t last);

// The addend of the result, or null.
inline const tensor* find_addend(const KernelContext& context)
{
    return context.fusion.addend >= 0 ? context.input(context.fusion.addend) : nullptr;
}

// Kernel::find_in_place where the addend is read where the result is then written.
inline int take_addend(const KernelContext& context, int)
{
    return context.fusion.addend;
}

// The input in whose memory output 0 may be: the addend, which is read where the result is then
// written, unless accumulators of a part of the depth are written before.
inline int find_addend_in_place(const KernelContext& context, const FloatPixels& conv)
{
    return conv.slice_length >= conv.segment_length ? context.fusion.addend : -1;
}

// The same as the first on input 0 and output 0, with the context's fusion, in its scratch.
void multiply_pixels(const KernelContext& context, const FloatPixels& conv, const void* weights);

// Whether a Gemm is a product of the rows as they lie, with nothing added but a constant for each
// column.
inline bool is_product_of_rows(const node& gemm)
{
    const auto& param = *static_cast<const gemm_param*>(gemm.op.param_mem);
    const tensor* bias = get_ir_node_input(&gemm, 2);
    const bool fits =
        !bias || (bias->tensor_type == TENSOR_TYPE_CONST && param.beta == 1 && bias->dim_num <= 2 &&
                  bias->elem_num == get_ir_node_output(&gemm, 0)->dims[1] &&
                  bias->dims[bias->dim_num - 1] == bias->elem_num);
    return param.transA == 0 && param.alpha == 1 && fits;
}

// Whether the rows of a matrix, or of a stack, are vectors, a few and one for each picture of a
// batch: gemm.cc gives them the bits that each has alone. More are faster as pixels.
inline bool has_vectors(const tensor& rows)
{
    constexpr int64_t kMost = 32;
    return rows.dims[0] <= kMost &&
           rows.elem_num == int64_t{rows.dims[0]} * rows.dims[rows.dim_num - 1];
}

}  // namespace tengine::cpu
