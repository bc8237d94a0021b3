// SPDX-License-Identifier: Apache-2.0
// Models and operators for the tests of custom operators.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "fixture.h"
#include "tengine/custom_op.h"

namespace tengine {

// Opset 13, and `version` of the domain: y = <domain>.<op>(x), with the attributes offset = 0.5,
// level = 7, zero = 0, mode = "soft", steps = [4, 9], weights = [1.5, 2.5], words = ["one", "two"]
// unless the operator is the library's; z = Relu(y). x and z are float, x of `dims`.
struct OpModel
{
    std::string domain = "com.example";
    std::string op = "Shift";
    int version = 3;
    std::vector<int> dims = {4};
    bool has_attributes = true;
};
std::string make_op_model(const OpModel& model);
graph_t load_op_model(const OpModel& model, context_t context = nullptr);

// The operator com.example.Shift, versions 1 to 5: y = x + offset. Records its calls and fails on
// demand.
struct ShiftOp
{
    std::vector<std::string> calls;
    std::string failing;                     // the callback that fails,
    int code = 0;                            // its result,
    std::string sentence;                    // and its message, if any
    int states = 0;                          // live states
    int releases = 0;                        // of the user data
    tengine_op_prepare_t prepare = nullptr;  // (optional) replaces the default
    tengine_op_invoke_t invoke = nullptr;

    int count(const std::string& call) const;
    int note(const std::string& call, tengine_op_context_t* context);
};

tengine_op_t* create_shift_op(ShiftOp* shift, const char* domain = "com.example",
                              const char* name = "Shift", int min_version = 1, int max_version = 5);
// Creates the operator, registers it and destroys the handle.
testing::AssertionResult register_shift_op(ShiftOp* shift, context_t context = nullptr,
                                           const char* domain = "com.example",
                                           const char* name = "Shift", int min_version = 1,
                                           int max_version = 5);

// Computes y = x + offset, for any shape.
int shift(tengine_op_context_t* context);

class CustomOpTest : public ApiTest
{
  protected:
    static graph_t load(const OpModel& model = {}, context_t context = nullptr)
    {
        const graph_t graph = load_op_model(model, context);
        EXPECT_NE(graph, nullptr) << get_tengine_error();
        return graph;
    }

    static bool prepare_and_run(graph_t graph, const std::vector<float>& x)
    {
        return write_floats(get_graph_input_tensor(graph, 0, 0), x) && prerun_graph(graph) == 0 &&
               run_graph(graph, 1) == 0;
    }

    static std::vector<float> result(graph_t graph)
    {
        return read_floats(get_graph_output_tensor(graph, 0, 0));
    }

    static std::string last_error()
    {
        std::string sentence = get_tengine_error();
        clr_tengine_errno();
        take_logged_failures();
        return sentence;
    }

    // Adds an operator that outlives the graphs which release_tengine destroys.
    ShiftOp& add_op() { return more_ops_.emplace_back(); }

    ShiftOp shift_op;

  private:
    std::deque<ShiftOp> more_ops_;
};

}  // namespace tengine
