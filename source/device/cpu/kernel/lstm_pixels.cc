// SPDX-License-Identifier: Apache-2.0
// LSTM in fp32 with constant weights and the functions that it has unless a node says otherwise.
// The input's part of all gates is one product for all steps. A step then is a product of the
// hidden state, to which that part is added, and the functions of the gates as vectors: for a group
// of units at a time, which one worker computes alone, so that workers pass nothing on but the
// state. Both matrices are packed once (pixel_conv.h), with the four gates of a group side by side.
// Limits: a step reads the recurrent matrix once, 16 * hidden^2 bytes: with one sequence the
// bandwidth of the cache that holds it.
// Accuracy: a gate before its function differs by at most (input + hidden + 4) * eps * (sum |w| |x|
// + sum |r| |h| + |bias|); the functions are within 5 ulp.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "device/cpu/kernel/fixed_vectors.h"
#include "device/cpu/kernel/packed_problem.h"
#include "device/cpu/kernel/pixel_conv.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/grain.h"
#include "operator/onnx/recurrent_param.h"

#ifdef TENGINE_HAVE_HIGHWAY
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/lstm_pixels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/function-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

// Cell and hidden state of a group's units, one vector, from their gates i, o, f, c.
void update_group(const float* gates, float* cell, float* state)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const SigmoidFunction sigmoid(nullptr);
    const TanhFunction tanh(nullptr);
    const Vector input = sigmoid(hn::LoadU(d, gates));
    const Vector output = sigmoid(hn::LoadU(d, gates + lanes));
    const Vector forget = sigmoid(hn::LoadU(d, gates + 2 * lanes));
    const Vector candidate = tanh(hn::LoadU(d, gates + 3 * lanes));
    const Vector kept = hn::MulAdd(forget, hn::LoadU(d, cell), hn::Mul(input, candidate));
    hn::StoreU(kept, d, cell);
    hn::StoreU(hn::Mul(output, tanh(kept)), d, state);
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TENGINE_HAVE_HIGHWAY

#if !defined(TENGINE_HAVE_HIGHWAY)
namespace tengine::cpu {
extern const KernelTable lstm_pixels_kernels;
const KernelTable lstm_pixels_kernels = {nullptr, 0};
}  // namespace tengine::cpu
#elif HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(update_group);

constexpr int64_t kGates = 4;

struct Lstm
{
    PixelConv inputs;  // [sequence * batch, input] x [input, columns]
    PixelConv steps;   // [batch, hidden] x [hidden, columns], an item for each group
    recurrent_shape shape;
    int64_t group_units;  // a vector
    int64_t groups;

    int64_t units() const { return groups * group_units; }  // with those that fill the last group
    int64_t columns() const { return kGates * units(); }
    uint64_t direction_floats() const
    {
        return count_packed_floats(inputs) + count_packed_floats(steps);
    }
    // Gates of all steps, gates of one, cell, and the state before and after.
    uint64_t scratch_floats() const
    {
        const auto batch = static_cast<uint64_t>(shape.batch);
        return batch *
               (static_cast<uint64_t>(columns()) * (static_cast<uint64_t>(shape.sequence) + 1) +
                3 * static_cast<uint64_t>(units()));
    }
    // That of a gate's row in the matrices; -1: of none, it fills the last group.
    int64_t row_of(int64_t column) const
    {
        const int64_t group = column / (kGates * group_units);
        const int64_t gate = column / group_units % kGates;
        const int64_t unit = group * group_units + column % group_units;
        return unit < shape.hidden ? gate * shape.hidden + unit : -1;
    }
};

int describe(const node& node, int64_t workers, Lstm* out_lstm)
{
    Lstm& lstm = *out_lstm;
    TENGINE_RETURN_IF_ERROR(resolve_recurrent_shape(&node, &lstm.shape));
    const recurrent_shape& shape = lstm.shape;
    PixelConv probe = describe_rows(1, 1, 1);
    plan_pixels(probe, 1);
    lstm.group_units = probe.panel_lanes / 2;
    lstm.groups = (shape.hidden + lstm.group_units - 1) / lstm.group_units;
    lstm.inputs = describe_rows(int64_t{shape.sequence} * shape.batch, shape.input, lstm.columns());
    lstm.steps = describe_rows(shape.batch, shape.hidden, lstm.columns());
    // The state has units() floats for a sequence.
    lstm.steps.input_step = lstm.steps.image_step = lstm.steps.pixel_step = lstm.units();
    plan_pixels(lstm.inputs, workers);
    plan_pixels(lstm.steps, 1);
    lstm.steps.blocks = 1;
    lstm.steps.block_tiles = lstm.steps.tiles;
    lstm.steps.panel_parts = lstm.groups;
    return TENGINE_OK;
}

