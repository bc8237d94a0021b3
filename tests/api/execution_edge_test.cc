// SPDX-License-Identifier: Apache-2.0
// inspect.h: what execution nodes read and write, against the model's own tensors and nodes; their
// scopes, precisions and attributes.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "fixture.h"
#include "onnx_graph.h"
#include "support/test_device.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

using Indices = std::vector<int>;

class ExecutionEdgeTest : public ApiTest
{
  protected:
    void TearDown() override
    {
        if (graph_) destroy_graph(graph_);
        ApiTest::TearDown();
    }

    Indices read(int (*get)(graph_t, int, int*, int), int node)
    {
        const int number = get(graph_, node, nullptr, 0);
        EXPECT_GE(number, 0) << get_tengine_error();
        Indices indices(static_cast<size_t>(std::max(number, 0)), -2);
        EXPECT_EQ(get(graph_, node, indices.data(), number), number);
        return indices;
    }
    Indices inputs(int node) { return read(tengine_graph_get_execution_inputs, node); }
    Indices outputs(int node) { return read(tengine_graph_get_execution_outputs, node); }

    std::string name_of(int tensor)
    {
        tengine_execution_tensor found;
        if (tensor < 0) return "";
        EXPECT_EQ(tengine_graph_get_execution_tensor(graph_, tensor, &found), 0);
        return found.name;
    }

    int node_number() { return tengine_graph_get_execution_node_number(graph_); }

    // The list of tensors and the functions for one input or output agree, and no tensor is written
    // twice.
    void check_edges()
    {
        std::set<int> written;
        const int number = tengine_graph_get_execution_tensor_number(graph_);
        for (int node = 0; node < node_number(); ++node) {
            tengine_execution_node described;
            ASSERT_EQ(tengine_graph_get_execution_node(graph_, node, &described), 0);
            const Indices read = inputs(node), made = outputs(node);
            ASSERT_EQ(static_cast<int>(read.size()), described.input_number);
            for (int i = 0; i < described.input_number; ++i) {
                tengine_execution_tensor tensor;
                ASSERT_EQ(tengine_graph_get_execution_input(graph_, node, i, &tensor), 0);
                EXPECT_EQ(name_of(read[i]), tensor.name);
                if (read[i] < 0) continue;
                ASSERT_LT(read[i], number);
                tengine_execution_tensor listed;
                ASSERT_EQ(tengine_graph_get_execution_tensor(graph_, read[i], &listed), 0);
                EXPECT_EQ(listed.producer, tensor.producer);
                EXPECT_EQ(listed.bytes, tensor.bytes);
            }
            for (size_t i = 0; i < made.size(); ++i) {
                tengine_execution_tensor tensor;
                ASSERT_EQ(tengine_graph_get_execution_output_of(graph_, node, static_cast<int>(i),
                                                                &tensor),
                          0);
                EXPECT_EQ(name_of(made[i]), tensor.name);
                if (made[i] < 0) continue;
                EXPECT_EQ(tensor.producer, node) << tensor.name;
                EXPECT_TRUE(written.insert(made[i]).second) << tensor.name;
            }
        }
    }

    graph_t graph_ = nullptr;
};

TEST_F(ExecutionEdgeTest, AreThoseOfTheModel)
{
    graph_ = create_small_network();
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    check_edges();
    for (int node = 0; node < node_number(); ++node) {
        tengine_execution_node described;
        ASSERT_EQ(tengine_graph_get_execution_node(graph_, node, &described), 0);
        ASSERT_NE(described.source, nullptr) << described.name;
        const Indices read = inputs(node);
        // The shape of a Reshape, which the Flatten becomes, is not the model's.
        for (int i = 0; i < get_node_input_number(described.source); ++i) {
            tengine_execution_tensor tensor;
            ASSERT_EQ(
                tengine_graph_get_execution_tensor(graph_, read[static_cast<size_t>(i)], &tensor),
                0);
            const tensor_t wanted = get_node_input_tensor(described.source, i);
            EXPECT_STREQ(tensor.name, get_tensor_name(wanted)) << described.name;
            EXPECT_EQ(tensor.bytes, get_tensor_buffer_size(wanted)) << tensor.name;
        }
        ASSERT_EQ(outputs(node).size(), 1u);
        EXPECT_EQ(name_of(outputs(node)[0]),
                  get_tensor_name(get_node_output_tensor(described.source, 0)));
    }
    ASSERT_EQ(inputs(-1).size(), 1u);
    EXPECT_EQ(name_of(inputs(-1)[0]), "x");
    ASSERT_EQ(outputs(-1).size(), 1u);
    EXPECT_EQ(name_of(outputs(-1)[0]), "y");
}

