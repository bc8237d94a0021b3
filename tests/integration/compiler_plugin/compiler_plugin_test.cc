// SPDX-License-Identifier: Apache-2.0
// A vendor's compiler and dispatch: compilation at load, from the cache, ahead of time, and the
// fallback if a step fails.
#include "tengine/compiler_plugin.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>

#include "byte_code.h"
#include "fixture.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

const std::string kCompiler = TENGINE_PLUGIN_DIR "/acme_compiler.so";
const std::string kDispatch = TENGINE_PLUGIN_DIR "/acme_dispatch.so";

class CompilerPluginTest : public ApiTest
{
  protected:
    void SetUp() override
    {
        ApiTest::SetUp();
        folder_ = testing::TempDir() + "compiler_plugin_" + std::to_string(getpid()) + "_" +
                  testing::UnitTest::GetInstance()->current_test_info()->name();
        std::filesystem::create_directory(folder_);
        save_model();
    }

    void TearDown() override
    {
        ApiTest::TearDown();
        std::filesystem::remove_all(folder_);
    }

    // h = x * 0.5 - 0.25; n = h / sqrt(mean(h * h) + 1e-5); y = tanh(n) + x; x of 4x16.
    void save_model()
    {
        const graph_t graph = create_graph(nullptr, nullptr, nullptr);
        const std::vector<float> half(16, 0.5f);
        const float quarter = 0.25f, epsilon = 1e-5f;
        const int64_t last = -1;
        const tensor_t x = add_input(graph, "x", {4, 16});
        const tensor_t scale = add_constant(graph, "scale", {16}, half.data());
        const tensor_t shift = add_constant(graph, "shift", {1}, &quarter);
        const tensor_t axes = add_constant(graph, "axes", {1}, &last, TENGINE_DT_INT64);
        const tensor_t small = add_constant(graph, "epsilon", {1}, &epsilon);
        const tensor_t scaled = add_node(graph, "scaled", "Mul", {x, scale});
        const tensor_t h = add_node(graph, "h", "Sub", {scaled, shift});
        const tensor_t square = add_node(graph, "square", "Mul", {h, h});
        const tensor_t mean = add_node(graph, "mean", "ReduceMean", {square, axes});
        const tensor_t sum = add_node(graph, "sum", "Add", {mean, small});
        const tensor_t root = add_node(graph, "root", "Sqrt", {sum});
        const tensor_t n = add_node(graph, "n", "Div", {h, root});
        const tensor_t tanh = add_node(graph, "tanh", "Tanh", {n});
        add_node(graph, "y", "Add", {tanh, x});
        ASSERT_TRUE(set_borders(graph, {"x"}, {"y"})) << get_tengine_error();
        ASSERT_EQ(save_graph(graph, "onnx", path("model.onnx").c_str()), 0) << get_tengine_error();
        ASSERT_EQ(save_graph(graph, "tengine", path("model.tmfile").c_str()), 0);
        destroy_graph(graph);
    }

    std::string path(const std::string& name) const { return folder_ + "/" + name; }

    static void load_plugins(const std::vector<std::string>& files)
    {
        for (const std::string& file : files)
            ASSERT_EQ(tengine_plugin_load(file.c_str()), 1) << get_tengine_error();
    }

    // Returns a prepared graph on ACME.
    graph_t prepare(const std::string& file,
                    const std::vector<std::pair<const char*, const char*>>& options = {})
    {
        const context_t context = create_context("c", 1);
        EXPECT_EQ(add_context_device(context, "ACME"), 0) << get_tengine_error();
        for (const auto& option : options)
            EXPECT_EQ(tengine_context_set_option(context, option.first, option.second), 0)
                << get_tengine_error();
        const bool onnx = file.find(".onnx") != std::string::npos;
        const graph_t graph = create_graph(context, onnx ? "onnx" : "tengine", path(file).c_str());
        EXPECT_NE(graph, nullptr) << get_tengine_error();
        destroy_context(context);
        EXPECT_EQ(prerun_graph(graph), 0) << get_tengine_error();
        return graph;
    }

