// SPDX-License-Identifier: Apache-2.0
// The operators of a model as a delegate sees them. Part of tengine/delegate.hpp. Names are those
// of MindSpore Lite's schema; numbers are not, since no file has them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tengine/ir.h"

namespace tengine::delegate::schema {

enum PrimitiveType
{
    PrimitiveType_NONE,
    PrimitiveType_Abs,
    PrimitiveType_Activation,
    PrimitiveType_AddFusion,
    PrimitiveType_ArgMaxFusion,
    PrimitiveType_ArgMinFusion,
    PrimitiveType_AvgPoolFusion,
    PrimitiveType_BatchNorm,
    PrimitiveType_Cast,
    PrimitiveType_Ceil,
    PrimitiveType_Concat,
    PrimitiveType_Conv2DFusion,
    PrimitiveType_Conv2dTransposeFusion,
    PrimitiveType_Cos,
    PrimitiveType_Custom,  // an operator without a name here, or with other operands
    PrimitiveType_DivFusion,
    PrimitiveType_Equal,
    PrimitiveType_Erf,
    PrimitiveType_ExpFusion,
    PrimitiveType_Flatten,
    PrimitiveType_Floor,
    PrimitiveType_Gather,
    PrimitiveType_Greater,
    PrimitiveType_GRU,
    PrimitiveType_InstanceNorm,
    PrimitiveType_LayerNormFusion,
    PrimitiveType_Less,
    PrimitiveType_Log,
    PrimitiveType_LogicalAnd,
    PrimitiveType_LogicalNot,
    PrimitiveType_LogicalOr,
    PrimitiveType_LRN,
    PrimitiveType_LSTM,
    PrimitiveType_MatMulFusion,
    PrimitiveType_Maximum,
    PrimitiveType_MaxPoolFusion,
    PrimitiveType_Minimum,
    PrimitiveType_MulFusion,
    PrimitiveType_Neg,
    PrimitiveType_PadFusion,
    PrimitiveType_PowFusion,
    PrimitiveType_PReLUFusion,
    PrimitiveType_Reciprocal,
    PrimitiveType_Reshape,
    PrimitiveType_Resize,
    PrimitiveType_Shape,
    PrimitiveType_Sin,
    PrimitiveType_Softmax,
    PrimitiveType_Split,
    PrimitiveType_Sqrt,
    PrimitiveType_Squeeze,
    PrimitiveType_StridedSlice,
    PrimitiveType_SubFusion,
    PrimitiveType_TileFusion,
    PrimitiveType_TopKFusion,
    PrimitiveType_Transpose,
    PrimitiveType_Unsqueeze,
    PrimitiveType_Where,
};

enum ActivationType
{
    ActivationType_NO_ACTIVATION,
    ActivationType_RELU,
    ActivationType_SIGMOID,
    ActivationType_ELU,
    ActivationType_LEAKY_RELU,
    ActivationType_SOFTSIGN,
    ActivationType_SOFTPLUS,
    ActivationType_TANH,
    ActivationType_SELU,
    ActivationType_HSWISH,
    ActivationType_HSIGMOID,
    ActivationType_GELU,
};

enum PadMode
{
    PadMode_PAD,  // as pad_list says
    PadMode_SAME,
    PadMode_VALID,
};

// A list of an operator's attribute, with the access that flatbuffers has.
class Int64List
{
  public:
    explicit Int64List(std::vector<int64_t> values) : values_(std::move(values)) {}
    uint32_t size() const { return static_cast<uint32_t>(values_.size()); }
    int64_t Get(uint32_t index) const { return values_.at(index); }
    int64_t operator[](uint32_t index) const { return values_.at(index); }
    auto begin() const { return values_.begin(); }
    auto end() const { return values_.end(); }

  private:
    std::vector<int64_t> values_;
};

// An operator with its attributes. It belongs to the model and is valid during Delegate::Build.
class Primitive
{
  public:
    explicit Primitive(const struct node& node)
        : node_(&node),
          type_(FindType(node)),
          kernel_size_(KernelSize()),
          stride_(Ints("strides", 2, 1)),
          dilation_(Ints("dilations", 2, 1)),
          pad_list_(Pads())
    {
    }

    PrimitiveType value_type() const { return type_; }

    // The operator itself, in ONNX's terms: its name, its domain ("" is ONNX's) and its attributes
    // by their names; the second argument is returned when the operator has no such attribute.
    const char* Operator() const { return get_ir_node_op(node_); }
    const char* Domain() const { return get_ir_node_domain(node_); }
    int64_t Int(const char* name, int64_t otherwise) const
    {
        return get_ir_node_int(node_, name, otherwise);
    }
    float Float(const char* name, float otherwise) const
    {
        return get_ir_node_float(node_, name, otherwise);
    }
    std::string Text(const char* name, const char* otherwise) const
    {
        return get_ir_node_text(node_, name, otherwise);
    }
    std::vector<int64_t> Ints(const char* name) const
    {
        int number = 0;
        const int64_t* values = get_ir_node_ints(node_, name, &number);
        return {values, values + number};
    }