// Tensors and nodes of bodies follow those of the graph.
TEST_F(ExecutionEdgeTest, HaveThoseOfBodies)
{
    using namespace onnx;
    const std::string twice = graph({node("Add", {"x", "x"}, {"both"})}, {}, {value("both")});
    const std::string less = graph({node("Neg", {"x"}, {"minus"})}, {}, {value("minus")});
    graph_ = load(
        graph({node("If", {"positive"}, {"y"},
                    {graph_attribute("then_branch", twice), graph_attribute("else_branch", less)})},
              {value("x", kFloat, {2}), value("positive", kBool)}, {value("y", kFloat, {2})}));
    ASSERT_NE(graph_, nullptr) << get_tengine_error();
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    ASSERT_EQ(node_number(), 3);
    check_edges();
    ASSERT_EQ(inputs(0).size(), 3u) << "the condition, and x, which each body captures";
    EXPECT_EQ(inputs(0)[1], inputs(0)[2]);
    ASSERT_EQ(inputs(1).size(), 2u);
    EXPECT_EQ(inputs(1)[0], inputs(1)[1]) << "x twice";
    EXPECT_NE(inputs(1)[0], inputs(0)[1]) << "a body has a tensor of its own for x";
    tengine_execution_tensor both;
    ASSERT_EQ(tengine_graph_get_execution_output_of(graph_, 1, 0, &both), 0);
    EXPECT_EQ(both.producer, 1);
}

TEST_F(ExecutionEdgeTest, AbsentInputsAreGaps)
{
    graph_ = create_graph(nullptr, nullptr, nullptr);
    const tensor_t x = add_input(graph_, "x", {2, 3});
    const float highest = 1.0f;
    const tensor_t most = add_constant(graph_, "most", {}, &highest);
    add_node(graph_, "y", "ai.onnx.Clip", {x});
    set_node_input_tensor(get_graph_node(graph_, "y"), 2, most);
    ASSERT_TRUE(set_borders(graph_, {"x"}, {"y"})) << get_tengine_error();
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    const Indices read = inputs(0);
    ASSERT_EQ(read.size(), 3u);
    EXPECT_EQ(name_of(read[0]), "x");
    EXPECT_EQ(read[1], -1);
    EXPECT_EQ(name_of(read[2]), "most");
    int first = -2;
    EXPECT_EQ(tengine_graph_get_execution_inputs(graph_, 0, &first, 1), 3) << "one is filled";
    EXPECT_EQ(first, read[0]);
}

