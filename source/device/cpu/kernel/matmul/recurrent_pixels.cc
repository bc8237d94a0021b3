// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN in fp32 with constant weights, for LSTM also in int8: the updates of their
// units as vectors. The rest is in recurrent_layer.h. Limits: a step reads the recurrent matrix
// once, 4 * gates * hidden^2 bytes: with one sequence the bandwidth of the cache that holds it. No
// peepholes or coupled gates, and no functions other than those of GateFunction. Accuracy: a gate
// before its function differs by at most (input + hidden + 4) * eps * (sum |w| |x| + sum |r| |h| +
// |bias|); with weights in int8, whose accumulators are exact, by 8 * eps * (that of x + that of h
// + |bias|), and where the quantised state lies next to a tie, by one of its steps. The functions
// are within 5 ulp.
#include <cstdint>

#include "device/cpu/kernel/matmul/recurrent_layer.h"
#include "device/cpu/kernel/vector/fixed_vectors.h"
#include "device/cpu/kernel_table.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/matmul/recurrent_pixels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/vector/function-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

// A function that a layer names, applied to clipped values.
class NamedFunction
{
  public:
    NamedFunction(const CellUnits& units, int index)
        : function_(units.functions[index]), clip_(units.clip)
    {
    }
    HWY_NOINLINE Vector operator()(Vector x) const
    {
        const float bounds[] = {-clip_, clip_}, parameters[] = {function_.alpha, function_.beta};
        if (clip_ > 0) x = ClipFunction(bounds)(x);
        switch (function_.kind) {
            case RECURRENT_SIGMOID:
                return SigmoidFunction(nullptr)(x);
            case RECURRENT_TANH:
                return TanhFunction(nullptr)(x);
            case RECURRENT_RELU:
                return ReluFunction(nullptr)(x);
            default:
                return HardSigmoidFunction(parameters)(x);
        }
    }

  private:
    recurrent_function function_;
    float clip_;
};

// The activation functions of LSTM and GRU: the operator's defaults, or others that a node names.
struct UsualFunctions
{
    explicit UsualFunctions(const CellUnits&) : gate(nullptr), candidate(nullptr), cell(nullptr) {}
    static Vector bound_cell(Vector x) { return x; }
    SigmoidFunction gate;
    TanhFunction candidate, cell;
};

struct NamedFunctions
{
    explicit NamedFunctions(const CellUnits& units)
        : gate(units, 0), candidate(units, 1), cell(units, 2), cell_clip(units.cell_clip)
    {
    }
    Vector bound_cell(Vector x) const
    {
        const float bounds[] = {-cell_clip, cell_clip};
        return cell_clip > 0 ? ClipFunction(bounds)(x) : x;
    }
    NamedFunction gate, candidate, cell;
    float cell_clip;
};

// Updates an LSTM from the gates i, o, f, c.
template <class Functions>
void update_lstm_with(const CellUnits& units)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const Functions functions(units);
    const float* gates = units.gates[0];
    for (int64_t i = 0; i < units.num; i += lanes, gates += 4 * lanes) {
        const Vector input = functions.gate(hn::LoadU(d, gates));
        const Vector output = functions.gate(hn::LoadU(d, gates + lanes));
        const Vector forget = functions.gate(hn::LoadU(d, gates + 2 * lanes));
        const Vector candidate = functions.candidate(hn::LoadU(d, gates + 3 * lanes));
        const Vector kept = functions.bound_cell(
            hn::MulAdd(forget, hn::LoadU(d, units.cell + i), hn::Mul(input, candidate)));
        hn::StoreU(kept, d, units.cell + i);
        hn::StoreU(hn::Mul(output, functions.cell(kept)), d, units.next_state + i);
    }
}

template <class Function>
void update_rnn_with(const CellUnits& units, const Function& function)
{
    const Floats d;
    for (int64_t i = 0; i < units.num; i += static_cast<int64_t>(hn::Lanes(d)))
        hn::StoreU(function(hn::LoadU(d, units.gates[0] + i)), d, units.next_state + i);
}

// Computes the gate r of a GRU, which follows z, and the operand of the candidate's product: r
// times the state.
template <class Functions>
void reset_state_with(const CellUnits& units)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const Functions functions(units);
    for (int64_t i = 0; i < units.num; i += lanes) {
        const Vector reset = functions.gate(hn::LoadU(d, units.gates[0] + 2 * i + lanes));
        hn::StoreU(hn::Mul(reset, hn::LoadU(d, units.state + i)), d, units.cell + i);
    }
}

