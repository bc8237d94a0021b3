// SPDX-License-Identifier: Apache-2.0
// Loops of element-wise kernels with one input and with two broadcast ones.
#pragma once

#include "device/cpu/kernel_context.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/broadcast.h"
#include "device/cpu/shared/types.h"

// The iterations of the following loop are independent; an output may be the input itself.
#if defined(__clang__)
#define TENGINE_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define TENGINE_INDEPENDENT _Pragma("GCC ivdep")
#else
#define TENGINE_INDEPENDENT
#endif

namespace tengine::cpu {

// Fewer elements than this are not worth a second thread.
inline constexpr int64_t kElementGrain = 8192;

template <class Types, int index = 0>
bool accepts_input(const node& node)
{
    return has_type(Types{}, get_ir_node_input(&node, index)->data_type);
}

// Computes output[i] = function(input[i]), in the types of the arithmetic.
template <class In, class Out, class Function>
int map_elements(const KernelContext& context, const Function& function)
{
    const In* input = static_cast<const In*>(context.input(0)->data);
    Out* output = static_cast<Out*>(context.output(0)->data);
    const auto body = [=](int64_t begin, int64_t end, int) {
        TENGINE_INDEPENDENT
        for (int64_t i = begin; i < end; ++i) {
            output[i] = static_cast<Out>(function(static_cast<compute_t<In>>(input[i])));
        }
    };
    parallel_for(context.pool, context.output(0)->elem_num, kElementGrain, body);
    return TENGINE_OK;
}

// Does the same if input and output have one type, out of Types.
template <class Types, class Function>
int map_same_type(const KernelContext& context, const Function& function)
{
    return dispatch_type(Types{}, context.input(0)->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        return map_elements<T, T>(context, function);
    });
}

// One run of combine_broadcast().
template <class In, class Out, class Function>
void combine_run(const In* a, int64_t step_a, const In* b, int64_t step_b, Out* out, int64_t count,
                 const Function& function)
{
    using C = compute_t<In>;
    for (int64_t i = 0; i < count; ++i) {
        out[i] = static_cast<Out>(
            function(static_cast<C>(a[i * step_a]), static_cast<C>(b[i * step_b])));
    }
}

// Loops with known strides for fp32, the usual type of networks, so that they vectorise.
template <class Out, class Function>
void combine_run(const float* a, int64_t step_a, const float* b, int64_t step_b, Out* out,
                 int64_t count, const Function& function)
{
    const float first = *a;
    const float second = *b;
    if (step_a == 1 && step_b == 1) {
        TENGINE_INDEPENDENT
        for (int64_t i = 0; i < count; ++i)
            out[i] = static_cast<Out>(function(a[i], b[i]));
    } else if (step_a == 1) {
        TENGINE_INDEPENDENT
        for (int64_t i = 0; i < count; ++i)
            out[i] = static_cast<Out>(function(a[i], second));
    } else if (step_b == 1) {
        TENGINE_INDEPENDENT
        for (int64_t i = 0; i < count; ++i)
            out[i] = static_cast<Out>(function(first, b[i]));
    } else {
        *out = static_cast<Out>(function(first, second));  // one element: no input advances
    }
}

// Computes output[i] = function(a[..], b[..]) for broadcast inputs.
template <class In, class Out, class Function>
void combine_broadcast(const KernelContext& context, const tensor* first, const tensor* second,
                       const Function& function)
{
    const tensor* const inputs[] = {first, second};
    for_each_run(context, inputs, [=, &context](const BroadcastRun& run) {
        const In* a = static_cast<const In*>(first->data) + run.offsets[0];
        const In* b = static_cast<const In*>(second->data) + run.offsets[1];
        Out* out = static_cast<Out*>(context.output(0)->data) + run.position;
        combine_run(a, run.strides[0], b, run.strides[1], out, run.count, function);
    });
}

}  // namespace tengine::cpu