    // The attributes in MindSpore Lite's terms; nullptr for another operator. One object serves all
    // operators; members that an operator does not have are meaningless.
    const Primitive* value_as_Activation() const { return As(PrimitiveType_Activation); }
    const Primitive* value_as_AvgPoolFusion() const { return As(PrimitiveType_AvgPoolFusion); }
    const Primitive* value_as_Concat() const { return As(PrimitiveType_Concat); }
    const Primitive* value_as_Conv2DFusion() const { return As(PrimitiveType_Conv2DFusion); }
    const Primitive* value_as_AddFusion() const { return As(PrimitiveType_AddFusion); }
    const Primitive* value_as_MatMulFusion() const { return As(PrimitiveType_MatMulFusion); }
    const Primitive* value_as_MaxPoolFusion() const { return As(PrimitiveType_MaxPoolFusion); }
    const Primitive* value_as_MulFusion() const { return As(PrimitiveType_MulFusion); }
    const Primitive* value_as_Softmax() const { return As(PrimitiveType_Softmax); }

    // The function of an Activation; none for other operators, since no activation is merged into
    // them.
    ActivationType activation_type() const
    {
        return type_ == PrimitiveType_Activation ? FindActivation(Operator())
                                                 : ActivationType_NO_ACTIVATION;
    }
    float alpha() const { return Float("alpha", 0.0f); }
    // Height and width.
    const Int64List* kernel_size() const { return &kernel_size_; }
    const Int64List* stride() const { return &stride_; }
    const Int64List* strides() const { return &stride_; }
    const Int64List* dilation() const { return &dilation_; }
    PadMode pad_mode() const
    {
        const std::string mode = Text("auto_pad", "NOTSET");
        return mode == "NOTSET" ? PadMode_PAD : mode == "VALID" ? PadMode_VALID : PadMode_SAME;
    }
    // Top, bottom, left, right.
    const Int64List* pad_list() const { return &pad_list_; }
    const Int64List* pad() const { return &pad_list_; }
    int64_t group() const { return Int("group", 1); }
    int64_t in_channel() const { return WeightDim(1) * group(); }
    int64_t out_channel() const { return WeightDim(0); }
    bool transpose_a() const { return Int("transA", 0) != 0; }
    bool transpose_b() const { return Int("transB", 0) != 0; }
    // The axis of a Concat or a Softmax.
    int64_t axis() const { return Int("axis", -1); }

  private:
    static ActivationType FindActivation(const std::string& name)
    {
        static const std::pair<const char*, ActivationType> activations[] = {
            {"Relu", ActivationType_RELU},         {"Sigmoid", ActivationType_SIGMOID},
            {"Elu", ActivationType_ELU},           {"LeakyRelu", ActivationType_LEAKY_RELU},
            {"Softsign", ActivationType_SOFTSIGN}, {"Softplus", ActivationType_SOFTPLUS},
            {"Tanh", ActivationType_TANH},         {"Selu", ActivationType_SELU},
            {"HardSwish", ActivationType_HSWISH},  {"HardSigmoid", ActivationType_HSIGMOID},
            {"Gelu", ActivationType_GELU},
        };
        for (const auto& entry : activations)
            if (name == entry.first) return entry.second;
        return ActivationType_NO_ACTIVATION;
    }

