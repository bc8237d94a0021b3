// SPDX-License-Identifier: Apache-2.0
// LiteRT's C functions that read the options of operators. Part of litert.hpp.
#pragma once

#include "tengine/compat/litert/types.hpp"

TENGINE_LITERT_BEGIN
namespace tengine_litert {

// An option that only operators of this code have.
template <class Value>
LiteRtStatus give_option(LiteRtOp op, LiteRtOpCode code, Value* out_value, Value value)
{
    if (op->code != code) return kLiteRtStatusErrorInvalidArgument;
    *out_value = value;
    return kLiteRtStatusOk;
}

// The option that the node has under this name; `otherwise` is what it is for a node of ONNX's.
template <class Value>
LiteRtStatus give_attribute(LiteRtOp op, LiteRtOpCode code, Value* out_value, const char* name,
                            int64_t otherwise = 0)
{
    return give_option(op, code, out_value,
                       static_cast<Value>(get_ir_node_int(op->node, name, otherwise)));
}

inline LiteRtStatus give_activation(LiteRtOp op, LiteRtOpCode code, uint32_t* out_activation)
{
    return give_attribute(op, code, out_activation, "activation");
}

// A list of 32 bits, which lives as long as the operator.
inline LiteRtStatus give_list(LiteRtOp op, LiteRtOpCode code, const char* name,
                              const int32_t** out_values, int32_t* out_size)
{
    if (op->code != code) return kLiteRtStatusErrorInvalidArgument;
    int number = 0;
    const int64_t* values = get_ir_node_ints(op->node, name, &number);
    op->dims.assign(values, values + number);
    *out_values = op->dims.empty() ? nullptr : op->dims.data();
    *out_size = number;
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

// All fail with kLiteRtStatusErrorInvalidArgument for an operator of another code.

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
// A flexbuffer: a map with "epsilon". It lives until the thread makes the next.
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
// Those of the .tflite. None for an operator of ONNX's: its attributes are read by name
// (get_ir_node_int and its neighbours, tengine/ir.h).
inline LiteRtStatus LiteRtGetCustomOptions(LiteRtOp op, const uint8_t** out_options,
                                           int32_t* out_size)
{
    if (op->code != kLiteRtOpCodeTflCustom) return kLiteRtStatusErrorInvalidArgument;
    size_t size = 0;
    *out_options = static_cast<const uint8_t*>(tengine_node_get_tflite_options(op->node, &size));
    *out_size = static_cast<int32_t>(size);
    return kLiteRtStatusOk;
}
inline LiteRtStatus LiteRtGetAddFusedActivationOption(LiteRtOp op, uint32_t* out_activation)
{
    return tengine_litert::give_activation(op, kLiteRtOpCodeTflAdd, out_activation);
}
inline LiteRtStatus LiteRtGetSubFusedActivationOption(LiteRtOp op, uint32_t* out_activation)
{
    return tengine_litert::give_activation(op, kLiteRtOpCodeTflSub, out_activation);
}
inline LiteRtStatus LiteRtGetMulFusedActivationOption(LiteRtOp op, uint32_t* out_activation)
{
    return tengine_litert::give_activation(op, kLiteRtOpCodeTflMul, out_activation);
}
inline LiteRtStatus LiteRtGetDivFusedActivationOption(LiteRtOp op, uint32_t* out_activation)
{
    return tengine_litert::give_activation(op, kLiteRtOpCodeTflDiv, out_activation);
}
inline LiteRtStatus LiteRtGetConcatenationFusedActivationOption(LiteRtOp op,
                                                                uint32_t* out_activation)
{
    return tengine_litert::give_activation(op, kLiteRtOpCodeTflConcatenation, out_activation);
}
inline LiteRtStatus LiteRtGetFullyConnectedFusedActivationOption(LiteRtOp op,
                                                                 uint32_t* out_activation)
{
    return tengine_litert::give_activation(op, kLiteRtOpCodeTflFullyConnected, out_activation);
}
// In models of other formats transpositions and activations are operators.
inline LiteRtStatus LiteRtGetBatchMatmulAdjXOption(LiteRtOp op, bool* out_is_transposed)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflBatchMatmul, out_is_transposed,
                                          "adj_x");
}
inline LiteRtStatus LiteRtGetBatchMatmulAdjYOption(LiteRtOp op, bool* out_is_transposed)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflBatchMatmul, out_is_transposed,
                                          "adj_y");
}
// The library does not read it.
inline LiteRtStatus LiteRtGetBatchMatmulAsymmetricQuantizeInputOption(LiteRtOp op, bool* out_is)
{
    return tengine_litert::give_option(op, kLiteRtOpCodeTflBatchMatmul, out_is, false);
}
// Counts the dimensions of the tensors that the plug-in sees; below 0 from the last.
inline LiteRtStatus LiteRtGetConcatenationAxisOption(LiteRtOp op, int32_t* out_axis)
{
    return tengine_litert::give_option(op, kLiteRtOpCodeTflConcatenation, out_axis,
                                       static_cast<int32_t>(get_ir_node_int(op->node, "axis", 0)));
}
inline LiteRtStatus LiteRtGetCumsumExclusiveOption(LiteRtOp op, bool* out_is_exclusive)
{
    return tengine_litert::give_option(op, kLiteRtOpCodeTflCumsum, out_is_exclusive,
                                       get_ir_node_int(op->node, "exclusive", 0) != 0);
}
inline LiteRtStatus LiteRtGetCumsumReverseOption(LiteRtOp op, bool* out_is_reverse)
{
    return tengine_litert::give_option(op, kLiteRtOpCodeTflCumsum, out_is_reverse,
                                       get_ir_node_int(op->node, "reverse", 0) != 0);
}
// Weights as they are (0), a bias of the type of the weights (0), and below: the library does not
// read what else a .tflite may have.
inline LiteRtStatus LiteRtGetFullyConnectedWeightsFormatOption(LiteRtOp op, uint32_t* out_format)
{
    return tengine_litert::give_option(op, kLiteRtOpCodeTflFullyConnected, out_format, uint32_t{0});
}
inline LiteRtStatus LiteRtGetFullyConnectedKeepNumDimsOption(LiteRtOp op, bool* out_is_kept)
{
    return tengine_litert::give_attribute(op, kLiteRtOpCodeTflFullyConnected, out_is_kept,
                                          "keep_num_dims");
}
inline LiteRtStatus LiteRtFullyConnectedGetQuantizedBiasTypeOption(LiteRtOp op, uint32_t* out_type)
{
    return tengine_litert::give_option(op, kLiteRtOpCodeTflFullyConnected, out_type, uint32_t{0});
}
inline LiteRtStatus LiteRtGetFullyConnectedAsymmetricQuantizeInputOption(LiteRtOp op, bool* out_is)
{
    return tengine_litert::give_option(op, kLiteRtOpCodeTflFullyConnected, out_is, false);
}
// Whether it is the approximation with tanh.
inline LiteRtStatus LiteRtGetGeluApproximateOption(LiteRtOp op, bool* out_is_approximate)
{
    return tengine_litert::give_option(
        op, kLiteRtOpCodeTflGelu, out_is_approximate,
        get_ir_node_int(op->node, "approximate", 0) != 0 ||
            std::strcmp(get_ir_node_text(op->node, "approximate", "none"), "tanh") == 0);
}
inline LiteRtStatus LiteRtGetLeakyReluAlphaOption(LiteRtOp op, float* out_alpha)
{
    return tengine_litert::give_option(op, kLiteRtOpCodeTflLeakyRelu, out_alpha,
                                       get_ir_node_float(op->node, "alpha", 0.01f));
}
inline LiteRtStatus LiteRtGetSoftmaxBetaOption(LiteRtOp op, float* out_beta)
{
    return tengine_litert::give_option(op, kLiteRtOpCodeTflSoftmax, out_beta,
                                       get_ir_node_float(op->node, "beta", 1.0f));
}

TENGINE_LITERT_END
