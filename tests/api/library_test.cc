// SPDX-License-Identifier: Apache-2.0
// Start and stop, version, the last error, log, plug-ins.
#include <cstring>
#include <string>
#include <thread>

#include "fixture.h"
#include "tengine/device.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

TEST(Library, InitAndReleaseAreIdempotentAndRepeatable)
{
    release_tengine();
    for (int round = 0; round < 3; ++round) {
        EXPECT_EQ(tengine_is_initialised(), 0);
        EXPECT_EQ(init_tengine(), 0) << get_tengine_error();
        EXPECT_EQ(tengine_is_initialised(), 1);
        EXPECT_EQ(init_tengine(), 0);
        EXPECT_GE(tengine_device_get_number(), 1);
        release_tengine();
        release_tengine();
        EXPECT_EQ(tengine_device_get_number(), -1);
        EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    }
}

TEST(Library, FunctionsFailBeforeInit)
{
    int dummy = 0;
    EXPECT_EQ(create_context("c", 0), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    EXPECT_EQ(create_graph(nullptr, nullptr, nullptr), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    EXPECT_EQ(create_graph_node(&dummy, "n", "Relu"), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    EXPECT_EQ(get_tensor_buffer(&dummy), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    EXPECT_EQ(run_graph(&dummy, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    EXPECT_EQ(set_default_device("CPU"), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    EXPECT_EQ(get_default_device(), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    EXPECT_EQ(get_tengine_plugin_number(), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    EXPECT_EQ(tengine_operator_get_number(), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    EXPECT_EQ(tengine_format_get_name(0), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    EXPECT_EQ(tengine_format_get_file_ending(0), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
}

TEST(Library, ReleaseMakesHandlesStale)
{
    ASSERT_EQ(init_tengine(), 0);
    const context_t context = create_context("kept", 0);
    const graph_t graph = create_relu_graph(context);
    const graph_t lone = create_relu_graph();
    ASSERT_NE(lone, nullptr);
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    release_tengine();
    ASSERT_EQ(init_tengine(), 0);
    EXPECT_EQ(destroy_graph(graph), -1);
    EXPECT_TRUE(failed_with(TENGINE_EHANDLE));
    EXPECT_EQ(destroy_graph(lone), -1);
    EXPECT_TRUE(failed_with(TENGINE_EHANDLE));
    EXPECT_EQ(get_context_device_number(context), -1);
    EXPECT_TRUE(failed_with(TENGINE_EHANDLE));
    release_tengine();
}

int scheduler_releases;

// A scheduler that was not unregistered is removed once, and may be registered again.
TEST(Library, RegisteredSchedulersGoWithRelease)
{
    scheduler scheduler = {};
    scheduler.name = "left";
    scheduler.run = [](struct scheduler*, graph*, int) { return 0; };
    scheduler.wait = [](struct scheduler*, graph*) { return 1; };
    scheduler.release = [](struct scheduler*) { ++scheduler_releases; };
    scheduler_releases = 0;
    for (int round = 1; round < 3; ++round) {
        ASSERT_EQ(init_tengine(), 0);
        EXPECT_EQ(register_scheduler(&scheduler), 0) << tengine_error_message();
        const context_t context = create_context("c", 0);
        EXPECT_EQ(tengine_context_set_option(context, "scheduler", "left"), 0);
        ASSERT_EQ(prerun_graph(create_relu_graph(context)), 0) << get_tengine_error();
        release_tengine();
        EXPECT_EQ(scheduler_releases, round);
        EXPECT_EQ(find_scheduler_via_name("left"), nullptr);
    }
}

using LibraryTest = ApiTest;

TEST_F(LibraryTest, VersionHasNumberAndPostfix)
{
    const std::string version = get_tengine_version();
    EXPECT_NE(version.find('-'), std::string::npos) << version;
    EXPECT_EQ(request_tengine_version("1.5"), 1);
    EXPECT_EQ(request_tengine_version(nullptr), 1);
    EXPECT_EQ(get_tengine_hcl_version(), nullptr);
}

TEST_F(LibraryTest, ErrorHasCodeAndSentence)
{
    EXPECT_EQ(get_tengine_errno(), 0);
    EXPECT_STREQ(get_tengine_error(), "");
    EXPECT_EQ(get_graph_node_num(nullptr), -1);
    EXPECT_EQ(get_tengine_errno(), TENGINE_EHANDLE);
    EXPECT_NE(std::strstr(get_tengine_error(), "get_graph_node_num"), nullptr);
    EXPECT_EQ(clr_tengine_errno(), 0);
    EXPECT_EQ(get_tengine_errno(), 0);
    EXPECT_STREQ(get_tengine_error(), "");
}

TEST_F(LibraryTest, ErrorIsOfTheThread)
{
    EXPECT_EQ(get_graph_node_num(nullptr), -1);
    int code = -1;
    std::thread([&code] { code = get_tengine_errno(); }).join();
    EXPECT_EQ(code, 0);
    EXPECT_TRUE(failed_with(TENGINE_EHANDLE));
}

std::string logged;

void keep_line(const char* line)
{
    logged += line;
}

TEST_F(LibraryTest, LogGoesToTheSinkFromTheLevelOn)
{
    const graph_t graph = create_relu_graph();
    logged.clear();
    set_log_output(keep_line);
    dump_graph(graph);
    EXPECT_EQ(logged, "");
    set_log_level(LOG_INFO);
    dump_graph(graph);
    set_log_level(LOG_NOTICE);
    EXPECT_NE(logged.find("Relu"), std::string::npos) << logged;
    const std::string before = logged;
    dump_graph(graph);
    EXPECT_EQ(logged, before);
    set_log_output(nullptr);
    destroy_graph(graph);
}

}  // namespace
}  // namespace tengine
