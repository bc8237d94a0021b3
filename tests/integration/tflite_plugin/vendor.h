// SPDX-License-Identifier: Apache-2.0
// The compiler and the dispatch of a vendor: the compiler knows TensorFlow Lite's operators and
// writes the names of a part's nodes as byte code, the dispatch computes y = 2 x. Both follow a
// script.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "fixture.h"
#include "serializer/tflite/model_builder.h"
#include "support/result_bytes.h"
#include "tengine/compiler_plugin.h"
#include "tengine/graph.h"
#include "tengine/inspect.h"

namespace tengine::test {

struct VendorScript
{
    std::vector<std::string> chosen;  // operators; none: all
    std::vector<std::string> seen;    // nodes that partition saw, described
    std::vector<std::string> compiled;
    std::vector<std::string> loaded;  // byte code
    std::vector<std::string> entries;
    int fails_in = 0;                   // 'c': compile, 'l': load, 'i': invoke
    const char* chip = nullptr;         // of this machine
    const char* manufacturer = "Acme";  // of the dispatch
    int partitions = 0;
};
inline VendorScript vendor;

inline std::string describe(const struct tensor* tensor)
{
    if (!tensor) return "-";
    std::string text = std::string(get_data_type_name(tensor->data_type)) + " ";
    for (int i = 0; i < tensor->dim_num; ++i)
        text += (i ? "x" : "") + std::to_string(tensor->dims[i]);
    if (tensor->quant_param_num == 1)
        text += " by " + std::to_string(tensor->scale).substr(0, 5) + " from " +
                std::to_string(tensor->zero_point);
    if (tensor->quant_param_num > 1)
        text += " by " + std::to_string(tensor->quant_param_num) + " along " +
                std::to_string(tensor->quant_axis);
    return text;
}

inline std::string describe(const struct node& node)
{
    std::string text = std::to_string(tengine_node_get_tflite_code(&node));
    text += std::string(" ") + get_ir_node_op(&node) + "(";
    for (int i = 0; i < node.input_num; ++i)
        text += (i ? ", " : "") + describe(get_ir_node_input(&node, i));
    text += ") ->";
    for (int i = 0; i < node.output_num; ++i)
        text += " " + describe(get_ir_node_output(&node, i));
    return text;
}

inline int partition_by_script(void*, const char*, const struct graph* graph,
                               tengine_op_list_t* list)
{
    ++vendor.partitions;
    for (int i = 0; i < graph->node_num; ++i) {
        const struct node* node = get_ir_graph_node(graph, i);
        vendor.seen.push_back(describe(*node));
        bool is_chosen = vendor.chosen.empty();
        for (const std::string& op : vendor.chosen)
            is_chosen = is_chosen || op == get_ir_node_op(node);
        if (is_chosen && tengine_op_list_push(list, node, 0) != 0) return -1;
        if (!is_chosen && tengine_op_list_refuse(list, node, "too %s", "slow") != 0) return -1;
    }
    return 0;
}

inline int compile_by_script(void*, const char*, const struct subgraph* const parts[], int number,
                             void** out_result)
{
    static std::string code;
    code.clear();
    for (int i = 0; i < number; ++i)
        for (int k = 0; k < parts[i]->node_num; ++k)
            code += std::string(get_ir_node_op(
                        get_ir_graph_node(parts[i]->graph, parts[i]->node_list[k]))) +
                    " ";
    vendor.compiled.push_back(code);
    *out_result = &code;
    if (vendor.fails_in != 'c') return 0;
    return tengine_error_set(TENGINE_EDEVICE, "compile fails by the script");
}

inline const tengine_compiler_t* vendor_compiler()
{
    static tengine_compiler_t table = {};
    table.size = sizeof table;
    table.device = "VENDOR";
    table.manufacturer = "Acme";
    table.sdk_version = table.byte_code_version = "1";
    table.partition = partition_by_script;
    table.compile = compile_by_script;
    table.get_module_number = [](void*) { return 1; };
    table.get_module = [](void* result, int, const void** out_bytes, size_t* out_size) {
        const auto& code = *static_cast<std::string*>(result);
        *out_bytes = code.data();
        *out_size = code.size();
        return 0;
    };
    table.get_call = [](void*, int, int* out_module, const char** out_entry) {
        *out_module = 0;
        *out_entry = "main";
        return 0;
    };
    table.destroy_result = [](void*) {};
    table.knows_tflite = 1;
    return &table;
}

// The last attached buffers; the tests run one invocation at a time.
struct VendorBuffers
{
    const float* input = nullptr;
    float* output = nullptr;
    size_t number = 0;
};

inline const tengine_dispatch_t* vendor_dispatch()
{
    static tengine_dispatch_t table;
    table = {};
    table.size = sizeof table;
    table.device = "VENDOR";
    table.version = "1";
    table.byte_code_version = "1";
    if (vendor.chip) table.get_soc_model = [] { return vendor.chip; };
    table.manufacturer = vendor.manufacturer;
    table.load = [](const void* bytes, size_t size, void** out_module) -> int {
        vendor.loaded.emplace_back(static_cast<const char*>(bytes), size);
        *out_module = &vendor;
        if (vendor.fails_in != 'l') return 0;
        return tengine_error_set(TENGINE_EDEVICE, "load fails by the script");
    };
    table.unload = [](void*) {};
    table.create_invocation = [](void*, const char* entry, int, int, void** out) {
        vendor.entries.emplace_back(entry);
        *out = new VendorBuffers;
        return 0;
    };
    table.destroy_invocation = [](void* buffers) { delete static_cast<VendorBuffers*>(buffers); };
    table.attach_input = [](void* buffers, int, const void* data, size_t size) {
        static_cast<VendorBuffers*>(buffers)->input = static_cast<const float*>(data);
        static_cast<VendorBuffers*>(buffers)->number = size / sizeof(float);
        return 0;
    };
    table.attach_output = [](void* buffers, int, void* data, size_t) {
        static_cast<VendorBuffers*>(buffers)->output = static_cast<float*>(data);
        return 0;
    };
    table.invoke = [](void* data) -> int {
        const auto& buffers = *static_cast<VendorBuffers*>(data);
        if (vendor.fails_in == 'i')
            return tengine_error_set(TENGINE_EDEVICE, "invoke fails by the script");
        for (size_t i = 0; i < buffers.number; ++i)
            buffers.output[i] = 2 * buffers.input[i];
        return 0;
    };
    return &table;
}

class VendorTest : public ApiTest
{
  protected:
    void SetUp() override
    {
        ApiTest::SetUp();
        vendor = {};
    }

