// SPDX-License-Identifier: Apache-2.0
// The fixture of the tests of custom kernels: a kernel that records its calls, and a graph for it.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "fixture.h"

namespace tengine {

// The program's larger struct: a kernel y = 2x + 1 of any number of inputs (they are added) that
// records its calls and fails on demand.
struct Recorder
{
    custom_kernel_ops ops = {};
    std::vector<std::string> calls;
    std::map<std::string, int> results;                 // of the functions, 0 unless given
    std::string sentence;                               // recorded with these, unless it is empty
    std::vector<custom_kernel_tensor> inputs, outputs;  // of the last call
    std::vector<void*> input_data, output_data;         // of the last run
    int dynamic = -1;
    int in_place = -1;
    int releases = 0;
    int prepared = 0;  // successful preruns without a postrun

    Recorder();
    int note(const std::string& name, const custom_kernel_tensor* const* in, int in_num,
             const custom_kernel_tensor* const* out, int out_num);
    // Returns the value of a function.
    int result_of(const std::string& name);
    int count(const std::string& name) const
    {
        return static_cast<int>(std::count(calls.begin(), calls.end(), name));
    }
};

// Returns the recorder whose struct a function was given.
Recorder& self(custom_kernel_ops* ops);

// Functions for `ops`: every output has the shape of input 0, output 1 with twice its last
// dimension; a reshape is recorded; Recorder::in_place is returned for output 0, else -1.
int infer_like_input(custom_kernel_ops* ops, const int* inputs[], int input_num, int* outputs[],
                     int output_num, int layout);
int reshape_kernel(custom_kernel_ops* ops, custom_kernel_tensor* in[], int in_num,
                   custom_kernel_tensor* out[], int out_num);
int tell_in_place(custom_kernel_ops* ops, int output);

using Calls = std::vector<std::string>;

// The results of the recorder's kernel and of Relu for the fixture's input.
inline const std::vector<float> kDoubled = {-1, 1, 3, 5};
inline const std::vector<float> kRelu = {0, 0, 1, 2};

class CustomKernelTest : public ApiTest
{
  protected:
    // y = Relu(x), x of [4], whose node has the kernel.
    void SetUp() override
    {
        ApiTest::SetUp();
        graph = create_relu_graph();
        ASSERT_NE(graph, nullptr);
        node = get_graph_node(graph, "y");
        x = get_graph_tensor(graph, "x");
        y = get_graph_tensor(graph, "y");
    }

    bool prepare_and_run()
    {
        return write_floats(x, {-1, 0, 1, 2}) && prerun_graph(graph) == 0 &&
               run_graph(graph, 1) == 0;
    }

    static std::string last_error()
    {
        std::string sentence = get_tengine_error();
        clr_tengine_errno();
        return sentence;
    }

    Recorder kernel;
    graph_t graph = nullptr;
    node_t node = nullptr;
    tensor_t x = nullptr, y = nullptr;
};

}  // namespace tengine
