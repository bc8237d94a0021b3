// SPDX-License-Identifier: Apache-2.0
// numpy's broadcasting for kernels with several inputs. The output is walked in order, as runs
// along which every input either advances by one element or stays.
#pragma once

#include <cstdint>

#include "device/cpu/kernel_context.h"

namespace tengine::cpu {

inline constexpr int kMaxBroadcastInputs = 3;

// `count` elements of the output from `position`. Input k is read at offsets[k], offsets[k] +
// strides[k], ...; strides are 0 or 1.
struct BroadcastRun
{
    int64_t position;
    int64_t count;
    int64_t offsets[kMaxBroadcastInputs];
    int64_t strides[kMaxBroadcastInputs];
};

// Calls body(argument, run) for runs that together are the whole output, spread over the pool.
void broadcast(thread_pool_t* pool, const tensor* output, const tensor* const inputs[],
               int input_num, void (*body)(const void* argument, const BroadcastRun& run),
               const void* argument);

// The same for lambdas.
template <int kInputs, class Body>
void for_each_run(const KernelContext& context, const tensor* const (&inputs)[kInputs],
                  const Body& body)
{
    static_assert(kInputs <= kMaxBroadcastInputs);
    broadcast(
        context.pool, context.output(0), inputs, kInputs,
        [](const void* argument, const BroadcastRun& run) {
            (*static_cast<const Body*>(argument))(run);
        },
        &body);
}

}  // namespace tengine::cpu
