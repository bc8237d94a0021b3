// SPDX-License-Identifier: Apache-2.0
#include "vendor.h"

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <random>

#include "tengine/inspect.h"

namespace tengine::tpu {
namespace {

// Adds constants and nodes of quantised operators.
class Writer
{
  public:
    explicit Writer(graph_t graph) : graph_(graph) {}

    tensor_t convolve(const char* name, tensor_t x, int outputs, int inputs)
    {
        Bytes weights(static_cast<size_t>(outputs) * static_cast<size_t>(inputs) * 9);
        for (uint8_t& weight : weights)
            weight = static_cast<uint8_t>(random_());
        const tensor_t w = constant({outputs, inputs, 3, 3}, weights.data(), TENGINE_DT_INT8);
        const float fine = 0.002f;
        const tensor_t weight_scale = constant({}, &fine, TENGINE_DT_FP32);
        return add_node(graph_, name, "QLinearConv",
                        {x, scale(), zero(), w, weight_scale, zero(), scale(), zero()},
                        TENGINE_DT_INT8);
    }
    tensor_t squash(tensor_t x)
    {
        const tensor_t real = add_node(graph_, "real", "DequantizeLinear", {x, scale(), zero()});
        const tensor_t tanh = add_node(graph_, "tanh", "Tanh", {real});
        return add_node(graph_, "stored", "QuantizeLinear", {tanh, scale(), zero()},
                        TENGINE_DT_INT8);
    }

  private:
    tensor_t scale()
    {
        const float value = 0.02f;
        return constant({}, &value, TENGINE_DT_FP32);
    }
    tensor_t zero()
    {
        const int8_t value = 0;
        return constant({}, &value, TENGINE_DT_INT8);
    }
    tensor_t constant(const std::vector<int>& dims, const void* data, int data_type)
    {
        return add_constant(graph_, ("c" + std::to_string(number_++)).c_str(), dims, data,
                            data_type);
    }

    graph_t graph_;
    std::mt19937 random_{3};
    int number_ = 0;
};

}  // namespace

void VendorTest::SetUp()
{
    ApiTest::SetUp();
    folder_ = testing::TempDir() + "tpu_plugin_" + std::to_string(getpid());
    std::filesystem::create_directory(folder_);
}

void VendorTest::TearDown()
{
    if (is_registered_) {
        EXPECT_EQ(tengine_unregister_dispatch(&dispatch_), 0) << tengine_error_message();
        EXPECT_EQ(tengine_unregister_compiler(&compiler_), 0) << tengine_error_message();
    }
    ApiTest::TearDown();
    std::filesystem::remove_all(folder_);
}

void VendorTest::register_both()
{
    ASSERT_EQ(tengine_register_dispatch(&dispatch_), 0) << tengine_error_message();
    ASSERT_EQ(tengine_register_compiler(&compiler_), 0) << tengine_error_message();
    is_registered_ = true;
}

std::string VendorTest::save_model(const char* format)
{
    const std::string file = path(std::string("model.") + format);
    const graph_t graph = create_graph(nullptr, nullptr, nullptr);
    Writer writer(graph);
    const tensor_t x = add_input(graph, "x", {1, 4, 8, 8}, TENGINE_DT_INT8);
    const tensor_t wide = writer.convolve("wide", x, 8, 4);
    writer.convolve("y", writer.squash(wide), 4, 8);
    EXPECT_TRUE(set_borders(graph, {"x"}, {"y"})) << get_tengine_error();
    EXPECT_EQ(save_graph(graph, format, file.c_str()), 0) << get_tengine_error();
    destroy_graph(graph);
    return file;
}

graph_t VendorTest::prepare(const std::string& path, const char* device,
                            const OptionValues& options)
{
    const context_t context = create_context("c", 1);
    EXPECT_EQ(add_context_device(context, device), 0) << get_tengine_error();
    OptionValues all = {{"split.prune", "0"}};
    all.insert(all.end(), options.begin(), options.end());
    for (const auto& [key, value] : all)
        EXPECT_EQ(tengine_context_set_option(context, key.c_str(), value.c_str()), 0)
            << get_tengine_error();
    const bool is_onnx = path.find(".onnx") != std::string::npos;
    const graph_t graph = create_graph(context, is_onnx ? "onnx" : "tengine", path.c_str());
    EXPECT_NE(graph, nullptr) << get_tengine_error();
    destroy_context(context);
    EXPECT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    return graph;
}

Bytes VendorTest::run(graph_t graph)
{
    Bytes x(4 * 8 * 8);
    std::mt19937 random(5);
    for (uint8_t& byte : x)
        byte = static_cast<uint8_t>(random());
    const tensor_t input = tengine_graph_get_input(graph, 0);
    const tensor_t output = tengine_graph_get_output(graph, 0);
    EXPECT_EQ(set_tensor_buffer(input, x.data(), static_cast<int>(x.size())), 0);
    EXPECT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
    const auto* y = static_cast<const uint8_t*>(get_tensor_buffer(output));
    return {y, y + get_tensor_buffer_size(output)};
}

std::string VendorTest::list_parts(graph_t graph)
{
    std::string letters;
    tengine_subgraph part;
    for (int i = 0; tengine_graph_get_subgraph(graph, i, &part) == 0; ++i)
        letters += part.device[std::strlen(part.device) - 1];
    take_logged_failures();
    return letters;
}

double VendorTest::count_cycles(graph_t graph, int part)
{
    tengine_counter counters[32];
    const int number = tengine_graph_get_counters(graph, part, counters, 32);
    for (int i = 0; i < number; ++i)
        if (std::strcmp(counters[i].name, "cycles") == 0) return counters[i].value;
    return -1;
}

std::string VendorTest::refusal(graph_t graph)
{
    tengine_refusal found{};
    if (tengine_graph_get_refusal(graph, 0, 0, &found) != 0) return "none";
    return found.message;
}

}  // namespace tengine::tpu
