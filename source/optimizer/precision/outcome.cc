// SPDX-License-Identifier: Apache-2.0
// Reports a run in int8 or uint8 that would compute in float, or the reverse, which the results
// alone do not show.
#include <cstring>

#include "graph/body.h"
#include "graph/graph.h"
#include "graph/option.h"
#include "optimizer/pass.h"
#include "optimizer/placement/candidates.h"
#include "optimizer/precision/quantization.h"
#include "tengine/log.h"

namespace tengine {
namespace {

bool is_computed(const tensor* tensor)
{
    return tensor && tensor->tensor_type != TENSOR_TYPE_CONST;
}

// Whether the node is ONNX Runtime's operator with int8 inside that dynamic_chain.h makes.
bool is_dynamic_product(const node& node)
{
    return std::strcmp(get_ir_node_domain(&node), "com.microsoft") == 0 &&
           (std::strcmp(get_ir_node_op(&node), "DynamicQuantizeMatMul") == 0 ||
            std::strcmp(get_ir_node_op(&node), "MatMulIntegerToFloat") == 0);
}

// Whether the node reads int8 or uint8 and does not write floats.
bool is_integer_node(const node& node)
{
    if (is_dynamic_product(node)) return true;
    if (is_op(&node, "QuantizeLinear") || is_op(&node, "Cast")) return false;
    bool reads_bytes = false;
    for (int i = 0; i < node.input_num; ++i) {
        const tensor* input = get_ir_node_input(&node, i);
        reads_bytes = reads_bytes || (is_computed(input) && is_byte(input->data_type));
    }
    return reads_bytes && get_ir_node_output(&node, 0)->data_type != TENGINE_DT_FP32;
}

struct Outcome
{
    int integer_nodes = 0;
    int float_nodes = 0;
    int kept_nodes = 0;  // kept ones among these
    int scales = 0;      // of computed tensors, not of weights
};

Outcome count(const graph& graph)
{
    Outcome outcome;
    for (int i = 0; i < graph.node_num; ++i) {
        const node& node = *graph.node_list[i];
        const tensor* result = get_ir_node_output(&node, 0);
        Quantization by;
        if (is_op(&node, "QuantizeLinear") || is_op(&node, "DequantizeLinear")) {
            if (is_computed(get_ir_node_input(&node, 0)) && read_quantization(node, &by))
                ++outcome.scales;
        } else if (is_integer_node(node)) {
            ++outcome.integer_nodes;
        } else if (result && result->data_type == TENGINE_DT_FP32 && !node.core->custom_kernel) {
            ++outcome.float_nodes;
            outcome.kept_nodes += node.core->keep_float ? 1 : 0;
        }
    }
    for (int i = 0; i < graph.tensor_num; ++i) {
        Quantization by;
        if (is_computed(graph.tensor_list[i]) &&
            read_calibration(*graph.tensor_list[i], TENGINE_DT_INT8, &by))
            ++outcome.scales;
    }
    return outcome;
}

const char* name_of_type(const graph& graph)
{
    return graph.run_options->precision == TENGINE_MODE_INT8 ? "int8" : "uint8";
}

// Whether the graph or a body has scales: a model may have them in some of its graphs only.
bool has_scales_anywhere(const graph& graph)
{
    const auto lacks_scales = [](const struct graph* each, void*) {
        return count(*each).scales == 0;
    };
    return !visit_ir_graphs(&graph, lacks_scales, nullptr);
}

// Refuses a model whose values have no quantisation.
int refuse_float_model(const graph& graph)
{
    const char* type = name_of_type(graph);
    const char* choice = get_ir_context_option(graph.attribute->context, "precision.float");
    if (std::strcmp(choice, "allow") == 0) {
        TLOG_WARNING("graph '%s' runs in float, not %s: nothing that it computes has a scale",
                     graph.name, type);
        return TENGINE_OK;
    }
    return tengine_error_set(TENGINE_EINVAL,
                             "graph '%s' cannot run in %s: nothing that it computes has a scale. "
                             "Give the option precision.table, or a quantised model; `tengine "
                             "quantize` makes both. The option precision.float=allow runs it in "
                             "float",
                             graph.name, type);
}

void warn_of_float_run(const graph& graph, const Outcome& outcome)
{
    const char* type = name_of_type(graph);
    if (outcome.kept_nodes == outcome.float_nodes)
        TLOG_WARNING(
            "graph '%s' runs in float, not %s: precision.keep_float or the table keeps all "
            "of its nodes in float",
            graph.name, type);
    else
        TLOG_WARNING(
            "graph '%s' runs in float, not %s: it has scales (%d), but no node has them on its "
            "data inputs and its result and a device that takes it so (%d of %d are kept in "
            "float)",
            graph.name, type, outcome.scales, outcome.kept_nodes, outcome.float_nodes);
}

// The best device of the graph that computes in int8 or uint8 and not in fp32; null when there is
// none, or none that lists operators of the graph.
int find_integer_device(const graph& graph, const device** out_device)
{
    *out_device = nullptr;
    const Candidates* candidates;
    TENGINE_RETURN_IF_ERROR(Candidates::of(graph, &candidates));
    for (size_t i = 0; i < candidates->size() && !*out_device; ++i) {
        const device* device = candidates->at(i);
        const bool takes_bytes = candidates->lists(device, TENGINE_DT_INT8) ||
                                 candidates->lists(device, TENGINE_DT_UINT8);
        if (takes_bytes && !candidates->lists(device, TENGINE_DT_FP32)) *out_device = device;
    }
    return TENGINE_OK;
}

// A model in QDQ form that runs in float has no nodes for such a device.
int hint_at_integer_run(const graph& graph)
{
    if (graph.run_options->precision != TENGINE_MODE_FP32) return TENGINE_OK;
    const Outcome outcome = count(graph);
    if (outcome.scales == 0 || outcome.integer_nodes > 0 || outcome.float_nodes == 0)
        return TENGINE_OK;
    const device* device;
    TENGINE_RETURN_IF_ERROR(find_integer_device(graph, &device));
    if (device)
        TLOG_WARNING(
            "graph '%s' is quantised, but runs in float, which %s does not take: run it in the "
            "precision int8 (`--precision int8`, TENGINE_MODE_INT8)",
            graph.name, device->name);
    return TENGINE_OK;
}

}  // namespace

int check_precision(graph& graph)
{
    if (!is_integer_run(graph)) return hint_at_integer_run(graph);
    const Outcome outcome = count(graph);
    if (outcome.integer_nodes > 0 || outcome.float_nodes == 0) return TENGINE_OK;
    if (outcome.scales == 0)
        return is_body(graph) || has_scales_anywhere(graph) ? TENGINE_OK
                                                            : refuse_float_model(graph);
    warn_of_float_run(graph, outcome);
    return TENGINE_OK;
}

}  // namespace tengine
