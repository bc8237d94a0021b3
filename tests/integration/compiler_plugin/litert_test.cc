// SPDX-License-Identifier: Apache-2.0
// The compiler plug-in of LiteRT's guide, built with tengine/compat/litert, with its dispatch.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fixture.h"
#include "tengine/inspect.h"
#include "tengine/log.h"

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

    void load(std::initializer_list<const char*> names)
    {
        for (const char* name : names)
            ASSERT_EQ(tengine_plugin_load(plugin(name).c_str()), 1) << get_tengine_error();
    }

    // Returns the device of each node, by its first letter.
    std::string list_devices()
    {
        std::string devices;
        tengine_execution_node node{};
        for (int i = 0; tengine_graph_get_execution_node(graph_, i, &node) == 0; ++i)
            devices += node.device[0];
        take_logged_failures();
        return devices;
    }

    // y = tanh(rms_norm(x * 0.5 - x) * scale) + x, with scale 1, 2, ...
    void prepare(const char* soc)
    {
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
    load({"compiler", "dispatch"});
    prepare("ExampleSocModel");
    EXPECT_EQ(list_devices(), "EEECE");
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

TEST_F(LiteRtTest, APluginMayListItsOperators)
{
    load({"listed"});
    ASSERT_EQ(tengine_device_get_operator_number("LISTED"), 4);
    EXPECT_STREQ(tengine_device_get_operator("LISTED", 0), "Mul");
    EXPECT_STREQ(tengine_device_get_operator("LISTED", 2), "Add");
    load({"compiler"});
    EXPECT_EQ(tengine_device_get_operator_number("EXAMPLE"), tengine_operator_get_number());
}

// RMSNormalization in six nodes comes as the composite, which the plug-in selects.
TEST_F(LiteRtTest, AListedCompositeComesForItsNodes)
{
    load({"listed"});
    const context_t context = create_context("c", 1);
    ASSERT_EQ(add_context_device(context, "LISTED"), 0) << get_tengine_error();
    graph_ = create_graph(context, nullptr, nullptr);
    destroy_context(context);
    const float two = 2, epsilon = 1e-5f;
    const std::vector<float> scales(kColumns, 0.5f);
    const tensor_t x = add_input(graph_, "x", {kRows, kColumns});
    const tensor_t square =
        add_node(graph_, "square", "Pow", {x, add_constant(graph_, "two", {}, &two)});
    const tensor_t mean = add_node(graph_, "mean", "ai.onnx.ReduceMean", {square});
    const int64_t axis = -1;
    ASSERT_EQ(set_node_input_tensor(get_graph_node(graph_, "mean"), 1,
                                    add_constant(graph_, "axis", {1}, &axis, TENGINE_DT_INT64)),
              0)
        << get_tengine_error();
    const tensor_t sum =
        add_node(graph_, "sum", "Add", {mean, add_constant(graph_, "epsilon", {}, &epsilon)});
    const tensor_t root = add_node(graph_, "root", "Sqrt", {sum});
    const tensor_t normal = add_node(graph_, "normal", "Div", {x, root});
    add_node(graph_, "y", "Mul",
             {normal, add_constant(graph_, "scale", {kColumns}, scales.data())});
    ASSERT_TRUE(set_borders(graph_, {"x"}, {"y"})) << get_tengine_error();
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    tengine_execution_node node{};
    ASSERT_EQ(tengine_graph_get_execution_node_number(graph_), 1);
    ASSERT_EQ(tengine_graph_get_execution_node(graph_, 0, &node), 0);
    EXPECT_STREQ(node.op, "RMSNormalization");
    EXPECT_STREQ(node.device, "LISTED");
}

TEST_F(LiteRtTest, ChipsAreThoseOfThePlugin)
{
    load({"compiler"});
    prepare("OtherSocModel");
    const context_t context = create_context("c", 1);
    ASSERT_EQ(add_context_device(context, "EXAMPLE"), 0);
    EXPECT_LT(tengine_context_set_option(context, "EXAMPLE.soc", "UnknownSocModel"), 0);
    EXPECT_NE(std::string(tengine_error_message()).find("OtherSocModel"), std::string::npos)
        << tengine_error_message();
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    destroy_context(context);
}

std::vector<std::string> warnings;

void keep_warning(int level, const char* line)
{
    if (level == TENGINE_LOG_WARNING) warnings.push_back(line);
}

class LiteRtReaderTest : public LiteRtTest
{
  protected:
    // y = softplus(rms_norm(x * factor) @ matrix); the factor is the first number of the scales.
    // clipped = x up to 4; found = positions where x is not 0.
    void prepare(const char* soc)
    {
        const context_t context = create_context("c", 1);
        ASSERT_EQ(add_context_device(context, "READER"), 0) << get_tengine_error();
        ASSERT_EQ(tengine_context_set_option(context, "READER.soc", soc), 0) << get_tengine_error();
        graph_ = create_graph(context, nullptr, nullptr);
        destroy_context(context);
        const tensor_t x = add_input(graph_, "x", {kRows, kColumns});
        add_product(x);
        const tensor_t clipped = add_node(graph_, "clipped", "ai.onnx.Clip", {x});
        ASSERT_NE(clipped, nullptr) << get_tengine_error();
        ASSERT_EQ(set_node_input_tensor(get_graph_node(graph_, "clipped"), 2,
                                        add_constant(graph_, "most", {}, &most_)),
                  0);
        add_node(graph_, "found", "NonZero", {x}, TENGINE_DT_INT64);
        ASSERT_TRUE(set_borders(graph_, {"x"}, {"y", "clipped", "found"})) << get_tengine_error();
        ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    }

    void add_product(tensor_t x)
    {
        for (size_t i = 0; i < numbers_.size(); ++i)
            numbers_[i] = static_cast<float>(i);
        const tensor_t factor = add_constant(graph_, "factor", {1}, scales_.data());
        const tensor_t scale = add_constant(graph_, "scale", {kColumns}, scales_.data());
        ASSERT_EQ(set_tensor_buffer(factor, scales_.data(), sizeof(float)), 0);
        ASSERT_EQ(set_tensor_buffer(scale, scales_.data(), kColumns * int{sizeof(float)}), 0);
        const tensor_t matrix = add_constant(graph_, "matrix", {kColumns, 2}, numbers_.data());
        const float step = 0.25f, steps[] = {0.5f, 0.125f}, epsilon = 0.125f;
        const int zero = 7, zeros[] = {3, -4};
        ASSERT_EQ(set_tensor_quant_param(factor, &step, &zero, 1), 0);
        ASSERT_EQ(set_tensor_quant_param(matrix, steps, zeros, 2), 0);
        const tensor_t scaled = add_node(graph_, "scaled", "Mul", {x, factor});
        const tensor_t normal = add_node(graph_, "normal", "RMSNormalization", {scaled, scale});
        const node_t node = get_graph_node(graph_, "normal");
        ASSERT_EQ(set_node_attr_float(node, "epsilon", &epsilon), 0) << get_tengine_error();
        const tensor_t product = add_node(graph_, "product", "MatMul", {normal, matrix});
        add_node(graph_, "y", "Softplus", {product});
    }

    // Returns the reason for the node of this name.
    std::string refusal_of(const std::string& name)
    {
        tengine_execution_node node{};
        for (int i = 0; tengine_graph_get_execution_node(graph_, i, &node) == 0; ++i)
            if (node.name == name) return refusal(i);
        return "no such node";
    }

    std::vector<float> scales_ = std::vector<float>(kColumns, 0.5f);
    std::vector<float> numbers_ = std::vector<float>(2 * kColumns);
    float most_ = 4;
};

TEST_F(LiteRtReaderTest, GraphsAreReadWithEveryFunction)
{
    load({"accessors"});
    prepare("Good");
    take_logged_failures();
    // The node of unknown shape goes to the CPU, whatever the compiler's choice.
    for (const char* name : {"scaled", "normal", "product", "y", "clipped"})
        EXPECT_EQ(refusal_of(name), "as expected") << name;
    EXPECT_EQ(tengine_graph_get_execution_node_number(graph_), 6);
    EXPECT_NE(std::string(tengine_device_get_features("READER")).find("sdk 7.3"), std::string::npos)
        << tengine_device_get_features("READER");
}

std::string read_files(const std::filesystem::path& folder)
{
    std::ostringstream text;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.is_regular_file()) text << std::ifstream(entry.path()).rdbuf();
    return text.str();
}