// state = (1 - z) * candidate + z * state. With linear_before_reset the candidate's product is
// multiplied by r before the input's part is added.
template <class Functions, bool kIsLinear>
void update_gru_with(const CellUnits& units)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const Functions functions(units);
    const float* gates = units.gates[0];
    for (int64_t i = 0; i < units.num; i += lanes, gates += 2 * lanes) {
        const Vector kept = functions.gate(hn::LoadU(d, gates));
        Vector candidate = hn::LoadU(d, units.gates[1] + i);
        if constexpr (kIsLinear) {
            const Vector reset = functions.gate(hn::LoadU(d, gates + lanes));
            candidate = hn::MulAdd(reset, candidate, hn::LoadU(d, units.inputs[1] + i));
        }
        candidate = functions.candidate(candidate);
        const Vector change = hn::Sub(hn::LoadU(d, units.state + i), candidate);
        hn::StoreU(hn::MulAdd(kept, change, candidate), d, units.next_state + i);
    }
}

void update_lstm(const CellUnits& units)
{
    if (kNamesFunctions && !units.has_usual_functions)
        return update_lstm_with<NamedFunctions>(units);
    update_lstm_with<UsualFunctions>(units);
}

void update_rnn(const CellUnits& units)
{
    if (!units.has_usual_functions) return update_rnn_with(units, NamedFunction(units, 0));
    update_rnn_with(units, TanhFunction(nullptr));
}

void reset_state(const CellUnits& units)
{
    if (!units.has_usual_functions) return reset_state_with<NamedFunctions>(units);
    reset_state_with<UsualFunctions>(units);
}

void update_gru(const CellUnits& units)
{
    if (!units.has_usual_functions) return update_gru_with<NamedFunctions, false>(units);
    update_gru_with<UsualFunctions, false>(units);
}

void update_linear_gru(const CellUnits& units)
{
    if (!units.has_usual_functions) return update_gru_with<NamedFunctions, true>(units);
    update_gru_with<UsualFunctions, true>(units);
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(update_lstm);
HWY_EXPORT(update_rnn);
HWY_EXPORT(reset_state);
HWY_EXPORT(update_gru);
HWY_EXPORT(update_linear_gru);

// The blocks of an operator that has only one.
GateBlocks gates_of(int64_t num)
{
    GateBlocks blocks = {};
    blocks.list[0].gates = num;
    blocks.num = 1;
    return blocks;
}

int prepare_lstm(KernelContext& context)
{
    return prepare_recurrent_layer(context, gates_of(4));
}

int run_lstm(KernelContext& context)
{
    return run_recurrent_layer(context, {{{0, 1, HWY_DYNAMIC_DISPATCH(update_lstm)}}, 1});
}

int prepare_rnn(KernelContext& context)
{
    return prepare_recurrent_layer(context, gates_of(1));
}

int run_rnn(KernelContext& context)
{
    return run_recurrent_layer(context, {{{0, 1, HWY_DYNAMIC_DISPATCH(update_rnn)}}, 1});
}

// A GRU's candidate is a block of its own.
int prepare_gru(KernelContext& context)
{
    const bool is_linear = context.param<recurrent_param>().linear_before_reset != 0;
    GateBlocks blocks = gates_of(2);
    blocks.num = 2;
    blocks.list[1].first_gate = 2;
    blocks.list[1].gates = 1;
    blocks.list[1].is_of_cell = !is_linear;
    blocks.list[1].is_apart = is_linear;
    return prepare_recurrent_layer(context, blocks);
}

int run_gru(KernelContext& context)
{
    if (context.param<recurrent_param>().linear_before_reset != 0)
        return run_recurrent_layer(context, {{{0, 2, HWY_DYNAMIC_DISPATCH(update_linear_gru)}}, 1});
    return run_recurrent_layer(
        context,
        {{{0, 1, HWY_DYNAMIC_DISPATCH(reset_state)}, {1, 2, HWY_DYNAMIC_DISPATCH(update_gru)}}, 2});
}

constexpr Kernel recurrent_pixels_rows[] = {
    {.op = "LSTM",
     .name = "lstm.f32.packed",
     .accepts = accepts_recurrent_layer,
     .run = run_lstm,
     .prepare = prepare_lstm},
    {.op = "tengine.ClippedLSTM",
     .name = "clipped_lstm.f32.packed",
     .accepts = accepts_recurrent_layer,
     .run = run_lstm,
     .prepare = prepare_lstm},
    {.op = "tengine.RowQuantizeLSTM",
     .name = "lstm.s8.packed",
     .accepts = accepts_recurrent_layer,
     .run = run_lstm,
     .prepare = prepare_lstm},
    {.op = "GRU",
     .name = "gru.f32.packed",
     .accepts = accepts_recurrent_layer,
     .run = run_gru,
     .prepare = prepare_gru},
    {.op = "RNN",
     .name = "rnn.f32.packed",
     .accepts = accepts_recurrent_layer,
     .run = run_rnn,
     .prepare = prepare_rnn},
};

}  // namespace

extern const KernelTable recurrent_pixels_kernels;
const KernelTable recurrent_pixels_kernels = make_table<recurrent_pixels_rows>();

}  // namespace tengine::cpu
#endif  // HWY_ONCE
