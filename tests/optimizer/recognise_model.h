// SPDX-License-Identifier: Apache-2.0
// Small models for the pass recognise: built from a text, computed in double by the definitions of
// their operators, and run.
#pragma once

#include <functional>
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
    // By the node's output: of means, and the permutation of a Transpose.
    std::map<std::string, std::vector<int64_t>> axes = {};

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

using Operators = std::vector<std::string>;

// The operators of the execution graph, in order.
Operators list_operators(const graph& execution);

// ---- forms (recognise_forms.cc) ----

// Nodes that compute `op` of x, the last one writes y. Constants are named as their values.
struct Form
{
    const char* op;
    const char* nodes;
};

extern const Form kGeluForm, kLayerNormForm;
// With a bias; the nodes before the sum are a form, too.
extern const Form kBiasedLayerNormForm;

// The dimensions of x.
constexpr int kRows = 6, kColumns = 8;
SmallModel make_model(const Form& form);
NamedTensor make_input(const std::string& name, unsigned seed);
std::vector<double> draw_numbers(int number, double low, double high, unsigned seed);

// One difference to a form.
struct Difference
{
    std::string name;
    std::function<void(SmallModel*)> make;
};

// Runs the model, and compares its results with those of compute().
void expect_values(const SmallModel& model, IrBuilder& builder);

}  // namespace tengine::test
