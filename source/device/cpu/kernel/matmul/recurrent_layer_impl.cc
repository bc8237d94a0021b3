// SPDX-License-Identifier: Apache-2.0
// See recurrent_layer.h.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/alloc.h"
#include "device/cpu/kernel/matmul/recurrent_layer.h"
#include "device/cpu/kernel/matmul/recurrent_s8.h"
#include "device/cpu/kernel/product/packed_problem.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/constant.h"
#include "device/cpu/shared/grain.h"
#include "device/cpu/shared/rounding.h"

namespace tengine::cpu {
namespace {

// Floats of the gates that a worker computes before it updates their units: they stay in L1. An
// LSTM of 128 units takes 10 % less time than with one group at a time.
constexpr int64_t kFloatsAtOnce = 4096;

// For fewer multiply-adds of all steps, waking other workers costs more than it saves: 50 steps of
// an RNN of 64 units take 12 us rather than 21.
constexpr int64_t kFewMacs = 1 << 19;

// A build without the operator does without the int8 kernels.
constexpr bool kHasBytes = is_selected("tengine.RowQuantizeLSTM");

struct RecurrentLayer
{
    GateBlocks blocks;
    recurrent_shape shape;
    bool has_usual_functions;  // has the usual functions and does not clip
    float clip, cell_clip;
    bool is_batch_first;
    bool gathers;   // copies the input into the order of the steps of each sequence
    int64_t lanes;  // of a vector
    int64_t units;  // padded to a whole vector
    int64_t group_units, groups_at_once;
    int64_t at_once;   // directions that are computed at once
    bool is_of_bytes;  // the matrices, of the only block, are int8
    Int8Gates bytes;

    bool has_bytes() const { return kHasBytes && is_of_bytes; }

