// SPDX-License-Identifier: Apache-2.0
// Graphs built by hand, for the tests of the C API.
#include "fixture.h"

#include <cstdio>
#include <mutex>
#include <utility>

namespace tengine {
namespace {

std::mutex mutex;
std::vector<std::string> failures;

void keep_failure(int level, const char* line)
{
    std::fprintf(stderr, "%s\n", line);
    const std::lock_guard<std::mutex> lock(mutex);
    if (level == LOG_ERR) failures.emplace_back(line);
}

// Stores the failures, also if a test has set its own sink.
class FailureKeeper : public testing::EmptyTestEventListener
{
    void OnTestStart(const testing::TestInfo&) override
    {
        tengine_log_set_sink(keep_failure);
        take_logged_failures();
    }
};

const bool is_keeping = [] {
    testing::UnitTest::GetInstance()->listeners().Append(new FailureKeeper);
    return true;
}();

}  // namespace

std::vector<std::string> take_logged_failures()
{
    const std::lock_guard<std::mutex> lock(mutex);
    return std::exchange(failures, {});
}

void ApiTest::SetUp()
{
    ASSERT_EQ(init_tengine(), 0) << get_tengine_error();
    clr_tengine_errno();
}

void ApiTest::TearDown()
{
    release_tengine();
}

void ReluTest::SetUp()
{
    ApiTest::SetUp();
    graph_ = create_relu_graph();
    ASSERT_NE(graph_, nullptr) << get_tengine_error();
    x_ = get_graph_tensor(graph_, "x");
    y_ = get_graph_tensor(graph_, "y");
}

void ReluTest::TearDown()
{
    destroy_graph(graph_);
    ApiTest::TearDown();
}

namespace {

testing::AssertionResult recorded(int code, bool is_logged)
{
    const int actual = get_tengine_errno();
    const std::string sentence = get_tengine_error();
    const std::vector<std::string> logged = take_logged_failures();
    clr_tengine_errno();
    if (actual != code || sentence.empty())
        return testing::AssertionFailure()
               << "code is " << actual << ", expected " << code << ": '" << sentence << "'";
    if (logged != (is_logged ? std::vector<std::string>{sentence} : std::vector<std::string>{}))
        return testing::AssertionFailure()
               << "'" << sentence << "', logged was " << testing::PrintToString(logged);
    return testing::AssertionSuccess() << sentence;
}

}  // namespace

testing::AssertionResult failed_with(int code)
{
    return recorded(code, true);
}

testing::AssertionResult answered_with(int code)
{
    return recorded(code, false);
}

tensor_t add_input(graph_t graph, const char* name, const std::vector<int>& dims, int data_type)
{
    const node_t node = create_graph_node(graph, name, "InputOp");
    const tensor_t tensor = create_graph_tensor(graph, name, data_type);
    if (!node || !tensor || set_node_output_tensor(node, 0, tensor, TENSOR_TYPE_INPUT) != 0 ||
        set_tensor_shape(tensor, dims.data(), static_cast<int>(dims.size())) != 0)
        return nullptr;
    return tensor;
}

tensor_t add_constant(graph_t graph, const char* name, const std::vector<int>& dims,
                      const void* data, int data_type)
{
    const node_t node = create_graph_node(graph, name, "Const");
    const tensor_t tensor = create_graph_tensor(graph, name, data_type);
    if (!node || !tensor || set_node_output_tensor(node, 0, tensor, TENSOR_TYPE_CONST) != 0 ||
        set_tensor_shape(tensor, dims.data(), static_cast<int>(dims.size())) != 0 ||
        set_tensor_data(tensor, data, get_tensor_buffer_size(tensor)) != 0)
        return nullptr;
    return tensor;
}

tensor_t add_node(graph_t graph, const char* name, const char* op,
                  std::initializer_list<tensor_t> inputs, int data_type)
{
    const node_t node = create_graph_node(graph, name, op);
    const tensor_t tensor = create_graph_tensor(graph, name, data_type);
    if (!node || !tensor || set_node_output_tensor(node, 0, tensor, TENSOR_TYPE_VAR) != 0)
        return nullptr;
    int index = 0;
    for (tensor_t input : inputs)
        if (set_node_input_tensor(node, index++, input) != 0) return nullptr;
    return tensor;
}

bool set_borders(graph_t graph, std::vector<const char*> inputs, std::vector<const char*> outputs)
{
    return set_graph_input_node(graph, inputs.data(), static_cast<int>(inputs.size())) == 0 &&
           set_graph_output_node(graph, outputs.data(), static_cast<int>(outputs.size())) == 0;
}

graph_t create_relu_graph(context_t context)
{
    const graph_t graph = create_graph(context, nullptr, nullptr);
    if (!graph) return nullptr;
    const tensor_t x = add_input(graph, "x", {4});
    const tensor_t y = add_node(graph, "y", "Relu", {x});
    return y && set_borders(graph, {"x"}, {"y"}) ? graph : nullptr;
}

graph_t create_chain(context_t context)
{
    const graph_t graph = create_graph(context, nullptr, nullptr);
    const tensor_t x = add_input(graph, "x", {1, 4});
    const tensor_t neg = add_node(graph, "neg", "ai.onnx.Neg", {x});
    const tensor_t relu = add_node(graph, "relu", "Relu", {neg});
    add_node(graph, "y", "Softmax", {relu});
    return set_borders(graph, {"x"}, {"y"}) && write_floats(x, {-1, 2, -3, 4}) ? graph : nullptr;
}

graph_t create_small_network()
{
    const graph_t graph = create_graph(nullptr, nullptr, nullptr);
    const tensor_t x = add_input(graph, "x", {1, 3, 13, 17});
    const std::vector<float> filter(7 * 3 * 3 * 3, 0.1f);
    const tensor_t w =
        add_constant(graph, "a weight with a long name", {7, 3, 3, 3}, filter.data());
    const tensor_t conv = add_node(graph, "conv", "Conv", {x, w});
    const tensor_t relu = add_node(graph, "an activation with a long name", "Relu", {conv});
    const tensor_t flat = add_node(graph, "flat", "Flatten", {relu});
    const std::vector<float> matrix(7 * 11 * 15 * 5, 0.01f);
    const tensor_t m = add_constant(graph, "m", {7 * 11 * 15, 5}, matrix.data());
    const tensor_t product = add_node(graph, "product", "MatMul", {flat, m});
    add_node(graph, "y", "Softmax", {product});
    return set_borders(graph, {"x"}, {"y"}) ? graph : nullptr;
}

std::vector<float> read_floats(tensor_t tensor)
{
    std::vector<float> values(static_cast<size_t>(get_tensor_buffer_size(tensor)) / sizeof(float));
    if (get_tensor_data(tensor, values.data(), static_cast<int>(values.size() * sizeof(float))) !=
        0)
        values.clear();
    return values;
}

bool write_floats(tensor_t tensor, const std::vector<float>& values)
{
    return set_tensor_data(tensor, values.data(),
                           static_cast<int>(values.size() * sizeof(float))) == 0;
}

}  // namespace tengine