// Ensures that the test above and that of operators cover each added function.
TEST(LiteRtShimTest, EveryFunctionIsUsedByAPlugin)
{
    const std::string shim = read_files(TENGINE_SOURCE_DIR "/include/tengine/compat/litert");
    const std::string plugins =
        read_files(TENGINE_SOURCE_DIR "/tests/integration/compiler_plugin/litert");
    // A declaration has its type on the same line or on the line above.
    const std::regex declaration(R"((LiteRtStatus|void|char\*)\s+(LiteRt\w+)\()"),
        word(R"(LiteRt\w+)");
    std::set<std::string> used, unused;
    for (std::sregex_iterator i(plugins.begin(), plugins.end(), word), end; i != end; ++i)
        used.insert(i->str());
    int number = 0;
    for (std::sregex_iterator i(shim.begin(), shim.end(), declaration), end; i != end; ++i) {
        ++number;
        if (used.count((*i)[2]) == 0) unused.insert((*i)[2]);
    }
    EXPECT_EQ(unused, std::set<std::string>());
    EXPECT_GE(number, 70);
}

TEST_F(LiteRtReaderTest, TransformationsAreNotAppliedWithAWarning)
{
    warnings.clear();
    tengine_log_set_sink(keep_warning);
    load({"accessors"});
    tengine_log_set_sink(nullptr);
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find("LiteRT's transformation 'fold_gates' is not applied"),
              std::string::npos)
        << warnings[0];
}

