// SPDX-License-Identifier: Apache-2.0
// int8 convolutions with channels last, and matrices, whose rows are pixels (pixel_problem.h). The
// product itself is a TileFormat's (group_tile.h), the requantisation that of requantize-inl.h. All
// accumulators are exact.
//
// With x and w the operands, X and W their zero points, a sum of centred products is
//     sum (x - X) (w - W) = sum x w - X sum w - W sum x + n X W .
// Where W is not 0, elements are int16 and centred before they are multiplied. Else X sum w is
// taken from the bias when the weights are packed: the zero points of the input cost nothing, and
// pads are pixels of X. int8 becomes uint8, or the reverse, by flipping the sign bit, which adds
// 128 to the zero point, or subtracts it.
#pragma once

#include "device/cpu/kernel/product/pixel_problem.h"
#include "device/cpu/kernel/vector/byte_addition.h"
#include "device/cpu/kernel/vector/float_bytes.h"
#include "device/cpu/kernel/vector/requantization.h"
#include "device/cpu/kernel_context.h"
#include "device/cpu/kernel_table.h"

namespace tengine::cpu {

// The operands of the product: inputs of the node, and their properties.
struct Int8Operands
{
    const tensor* weights;             // constant
    const tensor* weight_scales;       // constant; one, or one for each column; null: 1
    const tensor* weight_zero_points;  // constant, or null
    const tensor* bias;                // constant, int32; or null
    float input_scale, output_scale;
    float alpha;  // a factor of the products
    int input_zero_point, output_zero_point;
    int input_type, output_type;
    ir_rounding_t rounding;
};

struct Int8Pixels : PixelProblem
{
    Int8Range range;        // of the output
    Int8Addition addition;  // where a run has an addend
    int input_zero_point;   // as the input has it
    bool flips;             // the sign bit of the input's bytes
    bool has_words;         // as results: see Int8Words
    bool crosses;           // its products (tile_s8_crossed-inl.h), with room for compensation
};

// The operands of a node whose input 0 is followed by its scale and zero point, input 3, the
// weights, by theirs, and that has the output's scale and zero point from input `output_scale` on
// and the bias at input `bias`; -1: it has none.
Int8Operands find_byte_operands(const node& node, int output_scale, int bias);

// Whether all inputs of such a node but the first and the weights are constants, and the scales of
// input and output one each.
bool has_byte_constants(const node& node, int output_scale);

// The format for operands of so much depth, in K segments of this length. False where
// none is right: K segments are too short, an accumulator with its bias may not fit an int32,
// scales are not in the range of multipliers.
bool find_byte_format(const Int8Operands& operands, int64_t depth, int64_t segment_length,
                      TileFormat* out_format);

// Results that are not requantised: an accumulator times `scale` and the scale of its weights, plus
// the bias of its column; or the accumulators themselves, as int32.
struct Int8Words
{
    bool is_float;
    float scale;
    const float* bias;  // or null
    // The scales and zero points of rows that have their own, in place of `scale` and of
    // Int8Pixels::input_zero_point, which is 0; or null.
    const FloatBytes* rows = nullptr;
    // Added to floats, which lie like the results, or null; then comes the activation of `fusion`,
    // which may be null, too.
    const float* addend = nullptr;
    const Fusion* fusion = nullptr;
};

// Whether the build has operators whose results are floats, which activations may follow.
constexpr bool kActivatesWords = is_selected("com.microsoft.DynamicQuantizeMatMul") ||
                                 is_selected("com.microsoft.MatMulIntegerToFloat") ||
                                 is_selected("tengine.RowQuantizeMatMul");

// The operands of a run. The output consists of int8 or uint8, or of words where there is `words`.
struct Int8Run : PixelRun
{
    void* output;
    const Int8Words* words;
    // For an output of int8 or uint8: the addend of Int8Pixels::addition, which lies as they do;
    // then a table of 256, whose entries are the results. Null: neither.
    const uint8_t* addend = nullptr;
    const uint8_t* table = nullptr;
};

// The multiplier of an output channel of all groups; find_byte_format() has seen that it can be
// made.
ir_multiplier_t find_byte_multiplier(const Int8Operands& operands, int64_t channel);

// Cuts the work into blocks, and into items for the workers. Given are the ConvProblem, the format,
// the K segments, image_step, output_step, is_pointwise and has_words.
void plan_byte_pixels(Int8Pixels& conv, const Int8Operands& operands, int64_t workers);

// A matrix of `rows` x `depth` times one of `depth` x `columns`; to be planned.
Int8Pixels describe_byte_rows(int64_t rows, int64_t depth, int64_t columns);

// All groups' weights.
void pack_byte_weights(const Int8Pixels& conv, const Int8Operands& operands,
                       const WeightSteps& steps, const uint8_t* values, char* packed);

// For prepare(): keeps the problem and the packed weights.
TENGINE_MUST_USE int keep_byte_pixels(KernelContext& context, const Int8Pixels& conv,
                                      const Int8Operands& operands, const WeightSteps& steps);

// All of it on the calling thread; `scratch` has worker_bytes().
void multiply_bytes_here(const Int8Pixels& conv, const Int8Run& run, char* scratch);

// The panels from `first` to before `last` with all rows, on the calling thread.
void multiply_byte_panels(const Int8Pixels& conv, const Int8Run& run, int64_t first, int64_t last,
                          char* scratch);

// All of it; `scratch` has worker_bytes() for each worker.
void multiply_bytes(thread_pool_t* pool, const Int8Pixels& conv, const Int8Run& run, char* scratch);

// Input 0 to output 0, with what keep_byte_pixels() has kept, or bytes that lie elsewhere with the
// channels last. The scratch begins with that of keep_byte_pixels().
void multiply_byte_pixels(const KernelContext& context);
void multiply_byte_pixels(const KernelContext& context, const uint8_t* input, uint8_t* output);

}  // namespace tengine::cpu