    int64_t groups() const { return divide_up(units, group_units); }
    // Returns the groups that are enough work for a worker. A multiply-add waits for its weight,
    // and counts for two. An LSTM of 128 units takes 34 % less time with two workers so.
    int64_t grain_of(int64_t gates) const
    {
        return grain_for(2 * gates * group_units * shape.hidden * shape.batch);
    }
    int64_t rows() const { return int64_t{shape.sequence} * shape.batch; }
    // The size of the packed data of a direction.
    uint64_t direction_floats() const
    {
        if (has_bytes()) return round_up(bytes.packed_bytes(), ALLOC_ALIGNMENT) / sizeof(float);
        uint64_t floats = 0;
        for (int i = 0; i < blocks.num; ++i)
            floats += blocks.list[i].inputs.packed_floats() + blocks.list[i].steps.packed_floats();
        return floats;
    }
    // The scratch of a direction: gates of all steps, gates of one step, the cell, and the state
    // before and after, all in whole vectors; then the input, and the scratch of int8 products.
    uint64_t scratch_floats() const
    {
        uint64_t of_row = 3 * static_cast<uint64_t>(units);
        for (int i = 0; i < blocks.num; ++i)
            of_row += static_cast<uint64_t>(blocks.list[i].columns()) *
                      (static_cast<uint64_t>(shape.sequence) + 1);
        const uint64_t input = gathers ? static_cast<uint64_t>(rows() * shape.input) : 0;
        return (static_cast<uint64_t>(shape.batch) * of_row + 15) / 16 * 16 +
               (input + 15) / 16 * 16 + (has_bytes() ? bytes.scratch_bytes() / sizeof(float) : 0);
    }
    // Returns the row of a gate's column in the matrices; -1: the column fills the last vector.
    int64_t row_of(const GateBlock& block, int64_t column) const
    {
        const int64_t gate = block.first_gate + column / lanes % block.gates;
        const int64_t unit = column / (block.gates * lanes) * lanes + column % lanes;
        return unit < shape.hidden ? gate * shape.hidden + unit : -1;
    }
    // Rows of `hidden` floats in the tensors.
    int64_t state_row(int64_t direction, int64_t sequence) const
    {
        return is_batch_first ? sequence * shape.directions + direction
                              : direction * shape.batch + sequence;
    }
    int64_t output_row(int64_t direction, int64_t sequence, int64_t time) const
    {
        return is_batch_first ? (sequence * shape.sequence + time) * shape.directions + direction
                              : (time * shape.directions + direction) * shape.batch + sequence;
    }
};

// Activation functions: LSTM has three, GRU two, RNN one.
struct Functions
{
    bool are_usual = true;  // the operator's default functions
    bool have_updates = true;
};

Functions describe_functions(const recurrent_shape& shape)
{
    Functions functions;
    const int num = shape.gates == 4 ? 3 : shape.gates == 3 ? 2 : 1;
    for (int i = 0; i < shape.directions * num; ++i) {
        const recurrent_activation kind = shape.functions[i / num][i % num].kind;
        const bool is_gate = num > 1 && i % num == 0;
        functions.are_usual &= kind == (is_gate ? RECURRENT_SIGMOID : RECURRENT_TANH);
        functions.have_updates &= kind == RECURRENT_SIGMOID || kind == RECURRENT_TANH ||
                                  kind == RECURRENT_RELU || kind == RECURRENT_HARD_SIGMOID;
    }
    return functions;
}

void plan_block(const RecurrentLayer& layer, int64_t workers, GateBlock* block)
{
    const int64_t columns = block->gates * layer.units;
    block->inputs = describe_rows(layer.rows(), layer.shape.input, columns);
    block->steps = describe_rows(layer.shape.batch, layer.shape.hidden, columns);
    // The state has `units` floats for a sequence.
    block->steps.image_step = layer.units;
    plan_pixels(block->inputs, workers);
    plan_pixels(block->steps, 1);
    block->steps.blocks = block->steps.panel_parts = 1;
    block->steps.block_pixels = block->steps.line_pixels;
}

// A group has whole panels.
void plan_bytes(const node& node, int64_t workers, RecurrentLayer* layer)
{
    const recurrent_shape& shape = layer->shape;
    layer->bytes =
        plan_int8_gates(node, layer->rows(), shape.input, shape.batch, layer->units, workers);
    while (4 * layer->group_units % layer->bytes.steps.format.columns != 0)
        layer->group_units += layer->lanes;
}

bool clips(const recurrent_param& param)
{
    return param.clip > 0 || param.cell_clip > 0;
}

int describe(const KernelContext& context, const GateBlocks& blocks, RecurrentLayer* out_layer)
{
    RecurrentLayer& layer = *out_layer;
    const auto& param = context.param<recurrent_param>();
    const recurrent_shape& shape = layer.shape;
    TENGINE_RETURN_IF_ERROR(resolve_recurrent_shape(context.node, &layer.shape));
    layer.blocks = blocks;
    layer.clip = param.clip;
    layer.cell_clip = param.cell_clip;
    layer.has_usual_functions = describe_functions(shape).are_usual && !clips(param);
    layer.is_batch_first = param.layout == 1;
    layer.gathers = (layer.is_batch_first && shape.batch > 1) ||
                    (context.input(4) && (shape.first_reverse || shape.directions == 2));
    int64_t tile_rows;
    describe_pixel_tile(&tile_rows, &layer.lanes);
    layer.units = round_up(shape.hidden, layer.lanes);
    const int64_t workers = get_thread_pool_size(context.pool);
    int64_t fewest = shape.gates;
    for (int i = 0; i < blocks.num; ++i) {
        plan_block(layer, workers, &layer.blocks.list[i]);
        fewest = std::min(fewest, blocks.list[i].gates);
    }
    // A group has four vectors of gates, which are two panels, of each block
    // (multiply_pixel_row()).
    layer.group_units = 4 / fewest * layer.lanes;
    layer.is_of_bytes = context.input(1)->data_type == TENGINE_DT_INT8;
    if (layer.has_bytes()) plan_bytes(*context.node, workers, &layer);
    const int64_t floats = shape.gates * layer.group_units * shape.batch;
    layer.groups_at_once = std::max<int64_t>(kFloatsAtOnce / floats, 1);
    // Directions that are computed at once have a worker each, so that workers wait for each other
    // only once: 46 % less time for a GRU of 128 units.
    const bool splits = layer.groups() >= 2 * layer.grain_of(shape.gates);
    layer.at_once = workers == 2 || (workers > 2 && !splits) ? shape.directions : 1;
    return TENGINE_OK;
}

// Gates are rows of `matrix`, and of the bias.
void pack_matrix(const RecurrentLayer& layer, const GateBlock& block, const FloatPixels& conv,
                 const float* matrix, const float* bias, float* packed)
{
    const int64_t depth = conv.input_channels;
    pack_panels(conv, packed, [&](const PixelPanel& panel) {
        float *start = reinterpret_cast<float*>(panel.data), *weights = start + panel.width;
        std::fill_n(start, panel.width * (depth + 1), 0.0f);
        for (int64_t i = 0; i < panel.count; ++i) {
            const int64_t row = layer.row_of(block, panel.channel + i);
            if (row < 0) continue;
            if (bias) start[i] = bias[row];
            for (int64_t k = 0; k < depth; ++k)
                weights[k * panel.width + i] = matrix[row * depth + k];
        }
    });
}

// A direction: its number, weights and memory.
struct Direction
{
    int64_t index;
    bool is_reverse;
    const int32_t* lengths;  // of the sequences; null: all have all steps
    const float *input_weights[kMostGateBlocks], *step_weights[kMostGateBlocks];
    float *inputs[kMostGateBlocks], *gates[kMostGateBlocks];
    float *cell, *state, *next_state, *gathered;
    Int8GateMemory bytes;

