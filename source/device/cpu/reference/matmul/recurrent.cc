// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN, step by step by the equations of the ONNX specification. One sequence (a batch
// entry in one direction) is one work item, with its state in double. RowQuantizeLSTM is an LSTM of
// dequantised values: the weights, and in each step the input and the state.
#include <algorithm>
#include <cmath>

#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/vector/quantize.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/recurrent_param.h"

namespace tengine::cpu {
namespace {

double activate(const recurrent_function& function, double x)
{
    const double alpha = function.alpha, beta = function.beta;
    switch (function.kind) {
        case RECURRENT_RELU:
            return std::max(x, 0.0);
        case RECURRENT_TANH:
            return std::tanh(x);
        case RECURRENT_SIGMOID:
            return 1 / (1 + std::exp(-x));
        case RECURRENT_AFFINE:
            return alpha * x + beta;
        case RECURRENT_LEAKY_RELU:
            return x >= 0 ? x : alpha * x;
        case RECURRENT_THRESHOLDED_RELU:
            return x >= alpha ? x : 0;
        case RECURRENT_SCALED_TANH:
            return alpha * std::tanh(beta * x);
        case RECURRENT_HARD_SIGMOID:
            return std::clamp(alpha * x + beta, 0.0, 1.0);
        case RECURRENT_ELU:
            return x >= 0 ? x : alpha * std::expm1(x);
        case RECURRENT_SOFTSIGN:
            return x / (1 + std::fabs(x));
        case RECURRENT_SOFTPLUS:
            return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
    }
    return x;
}

// Four accumulators hide the latency of additions.
template <class A, class B>
double dot(const A* a, const B* b, int num)
{
    double sums[4] = {};
    int i = 0;
    for (; i + 4 <= num; i += 4)
        for (int lane = 0; lane < 4; ++lane)
            sums[lane] += static_cast<double>(a[i + lane]) * static_cast<double>(b[i + lane]);
    for (; i < num; ++i)
        sums[0] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    return sums[0] + sums[1] + sums[2] + sums[3];
}

// A worker's memory for one sequence.
struct State
{
    double* hidden;
    double* cell;   // LSTM
    double* gates;  // before activation
    double* reset;  // GRU: r * h
    // For RowQuantizeLSTM: dequantised input and state, and the floats before quantisation.
    double *input_bytes, *hidden_bytes;
    float* floats;

    static uint64_t size(const recurrent_shape& shape)
    {
        return (uint64_t{5} + static_cast<uint64_t>(shape.gates)) *
                   static_cast<uint64_t>(shape.hidden) +
               uint64_t{2} * static_cast<uint64_t>(shape.input);
    }
    State(double* memory, const recurrent_shape& shape)
        : hidden(memory),
          cell(memory + shape.hidden),
          gates(memory + 3 * int64_t{shape.hidden}),
          reset(memory + 2 * int64_t{shape.hidden}),
          input_bytes(gates + int64_t{shape.gates} * shape.hidden),
          hidden_bytes(input_bytes + shape.input),
          floats(reinterpret_cast<float*>(hidden_bytes + shape.hidden))
    {
    }
};

// Quantises and dequantises `number` values; `floats` has room for as many.
template <class T>
void quantize_row(const T* values, int number, float* floats, double* stands_for)
{
    for (int i = 0; i < number; ++i)
        floats[i] = static_cast<float>(values[i]);
    const DynamicRange range(floats, number);
    for (int i = 0; i < number; ++i)
        stands_for[i] = double{range.scale} * (range.quantize_value(floats[i]) - range.zero_point);
}

// One direction of a layer, with weights of type W.
template <class T, class W = T>
class Layer
{
  public:
    Layer(const KernelContext& context, const recurrent_shape& shape, int direction)
        : shape_(shape),
          functions_(shape.functions[direction]),
          param_(context.param<recurrent_param>())
    {
        const int64_t rows = int64_t{shape.gates} * shape.hidden;
        weight_ = slice<W>(context.input(1), direction * rows * shape.input);
        recurrence_ = slice<W>(context.input(2), direction * rows * shape.hidden);
        bias_ = slice<T>(context.input(3), direction * 2 * rows);
        peephole_ = slice<T>(context.input(7), direction * int64_t{3} * shape.hidden);
        if constexpr (kHasBytes) {
            weight_scale_ = slice<float>(context.input(8), direction * rows);
            recurrence_scale_ = slice<float>(context.input(9), direction * rows);
        }
    }

    void step(const T* x, State& state) const
    {
        if (shape_.gates == 4)
            step_lstm(x, state);
        else if (shape_.gates == 3)
            step_gru(x, state);
        else
            step_rnn(x, state);
    }

