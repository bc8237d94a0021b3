// SPDX-License-Identifier: Apache-2.0
// Operators of two tensors and more, element by element, with broadcasting.
#include "cases/case.h"

namespace tengine::tools {
namespace {

using Pair = std::pair<Operand, Operand>;

std::vector<Pair> list_pairs()
{
    return {{fed({}), fed({})},
            {fed({1}), fed({1})},
            {fed({7}), fed({7})},
            {fed({33}), fed({33})},
            {fed({2, 5, 7, 9}), fed({2, 5, 7, 9})},
            {fed({1, 64, 9, 11}), fed({1, 64, 9, 11})},
            {fed({7, 33}), constant({1})},
            {constant({}), fed({7, 33})},
            {fed({2, 5, 7, 9}), constant({5, 1, 1})},
            {constant({5, 1, 1}), fed({2, 5, 7, 9})},
            {fed({2, 3, 17}), fed({17})},
            {fed({2, 3, 17}), fed({3, 1})},
            {fed({3, 1, 17}), fed({1, 5, 1})},
            {fed({1, 8, 13, 13}), fed({1, 8, 1, 1})},
            {fed({0, 4}), fed({4})}};
}

// Longer than a vector, than many, and enough for several threads.
std::vector<Pair> list_long_pairs()
{
    return {{fed({17}), fed({17})}, {fed({5, 1}), fed({5, 1100})}, {fed({40000}), fed({40000})}};
}

void add_pairs(const Case& like, std::vector<Case>* cases)
{
    const auto add = [&](const std::vector<Pair>& pairs, const Types& types) {
        for (const auto& [a, b] : pairs) {
            cases->push_back(like);
            cases->back().inputs = {a, b};
            cases->back().types = types;
        }
    };
    add(list_pairs(), like.types);
    if (const Types few = few_types(like.types); !few.empty()) add(list_long_pairs(), few);
}

Case make(const char* op, const Types& types, double low = -1, double high = 1)
{
    Case made;
    made.op = op;
    made.types = types;
    made.low = low;
    made.high = high;
    return made;
}

void add_arithmetic(std::vector<Case>* cases)
{
    for (const char* op : {"Add", "Sub", "Mul", "Max", "Min"})
        add_pairs(make(op, number_types()), cases);
    // No divisor is 0.
    add_pairs(make("Div", number_types(), 0.25, 2), cases);
    add_pairs(make("Pow", float_types(), 0.25, 2), cases);
    for (const double exponent : {0.5, 2.0, 3.0, -1.5}) {
        Case power = make("Pow", float_types(), 0.25, 2);
        power.inputs = {fed({2, 5, 7, 9}), number(exponent)};
        cases->push_back(power);
    }
    for (const std::vector<int>& shape : std::vector<std::vector<int>>{{1}, {7}, {17}, {1001}}) {
        Case root = make("Pow", float_types(), 0, 2);
        root.inputs = {fed(shape), number(0.5)};
        cases->push_back(root);
        Case square = make("Pow", float_types(), -2, 2);
        square.inputs = {fed(shape), number(2)};
        cases->push_back(square);
    }
    for (const char* op : {"Sum", "Mean"})
        add_pairs(make(op, float_types()), cases);
    Case remainder = make("Mod", integer_types(), 0.25, 2);
    add_pairs(remainder, cases);
    remainder.ints = {{"fmod", 1}};
    remainder.types = number_types();
    add_pairs(remainder, cases);
    for (const auto& [shape, slope] :
         std::vector<std::pair<std::vector<int>, std::vector<int>>>{{{2, 5, 7, 9}, {5, 1, 1}},
                                                                    {{2, 17}, {17}},
                                                                    {{33}, {33}},
                                                                    {{33}, {1}},
                                                                    {{1, 64, 9, 9}, {64, 1, 1}}}) {
        Case made = make("PRelu", float_types());
        made.inputs = {fed(shape), constant(slope)};
        cases->push_back(made);
    }
    for (const char* op : {"Max", "Min", "Sum", "Mean"}) {
        Case made = make(op, float_types());
        made.inputs = {fed({3, 17}), fed({17}), fed({3, 1}), number(0)};
        cases->push_back(made);
    }
}

void add_logic(std::vector<Case>* cases)
{
    for (const char* op : {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}) {
        Case made = make(op, number_types());
        made.outputs = {TENGINE_DT_BOOL};
        add_pairs(made, cases);
    }
    for (const char* op : {"And", "Or", "Xor"})
        add_pairs(make(op, {TENGINE_DT_BOOL}), cases);
    for (const char* op : {"BitwiseAnd", "BitwiseOr", "BitwiseXor"})
        add_pairs(make(op, integer_types(), -12, 12), cases);
    for (const char* direction : {"LEFT", "RIGHT"}) {
        Case made = make(
            "BitShift", {TENGINE_DT_UINT8, TENGINE_DT_UINT16, TENGINE_DT_UINT32, TENGINE_DT_UINT64},
            0, 0.5);
        made.texts = {{"direction", direction}};
        add_pairs(made, cases);
    }
    for (const auto& [a, b] : list_pairs()) {
        Case made = make("Where", all_types());
        made.inputs = {a, a, b};
        made.inputs[0].data_type = TENGINE_DT_BOOL;
        cases->push_back(made);
    }
}

}  // namespace

void add_pair_cases(std::vector<Case>* cases)
{
    add_arithmetic(cases);
    add_logic(cases);
}

}  // namespace tengine::tools