    // Returns one letter for each part: the first of its device's name.
    static std::string parts(graph_t graph)
    {
        std::string letters;
        tengine_subgraph part;
        for (int i = 0; tengine_graph_get_subgraph(graph, i, &part) == 0; ++i)
            letters += part.device[0];
        take_logged_failures();
        return letters;
    }

    static int origin(graph_t graph, int part)
    {
        int result = -1;
        EXPECT_EQ(tengine_graph_get_subgraph_origin(graph, part, &result), 0);
        return result;
    }

    static testing::AssertionResult computes(graph_t graph)
    {
        std::vector<float> x(64);
        std::mt19937 random(7);
        for (float& value : x)
            value = std::uniform_real_distribution<float>(-2, 2)(random);
        if (!write_floats(tengine_graph_get_input(graph, 0), x) || run_graph(graph, 1) != 0)
            return testing::AssertionFailure() << get_tengine_error();
        const std::vector<float> y = read_floats(tengine_graph_get_output(graph, 0));
        for (size_t row = 0; row < 4; ++row) {
            double sum = 0;
            for (size_t i = 0; i < 16; ++i)
                sum += std::pow(x[16 * row + i] * 0.5 - 0.25, 2);
            for (size_t i = 0; i < 16; ++i) {
                const double value = x[16 * row + i];
                const double wanted =
                    std::tanh((value * 0.5 - 0.25) / std::sqrt(sum / 16 + 1e-5)) + value;
                // Ten roundings of values below 4, each of half a unit in the last place.
                if (std::fabs(y[16 * row + i] - wanted) > 10 * 4 * 6e-8)
                    return testing::AssertionFailure()
                           << "row " << row << " is " << y[16 * row + i] << ", not " << wanted;
            }
        }
        return testing::AssertionSuccess();
    }

    // Returns the reason why ACME does not run the node at `index`: its code and the message.
    static std::string refusal(graph_t graph, int index)
    {
        tengine_refusal found;
        if (tengine_graph_get_refusal(graph, index, 0, &found) != 0) return "none";
        return std::string(found.reason) + ": " + found.message;
    }

    // Compiles the model for a chip, "": for none; returns the file's path.
    std::string compile_for(const std::string& soc)
    {
        std::vector<std::pair<const char*, const char*>> options = {{"model.keep_parts", "1"}};
        if (!soc.empty()) options.emplace_back("ACME.soc", soc.c_str());
        const graph_t graph = prepare("model.tmfile", options);
        const std::string file = "compiled" + soc + ".tmfile";
        EXPECT_EQ(save_graph(graph, "tengine", path(file).c_str()), 0) << get_tengine_error();
        destroy_graph(graph);
        return file;
    }

  private:
    std::string folder_;
};

TEST_F(CompilerPluginTest, WhatTheCompilerTakesRunsOnTheDispatch)
{
    load_plugins({kCompiler, kDispatch});
    const graph_t graph = prepare("model.onnx");
    EXPECT_EQ(parts(graph), "ACA");
    EXPECT_TRUE(computes(graph));
    tengine_counter counters[3];
    ASSERT_EQ(tengine_graph_get_counters(graph, 0, counters, 3), 2);
    EXPECT_STREQ(counters[0].name, "copies");
    EXPECT_STREQ(counters[1].name, "instructions");
    EXPECT_EQ(counters[1].value, 3);  // Mul, Sub, and one for the five nodes of the norm
    tengine_execution_node node;
    tengine_refusal refusal;
    ASSERT_EQ(tengine_graph_get_execution_node(graph, 7, &node), 0);
    ASSERT_EQ(tengine_graph_get_refusal(graph, 7, 0, &refusal), 0);
    EXPECT_STREQ(refusal.message, "not selected by the compiler");
    EXPECT_NE(std::string(tengine_device_get_features("ACME")).find("Acme NPU, compiler 3.1"),
              std::string::npos);
    destroy_graph(graph);
}

