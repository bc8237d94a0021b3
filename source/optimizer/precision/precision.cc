// SPDX-License-Identifier: Apache-2.0
// The helpers of device.h for a device's optimize_graph, and the stand-in for one.

#include "base/guard.hpp"
#include "optimizer/pass.h"
#include "optimizer/precision/converter.h"
#include "optimizer/precision/dynamic_chain.h"
#include "optimizer/precision/fuser.h"
#include "optimizer/precision/hybrid.h"

namespace tengine {
namespace {

int find_candidates(const graph& graph, const device* device, const Candidates** out_candidates)
{
    TENGINE_RETURN_IF_ERROR(Candidates::of(graph, out_candidates));
    if ((*out_candidates)->has(device)) return TENGINE_OK;
    return tengine_error_set(TENGINE_ENOENT, "device '%s' is not among the graph's", device->name);
}

template <class Rewriting>
int rewrite(graph& graph, Rewriting&& rewriting)
{
    TENGINE_RETURN_IF_ERROR(rewriting.run());
    tengine_error_clear();  // refusals along the way
    TENGINE_RETURN_IF_ERROR(tidy_graph(graph));
    TENGINE_RETURN_IF_ERROR(remove_dead_code(graph));
    return tidy_graph(graph);
}

int fail_data_type(const char* function, int data_type, const char* accepted)
{
    const char* name = get_data_type_name(data_type);
    return tengine_error_set(TENGINE_EDTYPE, "%s: the data type is %s, expected %s", function,
                             name ? name : "unknown", accepted);
}

template <class Rewriting>
int rewrite_or_fail(graph* graph, const device* device, int data_type)
{
    return guarded(
        [&]() -> int {
            const Candidates* candidates;
            TENGINE_RETURN_IF_ERROR(find_candidates(*graph, device, &candidates));
            return rewrite(*graph, Rewriting(*graph, device, *candidates, data_type));
        },
        "graph '%s': out of memory while rewriting it in %s", graph->name,
        get_data_type_name(data_type));
}

// The int8, uint8, fp16 or bf16 type that a run in `precision` computes in; -1 when it computes in
// fp32.
int data_type_of(int precision)
{
    switch (precision) {
        case TENGINE_MODE_FP16:
            return TENGINE_DT_FP16;
        case TENGINE_MODE_BF16:
            return TENGINE_DT_BF16;
        case TENGINE_MODE_INT8:
            return TENGINE_DT_INT8;
        case TENGINE_MODE_UINT8:
            return TENGINE_DT_UINT8;
        default:
            return -1;
    }
}

int apply_precision(graph& graph, const device* device, int precision)
{
    const bool is_hybrid = precision == TENGINE_MODE_HYBRID_INT8;
    const int data_type = is_hybrid ? TENGINE_DT_INT8 : data_type_of(precision);
    const bool may_have_chains = DynamicChains::may_be_in(graph);
    if (data_type < 0 && !may_have_chains) return TENGINE_OK;
    const Candidates* candidates;
    TENGINE_RETURN_IF_ERROR(find_candidates(graph, device, &candidates));
    if (may_have_chains)
        TENGINE_RETURN_IF_ERROR(rewrite(graph, DynamicChains(graph, device, *candidates)));
    if (data_type < 0 || !candidates->lists(device, data_type)) return TENGINE_OK;
    if (is_hybrid) return rewrite(graph, Hybrid(graph, device, *candidates, data_type));
    return is_byte(data_type) ? rewrite(graph, Fuser(graph, device, *candidates, data_type))
                              : rewrite(graph, Converter(graph, device, *candidates, data_type));
}

}  // namespace
}  // namespace tengine

int apply_ir_precision(struct graph* graph, struct device* device, int precision)
{
    return tengine::guarded([&] { return tengine::apply_precision(*graph, device, precision); },
                            "graph '%s': out of memory while rewriting it", graph->name);
}

int quantize_ir_graph(struct graph* graph, struct device* device, int data_type)
{
    if (!tengine::is_byte(data_type))
        return tengine::fail_data_type(__func__, data_type, "int8 or uint8");
    return tengine::rewrite_or_fail<tengine::Fuser>(graph, device, data_type);
}

int convert_ir_graph(struct graph* graph, struct device* device, int data_type)
{
    if (data_type != TENGINE_DT_FP16 && data_type != TENGINE_DT_BF16)
        return tengine::fail_data_type(__func__, data_type, "fp16 or bf16");
    return tengine::rewrite_or_fail<tengine::Converter>(graph, device, data_type);
}
