// SPDX-License-Identifier: Apache-2.0
// Plug-ins are loaded, used and unloaded; a device in use keeps its plug-in.
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <sys/stat.h>
#include <vector>

#include "tengine/c_api.h"
#include "tengine/device.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

const std::string kLibrary = TENGINE_PLUGIN_DIR "/shout_device.so";

class PluginTest : public testing::Test
{
  protected:
    void SetUp() override { ASSERT_EQ(init_tengine(), 0) << get_tengine_error(); }
    void TearDown() override { release_tengine(); }

    static int load(const char* name, const char* init)
    {
        return load_tengine_plugin(name, kLibrary.c_str(), init);
    }

    // Builds y = Abs(x) of 2 elements, on the plug-in's device if it exists, or another operator.
    static graph_t build(context_t context, const char* op = "Abs")
    {
        const graph_t graph = create_graph(context, nullptr, nullptr);
        const int dims[] = {2};
        const char* names[] = {"x", "y"};
        const tensor_t x = create_graph_tensor(graph, "x", TENGINE_DT_FP32);
        const tensor_t y = create_graph_tensor(graph, "y", TENGINE_DT_FP32);
        set_node_output_tensor(create_graph_node(graph, "x", "InputOp"), 0, x, TENSOR_TYPE_INPUT);
        set_tensor_shape(x, dims, 1);
        const node_t node = create_graph_node(graph, "y", op);
        set_node_output_tensor(node, 0, y, TENSOR_TYPE_VAR);
        set_node_input_tensor(node, 0, x);
        set_graph_input_node(graph, &names[0], 1);
        set_graph_output_node(graph, &names[1], 1);
        return graph;
    }

    static std::vector<float> run(graph_t graph)
    {
        const float values[] = {-3, 4};
        std::vector<float> result(2);
        if (set_tensor_data(get_graph_tensor(graph, "x"), values, sizeof values) < 0 ||
            prerun_graph(graph) < 0 || run_graph(graph, 1) < 0 ||
            get_tensor_data(get_graph_tensor(graph, "y"), result.data(), 2 * sizeof(float)) < 0)
            result.clear();
        return result;
    }

    static bool has_device(const std::string& name)
    {
        for (int i = 0; i < tengine_device_get_number(); ++i)
            if (tengine_device_get_name(i) == name) return true;
        return false;
    }

    static testing::AssertionResult fails_with(int code, const std::string& part)
    {
        const std::string sentence = get_tengine_error();
        const bool fits = get_tengine_errno() == code && sentence.find(part) != std::string::npos;
        testing::AssertionResult result =
            fits ? testing::AssertionSuccess() : testing::AssertionFailure();
        return result << get_tengine_errno() << ": " << sentence;
    }
};

TEST_F(PluginTest, ItsDeviceRunsAndGoes)
{
    ASSERT_EQ(load("shout", "shout_init"), 0) << get_tengine_error();
    EXPECT_EQ(get_tengine_plugin_number(), 1);
    EXPECT_STREQ(get_tengine_plugin_name(0), "shout");
    const context_t context = create_context("board", 1);
    ASSERT_EQ(set_context_device(context, "SHOUT", nullptr, 0), 0) << get_tengine_error();
    const graph_t graph = build(context);
    EXPECT_EQ(run(graph), (std::vector<float>{1003, 1004})) << get_tengine_error();
    EXPECT_STREQ(get_node_device(get_graph_node(graph, "y")), "SHOUT");
    destroy_graph(graph);
    destroy_context(context);
    EXPECT_EQ(unload_tengine_plugin("shout", "shout_release"), 0) << get_tengine_error();
    EXPECT_EQ(get_tengine_plugin_number(), 0);
    EXPECT_FALSE(has_device("SHOUT"));
    const graph_t plain = build(nullptr);
    EXPECT_EQ(run(plain), (std::vector<float>{3, 4}));
    destroy_graph(plain);
}

