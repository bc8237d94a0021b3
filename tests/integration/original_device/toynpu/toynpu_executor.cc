// SPDX-License-Identifier: Apache-2.0
// From a part of a graph to the chip's network, and its runs.
#include "toynpu_executor.hpp"

#include <cstring>

int ToyNPUEngine::TensorMap(struct graph* ir_graph, int ir_tensor_idx)
{
    if (this->tensor_map.end() != this->tensor_map.find(ir_tensor_idx))
    {
        return 0;
    }

    struct tensor* ir_tensor = get_ir_graph_tensor(ir_graph, ir_tensor_idx);
    int shape[4] = {1, 1, 1, 1};
    if (ir_tensor->dim_num > 4)
    {
        TLOG_ERR("Tengine TOYNPU: tensor %s has %d dims.\n", ir_tensor->name, ir_tensor->dim_num);
        return -1;
    }
    for (int i = 0; i < ir_tensor->dim_num; i++)
    {
        shape[i] = ir_tensor->dims[i];
    }

    const bool is_const = ir_tensor->tensor_type == TENSOR_TYPE_CONST;
    this->tensor_map[ir_tensor_idx] = toynpu_add_tensor(this->net, shape, is_const ? (const float*)ir_tensor->data : nullptr);

    return this->tensor_map[ir_tensor_idx] < 0 ? -1 : 0;
}

int ToyNPUEngine::Build(struct subgraph* subgraph)
{
    struct graph* ir_graph = subgraph->graph;

    for (int i = 0; i < subgraph->node_num; i++)
    {
        uint16_t node_id = subgraph->node_list[i];
        struct node* ir_node = get_ir_graph_node(ir_graph, node_id);
        auto op_type = ir_node->op.type;
        bool ok = false;

        switch (op_type)
        {
            case OP_CONST:
            case OP_INPUT:
                continue;
            case OP_CONV:
                ok = this->AddConvolutionNode(ir_node);
                break;
            case OP_ELTWISE:
                ok = this->AddEltwiseNode(ir_node);
                break;
            case OP_RELU:
                ok = this->AddReluNode(ir_node);
                break;
            default:
                break;
        }

        if (!ok)
        {
            TLOG_ERR("Tengine TOYNPU: Cannot support OP(%d).\n", ir_node->index);
            return -1;
        }
    }

    return 0;
}

int ToyNPUEngine::PreRun(struct subgraph* subgraph)
{
    struct graph* ir_graph = subgraph->graph;

    for (int i = 0; i < subgraph->node_num; i++)
    {
        uint16_t node_id = subgraph->node_list[i];
        struct node* ir_node = get_ir_graph_node(ir_graph, node_id);
        for (int j = 0; j < ir_node->input_num; j++)
        {
            int ir_tensor_idx = ir_node->input_tensors[j];
            if (this->TensorMap(ir_graph, ir_tensor_idx) < 0)
                return -1;
        }
        for (int j = 0; j < ir_node->output_num; j++)
        {
            int ir_tensor_idx = ir_node->output_tensors[j];
            if (this->TensorMap(ir_graph, ir_tensor_idx) < 0)
                return -1;
        }
    }

    return this->Build(subgraph);
}

int ToyNPUEngine::Run(struct subgraph* subgraph)
{
    struct graph* ir_graph = subgraph->graph;

    for (uint8_t i = 0; i < subgraph->input_num; i++)
    {
        int ir_tensor_idx = subgraph->input_tensor_list[i];
        struct tensor* input_tensor = get_ir_graph_tensor(ir_graph, ir_tensor_idx);
        toynpu_write(this->net, this->tensor_map[ir_tensor_idx], (const float*)input_tensor->data);
    }

    if (toynpu_run(this->net) < 0)
    {
        return -1;
    }

    for (uint8_t i = 0; i < subgraph->output_num; i++)
    {
        int ir_tensor_idx = subgraph->output_tensor_list[i];
        struct tensor* output_tensor = get_ir_graph_tensor(ir_graph, ir_tensor_idx);
        if (nullptr == output_tensor->data)
        {
            output_tensor->data = sys_malloc(output_tensor->elem_num * output_tensor->elem_size);
            output_tensor->free_host_mem = 1;
            output_tensor->internal_allocated = 0;
        }
        toynpu_read(this->net, this->tensor_map[ir_tensor_idx], (float*)output_tensor->data);
    }

    return 0;
}
