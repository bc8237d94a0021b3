// SPDX-License-Identifier: Apache-2.0
// The rule of each operator; bound.h describes the rules.
#include <algorithm>
#include <iterator>

#include "verify/bound.h"

namespace tengine::tools {
namespace {

constexpr const char* kExactOnes[] = {"Abs",
                                      "And",
                                      "ArgMax",
                                      "ArgMin",
                                      "BitShift",
                                      "BitwiseAnd",
                                      "BitwiseNot",
                                      "BitwiseOr",
                                      "BitwiseXor",

                                      "Ceil",
                                      "Clip",
                                      "Compress",
                                      "Concat",
                                      "ConstantOfShape",
                                      "ConvInteger",
                                      "DepthToSpace",
                                      "Dropout",
                                      "Equal",
                                      "Expand",
                                      "EyeLike",
                                      "Flatten",
                                      "Floor",
                                      "Gather",
                                      "GatherElements",
                                      "GatherND",
                                      "GlobalMaxPool",
                                      "Greater",
                                      "GreaterOrEqual",
                                      "Hardmax",
                                      "Identity",
                                      "IsInf",
                                      "IsNaN",
                                      "Less",
                                      "LessOrEqual",
                                      "MatMulInteger",
                                      "Max",
                                      "MaxPool",
                                      "MaxUnpool",
                                      "Min",
                                      "Mod",
                                      "Neg",
                                      "NonMaxSuppression",
                                      "NonZero",
                                      "Not",
                                      "OneHot",
                                      "Or",
                                      "Pad",
                                      "Range",
                                      "ReduceMax",
                                      "ReduceMin",
                                      "Relu",
                                      "Reshape",
                                      "ReverseSequence",
                                      "Round",
                                      "ScatterElements",
                                      "ScatterND",
                                      "Shape",
                                      "Sign",
                                      "Size",
                                      "Slice",
                                      "SpaceToDepth",
                                      "Split",
                                      "Squeeze",
                                      "ThresholdedRelu",
                                      "Tile",
                                      "TopK",
                                      "Transpose",
                                      "Trilu",
                                      "Unique",
                                      "Unsqueeze",
                                      "Where",
                                      "Xor",
                                      "tengine.Lookup"};

constexpr const char* kRoundedOnes[] = {"Add",       "Cast", "CastLike", "DequantizeLinear",
                                        "LeakyRelu", "Mul",  "PRelu",    "Sub"};

constexpr const char* kSums[] = {
    "AveragePool",       "Conv",   "ConvTranspose", "CumSum",   "Einsum",     "Gemm",
    "GlobalAveragePool", "MatMul", "Mean",          "ReduceL1", "ReduceMean", "ReduceSum",
    "ReduceSumSquare",   "Sum"};

constexpr const char* kFunctions[] = {
    "Acos", "Acosh",    "Asin",     "Asinh",      "Atan",  "Atanh",  "Celu",        "Cos",
    "Cosh", "Div",      "Elu",      "Erf",        "Exp",   "Gelu",   "HardSigmoid", "HardSwish",
    "Log",  "Mish",     "Pow",      "Reciprocal", "Selu",  "Shrink", "Sigmoid",     "Sin",
    "Sinh", "Softplus", "Softsign", "Sqrt",       "Swish", "Tan",    "Tanh"};

constexpr const char* kStepped[] = {"DynamicQuantizeLinear",
                                    "QLinearConv",
                                    "QLinearMatMul",
                                    "QuantizeLinear",
                                    "com.microsoft.QGemm",
                                    "com.microsoft.QLinearAdd",
                                    "com.microsoft.QLinearAveragePool",
                                    "com.microsoft.QLinearGlobalAveragePool",
                                    "com.microsoft.QLinearMul",
                                    "com.microsoft.QLinearSoftmax",
                                    "tengine.QLinearLayerNormalization"};

constexpr const char* kRandomOnes[] = {"Bernoulli",        "Multinomial",   "RandomNormal",
                                       "RandomNormalLike", "RandomUniform", "RandomUniformLike"};

constexpr const char* kDifferences[] = {"Acosh", "Asinh", "Atanh", "Celu", "Elu",      "Erf",
                                        "Gelu",  "Mish",  "Selu",  "Sinh", "Softplus", "Tanh"};

template <size_t number>
bool contains(const char* const (&names)[number], const std::string& op)
{
    return std::any_of(std::begin(names), std::end(names),
                       [&](const char* name) { return op == name; });
}

}  // namespace

Rule rule_of(const std::string& op)
{
    if (contains(kExactOnes, op)) return Rule::kExact;
    if (contains(kRoundedOnes, op)) return Rule::kRounded;
    if (contains(kSums, op)) return Rule::kSum;
    if (contains(kFunctions, op)) return Rule::kFunction;
    if (contains(kStepped, op)) return Rule::kSteps;
    if (contains(kRandomOnes, op)) return Rule::kRandom;
    return Rule::kNorm;
}

bool is_difference(const std::string& op)
{
    return contains(kDifferences, op);
}

}  // namespace tengine::tools