TEST_F(PluginTest, StaysWhileItsDeviceIsInUse)
{
    ASSERT_EQ(load("shout", "shout_init"), 0);
    const context_t context = create_context("board", 1);
    ASSERT_EQ(set_context_device(context, "SHOUT", nullptr, 0), 0);
    EXPECT_EQ(unload_tengine_plugin("shout", "shout_release"), -1);
    EXPECT_TRUE(fails_with(TENGINE_ESTATE, "a context lists"));
    const graph_t graph = build(context);
    EXPECT_FALSE(run(graph).empty());
    destroy_context(context);
    EXPECT_EQ(unload_tengine_plugin("shout", "shout_release"), -1);
    EXPECT_TRUE(fails_with(TENGINE_ESTATE, "a graph uses"));
    EXPECT_EQ(run(graph), (std::vector<float>{1003, 1004}));
    destroy_graph(graph);
    const graph_t pinned = build(nullptr);
    ASSERT_EQ(set_graph_device(pinned, "SHOUT"), 0);
    EXPECT_EQ(unload_tengine_plugin("shout", "shout_release"), -1);
    EXPECT_TRUE(fails_with(TENGINE_ESTATE, "a graph uses"));
    destroy_graph(pinned);
    EXPECT_EQ(unload_tengine_plugin("shout", "shout_release"), 0) << get_tengine_error();
}

// A device that the prepared graph only mentions, in a refusal, is in use as well.
TEST_F(PluginTest, StaysWhileAReportNamesItsDevice)
{
    ASSERT_EQ(load("shout", "shout_init"), 0);
    const context_t context = create_context("board", 1);
    ASSERT_EQ(set_context_device(context, "SHOUT", nullptr, 0), 0);
    const graph_t graph = build(context);
    ASSERT_EQ(tengine_graph_set_affinity(graph, "y", "CPU"), 0);
    EXPECT_EQ(run(graph), (std::vector<float>{3, 4}));
    ASSERT_EQ(remove_context_device(context, "SHOUT"), 0);
    EXPECT_EQ(unload_tengine_plugin("shout", "shout_release"), -1);
    EXPECT_TRUE(fails_with(TENGINE_ESTATE, "a graph uses"));
    ASSERT_EQ(postrun_graph(graph), 0);
    EXPECT_EQ(unload_tengine_plugin("shout", "shout_release"), 0) << get_tengine_error();
    EXPECT_EQ(run(graph), (std::vector<float>{3, 4}));
    destroy_graph(graph);
    destroy_context(context);
}

TEST_F(PluginTest, WhatItLeavesBehindIsUnregistered)
{
    ASSERT_EQ(load("shout", "shout_init"), 0);
    ASSERT_EQ(set_default_device("SHOUT"), 0);
    EXPECT_EQ(unload_tengine_plugin("shout", nullptr), 0) << get_tengine_error();
    EXPECT_FALSE(has_device("SHOUT"));
    EXPECT_STREQ(get_default_device(), "CPU");
    ASSERT_EQ(load("shout", "shout_init"), 0) << get_tengine_error();
    release_tengine();
    ASSERT_EQ(init_tengine(), 0);
    EXPECT_EQ(get_tengine_plugin_number(), 0);
    EXPECT_FALSE(has_device("SHOUT"));
    EXPECT_EQ(load("shout", "shout_init"), 0) << get_tengine_error();
}

