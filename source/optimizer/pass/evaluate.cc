// SPDX-License-Identifier: Apache-2.0
// Constant folding of one node: the default device runs it as a part of its own.
#include "graph/graph.h"
#include "graph/graph_pool.h"
#include "graph/string_pool.h"
#include "graph/subgraph.h"
#include "module/module.h"
#include "operator/param.h"
#include "optimizer/pass.h"

namespace tengine {
namespace {

// A part of one node, on the stack of evaluate_node().
struct SingleNodePart
{
    struct subgraph subgraph;
    ir_subgraph_core_t core;
    int32_t node_index;

    SingleNodePart(node& node, device* device) : subgraph(), core(), node_index(node.index)
    {
        init_ir_subgraph(node.graph, &subgraph, 0);
        subgraph.core = &core;
        subgraph.device = device;
        subgraph.node_list = &node_index;
        subgraph.node_num = 1;
        subgraph.input_tensor_list = node.input_tensors;
        subgraph.input_num = node.input_num;
        subgraph.output_tensor_list = node.output_tensors;
        subgraph.output_num = node.output_num;
    }
};

int run_part(struct subgraph& part)
{
    device* device = part.device;
    TENGINE_RETURN_IF_ERROR(begin_ir_scratch(&part, 1));
    int status = device->interface->pre_run(device, &part, nullptr);
    if (status >= 0) {
        status = lend_ir_scratch(&part);
        if (status >= 0) status = device->interface->run(device, &part);
        device->interface->post_run(device, &part);
    }
    leave_ir_scratch(&part);
    if (part.device_graph && device->interface->release_graph)
        device->interface->release_graph(device, part.device_graph);
    return status < 0 ? status : TENGINE_OK;
}

int allocate_outputs(node& node)
{
    for (int i = 0; i < node.output_num; ++i) {
        struct tensor* tensor = get_ir_node_output(&node, i);
        if (tensor && is_ir_tensor_shape_known(tensor))
            TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(tensor));
    }
    return TENGINE_OK;
}

int run_node(node& node)
{
    graph& graph = *node.graph;
    const ir_run_options_t options = *graph.run_options;
    graph.core->run_options.num_thread = 1;  // starting a pool takes longer than one node
    SingleNodePart part(node, find_default_device());
    const int status = run_part(part.subgraph);
    graph.core->run_options = options;
    return status;
}

// ---- results that preparations share ----

constexpr size_t kFewestSharedBytes = 4096;  // smaller results are not shared

// FNV-1a.
void mix(const void* data, size_t bytes, int64_t* hash)
{
    auto mixed = static_cast<uint64_t>(*hash);
    for (size_t i = 0; i < bytes; ++i)
        mixed = (mixed ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3u;
    *hash = static_cast<int64_t>(mixed);
}

void mix_tensor(const struct tensor& tensor, int64_t* hash)
{
    mix(&tensor.data_type, sizeof tensor.data_type, hash);
    mix(&tensor.dim_num, sizeof tensor.dim_num, hash);
    mix(tensor.dims, sizeof *tensor.dims * tensor.dim_num, hash);
}

// Hashes the parameters; false if one of them is not a number.
bool mix_params(const node& node, int64_t* hash)
{
    for (int i = 0; i < node.op.method->field_num; ++i) {
        const op_field_t& field = node.op.method->fields[i];
        const void* value = static_cast<const char*>(node.op.param_mem) + field.offset;
        const bool is_number = field.kind == OP_FIELD_INT || field.kind == OP_FIELD_FLOAT;
        if (!is_number && !is_default_param(&field, value)) return false;
        if (is_number) mix(value, sizeof(int), hash);
    }
    return true;
}

// Whether the result may be shared, and its key: the result is large, and all inputs are constants
// of the model.
bool make_key(const node& node, ir_pack_key_t* out_key)
{
    const struct tensor* output = get_ir_node_output(&node, 0);
    if (node.output_num != 1 || !output || node.input_num > 4 || node.core->custom_kernel ||
        !is_ir_tensor_shape_known(output) || get_ir_tensor_bytes(output) < kFewestSharedBytes)
        return false;
    ir_pack_key_t key = {};
    key.kind = node.op.method;
    key.sizes[0] = node.op.version;
    mix_tensor(*output, &key.sizes[1]);
    if (!mix_params(node, &key.sizes[2])) return false;
    for (int i = 0; i < node.input_num; ++i) {
        const struct tensor* input = get_ir_node_input(&node, i);
        if (!input) continue;
        if (!is_ir_model_constant(input)) return false;
        key.constants[i] = input->data;
        mix_tensor(*input, &key.sizes[3]);
    }
    *out_key = key;
    return true;
}

int evaluate_shared(node& node, const ir_pack_key_t& key)
{
    struct tensor& output = *get_ir_node_output(&node, 0);
    graph_pool* shared = node.graph->core->pool;
    if (void* known = find_graph_pack(shared, &key)) {
        set_ir_tensor_pack(&output, shared, known);
        return TENGINE_OK;
    }
    void* pack = make_graph_pack(shared, &key, get_ir_tensor_bytes(&output));
    if (!pack)
        return tengine_error_set(TENGINE_ENOMEM, "constant '%s': out of memory", output.name);
    set_ir_tensor_pack(&output, shared, pack);
    TENGINE_RETURN_IF_ERROR(run_node(node));
    output.data = output.core->pack = offer_graph_pack(shared, pack);
    for (int i = 0; i < node.input_num; ++i)
        if (const struct tensor* input = get_ir_node_input(&node, i))
            drop_ir_constant(node.graph, input);
    return TENGINE_OK;
}

int evaluate_alone(node& node)
{
    TENGINE_RETURN_IF_ERROR(allocate_outputs(node));
    return run_node(node);
}

}  // namespace

int evaluate_node(node& node)
{
    graph& graph = *node.graph;
    ir_pack_key_t key;
    TENGINE_RETURN_IF_ERROR(make_key(node, &key) ? evaluate_shared(node, key)
                                                 : evaluate_alone(node));
    for (int i = 0; i < node.output_num; ++i)
        if (struct tensor* tensor = get_ir_node_output(&node, i)) {
            tensor->tensor_type = TENSOR_TYPE_CONST;
            keep_ir_strings(&graph, tensor);
        }
    destroy_ir_node(&graph, &node);
    return TENGINE_OK;
}

}  // namespace tengine
