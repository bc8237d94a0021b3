// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN in fp32 with constant weights: the updates of their units as vectors. The rest
// is in recurrent_layer.h.
// Limits: a step reads the recurrent matrix once, 4 * gates * hidden^2 bytes: with one sequence the
// bandwidth of the cache that holds it. No peepholes or coupled gates, and no functions other than
// those of GateFunction.
// Accuracy: a gate before its function differs by at most (input + hidden + 4) * eps * (sum |w| |x|
// + sum |r| |h| + |bias|); the functions are within 5 ulp.
#include <cstdint>

#include "device/cpu/kernel/fixed_vectors.h"
#include "device/cpu/kernel/recurrent_layer.h"

#ifdef TENGINE_HAVE_HIGHWAY
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/recurrent_pixels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/function-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

// A function of the layer for `num` values, after they are clipped. They may be in place.
void call_gates(const CellUnits& units, int function, const float* values, int64_t num,
                float* results)
{
    const recurrent_function& called = units.functions[function];
    if (units.clip > 0) {
        const float bounds[] = {-units.clip, units.clip};
        map<ClipFunction>(values, results, num, bounds);
        values = results;
    }
    const float parameters[] = {called.alpha, called.beta};
    if (called.kind == RECURRENT_SIGMOID)
        map<SigmoidFunction>(values, results, num, nullptr);
    else if (called.kind == RECURRENT_TANH)
        map<TanhFunction>(values, results, num, nullptr);
    else if (called.kind == RECURRENT_RELU)
        map<ReluFunction>(values, results, num, nullptr);
    else
        map<HardSigmoidFunction>(values, results, num, parameters);
}

// Gates i, o, f, c.
void update_lstm(const CellUnits& units)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    float* gates = units.gates[0];
    for (int64_t i = 0; i < units.num; i += lanes, gates += 4 * lanes) {
        call_gates(units, 0, gates, 3 * lanes, gates);
        call_gates(units, 1, gates + 3 * lanes, lanes, gates + 3 * lanes);
        const Vector input = hn::LoadU(d, gates), forget = hn::LoadU(d, gates + 2 * lanes);
        const Vector added = hn::Mul(input, hn::LoadU(d, gates + 3 * lanes));
        const Vector kept = hn::MulAdd(forget, hn::LoadU(d, units.cell + i), added);
        hn::StoreU(kept, d, units.cell + i);
        float* state = units.next_state + i;
        call_gates(units, 2, units.cell + i, lanes, state);
        hn::StoreU(hn::Mul(hn::LoadU(d, gates + lanes), hn::LoadU(d, state)), d, state);
    }
}

void update_rnn(const CellUnits& units)
{
    call_gates(units, 0, units.gates[0], units.num, units.next_state);
}

// Gates z, r of a GRU, and what its candidate is the product of: r times the state.
void reset_state(const CellUnits& units)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    float* gates = units.gates[0];
    call_gates(units, 0, gates, 2 * units.num, gates);
    for (int64_t i = 0; i < units.num; i += lanes) {
        const Vector reset = hn::LoadU(d, gates + 2 * i + lanes);
        hn::StoreU(hn::Mul(reset, hn::LoadU(d, units.state + i)), d, units.cell + i);
    }
}

// (1 - z) * candidate + z * state.
void update_gru(const CellUnits& units)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    float* candidates = units.gates[1];
    call_gates(units, 1, candidates, units.num, candidates);
    for (int64_t i = 0; i < units.num; i += lanes) {
        const Vector candidate = hn::LoadU(d, candidates + i);
        const Vector change = hn::Sub(hn::LoadU(d, units.state + i), candidate);
        const Vector kept = hn::LoadU(d, units.gates[0] + 2 * i);
        hn::StoreU(hn::MulAdd(kept, change, candidate), d, units.next_state + i);
    }
}

// With linear_before_reset: r times the candidate's product, to which the input's part is added.
void update_linear_gru(const CellUnits& units)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    float *gates = units.gates[0], *candidates = units.gates[1];
    call_gates(units, 0, gates, 2 * units.num, gates);
    for (int64_t i = 0; i < units.num; i += lanes) {
        const Vector reset = hn::LoadU(d, gates + 2 * i + lanes);
        const Vector product = hn::LoadU(d, candidates + i);
        hn::StoreU(hn::MulAdd(reset, product, hn::LoadU(d, units.inputs[1] + i)), d,
                   candidates + i);
    }
    update_gru(units);
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TENGINE_HAVE_HIGHWAY

#if !defined(TENGINE_HAVE_HIGHWAY)
namespace tengine::cpu {
extern const KernelTable recurrent_pixels_kernels;
const KernelTable recurrent_pixels_kernels = {nullptr, 0};
}  // namespace tengine::cpu
#elif HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(update_lstm);
HWY_EXPORT(update_rnn);
HWY_EXPORT(reset_state);
HWY_EXPORT(update_gru);
HWY_EXPORT(update_linear_gru);

// The only block.
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

// The candidate is a block of its own.
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

constexpr Kernel rows[] = {
    {"LSTM", "lstm.pixels", accepts_recurrent_layer, run_lstm, prepare_lstm},
    {"GRU", "gru.pixels", accepts_recurrent_layer, run_gru, prepare_gru},
    {"RNN", "rnn.pixels", accepts_recurrent_layer, run_rnn, prepare_rnn},
};

}  // namespace

extern const KernelTable recurrent_pixels_kernels;
const KernelTable recurrent_pixels_kernels = make_table<rows>();

}  // namespace tengine::cpu
#endif  // HWY_ONCE