TEST_F(PluginTest, LoadingFailsWithReasons)
{
    EXPECT_EQ(load_tengine_plugin("none", TENGINE_PLUGIN_DIR "/none.so", "init"), -1);
    EXPECT_TRUE(fails_with(TENGINE_EIO, "none.so"));
    EXPECT_EQ(load("shout", "no_such_function"), -1);
    EXPECT_TRUE(fails_with(TENGINE_ENOENT, "no_such_function"));
    EXPECT_EQ(load("shout", "shout_init_fails"), -1);
    EXPECT_TRUE(fails_with(TENGINE_EDEVICE, "shout_init_fails returned -1"));
    EXPECT_EQ(load("shout", "shout_init_fails_late"), -1);
    EXPECT_TRUE(fails_with(TENGINE_EDEVICE, "the board is not there"));
    EXPECT_FALSE(has_device("SHOUT"));
    EXPECT_EQ(get_tengine_plugin_number(), 0);
    EXPECT_EQ(load_tengine_plugin(nullptr, "x.so", nullptr), -1);
    EXPECT_TRUE(fails_with(TENGINE_EINVAL, "plugin_name"));
    EXPECT_EQ(load_tengine_plugin("p", nullptr, nullptr), -1);
    EXPECT_TRUE(fails_with(TENGINE_EINVAL, "file_name"));
}

// The code of a device that cannot be unregistered stays in memory.
TEST_F(PluginTest, AFailedOneWhoseDeviceIsInUseStaysInMemory)
{
    EXPECT_EQ(load("shout", "shout_init_leaves_a_context"), -1);
    EXPECT_TRUE(fails_with(TENGINE_EDEVICE, "the board is not there"));
    EXPECT_EQ(get_tengine_plugin_number(), 0);
    struct device* device = find_device_via_name("SHOUT");
    ASSERT_NE(device, nullptr);
    EXPECT_EQ(unregister_device(device), TENGINE_ESTATE);
    const context_t context = create_context("board", 1);
    ASSERT_EQ(add_context_device(context, "SHOUT"), 0);
    const graph_t graph = build(context);
    EXPECT_EQ(run(graph), (std::vector<float>{1003, 1004})) << get_tengine_error();
    release_tengine();
    EXPECT_EQ(unregister_device(device), TENGINE_OK) << tengine_error_message();
    ASSERT_EQ(init_tengine(), 0);
}

TEST_F(PluginTest, APipeIsNotWaitedFor)
{
    const std::string pipe = testing::TempDir() + "plugin_pipe." + std::to_string(getpid());
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_EQ(load_tengine_plugin("pipe", pipe.c_str(), "init"), -1);
    EXPECT_TRUE(fails_with(TENGINE_EIO, "it is not a regular file"));
    unlink(pipe.c_str());
}

TEST_F(PluginTest, LoadingTwice)
{
    ASSERT_EQ(load("shout", "shout_init"), 0);
    EXPECT_EQ(load("shout", "shout_init"), -1);
    EXPECT_TRUE(fails_with(TENGINE_EEXIST, "'shout'"));
    // Under another name its device conflicts with the loaded one, which stays.
    EXPECT_EQ(load("shout again", "shout_init"), -1);
    EXPECT_TRUE(fails_with(TENGINE_EEXIST, "'SHOUT'"));
    EXPECT_TRUE(has_device("SHOUT"));
    EXPECT_EQ(load("a name that begins alike: shout", nullptr), 0);
    EXPECT_EQ(get_tengine_plugin_number(), 2);
    EXPECT_STREQ(get_tengine_plugin_name(1), "a name that begins alike: shout");
    EXPECT_EQ(unload_tengine_plugin("shout", "shout_release"), 0);
    EXPECT_STREQ(get_tengine_plugin_name(0), "a name that begins alike: shout");
}

TEST_F(PluginTest, UnloadingFailsWithReasons)
{
    EXPECT_EQ(unload_tengine_plugin("shout", "shout_release"), -1);
    EXPECT_TRUE(fails_with(TENGINE_ENOENT, "'shout'"));
    EXPECT_EQ(unload_tengine_plugin(nullptr, nullptr), -1);
    EXPECT_TRUE(fails_with(TENGINE_EINVAL, "plugin_name"));
    ASSERT_EQ(load("shout", "shout_init"), 0);
    EXPECT_EQ(unload_tengine_plugin("shout", "no_such_function"), -1);
    EXPECT_TRUE(fails_with(TENGINE_ENOENT, "no_such_function"));
    EXPECT_EQ(unload_tengine_plugin("shout", "shout_release_fails"), -1);
    EXPECT_TRUE(fails_with(TENGINE_EDEVICE, "returned -1"));
    EXPECT_EQ(get_tengine_plugin_number(), 1);
    EXPECT_TRUE(has_device("SHOUT"));
    for (const int index : {-1, 1}) {
        EXPECT_EQ(get_tengine_plugin_name(index), nullptr);
        EXPECT_TRUE(fails_with(TENGINE_ERANGE, "plug-ins"));
    }
}

