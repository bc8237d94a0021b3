// SPDX-License-Identifier: Apache-2.0
// What the device asks of a dispatch: buffers, asynchronous runs, and bytes that were kept. The
// compiler takes every Relu; its byte code is one letter.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "allocation_count.h"
#include "fixture.h"
#include "tengine/compiler_plugin.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

struct Script
{
    size_t alignment = 0;
    int data_type = TENGINE_DT_FP32;
    int attached = 0, invoked = 0, waited = 0, loaded = 0, unloaded = 0;
    bool hangs = false;
    std::vector<int> compiled;  // parts, of each call
    int failing_number = -1;    // of parts
    int wait_status = 1;
    int module = 0;  // that get_call names
    bool has_one_index = false;
    bool hangs_in_compile = false;
    const char* sdk_version = "1";
    const char* byte_code_version = "1";
    const char* chip = nullptr;  // of this machine
    const char* soc = nullptr;   // that compile is to see
    uint32_t dispatch_size = sizeof(tengine_dispatch_t);
    bool is_async = false;
    const void* input = nullptr;
    void* output = nullptr;
    size_t size = 0;
};
Script script;
std::atomic<bool> cancelled;

// An instance of the compiler, and what a compilation that hangs waits for. A test that gives it up
// leaves `script` alone until it has returned.
struct Instance
{
    const char* level;  // the option's value
};
std::atomic<bool> is_compiling, may_compile, destroyed_while_compiling;
std::atomic<int> destroyed;

int create(const tengine_vendor_option_t options[], int number, void** out_compiler)
{
    *out_compiler = new Instance{number > 0 ? options[0].value : nullptr};
    return 0;
}

void destroy(void* instance)
{
    if (is_compiling) destroyed_while_compiling = true;
    ++destroyed;
    delete static_cast<Instance*>(instance);
}

// When it returns it reads what it was given.
void hang_in_compile(void* instance, const char* soc, const struct subgraph& part)
{
    is_compiling = true;
    for (int i = 0; i < 1000 && !may_compile; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_STREQ(static_cast<Instance*>(instance)->level, "high");
    EXPECT_STREQ(soc, "R2");
    EXPECT_STREQ(get_ir_node_op(part.graph->node_list[part.node_list[0]]), "Relu");
    is_compiling = false;
}

int partition(void*, const char*, const struct graph* graph, tengine_op_list_t* list)
{
    EXPECT_EQ(tengine_op_list_push(list, nullptr, 0), TENGINE_EINVAL);
    EXPECT_EQ(tengine_op_list_push(list, graph->node_list[0], -1), TENGINE_EINVAL);
    EXPECT_EQ(tengine_op_list_refuse(list, nullptr, "none"), TENGINE_EINVAL);
    for (int i = 0; i < graph->node_num; ++i) {
        const struct node* node = graph->node_list[i];
        const bool relu = std::strcmp(get_ir_node_op(node), "Relu") == 0;
        if ((relu ? tengine_op_list_push(list, node, script.has_one_index ? 0 : i)
                  : tengine_op_list_refuse(list, node, "node %d is not a Relu", i)) != 0)
            return -1;
    }
    return 0;
}

const tengine_compiler_t* compiler()
{
    static tengine_compiler_t table = {};
    table.size = sizeof table;
    table.device = "RELU";
    table.manufacturer = "test";
    static const char* const models[] = {"R1", "R2"};
    static const ir_device_option_t level = {"level", "", "any text"};
    table.sdk_version = script.sdk_version;
    table.byte_code_version = script.byte_code_version;
    table.soc_models = models;
    table.soc_model_number = 2;
    table.options = &level;
    table.option_number = 1;
    table.create = create;
    table.destroy = destroy;
    table.partition = partition;
    table.compile = [](void* instance, const char* soc, const struct subgraph* const parts[],
                       int number, void** out) {
        if (script.hangs_in_compile) hang_in_compile(instance, soc, *parts[0]);
        EXPECT_STREQ(soc, script.soc);
        script.compiled.push_back(number);
        *out = &script;
        return number == script.failing_number ? TENGINE_EDEVICE : 0;
    };
    table.get_module_number = [](void*) { return 1; };
    table.get_module = [](void*, int, const void** out_bytes, size_t* out_size) {
        *out_bytes = "r";
        *out_size = 1;
        return 0;
    };
    table.get_call = [](void*, int, int* out_module, const char** out_entry) {
        *out_module = script.module;
        *out_entry = "relu";
        return 0;
    };
    table.destroy_result = [](void*) {};
    return &table;
}

int compute()
{
    for (size_t i = 0; i < script.size / sizeof(float); ++i) {
        const float x = static_cast<const float*>(script.input)[i];
        static_cast<float*>(script.output)[i] = x > 0 ? x : 0;
    }
    return 0;
}

const tengine_dispatch_t* dispatch()
{
    static tengine_dispatch_t table;
    table = {};
    table.device = "RELU";
    table.size = script.dispatch_size;
    table.version = "1";
    table.byte_code_version = script.byte_code_version;
    if (script.chip) table.get_soc_model = [] { return script.chip; };
    table.load = [](const void* bytes, size_t size, void** out_module) {
        ++script.loaded;
        EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes) % 4096, 0u);
        EXPECT_EQ(size, 1u);
        *out_module = &script;
        return *static_cast<const char*>(bytes) == 'r' ? 0 : -1;
    };
    table.unload = [](void*) { ++script.unloaded; };
    table.create_invocation = [](void*, const char* entry, int inputs, int outputs, void** out) {
        EXPECT_STREQ(entry, "relu");
        EXPECT_EQ(inputs, 1);
        EXPECT_EQ(outputs, 1);
        *out = &script;
        return 0;
    };
    table.destroy_invocation = [](void*) {};
    table.get_input_requirement =
        table.get_output_requirement = [](void*, int, tengine_buffer_requirement_t* out) {
            *out = {script.alignment, script.data_type};
            return 0;
        };
    table.attach_input = [](void*, int, const void* data, size_t size) {
        EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % std::max<size_t>(script.alignment, 1), 0u);
        ++script.attached;
        script.input = data;
        script.size = size;
        return 0;
    };
    table.attach_output = [](void*, int, void* data, size_t) {
        ++script.attached;
        script.output = data;
        return 0;
    };
    table.invoke = [](void*) -> int {
        ++script.invoked;
        if (!script.hangs) return compute();
        for (int i = 0; i < 1000 && !cancelled; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        return TENGINE_ECANCELED;
    };
    table.cancel = [](void*) { cancelled = true; };
    if (!script.is_async) return &table;
    table.invoke_async = [](void*) {
        ++script.invoked;
        return 0;
    };
    table.wait = [](void*, int) {
        ++script.waited;
        return script.wait_status == 1 ? (compute(), 1) : script.wait_status;
    };
    return &table;
}

