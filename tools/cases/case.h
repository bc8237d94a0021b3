// SPDX-License-Identifier: Apache-2.0
// One node as data, and the tables of such nodes, <family>.cc for each family of operators: one
// list of cases for `tengine verify`, the tests of kernels and devices, and the benchmarks.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tengine/defines.h"

namespace tengine::tools {

// An operand of the type that a case is tried in.
constexpr int kCaseType = -1;

// An input of a node. Without values it has random ones: the case's range, or this one.
struct Operand
{
    std::vector<int> dims;
    int data_type = kCaseType;
    bool is_constant = false;
    bool is_absent = false;
    std::vector<double> values = {};
    // Values are steps above the lowest of the type: 128 is 0 of int8, and 128 of uint8.
    bool counts_from_lowest = false;
    double low = 0, high = 0;  // equal: the case's
};

Operand fed(std::vector<int> dims);
Operand constant(std::vector<int> dims);
Operand absent();

// Constants with these values. The first is an int64 list, the second one number of the case's
// type, the third an fp32 list or, with one value, a scalar.
Operand int64_list(std::vector<double> values);
Operand number(double value);
Operand scales(std::vector<double> values);

// Quantised operands: whole range of the case's type, or the values this far above its lowest.
Operand fed_bytes(std::vector<int> dims, int data_type = kCaseType);
Operand constant_bytes(std::vector<int> dims, int data_type = kCaseType);
Operand zero_points(std::vector<double> steps, int data_type = kCaseType);

using Types = std::vector<int>;  // TENGINE_DT_*, kCaseType

struct Case
{
    std::string op;  // "Conv", "com.microsoft.QLinearAdd"
    std::vector<Operand> inputs;
    std::vector<std::pair<std::string, std::vector<int64_t>>> lists = {};
    std::vector<std::pair<std::string, int>> ints = {};
    std::vector<std::pair<std::string, float>> floats = {};
    std::vector<std::pair<std::string, std::string>> texts = {};
    Types outputs = {kCaseType};  // their types
    Types types = {};             // that it exists in
    // The range of the values; integers are eight times as large.
    double low = -1, high = 1;
    std::string shape_class = {};
    // Input 0, of rank four, comes from a convolution that leaves it as it is: NHWC kernels, which
    // take tensors that lie so already, are used behind one.
    bool is_behind_conv = false;
    std::vector<std::pair<std::string, std::vector<float>>> float_lists = {};
    std::vector<std::pair<std::string, std::vector<std::string>>> text_lists = {};

    // "Conv 1x3x7x7 #4x3x3x3 pads=1,1,1,1": constants have a #, and so have the lengths of
    // lists with more than eight values. Quantised operands of a type whatever that of the case end
    // with it, as "#4x3x3x3:int8". "behind=Conv" ends that of one whose input comes from a
    // convolution.
    std::string name() const;
};

// How a convolution's window differs from stride 1, no padding, no dilation, one group.
struct ConvWindow
{
    std::vector<int64_t> strides = {}, pads = {}, dilations = {};
    int group = 1;
    bool has_bias = true;
};

// Conv or ConvTranspose of floats: weights and biases are constants.
Case conv_case(const char* op, const std::vector<int>& input, const std::vector<int>& weight,
               const ConvWindow& window = {});

// fp32, fp16, bf16, fp64
const Types& float_types();
// int8 to uint64
const Types& integer_types();
// Both of these
const Types& number_types();
// These, and bool
const Types& all_types();
// int8 and uint8
const Types& byte_types();

// fp32 and fp16, where they are among these: for cases that are large to be cut among threads.
Types few_types(const Types& types);

// All cases of the tables, each with a shape class and with a name that no other has.
std::vector<Case> list_cases();

// More cases on int8 and uint8, for the tests of kernels and devices: zero points and scales at
// both ends, weights of either type, windows and sizes. They would add a seventh to those above.
std::vector<Case> list_quantized_cases();

// Layers of real networks in floats, for benchmarks and the tests of kernels: plain kernels take
// too long for `tengine verify` to have them among its cases.
std::vector<Case> list_network_cases();
// More of them, for benchmarks.
std::vector<Case> list_measured_cases();

void add_conv_cases(std::vector<Case>* cases);
void add_product_cases(std::vector<Case>* cases);
void add_elementwise_cases(std::vector<Case>* cases);
void add_pair_cases(std::vector<Case>* cases);
void add_pool_cases(std::vector<Case>* cases);
void add_normalization_cases(std::vector<Case>* cases);
void add_reduction_cases(std::vector<Case>* cases);
void add_movement_cases(std::vector<Case>* cases);
void add_index_cases(std::vector<Case>* cases);
void add_quantized_cases(std::vector<Case>* cases);
void add_recurrent_cases(std::vector<Case>* cases);
void add_tree_cases(std::vector<Case>* cases);
void add_other_cases(std::vector<Case>* cases);
// Those that are there behind a convolution, where that may change the kernel.
void add_cases_behind_conv(std::vector<Case>* cases);

// The property that makes the shapes of a case special, "plain" if none does: "one element",
// "zero-sized", "grouped", "dilated", "odd sizes". One that has several is of the rarest.
std::string classify_shape(const Case& of);

}  // namespace tengine::tools