// A node "Generic" has no rule for its output: the operator is the plug-in's or unknown. The folder
// is not one in which the loader searches for libraries.
TEST_F(PluginTest, ANameAloneIsAFileOfTheCurrentFolder)
{
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(TENGINE_PLUGIN_DIR);
    EXPECT_EQ(tengine_plugin_load("operator.so"), 1) << get_tengine_error();
    std::filesystem::current_path(before);
    EXPECT_EQ(unload_tengine_plugin("operator", nullptr), 0) << get_tengine_error();
}

TEST_F(PluginTest, ItsOperatorRunsAndGoes)
{
    const char op[] = "com.example.Double";
    ASSERT_EQ(tengine_plugin_load(TENGINE_PLUGIN_DIR "/operator.so"), 1) << get_tengine_error();
    const graph_t graph = build(nullptr, "Generic");
    ASSERT_EQ(set_node_attr_generic(get_graph_node(graph, "y"), "op_name", "string", op, sizeof op),
              0);
    EXPECT_EQ(run(graph), (std::vector<float>{-6, 8})) << get_tengine_error();
    EXPECT_EQ(unload_tengine_plugin("operator", nullptr), -1);
    EXPECT_TRUE(fails_with(TENGINE_ESTATE, "a graph uses one of its operators"));
    destroy_graph(graph);
    EXPECT_EQ(unload_tengine_plugin("operator", nullptr), 0) << get_tengine_error();
    const graph_t later = build(nullptr, "Generic");
    set_node_attr_generic(get_graph_node(later, "y"), "op_name", "string", op, sizeof op);
    EXPECT_EQ(prerun_graph(later), -1);
    EXPECT_TRUE(fails_with(TENGINE_EOPERATOR, "com.example.Double"));
}

// ---- what ends a process, or would ----

const std::string kFolder = TENGINE_PLUGIN_DIR "/";

TEST_F(PluginTest, OneThatLoadsItselfIsRefused)
{
    const std::string file = kFolder + "loads_itself.so";
    EXPECT_EQ(tengine_plugin_load(file.c_str()), -1);
    EXPECT_TRUE(fails_with(TENGINE_ESTATE, "its init loads it again"));
    EXPECT_EQ(load_tengine_plugin("first", file.c_str(), "load_under_new_name"), -1);
    EXPECT_TRUE(fails_with(TENGINE_ESTATE, "plug-in 'first' is being loaded"));
    EXPECT_EQ(get_tengine_plugin_number(), 0);
    EXPECT_EQ(load("shout", "shout_init"), 0) << "others load as before";
}

// A device belongs to the plug-in whose init has registered it, and to no other.
TEST_F(PluginTest, OneThatLoadsAnotherHasNothingOfIt)
{
    ASSERT_EQ(tengine_plugin_load((kFolder + "loads_another.so").c_str()), 1)
        << get_tengine_error();
    EXPECT_EQ(get_tengine_plugin_number(), 2);
    const context_t context = create_context("board", 1);
    ASSERT_EQ(set_context_device(context, "SHOUT", nullptr, 0), 0) << get_tengine_error();
    EXPECT_EQ(unload_tengine_plugin("shout", "shout_release"), -1);
    EXPECT_TRUE(fails_with(TENGINE_ESTATE,
                           "plug-in 'shout' is in use: device 'SHOUT' is in use: a context "
                           "lists it"));
    EXPECT_EQ(unload_tengine_plugin("loads another", nullptr), 0) << get_tengine_error();
    EXPECT_TRUE(has_device("SHOUT"));
    destroy_context(context);
    EXPECT_EQ(unload_tengine_plugin("shout", "shout_release"), 0) << get_tengine_error();
    EXPECT_FALSE(has_device("SHOUT"));
}

