// SPDX-License-Identifier: Apache-2.0
// See recurrent_s8.h.
#include <algorithm>
#include <cstdint>

#include "base/alloc.h"
#include "device/cpu/kernel/matmul/recurrent_s8.h"
#include "device/cpu/kernel/product/panel_s8.h"
#include "device/cpu/kernel/product/pixels_f32.h"
#include "device/cpu/shared/rounding.h"

namespace tengine::cpu {
namespace {

uint64_t bias_bytes(const Int8Gates& gates)
{
    return round_up(static_cast<uint64_t>(gates.columns()) * sizeof(float), ALLOC_ALIGNMENT);
}

// The quantised left side of a product: its bytes, scales and zero points, and the workers' copies.
struct LeftSide
{
    uint8_t* bytes;
    FloatBytes* rows;
    char* copies;
};

uint64_t left_bytes(const Int8Pixels& product)
{
    return round_up(static_cast<uint64_t>(product.line_pixels * product.segment_length),
                    ALLOC_ALIGNMENT);
}

uint64_t row_bytes(const Int8Pixels& product)
{
    return round_up(static_cast<uint64_t>(product.line_pixels) * sizeof(FloatBytes),
                    ALLOC_ALIGNMENT);
}

uint64_t side_bytes(const Int8Pixels& product, int64_t workers)
{
    return left_bytes(product) + row_bytes(product) +
           product.worker_bytes() * static_cast<uint64_t>(workers);
}

LeftSide find_side(const Int8Pixels& product, char* scratch)
{
    char* rows = scratch + left_bytes(product);
    return {reinterpret_cast<uint8_t*>(scratch), reinterpret_cast<FloatBytes*>(rows),
            rows + row_bytes(product)};
}

LeftSide find_state_side(const Int8Gates& gates, const Int8GateMemory& memory)
{
    return find_side(gates.steps, memory.scratch + side_bytes(gates.inputs, gates.workers));
}

Int8Pixels plan_product(const node& node, int weights, int scales, int64_t rows, int64_t depth,
                        int64_t columns, int64_t workers)
{
    const Int8Operands operands = find_gate_operands(node, weights, scales);
    Int8Pixels product = describe_byte_rows(rows, depth, columns);
    find_byte_format(operands, depth, depth, &product.format);
    product.has_words = true;
    plan_byte_pixels(product, operands, workers);
    return product;
}

}  // namespace

Int8Operands find_gate_operands(const node& node, int weights, int scales)
{
    Int8Operands operands = {};
    operands.weights = get_ir_node_input(&node, weights);
    operands.weight_scales = get_ir_node_input(&node, scales);
    operands.input_scale = operands.output_scale = operands.alpha = 1;
    operands.input_type = operands.output_type = TENGINE_DT_UINT8;
    return operands;
}

uint64_t Int8Gates::packed_bytes() const
{
    return bias_bytes(*this) + static_cast<uint64_t>(inputs.group_bytes) +
           static_cast<uint64_t>(steps.group_bytes);
}

uint64_t Int8Gates::scratch_bytes() const
{
    return side_bytes(inputs, workers) + side_bytes(steps, workers);
}

Int8Gates plan_int8_gates(const node& node, int64_t rows, int64_t input, int64_t batch,
                          int64_t units, int64_t workers)
{
    const int64_t columns = 4 * units;
    return {plan_product(node, 1, 8, rows, input, columns, workers),
            plan_product(node, 2, 9, batch, units, columns, 1), workers};
}

void pack_int8_gates(const Int8Pixels& product, const Int8Matrix& matrix, void* room, char* packed)
{
    float* scales = static_cast<float*>(room);
    auto* bytes = reinterpret_cast<int8_t*>(scales + matrix.columns);
    std::fill_n(bytes, matrix.columns * matrix.depth, int8_t{0});
    for (int64_t i = 0; i < matrix.columns; ++i) {
        const int64_t row = matrix.rows[i];
        scales[i] = row < 0 ? 0 : matrix.scales[row];
        if (row >= 0)
            std::copy_n(matrix.values + row * matrix.given, matrix.given, bytes + i * matrix.depth);
    }
    tensor scale_list = {}, weights = {};
    scale_list.f32 = scales;
    scale_list.elem_num = static_cast<uint32_t>(matrix.columns);
    weights.data_type = TENGINE_DT_INT8;
    Int8Operands operands = {};
    operands.weights = &weights;
    operands.weight_scales = &scale_list;
    operands.input_scale = operands.output_scale = operands.alpha = 1;
    pack_byte_weights(product, operands, {matrix.depth, 1, 0},
                      reinterpret_cast<const uint8_t*>(bytes), packed);
}

void multiply_int8_inputs(const Int8Gates& gates, thread_pool_t* pool, const Int8GateMemory& memory,
                          const float* input, float* output)
{
    const Int8Pixels& product = gates.inputs;
    const LeftSide side = find_side(product, memory.scratch);
    quantize_float_rows(pool, input, product.line_pixels, product.segment_length, side.rows,
                        side.bytes);
    const Int8Words words = {true, 1, reinterpret_cast<const float*>(memory.packed), side.rows};
    multiply_bytes(pool, product, {{side.bytes, memory.packed + bias_bytes(gates)}, output, &words},
                   side.copies);
}

void quantize_state(const Int8Gates& gates, const Int8GateMemory& memory, const float* state)
{
    const Int8Pixels& product = gates.steps;
    const LeftSide side = find_state_side(gates, memory);
    quantize_float_rows(nullptr, state, product.line_pixels, product.segment_length, side.rows,
                        side.bytes);
}

void multiply_int8_steps(const Int8Gates& gates, const Int8GateMemory& memory, const float* addend,
                         int64_t first, int64_t last, int worker, float* output)
{
    const Int8Pixels& product = gates.steps;
    const LeftSide side = find_state_side(gates, memory);
    const char* packed = memory.packed + bias_bytes(gates) + gates.inputs.group_bytes;
    const Int8Words words = {true, 1, nullptr, side.rows, addend};
    const int64_t width = product.format.columns;
    multiply_byte_panels(product, {{side.bytes, packed}, output, &words}, first / width,
                         divide_up(last, width),
                         side.copies + product.worker_bytes() * static_cast<uint64_t>(worker));
}

}  // namespace tengine::cpu
