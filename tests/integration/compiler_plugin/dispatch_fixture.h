// SPDX-License-Identifier: Apache-2.0
// A compiler that takes every Relu and writes one letter as byte code, and a dispatch for it; both
// follow a script.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fixture.h"
#include "tengine/compiler_plugin.h"
#include "tengine/inspect.h"

namespace tengine {

struct Script
{
    size_t alignment = 0;
    int data_type = TENGINE_DT_FP32;
    int attached = 0, invoked = 0, waited = 0, loaded = 0, unloaded = 0, created = 0;
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
inline Script script;
inline std::atomic<bool> cancelled;

// An instance of the compiler, and the event for which a compilation that hangs waits. A test that
// abandons it must not touch `script` until it has returned.
struct Instance
{
    const char* level;  // the option's value
};
inline std::atomic<bool> is_compiling, may_compile, destroyed_while_compiling;
inline std::atomic<int> destroyed;

inline int create(const tengine_vendor_option_t options[], int number, void** out_compiler)
{
    *out_compiler = new Instance{number > 0 ? options[0].value : nullptr};
    return 0;
}

inline void destroy(void* instance)
{
    if (is_compiling) destroyed_while_compiling = true;
    ++destroyed;
    delete static_cast<Instance*>(instance);
}

// Reads its arguments when it returns.
inline void hang_in_compile(void* instance, const char* soc, const struct subgraph& part)
{
    is_compiling = true;
    for (int i = 0; i < 1000 && !may_compile; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_STREQ(static_cast<Instance*>(instance)->level, "high");
    EXPECT_STREQ(soc, "R2");
    EXPECT_STREQ(get_ir_node_op(part.graph->node_list[part.node_list[0]]), "Relu");
    is_compiling = false;
}

inline int partition(void*, const char*, const struct graph* graph, tengine_op_list_t* list)
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

inline const tengine_compiler_t* compiler()
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

inline int compute()
{
    for (size_t i = 0; i < script.size / sizeof(float); ++i) {
        const float x = static_cast<const float*>(script.input)[i];
        static_cast<float*>(script.output)[i] = x > 0 ? x : 0;
    }
    return 0;
}

// An invocation does not forget that it was cancelled.
inline int wait_for_cancel()
{
    for (int i = 0; i < 1000 && !cancelled; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return TENGINE_ECANCELED;
}

inline const tengine_dispatch_t* dispatch()
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
        ++script.created;
        cancelled = false;
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
        return script.hangs || cancelled ? wait_for_cancel() : compute();
    };
    table.cancel = [](void*) { cancelled = true; };
    if (!script.is_async) return &table;
    table.invoke_async = [](void*) {
        ++script.invoked;
        return 0;
    };
    table.wait = [](void*, int) {
        ++script.waited;
        if (script.hangs || cancelled) return wait_for_cancel();
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
        // An abandoned call ends later, and its part with it.
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

    // Creates a node for each letter: Relu, Neg. The last is y.
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

}  // namespace tengine
