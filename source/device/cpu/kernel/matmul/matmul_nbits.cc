// SPDX-License-Identifier: Apache-2.0
// MatMulNBits with constant weights of 4 or 8 bits (nbits_product.h), which are packed once. Those
// of 2 bits are packed as 4, and always with zero points.
//
// In integers, where accuracy_level permits: the rows of A become int8, block by block, and each
// panel of weights is multiplied by all of them. In fp32: with few rows, weights become floats in
// registers as they are read; with more, a K segment of a panel becomes floats in the worker's
// scratch, so that each weight is converted once, and is multiplied by all rows, as for pixels
// (pixels_f32.h). Workers share the panels, so that results do not depend on their number.
// Limits: with few rows the bandwidth of the memory, else multiply-adds.
// Accuracy, with w = (q - z) * scale and blocks of b elements: in fp32 with few rows |error| <=
// (b + k / b + 4) * eps * sum |a| * (q + z) * scale, with more (k + 4) * eps * sum |a w|; in
// integers 1 / 254 of the largest |a| of each block times its sum |w|, and (k / b + 4) * eps *
// sum |a w|. A block whose values are below 2^-120 counts as zeros in integers.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/cpu.h"
#include "device/cpu/kernel/matmul/nbits_product.h"
#include "device/cpu/kernel/product/packed_problem.h"
#include "device/cpu/kernel/product/pixels_f32.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/grain.h"
#include "device/cpu/shared/rounding.h"
#include "operator/onnx/quantized_product_param.h"

namespace tengine::cpu {
namespace {

// Up to this number of rows weights become floats in registers. This is done again for each four
// rows; all of it takes as long as storing and loading the floats for twice as many rows.
constexpr int64_t kFewRows = 2 * kNbitsFewRows;
// Elements of the K segment that becomes floats at once: the segment of a panel takes a part of the
// L2 cache.
constexpr int64_t kSegment = 512;

// Elements follow each other without gaps, from the lowest bits of a byte on.
int unpack_element(const uint8_t* bytes, int64_t index, int bits)
{
    const int64_t first = index * bits;
    return (bytes[first >> 3] >> (first & 7)) & ((1 << bits) - 1);
}

// Returns the default zero point.
int middle_of(int bits)
{
    return 1 << (bits - 1);
}

struct NbitsProblem
{
    nbits_shape given;  // as in the model
    nbits_shape shape;  // as it is packed
    int64_t rows;       // of A
    int64_t panels;     // of weights
    bool has_zero_points;
    int64_t pixel_lanes;  // columns of a panel of the pixel product

