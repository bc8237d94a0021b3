// SPDX-License-Identifier: Apache-2.0
// LiteRT's C functions that read a graph. Part of litert.hpp.
#pragma once

#include "tengine/compat/litert/op_code.hpp"

TENGINE_LITERT_BEGIN
namespace tengine_litert {

inline LiteRtTensor handle_of(LiteRtSubgraphT& subgraph, const struct tensor* tensor)
{
    if (!tensor) return nullptr;
    LiteRtTensor& handle = subgraph.handle_of[tensor];
    if (!handle) {
        subgraph.tensors.push_back({tensor, &subgraph, {}, {}});
        handle = &subgraph.tensors.back();
    }
    return handle;
}

// Nodes of a graph, and the tensors that enter and leave them.
inline void fill_subgraph(LiteRtSubgraphT& subgraph, const struct graph& graph,
                          const std::vector<int32_t>& nodes, const std::vector<int32_t>& inputs,
                          const std::vector<int32_t>& outputs)
{
    subgraph.graph = &graph;
    for (const int32_t index : nodes) {
        const struct node* node = get_ir_graph_node(&graph, index);
        const OpMeaning meaning = to_op_meaning(*node);
        subgraph.ops.push_back({node, meaning.code, {}, {}, {}});
        LiteRtOpT& op = subgraph.ops.back();
        const int input_num = meaning.input_num > 0 ? meaning.input_num : node->input_num;
        for (int i = 0; i < input_num; ++i)
            op.inputs.push_back(handle_of(subgraph, get_ir_node_input(node, i)));
        while (!op.inputs.empty() && !op.inputs.back())
            op.inputs.pop_back();
        for (int i = 0; i < node->output_num; ++i)
            op.outputs.push_back(handle_of(subgraph, get_ir_node_output(node, i)));
    }
    for (const int32_t index : inputs)
        subgraph.inputs.push_back(handle_of(subgraph, get_ir_graph_tensor(&graph, index)));
    for (const int32_t index : outputs)
        subgraph.outputs.push_back(handle_of(subgraph, get_ir_graph_tensor(&graph, index)));
}

// The item of a list, or an error.
template <class List, class Item>
LiteRtStatus get_item(const List& list, LiteRtParamIndex index, Item* out_item)
{
    if (index >= list.size()) return kLiteRtStatusErrorIndexOOB;
    *out_item = list[index];
    return kLiteRtStatusOk;
}

template <class List, class Item>
LiteRtStatus get_address(List& list, LiteRtParamIndex index, Item* out_item)
{
    if (index >= list.size()) return kLiteRtStatusErrorIndexOOB;
    *out_item = &list[index];
    return kLiteRtStatusOk;
}

inline LiteRtStatus give(LiteRtParamIndex* out_num, size_t number)
{
    *out_num = number;
    return kLiteRtStatusOk;
}

}  // namespace tengine_litert

// Every one of these fails with kLiteRtStatusErrorIndexOOB for an index without item, and with
// kLiteRtStatusErrorInvalidArgument for a tensor that is NULL. Handles and strings are valid during
// the call of the plug-in that they were given to.

// ---- model and subgraph ----

inline LiteRtStatus LiteRtGetNumModelSubgraphs(LiteRtModel model, LiteRtParamIndex* out_num)
{
    return tengine_litert::give(out_num, model->subgraphs.size());
}
inline LiteRtStatus LiteRtGetModelSubgraph(LiteRtModel model, LiteRtParamIndex index,
                                           LiteRtSubgraph* out_subgraph)
{
    return tengine_litert::get_address(model->subgraphs, index, out_subgraph);
}
// In topological order.
inline LiteRtStatus LiteRtGetNumSubgraphOps(LiteRtSubgraph subgraph, LiteRtParamIndex* out_num)
{
    return tengine_litert::give(out_num, subgraph->ops.size());
}
inline LiteRtStatus LiteRtGetSubgraphOp(LiteRtSubgraph subgraph, LiteRtParamIndex index,
                                        LiteRtOp* out_op)
{
    return tengine_litert::get_address(subgraph->ops, index, out_op);
}
inline LiteRtStatus LiteRtGetNumSubgraphInputs(LiteRtSubgraph subgraph, LiteRtParamIndex* out_num)
{
    return tengine_litert::give(out_num, subgraph->inputs.size());
}
inline LiteRtStatus LiteRtGetSubgraphInput(LiteRtSubgraph subgraph, LiteRtParamIndex index,
                                           LiteRtTensor* out_tensor)
{
    return tengine_litert::get_item(subgraph->inputs, index, out_tensor);
}
inline LiteRtStatus LiteRtGetNumSubgraphOutputs(LiteRtSubgraph subgraph, LiteRtParamIndex* out_num)
{
    return tengine_litert::give(out_num, subgraph->outputs.size());
}
inline LiteRtStatus LiteRtGetSubgraphOutput(LiteRtSubgraph subgraph, LiteRtParamIndex index,
                                            LiteRtTensor* out_tensor)
{
    return tengine_litert::get_item(subgraph->outputs, index, out_tensor);
}