TEST_F(CompilerPluginTest, TheCacheSavesTheCompiler)
{
    load_plugins({kCompiler, kDispatch});
    for (const int wanted : {TENGINE_PART_COMPILED, TENGINE_PART_FROM_CACHE}) {
        const graph_t graph = prepare("model.onnx", {{"cache.dir", path("cache").c_str()}});
        EXPECT_EQ(origin(graph, 0), wanted);
        EXPECT_EQ(origin(graph, 2), wanted);
        EXPECT_TRUE(computes(graph));
        destroy_graph(graph);
    }
    // Another chip has another key.
    const graph_t graph =
        prepare("model.onnx", {{"cache.dir", path("cache").c_str()}, {"ACME.soc", "A2"}});
    EXPECT_EQ(origin(graph, 0), TENGINE_PART_COMPILED);
    destroy_graph(graph);
}

TEST_F(CompilerPluginTest, WhatWasCompiledAheadRunsWithoutTheCompiler)
{
    load_plugins({kCompiler});
    const std::string file = compile_for("");
    ASSERT_EQ(unload_tengine_plugin("acme_compiler", nullptr), 0) << get_tengine_error();

    load_plugins({kDispatch});
    graph_t graph = prepare(file);
    EXPECT_EQ(parts(graph), "ACA");
    EXPECT_EQ(origin(graph, 0), TENGINE_PART_FROM_MODEL);
    EXPECT_EQ(origin(graph, 2), TENGINE_PART_FROM_MODEL);
    EXPECT_TRUE(computes(graph));
    destroy_graph(graph);
    // A model that is not compiled stays on the CPU.
    graph = prepare("model.tmfile");
    EXPECT_EQ(parts(graph), "C");
    EXPECT_TRUE(computes(graph));
    EXPECT_EQ(refusal(graph, 0), "compiler: no compiler: ACME runs what was compiled ahead");
    destroy_graph(graph);
    EXPECT_EQ(unload_tengine_plugin("acme_dispatch", nullptr), 0) << get_tengine_error();
}

TEST_F(CompilerPluginTest, AChipWithoutTheNormComputesItInSteps)
{
    load_plugins({kCompiler, kDispatch});
    const graph_t graph = prepare("model.onnx", {{"ACME.soc", "A1"}});
    EXPECT_TRUE(computes(graph));
    EXPECT_EQ(refusal(graph, 0), "none");
    for (const int mean_root_or_division : {3, 5, 6})
        EXPECT_EQ(refusal(graph, mean_root_or_division), "operator: A1 has no RMS_NORM");
    destroy_graph(graph);
}

TEST_F(CompilerPluginTest, TheTargetNamesTheChip)
{
    load_plugins({kCompiler});
    const std::pair<const char*, const char*> cases[] = {
        {"", "byte code 1"}, {"A1", "soc A1, byte code 1"}, {"A2", "soc A2, byte code 1"}};
    for (const auto& [soc, target] : cases) {
        const graph_t graph = create_graph(nullptr, "tengine", path(compile_for(soc)).c_str());
        tengine_compiled_part part;
        ASSERT_EQ(tengine_graph_get_compiled_part(graph, 0, &part, sizeof part), 0)
            << get_tengine_error();
        EXPECT_STREQ(part.target, target);
        destroy_graph(graph);
    }
}