  private:
    static constexpr bool kHasBytes = std::is_same_v<W, int8_t>;

    template <class Value>
    static const Value* slice(const tensor* tensor, int64_t offset)
    {
        return tensor ? static_cast<const Value*>(tensor->data) + offset : nullptr;
    }

    template <class Input>
    double input_part(int64_t row, const Input* x) const
    {
        const double bias = bias_ ? double{bias_[row]} : 0;
        const double scale = kHasBytes ? double{weight_scale_[row]} : 1;
        return bias + scale * dot(weight_ + row * shape_.input, x, shape_.input);
    }

    double hidden_part(int64_t row, const double* hidden) const
    {
        const int64_t rows = int64_t{shape_.gates} * shape_.hidden;
        const double bias = bias_ ? double{bias_[rows + row]} : 0;
        const double scale = kHasBytes ? double{recurrence_scale_[row]} : 1;
        return bias + scale * dot(recurrence_ + row * shape_.hidden, hidden, shape_.hidden);
    }

    double call(int function, double x) const
    {
        const double clip = param_.clip;
        return activate(functions_[function], clip > 0 ? std::clamp(x, -clip, clip) : x);
    }

    double peep(int gate, int j, double cell) const
    {
        return peephole_ ? peephole_[gate * int64_t{shape_.hidden} + j] * cell : 0;
    }

    void sum_gates(const T* x, State& state, int num) const
    {
        if constexpr (kHasBytes) {
            quantize_row(x, shape_.input, state.floats, state.input_bytes);
            quantize_row(state.hidden, shape_.hidden, state.floats, state.hidden_bytes);
        }
        for (int64_t row = 0; row < int64_t{num} * shape_.hidden; ++row)
            if constexpr (kHasBytes)
                state.gates[row] =
                    input_part(row, state.input_bytes) + hidden_part(row, state.hidden_bytes);
            else
                state.gates[row] = input_part(row, x) + hidden_part(row, state.hidden);
    }

    // Gates are i o f c, peepholes i o f.
    void step_lstm(const T* x, State& state) const
    {
        const int64_t hidden = shape_.hidden;
        sum_gates(x, state, 4);
        for (int j = 0; j < hidden; ++j) {
            const double* gate = state.gates + j;
            double& cell = state.cell[j];
            const double input = call(0, gate[0] + peep(0, j, cell));
            const double forget =
                param_.input_forget ? 1 - input : call(0, gate[2 * hidden] + peep(2, j, cell));
            cell = forget * cell + input * call(1, gate[3 * hidden]);
            const double bound = param_.cell_clip;
            if (bound > 0) cell = std::clamp(cell, -bound, bound);
            state.hidden[j] = call(0, gate[hidden] + peep(1, j, cell)) * call(2, cell);
        }
    }

    // Gates are z r h. All inputs of h are the old state, so that the new one is stored at the end.
    void step_gru(const T* x, State& state) const
    {
        const int64_t hidden = shape_.hidden;
        sum_gates(x, state, 2);
        for (int j = 0; j < 2 * hidden; ++j)
            state.gates[j] = call(0, state.gates[j]);
        const double* reset = state.gates + hidden;
        double* candidate = state.gates + 2 * hidden;
        for (int j = 0; j < hidden; ++j)
            state.reset[j] = reset[j] * state.hidden[j];
        for (int j = 0; j < hidden; ++j) {
            const int64_t row = 2 * hidden + j;
            const double from_hidden = param_.linear_before_reset
                                           ? reset[j] * hidden_part(row, state.hidden)
                                           : hidden_part(row, state.reset);
            candidate[j] = call(1, input_part(row, x) + from_hidden);
        }
        for (int j = 0; j < hidden; ++j) {
            const double update = state.gates[j];
            state.hidden[j] = (1 - update) * candidate[j] + update * state.hidden[j];
        }
    }

    void step_rnn(const T* x, State& state) const
    {
        sum_gates(x, state, 1);
        for (int j = 0; j < shape_.hidden; ++j)
            state.hidden[j] = call(0, state.gates[j]);
    }

    const recurrent_shape& shape_;
    const recurrent_function* functions_;
    const recurrent_param& param_;
    const W* weight_;
    const W* recurrence_;
    const float *weight_scale_ = nullptr, *recurrence_scale_ = nullptr;
    const T* bias_;
    const T* peephole_;
};

// Offsets in elements, for either layout.
struct Places
{
    const recurrent_shape& shape;
    bool batch_first;
    int batch, direction;

