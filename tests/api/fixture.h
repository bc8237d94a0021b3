// SPDX-License-Identifier: Apache-2.0
// The fixture of the tests of the C API: a library that is initialised for each test, and graphs
// built by hand through the API itself.
#pragma once

#include <gtest/gtest.h>
#include <initializer_list>
#include <string>
#include <vector>

#include "tengine/c_api.h"

namespace tengine {

class ApiTest : public testing::Test
{
  protected:
    void SetUp() override;
    void TearDown() override;
};

// A graph of create_relu_graph() for each test.
class ReluTest : public ApiTest
{
  protected:
    void SetUp() override;
    void TearDown() override;

    graph_t graph_ = nullptr;
    tensor_t x_ = nullptr;
    tensor_t y_ = nullptr;
};

// Checks that the last recorded failure is `code`, that its message is not empty, and that exactly
// one line of the log, at level ERR, since the test began or since the last call of this function,
// contains it. Clears both.
testing::AssertionResult failed_with(int code);

// The same for a NULL that is an answer and not a failure: no line was logged.
testing::AssertionResult answered_with(int code);

// Returns the lines of level ERR and clears them. A test with a sink of its own gets none.
std::vector<std::string> take_logged_failures();

// Adds a tensor and a node of the same name. NULL on failure.
tensor_t add_input(graph_t graph, const char* name, const std::vector<int>& dims,
                   int data_type = TENGINE_DT_FP32);
tensor_t add_constant(graph_t graph, const char* name, const std::vector<int>& dims,
                      const void* data, int data_type = TENGINE_DT_FP32);
tensor_t add_node(graph_t graph, const char* name, const char* op,
                  std::initializer_list<tensor_t> inputs, int data_type = TENGINE_DT_FP32);
bool set_borders(graph_t graph, std::vector<const char*> inputs, std::vector<const char*> outputs);

// y = Relu(x), x of shape [4].
graph_t create_relu_graph(context_t context = nullptr);
// y = Softmax(Relu(Neg(x))), x of shape [1, 4] with values; the nodes are "neg", "relu" and "y".
graph_t create_chain(context_t context);
// y of shape [n, 5], equal in every column, from x of shape [n, 3, 13, 17], n = 1: a convolution,
// an activation, a matrix product and a softmax. Some names do not fit into a string object.
graph_t create_small_network();

// The elements of a float tensor.
std::vector<float> read_floats(tensor_t tensor);
bool write_floats(tensor_t tensor, const std::vector<float>& values);

}  // namespace tengine
