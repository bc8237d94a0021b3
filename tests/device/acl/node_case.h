// SPDX-License-Identifier: Apache-2.0
// One node as a test case of the ACL device, and running it there and on the reference. Tables of
// cases are in <family>_cases.cc.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "device/acl/acl_run.h"
#include "device/acl/attributes.h"

namespace tengine::acl {

// An input of a node.
struct Operand
{
    std::vector<int> dims;
    bool constant = false;
    std::vector<int64_t> ints = {};  // then it is a constant int64 list
    std::vector<float> floats = {};  // then it has these values
    bool absent = false;
};

Operand fed(std::vector<int> dims);
Operand fed_list(std::vector<float> values);
Operand constant(std::vector<int> dims);
Operand ints(std::vector<int64_t> values);
Operand scalar(float value);
Operand list(std::vector<float> values);
Operand absent();

struct NodeCase
{
    std::string op;
    std::vector<Operand> inputs;
    IntLists lists = {};
    Integers integers = {};
    Floats floats = {};
    std::vector<std::pair<std::string, std::string>> texts = {};
    int outputs = 1;
    float low = -1, high = 1;  // of the values
    OptionValues options = {};
    // Whether ACL takes it; when not, a part of its reason.
    std::string refusal = "";
    std::string refusal_of_bytes = "";  // of an operator that moves them
    // Bound of the error, in units of the last place of the largest result; 0: error_units().
    float ulps = 0;
    // The error of ACL's approximation of a function beside that, whatever the result.
    float absolute = 0;
    // Errors are relative to each result itself, not to the largest.
    bool pointwise = false;

    std::string name() const;
};

// The largest difference of a case and its bound, both relative to the largest result.
struct Agreement
{
    double error = 0;
    double bound = 0;
    bool on_acl = false;
    std::string refusals;
};

// Whether results are elements of the inputs, so that there is nothing to round.
bool moves_elements(const std::string& op);

// Bound of a node's error in units of the last place of its largest result. Nodes that move
// elements, choose among them, or round once have none. Sums of n products in another order differ
// by n units of the last place of the sum of their sizes at most; four more are for the operations
// after the sum.
int64_t error_units(const node& node);

// Runs the case in this type, TENGINE_DT_FP32, FP16, INT8 or UINT8, on ACL and on the reference.
// Bytes are the values in steps of 1/100, for operators that move them.
Agreement compare(const NodeCase& node_case, int data_type, int threads = 1);

// All cases of the tables <family>_cases.cc.
std::vector<NodeCase> list_cases();
void add_conv_cases(std::vector<NodeCase>& cases);
void add_matrix_cases(std::vector<NodeCase>& cases);
void add_pool_cases(std::vector<NodeCase>& cases);
void add_elementwise_cases(std::vector<NodeCase>& cases);
void add_normalization_cases(std::vector<NodeCase>& cases);
void add_movement_cases(std::vector<NodeCase>& cases);

}  // namespace tengine::acl
