// SPDX-License-Identifier: Apache-2.0
// The TPU as a vendor's compiler and dispatch gives the results of the device, ahead of time and at
// load, counts the same cycles, and stops on request.
#include <gmock/gmock.h>
#include <iterator>
#include <set>
#include <string>

#include "tengine/inspect.h"
#include "vendor.h"

namespace tengine::tpu {
namespace {

using testing::HasSubstr;

TEST_F(VendorTest, ResultsAndCyclesAreTheDevices)
{
    register_both();
    const std::string model = save_model("onnx");
    graph_t graph = prepare(model, "CPU");
    const Bytes wanted = run(graph);
    destroy_graph(graph);
    std::set<double> cycles;
    for (const std::string machine : kMachines) {
        graph = prepare(model, "TPU", {{"TPU.config", machine}});
        ASSERT_EQ(list_parts(graph), "UUU") << refusal(graph);
        EXPECT_EQ(run(graph), wanted) << machine;
        const double first = count_cycles(graph, 0), last = count_cycles(graph, 2);
        destroy_graph(graph);
        graph = prepare(model, kPluginDevice, {{"TPU_PLUGIN.soc", machine}});
        ASSERT_EQ(list_parts(graph), "NUN") << refusal(graph);
        EXPECT_EQ(run(graph), wanted) << machine;
        EXPECT_GT(first, 0);
        EXPECT_EQ(count_cycles(graph, 0), first) << machine;
        EXPECT_EQ(count_cycles(graph, 2), last) << machine;
        cycles.insert(first);
        destroy_graph(graph);
    }
    // The cycles differ between machines.
    EXPECT_EQ(cycles.size(), std::size(kMachines));
}

TEST_F(VendorTest, WithoutAMachineItIsTheDevicesDefault)
{
    register_both();
    const std::string model = save_model("onnx");
    graph_t graph = prepare(model, "TPU");
    run(graph);
    const double wanted = count_cycles(graph, 0);
    destroy_graph(graph);
    graph = prepare(model, kPluginDevice);
    run(graph);
    EXPECT_EQ(count_cycles(graph, 0), wanted);
    destroy_graph(graph);
}

TEST_F(VendorTest, WhatWasCompiledAheadRunsOnTheDispatchAlone)
{
    const std::string model = save_model("tengine"), compiled = path("compiled.tengine");
    const OptionValues machine = {{"TPU_PLUGIN.soc", "scale32"}};
    ASSERT_EQ(tengine_register_compiler(&compiler_), 0) << tengine_error_message();
    OptionValues keeping = machine;
    keeping.emplace_back("model.keep_parts", "1");
    graph_t graph = prepare(model, kPluginDevice, keeping);
    ASSERT_EQ(save_graph(graph, "tengine", compiled.c_str()), 0) << get_tengine_error();
    const Bytes wanted = run(graph);  // on the CPU
    EXPECT_THAT(refusal(graph), HasSubstr("TPU_PLUGIN has no dispatch here"));
    destroy_graph(graph);
    ASSERT_EQ(tengine_unregister_compiler(&compiler_), 0) << tengine_error_message();

    ASSERT_EQ(tengine_register_dispatch(&dispatch_), 0) << tengine_error_message();
    graph = prepare(compiled, kPluginDevice, machine);
    ASSERT_EQ(list_parts(graph), "NUN") << refusal(graph);
    for (const int part : {0, 2}) {
        int origin = -1;
        EXPECT_EQ(tengine_graph_get_subgraph_origin(graph, part, &origin), 0);
        EXPECT_EQ(origin, TENGINE_PART_FROM_MODEL);
    }
    EXPECT_EQ(run(graph), wanted);
    destroy_graph(graph);
    // Parts compiled for another machine are not used.
    graph = prepare(compiled, kPluginDevice, {{"TPU_PLUGIN.soc", "edge"}});
    EXPECT_EQ(list_parts(graph), "U");
    EXPECT_EQ(run(graph), wanted);
    destroy_graph(graph);
    ASSERT_EQ(tengine_unregister_dispatch(&dispatch_), 0) << tengine_error_message();
}

TEST_F(VendorTest, TheCacheSavesTheCompiler)
{
    register_both();
    const std::string model = save_model("onnx");
    Bytes wanted;
    for (const int expected : {TENGINE_PART_COMPILED, TENGINE_PART_FROM_CACHE}) {
        const graph_t graph = prepare(model, kPluginDevice, {{"cache.dir", path("cache")}});
        int origin = -1;
        EXPECT_EQ(tengine_graph_get_subgraph_origin(graph, 0, &origin), 0);
        EXPECT_EQ(origin, expected);
        const Bytes results = run(graph);
        if (wanted.empty()) wanted = results;
        EXPECT_EQ(results, wanted);
        destroy_graph(graph);
    }
}

TEST_F(VendorTest, NodesThatAreLeftOutHaveAReason)
{
    register_both();
    const graph_t graph = prepare(save_model("onnx"), kPluginDevice);
    tengine_execution_node node{};
    tengine_refusal found{};
    int index = 0;
    while (tengine_graph_get_execution_node(graph, index, &node) == 0 &&
           std::string(node.op) != "Tanh")
        ++index;
    ASSERT_EQ(tengine_graph_get_refusal(graph, index, 0, &found), 0);
    EXPECT_STREQ(found.message, "Tanh is not supported");
    destroy_graph(graph);
}

// Makes a module of `number` instructions.
Bytes make_idle_module(int number)
{
    std::string text = ".version " + std::to_string(kIsaVersion) + "\n.host 64\n";
    for (int i = 1; i < number; ++i)
        text += "nop\n";
    Program program;
    Config config;
    EXPECT_EQ(assemble(text + "halt\n", &program), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(load_config("edge", &config), TENGINE_OK);
    program.fingerprint = fingerprint_of(config);
    return make_module(config, program);
}

TEST_F(VendorTest, ACancelledInvocationEnds)
{
    const Bytes bytes = make_idle_module(1000);
    void *module = nullptr, *invocation = nullptr;
    ASSERT_EQ(dispatch_.load(bytes.data(), bytes.size(), &module), 0) << tengine_error_message();
    ASSERT_EQ(dispatch_.create_invocation(module, "program", 0, 0, &invocation), 0)
        << tengine_error_message();
    EXPECT_EQ(dispatch_.invoke(invocation), 0) << tengine_error_message();
    dispatch_.cancel(invocation);
    EXPECT_EQ(dispatch_.invoke(invocation), TENGINE_EDEVICE);
    EXPECT_THAT(tengine_error_message(), HasSubstr("before the run was cancelled"));
    dispatch_.destroy_invocation(invocation);
    dispatch_.unload(module);
}

TEST_F(VendorTest, MetricsEnd)
{
    const Bytes bytes = make_idle_module(10);
    void *module = nullptr, *invocation = nullptr;
    ASSERT_EQ(dispatch_.load(bytes.data(), bytes.size(), &module), 0) << tengine_error_message();
    ASSERT_EQ(dispatch_.create_invocation(module, "program", 0, 0, &invocation), 0);
    ir_counter_t metric{};
    EXPECT_EQ(dispatch_.get_metric(invocation, 0, &metric), 1);
    EXPECT_STREQ(metric.name, "cycles");
    EXPECT_GE(metric.value, 10);
    EXPECT_EQ(dispatch_.get_metric(invocation, 1, &metric), 0);
    dispatch_.destroy_invocation(invocation);
    dispatch_.unload(module);
}

// Functions that a plug-in contains from the archive would be called in place of the library's.
TEST_F(VendorTest, APluginThatDoesNotSeeTheLibraryIsRefused)
{
    for (const tengine_plugin_t* plugin : {tpu_compiler_plugin(), tpu_dispatch_plugin()}) {
        EXPECT_EQ(plugin->init(), TENGINE_ENOTSUP);
        EXPECT_THAT(tengine_error_message(), HasSubstr("does not see the library"));
    }
}

#ifdef TENGINE_PLUGIN_DIR
TEST_F(VendorTest, ThePluginsThemselvesRun)
{
    const std::string model = save_model("onnx");
    graph_t graph = prepare(model, "TPU");
    const Bytes wanted = run(graph);
    destroy_graph(graph);
    for (const char* file : {"/tpu_compiler.so", "/tpu_dispatch.so"})
        ASSERT_EQ(tengine_plugin_load((std::string(TENGINE_PLUGIN_DIR) + file).c_str()), 1)
            << get_tengine_error();
    graph = prepare(model, kPluginDevice);
    EXPECT_EQ(list_parts(graph), "NUN") << refusal(graph);
    EXPECT_EQ(run(graph), wanted);
    destroy_graph(graph);
    for (const char* name : {"tpu_dispatch", "tpu_compiler"})
        EXPECT_EQ(unload_tengine_plugin(name, nullptr), 0) << get_tengine_error();
}
#endif

}  // namespace
}  // namespace tengine::tpu
