// SPDX-License-Identifier: Apache-2.0
// The error that a result may have: a rule for each operator, from how it is computed.
// docs/verify.md explains the rules.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cases/case.h"
#include "tensor_file/tensor.h"

namespace tengine::tools {

enum class Rule
{
    kExact,     // moves elements, chooses among them, counts, compares
    kRounded,   // an operation that is rounded once
    kSum,       // adds products, or elements
    kFunction,  // a function of each element
    kNorm,      // other operators: relative to the largest result
    kSteps,     // quantised: a real number that is rounded to a step
    kRandom     // random numbers, whose type and shape are checked
};

Rule rule_of(const std::string& op);

// Whether small results of a function are differences, such as exp(x) - 1.
bool is_difference(const std::string& op);

// The data that a comparison needs.
struct Expected
{
    std::vector<Tensor> outputs;     // the reference's, in its type
    std::vector<Tensor> magnitudes;  // the same with the sizes of all inputs (kSum)
    std::vector<Tensor> conditions;  // changes by input errors of the inputs' own size (kFunction)
};

struct Agreement
{
    bool agrees = true;
    double error = 0;    // largest, as a share of its bound
    std::string detail;  // the worst element, with values
};

// The number of products or elements that a result is computed from, for a node whose largest input
// has `largest_input` elements. A normalisation sums along an axis of its result, at most the
// longest.
int64_t count_terms(const std::string& op, const Tensor& output, int64_t largest_input,
                    int64_t mac_number);

// `value_type`: the type that the device computes in. `terms`: the number of products or elements
// that a result is computed from.
Agreement compare(const Case& of, int value_type, int64_t terms, const Expected& expected,
                  const std::vector<Tensor>& outputs);

// Half a unit in the last place of 1, the largest error of rounding to the type. 0 for integers.
double unit_of(int data_type);

}  // namespace tengine::tools