// x / sqrt(mean(x * x) + 1e-5) and the mean are both outputs: one instruction cannot compute both.
TEST_F(CompilerPluginTest, ANormWhoseMeanIsAnOutputIsNoneOfAcmes)
{
    load_plugins({kCompiler, kDispatch});
    const graph_t model = create_graph(nullptr, nullptr, nullptr);
    const float epsilon = 1e-5f;
    const int64_t last = -1;
    const tensor_t x = add_input(model, "x", {1, 2});
    const tensor_t axes = add_constant(model, "axes", {1}, &last, TENGINE_DT_INT64);
    const tensor_t small = add_constant(model, "epsilon", {1}, &epsilon);
    const tensor_t square = add_node(model, "square", "Mul", {x, x});
    const tensor_t mean = add_node(model, "m", "ReduceMean", {square, axes});
    const tensor_t root =
        add_node(model, "root", "Sqrt", {add_node(model, "sum", "Add", {mean, small})});
    add_node(model, "y", "Div", {x, root});
    ASSERT_TRUE(set_borders(model, {"x"}, {"y", "m"})) << get_tengine_error();
    ASSERT_EQ(save_graph(model, "onnx", path("mean.onnx").c_str()), 0) << get_tengine_error();
    destroy_graph(model);
    const graph_t graph = prepare("mean.onnx");
    ASSERT_TRUE(write_floats(tengine_graph_get_input(graph, 0), {3, 4}));
    ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
    EXPECT_FLOAT_EQ(read_floats(tengine_graph_get_output(graph, 1))[0], 12.5f);
    EXPECT_FLOAT_EQ(read_floats(tengine_graph_get_output(graph, 0))[1],
                    4 / std::sqrt(12.5f + epsilon));
    EXPECT_EQ(refusal(graph, 1), "operator: not selected by the compiler");
    destroy_graph(graph);
}

// The user assigns the last node of the norm to another device.
TEST_F(CompilerPluginTest, WhatNoInstructionComputesIsNotCompiled)
{
    load_plugins({kCompiler, kDispatch});
    const context_t context = create_context("c", 1);
    ASSERT_EQ(add_context_device(context, "ACME"), 0) << get_tengine_error();
    const graph_t graph = create_graph(context, "onnx", path("model.onnx").c_str());
    destroy_context(context);
    ASSERT_EQ(tengine_graph_set_affinity(graph, "n", "CPU"), 0) << get_tengine_error();
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    take_logged_failures();
    EXPECT_TRUE(computes(graph));
    destroy_graph(graph);
}

TEST_F(CompilerPluginTest, WithoutADispatchTheCpuRuns)
{
    load_plugins({kCompiler});
    const graph_t graph = prepare("model.onnx");
    EXPECT_EQ(parts(graph), "ACA");
    EXPECT_TRUE(computes(graph));
    tengine_refusal refusal;
    ASSERT_EQ(tengine_graph_get_refusal(graph, 0, 0, &refusal), 0);
    EXPECT_NE(std::strstr(refusal.message, "ACME has no dispatch here"), nullptr)
        << refusal.message;
    destroy_graph(graph);
}

TEST_F(CompilerPluginTest, EachStepThatFailsFallsBackAndIsNamed)
{
    load_plugins({kCompiler, kDispatch});
    for (const char* step : {"partition", "compile", "load", "invoke"}) {
        const graph_t graph = prepare("model.onnx", {{"ACME.fault", step}});
        EXPECT_EQ(parts(graph), std::strcmp(step, "invoke") == 0 ? "ACA" : "C");
        EXPECT_TRUE(computes(graph)) << step;
        tengine_refusal refusal;
        ASSERT_EQ(tengine_graph_get_refusal(graph, 0, 0, &refusal), 0) << step;
        EXPECT_NE(std::string(refusal.message).find(std::string("fault on demand: ") + step),
                  std::string::npos)
            << refusal.message;
        destroy_graph(graph);
    }
}

TEST_F(CompilerPluginTest, OptionsAreTheCompilers)
{
    load_plugins({kCompiler, kDispatch});
    const context_t context = create_context("c", 1);
    ASSERT_EQ(add_context_device(context, "ACME"), 0);
    EXPECT_EQ(tengine_context_set_option(context, "ACME.soc", "B1"), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_context_set_option(context, "ACME.none", "1"), -1);
    EXPECT_TRUE(failed_with(TENGINE_ENOENT));
    EXPECT_EQ(tengine_device_get_option_number("ACME"), 2);
    destroy_context(context);
}

