// SPDX-License-Identifier: Apache-2.0
// The expressions that models have in several nodes for what one operator of ONNX computes
// (patterns.cc), and the search for one in a graph (matcher.h).
#pragma once

#include <cstddef>

namespace tengine {

// The nodes of an expression are written as functions of their inputs, as in "Mul(x, Sigmoid(x))";
// those of Add and Mul come in any order. A name without inputs is an operand, a number or a part.
struct Pattern
{
    const char* op;           // ONNX's operator that computes the same
    const char* approximate;  // that attribute of a Gelu; null: not given
    const char* nodes;
};

// Expressions that patterns name. Parts of one name are alternatives.
struct PatternPart
{
    const char* name;
    const char* nodes;
};

// Constants of one element of about this value.
struct PatternNumber
{
    const char* name;
    double value;
};

// The tensors that patterns name. All are the input "x" and constants: of one element, which become
// attributes of these names, or lists of an element for each of the last axis of x, which become
// inputs.
enum PatternOperand
{
    kOperandX,
    kOperandScale,
    kOperandBias,
    kOperandEpsilon,
    kOperandAlpha,
    kOperandNum
};
constexpr const char* kOperandNames[kOperandNum] = {"x", "scale", "bias", "epsilon", "alpha"};

constexpr bool is_attribute(int operand)
{
    return operand == kOperandEpsilon || operand == kOperandAlpha;
}

template <class Row>
struct PatternTable
{
    const Row* rows;
    size_t number;
    const Row* begin() const { return rows; }
    const Row* end() const { return rows + number; }
};

// Where several patterns fit, the first is meant.
extern const PatternTable<Pattern> kPatterns;
extern const PatternTable<PatternPart> kPatternParts;
extern const PatternTable<PatternNumber> kPatternNumbers;

}  // namespace tengine