// ---- operators ----

inline LiteRtStatus LiteRtGetOpCode(LiteRtOp op, LiteRtOpCode* out_code)
{
    *out_code = op->code;
    return kLiteRtStatusOk;
}
// The name in the .tflite, or ONNX's name of an operator that has no code here.
inline LiteRtStatus LiteRtGetCustomCode(LiteRtOp op, const char** out_code)
{
    if (op->code != kLiteRtOpCodeTflCustom) return kLiteRtStatusErrorInvalidArgument;
    static constexpr char kDomain[] = "tflite.";
    const char* name = get_ir_node_text(op->node, "op_name", get_ir_node_op(op->node));
    const bool is_of_file = std::strncmp(name, kDomain, sizeof kDomain - 1) == 0;
    *out_code = is_of_file ? name + sizeof kDomain - 1 : name;
    return kLiteRtStatusOk;
}
inline LiteRtStatus LiteRtGetNumOpInputs(LiteRtOp op, LiteRtParamIndex* out_num)
{
    return tengine_litert::give(out_num, op->inputs.size());
}
// NULL where an optional input is absent.
inline LiteRtStatus LiteRtGetOpInput(LiteRtOp op, LiteRtParamIndex index, LiteRtTensor* out_tensor)
{
    return tengine_litert::get_item(op->inputs, index, out_tensor);
}
inline LiteRtStatus LiteRtGetNumOpOutputs(LiteRtOp op, LiteRtParamIndex* out_num)
{
    return tengine_litert::give(out_num, op->outputs.size());
}
inline LiteRtStatus LiteRtGetOpOutput(LiteRtOp op, LiteRtParamIndex index, LiteRtTensor* out_tensor)
{
    return tengine_litert::get_item(op->outputs, index, out_tensor);
}
// Selects an operator; the index keeps operators apart. In LiteRtCompilerPluginPartition.
inline LiteRtStatus LiteRtPushOp(LiteRtOpList list, LiteRtOp op, LiteRtParamIndex index)
{
    const bool fits = index < 1u << 20;
    return fits && tengine_op_list_push(list->list, op->node, static_cast<int>(index)) == 0
               ? kLiteRtStatusOk
               : kLiteRtStatusErrorInvalidArgument;
}

// ---- tensors ----

