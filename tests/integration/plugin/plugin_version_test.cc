// SPDX-License-Identifier: Apache-2.0
// Plug-ins of every version with the present library, and the ways in which they are found.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <vector>

#include "tengine/c_api.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

const std::string kVersions = TENGINE_PLUGIN_DIR "/version/";

std::string library_of(const std::string& version)
{
    return kVersions + "versioned_" + version + ".so";
}

bool has_device(const std::string& name)
{
    for (int i = 0; i < tengine_device_get_number(); ++i)
        if (tengine_device_get_name(i) == name) return true;
    return false;
}

std::vector<std::string> plugin_names()
{
    std::vector<std::string> names;
    for (int i = 0; i < get_tengine_plugin_number(); ++i)
        names.push_back(get_tengine_plugin_name(i));
    return names;
}

// Computes Abs(-3, 4) on the device.
std::vector<float> run_on(const char* device, const char* cache = "")
{
    const context_t context = create_context("board", 1);
    EXPECT_EQ(set_context_device(context, device, nullptr, 0), 0) << get_tengine_error();
    EXPECT_EQ(tengine_context_set_option(context, "cache.dir", cache), 0);
    const graph_t graph = create_graph(context, nullptr, nullptr);
    const int dims[] = {2};
    const char* names[] = {"x", "y"};
    const float values[] = {-3, 4};
    std::vector<float> result(2);
    const tensor_t x = create_graph_tensor(graph, "x", TENGINE_DT_FP32);
    const tensor_t y = create_graph_tensor(graph, "y", TENGINE_DT_FP32);
    set_node_output_tensor(create_graph_node(graph, "x", "InputOp"), 0, x, TENSOR_TYPE_INPUT);
    set_tensor_shape(x, dims, 1);
    const node_t node = create_graph_node(graph, "y", "Abs");
    set_node_output_tensor(node, 0, y, TENSOR_TYPE_VAR);
    set_node_input_tensor(node, 0, x);
    set_graph_input_node(graph, &names[0], 1);
    set_graph_output_node(graph, &names[1], 1);
    EXPECT_EQ(set_tensor_data(x, values, sizeof values), 0);
    EXPECT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    EXPECT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
    EXPECT_EQ(get_tensor_data(y, result.data(), 2 * sizeof(float)), 0);
    destroy_graph(graph);
    destroy_context(context);
    return result;
}

class PluginVersion : public testing::TestWithParam<const char*>
{
  protected:
    void SetUp() override { ASSERT_EQ(init_tengine(), 0) << get_tengine_error(); }
    void TearDown() override { release_tengine(); }
};

TEST_P(PluginVersion, LoadsRunsAndGoes)
{
    ASSERT_EQ(tengine_plugin_load(library_of(GetParam()).c_str()), 1) << get_tengine_error();
    EXPECT_STREQ(get_tengine_plugin_name(0), GetParam());
    EXPECT_STREQ(tengine_plugin_get_version(0), "1.4.2");
    EXPECT_EQ(tengine_plugin_get_file(0), library_of(GetParam()));
    EXPECT_EQ(run_on(GetParam()), (std::vector<float>{1003, 1004}));
    EXPECT_EQ(tengine_plugin_load(library_of(GetParam()).c_str()), -1);
    EXPECT_EQ(get_tengine_errno(), TENGINE_EEXIST);
    EXPECT_EQ(unload_tengine_plugin(GetParam(), nullptr), 0) << get_tengine_error();
    EXPECT_FALSE(has_device(GetParam()));
}

// Compiled parts are kept: ABI 1.0 had entries for that with other parameters, which are not
// called.
TEST_P(PluginVersion, RunsWherePartsAreKept)
{
    const std::string cache = testing::TempDir() + "versions-" + std::to_string(getpid());
    ASSERT_EQ(tengine_plugin_load(library_of(GetParam()).c_str()), 1) << get_tengine_error();
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(run_on(GetParam(), cache.c_str()), (std::vector<float>{1003, 1004}));
    std::filesystem::remove_all(cache);
}

