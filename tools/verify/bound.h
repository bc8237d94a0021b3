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
    kNorm,      // anything else: relative to the largest result
    kSteps,     // quantised: a real number that is rounded to a step
    kRandom     // random numbers, of which type and shape are known
};

Rule rule_of(const std::string& op);

// Whether the small results of a function are differences, as exp(x) - 1 is.
bool is_difference(const std::string& op);

// The data that a comparison needs.
struct Expected
{
    std::vector<Tensor> outputs;     // the reference's, in its type
    std::vector<Tensor> magnitudes;  // the same with the sizes of all inputs (kSum)
    std::vector<Tensor> conditions;  // changes by inputs that are off by their own size (kFunction)
};

struct Agreement
{
    bool agrees = true;
    double error = 0;    // largest, as a share of its bound
    std::string detail;  // the worst element, with values
};

// Products or elements that a result of a node with so many elements in its largest input is made
// of. A normalisation sums along an axis of its result, at most the longest.
int64_t count_terms(const std::string& op, const Tensor& output, int64_t largest_input,
                    int64_t mac_number);

// `value_type`: the type that the device computes in. `terms`: how many products or elements a
// result is made of.
Agreement compare(const Case& of, int value_type, int64_t terms, const Expected& expected,
                  const std::vector<Tensor>& outputs);

// Half a unit in the last place of 1, the largest error of rounding to the type. 0 for integers.
double unit_of(int data_type);

}  // namespace tengine::tools