// Gates are rows of `matrix`, and of the bias.
void pack_matrix(const Lstm& lstm, const PixelConv& conv, const float* matrix, const float* bias,
                 float* packed)
{
    const int64_t depth = conv.input_channels;
    const auto fill = [&](int64_t column, int64_t present, int64_t width, float* panel) {
        std::fill_n(panel, width * depth, 0.0f);
        for (int64_t i = 0; i < present; ++i) {
            const int64_t row = lstm.row_of(column + i);
            if (row < 0) continue;
            // The panel's biases are before its weights.
            if (bias) panel[i - width] = bias[row];
            for (int64_t k = 0; k < depth; ++k)
                panel[k * width + i] = matrix[row * depth + k];
        }
    };
    pack_panels(conv, nullptr, fill, packed);
}

int prepare(KernelContext& context)
{
    Lstm lstm = {};
    TENGINE_RETURN_IF_ERROR(describe(*context.node, get_thread_pool_size(context.pool), &lstm));
    context.scratch_size = lstm.scratch_floats() * sizeof(float);
    static const char kind = 0;
    const tensor* weight = context.input(1);
    const tensor* recurrence = context.input(2);
    const tensor* bias = context.input(3);
    const recurrent_shape& shape = lstm.shape;
    const int64_t gates = kGates * shape.hidden;
    const auto directions = static_cast<uint64_t>(shape.directions);
    const auto pack = [&](void* memory, const void* values) {
        const auto* of_inputs = static_cast<const float*>(values);
        auto* packed = static_cast<float*>(memory);
        for (int64_t i = 0; i < shape.directions; ++i) {
            const float* own = bias ? bias->f32 + 2 * i * gates : nullptr;
            pack_matrix(lstm, lstm.inputs, of_inputs + i * gates * shape.input, own, packed);
            packed += count_packed_floats(lstm.inputs);
            pack_matrix(lstm, lstm.steps, recurrence->f32 + i * gates * shape.hidden,
                        own ? own + gates : nullptr, packed);
            packed += count_packed_floats(lstm.steps);
        }
    };
    const auto bias_at =
        static_cast<int64_t>(reinterpret_cast<intptr_t>(bias ? bias->data : nullptr));
    return keep_packed_problem(context, lstm, is_shared_constant(bias) ? &kind : nullptr, weight,
                               recurrence,
                               {lstm.steps.panel_lanes, shape.input, shape.hidden, bias_at},
                               directions * lstm.direction_floats() * sizeof(float), pack);
}

// A direction: its place among those of a step, and memory.
struct Direction
{
    int64_t index;
    bool is_reverse;
    const float* weights;
    float *all_gates, *gates, *cell;
    float *state, *next_state;
};

// Between tensors, which have `hidden` floats for a sequence, and state, which has units().
void load_state(const Lstm& lstm, const tensor* initial, int64_t direction, float* state)
{
    const int64_t batch = lstm.shape.batch, hidden = lstm.shape.hidden, units = lstm.units();
    std::fill_n(state, batch * units, 0.0f);
    for (int64_t i = 0; initial && i < batch; ++i)
        std::copy_n(initial->f32 + (direction * batch + i) * hidden, hidden, state + i * units);
}

void store_state(const Lstm& lstm, const float* state, float* to)
{
    for (int64_t i = 0; i < lstm.shape.batch; ++i)
        std::copy_n(state + i * lstm.units(), lstm.shape.hidden, to + i * lstm.shape.hidden);
}