    int64_t x(int64_t step) const
    {
        return (batch_first ? batch * int64_t{shape.sequence} + step : step * shape.batch + batch) *
               shape.input;
    }
    int64_t y(int64_t step) const
    {
        const int64_t row =
            batch_first ? (batch * int64_t{shape.sequence} + step) * shape.directions + direction
                        : (step * shape.directions + direction) * shape.batch + batch;
        return row * shape.hidden;
    }
    int64_t state() const
    {
        return (batch_first ? batch * int64_t{shape.directions} + direction
                            : direction * int64_t{shape.batch} + batch) *
               shape.hidden;
    }
};

template <class T>
void load_state(const tensor* initial, int64_t offset, int num, double* state)
{
    if (initial)
        std::copy_n(static_cast<const T*>(initial->data) + offset, num, state);
    else
        std::fill_n(state, num, 0.0);
}

template <class T>
void store_state(const double* state, int num, tensor* target, int64_t offset)
{
    if (!target) return;
    T* values = static_cast<T*>(target->data) + offset;
    for (int j = 0; j < num; ++j)
        values[j] = static_cast<T>(state[j]);
}

template <class T, class W>
void run_sequence(const KernelContext& context, const Layer<T, W>& layer, const Places& at,
                  State state)
{
    const recurrent_shape& shape = at.shape;
    const bool reverse = shape.first_reverse || at.direction == 1;
    const tensor* lengths = context.input(4);
    const int length = lengths ? lengths->i32[at.batch] : shape.sequence;
    const T* x = static_cast<const T*>(context.input(0)->data);
    tensor* y = context.output(0);
    load_state<T>(context.input(5), at.state(), shape.hidden, state.hidden);
    load_state<T>(context.input(6), at.state(), shape.hidden, state.cell);
    for (int i = 0; i < length; ++i) {
        const int step = reverse ? length - 1 - i : i;
        layer.step(x + at.x(step), state);
        store_state<T>(state.hidden, shape.hidden, y, at.y(step));
    }
    for (int step = length; y && step < shape.sequence; ++step)
        std::fill_n(static_cast<T*>(y->data) + at.y(step), shape.hidden, T(0));
    store_state<T>(state.hidden, shape.hidden, context.output(1), at.state());
    store_state<T>(state.cell, shape.hidden, context.output(2), at.state());
}

int prepare_recurrent(KernelContext& context)
{
    recurrent_shape shape;
    TENGINE_RETURN_IF_ERROR(resolve_recurrent_shape(context.node, &shape));
    context.scratch_size = State::size(shape) * sizeof(double) *
                           static_cast<uint64_t>(get_thread_pool_size(context.pool));
    return TENGINE_OK;
}

template <class T, class W>
int run_layer(KernelContext& context)
{
    recurrent_shape shape;
    TENGINE_RETURN_IF_ERROR(resolve_recurrent_shape(context.node, &shape));
    TENGINE_RETURN_IF_ERROR(check_recurrent_lengths(context.node, &shape, context.input(4)));
    const bool batch_first = context.param<recurrent_param>().layout == 1;
    auto* scratch = static_cast<double*>(context.scratch);
    const auto run_sequences = [&](int64_t begin, int64_t end, int worker) {
        const State state(scratch + static_cast<uint64_t>(worker) * State::size(shape), shape);
        for (int64_t item = begin; item < end; ++item) {
            const int direction = static_cast<int>(item / shape.batch);
            const int batch = static_cast<int>(item % shape.batch);
            run_sequence(context, Layer<T, W>(context, shape, direction),
                         Places{shape, batch_first, batch, direction}, state);
        }
    };
    parallel_for(context.pool, int64_t{shape.directions} * shape.batch, 1, run_sequences);
    return TENGINE_OK;
}

int run_recurrent(KernelContext& context)
{
    return dispatch_type(FloatTypes{}, context.input(0)->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        return run_layer<T, T>(context);
    });
}

constexpr Kernel recurrent_rows[] = {
    {"LSTM", "reference", nullptr, run_recurrent, prepare_recurrent},
    {"tengine.ClippedLSTM", "reference", nullptr, run_recurrent, prepare_recurrent},
    {"GRU", "reference", nullptr, run_recurrent, prepare_recurrent},
    {"RNN", "reference", nullptr, run_recurrent, prepare_recurrent},
    {"tengine.RowQuantizeLSTM", "reference", nullptr, run_layer<float, int8_t>, prepare_recurrent},
};

}  // namespace

extern const KernelTable recurrent_reference;
const KernelTable recurrent_reference = make_table<recurrent_rows>();

}  // namespace tengine::cpu
