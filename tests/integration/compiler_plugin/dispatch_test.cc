// SPDX-License-Identifier: Apache-2.0
// The calls of the device to a dispatch: buffers, asynchronous runs, and kept bytes.
#include <unistd.h>

#include <cstddef>
#include <filesystem>

#include "dispatch_fixture.h"
#include "support/allocation_count.h"

namespace tengine {
namespace {

// The context has a folder for compiled parts.
class CachedDispatchTest : public DispatchTest
{
  protected:
    void TearDown() override
    {
        DispatchTest::TearDown();
        std::filesystem::remove_all(folder_);
    }

    // Simulates another start of the program, with the compiler and dispatch of `now`: returns the
    // number of compiled parts.
    int compiled_by(const Script& now, const char* operators = "R",
                    std::vector<std::pair<const char*, std::string>> options = {})
    {
        unregister();
        script = now;
        options.emplace_back("cache.dir", folder_);
        prepare(options, operators);
        EXPECT_EQ(refusal(), "none");
        int number = 0;
        for (const int parts : script.compiled)
            number += parts;
        return number;
    }

  private:
    const std::string folder_ = testing::TempDir() + "dispatch_" + std::to_string(getpid()) + "_" +
                                testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(DispatchTest, BuffersAreAttachedOnceAndWhereTheyLie)
{
    prepare();
    EXPECT_TRUE(computes());
    EXPECT_TRUE(computes());
    EXPECT_EQ(script.invoked, 2);
    EXPECT_EQ(script.attached, 2);
    tengine_counter counter;
    ASSERT_EQ(tengine_graph_get_counters(graph_, 0, &counter, 1), 1);
    EXPECT_EQ(counter.value, 0);
}

TEST_F(DispatchTest, BuffersThatAreNotAlignedAreCopiedAndCounted)
{
    script.alignment = size_t{1} << 20;
    prepare();
    EXPECT_TRUE(computes());
    EXPECT_TRUE(computes());
    tengine_counter counter;
    ASSERT_EQ(tengine_graph_get_counters(graph_, 0, &counter, 1), 1);
    EXPECT_STREQ(counter.name, "copies");
    EXPECT_EQ(counter.value, 2);
}

TEST_F(DispatchTest, RequirementsThatCannotBeMetAreToldAtOnce)
{
    script.data_type = TENGINE_DT_INT8;
    prepare();
    EXPECT_NE(refusal().find("'x' is fp32, expected int8 by the byte code"), std::string::npos)
        << refusal();
    EXPECT_TRUE(computes());
    script = {};
    script.alignment = 48;
    prepare();
    EXPECT_NE(refusal().find("invalid alignment 48: expected a power of two"), std::string::npos)
        << refusal();
    EXPECT_TRUE(computes());
    for (const size_t alignment : {size_t{1} << 31, size_t{1} << (8 * sizeof(size_t) - 1)}) {
        script.alignment = alignment;
        prepare();
        EXPECT_NE(refusal().find("a power of two, at most 1073741824"), std::string::npos)
            << refusal();
        EXPECT_TRUE(computes());
    }
    script = {};
    script.module = 1;
    prepare();
    EXPECT_NE(refusal().find("get_call: module 1, or no entry point: expected a module below 1"),
              std::string::npos)
        << refusal();
    EXPECT_EQ(script.invoked, 0);
}

TEST_F(DispatchTest, AllPartsAreCompiledAtOnce)
{
    prepare({}, "RNRNR");
    EXPECT_EQ(script.compiled, std::vector<int>{3});
    EXPECT_EQ(script.loaded, 1);
    EXPECT_EQ(run_graph(graph_, 1), -1);  // without an input
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    // A compiler with a time limit does not get the whole graph.
    script = {};
    prepare({{"prerun.watchdog_ms", "60000"}}, "RNRNR");
    EXPECT_EQ(script.compiled, (std::vector<int>{1, 1, 1}));
    // A compiler that fails with all parts together gets each of them.
    script = {};
    script.failing_number = 3;
    prepare({}, "RNRNR");
    EXPECT_EQ(script.compiled, (std::vector<int>{3, 1, 1, 1}));
    EXPECT_EQ(refusal(), "none");
}

TEST_F(DispatchTest, NodesOfDifferentIndicesShareNoPart)
{
    prepare({}, "RR");
    EXPECT_EQ(script.compiled, std::vector<int>{2});
    EXPECT_TRUE(computes());
    unregister();
    script = {};
    script.has_one_index = true;
    prepare({}, "RR");
    EXPECT_EQ(script.compiled, std::vector<int>{1});
}

TEST_F(CachedDispatchTest, WhatIsKeptIsNotCompiledAndAModuleOfAllPartsIsLoadedOnce)
{
    EXPECT_EQ(compiled_by({}, "RNRNR"), 3);
    EXPECT_EQ(script.loaded, 1);
    EXPECT_EQ(compiled_by({}, "RNRNR"), 0);
    EXPECT_EQ(script.loaded, 1);
    EXPECT_EQ(script.unloaded, 0);
    EXPECT_TRUE(computes({0, 0, 0, 0}));
    unregister();
    EXPECT_EQ(script.unloaded, 1);
}

TEST_F(CachedDispatchTest, AnotherSdkCompilesAgain)
{
    Script now;
    EXPECT_EQ(compiled_by(now), 1);
    now.sdk_version = "2";
    EXPECT_EQ(compiled_by(now), 1);
    EXPECT_EQ(script.loaded, 1) << "the dispatch sees what was compiled only";
    EXPECT_EQ(compiled_by(now), 0);
}

TEST_F(CachedDispatchTest, AnotherByteCodeCompilesAgain)
{
    Script now;
    EXPECT_EQ(compiled_by(now), 1);
    now.byte_code_version = "2";
    EXPECT_EQ(compiled_by(now), 1);
    EXPECT_EQ(compiled_by(now), 0);
}

TEST_F(CachedDispatchTest, AnotherChipCompilesAgain)
{
    Script now;
    now.chip = now.soc = "R1";
    EXPECT_EQ(compiled_by(now), 1);
    now.chip = now.soc = "R2";
    EXPECT_EQ(compiled_by(now), 1);
    EXPECT_EQ(compiled_by(now), 0);
    // The user's option takes precedence.
    now.soc = "R1";
    EXPECT_EQ(compiled_by(now, "R", {{"RELU.soc", "R1"}}), 1);
}

TEST_F(DispatchTest, AChipThatTheCompilerDoesNotKnowIsNamed)
{
    script.chip = "R7";
    prepare();
    EXPECT_EQ(refusal(),
              "get_soc_model failed: device 'RELU': unknown chip model 'R7': expected R1, R2");
    take_logged_failures();
    EXPECT_TRUE(computes());
}

TEST_F(DispatchTest, ATableOfTheFirstLengthIsEnough)
{
    script.chip = "R1";  // after the table's end
    script.dispatch_size = offsetof(tengine_dispatch_t, get_soc_model);
    prepare();
    EXPECT_EQ(refusal(), "none");
    EXPECT_TRUE(computes());
    unregister();
    --script.dispatch_size;
    EXPECT_EQ(tengine_register_dispatch(dispatch()), TENGINE_EVERSION);
}

TEST_F(DispatchTest, ByteCodeOfTwoVersionsIsNoPair)
{
    const tengine_dispatch_t* first = dispatch();
    ASSERT_EQ(tengine_register_dispatch(first), 0);
    script.byte_code_version = "2";
    EXPECT_EQ(tengine_register_compiler(compiler()), TENGINE_EVERSION);
    EXPECT_STREQ(tengine_error_message(), "device 'RELU': byte code of version '2', expected '1'");
    EXPECT_EQ(tengine_unregister_dispatch(first), 0);
}

TEST_F(DispatchTest, RunsWithCopiesAllocateNothing)
{
    if (!can_count_allocations()) GTEST_SKIP() << "a sanitizer has its own allocator";
    script.alignment = size_t{1} << 20;
    prepare();
    ASSERT_TRUE(write_floats(tengine_graph_get_input(graph_, 0), {-1, 2, -3, 4}));
    const long before = count_allocations();
    for (int i = 0; i < 3; ++i)
        ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    EXPECT_EQ(count_allocations(), before);
    tengine_counter counter;
    ASSERT_EQ(tengine_graph_get_counters(graph_, 0, &counter, 1), 1);
    EXPECT_EQ(counter.value, 2);
}

// The abandoned compiler gets no other part, and lives until the call returns, as do its options,
// the model's name and the part.
TEST_F(DispatchTest, ACompilationThatHangsOutlivesItsGraph)
{
    script.hangs_in_compile = true;
    script.soc = "R2";
    prepare({{"prerun.watchdog_ms", "200"}, {"RELU.level", "high"}, {"RELU.soc", "R2"}}, "RNRNR");
    EXPECT_TRUE(is_compiling);
    EXPECT_NE(refusal(0).find("no return within 200 ms"), std::string::npos) << refusal(0);
    for (const int later : {2, 4})
        EXPECT_NE(refusal(later).find(
                      "device 'RELU': the compiler has not returned from an earlier part"),
                  std::string::npos)
            << refusal(later);
    EXPECT_TRUE(computes({0, 0, 0, 0}));
    destroy_graph(graph_);
    graph_ = nullptr;
    EXPECT_EQ(destroyed, 0);
    EXPECT_EQ(tengine_unregister_compiler(compiler_), TENGINE_ESTATE);
    may_compile = true;
    for (int i = 0; i < 500 && destroyed == 0; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    unregister();
    EXPECT_EQ(destroyed, 1);
    EXPECT_FALSE(destroyed_while_compiling);
    EXPECT_EQ(script.compiled, std::vector<int>{1});
}

TEST_F(DispatchTest, AsynchronousRunsAreWaitedFor)
{
    script.is_async = true;
    prepare({{"scheduler", "pipeline"}});
    EXPECT_TRUE(computes());
    EXPECT_EQ(script.invoked, 1);
    EXPECT_GT(script.waited, 0);
    script.wait_status = TENGINE_EDEVICE;
    EXPECT_TRUE(computes());
    EXPECT_NE(refusal().find("wait returned -80"), std::string::npos) << refusal();
}

TEST_F(DispatchTest, OthersRunUnderPipelineToo)
{
    prepare({{"scheduler", "pipeline"}});
    EXPECT_TRUE(computes());
    EXPECT_EQ(script.invoked, 1);
    EXPECT_EQ(script.waited, 0);
}

TEST_F(DispatchTest, ARunThatTakesTooLongIsCancelled)
{
    script.hangs = true;
    prepare({{"run.watchdog_ms", "50"}});
    EXPECT_TRUE(computes());
    EXPECT_TRUE(cancelled);
}

TEST_F(DispatchTest, ACancelledInvocationIsRenewed)
{
    for (const bool is_async : {false, true})
        for (const char* scheduler : {"sync", "pipeline"}) {
            SCOPED_TRACE(std::string(scheduler) + (is_async ? ", async" : ""));
            unregister();
            script = {};
            script.is_async = is_async;
            prepare({{"scheduler", scheduler}, {"run.deadline_ms", "50"}});
            EXPECT_TRUE(computes());
            for (int i = 1; i <= 2; ++i) {
                script.hangs = true;
                EXPECT_FALSE(computes());
                EXPECT_EQ(get_tengine_errno(), TENGINE_ECANCELED) << get_tengine_error();
                EXPECT_TRUE(cancelled);
                EXPECT_EQ(script.created, i);
                script.hangs = false;
                EXPECT_TRUE(computes());
                EXPECT_EQ(script.created, i + 1);
                EXPECT_EQ(script.invoked, 1 + 2 * i) << "on the device";
            }
            EXPECT_EQ(refusal(), "none");
        }
    take_logged_failures();
}

// The kept bytes may have been altered: only intact ones reach the dispatch.
TEST_F(DispatchTest, KeptBytesAreCheckedBeforeTheDispatchSeesThem)
{
    prepare();
    struct device* device = find_device_via_name("RELU");
    ASSERT_NE(device, nullptr);
    struct graph* graph = create_ir_graph(nullptr);
    ASSERT_NE(graph, nullptr);
    struct subgraph* part = create_ir_subgraph(graph, device);
    ASSERT_NE(part, nullptr);
    alignas(4096) static char bytes[8192];
    const auto load = [&](size_t size) {
        return device->interface->load(device, part, bytes, size);
    };
    script.loaded = 0;
    EXPECT_EQ(load(0), TENGINE_EFORMAT);
    EXPECT_EQ(load(4095), TENGINE_EFORMAT);
    EXPECT_EQ(load(8192), TENGINE_EFORMAT);
    std::copy_n("TVENDOR2", 8, bytes);
    const uint64_t huge = UINT64_MAX, none = 0, size = 1;
    std::memcpy(bytes + 24, &size, 8);
    EXPECT_EQ(load(4096), TENGINE_EFORMAT);
    std::memcpy(bytes + 8, &huge, 8);
    EXPECT_EQ(load(4097), TENGINE_EFORMAT);
    std::memcpy(bytes + 8, &none, 8);
    std::memcpy(bytes + 16, &huge, 8);
    EXPECT_EQ(load(4097), TENGINE_EFORMAT);
    std::memcpy(bytes + 16, &none, 8);
    EXPECT_EQ(load(4097), TENGINE_EVERSION);
    EXPECT_NE(std::strstr(tengine_error_message(),
                          "device 'RELU': compiled by version '' of the SDK, expected '1'"),
              nullptr)
        << tengine_error_message();
    EXPECT_EQ(script.loaded, 0);
    EXPECT_EQ(part->device_graph, nullptr);
    destroy_ir_graph(graph);
}

}  // namespace
}  // namespace tengine
