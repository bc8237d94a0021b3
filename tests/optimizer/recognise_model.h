// SPDX-License-Identifier: Apache-2.0
// Small models for the pass recognise: built from a text, computed in double by the definitions of
// their operators, and run.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "support/ir_builder.h"

namespace tengine::test {

using Dims = std::vector<int>;

struct NamedTensor
{
    std::string name;
    Dims dims;
    std::vector<double> values;
};

struct NamedNode
{
    std::string output, op;
    std::vector<std::string> inputs;
    std::map<std::string, double> floats = {};
    std::map<std::string, int64_t> ints = {};
};

struct SmallModel
{
    std::vector<NamedTensor> inputs, constants;
    std::vector<NamedNode> nodes;
    std::vector<std::string> outputs = {"y"};
    int data_type = TENGINE_DT_FP32;
    std::map<std::string, std::vector<int64_t>> axes = {};  // inputs of ReduceMean

    // "d = Div x root; y = Erf d"
    void add_nodes(const std::string& text);
    NamedTensor& constant(const std::string& name);
    NamedNode& node(const std::string& output);
};

// By the operators' definitions, in double.
std::vector<NamedTensor> compute(const SmallModel& model);

void build(const SmallModel& model, IrBuilder* builder);

// The model's outputs of a run with default options.
std::vector<NamedTensor> run(const SmallModel& model, IrBuilder& builder);

// The operators of the execution graph, in order.
std::vector<std::string> list_operators(const graph& execution);

}  // namespace tengine::test