    int64_t step;  // the present step
    int64_t row;   // of the first sequence in the input's part of the gates

    bool has_ended(int64_t sequence) const { return lengths && step >= lengths[sequence]; }
    // Returns the position in time, in the tensors, of a sequence's step, or of one after its end.
    int64_t time_of(const recurrent_shape& shape, int64_t sequence) const
    {
        const int64_t length = lengths ? lengths[sequence] : shape.sequence;
        return is_reverse && step < length ? length - 1 - step : step;
    }
};

Direction find_direction(const KernelContext& context, const RecurrentLayer& layer, int64_t index)
{
    const recurrent_shape& shape = layer.shape;
    Direction direction = {};
    direction.index = index;
    direction.is_reverse = shape.first_reverse || index == 1;
    if (const tensor* lengths = context.input(4)) direction.lengths = lengths->i32;
    const float* weights = reinterpret_cast<const float*>(shared_weights<RecurrentLayer>(context)) +
                           static_cast<uint64_t>(index) * layer.direction_floats();
    float* memory = static_cast<float*>(context.scratch) +
                    static_cast<uint64_t>(index % layer.at_once) * layer.scratch_floats();
    for (int i = 0; i < layer.blocks.num; ++i) {
        const GateBlock& block = layer.blocks.list[i];
        direction.input_weights[i] = weights;
        direction.step_weights[i] = weights + block.inputs.packed_floats();
        weights = direction.step_weights[i] + block.steps.packed_floats();
        direction.inputs[i] = memory;
        direction.gates[i] = memory + layer.rows() * block.columns();
        memory = direction.gates[i] + shape.batch * block.columns();
    }
    for (float** state : {&direction.cell, &direction.state, &direction.next_state}) {
        *state = memory;
        memory += shape.batch * layer.units;
    }
    direction.gathered = memory;
    if (layer.has_bytes()) {
        char* end = reinterpret_cast<char*>(static_cast<float*>(context.scratch) +
                                            (static_cast<uint64_t>(index % layer.at_once) + 1) *
                                                layer.scratch_floats());
        direction.bytes = {reinterpret_cast<const char*>(direction.input_weights[0]),
                           end - layer.bytes.scratch_bytes()};
    }
    return direction;
}

// Copies between tensors, which have `hidden` floats for a sequence, and the state, which has
// `units`.
void load_state(const RecurrentLayer& layer, const tensor* initial, int64_t direction, float* state)
{
    const int64_t batch = layer.shape.batch, hidden = layer.shape.hidden, units = layer.units;
    std::fill_n(state, batch * units, 0.0f);
    for (int64_t i = 0; initial && i < batch; ++i)
        std::copy_n(initial->f32 + layer.state_row(direction, i) * hidden, hidden,
                    state + i * units);
}

void store_state(const RecurrentLayer& layer, const float* state, int64_t direction, tensor* final)
{
    const int64_t hidden = layer.shape.hidden;
    for (int64_t i = 0; final && i < layer.shape.batch; ++i)
        std::copy_n(state + i * layer.units, hidden,
                    final->f32 + layer.state_row(direction, i) * hidden);
}

// Stores the state after a step; 0 after the end of a sequence.
void store_step(const RecurrentLayer& layer, const Direction& direction, tensor* y)
{
    const recurrent_shape& shape = layer.shape;
    for (int64_t i = 0; y && i < shape.batch; ++i) {
        const int64_t time = direction.time_of(shape, i);
        float* to = y->f32 + layer.output_row(direction.index, i, time) * shape.hidden;
        if (direction.has_ended(i))
            std::fill_n(to, shape.hidden, 0.0f);
        else
            std::copy_n(direction.state + i * layer.units, shape.hidden, to);
    }
}

const float* gather_input(const RecurrentLayer& layer, Direction& direction, const float* x)
{
    const recurrent_shape& shape = layer.shape;
    if (!layer.gathers) return x;
    float* to = direction.gathered;
    for (direction.step = 0; direction.step < shape.sequence; ++direction.step)
        for (int64_t i = 0; i < shape.batch; ++i, to += shape.input) {
            const int64_t time = direction.time_of(shape, i);
            const int64_t row =
                layer.is_batch_first ? i * shape.sequence + time : time * shape.batch + i;
            std::copy_n(x + row * shape.input, shape.input, to);
        }
    return direction.gathered;
}

// Computes the gates of units `unit` to before unit + num.
void multiply_block(const RecurrentLayer& layer, const Direction& direction, int index,
                    int64_t unit, int64_t num, int worker)
{
    static const Fusion none;
    const GateBlock& block = layer.blocks.list[index];
    const float* addend = direction.inputs[index] + direction.row * block.columns();
    if (layer.has_bytes())
        return multiply_int8_steps(layer.bytes, direction.bytes, addend, unit * block.gates,
                                   (unit + num) * block.gates, worker, direction.gates[index]);
    const FloatRun operands = {
        {block.is_of_cell ? direction.cell : direction.state, direction.step_weights[index]},
        block.is_apart ? nullptr : addend,
        direction.gates[index],
        &none};
    multiply_pixel_panels(block.steps, operands, unit * block.gates / block.steps.format.columns,
                          divide_up((unit + num) * block.gates, block.steps.format.columns));
}

// Updates the units of all sequences; a sequence that has ended keeps its state.
void update_units(const RecurrentLayer& layer, const Direction& direction, UpdateUnits update,
                  int64_t unit, int64_t num)
{
    CellUnits units = {};
    units.num = num;
    units.has_usual_functions = layer.has_usual_functions;
    units.functions = layer.shape.functions[direction.index];
    units.clip = layer.clip;
    units.cell_clip = layer.cell_clip;
    for (int64_t i = 0; i < layer.shape.batch; ++i) {
        for (int k = 0; k < layer.blocks.num; ++k) {
            const GateBlock& block = layer.blocks.list[k];
            const int64_t at = i * block.columns() + unit * block.gates;
            units.gates[k] = direction.gates[k] + at;
            units.inputs[k] = direction.inputs[k] + direction.row * block.columns() + at;
        }
        const int64_t at = i * layer.units + unit;
        units.state = direction.state + at;
        units.next_state = direction.next_state + at;
        units.cell = direction.cell + at;
        if (direction.has_ended(i))
            std::copy_n(units.state, num, units.next_state);
        else
            update(units);
    }
}

void run_step(const KernelContext& context, const RecurrentLayer& layer,
              const RecurrentPhases& phases, const Direction& direction)
{
    if (layer.has_bytes()) quantize_state(layer.bytes, direction.bytes, direction.state);
    for (int number = 0; number < phases.num; ++number) {
        const RecurrentPhase& phase = phases.list[number];
        int64_t gates = 0;
        for (int k = phase.first_block; k < phase.last_block; ++k)
            gates += layer.blocks.list[k].gates;
        const auto work = [&](int64_t begin, int64_t end, int worker) {
            for (int64_t i = begin; i < end; i += layer.groups_at_once) {
                const int64_t unit = i * layer.group_units;
                const int64_t last = std::min(i + layer.groups_at_once, end) * layer.group_units;
                const int64_t num = std::min(last, layer.units) - unit;
                for (int k = phase.first_block; k < phase.last_block; ++k)
                    multiply_block(layer, direction, k, unit, num, worker);
                update_units(layer, direction, phase.update, unit, num);
            }
        };
        parallel_for(context.pool, layer.groups(), layer.grain_of(gates), work);
    }
}

// Computes the input's part of the gates for all steps.
void multiply_inputs(const KernelContext& context, const RecurrentLayer& layer,
                     const Direction& direction, const float* x)
{
    static const Fusion none;
    for (int i = 0; i < layer.blocks.num; ++i) {
        const FloatPixels& inputs = layer.blocks.list[i].inputs;
        const bool is_small = layer.rows() * layer.shape.input * inputs.output_channels < kFewMacs;
        thread_pool_t* pool = is_small ? nullptr : context.pool;
        if (layer.has_bytes())
            multiply_int8_inputs(layer.bytes, pool, direction.bytes, x, direction.inputs[i]);
        else
            multiply_pixels(pool, inputs,
                            {{x, direction.input_weights[i]}, nullptr, direction.inputs[i], &none},
                            nullptr);
    }
}

void run_direction(const KernelContext& context, const RecurrentLayer& layer,
                   const RecurrentPhases& phases, int64_t index)
{
    const recurrent_shape& shape = layer.shape;
    Direction direction = find_direction(context, layer, index);
    multiply_inputs(context, layer, direction,
                    gather_input(layer, direction, context.input(0)->f32));
    load_state(layer, context.input(5), index, direction.state);
    load_state(layer, context.input(6), index, direction.cell);
    const int64_t longest =
        direction.lengths ? *std::max_element(direction.lengths, direction.lengths + shape.batch)
                          : shape.sequence;
    for (direction.step = 0; direction.step < shape.sequence; ++direction.step) {
        if (direction.step < longest) {
            direction.row =
                shape.batch * (layer.gathers ? direction.step : direction.time_of(shape, 0));
            run_step(context, layer, phases, direction);
            std::swap(direction.state, direction.next_state);
        }
        store_step(layer, direction, context.output(0));
    }
    store_state(layer, direction.state, index, context.output(1));
    store_state(layer, direction.cell, index, context.output(2));
}

// Whether both matrices of an int8 layer have a format. The state may have up to a vector more than
// the units.
bool has_int8_formats(const node& node, const recurrent_shape& shape)
{
    constexpr int64_t kMostLanes = 64;
    TileFormat format;
    return is_constant(get_ir_node_input(&node, 8)) && is_constant(get_ir_node_input(&node, 9)) &&
           find_byte_format(find_gate_operands(node, 1, 8), shape.input, shape.input, &format) &&
           find_byte_format(find_gate_operands(node, 2, 9), shape.hidden + kMostLanes, shape.hidden,
                            &format);
}

// Packs the int8 matrices of a direction; `room` as for pack_int8_gates(), then the row of each
// column.
void pack_bytes(const KernelContext& context, const RecurrentLayer& layer, int64_t direction,
                char* room, char* packed)
{
    const recurrent_shape& shape = layer.shape;
    const Int8Gates& gates = layer.bytes;
    const int64_t columns = gates.columns(), rows = int64_t{4} * shape.hidden;
    auto* row_of = reinterpret_cast<int64_t*>(room);
    const tensor* bias = context.input(3);
    const float* own = bias ? bias->f32 + 2 * direction * rows : nullptr;
    float* sums = reinterpret_cast<float*>(packed);
    for (int64_t i = 0; i < columns; ++i) {
        row_of[i] = layer.row_of(layer.blocks.list[0], i);
        sums[i] = own && row_of[i] >= 0 ? own[row_of[i]] + own[rows + row_of[i]] : 0;
    }
    packed += gates.packed_bytes() - static_cast<uint64_t>(gates.inputs.group_bytes) -
              static_cast<uint64_t>(gates.steps.group_bytes);
    void* rest = row_of + columns;
    pack_int8_gates(
        gates.inputs,
        {columns, shape.input, shape.input, context.input(1)->i8 + direction * rows * shape.input,
         context.input(8)->f32 + direction * rows, row_of},
        rest, packed);
    packed += gates.inputs.group_bytes;
    pack_int8_gates(
        gates.steps,
        {columns, layer.units, shape.hidden, context.input(2)->i8 + direction * rows * shape.hidden,
         context.input(9)->f32 + direction * rows, row_of},
        rest, packed);
}

// Keeps the packed data of an int8 layer.
int keep_bytes(KernelContext& context, const RecurrentLayer& layer)
{
    const int64_t depth = std::max<int64_t>(layer.shape.input, layer.units);
    void* room = alloc_memory(static_cast<size_t>(layer.bytes.columns() * (depth + 12)));
    if (!room)
        return fail_node(context.node, TENGINE_ENOMEM, "out of memory for its packed weights");
    static const char kind = 0;
    const tensor* scales = context.input(9);
    const TileFormat& format = layer.bytes.steps.format;
    const int status = keep_packed_problem(
        context, layer, is_shared_constant(scales) ? &kind : nullptr, context.input(1),
        {context.input(2), context.input(3), context.input(8)},
        {int64_t{layer.shape.input} << 32 | layer.shape.hidden,
         layer.lanes << 32 | format.group << 8 | format.columns, layer.bytes.steps.flips,
         static_cast<int64_t>(reinterpret_cast<uintptr_t>(scales->data))},
        static_cast<uint64_t>(layer.shape.directions) * layer.direction_floats() * sizeof(float),
        [&](void* memory, const void*) {
            for (int64_t i = 0; i < layer.shape.directions; ++i)
                pack_bytes(context, layer, i, static_cast<char*>(room),
                           static_cast<char*>(memory) +
                               static_cast<uint64_t>(i) * layer.direction_floats() * sizeof(float));
        });
    free_memory(room);
    return status;
}

}  // namespace

bool accepts_recurrent_layer(const node& node)
{
    const auto& param = *static_cast<const recurrent_param*>(node.op.param_mem);
    recurrent_shape shape;
    if (get_ir_node_input(&node, 0)->data_type != TENGINE_DT_FP32 || param.input_forget != 0 ||
        get_ir_node_input(&node, 7) || resolve_recurrent_shape(&node, &shape) != TENGINE_OK)
        return false;
    for (int i = 1; i <= 3; ++i)
        if (!is_constant(get_ir_node_input(&node, i))) return false;
    const Functions functions = describe_functions(shape);
    if (kNamesFunctions ? !functions.have_updates : !functions.are_usual || clips(param))
        return false;
    return shape.sequence > 0 && shape.batch > 0 && shape.input > 0 && shape.hidden > 0 &&
           (get_ir_node_input(&node, 1)->data_type == TENGINE_DT_FP32 ||
            (kHasBytes && has_int8_formats(node, shape)));
}

int prepare_recurrent_layer(KernelContext& context, const GateBlocks& blocks)
{
    RecurrentLayer layer = {};
    TENGINE_RETURN_IF_ERROR(describe(context, blocks, &layer));
    context.scratch_size =
        static_cast<uint64_t>(layer.at_once) * layer.scratch_floats() * sizeof(float);
    if (layer.has_bytes()) return keep_bytes(context, layer);
    static const char kind = 0;
    const tensor* weight = context.input(1);
    const tensor* recurrence = context.input(2);
    const tensor* bias = context.input(3);
    const recurrent_shape& shape = layer.shape;
    const int64_t rows = int64_t{shape.gates} * shape.hidden;
    const auto pack = [&](void* memory, const void* values) {
        const auto* of_inputs = static_cast<const float*>(values);
        auto* packed = static_cast<float*>(memory);
        for (int64_t i = 0; i < shape.directions; ++i) {
            const float* own = bias ? bias->f32 + 2 * i * rows : nullptr;
            for (int k = 0; k < blocks.num; ++k) {
                const GateBlock& block = layer.blocks.list[k];
                pack_matrix(layer, block, block.inputs, of_inputs + i * rows * shape.input, own,
                            packed);
                packed += block.inputs.packed_floats();
                pack_matrix(layer, block, block.steps, recurrence->f32 + i * rows * shape.hidden,
                            own ? own + rows : nullptr, packed);
                packed += block.steps.packed_floats();
            }
        }
    };
    return keep_packed_problem(
        context, layer, &kind, weight, {recurrence, bias}, {layer.lanes, shape.input, shape.hidden},
        static_cast<uint64_t>(shape.directions) * layer.direction_floats() * sizeof(float), pack);
}

int run_recurrent_layer(KernelContext& context, const RecurrentPhases& phases)
{
    const auto& layer = packed_problem<RecurrentLayer>(context);
    TENGINE_RETURN_IF_ERROR(check_recurrent_lengths(context.node, &layer.shape, context.input(4)));
    if (layer.at_once > 1) {
        parallel_for(context.pool, layer.at_once, 1, [&](int64_t begin, int64_t end, int) {
            for (int64_t i = begin; i < end; ++i)
                run_direction(context, layer, phases, i);
        });
        return TENGINE_OK;
    }
    for (int64_t i = 0; i < layer.shape.directions; ++i)
        run_direction(context, layer, phases, i);
    return TENGINE_OK;
}

}  // namespace tengine::cpu