    int64_t lines() const { return shape.block_bytes * kNbitsColumns / kNbitsLine; }
    int64_t panel_step() const { return shape.blocks * kNbitsLine * (1 + lines()); }
    int64_t zero_point_step() const { return int64_t{shape.blocks} * kNbitsColumns; }
    // The elements of a row, with those that fill its last block.
    int64_t depth() const { return int64_t{shape.blocks} * shape.block_size; }
    uint64_t packed_bytes() const
    {
        const int64_t step = panel_step() + (has_zero_points ? zero_point_step() : 0);
        return static_cast<uint64_t>(panels) * static_cast<uint64_t>(step);
    }
    NbitsPanel panel(const char* packed, int64_t index) const
    {
        const auto* zeros = reinterpret_cast<const uint8_t*>(packed + panels * panel_step());
        return {packed + index * panel_step(),
                has_zero_points ? zeros + index * zero_point_step() : nullptr, shape.blocks,
                lines()};
    }
    // The factor of the sums of a row's blocks: the common zero point, or 1 when columns have zero
    // points of their own, which are multiplied later.
    int common_zero_point() const { return has_zero_points ? 1 : middle_of(given.bits); }
    // Returns the panels that are enough work for a worker.
    int64_t grain() const { return grain_for(depth() * std::min<int64_t>(rows, kNbitsColumns)); }
    int64_t segment_blocks() const
    {
        return std::clamp<int64_t>(kSegment / shape.block_size, 1, shape.blocks);
    }
    // The scratch of a worker's panel: biases, then elements.
    int64_t segment_floats() const
    {
        return pixel_lanes * (1 + segment_blocks() * shape.block_size);
    }
};

NbitsProblem describe(const KernelContext& context)
{
    NbitsProblem problem = {};
    resolve_nbits_shape(context.node, &problem.given);
    problem.shape = problem.given;
    if (problem.given.bits == 2) {
        problem.shape.bits = 4;
        problem.shape.block_bytes = 2 * problem.given.block_bytes;
    }
    problem.rows = context.input(0)->elem_num / problem.shape.k;
    problem.panels = divide_up(problem.shape.n, kNbitsColumns);
    problem.has_zero_points = context.input(3) || problem.given.bits == 2;
    int64_t rows;
    describe_pixel_tile(&rows, &problem.pixel_lanes);
    problem.pixel_lanes *= 2;
    return problem;
}

// Puts element `index` of a block into its place of a column's words, which are a line apart.
void pack_element(int bits, int index, int value, char* words)
{
    const int in_line = bits == 4 ? index % 8 : index % 4;
    char& byte = words[index / (bits == 4 ? 8 : 4) * kNbitsLine + in_line % 4];
    byte = static_cast<char>(byte | (in_line < 4 ? value : value << 4));
}

// Packs column `n` of the weights into lane n % kNbitsColumns of its panel.
void pack_column(const NbitsProblem& problem, int64_t n, const uint8_t* elements,
                 const float* scales, const uint8_t* zero_points, char* packed)
{
    const nbits_shape &shape = problem.shape, &given = problem.given;
    const int64_t lane = n % kNbitsColumns;
    const NbitsPanel panel = problem.panel(packed, n / kNbitsColumns);
    char* at = const_cast<char*>(panel.blocks) + 4 * lane;
    uint8_t* zeros = const_cast<uint8_t*>(panel.zero_points);
    const uint8_t* from = elements + n * given.blocks * given.block_bytes;
    for (int64_t block = 0; block < shape.blocks; ++block) {
        std::memcpy(at, &scales[n * shape.blocks + block], sizeof(float));
        at += kNbitsLine;
        for (int i = 0; i < shape.block_size; ++i)
            pack_element(shape.bits, i, unpack_element(from, i, given.bits), at);
        from += given.block_bytes;
        at += problem.lines() * kNbitsLine;
        if (zeros)
            zeros[block * kNbitsColumns + lane] = static_cast<uint8_t>(
                zero_points
                    ? unpack_element(zero_points + n * given.zero_point_step, block, given.bits)
                    : middle_of(given.bits));
    }
}

int keep(KernelContext& context, const NbitsProblem& problem)
{
    static const char kind = 0;
    const tensor *scales = context.input(2), *zero_points = context.input(3);
    const uint64_t bytes = problem.packed_bytes();
    return keep_packed_problem(
        context, problem, &kind, context.input(1), {scales, zero_points},
        {problem.shape.n, problem.shape.k, problem.shape.block_size}, bytes,
        [&](void* memory, const void* values) {
            std::memset(memory, 0, static_cast<size_t>(bytes));
            for (int64_t n = 0; n < problem.shape.n; ++n)
                pack_column(problem, n, static_cast<const uint8_t*>(values), scales->f32,
                            zero_points ? zero_points->u8 : nullptr, static_cast<char*>(memory));
        });
}

// Stores rows of kNbitsColumns accumulators as columns of the output, with the bias added.
void store_sums(const KernelContext& context, const NbitsProblem& problem, int64_t panel,
                int64_t first_row, int64_t rows, const float* sums)
{
    const int64_t n = problem.shape.n, first = panel * kNbitsColumns;
    const int64_t columns = std::min<int64_t>(n - first, kNbitsColumns);
    const tensor* bias = context.input(5);
    float* output = context.output(0)->f32 + first_row * n + first;
    for (int64_t row = 0; row < rows; ++row, output += n, sums += kNbitsColumns)
        for (int64_t i = 0; i < columns; ++i)
            output[i] = bias ? sums[i] + bias->f32[first + i] : sums[i];
}

// ---- in integers ----

// Rows of A as int8 in tiles of `height` rows; the last tile may have fewer. The scales of all
// tiles come first, then their sums, then their bytes.
struct Int8Tiles
{
    int64_t height, number;
    float* scales;
    int32_t* sums;
    int8_t* values;
};

Int8Tiles divide_rows(const NbitsProblem& problem, int64_t most_rows, void* scratch)
{
    const int64_t number = divide_up(problem.rows, most_rows);
    const int64_t parts = problem.rows * problem.shape.blocks;
    float* scales = static_cast<float*>(scratch);
    auto* sums = reinterpret_cast<int32_t*>(scales + parts);
    return {number > 0 ? divide_up(problem.rows, number) : 0, number, scales, sums,
            reinterpret_cast<int8_t*>(sums + parts)};
}

int prepare_int8(KernelContext& context)
{
    const NbitsProblem problem = describe(context);
    const auto rows = static_cast<uint64_t>(problem.rows);
    context.scratch_size =
        rows * (static_cast<uint64_t>(problem.shape.blocks) * (sizeof(float) + sizeof(int32_t)) +
                static_cast<uint64_t>(problem.depth()));
    return keep(context, problem);
}

template <const NbitsInt8Product& kProduct>
int run_int8(KernelContext& context)
{
    const auto& problem = packed_problem<NbitsProblem>(context);
    const nbits_shape& shape = problem.shape;
    const char* packed = shared_weights<NbitsProblem>(context);
    const Int8Tiles tiles = divide_rows(problem, kProduct.most_rows, context.scratch);
    const float* input = context.input(0)->f32;
    const auto rows_of = [&](int64_t tile) {
        return std::min(tiles.height, problem.rows - tile * tiles.height);
    };
    parallel_for(context.pool, tiles.number, grain_for(tiles.height * shape.k),
                 [&](int64_t first, int64_t last, int) {
                     for (int64_t tile = first; tile < last; ++tile) {
                         const int64_t row = tile * tiles.height, part = row * shape.blocks;
                         const NbitsQuantized to = {input + row * shape.k,
                                                    shape.k,
                                                    shape.block_size,
                                                    shape.blocks,
                                                    problem.common_zero_point(),
                                                    tiles.values + row * problem.depth(),
                                                    tiles.scales + part,
                                                    tiles.sums + part};
                         quantize_nbits_rows(to, rows_of(tile));
                     }
                 });
    const MultiplyNbits multiply = kProduct.multiply[shape.bits == 8];
    parallel_for(context.pool, problem.panels, problem.grain(),
                 [&](int64_t first, int64_t last, int) {
                     alignas(64) float sums[kMostNbitsRows * kNbitsColumns];
                     for (int64_t index = first; index < last; ++index) {
                         const NbitsPanel panel = problem.panel(packed, index);
                         for (int64_t tile = 0; tile < tiles.number; ++tile) {
                             const int64_t row = tile * tiles.height, part = row * shape.blocks;
                             const NbitsBytes bytes = {tiles.values + row * problem.depth(),
                                                       tiles.scales + part, tiles.sums + part};
                             multiply(panel, bytes, rows_of(tile), sums);
                             store_sums(context, problem, index, row, rows_of(tile), sums);
                         }
                     }
                 });
    return TENGINE_OK;
}

// ---- in fp32 ----

int prepare_floats(KernelContext& context)
{
    const NbitsProblem problem = describe(context);
    const auto workers = static_cast<uint64_t>(get_thread_pool_size(context.pool));
    const bool has_few_rows = problem.rows <= kFewRows;
    context.scratch_size =
        sizeof(float) *
        (has_few_rows
             ? static_cast<uint64_t>(problem.rows * (problem.depth() + problem.shape.blocks))
             : workers * static_cast<uint64_t>(problem.segment_floats()));
    return keep(context, problem);
}

void multiply_few_rows(const KernelContext& context, const NbitsProblem& problem,
                       const char* packed)
{
    const nbits_shape& shape = problem.shape;
    const int64_t depth = problem.depth(), blocks = shape.blocks;
    float* values = static_cast<float*>(context.scratch);
    float* block_sums = values + problem.rows * depth;
    for (int64_t row = 0; row < problem.rows; ++row)
        arrange_nbits_row(context.input(0)->f32 + row * shape.k, shape.k, shape.block_size, blocks,
                          shape.bits, static_cast<float>(problem.common_zero_point()),
                          values + row * depth, block_sums + row * blocks);
    parallel_for(
        context.pool, problem.panels, problem.grain(), [&](int64_t first, int64_t last, int) {
            float sums[kNbitsFewRows * kNbitsColumns];
            for (int64_t index = first; index < last; ++index) {
                const NbitsPanel panel = problem.panel(packed, index);
                for (int64_t row = 0; row < problem.rows; row += kNbitsFewRows) {
                    const int64_t rows = std::min<int64_t>(problem.rows - row, kNbitsFewRows);
                    multiply_nbits_floats(panel, {values + row * depth, block_sums + row * blocks},
                                          shape.bits, rows, sums);
                    store_sums(context, problem, index, row, rows, sums);
                }
            }
        });
}

// Computes the columns from `first` on, those of a panel of the pixel product; `scratch` has
// segment_floats().
void multiply_pixel_panel(const KernelContext& context, const NbitsProblem& problem,
                          const char* packed, int64_t first, float* scratch)
{
    static const Fusion kNothing;
    const nbits_shape& shape = problem.shape;
    const int64_t width = find_panel_width(shape.n - first, problem.pixel_lanes);
    const tensor* bias = context.input(5);
    NbitsSegment segment = {problem.panel(packed, 0),
                            problem.panel_step(),
                            problem.zero_point_step(),
                            first,
                            width,
                            0,
                            0};
    FloatTile tile = {};
    const int64_t segments[] = {0};
    tile.input_step = shape.k;
    tile.segments = segments;
    tile.segment_num = 1;
    tile.weights = scratch + width;
    tile.output = context.output(0)->f32 + first;
    tile.output_step = shape.n;
    tile.columns = std::min<int64_t>(shape.n - first, width);
    tile.fusion = &kNothing;
    for (int64_t i = 0; i < width; ++i)
        scratch[i] = bias && i < tile.columns ? bias->f32[first + i] : 0;
    const int64_t most = find_most_pixel_rows(tile.input_step);
    for (; segment.first < shape.blocks; segment.first += segment.count) {
        segment.count = std::min(problem.segment_blocks(), shape.blocks - segment.first);
        dequantize_nbits(segment, shape.bits, scratch + width);
        const int64_t from = segment.first * shape.block_size;
        tile.input = context.input(0)->f32 + from;
        tile.segment_length = std::min(segment.count * shape.block_size, shape.k - from);
        tile.bias = from == 0 ? scratch : nullptr;
        multiply_pixel_rows(tile, problem.rows, most, width == problem.pixel_lanes);
    }
}

int run_floats(KernelContext& context)
{
    const auto& problem = packed_problem<NbitsProblem>(context);
    const char* packed = shared_weights<NbitsProblem>(context);
    if (problem.rows <= kFewRows) {
        multiply_few_rows(context, problem, packed);
        return TENGINE_OK;
    }
    parallel_for(context.pool, divide_up(problem.shape.n, problem.pixel_lanes), 1,
                 [&](int64_t first, int64_t last, int worker) {
                     float* scratch =
                         static_cast<float*>(context.scratch) + worker * problem.segment_floats();
                     for (int64_t i = first; i < last; ++i)
                         multiply_pixel_panel(context, problem, packed, i * problem.pixel_lanes,
                                              scratch);
                 });
    return TENGINE_OK;
}

bool is_constant(const node& node, int index, int data_type)
{
    const tensor* value = get_ir_node_input(&node, index);
    return value && value->tensor_type == TENSOR_TYPE_CONST && value->data_type == data_type;
}

bool accepts_floats(const node& node)
{
    return get_ir_node_input(&node, 0)->data_type == TENGINE_DT_FP32 &&
           is_constant(node, 1, TENGINE_DT_UINT8) && is_constant(node, 2, TENGINE_DT_FP32) &&
           (!get_ir_node_input(&node, 3) || is_constant(node, 3, TENGINE_DT_UINT8)) &&
           !get_ir_node_input(&node, 4);
}

// The accuracy_level that permits int8.
constexpr int kBytesPermitted = 4;

template <const NbitsInt8Product& kProduct>
bool accepts_int8(const node& node)
{
    const auto& param = *static_cast<const matmul_nbits_param*>(node.op.param_mem);
    return param.accuracy_level == kBytesPermitted && kProduct.multiply[param.bits == 8] &&
           (get_cpu_features() & kProduct.features) == kProduct.features && accepts_floats(node);
}

constexpr const char* kOperator = "com.microsoft.MatMulNBits";
constexpr Kernel matmul_nbits_rows[] = {
    {.op = kOperator,
     .name = "matmul_nbits.s8.vnni",
     .accepts = accepts_int8<vnni_nbits_product>,
     .run = run_int8<vnni_nbits_product>,
     .prepare = prepare_int8,
     .unaligned_input = 1},
    {.op = kOperator,
     .name = "matmul_nbits.s8.avx2",
     .accepts = accepts_int8<avx2_nbits_product>,
     .run = run_int8<avx2_nbits_product>,
     .prepare = prepare_int8,
     .unaligned_input = 1},
    {.op = kOperator,
     .name = "matmul_nbits.f32.packed",
     .accepts = accepts_floats,
     .run = run_floats,
     .prepare = prepare_floats,
     .unaligned_input = 1},
};

}  // namespace

extern const KernelTable matmul_nbits_kernels;
const KernelTable matmul_nbits_kernels = make_table<matmul_nbits_rows>();

}  // namespace tengine::cpu