// The library must not read beyond the end of the tables, which crashed prerun_graph.
TEST_P(PluginVersion, LoadsAndRunsInTenginesWay)
{
    ASSERT_EQ(load_tengine_plugin("mine", library_of(GetParam()).c_str(), "start_versioned"), 0)
        << get_tengine_error();
    EXPECT_EQ(run_on(GetParam()), (std::vector<float>{1003, 1004}));
}

INSTANTIATE_TEST_SUITE_P(All, PluginVersion,
                         testing::Values("today", "abi_1", "shorter", "longer"));

class PluginSearch : public testing::Test
{
  protected:
    void SetUp() override
    {
        ASSERT_EQ(init_tengine(), 0) << get_tengine_error();
        folder_ = std::filesystem::temp_directory_path() /
                  ("tengine-plugins-" + std::to_string(getpid()));
        std::filesystem::create_directories(folder_);
    }
    void TearDown() override
    {
        unsetenv("TENGINE_PLUGIN_PATH");
        release_tengine();
        std::filesystem::remove_all(folder_);
    }

    void add(const std::string& version, const std::string& name) const
    {
        std::filesystem::copy(library_of(version), folder_ / name);
    }

    std::filesystem::path folder_;
};

TEST_F(PluginSearch, AnotherMajorVersionIsRefusedWithBoth)
{
    EXPECT_EQ(tengine_plugin_load(library_of("major_2").c_str()), -1);
    EXPECT_EQ(get_tengine_errno(), TENGINE_EVERSION);
    EXPECT_EQ(get_tengine_error(), "tengine_plugin_load: " + library_of("major_2") +
                                       ": plug-in 'major_2' was compiled for device ABI 2.0; this "
                                       "library has 1.3");
    EXPECT_EQ(load_tengine_plugin("mine", library_of("major_2").c_str(), "start_versioned"), -1);
    EXPECT_EQ(get_tengine_errno(), TENGINE_EVERSION);
    EXPECT_EQ(get_tengine_plugin_number(), 0);
    EXPECT_FALSE(has_device("major_2"));
}

TEST_F(PluginSearch, AFileThatIsNoPluginIsRefused)
{
    EXPECT_EQ(tengine_plugin_load(TENGINE_PLUGIN_DIR "/shout_device.so"), -1);
    EXPECT_STREQ(get_tengine_error(), "tengine_plugin_load: " TENGINE_PLUGIN_DIR
                                      "/shout_device.so: it does not export tengine_plugin()");
    EXPECT_EQ(get_tengine_errno(), TENGINE_ENOENT);
    EXPECT_EQ(tengine_plugin_load("/nowhere/at/all.so"), -1);
    EXPECT_EQ(get_tengine_errno(), TENGINE_EIO);
    EXPECT_EQ(tengine_plugin_load(""), -1);
    EXPECT_EQ(get_tengine_errno(), TENGINE_EINVAL);
}

TEST_F(PluginSearch, OfAFolderTheGoodOnesAreLoadedInOrder)
{
    add("today", "b.so");
    add("abi_1", "a.so");
    add("major_2", "c.so");
    add("shorter", ".hidden.so");
    add("longer", "d.so.1");
    std::ofstream(folder_ / "e.so") << "not a library";
    EXPECT_EQ(tengine_plugin_load(folder_.c_str()), 2) << get_tengine_error();
    EXPECT_EQ(plugin_names(), (std::vector<std::string>{"abi_1", "today"}));
    EXPECT_EQ(run_on("abi_1"), (std::vector<float>{1003, 1004}));
}

