// SPDX-License-Identifier: Apache-2.0
// As kept_problem.h, for weights that are packed in the same way whatever the shapes of a
// convolution: one pack serves all preparations of a graph.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <new>
#include <type_traits>

#include "base/alloc.h"
#include "device/cpu/kernel_context.h"
#include "graph/core.h"
#include "graph/graph_pool.h"

namespace tengine::cpu {

template <class Problem>
struct PackedProblem
{
    Problem problem;     // first: kept_problem() reads it too
    graph_pool* shared;  // that has the pack; null: it was saved
    const void* pack;
};

// A constant with memory of its own belongs to this part only, and another may later use its
// address; so may other values of a tensor that is not constant.
inline bool is_shared_constant(const tensor* constant)
{
    return !constant ||
           (constant->tensor_type == TENSOR_TYPE_CONST && constant->free_host_mem == 0);
}

// As below, with the pack that was saved. EFORMAT when it has another size.
template <class Problem>
TENGINE_MUST_USE int keep_saved_problem(KernelContext& context, const Problem& problem,
                                        uint64_t bytes)
{
    using Kept = PackedProblem<Problem>;
    if (context.saved.size != bytes)
        return fail_node(context.node, TENGINE_EFORMAT,
                         "its packed weights have %llu bytes: expected %llu",
                         static_cast<unsigned long long>(context.saved.size),
                         static_cast<unsigned long long>(bytes));
    void* state = alloc_memory(sizeof(Kept));
    if (!state)
        return fail_node(context.node, TENGINE_ENOMEM, "out of memory for its kernel's data");
    context.state = new (state) Kept{problem, nullptr, context.saved.data};
    context.free_state = free_memory;
    context.state_bytes = sizeof(Kept);
    context.packed = context.saved;
    return TENGINE_OK;
}

// The pack of this key; a new one is made by fill(memory, values of `weights`, argument), which are
// aligned. NULL: out of memory.
void* hold_pack(const graph& graph, const tensor& weights, const ir_pack_key_t& key, uint64_t bytes,
                void (*fill)(void* memory, const void* values, void* argument), void* argument);

// The bits of two floats, for the sizes of a key.
inline int64_t join_bits(float high, float low)
{
    uint32_t bits[2];
    std::memcpy(&bits[0], &high, sizeof high);
    std::memcpy(&bits[1], &low, sizeof low);
    return static_cast<int64_t>(uint64_t{bits[0]} << 32 | bits[1]);
}

// For prepare(): keeps the problem and the pack of `weights` and up to three others, which may be
// null. the layout depends on `kind` and `sizes` besides their values; pack(memory, values of
// `weights`) makes it. ENOMEM names the node.
template <class Problem, class Pack>
TENGINE_MUST_USE int keep_packed_problem(KernelContext& context, const Problem& problem,
                                         const void* kind, const tensor* weights,
                                         std::initializer_list<const tensor*> others,
                                         const int64_t (&sizes)[4], uint64_t bytes, Pack pack)
{
    using Kept = PackedProblem<Problem>;
    static_assert(std::is_trivially_destructible_v<Problem>);
    if (context.saved.data) return keep_saved_problem(context, problem, bytes);
    ir_pack_key_t key = {};
    const bool is_shared = is_shared_constant(weights) &&
                           std::all_of(others.begin(), others.end(), is_shared_constant);
    key.kind = is_shared ? kind : nullptr;
    const void** constant = key.constants;
    *constant++ = weights->data;
    for (const tensor* other : others)
        *constant++ = other ? other->data : nullptr;
    std::copy_n(sizes, 4, key.sizes);
    graph_pool* shared = context.node->graph->core->pool;
    void* state = alloc_memory(sizeof(Kept));
    const auto fill = [](void* memory, const void* values, void* argument) {
        (*static_cast<Pack*>(argument))(memory, values);
    };
    void* made =
        state ? hold_pack(*context.node->graph, *weights, key, bytes, fill, &pack) : nullptr;
    if (!made) {
        free_memory(state);
        return fail_node(context.node, TENGINE_ENOMEM, "out of memory for its packed weights");
    }
    context.state = new (state) Kept{problem, shared, made};
    context.packed = {made, bytes};
    context.free_state = [](void* memory) {
        const auto* kept = static_cast<const Kept*>(memory);
        release_graph_pack(kept->shared, const_cast<void*>(kept->pack));
        free_memory(memory);
    };
    context.count_state = [](const void* memory) {
        const auto* kept = static_cast<const Kept*>(memory);
        return sizeof(Kept) + get_graph_pack_share(kept->shared, kept->pack);
    };
    return TENGINE_OK;
}

template <class Problem>
const Problem& packed_problem(const KernelContext& context)
{
    return static_cast<const PackedProblem<Problem>*>(context.state)->problem;
}

// The pack, aligned to ALLOC_ALIGNMENT.
template <class Problem>
const char* shared_weights(const KernelContext& context)
{
    return static_cast<const char*>(
        static_cast<const PackedProblem<Problem>*>(context.state)->pack);
}

}  // namespace tengine::cpu
