// SPDX-License-Identifier: Apache-2.0
// The compiler plug-in of LiteRT's guide, built with tengine/compat/litert, beside its dispatch.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "fixture.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

constexpr int kRows = 3, kColumns = 8;

std::string plugin(const char* name)
{
    return std::string(TENGINE_PLUGIN_DIR "/litert_") + name + ".so";
}

class LiteRtTest : public ApiTest
{
  protected:
    void TearDown() override
    {
        if (graph_) destroy_graph(graph_);
        ApiTest::TearDown();
    }

    // y = tanh(rms_norm(x * 0.5 - x) * scale) + x, with scale 1, 2, ...
    void prepare(const char* soc)
    {
        for (const char* name : {"compiler", "dispatch"})
            ASSERT_EQ(tengine_plugin_load(plugin(name).c_str()), 1) << get_tengine_error();
        const context_t context = create_context("c", 1);
        ASSERT_EQ(add_context_device(context, "EXAMPLE"), 0) << get_tengine_error();
        ASSERT_EQ(tengine_context_set_option(context, "EXAMPLE.soc", soc), 0)
            << get_tengine_error();
        graph_ = create_graph(context, nullptr, nullptr);
        destroy_context(context);
        const float half = 0.5f;
        std::vector<float> scales;
        for (int i = 1; i <= kColumns; ++i)
            scales.push_back(static_cast<float>(i));
        const tensor_t x = add_input(graph_, "x", {kRows, kColumns});
        const tensor_t factor = add_constant(graph_, "half", {1}, &half);
        const tensor_t scale = add_constant(graph_, "scale", {kColumns}, scales.data());
        const tensor_t halved = add_node(graph_, "halved", "Mul", {x, factor});
        const tensor_t less = add_node(graph_, "less", "Sub", {halved, x});
        const tensor_t normal = add_node(graph_, "normal", "RMSNormalization", {less, scale});
        const tensor_t tanh = add_node(graph_, "tanh", "Tanh", {normal});
        add_node(graph_, "y", "Add", {tanh, x});
        ASSERT_TRUE(set_borders(graph_, {"x"}, {"y"})) << get_tengine_error();
        ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    }

    std::string refusal(int node)
    {
        tengine_refusal found{};
        if (tengine_graph_get_refusal(graph_, node, 0, &found) != 0) return "none";
        return found.message;
    }

    graph_t graph_ = nullptr;
};

TEST_F(LiteRtTest, ThePublishedPluginCompilesAndRuns)
{
    prepare("ExampleSocModel");
    std::string devices;
    tengine_subgraph part;
    for (int i = 0; tengine_graph_get_subgraph(graph_, i, &part) == 0; ++i)
        devices += part.device[0];
    take_logged_failures();
    EXPECT_EQ(devices, "ECE");
    EXPECT_EQ(refusal(3), "not selected by the compiler");
    EXPECT_NE(std::string(tengine_device_get_features("EXAMPLE")).find("ExampleSocManufacturer"),
              std::string::npos);

    std::vector<float> values;
    for (int i = 0; i < kRows * kColumns; ++i)
        values.push_back(static_cast<float>(std::sin(i)));
    ASSERT_TRUE(write_floats(tengine_graph_get_input(graph_, 0), values));
    ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    const std::vector<float> y = read_floats(tengine_graph_get_output(graph_, 0));
    for (size_t row = 0; row < y.size(); row += kColumns) {
        double squares = 0;
        for (size_t i = row; i < row + kColumns; ++i)
            squares += 0.25 * values[i] * values[i];
        const double root = std::sqrt(squares / kColumns + 1e-5);
        for (size_t i = row; i < row + kColumns; ++i) {
            const double wanted =
                std::tanh(-0.5 * values[i] / root * double(i - row + 1)) + values[i];
            // Roundings of values below 8 (three) and below 2 (three).
            EXPECT_NEAR(y[i], wanted, 0x1p-24 * (3 * 8 + 3 * 2)) << i;
        }
    }
}

TEST_F(LiteRtTest, ChipsAreThoseOfThePlugin)
{
    prepare("OtherSocModel");
    const context_t context = create_context("c", 1);
    ASSERT_EQ(add_context_device(context, "EXAMPLE"), 0);
    EXPECT_LT(tengine_context_set_option(context, "EXAMPLE.soc", "UnknownSocModel"), 0);
    EXPECT_NE(std::string(tengine_error_message()).find("OtherSocModel"), std::string::npos)
        << tengine_error_message();
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    destroy_context(context);
}

