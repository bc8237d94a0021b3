// SPDX-License-Identifier: Apache-2.0
// Constant folding of one node: it is run on the default device as a part of its own.
#include "graph/graph.h"
#include "graph/subgraph.h"
#include "module/module.h"
#include "optimizer/pass.h"

namespace tengine {
namespace {

// A part of one node that lives on the stack of evaluate_node().
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
    int status = device->interface->pre_run(device, &part, nullptr);
    if (status >= 0) {
        status = device->interface->run(device, &part);
        device->interface->post_run(device, &part);
    }
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

}  // namespace

int evaluate_node(node& node)
{
    graph& graph = *node.graph;
    TENGINE_RETURN_IF_ERROR(allocate_outputs(node));
    const ir_run_options_t options = *graph.run_options;
    graph.core->run_options.num_thread = 1;  // a pool is not worth its start for one node
    SingleNodePart part(node, find_default_device());
    const int status = run_part(part.subgraph);
    graph.core->run_options = options;
    TENGINE_RETURN_IF_ERROR(status);
    for (int i = 0; i < node.output_num; ++i)
        if (struct tensor* tensor = get_ir_node_output(&node, i))
            tensor->tensor_type = TENSOR_TYPE_CONST;
    destroy_ir_node(&graph, &node);
    return TENGINE_OK;
}

}  // namespace tengine
