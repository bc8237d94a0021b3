// SPDX-License-Identifier: Apache-2.0
// The expressions that models have in several nodes for what one operator of ONNX computes
// (patterns.cc), and the search for one in a graph (matcher.h).
#pragma once

#include <cstddef>

namespace tengine {

// The nodes of an expression are written as functions of their inputs, as in "Mul(x, Sigmoid(x))";
// those of Add and Mul come in any order. A name without inputs is an operand, a number, a piece or
// a part.
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

// One element of each pair in the last axis of x. The elements of a pair are beside each other
// (interleaved), or half of the axis apart.
struct PatternPiece
{
    const char* name;
    bool is_second;
    bool is_interleaved;
};

// Constants of one element of about this value.
struct PatternNumber
{
    const char* name;
    double value;
};

// The tensors that patterns name, those that become inputs of the operator first, in their order.
enum PatternOperand
{
    kOperandX,
    kOperandScale,
    kOperandBias,
    kOperandQueries,
    kOperandKeys,
    kOperandValues,
    kOperandMask,
    kOperandCosines,
    kOperandSines,
    kOperandEpsilon,
    kOperandAlpha,
    kOperandFactor,
    kOperandDivisor,
    kOperandNum
};

enum class OperandKind
{
    kVariable,  // not a constant
    kTensor,
    kList,    // a constant with an element for each of the last axis of x
    kNumber,  // a constant of one element, which becomes an attribute
};

struct OperandRule
{
    const char* name;
    OperandKind kind;
    const char* attribute;  // of a number
};
constexpr OperandRule kOperandRules[kOperandNum] = {
    {"x", OperandKind::kVariable, nullptr},     {"scale", OperandKind::kList, nullptr},
    {"bias", OperandKind::kList, nullptr},      {"queries", OperandKind::kTensor, nullptr},
    {"keys", OperandKind::kTensor, nullptr},    {"values", OperandKind::kTensor, nullptr},
    {"mask", OperandKind::kTensor, nullptr},    {"cosines", OperandKind::kTensor, nullptr},
    {"sines", OperandKind::kTensor, nullptr},   {"epsilon", OperandKind::kNumber, "epsilon"},
    {"alpha", OperandKind::kNumber, "alpha"},   {"factor", OperandKind::kNumber, "scale"},
    {"divisor", OperandKind::kNumber, "scale"},
};

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
extern const PatternTable<PatternPiece> kPatternPieces;
extern const PatternTable<PatternNumber> kPatternNumbers;

}  // namespace tengine
