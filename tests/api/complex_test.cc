// SPDX-License-Identifier: Apache-2.0
// Complex numbers as inputs, constants and results, in control flow and in saved models.
#include <unistd.h>

#include <complex>
#include <filesystem>

#include "fixture.h"
#include "onnx_bytes.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

using Complex = std::complex<double>;
using Values = std::vector<Complex>;

constexpr uint64_t kBool = 9, kComplex128 = 15, kInt64 = 7;  // of ONNX

// A list of `length`, a scalar if it is 0.
std::string value(const std::string& name, uint64_t type, uint64_t length)
{
    Message shape;
    if (length > 0) shape.bytes(1, Message().number(1, length).text());
    const std::string tensor = Message().number(1, type).bytes(2, shape.text()).text();
    return Message().bytes(1, name).bytes(2, Message().bytes(1, tensor).text()).text();
}

std::string graph_attribute(const std::string& name, const std::string& graph)
{
    return Message().bytes(1, name).bytes(6, graph).number(20, 5).text();
}

std::string node(const std::string& op, const std::vector<std::string>& inputs,
                 const std::vector<std::string>& outputs,
                 const std::vector<std::string>& attributes = {})
{
    Message made;
    for (const std::string& input : inputs)
        made.bytes(1, input);
    for (const std::string& output : outputs)
        made.bytes(2, output);
    made.bytes(4, op);
    for (const std::string& attribute : attributes)
        made.bytes(5, attribute);
    return made.text();
}

// In each of three rounds the first element of a list moves to its end, and the list is kept; then
// either that list or a constant is taken.
std::string make_model()
{
    Message parts;
    parts.number(1, 2).number(2, kComplex128).bytes(8, "w");
    const double numbers[] = {1, -1, 2, -2};
    parts.bytes(9, std::string(reinterpret_cast<const char*>(numbers), sizeof numbers));
    const auto integers = [](const std::string& name, int64_t number, bool is_scalar) {
        Message made;
        if (!is_scalar) made.number(1, 1);
        const std::string bytes(reinterpret_cast<const char*>(&number), sizeof number);
        return made.number(2, kInt64).bytes(8, name).bytes(9, bytes).text();
    };
    Message body;
    body.bytes(1, node("Slice", {"z", "one", "end"}, {"tail"}))
        .bytes(1, node("Slice", {"z", "zero", "one"}, {"head"}))
        .bytes(1, node("Concat", {"tail", "head"}, {"turned"},
                       {Message().bytes(1, "axis").number(3, 0).number(20, 2).text()}))
        .bytes(1, node("Identity", {"turned"}, {"kept"}))
        .bytes(1, node("Identity", {"on"}, {"goes_on"}))
        .bytes(2, "body");
    body.bytes(11, value("i", kInt64, 0)).bytes(11, value("on", kBool, 0));
    body.bytes(11, value("z", kComplex128, 2)).bytes(12, value("goes_on", kBool, 0));
    body.bytes(12, value("turned", kComplex128, 2)).bytes(12, value("kept", kComplex128, 2));
    const auto branch = [](const char* from, const char* to) {
        return Message()
            .bytes(1, node("Identity", {from}, {to}))
            .bytes(2, "branch")
            .bytes(12, value(to, kComplex128, 2))
            .text();
    };
    Message graph;
    graph
        .bytes(1, node("Loop", {"rounds", "", "x"}, {"last", "all"},
                       {graph_attribute("body", body.text())}))
        .bytes(1, node("If", {"c"}, {"y"},
                       {graph_attribute("then_branch", branch("last", "a")),
                        graph_attribute("else_branch", branch("w", "b"))}))
        .bytes(1, node("Reshape", {"all", "flat"}, {"list"}))
        .bytes(2, "g")
        .bytes(5, parts.text());
    graph.bytes(5, integers("rounds", 3, true)).bytes(5, integers("zero", 0, false));
    graph.bytes(5, integers("one", 1, false)).bytes(5, integers("end", 2, false));
    graph.bytes(5, integers("flat", -1, false));
    graph.bytes(11, value("x", kComplex128, 2)).bytes(11, value("c", kBool, 0));
    graph.bytes(12, value("y", kComplex128, 2)).bytes(12, value("list", kComplex128, 6));
    const std::string opset = Message().bytes(1, "").number(2, 20).text();
    return Message().number(1, 9).bytes(8, opset).bytes(7, graph.text()).text();
}

class ComplexTest : public ApiTest
{
  protected:
    Values result(graph_t graph, int output, size_t number)
    {
        Values values(number);
        const int bytes = static_cast<int>(number * sizeof(Complex));
        EXPECT_EQ(get_tensor_data(tengine_graph_get_output(graph, output), values.data(), bytes), 0)
            << get_tengine_error();
        return values;
    }

    void expect_results(graph_t graph)
    {
        ASSERT_NE(graph, nullptr) << get_tengine_error();
        tensor_t x = tengine_graph_get_input(graph, 0);
        EXPECT_EQ(get_tensor_data_type(x), TENGINE_DT_COMPLEX128);
        // The buffer begins in the middle of an element, as an array of doubles may.
        alignas(16) double memory[5] = {0, 1, 2, 3, 4};
        EXPECT_EQ(set_tensor_buffer(x, memory + 1, 32), 0) << get_tengine_error();
        uint8_t condition = 1;
        EXPECT_EQ(set_tensor_buffer(tengine_graph_get_input(graph, 1), &condition, 1), 0);
        ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
        ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
        EXPECT_EQ(result(graph, 0, 2), (Values{{3, 4}, {1, 2}}));
        EXPECT_EQ(result(graph, 1, 6), (Values{{3, 4}, {1, 2}, {1, 2}, {3, 4}, {3, 4}, {1, 2}}));
        condition = 0;
        ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
        EXPECT_EQ(result(graph, 0, 2), (Values{{1, -1}, {2, -2}}));
    }
};

TEST_F(ComplexTest, GoThroughControlFlowAndBothFormats)
{
    const std::string model = make_model();
    graph_t graph = create_graph(nullptr, "onnx:m", model.data(), static_cast<int>(model.size()));
    expect_results(graph);
    const std::string folder = testing::TempDir() + "complex_test." + std::to_string(getpid());
    std::filesystem::create_directory(folder);
    for (const char* format : {"onnx", "tengine"}) {
        const std::string file = folder + "/model";
        ASSERT_EQ(save_graph(graph, format, file.c_str()), 0) << get_tengine_error();
        graph_t saved = create_graph(nullptr, format, file.c_str());
        expect_results(saved);
        destroy_graph(saved);
    }
    std::filesystem::remove_all(folder);
    destroy_graph(graph);
}

TEST_F(ComplexTest, HaveTheSizeOfTheirParts)
{
    EXPECT_EQ(tengine_data_type_get_size(TENGINE_DT_COMPLEX64), 8);
    EXPECT_EQ(tengine_data_type_get_bits(TENGINE_DT_COMPLEX128), 128);
    EXPECT_STREQ(tengine_data_type_get_name(TENGINE_DT_COMPLEX64), "complex64");
    EXPECT_STREQ(tengine_data_type_get_name(TENGINE_DT_COMPLEX128), "complex128");
}

}  // namespace
}  // namespace tengine
