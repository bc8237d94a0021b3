// SPDX-License-Identifier: Apache-2.0
// placement.h: affinities and options that a model sets, in files of all formats, instances and
// quantised copies; what the program sets comes before them. Values of y are those of the formula.
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "fixture.h"
#include "onnx_bytes.h"
#include "support/test_device.h"
#include "tengine/graph.h"
#include "tengine/inspect.h"
#include "tengine/metadata.h"
#include "tengine/placement.h"
#include "tengine/quantize.h"

namespace tengine {
namespace {

using Properties = std::vector<std::pair<std::string, std::string>>;

class HintTest : public ApiTest
{
  protected:
    void SetUp() override
    {
        ApiTest::SetUp();
        device_ =
            std::make_unique<test::TestDevice>("FAST", std::vector<std::string>{"Neg", "Abs"});
        context_ = create_context("hints", 1);
        ASSERT_EQ(add_context_device(context_, "FAST"), 0);
    }
    void TearDown() override
    {
        for (const graph_t graph : graphs_)
            EXPECT_EQ(destroy_graph(graph), 0);
        destroy_context(context_);
        device_.reset();
        ApiTest::TearDown();
    }

    graph_t own(graph_t graph)
    {
        EXPECT_NE(graph, nullptr) << get_tengine_error();
        if (graph) graphs_.push_back(graph);
        return graph;
    }

    // y = |-x| of shape [2]; the nodes are "first" (Neg) and "second" (Abs).
    graph_t load(const Properties& properties, context_t context)
    {
        Message message;
        for (const auto& [key, value] : properties)
            message.bytes(14, make_property(key, value));
        const std::string bytes =
            make_model({make_node("Neg", {"x"}, "first", "first"),
                        make_node("Abs", {"first"}, "second", "second")},
                       {make_value_info("x", {"n"})}, make_value_info("second", {"n"})) +
            message.text();
        const graph_t graph = own(tengine_graph_load(context, "onnx", bytes.data(), bytes.size()));
        shape(graph);
        return graph;
    }

    static void shape(graph_t graph)
    {
        const int dims[] = {2};
        ASSERT_EQ(set_tensor_shape(get_graph_tensor(graph, "x"), dims, 1), 0);
    }

    graph_t save_and_load(graph_t graph, const char* format, context_t context)
    {
        const std::string path = testing::TempDir() + "hint_" + std::to_string(getpid()) + ".model";
        EXPECT_EQ(save_graph(graph, format, path.c_str()), 0) << get_tengine_error();
        const graph_t loaded = own(create_graph(context, format, path.c_str()));
        std::remove(path.c_str());
        return loaded;
    }