    static constexpr std::pair<const char*, PrimitiveType> kTypes[] = {
        {"Abs", PrimitiveType_Abs},
        {"Add", PrimitiveType_AddFusion},
        {"And", PrimitiveType_LogicalAnd},
        {"ArgMax", PrimitiveType_ArgMaxFusion},
        {"ArgMin", PrimitiveType_ArgMinFusion},
        {"AveragePool", PrimitiveType_AvgPoolFusion},
        {"BatchNormalization", PrimitiveType_BatchNorm},
        {"Cast", PrimitiveType_Cast},
        {"Ceil", PrimitiveType_Ceil},
        {"Concat", PrimitiveType_Concat},
        {"Conv", PrimitiveType_Conv2DFusion},
        {"ConvTranspose", PrimitiveType_Conv2dTransposeFusion},
        {"Cos", PrimitiveType_Cos},
        {"Div", PrimitiveType_DivFusion},
        {"Equal", PrimitiveType_Equal},
        {"Erf", PrimitiveType_Erf},
        {"Exp", PrimitiveType_ExpFusion},
        {"Flatten", PrimitiveType_Flatten},
        {"Floor", PrimitiveType_Floor},
        {"GRU", PrimitiveType_GRU},
        {"Gather", PrimitiveType_Gather},
        {"Gemm", PrimitiveType_MatMulFusion},
        {"Greater", PrimitiveType_Greater},
        {"InstanceNormalization", PrimitiveType_InstanceNorm},
        {"LRN", PrimitiveType_LRN},
        {"LSTM", PrimitiveType_LSTM},
        {"LayerNormalization", PrimitiveType_LayerNormFusion},
        {"Less", PrimitiveType_Less},
        {"Log", PrimitiveType_Log},
        {"MatMul", PrimitiveType_MatMulFusion},
        {"Max", PrimitiveType_Maximum},
        {"MaxPool", PrimitiveType_MaxPoolFusion},
        {"Min", PrimitiveType_Minimum},
        {"Mul", PrimitiveType_MulFusion},
        {"Neg", PrimitiveType_Neg},
        {"Not", PrimitiveType_LogicalNot},
        {"Or", PrimitiveType_LogicalOr},
        {"PRelu", PrimitiveType_PReLUFusion},
        {"Pad", PrimitiveType_PadFusion},
        {"Pow", PrimitiveType_PowFusion},
        {"Reciprocal", PrimitiveType_Reciprocal},
        {"Reshape", PrimitiveType_Reshape},
        {"Resize", PrimitiveType_Resize},
        {"Shape", PrimitiveType_Shape},
        {"Sin", PrimitiveType_Sin},
        {"Slice", PrimitiveType_StridedSlice},
        {"Softmax", PrimitiveType_Softmax},
        {"Split", PrimitiveType_Split},
        {"Sqrt", PrimitiveType_Sqrt},
        {"Squeeze", PrimitiveType_Squeeze},
        {"Sub", PrimitiveType_SubFusion},
        {"Tile", PrimitiveType_TileFusion},
        {"TopK", PrimitiveType_TopKFusion},
        {"Transpose", PrimitiveType_Transpose},
        {"Unsqueeze", PrimitiveType_Unsqueeze},
        {"Where", PrimitiveType_Where},
    };

    static PrimitiveType FindByName(const std::string& name)
    {
        for (const auto& entry : kTypes)
            if (name == entry.first) return entry.second;
        return FindActivation(name) == ActivationType_NO_ACTIVATION ? PrimitiveType_Custom
                                                                    : PrimitiveType_Activation;
    }

    // Convolution and pooling have two spatial axes here, and a product has neither factors nor
    // more than two operands that are multiplied or added.
    static PrimitiveType FindType(const struct node& node)
    {
        if (*get_ir_node_domain(&node) != '\0') return PrimitiveType_Custom;
        const PrimitiveType type = FindByName(get_ir_node_op(&node));
        const struct tensor* input = get_ir_node_input(&node, 0);
        const bool image =
            type == PrimitiveType_Conv2DFusion || type == PrimitiveType_Conv2dTransposeFusion ||
            type == PrimitiveType_AvgPoolFusion || type == PrimitiveType_MaxPoolFusion;
        const bool scaled = type == PrimitiveType_MatMulFusion &&
                            (get_ir_node_float(&node, "alpha", 1.0f) != 1.0f ||
                             get_ir_node_float(&node, "beta", 1.0f) != 1.0f);
        return scaled || (image && (!input || input->dim_num != 4)) ? PrimitiveType_Custom : type;
    }

    const Primitive* As(PrimitiveType type) const { return type_ == type ? this : nullptr; }
    std::vector<int64_t> Ints(const char* name, size_t number, int64_t otherwise) const
    {
        std::vector<int64_t> values = Ints(name);
        if (values.size() != number) values.assign(number, otherwise);
        return values;
    }
    // A convolution without the attribute uses the shape of its weights.
    std::vector<int64_t> KernelSize() const
    {
        const std::vector<int64_t> size = Ints("kernel_shape");
        const bool from_weight = size.empty() && WeightDim(3) > 0;
        return from_weight ? std::vector<int64_t>{WeightDim(2), WeightDim(3)}
                           : Ints("kernel_shape", 2, 1);
    }
    // ONNX has the begins of both dimensions before the ends.
    std::vector<int64_t> Pads() const
    {
        const std::vector<int64_t> pads = Ints("pads", 4, 0);
        return {pads[0], pads[2], pads[1], pads[3]};
    }
    int64_t WeightDim(int index) const
    {
        const struct tensor* weight = get_ir_node_input(node_, 1);
        return weight && index < weight->dim_num ? weight->dims[index] : 0;
    }

    const struct node* node_;
    PrimitiveType type_;
    Int64List kernel_size_;
    Int64List stride_;
    Int64List dilation_;
    Int64List pad_list_;
};

}  // namespace tengine::delegate::schema