class LiteRtReaderTest : public LiteRtTest
{
  protected:
    // y = softmax(rms_norm(x * factor) @ matrix); the factor is the first number of the scales.
    void prepare(const char* soc)
    {
        ASSERT_EQ(tengine_plugin_load(plugin("accessors").c_str()), 1) << get_tengine_error();
        const context_t context = create_context("c", 1);
        ASSERT_EQ(add_context_device(context, "READER"), 0) << get_tengine_error();
        ASSERT_EQ(tengine_context_set_option(context, "READER.soc", soc), 0) << get_tengine_error();
        graph_ = create_graph(context, nullptr, nullptr);
        destroy_context(context);
        for (size_t i = 0; i < numbers_.size(); ++i)
            numbers_[i] = static_cast<float>(i);
        const tensor_t x = add_input(graph_, "x", {kRows, kColumns});
        const tensor_t factor = add_constant(graph_, "factor", {1}, scales_.data());
        const tensor_t scale = add_constant(graph_, "scale", {kColumns}, scales_.data());
        ASSERT_EQ(set_tensor_buffer(factor, scales_.data(), sizeof(float)), 0);
        ASSERT_EQ(set_tensor_buffer(scale, scales_.data(), kColumns * int{sizeof(float)}), 0);
        const tensor_t matrix = add_constant(graph_, "matrix", {kColumns, 2}, numbers_.data());
        const float step = 0.25f, epsilon = 0.125f;
        const int zero = 7;
        ASSERT_EQ(set_tensor_quant_param(factor, &step, &zero, 1), 0);
        const tensor_t scaled = add_node(graph_, "scaled", "Mul", {x, factor});
        const tensor_t normal = add_node(graph_, "normal", "RMSNormalization", {scaled, scale});
        const node_t node = get_graph_node(graph_, "normal");
        ASSERT_EQ(set_node_attr_float(node, "epsilon", &epsilon), 0) << get_tengine_error();
        const tensor_t product = add_node(graph_, "product", "MatMul", {normal, matrix});
        add_node(graph_, "y", "Softmax", {product});
        ASSERT_TRUE(set_borders(graph_, {"x"}, {"y"})) << get_tengine_error();
        ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    }

    std::vector<float> scales_ = std::vector<float>(kColumns, 0.5f);
    std::vector<float> numbers_ = std::vector<float>(2 * kColumns);
};

TEST_F(LiteRtReaderTest, GraphsAreReadWithEveryFunction)
{
    prepare("Good");
    take_logged_failures();
    for (int node = 0; node < 4; ++node)
        EXPECT_EQ(refusal(node), "as expected") << node;
    EXPECT_NE(std::string(tengine_device_get_features("READER")).find("sdk 7.3"), std::string::npos)
        << tengine_device_get_features("READER");
}

TEST_F(LiteRtReaderTest, ACompilerMayRefuseAChip)
{
    prepare("Old");
    take_logged_failures();
    EXPECT_NE(
        refusal(0).find("LiteRtCompilerPluginCheckCompilerCompatibility returned status 4001"),
        std::string::npos)
        << refusal(0);
}

TEST_F(LiteRtTest, OtherVersionsOfTheInterfaceAreRefused)
{
    EXPECT_LT(tengine_plugin_load(plugin("other_version").c_str()), 0);
    EXPECT_NE(std::string(tengine_error_message())
                  .find("LiteRtGetCompilerPluginVersion says 0.2.0: expected 0.1.0"),
              std::string::npos)
        << tengine_error_message();
    EXPECT_TRUE(failed_with(TENGINE_EVERSION));
}

// What was built for LiteRT asks for functions and structures that are not here.
TEST_F(LiteRtTest, PluginsBuiltForLiteRtItselfAreRefused)
{
    for (const auto& [name, sentence] :
         {std::pair("generation_a",
                    "a compiler plug-in that was built for LiteRT: build its source "
                    "with tengine/compat/litert"),
          std::pair("generation_b",
                    "a compiler plug-in that was built for LiteRT 2.1.5 or newer, "
                    "whose LiteRtCompilerContext is not known")}) {
        EXPECT_LT(tengine_plugin_load(plugin(name).c_str()), 0);
        EXPECT_NE(std::string(tengine_error_message()).find(sentence), std::string::npos)
            << tengine_error_message();
        EXPECT_TRUE(failed_with(TENGINE_ENOENT));
    }
}

}  // namespace
}  // namespace tengine