inline LiteRtStatus LiteRtGetTensorName(LiteRtTensor tensor, const char** out_name)
{
    if (!tensor) return kLiteRtStatusErrorInvalidArgument;
    *out_name = tensor->tensor->name;
    return kLiteRtStatusOk;
}
inline LiteRtStatus LiteRtGetTensorIndex(LiteRtTensor tensor, uint32_t* out_index)
{
    if (!tensor) return kLiteRtStatusErrorInvalidArgument;
    *out_index = static_cast<uint32_t>(tensor->tensor->index);
    return kLiteRtStatusOk;
}
inline LiteRtStatus LiteRtGetTensorTypeId(LiteRtTensor tensor, LiteRtTensorTypeId* out_id)
{
    if (!tensor) return kLiteRtStatusErrorInvalidArgument;
    *out_id = tensor->tensor->shape_set ? kLiteRtRankedTensorType : kLiteRtUnrankedTensorType;
    return kLiteRtStatusOk;
}
inline LiteRtStatus LiteRtGetRankedTensorType(LiteRtTensor tensor, LiteRtRankedTensorType* out_type)
{
    if (!tensor) return kLiteRtStatusErrorInvalidArgument;
    if (!tensor->tensor->shape_set) return kLiteRtStatusErrorInvalidIrType;
    *out_type = {};
    out_type->element_type = tengine_litert::to_element_type(tensor->tensor->data_type);
    out_type->layout.rank = tensor->tensor->dim_num & 0x7f;
    for (int i = 0; i < tensor->tensor->dim_num; ++i)
        out_type->layout.dimensions[i] = tensor->tensor->dims[i];
    return kLiteRtStatusOk;
}
inline LiteRtStatus LiteRtGetUnrankedTensorType(LiteRtTensor tensor,
                                                LiteRtUnrankedTensorType* out_type)
{
    if (!tensor) return kLiteRtStatusErrorInvalidArgument;
    if (tensor->tensor->shape_set) return kLiteRtStatusErrorInvalidIrType;
    out_type->element_type = tengine_litert::to_element_type(tensor->tensor->data_type);
    return kLiteRtStatusOk;
}
inline LiteRtStatus LiteRtGetQuantizationTypeId(LiteRtTensor tensor,
                                                LiteRtQuantizationTypeId* out_id)
{
    if (!tensor) return kLiteRtStatusErrorInvalidArgument;
    const int number = tensor->tensor->quant_param_num;
    *out_id = number == 0   ? kLiteRtQuantizationNone
              : number == 1 ? kLiteRtQuantizationPerTensor
                            : kLiteRtQuantizationPerChannel;
    return kLiteRtStatusOk;
}
inline LiteRtStatus LiteRtGetPerTensorQuantization(LiteRtTensor tensor,
                                                   LiteRtQuantizationPerTensor* out_quantization)
{
    if (!tensor) return kLiteRtStatusErrorInvalidArgument;
    if (tensor->tensor->quant_param_num != 1) return kLiteRtStatusErrorInvalidArgument;
    *out_quantization = {tensor->tensor->scale, tensor->tensor->zero_point};
    return kLiteRtStatusOk;
}
// Slices along a dimension of the tensor as the plug-in sees it.
inline LiteRtStatus LiteRtGetPerChannelQuantization(LiteRtTensor tensor,
                                                    LiteRtQuantizationPerChannel* out_quantization)
{
    if (!tensor) return kLiteRtStatusErrorInvalidArgument;
    const struct tensor& from = *tensor->tensor;
    if (from.quant_param_num < 2) return kLiteRtStatusErrorInvalidArgument;
    tensor->scales.assign(from.scale_list, from.scale_list + from.quant_param_num);
    tensor->zero_points.assign(from.zp_list, from.zp_list + from.quant_param_num);
    *out_quantization = {from.quant_axis, tensor->scales.size(), tensor->scales.data(),
                         tensor->zero_points.data()};
    return kLiteRtStatusOk;
}
// The tensor has none.
inline LiteRtStatus LiteRtGetBlockWiseQuantization(LiteRtTensor, LiteRtQuantizationBlockWise*)
{
    return kLiteRtStatusErrorInvalidArgument;
}
// Operators of the subgraph that read it, an entry for each.
inline LiteRtStatus LiteRtGetNumTensorUses(LiteRtTensor tensor, LiteRtParamIndex* out_num)
{
    if (!tensor) return kLiteRtStatusErrorInvalidArgument;
    size_t number = 0;
    for (const LiteRtOpT& op : tensor->subgraph->ops)
        for (const LiteRtTensorT* input : op.inputs)
            number += input == tensor;
    return tengine_litert::give(out_num, number);
}
inline LiteRtStatus LiteRtGetTensorUse(LiteRtTensor tensor, LiteRtParamIndex index,
                                       LiteRtOp* out_op, LiteRtParamIndex* out_input)
{
    if (!tensor) return kLiteRtStatusErrorInvalidArgument;
    for (LiteRtOpT& op : tensor->subgraph->ops) {
        for (size_t i = 0; i < op.inputs.size(); ++i) {
            if (op.inputs[i] != tensor || index-- != 0) continue;
            *out_op = &op;
            *out_input = i;
            return kLiteRtStatusOk;
        }
    }
    return kLiteRtStatusErrorIndexOOB;
}
// None for inputs of the subgraph and constants.
inline LiteRtStatus LiteRtGetTensorDefiningOp(LiteRtTensor tensor, bool* out_has,
                                              LiteRtTensorDefiningOp* out_op)
{
    if (!tensor) return kLiteRtStatusErrorInvalidArgument;
    *out_has = false;
    for (LiteRtOpT& op : tensor->subgraph->ops) {
        for (size_t i = 0; i < op.outputs.size(); ++i) {
            if (op.outputs[i] != tensor) continue;
            *out_has = true;
            *out_op = {&op, i};
        }
    }
    return kLiteRtStatusOk;
}
inline LiteRtStatus LiteRtGetTensorWeights(LiteRtTensor tensor, LiteRtWeights* out_weights)
{
    if (!tensor) return kLiteRtStatusErrorInvalidArgument;
    *out_weights = tensor;
    return kLiteRtStatusOk;
}
// 0 bytes for a tensor that is not constant.
inline LiteRtStatus LiteRtGetWeightsBytes(LiteRtWeights weights, const void** out_bytes,
                                          size_t* out_size)
{
    if (!weights) return kLiteRtStatusErrorInvalidArgument;
    const bool is_constant = weights->tensor->tensor_type == TENSOR_TYPE_CONST;
    *out_bytes = is_constant ? weights->tensor->data : nullptr;
    *out_size = is_constant ? get_ir_tensor_bytes(weights->tensor) : 0;
    return kLiteRtStatusOk;
}
// A number from 1 on, equal for constants that share their bytes; 0 for a tensor that is not
// constant.
inline LiteRtStatus LiteRtGetWeightsBufferId(LiteRtWeights weights, int32_t* out_id)
{
    if (!weights) return kLiteRtStatusErrorInvalidArgument;
    const struct tensor& wanted = *weights->tensor;
    const struct graph& graph = *weights->subgraph->graph;
    *out_id = 0;
    for (int32_t i = 0; wanted.tensor_type == TENSOR_TYPE_CONST && i < graph.tensor_num; ++i) {
        const struct tensor* tensor = get_ir_graph_tensor(&graph, i);
        const bool is_constant = tensor && tensor->tensor_type == TENSOR_TYPE_CONST;
        if (!is_constant || tensor->data != wanted.data) continue;
        *out_id = i + 1;
        break;
    }
    return kLiteRtStatusOk;
}

TENGINE_LITERT_END