class DispatchTest : public ApiTest
{
  protected:
    void SetUp() override
    {
        ApiTest::SetUp();
        script = {};
        cancelled = is_compiling = may_compile = destroyed_while_compiling = false;
        destroyed = 0;
    }

    void TearDown() override
    {
        unregister();
        ApiTest::TearDown();
    }

    void unregister()
    {
        if (graph_) destroy_graph(graph_);
        graph_ = nullptr;
        if (!registered_) return;
        registered_ = false;
        // A call that was given up ends by itself, and its part with it.
        for (int i = 0; i < 500 && tengine_unregister_dispatch(dispatch_) != 0; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        EXPECT_EQ(tengine_register_dispatch(dispatch_), 0);
        EXPECT_EQ(tengine_unregister_dispatch(dispatch_), 0) << tengine_error_message();
        EXPECT_EQ(tengine_unregister_compiler(compiler_), 0) << tengine_error_message();
    }

    void register_both()
    {
        if (registered_) return;
        ASSERT_EQ(tengine_register_dispatch(dispatch_ = dispatch()), 0) << tengine_error_message();
        ASSERT_EQ(tengine_register_compiler(compiler_ = compiler()), 0) << tengine_error_message();
        registered_ = true;
    }

    void prepare(const std::vector<std::pair<const char*, std::string>>& options = {},
                 const char* operators = "R")
    {
        if (graph_) destroy_graph(graph_);
        register_both();
        const context_t context = create_context("c", 1);
        ASSERT_EQ(add_context_device(context, "RELU"), 0) << get_tengine_error();
        for (const auto& option : options)
            ASSERT_EQ(tengine_context_set_option(context, option.first, option.second.c_str()), 0)
                << get_tengine_error();
        graph_ = create_chain(context, operators);
        destroy_context(context);
        ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    }

    // A node for each letter: Relu, Neg. The last is y.
    static graph_t create_chain(context_t context, const std::string& operators)
    {
        const graph_t graph = create_graph(context, nullptr, nullptr);
        tensor_t x = add_input(graph, "x", {4});
        for (size_t i = 0; i < operators.size(); ++i) {
            const bool is_last = i + 1 == operators.size();
            const std::string name = is_last ? "y" : std::string(1, static_cast<char>('a' + i));
            x = add_node(graph, name.c_str(), operators[i] == 'R' ? "Relu" : "Neg", {x});
        }
        return set_borders(graph, {"x"}, {"y"}) ? graph : nullptr;
    }

    testing::AssertionResult computes(const std::vector<float>& wanted = {0, 2, 0, 4})
    {
        if (!write_floats(tengine_graph_get_input(graph_, 0), {-1, 2, -3, 4}) ||
            run_graph(graph_, 1) != 0)
            return testing::AssertionFailure() << get_tengine_error();
        const std::vector<float> y = read_floats(tengine_graph_get_output(graph_, 0));
        return y == wanted ? testing::AssertionSuccess()
                           : testing::AssertionFailure() << "other values";
    }

    std::string refusal(int node = 0)
    {
        tengine_refusal found{};
        if (tengine_graph_get_refusal(graph_, node, 0, &found) != 0) return "none";
        return found.message;
    }

    graph_t graph_ = nullptr;
    const tengine_dispatch_t* dispatch_ = nullptr;
    const tengine_compiler_t* compiler_ = nullptr;
    bool registered_ = false;
};

// With a folder for compiled parts.
class CachedDispatchTest : public DispatchTest
{
  protected:
    void TearDown() override
    {
        DispatchTest::TearDown();
        std::filesystem::remove_all(folder_);
    }