// A result has a call for each part.
TEST_F(LiteRtReaderTest, AnotherNumberOfCallsIsAFailureOfTheCompiler)
{
    load({"accessors"});
    prepare("Miscounting");
    EXPECT_EQ(take_logged_failures(), std::vector<std::string>());
    EXPECT_NE(refusal_of("product").find(
                  "LiteRtGetNumCompiledResultCalls says 2: expected 1, one for each part"),
              std::string::npos)
        << refusal_of("product");
}

// Plug-ins in one process do not interfere, in any order of loading.
TEST_F(LiteRtReaderTest, PluginsDoNotMeetEachOther)
{
    load({"compiler", "dispatch", "operators", "accessors"});
    for (const auto& [device, manufacturer] :
         {std::pair("EXAMPLE", "ExampleSocManufacturer"), std::pair("OPERATORS", "Operators"),
          std::pair("READER", "Reader")}) {
        const std::string features = tengine_device_get_features(device);
        EXPECT_NE(features.find(manufacturer), std::string::npos) << features;
    }
    LiteRtTest::prepare("ExampleSocModel");
    EXPECT_EQ(list_devices(), "EEECE");
    destroy_graph(graph_);
    prepare("Good");
    EXPECT_EQ(refusal_of("product"), "as expected");
    destroy_graph(graph_);
    LiteRtTest::prepare("OtherSocModel");
    EXPECT_EQ(list_devices(), "EEECE");
}

TEST_F(LiteRtReaderTest, ACompilerMayRefuseAChip)
{
    load({"accessors"});
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

// A library that was built for LiteRT uses functions and structures that do not exist here.
TEST_F(LiteRtTest, PluginsBuiltForLiteRtItselfAreRefused)
{
    const char* again =
        "it was built for LiteRT: build the source of a compiler plug-in with "
        "tengine/compat/litert/litert.hpp";
    for (const auto& [name, sentence, cause] :
         {std::tuple("generation_a", again, "undefined symbol: LiteRtPushOp"),
          std::tuple("linked", again, ""),
          std::tuple("generation_b",
                     "it is a compiler plug-in that was built for LiteRT 2.1.5 or newer, whose "
                     "LiteRtCompilerContext is not known",
                     "")}) {
        EXPECT_LT(tengine_plugin_load(plugin(name).c_str()), 0);
        const std::string message = tengine_error_message();
        EXPECT_NE(message.find(plugin(name) + ": " + sentence), std::string::npos) << message;
        EXPECT_NE(message.find(cause), std::string::npos) << message;
        EXPECT_TRUE(failed_with(TENGINE_ENOENT));
    }
}

}  // namespace
}  // namespace tengine
