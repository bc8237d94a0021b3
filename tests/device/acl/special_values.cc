// SPDX-License-Identifier: Apache-2.0
// Functions at values where ACL's approximations may go wrong.
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

}  // namespace

// Near 0, at the ends of the range, and where an intermediate
// result overflows though the result does not.
void add_special_values(std::vector<NodeCase>& cases)
{
    for (const char* op : {"Relu", "Sigmoid", "Tanh", "LeakyRelu", "Elu", "HardSwish", "Exp", "Neg",
                           "Abs", "Round"}) {
        NodeCase made = {
            {op, {fed_list({0,  -0.0F, 0.5F, 1.5F, 2.5F, -0.5F, -1.5F,   -2.5F, 10, -10,
                            20, -20,   50,   -50,  80,   -80,   0.4999F, -3,    3,  8.5F})}}};
        made.pointwise = true;
        if (made.of.op == "Round") made.refusal = round_refusal();
        if (has_exponential(made.of.op)) made.ulps = kExponentialUnits;
        cases.push_back(made);
        made.of.inputs = {fed_list({100, 300, 1000, 1e6F})};
        if (made.of.op == "Exp") continue;
        cases.push_back(made);
        made.of.inputs = {fed_list({-100, -300, -1000, -1e6F})};
        cases.push_back(made);
    }
    NodeCase root = {{"Sqrt", {fed_list({1e-6F, 1e-3F, 0.25F, 2, 3, 100, 1e6F, 1e20F})}}};
    root.pointwise = true;
    cases.push_back(root);
    // ACL adds 1e-24 to the argument of the root.
    root.of.inputs = {fed_list({0, 1e-38F, 1e-30F, 1e-20F, 0, 0, 0, 0})};
    root.absolute = 1.001e-12F;
    cases.push_back(root);
    cases.push_back({{"Sqrt", {fed_list({0, 1, 0, 4, 0})}}});
    NodeCase large = {{"Round", {fed_list({1e10F, -1e10F, 3e38F, -3e38F, 4e9F, NAN})}}};
    large.pointwise = true;
    large.refusal = round_refusal();
    cases.push_back(large);
    NodeCase quotient = {{"Div",
                          {fed_list({1, 3, 1e-20F, 1e20F, 7, -5, 0}),
                           fed_list({3, 1e20F, 1e10F, 1e-10F, 7, 0.1F, 2})}}};
    quotient.pointwise = true;
    cases.push_back(quotient);
}

}  // namespace tengine::acl