TEST_F(ExecutionEdgeTest, FailAsOtherGettersDo)
{
    graph_ = create_relu_graph();
    tengine_execution_tensor tensor;
    int index;
    EXPECT_EQ(tengine_graph_get_execution_tensor_number(graph_), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    EXPECT_EQ(tengine_graph_get_execution_inputs(graph_, -1, &index, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    ASSERT_EQ(tengine_graph_get_execution_tensor_number(graph_), 2);
    for (const int wrong : {-1, 2}) {
        EXPECT_EQ(tengine_graph_get_execution_tensor(graph_, wrong, &tensor), -1);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
        EXPECT_EQ(tengine_graph_get_execution_output_of(graph_, 0, wrong, &tensor), -1);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    }
    for (const int wrong : {-2, 1}) {
        EXPECT_EQ(tengine_graph_get_execution_inputs(graph_, wrong, &index, 1), -1);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
        EXPECT_EQ(tengine_graph_get_execution_outputs(graph_, wrong, &index, 1), -1);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    }
    EXPECT_EQ(tengine_graph_get_execution_tensor(graph_, 0, nullptr), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_graph_get_execution_inputs(graph_, 0, nullptr, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_graph_get_execution_outputs(graph_, -1, nullptr, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
}

// ---- details ----

TEST_F(ExecutionEdgeTest, ScopesEndWithTheLastSlashOrDot)
{
    const struct
    {
        const char* name;
        const char* scope;
    } cases[] = {{"/stem.0/conv/Relu", "/stem.0/conv"},
                 {"stem.0.relu", "stem.0"},
                 {"relu", ""},
                 {"/relu", ""},
                 {"a.b/c.d", "a.b"}};
    for (const auto& item : cases) {
        graph_ = create_graph(nullptr, nullptr, nullptr);
        const tensor_t x = add_input(graph_, "x", {4});
        add_node(graph_, item.name, "Relu", {x});
        ASSERT_TRUE(set_borders(graph_, {"x"}, {item.name})) << get_tengine_error();
        ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
        tengine_node_detail detail;
        ASSERT_EQ(tengine_graph_get_execution_detail(graph_, 0, &detail, sizeof detail), 0);
        tengine_execution_node node;
        ASSERT_EQ(tengine_graph_get_execution_node(graph_, 0, &node), 0);
        EXPECT_EQ(std::string(node.name, static_cast<size_t>(detail.scope_length)), item.scope);
        EXPECT_EQ(detail.precision, TENGINE_DT_FP32);
        EXPECT_EQ(detail.attribute_number, 0);
        destroy_graph(graph_);
        graph_ = nullptr;
    }
}

TEST_F(ExecutionEdgeTest, PrecisionIsThatOfTheOperandsOfAProduct)
{
    graph_ = create_small_network();
    for (const int precision : {TENGINE_MODE_FP32, TENGINE_MODE_FP16, TENGINE_MODE_BF16}) {
        const int type = precision == TENGINE_MODE_FP32   ? TENGINE_DT_FP32
                         : precision == TENGINE_MODE_FP16 ? TENGINE_DT_FP16
                                                          : TENGINE_DT_BF16;
        ASSERT_EQ(prerun_graph_multithread(graph_, {1, TENGINE_CLUSTER_ALL, precision, 0}), 0)
            << get_tengine_error();
        int products = 0;
        for (int i = 0; i < node_number(); ++i) {
            tengine_execution_node node;
            tengine_node_detail detail;
            ASSERT_EQ(tengine_graph_get_execution_node(graph_, i, &node), 0);
            ASSERT_EQ(tengine_graph_get_execution_detail(graph_, i, &detail, sizeof detail), 0);
            if (node.mac_number == 0) continue;
            ++products;
            EXPECT_EQ(detail.precision, type) << node.name;
        }
        EXPECT_EQ(products, 2);
    }
}

TEST_F(ExecutionEdgeTest, AttributesAreText)
{
    graph_ = create_graph(nullptr, nullptr, nullptr);
    const tensor_t x = add_input(graph_, "x", {1, 1, 9, 9});
    const tensor_t conv = add_node(graph_, "y", "ai.onnx.MaxPool", {x});
    ASSERT_NE(conv, nullptr);
    const node_t node = get_graph_node(graph_, "y");
    const int64_t kernel[] = {3, 3}, pads[] = {1, 0, 1, 0};
    ASSERT_EQ(set_node_attr_generic(node, "kernel_shape", "int64[]", kernel, sizeof kernel), 0)
        << get_tengine_error();
    ASSERT_EQ(set_node_attr_generic(node, "pads", "int64[]", pads, sizeof pads), 0);
    ASSERT_TRUE(set_borders(graph_, {"x"}, {"y"})) << get_tengine_error();
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    tengine_node_detail detail;
    tengine_node_attribute attribute;
    ASSERT_EQ(tengine_graph_get_execution_detail(graph_, 0, &detail, sizeof detail), 0);
    ASSERT_EQ(detail.attribute_number, 2) << "defaults are left out";
    ASSERT_EQ(tengine_graph_get_execution_attribute(graph_, 0, 0, &attribute, sizeof attribute), 0);
    EXPECT_STREQ(attribute.name, "kernel_shape");
    EXPECT_STREQ(attribute.value, "[3,3]");
    ASSERT_EQ(tengine_graph_get_execution_attribute(graph_, 0, 1, &attribute, sizeof attribute), 0);
    EXPECT_STREQ(attribute.name, "pads");
    EXPECT_STREQ(attribute.value, "[1,0,1,0]");
    for (const int wrong : {-1, 2}) {
        EXPECT_EQ(
            tengine_graph_get_execution_attribute(graph_, 0, wrong, &attribute, sizeof attribute),
            -1);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    }
    EXPECT_EQ(tengine_graph_get_execution_attribute(graph_, 0, 0, &attribute, 0), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_graph_get_execution_detail(graph_, 0, nullptr, sizeof detail), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
}

TEST_F(ExecutionEdgeTest, LongAttributesAreCut)
{
    graph_ = create_graph(nullptr, nullptr, nullptr);
    const tensor_t x = add_input(graph_, "x", {1, 300});
    ASSERT_NE(add_node(graph_, "y", "ai.onnx.ml.Scaler", {x}), nullptr) << get_tengine_error();
    const std::vector<float> numbers(300, 0.25f);
    for (const char* name : {"offset", "scale"})
        ASSERT_EQ(set_node_attr_generic(get_graph_node(graph_, "y"), name, "float[]",
                                        numbers.data(), 300 * sizeof(float)),
                  0)
            << get_tengine_error();
    ASSERT_TRUE(set_borders(graph_, {"x"}, {"y"})) << get_tengine_error();
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    tengine_node_attribute attribute;
    ASSERT_EQ(tengine_graph_get_execution_attribute(graph_, 0, 1, &attribute, sizeof attribute), 0);
    EXPECT_STREQ(attribute.name, "scale");
    const std::string value = attribute.value;
    EXPECT_EQ(value.size(), sizeof attribute.value - 1);
    EXPECT_EQ(value.substr(0, 11), "[0.25,0.25,");
    EXPECT_EQ(value.substr(value.size() - 3), "...");
}

// ---- counters of nodes ----

int count_node(::device*, subgraph* part, int index, vector* out_counters)
{
    ir_counter_t counter = {"cycles", "cycles", 10.0 + index};
    EXPECT_LT(index, part->node_num);
    return push_vector_data(out_counters, &counter);
}

TEST_F(ExecutionEdgeTest, NodesHaveTheCountersOfTheirPlaceInThePart)
{
    test::TestDevice device("A", {"Relu", "Softmax"});
    device.get()->interface->count_node = count_node;
    const context_t context = create_context("a", 1);
    ASSERT_EQ(add_context_device(context, "A"), 0) << get_tengine_error();
    ASSERT_EQ(tengine_context_set_option(context, "split.prune", "0"), 0);
    graph_ = create_chain(context);
    ASSERT_NE(graph_, nullptr) << get_tengine_error();
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    tengine_counter counter;
    ASSERT_EQ(node_number(), 3);
    EXPECT_EQ(tengine_graph_get_node_counters(graph_, 1, &counter, 1), 0) << "not run";
    ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    EXPECT_EQ(tengine_graph_get_node_counters(graph_, 0, &counter, 1), 0) << "on the CPU";
    for (int node = 1; node < 3; ++node) {
        ASSERT_EQ(tengine_graph_get_node_counters(graph_, node, &counter, 1), 1);
        EXPECT_STREQ(counter.name, "cycles");
        EXPECT_EQ(counter.value, 10 + node - 1);
    }
    EXPECT_EQ(tengine_graph_get_node_counters(graph_, 3, &counter, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    device.get()->interface->count_node = [](::device*, subgraph*, int, vector*) -> int {
        return TENGINE_EDEVICE;
    };
    EXPECT_EQ(tengine_graph_get_node_counters(graph_, 1, &counter, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_EDEVICE));
    destroy_graph(graph_);
    graph_ = nullptr;
    destroy_context(context);
}

}  // namespace
}  // namespace tengine
