// SPDX-License-Identifier: Apache-2.0
// One operator as a graph of its own, for the tests of this folder: run as it is, or raised to
// Tengine's operators first. All of it goes the way a model goes: prerun on the CPU, run.
//
//     TengineCase pooling("tengine.Pooling");
//     pooling.input({{1, 1, 4, 4}, values}).attr("kernel_h", 3).attr("kernel_w", 3);
//     const std::vector<Array> results = pooling.run();
//
// An ONNX operator is built the same way ("MaxPool"), and run_raised() runs the raised graph.
#pragma once

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "support/ir_builder.h"

namespace tengine::test {

// A tensor's value; elements of every type are numbers, booleans 0 and 1.
struct Array
{
    std::vector<int> dims;
    std::vector<double> values;
    int data_type = TENGINE_DT_FP32;
};

// Returns sin(seed + i) * scale: numbers without a pattern, so that a wrong index shows.
Array make_array(std::vector<int> dims, int seed = 0, double scale = 1);
int64_t count_elements(const std::vector<int>& dims);

// Expects the same shape, and every value within `tolerance` * (1 + |expected|).
void expect_close(const Array& result, const Array& expected, double tolerance = 1e-5);

class TengineCase
{
  public:
    // "tengine.Pooling", or an ONNX operator, "MaxPool", of opset `opset` (0: the newest).
    explicit TengineCase(const std::string& op, int opset = 0, int output_num = 1);

    // Adds the next input of the node: data set at run time, data in the model, or none.
    TengineCase& input(const Array& value);
    TengineCase& constant(const Array& value);
    TengineCase& absent();

    TengineCase& attr(const std::string& name, int value);
    TengineCase& attr(const std::string& name, double value);
    TengineCase& attr(const std::string& name, const std::string& value);
    TengineCase& attr(const std::string& name, const std::vector<int64_t>& values);
    TengineCase& attr(const std::string& name, const std::vector<float>& values);

    // Sets the layouts of a file, TENGINE_LAYOUT_*.
    TengineCase& model_layout(int layout);
    TengineCase& graph_layout(int layout);

    // Returns the outputs; none, with a test failure, if preparing or running fails.
    std::vector<Array> run();
    // Returns output 0; empty after a failure.
    Array run_one();
    // Expects prerun to fail with `code` and a message that contains `part`.
    void expect_failure(int code, const std::string& part);
    // Whether an execution graph can be made; nothing is allocated for a run.
    bool is_lowered();
    node* get_node() const { return node_; }
    // Returns the operators of the execution graph after run(): "Conv Relu".
    std::string ops() const;

    // Raises every node and runs the raised graph. raised_ops() then returns the operators of the
    // raised graph, Tengine's with their domain: "tengine.Pooling Erf".
    std::vector<Array> run_raised();
    std::string raised_ops() const { return raised_ops_; }
    // Returns an attribute of the first raised node.
    double raised_attr(const std::string& name) const;
    // Expects raise() not to change the node, for a reason that contains `part`.
    void expect_refusal(const std::string& part);
    // Expects the same numbers before and after raising, and no ONNX operator left. Returns output
    // 0.
    Array expect_raised(const std::string& ops, double tolerance = 1e-5);

  private:
    struct GraphEnd
    {
        void operator()(graph* graph) const;
    };

    void add_input(const std::string& name);
    bool raise();

    IrBuilder builder_;
    node* node_;
    std::vector<Array> fed_;  // in the order of the graph's inputs
    std::vector<std::string> output_names_;
    std::unique_ptr<graph, GraphEnd> raised_;
    std::string raised_ops_;
    std::string refusal_;
};

}  // namespace tengine::test
