// SPDX-License-Identifier: Apache-2.0
// One node on quantised bytes as a test case of the ACL device, and running it there and on the
// reference. Each case is run for int8 and for uint8. Tables of cases: quantized_<family>_cases.cc.
#pragma once

#include <string>
#include <vector>

#include "device/acl/acl_run.h"
#include "device/acl/attributes.h"

namespace tengine::acl {

// An input of a node. Bytes, fed or constant, are random over the whole range of their type.
struct QuantizedInput
{
    enum class Kind
    {
        kAbsent,
        kFed,
        kFedFloats,
        kBytes,
        kScales,
        kZeroPoints,
        kSums
    };
    Kind kind = Kind::kAbsent;
    std::vector<int> dims = {};
    std::vector<float> scales = {};
    std::vector<int> zero_points = {};  // above the lowest value of the type
    int data_type = -1;                 // -1: that of the case
    int range = 256;                    // values of bytes, about the middle of the type
};

QuantizedInput none();
QuantizedInput fed_bytes(std::vector<int> dims, int data_type = -1);
QuantizedInput fed_floats(std::vector<int> dims);
QuantizedInput constant_bytes(std::vector<int> dims, int data_type = -1, int range = 256);
// A list, or with one value a scalar.
QuantizedInput scales(std::vector<float> values);
// Steps above the lowest value: 128 is 0 of int8, and 128 of uint8.
QuantizedInput zero_points(std::vector<int> steps, int data_type = -1);
// int32, up to 5000 and down to -5000.
QuantizedInput sums(std::vector<int> dims);

struct QuantizedCase
{
    std::string op;
    std::vector<QuantizedInput> inputs;
    IntLists lists = {};
    Integers integers = {};
    Floats floats = {};
    // Whether ACL takes it; when not, a part of its reason.
    std::string refusal = "";
    // The share of results whose exact values lie in the middle of two bytes: ACL rounds these away
    // from zero, the reference to the even neighbour.
    double ties = 0;

    std::string name() const;
    // Whether the case is one of this type: its first input has no other.
    bool is_of(int type) const { return inputs[0].data_type < 0 || inputs[0].data_type == type; }
};

// The results of a case on ACL and on the reference.
struct Steps
{
    double largest = 0;  // difference
    size_t differing = 0, number = 0;
    bool on_acl = false;
    std::string refusals;
};

Steps compare(const QuantizedCase& quantized_case, int data_type, int threads = 1);

// All cases of the tables.
std::vector<QuantizedCase> list_quantized_cases();
void add_quantized_conv_cases(std::vector<QuantizedCase>& cases);
void add_quantized_gemm_cases(std::vector<QuantizedCase>& cases);
void add_quantized_elementwise_cases(std::vector<QuantizedCase>& cases);
void add_quantized_pool_cases(std::vector<QuantizedCase>& cases);

}  // namespace tengine::acl