    // Another start of the program, whose compiler and dispatch are those of `now`: how many parts
    // are compiled.
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
    EXPECT_NE(refusal().find("'x' is fp32: the byte code expects int8"), std::string::npos)
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
    EXPECT_NE(refusal().find("get_call named module 1 of 1"), std::string::npos) << refusal();
    EXPECT_EQ(script.invoked, 0);
}

// Allocations of a preparation and a run fail in turn, those of the vendor's functions too.
TEST_F(DispatchTest, AShortageOfMemoryIsAFailureAndNoMore)
{
    if (!can_count_allocations()) GTEST_SKIP() << "a sanitizer has its own allocator";
    for (const bool is_async : {false, true}) {
        script = {};
        script.is_async = is_async;
        script.alignment = size_t{1} << 20;
        prepare({}, "RNR");
        const tensor_t x = tengine_graph_get_input(graph_, 0);
        ASSERT_TRUE(write_floats(x, {-1, 2, -3, 4}));
        set_log_level(LOG_EMERG);
        int failures = 0;
        bool has_failed = true;
        for (long number = 1; has_failed && !HasFailure(); number += 29) {
            SCOPED_TRACE("allocation " + std::to_string(number));
            ASSERT_EQ(postrun_graph(graph_), 0);
            const long before = count_allocations();
            fail_allocation(number);
            const bool worked = prerun_graph(graph_) == 0 && run_graph(graph_, 1) == 0;
            fail_allocation(0);
            has_failed = count_allocations() - before >= number;
            if (!worked) {
                ++failures;
                EXPECT_EQ(get_tengine_errno(), TENGINE_ENOMEM) << get_tengine_error();
            }
            ASSERT_EQ(postrun_graph(graph_), 0);
            ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
            EXPECT_TRUE(computes({0, 0, 0, 0}));
        }
        EXPECT_GT(failures, 5);
        set_log_level(LOG_NOTICE);
    }
}

TEST_F(DispatchTest, AllPartsAreCompiledAtOnce)
{
    prepare({}, "RNRNR");
    EXPECT_EQ(script.compiled, std::vector<int>{3});
    EXPECT_EQ(script.loaded, 1);
    EXPECT_EQ(run_graph(graph_, 1), -1);  // without an input
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    // A compiler that may be given up does not hold the whole graph.
    script = {};
    prepare({{"prerun.watchdog_ms", "60000"}}, "RNRNR");
    EXPECT_EQ(script.compiled, (std::vector<int>{1, 1, 1}));
    // One that fails with all of them gets each.
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
    // What the user says counts.
    now.soc = "R1";
    EXPECT_EQ(compiled_by(now, "R", {{"RELU.soc", "R1"}}), 1);
}

TEST_F(DispatchTest, AChipThatTheCompilerDoesNotKnowIsNamed)
{
    script.chip = "R7";
    prepare();
    EXPECT_EQ(refusal(), "get_soc_model failed: RELU compiles for no model 'R7'; it knows R1, R2");
    take_logged_failures();
    EXPECT_TRUE(computes());
}

TEST_F(DispatchTest, ATableOfTheFirstLengthIsEnough)
{
    script.chip = "R1";  // beyond its end
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
    EXPECT_STREQ(tengine_error_message(),
                 "byte code of version '2' for device 'RELU', which has '1'");
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

// The compiler that was given up is asked for no other part, and lives until the call returns, as
// do its options, the model's name and the part.
TEST_F(DispatchTest, ACompilationThatHangsOutlivesItsGraph)
{
    script.hangs_in_compile = true;
    script.soc = "R2";
    prepare({{"prerun.watchdog_ms", "200"}, {"RELU.level", "high"}, {"RELU.soc", "R2"}}, "RNRNR");
    EXPECT_TRUE(is_compiling);
    EXPECT_NE(refusal(0).find("no return within 200 ms"), std::string::npos) << refusal(0);
    for (const int later : {2, 4})
        EXPECT_NE(refusal(later).find("the compiler of RELU has not returned from an earlier part"),
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

// What was kept may have been altered by anyone: only what is whole reaches the dispatch.
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
                          "compiled by version '' of the SDK of RELU: that here is '1'"),
              nullptr)
        << tengine_error_message();
    EXPECT_EQ(script.loaded, 0);
    EXPECT_EQ(part->device_graph, nullptr);
    destroy_ir_graph(graph);
}

}  // namespace
}  // namespace tengine