TEST_F(CompilerPluginTest, NothingGoesWhileItIsInUse)
{
    load_plugins({kCompiler, kDispatch});
    const graph_t graph = prepare("model.onnx");
    for (const char* name : {"acme_compiler", "acme_dispatch"}) {
        EXPECT_EQ(unload_tengine_plugin(name, nullptr), -1);
        EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    }
    EXPECT_TRUE(computes(graph));
    destroy_graph(graph);
    EXPECT_EQ(unload_tengine_plugin("acme_dispatch", nullptr), 0) << get_tengine_error();
    EXPECT_EQ(unload_tengine_plugin("acme_compiler", nullptr), 0) << get_tengine_error();
    const context_t context = create_context("c", 1);
    EXPECT_EQ(add_context_device(context, "ACME"), -1);
    EXPECT_TRUE(failed_with(TENGINE_ENOENT));
    destroy_context(context);
}

// ---- tables ----

int fail_to_partition(void*, const char*, const struct graph*, tengine_op_list_t*)
{
    return -1;
}
int fail_to_compile(void*, const char*, const struct subgraph* const[], int, void**)
{
    return -1;
}
int get_none(void*)
{
    return 0;
}
int get_no_module(void*, int, const void**, size_t*)
{
    return -1;
}
int get_no_call(void*, int, int*, const char**)
{
    return -1;
}

tengine_compiler_t make_compiler(const char* device)
{
    tengine_compiler_t compiler = {};
    compiler.size = sizeof compiler;
    compiler.device = device;
    compiler.manufacturer = compiler.sdk_version = compiler.byte_code_version = "1";
    compiler.partition = fail_to_partition;
    compiler.compile = fail_to_compile;
    compiler.get_module_number = get_none;
    compiler.get_module = get_no_module;
    compiler.get_call = get_no_call;
    compiler.destroy_result = [](void*) {};
    return compiler;
}

TEST_F(CompilerPluginTest, TablesAreChecked)
{
    const tengine_compiler_t good = make_compiler("NPU");
    EXPECT_EQ(tengine_register_compiler(nullptr), TENGINE_EINVAL);
    EXPECT_EQ(tengine_register_dispatch(nullptr), TENGINE_EINVAL);
    tengine_compiler_t bad = good;
    bad.size = 8;
    EXPECT_EQ(tengine_register_compiler(&bad), TENGINE_EVERSION);
    bad = good;
    bad.device = "";
    EXPECT_EQ(tengine_register_compiler(&bad), TENGINE_EINVAL);
    bad = good;
    bad.compile = nullptr;
    EXPECT_EQ(tengine_register_compiler(&bad), TENGINE_EINVAL);
    bad = good;
    bad.destroy = [](void*) {};
    EXPECT_EQ(tengine_register_compiler(&bad), TENGINE_EINVAL);
    bad = make_compiler("CPU");
    EXPECT_EQ(tengine_register_compiler(&bad), TENGINE_EEXIST);
    EXPECT_EQ(tengine_unregister_compiler(&good), TENGINE_ENOENT);
    ASSERT_EQ(tengine_register_compiler(&good), 0) << tengine_error_message();
    EXPECT_EQ(tengine_register_compiler(&good), TENGINE_EEXIST);
    tengine_dispatch_t other = {};
    other.size = sizeof other;
    other.device = "NPU";
    EXPECT_EQ(tengine_register_dispatch(&other), TENGINE_EINVAL);
    EXPECT_EQ(tengine_unregister_compiler(&good), 0);
    EXPECT_EQ(find_device_via_name("NPU"), nullptr);
}

TEST_F(CompilerPluginTest, AFailureWithoutASentenceGetsOne)
{
    tengine_compiler_t compiler = make_compiler("ACME");
    ASSERT_EQ(tengine_register_compiler(&compiler), 0);
    const graph_t graph = prepare("model.onnx");
    tengine_refusal refusal;
    ASSERT_EQ(tengine_graph_get_refusal(graph, 0, 0, &refusal), 0);
    EXPECT_STREQ(refusal.message, "partition failed: no reason given");
    destroy_graph(graph);
    EXPECT_EQ(tengine_unregister_compiler(&compiler), 0);
}

}  // namespace
}  // namespace tengine