TEST_F(PluginSearch, WhatIsSkippedIsLoggedWithTheReason)
{
    static std::string log;
    log.clear();
    add("major_2", "c.so");
    tengine_log_set_sink([](int, const char* line) { log += line; });
    EXPECT_EQ(tengine_plugin_load(folder_.c_str()), 0);
    tengine_log_set_sink(nullptr);
    EXPECT_NE(log.find("skipped " + (folder_ / "c.so").string()), std::string::npos) << log;
    EXPECT_NE(log.find("2.0"), std::string::npos) << log;
}

TEST_F(PluginSearch, TheEnvironmentListsFilesAndFolders)
{
    add("today", "b.so");
    release_tengine();
    const std::string path = "/nowhere:" + library_of("longer") + "::" + folder_.string();
    setenv("TENGINE_PLUGIN_PATH", path.c_str(), 1);
    ASSERT_EQ(init_tengine(), 0) << get_tengine_error();
    EXPECT_EQ(plugin_names(), (std::vector<std::string>{"longer", "today"}));
    ASSERT_EQ(init_tengine(), 0);
    EXPECT_EQ(get_tengine_plugin_number(), 2);
    EXPECT_EQ(get_tengine_errno(), 0);
}

#ifndef TENGINE_EMULATED
// Returns the output of a shell command, and its status.
std::string output_of(const std::string& command)
{
    std::string text;
    FILE* pipe = popen((command + " 2>&1").c_str(), "r");
    char buffer[256];
    while (pipe && fgets(buffer, sizeof buffer, pipe))
        text += buffer;
    const int status = pipe ? pclose(pipe) : -1;
    return text + "status " + std::to_string(WEXITSTATUS(status));
}

TEST_F(PluginSearch, TheToolLoadsThem)
{
#ifndef TENGINE_TOOL
    GTEST_SKIP() << "this build has no program tengine (TENGINE_BUILD_TOOLS)";
#else
    add("today", "b.so");
    add("major_2", "c.so");
    const std::string tool = TENGINE_TOOL;
    const std::string listed = output_of(tool + " devices --plugin " + folder_.string() +
                                         " --plugin " + library_of("shorter"));
    EXPECT_NE(listed.find("plug-in       today 1.4.2, " + (folder_ / "b.so").string()),
              std::string::npos)
        << listed;
    EXPECT_NE(listed.find("device shorter"), std::string::npos) << listed;
    EXPECT_NE(listed.find("skipped " + (folder_ / "c.so").string()), std::string::npos) << listed;
    const std::string refused = output_of(tool + " devices --plugin " + library_of("major_2"));
    EXPECT_NE(refused.find("compiled for device ABI 2.0; this library has 1.3\nstatus 1"),
              std::string::npos)
        << refused;
    std::filesystem::create_directory(folder_ / "empty");
    const std::string empty = output_of(tool + " devices --plugin " + (folder_ / "empty").string());
    EXPECT_NE(empty.find("no plug-in found in the folder"), std::string::npos) << empty;
#endif
}

// A program with the rights of another user loads no plug-in that its user names.
TEST_F(PluginSearch, TheEnvironmentDoesNotCountForAProgramWithOtherRights)
{
    if (geteuid() != 0) GTEST_SKIP() << "only root can give a program the rights of another user";
    const std::filesystem::path program = folder_ / "device_list";
    std::filesystem::copy(TENGINE_DEVICE_LIST, program);
    ASSERT_EQ(chmod(folder_.c_str(), 0755), 0);
    const std::string command =
        "TENGINE_PLUGIN_PATH=" + library_of("today") + " " + program.string();
    const std::string open = output_of(command);
    EXPECT_NE(open.find("device today"), std::string::npos) << open;
    ASSERT_EQ(chown(program.c_str(), 65534, 65534), 0);
    ASSERT_EQ(chmod(program.c_str(), 06755), 0);
    const std::string closed = output_of(command);
    EXPECT_EQ(closed.find("device today"), std::string::npos) << closed;
    EXPECT_NE(closed.find("device CPU"), std::string::npos) << closed;
}
#endif  // a shell cannot run programs for another processor

}  // namespace
}  // namespace tengine
