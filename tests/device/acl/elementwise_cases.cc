// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "device/acl/node_case.h"

namespace tengine::acl {
namespace {

const char* round_refusal()
{
    return sizeof(void*) > 4 ? "" : "ACL for 32 bits rounds up to 2^31 only";
}

// exp(x) is 2^m exp(x - m log 2). The last place of x = 80 is worth 2^-17, so a difference that is
// rounded to half of that is 2^-18, 32 units of the last place in the result.
constexpr float kExponentialUnits = 32;

bool has_exponential(const std::string& op)
{
    return op == "Exp" || op == "Sigmoid" || op == "Tanh" || op == "Elu";
}

// Where approximations may go wrong: near 0, at the ends of the range, and where an intermediate
// result overflows though the result does not.
void add_special_values(std::vector<NodeCase>& cases)
{
    for (const char* op : {"Relu", "Sigmoid", "Tanh", "LeakyRelu", "Elu", "HardSwish", "Exp", "Neg",
                           "Abs", "Round"}) {
        NodeCase made = {
            op, {fed_list({0,  -0.0F, 0.5F, 1.5F, 2.5F, -0.5F, -1.5F,   -2.5F, 10, -10,
                           20, -20,   50,   -50,  80,   -80,   0.4999F, -3,    3,  8.5F})}};
        made.pointwise = true;
        if (made.op == "Round") made.refusal = round_refusal();
        if (has_exponential(made.op)) made.ulps = kExponentialUnits;
        cases.push_back(made);
        made.inputs = {fed_list({100, 300, 1000, 1e6F})};
        if (made.op == "Exp") continue;
        cases.push_back(made);
        made.inputs = {fed_list({-100, -300, -1000, -1e6F})};
        cases.push_back(made);
    }
    NodeCase root = {"Sqrt", {fed_list({1e-6F, 1e-3F, 0.25F, 2, 3, 100, 1e6F, 1e20F})}};
    root.pointwise = true;
    cases.push_back(root);
    // ACL adds 1e-24 to the argument of the root.
    root.inputs = {fed_list({0, 1e-38F, 1e-30F, 1e-20F, 0, 0, 0, 0})};
    root.absolute = 1.001e-12F;
    cases.push_back(root);
    cases.push_back({"Sqrt", {fed_list({0, 1, 0, 4, 0})}});
    NodeCase large = {"Round", {fed_list({1e10F, -1e10F, 3e38F, -3e38F, 4e9F, NAN})}};
    large.pointwise = true;
    large.refusal = round_refusal();
    cases.push_back(large);
    NodeCase quotient = {"Div",
                         {fed_list({1, 3, 1e-20F, 1e20F, 7, -5, 0}),
                          fed_list({3, 1e20F, 1e10F, 1e-10F, 7, 0.1F, 2})}};
    quotient.pointwise = true;
    cases.push_back(quotient);
}

}  // namespace

void add_elementwise_cases(std::vector<NodeCase>& cases)
{
    const std::vector<std::vector<int>> shapes = {{1}, {7}, {17}, {1001}, {2, 33}, {1, 3, 5, 13}};
    for (const char* op : {"Relu", "Sigmoid", "Tanh", "LeakyRelu", "Elu", "HardSwish", "Exp", "Neg",
                           "Abs", "Round"}) {
        for (const std::vector<int>& shape : shapes) {
            NodeCase made = {op, {fed(shape)}};
            made.low = -5;
            made.high = 5;
            if (made.op == "Round") made.refusal = round_refusal();
            cases.push_back(made);
        }
    }
    for (const std::vector<int>& shape : shapes) {
        NodeCase made = {"Sqrt", {fed(shape)}};
        made.low = 0.01F;
        made.high = 5;
        cases.push_back(made);
    }
    for (const std::vector<int>& shape : shapes) {
        cases.push_back({"Clip", {fed(shape), scalar(-0.5F), scalar(0.25F)}});
        cases.push_back({"Clip", {fed(shape), absent(), scalar(0.25F)}});
        cases.push_back({"LeakyRelu", {fed(shape)}, {}, {}, {{"alpha", 0.3F}}});
    }
    add_special_values(cases);
    cases.push_back({"PRelu", {fed({2, 5, 7, 9}), constant({5, 1, 1})}});
    cases.push_back({"PRelu", {fed({2, 17}), constant({17})}});
    cases.push_back({"PRelu", {fed({2, 17}), constant({1})}});
    for (const char* op : {"Add", "Sub", "Mul", "Div", "Max", "Min"}) {
        const auto add = [&](const Operand& a, const Operand& b) {
            NodeCase made = {op, {a, b}};
            if (made.op == "Div") made.low = 0.25F;
            cases.push_back(made);
        };
        for (const int size : {1, 7, 17, 33, 1000})
            add(fed({size}), fed({size}));
        add(fed({2, 5, 7, 9}), fed({2, 5, 7, 9}));
        add(fed({7, 33}), scalar(0.75F));
        add(scalar(0.75F), fed({7, 33}));
        add(fed({2, 5, 7, 9}), constant({5, 1, 1}));
        add(constant({5, 1, 1}), fed({2, 5, 7, 9}));
        add(fed({2, 3, 17}), fed({17}));
        add(fed({2, 3, 17}), fed({3, 1}));
        add(fed({3, 1, 17}), fed({1, 5, 1}));
        add(fed({1, 8, 13, 13}), fed({1, 8, 1, 1}));
    }
    for (const float exponent : {2.0F, 0.5F})
        for (const std::vector<int>& shape : shapes) {
            NodeCase made = {"Pow", {fed(shape), scalar(exponent)}};
            made.low = exponent == 2 ? -2 : 0;
            cases.push_back(made);
        }
    NodeCase power = {"Pow", {fed({7}), fed({7})}};
    power.refusal = "of negative numbers";
    cases.push_back(power);
    cases.push_back({"Max", {fed({3, 17}), fed({17}), fed({3, 1}), scalar(0)}});
    cases.push_back({"Min", {fed({3, 17}), fed({17}), fed({3, 1}), scalar(0)}});
}

}  // namespace tengine::acl
