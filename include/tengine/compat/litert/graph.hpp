// SPDX-License-Identifier: Apache-2.0
// LiteRT's C functions that read a graph. Part of litert.hpp.
#pragma once

#include "tengine/compat/litert/types.hpp"

namespace tengine_litert {

inline LiteRtElementType to_element_type(int data_type)
{
    switch (data_type) {
        case TENGINE_DT_FP32:
            return kLiteRtElementTypeFloat32;
        case TENGINE_DT_FP16:
            return kLiteRtElementTypeFloat16;
        case TENGINE_DT_INT8:
            return kLiteRtElementTypeInt8;
        case TENGINE_DT_UINT8:
            return kLiteRtElementTypeUInt8;
        case TENGINE_DT_INT32:
            return kLiteRtElementTypeInt32;
        case TENGINE_DT_INT16:
            return kLiteRtElementTypeInt16;
        case TENGINE_DT_INT64:
            return kLiteRtElementTypeInt64;
        case TENGINE_DT_BOOL:
            return kLiteRtElementTypeBool;
        case TENGINE_DT_FP64:
            return kLiteRtElementTypeFloat64;
        case TENGINE_DT_BF16:
            return kLiteRtElementTypeBFloat16;
        case TENGINE_DT_UINT16:
            return kLiteRtElementTypeUInt16;
        case TENGINE_DT_UINT32:
            return kLiteRtElementTypeUInt32;
        case TENGINE_DT_UINT64:
            return kLiteRtElementTypeUInt64;
        default:
            return kLiteRtElementTypeNone;
    }
}

inline LiteRtOpCode to_op_code(const struct node& node)
{
    static const std::pair<const char*, LiteRtOpCode> codes[] = {
        {"Abs", kLiteRtOpCodeTflAbs},          {"Add", kLiteRtOpCodeTflAdd},
        {"Ceil", kLiteRtOpCodeTflCeil},        {"Cos", kLiteRtOpCodeTflCos},
        {"Div", kLiteRtOpCodeTflDiv},          {"Exp", kLiteRtOpCodeTflExp},
        {"Floor", kLiteRtOpCodeTflFloor},      {"HardSwish", kLiteRtOpCodeTflHardSwish},
        {"Log", kLiteRtOpCodeTflLog},          {"MatMul", kLiteRtOpCodeTflBatchMatmul},
        {"Max", kLiteRtOpCodeTflMaximum},      {"Min", kLiteRtOpCodeTflMinimum},
        {"Mul", kLiteRtOpCodeTflMul},          {"Neg", kLiteRtOpCodeTflNeg},
        {"Pow", kLiteRtOpCodeTflPow},          {"RMSNormalization", kLiteRtOpCodeShloComposite},
        {"Relu", kLiteRtOpCodeTflRelu},        {"Round", kLiteRtOpCodeTflRound},
        {"Sigmoid", kLiteRtOpCodeTflLogistic}, {"Sign", kLiteRtOpCodeTflSign},
        {"Sin", kLiteRtOpCodeTflSin},          {"Sqrt", kLiteRtOpCodeTflSqrt},
        {"Sub", kLiteRtOpCodeTflSub},          {"Tanh", kLiteRtOpCodeTflTanh},
    };
    const char* name = get_ir_node_op(&node);
    // Those of any number of operands are of two in LiteRT.
    const bool is_pair =
        node.input_num == 2 || (std::strcmp(name, "Max") != 0 && std::strcmp(name, "Min") != 0);
    if (*get_ir_node_domain(&node) == '\0' && is_pair)
        for (const auto& code : codes)
            if (std::strcmp(name, code.first) == 0) return code.second;
    return kLiteRtOpCodeTflCustom;
}

inline LiteRtTensorT* handle_of(LiteRtSubgraphT& subgraph, const struct tensor* tensor)
{
    if (!tensor) return nullptr;
    LiteRtTensorT*& handle = subgraph.handle_of[tensor];
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
        subgraph.ops.push_back({node, to_op_code(*node), {}, {}});
        LiteRtOpT& op = subgraph.ops.back();
        for (int i = 0; i < node->input_num; ++i)
            op.inputs.push_back(handle_of(subgraph, get_ir_node_input(node, i)));
        while (!op.inputs.empty() && !op.inputs.back())
            op.inputs.pop_back();
        for (int i = 0; i < node->output_num; ++i)
            op.outputs.push_back(handle_of(subgraph, get_ir_node_output(node, i)));
        subgraph.op_of[node] = &op;
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

// An option that only operators of this code have.
template <class Value>
LiteRtStatus give_option(LiteRtOp op, LiteRtOpCode code, Value* out_value, Value value)
{
    if (op->code != code) return kLiteRtStatusErrorInvalidArgument;
    *out_value = value;
    return kLiteRtStatusOk;
}

// The flexbuffer {"epsilon": value}, from its key to its root.
struct EpsilonAttribute
{
    explicit EpsilonAttribute(float value)
    {
        uint32_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        for (int i = 0; i < 4; ++i)
            bytes[24 + i] = static_cast<uint8_t>(bits >> (8 * i));
    }
    uint8_t bytes[32] = {
        'e', 'p', 's', 'i', 'l', 'o', 'n', 0,  // the key
        1,   9,   0,   0,                      // keys: one, 9 bytes before this
        3,   0,   0,   0,   1,   0,   0,   0,  // the map: keys 3 bytes before this, of 1 byte each
        1,   0,   0,   0,   0,   0,   0,   0,  // one value, little end first
        14,                                    // it is a float of 4 bytes
        5,   38,  1,                           // root: 5 bytes before this, a map of 4 bytes
    };
};

}  // namespace tengine_litert

// Every one of these fails with kLiteRtStatusErrorIndexOOB for an index without item. Handles and
// texts are valid during the call of the plug-in that they were given to.

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
// In an order in which they can be executed.
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
// ONNX's name, of an operator that has no code here.
inline LiteRtStatus LiteRtGetCustomCode(LiteRtOp op, const char** out_code)
{
    if (op->code != kLiteRtOpCodeTflCustom) return kLiteRtStatusErrorInvalidArgument;
    *out_code = get_ir_node_op(op->node);
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
inline LiteRtStatus LiteRtGetSHLOCompositeOpName(LiteRtOp op, const char** out_name)
{
    if (op->code != kLiteRtOpCodeShloComposite) return kLiteRtStatusErrorInvalidArgument;
    *out_name = "odml.rms_norm";
    return kLiteRtStatusOk;
}
// A composite is an operator of its own here, and has no other subgraph.
inline LiteRtStatus LiteRtGetSHLOCompositeOpDecompositionSubgraphIndex(LiteRtOp op,
                                                                       int32_t* out_index)
{
    return tengine_litert::give_option(op, kLiteRtOpCodeShloComposite, out_index, int32_t{-1});
}
inline LiteRtStatus LiteRtGetSHLOCompositeOpVersion(LiteRtOp op, int32_t* out_version)
{
    return tengine_litert::give_option(op, kLiteRtOpCodeShloComposite, out_version, int32_t{1});
}
// A flexbuffer: a map with "epsilon". It lives until the thread asks for the next.
inline LiteRtStatus LiteRtGetSHLOCompositeOpAttributes(LiteRtOp op, const uint8_t** out_attributes,
                                                       int32_t* out_size)
{
    if (op->code != kLiteRtOpCodeShloComposite) return kLiteRtStatusErrorInvalidArgument;
    static thread_local tengine_litert::EpsilonAttribute attribute(0);
    attribute = tengine_litert::EpsilonAttribute(get_ir_node_float(op->node, "epsilon", 1e-5f));
    *out_attributes = attribute.bytes;
    *out_size = sizeof attribute.bytes;
    return kLiteRtStatusOk;
}
// None: attributes are asked for by name (get_ir_node_int and its neighbours, tengine/ir.h).
inline LiteRtStatus LiteRtGetCustomOptions(LiteRtOp op, const uint8_t** out_options,
                                           int32_t* out_size)
{
    if (op->code != kLiteRtOpCodeTflCustom) return kLiteRtStatusErrorInvalidArgument;
    *out_options = nullptr;
    *out_size = 0;
    return kLiteRtStatusOk;
}
// Activations are operators of their own here: 0, none.
inline LiteRtStatus LiteRtGetAddFusedActivationOption(LiteRtOp op, uint32_t* out_activation)
{
    return tengine_litert::give_option(op, kLiteRtOpCodeTflAdd, out_activation, uint32_t{0});
}
inline LiteRtStatus LiteRtGetSubFusedActivationOption(LiteRtOp op, uint32_t* out_activation)
{
    return tengine_litert::give_option(op, kLiteRtOpCodeTflSub, out_activation, uint32_t{0});
}
inline LiteRtStatus LiteRtGetMulFusedActivationOption(LiteRtOp op, uint32_t* out_activation)
{
    return tengine_litert::give_option(op, kLiteRtOpCodeTflMul, out_activation, uint32_t{0});
}
inline LiteRtStatus LiteRtGetDivFusedActivationOption(LiteRtOp op, uint32_t* out_activation)
{
    return tengine_litert::give_option(op, kLiteRtOpCodeTflDiv, out_activation, uint32_t{0});
}
// Transpositions are operators, too.
inline LiteRtStatus LiteRtGetBatchMatmulAdjXOption(LiteRtOp op, bool* out_is_transposed)
{
    return tengine_litert::give_option(op, kLiteRtOpCodeTflBatchMatmul, out_is_transposed, false);
}
inline LiteRtStatus LiteRtGetBatchMatmulAdjYOption(LiteRtOp op, bool* out_is_transposed)
{
    return tengine_litert::give_option(op, kLiteRtOpCodeTflBatchMatmul, out_is_transposed, false);
}
inline LiteRtStatus LiteRtGetBatchMatmulAsymmetricQuantizeInputOption(LiteRtOp op, bool* out_is)
{
    return tengine_litert::give_option(op, kLiteRtOpCodeTflBatchMatmul, out_is, false);
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
    *out_name = tensor->tensor->name;
    return kLiteRtStatusOk;
}
inline LiteRtStatus LiteRtGetTensorIndex(LiteRtTensor tensor, uint32_t* out_index)
{
    *out_index = static_cast<uint32_t>(tensor->tensor->index);
    return kLiteRtStatusOk;
}
inline LiteRtStatus LiteRtGetTensorTypeId(LiteRtTensor tensor, LiteRtTensorTypeId* out_id)
{
    *out_id = tensor->tensor->shape_set ? kLiteRtRankedTensorType : kLiteRtUnrankedTensorType;
    return kLiteRtStatusOk;
}
inline LiteRtStatus LiteRtGetRankedTensorType(LiteRtTensor tensor, LiteRtRankedTensorType* out_type)
{
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
    if (tensor->tensor->shape_set) return kLiteRtStatusErrorInvalidIrType;
    out_type->element_type = tengine_litert::to_element_type(tensor->tensor->data_type);
    return kLiteRtStatusOk;
}
inline LiteRtStatus LiteRtGetQuantizationTypeId(LiteRtTensor tensor,
                                                LiteRtQuantizationTypeId* out_id)
{
    const int number = tensor->tensor->quant_param_num;
    *out_id = number == 0   ? kLiteRtQuantizationNone
              : number == 1 ? kLiteRtQuantizationPerTensor
                            : kLiteRtQuantizationPerChannel;
    return kLiteRtStatusOk;
}
inline LiteRtStatus LiteRtGetPerTensorQuantization(LiteRtTensor tensor,
                                                   LiteRtQuantizationPerTensor* out_quantization)
{
    if (tensor->tensor->quant_param_num != 1) return kLiteRtStatusErrorInvalidArgument;
    *out_quantization = {tensor->tensor->scale, tensor->tensor->zero_point};
    return kLiteRtStatusOk;
}
// Slices along a dimension of ONNX's order.
inline LiteRtStatus LiteRtGetPerChannelQuantization(LiteRtTensor tensor,
                                                    LiteRtQuantizationPerChannel* out_quantization)
{
    const struct tensor& from = *tensor->tensor;
    if (from.quant_param_num < 2) return kLiteRtStatusErrorInvalidArgument;
    tensor->scales.assign(from.scale_list, from.scale_list + from.quant_param_num);
    tensor->zero_points.assign(from.zp_list, from.zp_list + from.quant_param_num);
    *out_quantization = {from.quant_axis, tensor->scales.size(), tensor->scales.data(),
                         tensor->zero_points.data()};
    return kLiteRtStatusOk;
}
// There is none.
inline LiteRtStatus LiteRtGetBlockWiseQuantization(LiteRtTensor, LiteRtQuantizationBlockWise*)
{
    return kLiteRtStatusErrorInvalidArgument;
}
// Operators of the subgraph that read it, an entry for each.
inline LiteRtStatus LiteRtGetNumTensorUses(LiteRtTensor tensor, LiteRtParamIndex* out_num)
{
    size_t number = 0;
    for (const LiteRtOpT& op : tensor->subgraph->ops)
        for (const LiteRtTensorT* input : op.inputs)
            number += input == tensor;
    return tengine_litert::give(out_num, number);
}
inline LiteRtStatus LiteRtGetTensorUse(LiteRtTensor tensor, LiteRtParamIndex index,
                                       LiteRtOp* out_op, LiteRtParamIndex* out_input)
{
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
typedef struct
{
    LiteRtOp op;
    LiteRtParamIndex op_output_index;
} LiteRtTensorDefiningOp;
// None for inputs of the subgraph and constants.
inline LiteRtStatus LiteRtGetTensorDefiningOp(LiteRtTensor tensor, bool* out_has,
                                              LiteRtTensorDefiningOp* out_op)
{
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
    *out_weights = tensor;
    return kLiteRtStatusOk;
}
// 0 bytes for a tensor that is not constant.
inline LiteRtStatus LiteRtGetWeightsBytes(LiteRtWeights weights, const void** out_bytes,
                                          size_t* out_size)
{
    const bool is_constant = weights->tensor->tensor_type == TENSOR_TYPE_CONST;
    *out_bytes = is_constant ? weights->tensor->data : nullptr;
    *out_size = is_constant ? get_ir_tensor_bytes(weights->tensor) : 0;
    return kLiteRtStatusOk;
}
// From 1 on, the same for constants that have their bytes in common; 0 for what is not constant.
inline LiteRtStatus LiteRtGetWeightsBufferId(LiteRtWeights weights, int32_t* out_id)
{
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
