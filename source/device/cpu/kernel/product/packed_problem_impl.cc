// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "device/cpu/kernel/product/packed_problem.h"
#include "graph/late_constant.h"

namespace tengine::cpu {
namespace {

struct Filling
{
    void (*fill)(void* memory, const void* values, void* argument);
    const void* values;
    void* argument;
};

void fill_pack(void* memory, void* argument)
{
    const auto* filling = static_cast<const Filling*>(argument);
    filling->fill(memory, filling->values, filling->argument);
}

}  // namespace

void* hold_pack(const graph& graph, const tensor& weights, const ir_pack_key_t& key, uint64_t bytes,
                void (*fill)(void* memory, const void* values, void* argument), void* argument)
{
    graph_pool* shared = graph.core->pool;
    ir_pack_key_t own = key;
    own.constants[0] = find_ir_constant_place(&weights);
    void* known = find_graph_pack(shared, &own);
    if (known) return known;
    Filling filling = {fill, weights.data, argument};
    std::unique_ptr<void, void (*)(void*)> copy(nullptr, free_memory);
    if (!is_ir_constant_readable(&weights)) {
        copy.reset(alloc_raw_memory(get_ir_tensor_bytes(&weights)));
        if (!copy) return nullptr;
        copy_ir_constant(&graph, &weights, copy.get());
        filling.values = copy.get();
    }
    return hold_graph_pack(shared, &own, bytes, fill_pack, &filling);
}

}  // namespace tengine::cpu
