// SPDX-License-Identifier: Apache-2.0
// The problem that a kernel's prepare() computed from shapes and parameters, stored for its run(),
// followed by the packed weights.
#pragma once

#include <cstdint>
#include <new>
#include <type_traits>

#include "base/alloc.h"
#include "device/cpu/kernel_context.h"
#include "device/cpu/shared/rounding.h"

namespace tengine::cpu {

template <class Problem>
inline constexpr uint64_t kKeptBytes = round_up<uint64_t>(sizeof(Problem), ALLOC_ALIGNMENT);

// For prepare(): keeps the problem and room for packed weights. ENOMEM names the node.
template <class Problem>
TENGINE_MUST_USE int keep_problem(KernelContext& context, const Problem& problem,
                                  uint64_t packed_bytes = 0)
{
    static_assert(std::is_trivially_destructible_v<Problem>);
    const uint64_t bytes = kKeptBytes<Problem> + packed_bytes;
    context.state = alloc_memory64(bytes);
    if (!context.state)
        return fail_node(context.node, TENGINE_ENOMEM, "out of memory for its packed weights");
    new (context.state) Problem(problem);
    context.free_state = free_memory;
    context.state_bytes = static_cast<size_t>(bytes);
    return TENGINE_OK;
}

template <class Problem>
const Problem& kept_problem(const KernelContext& context)
{
    return *static_cast<const Problem*>(context.state);
}

// The room for packed weights, aligned to ALLOC_ALIGNMENT.
template <class Problem>
char* packed_weights(const KernelContext& context)
{
    return static_cast<char*>(context.state) + kKeptBytes<Problem>;
}

}  // namespace tengine::cpu