void run_step(const KernelContext& context, const Lstm& lstm, const Direction& direction,
              const float* recurrence, int64_t step)
{
    static const Fusion none;
    const int64_t columns = lstm.columns(), units = lstm.units();
    const auto update = HWY_DYNAMIC_DISPATCH(update_group);
    const PixelOperands operands = {direction.state,
                                    direction.all_gates + step * lstm.shape.batch * columns,
                                    direction.gates, recurrence, &none};
    const auto work = [&](int64_t begin, int64_t end, int) {
        for (int64_t group = begin; group < end; ++group) {
            const int64_t unit = group * lstm.group_units;
            multiply_pixel_item(lstm.steps, operands, group, nullptr);
            for (int64_t i = 0; i < lstm.shape.batch; ++i)
                update(direction.gates + i * columns + kGates * unit,
                       direction.cell + i * units + unit, direction.next_state + i * units + unit);
        }
    };
    const int64_t group_work = kGates * lstm.group_units * lstm.shape.hidden * lstm.shape.batch;
    parallel_for(context.pool, lstm.groups, grain_for(group_work), work);
}

void run_direction(const KernelContext& context, const Lstm& lstm, Direction& direction)
{
    static const Fusion none;
    const recurrent_shape& shape = lstm.shape;
    const int64_t number = int64_t{shape.batch} * shape.hidden;
    multiply_pixels(context.pool, lstm.inputs,
                    {context.input(0)->f32, nullptr, direction.all_gates, direction.weights, &none},
                    nullptr);
    load_state(lstm, context.input(5), direction.index, direction.state);
    load_state(lstm, context.input(6), direction.index, direction.cell);
    const float* recurrence = direction.weights + count_packed_floats(lstm.inputs);
    for (int64_t i = 0; i < shape.sequence; ++i) {
        const int64_t step = direction.is_reverse ? shape.sequence - 1 - i : i;
        run_step(context, lstm, direction, recurrence, step);
        std::swap(direction.state, direction.next_state);
        if (tensor* y = context.output(0))
            store_state(lstm, direction.state,
                        y->f32 + (step * shape.directions + direction.index) * number);
    }
    if (tensor* y = context.output(1))
        store_state(lstm, direction.state, y->f32 + direction.index * number);
    if (tensor* y = context.output(2))
        store_state(lstm, direction.cell, y->f32 + direction.index * number);
}

int run(KernelContext& context)
{
    const auto& lstm = packed_problem<Lstm>(context);
    const recurrent_shape& shape = lstm.shape;
    const auto* weights = reinterpret_cast<const float*>(shared_weights<Lstm>(context));
    const int64_t batch = shape.batch;
    Direction direction = {};
    direction.all_gates = static_cast<float*>(context.scratch);
    direction.gates = direction.all_gates + shape.sequence * batch * lstm.columns();
    direction.cell = direction.gates + batch * lstm.columns();
    direction.state = direction.cell + batch * lstm.units();
    direction.next_state = direction.state + batch * lstm.units();
    for (int i = 0; i < shape.directions; ++i) {
        direction.index = i;
        direction.is_reverse = shape.first_reverse || i == 1;
        direction.weights = weights + static_cast<uint64_t>(i) * lstm.direction_floats();
        run_direction(context, lstm, direction);
    }
    return TENGINE_OK;
}

bool is_constant(const tensor* tensor)
{
    return !tensor || tensor->tensor_type == TENSOR_TYPE_CONST;
}

// Sequences of one length, no peepholes, clipping or coupled gates.
bool accepts(const node& node)
{
    const auto& param = *static_cast<const recurrent_param*>(node.op.param_mem);
    recurrent_shape shape;
    if (get_ir_node_input(&node, 0)->data_type != TENGINE_DT_FP32 || param.clip != 0 ||
        param.layout != 0 || param.input_forget != 0 || get_ir_node_input(&node, 4) ||
        get_ir_node_input(&node, 7) || resolve_recurrent_shape(&node, &shape) != TENGINE_OK)
        return false;
    for (int i = 1; i <= 3; ++i)
        if (!is_constant(get_ir_node_input(&node, i))) return false;
    for (int i = 0; i < shape.directions; ++i)
        if (shape.functions[i][0].kind != RECURRENT_SIGMOID ||
            shape.functions[i][1].kind != RECURRENT_TANH ||
            shape.functions[i][2].kind != RECURRENT_TANH)
            return false;
    return shape.sequence > 0 && shape.batch > 0 && shape.input > 0 && shape.hidden > 0;
}

constexpr Kernel rows[] = {{"LSTM", "lstm.pixels", accepts, run, prepare}};

}  // namespace

extern const KernelTable lstm_pixels_kernels;
const KernelTable lstm_pixels_kernels = make_table<rows>();

}  // namespace tengine::cpu
#endif  // HWY_ONCE
