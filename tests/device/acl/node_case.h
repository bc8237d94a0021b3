// SPDX-License-Identifier: Apache-2.0
// A case of the table (tools/cases) as a test of the ACL device: the result that is expected of it,
// and running it there and on the reference. The expectations are in expectations.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cases/case.h"
#include "device/acl/acl_run.h"

namespace tengine::acl {

struct NodeCase
{
    tools::Case of;
    OptionValues options = {};
    // Whether ACL takes it; when not, a part of its reason.
    std::string refusal = "";
    std::string refusal_of_bytes = "";  // of an operator that moves them
    // Bound of the error, in units of the last place of the largest result; 0: by its roundings.
    float ulps = 0;
    // The error of ACL's approximation of a function beside that.
    float relative = 0;
    // Errors are relative to each result itself, not to the largest, and counted beyond `absolute`.
    bool pointwise = false;
    float absolute = 0;
    // The share of quantised results whose exact values lie in the middle of two integers: ACL
    // rounds these away from zero, the reference to the even neighbour.
    double ties = 0;

    std::string name() const;
    bool is_of(int data_type) const;
};

// A fed list of floats, and a constant one.
tools::Operand fed_list(std::vector<double> values);
tools::Operand constant_list(std::vector<double> values);

// The largest difference of a case and its bound, both relative to the largest result or, where
// terms may cancel, to the largest sum of the terms' magnitudes. A case that ACL does not take has
// neither.
struct Agreement
{
    double error = 0;
    double bound = 0;
    bool on_acl = false;
    std::string refusals;
};

// Whether results are elements of the inputs, so that there is nothing to round: those of such
// operators, and of reductions along axes of length 1.
bool moves_elements(const std::string& op);
bool moves_elements(const tools::Case& of);

// Roundings that a term of a node's result passes through at most; 0 for nodes that move elements,
// choose among them, or round once as the reference does.
int64_t count_roundings(const node& node);
// Bound of the difference of a node's results on two devices, in units of the last place of the
// largest: each rounding is half a unit on either, and four more are for the operations after it.
int64_t error_units(const node& node);

// Runs the case in this type, TENGINE_DT_FP32, FP16, INT8 or UINT8, on ACL and, when it takes it,
// by the plain kernels of the CPU, which add in double.
Agreement compare(const NodeCase& node_case, int data_type);

// The difference of results in int8 and uint8, in quantisation steps, and of how many results. A
// case that ACL does not take has none.
struct Steps
{
    double largest = 0;
    size_t differing = 0, number = 0;
    bool on_acl = false;
    std::string refusals;
};

// Runs the case in int8 or uint8 in the same way.
Steps compare_steps(const NodeCase& node_case, int data_type, int threads = 1);

// The cases in fp32 of the operators that docs/acl.md lists, and those of functions at values where
// approximations may go wrong.
const std::vector<NodeCase>& list_cases();
void add_special_values(std::vector<NodeCase>& cases);
// The cases in int8 and uint8 of the operators that compute with them.
const std::vector<NodeCase>& list_quantized_cases();

}  // namespace tengine::acl
