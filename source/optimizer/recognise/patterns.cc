// SPDX-License-Identifier: Apache-2.0
// The forms in which exporters write these functions; where they come from stands beside them.
#include "optimizer/recognise/pattern.h"

namespace tengine {
namespace {

constexpr Pattern kPatternRows[] = {
    // Hendrycks, Gimpel, "Gaussian Error Linear Units", 2016: PyTorch's and TensorFlow's, and the
    // approximation that language models have.
    {"Gelu", "none", "Mul(Mul(x, erf_gate), half)"},
    {"Gelu", "none", "Mul(Mul(x, half), erf_gate)"},
    {"Gelu", "none", "Mul(x, Mul(erf_gate, half))"},
    {"Gelu", "tanh", "Mul(Mul(x, tanh_gate), half)"},
    {"Gelu", "tanh", "Mul(Mul(x, half), tanh_gate)"},
    {"Gelu", "tanh", "Mul(x, Mul(tanh_gate, half))"},
    // SiLU, and CLIP's approximation of Gelu.
    {"Swish", nullptr, "Mul(x, Sigmoid(x))"},
    {"Swish", nullptr, "Mul(x, Sigmoid(Mul(x, alpha)))"},
    // MobileNet v3; PyTorch's before opset 14, and Paddle's.
    {"HardSwish", nullptr, "Mul(x, hard_gate)"},
    {"HardSwish", nullptr, "Div(Mul(x, relu6), six)"},
    {"HardSwish", nullptr, "Mul(Mul(x, relu6), sixth)"},
    // Ba, Kiros, Hinton, "Layer Normalization", 2016: PyTorch's before opset 17.
    {"LayerNormalization", nullptr, "Add(Mul(normal, scale), bias)"},
    {"LayerNormalization", nullptr, "Mul(normal, scale)"},
    // Zhang, Sennrich, "Root Mean Square Layer Normalization", 2019: language models.
    {"RMSNormalization", nullptr, "Mul(rms_normal, scale)"},
    // Vaswani et al., "Attention Is All You Need", 2017; "keys" has the keys in its columns.
    {"Attention", nullptr, "MatMul(Softmax(scores), values)"},
    // Su et al., "RoFormer", 2021: Hugging Face's, with tables of the width of x, and those of the
    // definition, with tables of the width of its halves. Tmfiles have Reshape for Unsqueeze.
    {"RotaryEmbedding", nullptr, "Add(Mul(turned, sines), Mul(x, cosines))"},
    {"RotaryEmbedding", nullptr,
     "Concat(Sub(Mul(front, cosines), Mul(back, sines)), "
     "Add(Mul(back, cosines), Mul(front, sines)))"},
    {"RotaryEmbedding", nullptr,
     "Reshape(Concat(Unsqueeze(Sub(Mul(even, cosines), Mul(odd, sines))), "
     "Unsqueeze(Add(Mul(odd, cosines), Mul(even, sines)))))"},
    {"RotaryEmbedding", nullptr,
     "Reshape(Concat(Reshape(Sub(Mul(even, cosines), Mul(odd, sines))), "
     "Reshape(Add(Mul(odd, cosines), Mul(even, sines)))))"},
};

constexpr PatternPart kPartRows[] = {
    {"erf_gate", "Add(Erf(Div(x, root_2)), one)"},
    {"erf_gate", "Add(Erf(Mul(x, root_half)), one)"},
    {"tanh_gate", "Add(Tanh(Mul(Add(x, Mul(cube, cubic)), root_2_by_pi)), one)"},
    {"cube", "Pow(x, three)"},
    {"cube", "Mul(Mul(x, x), x)"},
    {"relu6", "Clip(Add(x, three), zero, six)"},
    {"hard_gate", "HardSigmoid(x)"},
    {"hard_gate", "Div(relu6, six)"},
    {"hard_gate", "Mul(relu6, sixth)"},
    {"normal", "Div(centred, deviation)"},
    {"centred", "Sub(x, ReduceMean(x))"},
    {"deviation", "Sqrt(Add(ReduceMean(square), epsilon))"},
    {"square", "Pow(centred, two)"},
    {"square", "Mul(centred, centred)"},
    {"rms_normal", "Div(x, root_mean)"},
    {"rms_normal", "Mul(x, Reciprocal(root_mean))"},
    {"rms_normal", "Mul(x, Div(one, root_mean))"},
    {"root_mean", "Sqrt(Add(ReduceMean(x_square), epsilon))"},
    {"x_square", "Pow(x, two)"},
    {"x_square", "Mul(x, x)"},
    {"scores", "scaled_product"},
    {"scores", "Add(scaled_product, mask)"},
    {"scaled_product", "product"},
    {"scaled_product", "Mul(product, factor)"},
    {"scaled_product", "Div(product, divisor)"},
    {"product", "MatMul(queries, keys)"},
    {"turned", "Concat(Neg(back), front)"},
    {"turned", "Reshape(Concat(Unsqueeze(Neg(odd)), Unsqueeze(even)))"},
    {"turned", "Reshape(Concat(Reshape(Neg(odd)), Reshape(even)))"},
};

constexpr PatternPiece kPieceRows[] = {
    {"front", false, false},
    {"back", true, false},
    {"even", false, true},
    {"odd", true, true},
};

constexpr PatternNumber kNumberRows[] = {
    {"zero", 0},
    {"one", 1},
    {"two", 2},
    {"three", 3},
    {"six", 6},
    {"half", 0.5},
    {"sixth", 1.0 / 6},
    {"root_2", 1.41421356237309504880},
    {"root_half", 0.70710678118654752440},
    {"root_2_by_pi", 0.79788456080286535588},
    {"cubic", 0.044715},
};

template <class Row, size_t number>
constexpr PatternTable<Row> list(const Row (&rows)[number])
{
    return {rows, number};
}

}  // namespace

const PatternTable<Pattern> kPatterns = list(kPatternRows);
const PatternTable<PatternPart> kPatternParts = list(kPartRows);
const PatternTable<PatternPiece> kPatternPieces = list(kPieceRows);
const PatternTable<PatternNumber> kPatternNumbers = list(kNumberRows);

}  // namespace tengine
