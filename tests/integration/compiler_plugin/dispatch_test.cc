// SPDX-License-Identifier: Apache-2.0
// What the device asks of a dispatch: buffers, asynchronous runs, and bytes that were kept. The
// compiler takes every Relu; its byte code is one letter.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "fixture.h"
#include "tengine/compiler_plugin.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

struct Script
{
    size_t alignment = 0;
    int data_type = TENGINE_DT_FP32;
    int attached = 0, invoked = 0, waited = 0, loaded = 0;
    bool hangs = false;
    std::vector<int> compiled;  // parts, of each call
    int failing_number = -1;    // of parts
    int wait_status = 1;
    int module = 0;  // that get_call names
    bool is_async = false;
    const void* input = nullptr;
    void* output = nullptr;
    size_t size = 0;
};
Script script;
std::atomic<bool> cancelled;

int partition(void*, const char*, const struct graph* graph, tengine_op_list_t* list)
{
    EXPECT_EQ(tengine_op_list_push(list, nullptr, 0), TENGINE_EINVAL);
    EXPECT_EQ(tengine_op_list_push(list, graph->node_list[0], -1), TENGINE_EINVAL);
    EXPECT_EQ(tengine_op_list_refuse(list, nullptr, "none"), TENGINE_EINVAL);
    for (int i = 0; i < graph->node_num; ++i) {
        const struct node* node = graph->node_list[i];
        const bool relu = std::strcmp(get_ir_node_op(node), "Relu") == 0;
        if ((relu ? tengine_op_list_push(list, node, i)
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
    table.sdk_version = table.byte_code_version = "1";
    table.partition = partition;
    table.compile = [](void*, const char* soc, const struct subgraph* const parts[], int number,
                       void** out) {
        EXPECT_EQ(soc, nullptr);
        for (int i = 0; i < number; ++i)
            EXPECT_EQ(parts[i]->node_num, 1);
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
    table.size = sizeof table;
    table.device = "RELU";
    table.version = table.byte_code_version = "1";
    table.load = [](const void* bytes, size_t size, void** out_module) {
        ++script.loaded;
        EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes) % 4096, 0u);
        EXPECT_EQ(size, 1u);
        *out_module = &script;
        return *static_cast<const char*>(bytes) == 'r' ? 0 : -1;
    };
    table.unload = [](void*) {};
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
        cancelled = false;
    }

    void TearDown() override
    {
        if (graph_) destroy_graph(graph_);
        if (registered_) {
            // A run that was given up ends by itself, and its part with it.
            for (int i = 0; i < 500 && tengine_unregister_dispatch(dispatch()) != 0; ++i)
                std::this_thread::sleep_for(std::chrono::milliseconds(10));
            ASSERT_EQ(tengine_register_dispatch(dispatch()), 0);
            EXPECT_EQ(tengine_unregister_dispatch(dispatch()), 0) << tengine_error_message();
            EXPECT_EQ(tengine_unregister_compiler(compiler()), 0) << tengine_error_message();
        }
        ApiTest::TearDown();
    }

    void prepare(const std::vector<std::pair<const char*, std::string>>& options = {},
                 bool is_long = false)
    {
        if (graph_) destroy_graph(graph_);
        if (!registered_) {
            ASSERT_EQ(tengine_register_dispatch(dispatch()), 0);
            ASSERT_EQ(tengine_register_compiler(compiler()), 0);
            registered_ = true;
        }
        const context_t context = create_context("c", 1);
        ASSERT_EQ(add_context_device(context, "RELU"), 0) << get_tengine_error();
        for (const auto& option : options)
            ASSERT_EQ(tengine_context_set_option(context, option.first, option.second.c_str()), 0)
                << get_tengine_error();
        graph_ = is_long ? create_long_graph(context) : create_relu_graph(context);
        destroy_context(context);
        ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    }

    // Three Relus, with a Neg between them, twice.
    static graph_t create_long_graph(context_t context)
    {
        const graph_t graph = create_graph(context, nullptr, nullptr);
        tensor_t x = add_input(graph, "x", {4});
        for (const char* name : {"a", "b", "c", "d", "y"})
            x = add_node(graph, name, std::strchr("bd", *name) ? "Neg" : "Relu", {x});
        return set_borders(graph, {"x"}, {"y"}) ? graph : nullptr;
    }

    testing::AssertionResult computes()
    {
        if (!write_floats(tengine_graph_get_input(graph_, 0), {-1, 2, -3, 4}) ||
            run_graph(graph_, 1) != 0)
            return testing::AssertionFailure() << get_tengine_error();
        const std::vector<float> y = read_floats(tengine_graph_get_output(graph_, 0));
        return y == std::vector<float>{0, 2, 0, 4} ? testing::AssertionSuccess()
                                                   : testing::AssertionFailure() << "other values";
    }

    std::string refusal()
    {
        tengine_refusal found{};
        if (tengine_graph_get_refusal(graph_, 0, 0, &found) != 0) return "none";
        return found.message;
    }

    graph_t graph_ = nullptr;
    bool registered_ = false;
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
    script = {};
    script.module = 1;
    prepare();
    EXPECT_NE(refusal().find("get_call named module 1 of 1"), std::string::npos) << refusal();
    EXPECT_EQ(script.invoked, 0);
}

TEST_F(DispatchTest, AllPartsAreCompiledAtOnce)
{
    prepare({}, true);
    EXPECT_EQ(script.compiled, std::vector<int>{3});
    EXPECT_EQ(script.loaded, 1);
    EXPECT_EQ(run_graph(graph_, 1), -1);  // without an input
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    // A compiler that may be given up does not hold the whole graph.
    script = {};
    prepare({{"prerun.watchdog_ms", "60000"}}, true);
    EXPECT_EQ(script.compiled, (std::vector<int>{1, 1, 1}));
    // One that fails with all of them gets each.
    script = {};
    script.failing_number = 3;
    prepare({}, true);
    EXPECT_EQ(script.compiled, (std::vector<int>{3, 1, 1, 1}));
    EXPECT_EQ(refusal(), "none");
}

TEST_F(DispatchTest, WhatIsKeptIsNotCompiled)
{
    const std::string folder = testing::TempDir() + "dispatch_" + std::to_string(getpid());
    prepare({{"cache.dir", folder}}, true);
    EXPECT_EQ(script.compiled, std::vector<int>{3});
    script = {};
    prepare({{"cache.dir", folder}}, true);
    EXPECT_EQ(script.compiled, std::vector<int>{});
    EXPECT_EQ(script.loaded, 3);
    std::filesystem::remove_all(folder);
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
    std::memcpy(bytes, "TVENDOR1", 8);
    const uint64_t entry = UINT64_MAX, size = 1;
    std::memcpy(bytes + 16, &size, 8);
    EXPECT_EQ(load(4096), TENGINE_EFORMAT);
    std::memcpy(bytes + 8, &entry, 8);
    EXPECT_EQ(load(4097), TENGINE_EFORMAT);
    EXPECT_EQ(script.loaded, 0);
    EXPECT_EQ(part->device_graph, nullptr);
    destroy_ir_graph(graph);
}

}  // namespace
}  // namespace tengine
