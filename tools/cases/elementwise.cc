// SPDX-License-Identifier: Apache-2.0
// Operators of one tensor, element by element.
#include "cases/case.h"

namespace tengine::tools {
namespace {

using Shapes = std::vector<std::vector<int>>;

const Shapes& list_shapes()
{
    static const Shapes shapes = {{},    {1}, {7}, {33}, {2, 65}, {2, 3, 5, 13}, {1, 64, 9, 11},
                                  {0, 3}};
    return shapes;
}

// Around the lengths of vectors, and enough for several threads.
const Shapes& list_lengths()
{
    static const Shapes shapes = {{13}, {16}, {17}, {31}, {1001}, {2, 33000}};
    return shapes;
}

struct Unary
{
    const char* op;
    double low, high;
};

// Ranges are those where the function is defined and its result far from overflow in fp16.
constexpr Unary kFunctions[] = {
    {"Acos", -1, 1},        {"Acosh", 1.1, 4},    {"Asin", -1, 1},
    {"Asinh", -4, 4},       {"Atan", -4, 4},      {"Atanh", -0.9, 0.9},
    {"Ceil", -5, 5},        {"Celu", -4, 4},      {"Cos", -6, 6},
    {"Cosh", -4, 4},        {"Elu", -5, 5},       {"Erf", -3, 3},
    {"Exp", -5, 5},         {"Floor", -5, 5},     {"Gelu", -5, 5},
    {"HardSigmoid", -5, 5}, {"HardSwish", -5, 5}, {"LeakyRelu", -5, 5},
    {"Log", 0.1, 5},        {"Mish", -5, 5},      {"Reciprocal", 0.2, 3},
    {"Round", -5, 5},       {"Selu", -5, 5},      {"Sigmoid", -8, 8},
    {"Sin", -6, 6},         {"Sinh", -4, 4},      {"Softplus", -5, 5},
    {"Softsign", -5, 5},    {"Sqrt", 0, 5},       {"Swish", -5, 5},
    {"Tan", -1.2, 1.2},     {"Tanh", -5, 5},      {"ThresholdedRelu", -3, 3},
};

void add_unary(const Unary& unary, const Types& types, const Types& outputs,
               std::vector<Case>* cases)
{
    const auto add = [&](const Shapes& shapes, const Types& in) {
        for (const std::vector<int>& shape : shapes) {
            Case made = {unary.op, {fed(shape)}};
            made.low = unary.low;
            made.high = unary.high;
            made.types = in;
            made.outputs = outputs;
            cases->push_back(made);
        }
    };
    add(list_shapes(), types);
    if (const Types few = few_types(types); !few.empty()) add(list_lengths(), few);
}

// Attributes that are not the defaults.
void add_factors(std::vector<Case>* cases)
{
    const auto add = [&](const char* op, const std::vector<std::pair<std::string, float>>& floats) {
        for (const std::vector<int>& shape : Shapes{{37}, {2, 3, 5, 13}}) {
            Case made = {op, {fed(shape)}};
            made.floats = floats;
            made.low = -5;
            made.high = 5;
            made.types = float_types();
            cases->push_back(made);
        }
    };
    add("LeakyRelu", {{"alpha", 0.3F}});
    add("HardSigmoid", {{"alpha", 0.4F}, {"beta", 0.1F}});
    add("Swish", {{"alpha", 1.702F}});
}

void add_clips(std::vector<Case>* cases)
{
    const auto add = [&](const std::vector<int>& shape, const Types& types) {
        for (const std::vector<Operand>& bounds : std::vector<std::vector<Operand>>{
                 {}, {number(1), number(3)}, {absent(), number(2)}, {number(1)}}) {
            Case made = {"Clip", {fed(shape)}};
            made.inputs.insert(made.inputs.end(), bounds.begin(), bounds.end());
            made.low = -5;
            made.high = 5;
            made.types = types;
            cases->push_back(made);
        }
    };
    for (const std::vector<int>& shape : list_shapes())
        add(shape, number_types());
    for (const std::vector<int>& shape : list_lengths())
        add(shape, few_types(number_types()));
}

void add_casts(std::vector<Case>* cases)
{
    for (const auto& [to, type] : std::vector<std::pair<int, int>>{{1, TENGINE_DT_FP32},
                                                                   {10, TENGINE_DT_FP16},
                                                                   {16, TENGINE_DT_BF16},
                                                                   {11, TENGINE_DT_FP64},
                                                                   {3, TENGINE_DT_INT8},
                                                                   {6, TENGINE_DT_INT32},
                                                                   {7, TENGINE_DT_INT64},
                                                                   {9, TENGINE_DT_BOOL}}) {
        for (const std::vector<int>& shape : Shapes{{33}, {2, 3, 5, 13}}) {
            Case made = {"Cast", {fed(shape)}};
            made.ints = {{"to", to}};
            made.low = -9;
            made.high = 9;
            made.types = all_types();
            made.outputs = {type};
            cases->push_back(made);
        }
    }
}

}  // namespace

void add_elementwise_cases(std::vector<Case>* cases)
{
    for (const Unary& unary : kFunctions)
        add_unary(unary, float_types(), {kCaseType}, cases);
    for (const char* op : {"Abs", "Sign", "Shrink"})
        add_unary({op, -5, 5}, number_types(), {kCaseType}, cases);
    Types signed_types = float_types();
    for (const int type : {TENGINE_DT_INT8, TENGINE_DT_INT16, TENGINE_DT_INT32, TENGINE_DT_INT64})
        signed_types.push_back(type);
    for (const char* op : {"Neg", "Relu"})
        add_unary({op, -5, 5}, signed_types, {kCaseType}, cases);
    add_unary({"Identity", -5, 5}, all_types(), {kCaseType}, cases);
    add_unary({"Not", 0, 1}, {TENGINE_DT_BOOL}, {kCaseType}, cases);
    add_unary({"BitwiseNot", -9, 9}, integer_types(), {kCaseType}, cases);
    add_unary({"IsNaN", -5, 5}, float_types(), {TENGINE_DT_BOOL}, cases);
    add_unary({"IsInf", -5, 5}, float_types(), {TENGINE_DT_BOOL}, cases);
    add_unary({"Dropout", -5, 5}, float_types(), {kCaseType}, cases);
    add_factors(cases);
    add_clips(cases);
    add_casts(cases);
}

}  // namespace tengine::tools