    std::unique_ptr<test::TestDevice> device_;
    context_t context_ = nullptr;
    std::vector<graph_t> graphs_;
};

// The devices of the nodes in the order in which they run, "FAST CPU".
std::string devices_of(graph_t graph)
{
    EXPECT_TRUE(write_floats(tengine_graph_get_input(graph, 0), {1, -2}));
    EXPECT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    EXPECT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
    EXPECT_EQ(read_floats(tengine_graph_get_output(graph, 0)), (std::vector<float>{1, 2}));
    std::string text;
    tengine_execution_node node;
    for (int i = 0; i < tengine_graph_get_execution_node_number(graph); ++i) {
        EXPECT_EQ(tengine_graph_get_execution_node(graph, i, &node), 0);
        text += (i > 0 ? " " : "") + std::string(node.device);
    }
    return text;
}

// "op:Abs=CPU 1" for each hint, with the reason if it is not used.
std::string hints_of(graph_t graph)
{
    std::string text;
    for (int i = 0; i < tengine_graph_get_hint_number(graph); ++i) {
        tengine_hint hint;
        EXPECT_EQ(tengine_graph_get_hint(graph, i, &hint, sizeof hint), 0);
        EXPECT_EQ(hint.is_used != 0, hint.reason[0] == '\0');
        text += (i > 0 ? "; " : "") + std::string(hint.nodes) + hint.option + "=" + hint.value +
                " " + std::to_string(hint.node_number) + (hint.is_used ? "" : " ") + hint.reason;
    }
    return text;
}

TEST_F(HintTest, TheModelPlacesItsNodes)
{
    EXPECT_EQ(devices_of(load({}, context_)), "FAST FAST");
    const graph_t graph = load({{"tengine.affinity.op:Abs", "CPU"}}, context_);
    EXPECT_EQ(devices_of(graph), "FAST CPU");
    EXPECT_EQ(hints_of(graph), "op:Abs=CPU 1");
    tengine_refusal refusal;
    ASSERT_EQ(tengine_graph_get_refusal(graph, 1, 0, &refusal), 0);
    EXPECT_STREQ(refusal.message, "excluded by the model's affinity 'CPU'");
}

TEST_F(HintTest, TheLastRuleThatMatchesCounts)
{
    const graph_t graph = load({{"tengine.affinity.*", "CPU"},
                                {"other", "x"},
                                {"tengine.affinity.first", "!CPU"},
                                {"tengine.affinity.op:Neg", "FAST"}},
                               context_);
    EXPECT_EQ(devices_of(graph), "FAST CPU");
    EXPECT_EQ(hints_of(graph),
              "*=CPU 1; first=!CPU 0 later affinities decide about its nodes; op:Neg=FAST 1");
}

TEST_F(HintTest, TheProgramComesFirst)
{
    const graph_t graph = load({{"tengine.affinity.*", "CPU"}}, context_);
    ASSERT_EQ(tengine_graph_set_affinity(graph, "*", "FAST"), 0);
    EXPECT_EQ(devices_of(graph), "FAST FAST");
    EXPECT_EQ(hints_of(graph), "*=CPU 0 later affinities decide about its nodes");
    EXPECT_EQ(devices_of(save_and_load(graph, "onnx", context_)), "FAST FAST");
}

TEST_F(HintTest, DevicesThatAreNotThereAreNoError)
{
    const Properties properties = {{"tengine.affinity.*", "CPU"},
                                   {"tengine.affinity.first", "NONE,OTHER#2"},
                                   {"tengine.affinity.second", "NONE, FAST"},
                                   {"tengine.affinity.other", "CPU"}};
    const graph_t graph = load(properties, context_);
    EXPECT_EQ(devices_of(graph), "CPU FAST");
    EXPECT_EQ(hints_of(graph),
              "*=CPU 1; first=NONE,OTHER#2 0 the graph has no device 'NONE,OTHER#2'; "
              "second=NONE, FAST 1; other=CPU 0 no node of the model matches");
    EXPECT_EQ(devices_of(load(properties, nullptr)), "CPU CPU");
}

TEST_F(HintTest, AnOptionIgnoresThem)
{
    ASSERT_EQ(tengine_context_set_option(context_, "model.hints", "0"), 0);
    const graph_t graph =
        load({{"tengine.affinity.*", "CPU"}, {"tengine.option.split.min_nodes", "100"}}, context_);
    EXPECT_EQ(devices_of(graph), "FAST FAST");
    EXPECT_EQ(hints_of(graph),
              "*=CPU 0 the option model.hints is 0; split.min_nodes=100 0 the option model.hints "
              "is 0");
    ASSERT_EQ(tengine_context_set_option(context_, "model.hints", "1"), 0);
    EXPECT_EQ(devices_of(graph), "CPU CPU");
}

TEST_F(HintTest, TheModelSetsOptions)
{
    const graph_t graph = load({{"tengine.option.split.min_nodes", "3"}}, context_);
    EXPECT_EQ(devices_of(graph), "CPU CPU");
    ASSERT_EQ(tengine_graph_set_hint(graph, "split.min_nodes", "2"), 0) << get_tengine_error();
    EXPECT_EQ(devices_of(graph), "FAST FAST");
    EXPECT_EQ(hints_of(graph), "split.min_nodes=2 0");
    for (const char* format : {"onnx", "tengine"})
        EXPECT_EQ(hints_of(save_and_load(graph, format, context_)), "split.min_nodes=2 0");
    ASSERT_EQ(tengine_context_set_option(context_, "split.min_nodes", "5"), 0);
    EXPECT_EQ(devices_of(graph), "CPU CPU");
    EXPECT_EQ(hints_of(graph), "split.min_nodes=2 0 the program sets '5'");
}

// A file may set nothing that reads or writes files, loads code, or takes threads.
TEST_F(HintTest, OtherOptionsAreLeftOut)
{
    const graph_t graph = load({{"tengine.option.cache.dir", "/tmp/elsewhere"},
                                {"tengine.option.precision.table", "/etc/passwd"},
                                {"tengine.option.FAST.config", "x"},
                                {"tengine.option.scheduler", "pipeline"},
                                {"tengine.option.split.fail_on_fallback", "1"},
                                {"tengine.option.", "1"},
                                {"tengine.option.split.prune", "perhaps"},
                                {"tengine.option.split.min_macs", "-1"}},
                               context_);
    EXPECT_EQ(devices_of(graph), "FAST FAST");
    EXPECT_EQ(hints_of(graph),
              "split.prune=perhaps 0 the option cannot have this value; "
              "split.min_macs=-1 0 the option cannot have this value");
}

TEST_F(HintTest, InvalidRulesAreLeftOut)
{
    const graph_t graph = load({{"tengine.affinity.", "CPU"},
                                {"tengine.affinity.first", ""},
                                {"tengine.affinity.second", "CPU,!FAST"},
                                {"tengine.affinity.*", "FAST#0"},
                                {"tengine.affinity.?irst", "CPU"}},
                               context_);
    EXPECT_EQ(hints_of(graph), "?irst=CPU 1");
    EXPECT_EQ(devices_of(graph), "CPU FAST");
}

// Rules whose comparison would take minutes.
TEST_F(HintTest, TooManyRulesAreLeftOut)
{
    Properties properties;
    for (int i = 0; i < 40000; ++i)
        properties.emplace_back("tengine.affinity.*" + std::to_string(i), "CPU");
    properties.emplace_back("tengine.affinity.*", "CPU");
    const graph_t graph = load(properties, context_);
    EXPECT_LT(tengine_graph_get_hint_number(graph), 40000);
    EXPECT_EQ(devices_of(graph), "FAST FAST");
    std::string stars;
    stars.resize(30000000, '*');
    const graph_t long_one = load({{"tengine.affinity." + stars + "z", "CPU"}}, context_);
    EXPECT_EQ(tengine_graph_get_hint_number(long_one), 0);
}

TEST_F(HintTest, AllFormatsKeepThem)
{
    for (const char* format : {"onnx", "tengine", "tflite"}) {
        SCOPED_TRACE(format);
        graph_t graph = load({{"tengine.affinity.*", "CPU"}}, context_);
        ASSERT_EQ(tengine_graph_set_affinity(graph, "op:Neg", "!CPU"), 0);
        for (const char* next : {format, format, "onnx"}) {
            graph = save_and_load(graph, next, context_);
            EXPECT_EQ(devices_of(graph), "FAST CPU");
            EXPECT_EQ(hints_of(graph), "*=CPU 1; op:Neg=!CPU 1");
        }
    }
}

TEST_F(HintTest, OperatorsOfAllFormatsHaveNamesOfOnnx)
{
    for (const char* format : {"tengine", "tflite"}) {
        SCOPED_TRACE(format);
        const graph_t graph = save_and_load(load({}, context_), format, context_);
        EXPECT_EQ(tengine_graph_set_affinity(graph, "op:Neh", "CPU"), -1);
        EXPECT_EQ(tengine_graph_set_affinity(graph, "op:CONV_2D", "CPU"), -1);
        ASSERT_EQ(tengine_graph_set_affinity(graph, "op:Ne?", "CPU"), 0) << get_tengine_error();
        shape(graph);
        EXPECT_EQ(devices_of(graph), "CPU FAST");
        EXPECT_EQ(tengine_graph_set_affinity(graph, "op:Softmax", "CPU"), 0) << "it may have one";
    }
}

TEST_F(HintTest, SavingChangesNothing)
{
    const graph_t graph = load({{"kept", "value"}}, context_);
    ASSERT_EQ(tengine_graph_set_affinity(graph, "first", "CPU"), 0);
    const char* before = tengine_graph_find_property(graph, "kept");
    save_and_load(graph, "onnx", context_);
    EXPECT_EQ(tengine_graph_find_property(graph, "kept"), before);
    EXPECT_EQ(tengine_graph_get_hint_number(graph), 0);
}

TEST_F(HintTest, CopiesHaveThem)
{
    const graph_t graph = load({{"tengine.affinity.first", "CPU"}}, context_);
    ASSERT_EQ(tengine_graph_set_affinity(graph, "second", "!FAST"), 0);
    const graph_t instance = own(tengine_graph_share(graph));
    EXPECT_EQ(devices_of(instance), "CPU CPU");
    EXPECT_EQ(hints_of(instance), "first=CPU 1");

    tengine_quantization how = {};
    how.get_range = [](void*, const char*, double* low, double* high) {
        *low = -4;
        *high = 4;
        return 0;
    };
    const graph_t quantized = own(tengine_graph_quantize(graph, &how));
    EXPECT_EQ(hints_of(quantized), "first=CPU 1");
    EXPECT_EQ(hints_of(save_and_load(quantized, "onnx", context_)), "first=CPU 1; second=!FAST 1");
}

TEST_F(HintTest, WrongArguments)
{
    const graph_t graph = load({}, context_);
    tengine_hint hint;
    EXPECT_EQ(tengine_graph_get_hint(graph, 0, &hint, sizeof hint), -1);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    EXPECT_EQ(tengine_graph_get_hint(graph, -1, &hint, sizeof hint), -1);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    EXPECT_EQ(tengine_graph_get_hint(graph, 0, nullptr, sizeof hint), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_graph_set_hint(graph, "cache.dir", "/tmp"), -1);
    EXPECT_TRUE(failed_with(TENGINE_ENOENT));
    EXPECT_EQ(tengine_graph_set_hint(graph, "split.prune", "2"), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_graph_set_hint(graph, "split.min_nodes", "-1"), -1);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    EXPECT_EQ(tengine_graph_set_hint(graph, "precision.keep_float", std::string(5000, 'x').c_str()),
              -1);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    EXPECT_EQ(tengine_graph_set_hint(graph, nullptr, "1"), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_graph_get_hint_number(graph), 0);
}

}  // namespace
}  // namespace tengine