TEST_F(PluginTest, AnEntryThatIsDataIsRefused)
{
    EXPECT_EQ(tengine_plugin_load((kFolder + "data_entry.so").c_str()), -1);
    EXPECT_TRUE(fails_with(TENGINE_EINVAL, "data_entry.so: its 'tengine_plugin' is data"));
}

TEST_F(PluginTest, WhatALibraryThrowsIsSaidWithItsFile)
{
    EXPECT_EQ(tengine_plugin_load((kFolder + "throwing_constructor.so").c_str()), -1);
    EXPECT_TRUE(fails_with(TENGINE_EDEVICE,
                           "throwing_constructor.so: a constructor of the library threw: the "
                           "board is not there"));
    const std::string file = kFolder + "throwing_init.so";
    EXPECT_EQ(tengine_plugin_load(file.c_str()), -1);
    EXPECT_TRUE(
        fails_with(TENGINE_EDEVICE, "plug-in 'throwing init': init threw: the board is not there"));
    EXPECT_EQ(load_tengine_plugin("throws", file.c_str(), "throw_number"), -1);
    EXPECT_TRUE(fails_with(TENGINE_EDEVICE, "threw what is not a std::exception"));
    ASSERT_EQ(load_tengine_plugin("throws", file.c_str(), "throw_nothing"), 0);
    EXPECT_EQ(unload_tengine_plugin("throws", "throw_number"), -1);
    EXPECT_TRUE(fails_with(TENGINE_EDEVICE, "throw_number threw"));
    EXPECT_EQ(unload_tengine_plugin("throws", "throw_nothing"), 0);
}

// The file is truncated at each length: the loader would map pages that the file does not have.
TEST_F(PluginTest, AFileThatIsCutShortIsRefused)
{
    std::ifstream file(kLibrary, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    ASSERT_GT(bytes.size(), 4096u);
    const std::string cut = testing::TempDir() + "cut_" + std::to_string(getpid()) + ".so";
    int refused = 0;
    for (size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 61) {
        std::ofstream(cut, std::ios::binary).write(bytes.data(), static_cast<long>(size));
        EXPECT_EQ(tengine_plugin_load(cut.c_str()), -1) << size;
        EXPECT_TRUE(fails_with(TENGINE_EIO, cut)) << size;
        refused += std::string(get_tengine_error()).find("truncated") != std::string::npos;
    }
    EXPECT_GT(refused, 50);
    std::ofstream(cut, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
    EXPECT_EQ(load_tengine_plugin("whole", cut.c_str(), "shout_init"), 0) << get_tengine_error();
    std::remove(cut.c_str());
}

// A header whose numbers overflow, or state more than there is.
TEST_F(PluginTest, AHeaderThatTellsOfMoreIsRefused)
{
    std::ifstream file(kLibrary, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const std::string bad = testing::TempDir() + "bad_" + std::to_string(getpid()) + ".so";
    for (const size_t field : {offsetof(ElfW(Ehdr), e_phoff), offsetof(ElfW(Ehdr), e_shoff)}) {
        std::string changed = bytes;
        std::fill_n(changed.begin() + static_cast<long>(field), sizeof(ElfW(Off)), '\xff');
        std::ofstream(bad, std::ios::binary)
            .write(changed.data(), static_cast<long>(changed.size()));
        EXPECT_EQ(tengine_plugin_load(bad.c_str()), -1) << field;
        EXPECT_TRUE(fails_with(TENGINE_EIO, "truncated")) << field;
    }
    std::remove(bad.c_str());
}

}  // namespace
}  // namespace tengine