    void TearDown() override
    {
        unload();
        if (has_compiler_) {
            EXPECT_EQ(tengine_unregister_compiler(vendor_compiler()), 0);
        }
        if (has_dispatch_) {
            EXPECT_EQ(tengine_unregister_dispatch(dispatch_), 0);
        }
        ApiTest::TearDown();
    }

    void add_compiler()
    {
        ASSERT_EQ(tengine_register_compiler(vendor_compiler()), 0) << tengine_error_message();
        has_compiler_ = true;
    }

    void add_dispatch()
    {
        dispatch_ = vendor_dispatch();
        ASSERT_EQ(tengine_register_dispatch(dispatch_), 0) << tengine_error_message();
        has_dispatch_ = true;
    }

    void unload()
    {
        if (graph_) destroy_graph(graph_);
        graph_ = nullptr;
    }

    bool load(const std::string& file, const char* device,
              const std::vector<std::pair<const char*, const char*>>& options = {})
    {
        unload();
        const context_t context = create_context("c", 1);
        if (device) {
            EXPECT_EQ(add_context_device(context, device), 0) << get_tengine_error();
        }
        for (const auto& [key, value] : options)
            EXPECT_EQ(tengine_context_set_option(context, key, value), 0) << get_tengine_error();
        graph_ = tengine_graph_load(context, "tflite", file.data(), file.size());
        destroy_context(context);
        return graph_ != nullptr;
    }

    // The bytes of all outputs after a run with these bytes of the inputs.
    std::vector<std::string> run(const std::vector<std::string>& inputs,
                                 int precision = TENGINE_MODE_FP32)
    {
        options_t options = {1, TENGINE_CLUSTER_ALL, precision, 0};
        if (prerun_graph_multithread(graph_, options) < 0) {
            ADD_FAILURE() << get_tengine_error();
            return {};
        }
        for (size_t i = 0; i < inputs.size(); ++i)
            EXPECT_EQ(set_tensor_data(tengine_graph_get_input(graph_, static_cast<int>(i)),
                                      inputs[i].data(), static_cast<int>(inputs[i].size())),
                      0)
                << get_tengine_error();
        if (run_graph(graph_, 1) < 0) {
            ADD_FAILURE() << get_tengine_error();
            return {};
        }
        return read_results(graph_);
    }

    // "VENDOR CONV_2D, CPU Softmax": the nodes in their order.
    std::string list_nodes()
    {
        std::string text;
        tengine_execution_node node{};
        for (int i = 0; i < tengine_graph_get_execution_node_number(graph_); ++i) {
            EXPECT_EQ(tengine_graph_get_execution_node(graph_, i, &node), 0);
            text += std::string(i ? ", " : "") + node.device + " " + node.op;
        }
        return text;
    }

    std::string refusal(int node)
    {
        tengine_refusal found{};
        return tengine_graph_get_refusal(graph_, node, 0, &found) == 0 ? found.message : "none";
    }

    graph_t graph_ = nullptr;
    const tengine_dispatch_t* dispatch_ = nullptr;
    bool has_compiler_ = false, has_dispatch_ = false;
};

}  // namespace tengine::test
