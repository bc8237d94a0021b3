// SPDX-License-Identifier: Apache-2.0
// The lists of failing calls, by the kind of their arguments.
#include "failing_calls.h"

#include "tengine/bucket.h"
#include "tengine/custom_op.h"
#include "tengine/entry.h"
#include "tengine/file.h"
#include "tengine/graph.h"
#include "tengine/image.h"
#include "tengine/inspect.h"
#include "tengine/metadata.h"
#include "tengine/placement.h"
#include "tengine/quantize.h"
#include "tengine/run.h"
#include "tengine/sequence.h"
#include "tengine/state.h"
#include "tengine/string.h"
#include "tengine/trace.h"

namespace tengine {
namespace {

// clang-format off
#define CALL(expression, failure) \
    FailingCall{#expression, []([[maybe_unused]] void* h) { return (expression) == (failure); }}
// Functions without a result only have to return.
#define VOID_CALL(expression) \
    FailingCall{#expression, [](void* h) { expression; return true; }}
// clang-format on

int numbers[8];
float reals[8];
const char* names[] = {"x"};
custom_kernel_ops kernel_ops;
tengine_graph_stats stats;
tengine_hint hint;
tengine_variant variant;
tengine_execution_node execution_node;
tengine_node_kernel kernel;
tengine_execution_tensor execution_tensor;
tengine_node_detail detail;
tengine_node_attribute attribute;
tengine_plan_arena arena;
tengine_plan_block block;
tengine_trace_event trace_event;
tengine_trace_lane trace_lane;
tengine_refusal refusal;
tengine_subgraph part;
tengine_graph_memory memory;
tengine_device_memory device_memory;
tengine_compiled_part compiled_part;
tengine_model_preparation model_preparation;
tengine_element element;
tengine_metadata metadata;
int64_t number;
const tengine_quantization quantization = {};
tengine_quantization_choice choice;

int ignore_event(graph_t, int, void*)
{
    return 0;
}

}  // namespace

const std::vector<FailingCall>& context_calls()
{
    static const std::vector<FailingCall> calls = {
        CALL(get_context_device_number(h), -1),
        CALL(add_context_device(h, "CPU"), -1),
        CALL(set_context_device(h, "CPU", nullptr, 0), -1),
        CALL(remove_context_device(h, "CPU"), -1),
        CALL(tengine_context_set_option(h, "split.prune", "0"), -1),
        CALL(tengine_context_get_option(h, "split.prune"), nullptr),
        CALL(set_context_attr(h, "a", numbers, 4), -1),
        CALL(get_context_attr(h, "a", numbers, 4), -1),
    };
    return calls;
}

static std::vector<FailingCall> build_and_run_calls()
{
    return {
        CALL(destroy_graph(h), -1),
        CALL(set_graph_layout(h, TENGINE_LAYOUT_NCHW), -1),
        CALL(set_graph_input_node(h, names, 1), -1),
        CALL(set_graph_output_node(h, names, 1), -1),
        CALL(get_graph_input_node_number(h), -1),
        CALL(get_graph_output_node_number(h), -1),
        CALL(get_graph_input_node(h, 0), nullptr),
        CALL(get_graph_output_node(h, 0), nullptr),
        CALL(get_graph_input_tensor(h, 0, 0), nullptr),
        CALL(get_graph_output_tensor(h, 0, 0), nullptr),
        CALL(tengine_graph_get_input_number(h), -1),
        CALL(tengine_graph_get_output_number(h), -1),
        CALL(tengine_graph_get_input(h, 0), nullptr),
        CALL(tengine_graph_get_entry_number(h), -1),
        CALL(tengine_graph_get_entry_name(h, 0), nullptr),
        CALL(tengine_graph_get_entry_index(h), -1),
        CALL(tengine_graph_open_entry(h, "decode"), nullptr),
        CALL(tengine_graph_join_entries(&h, names, 1), -1),
        CALL(tengine_graph_get_state_number(h), -1),
        CALL(tengine_graph_get_state(h, 0), nullptr),
        CALL(tengine_graph_reset_states(h), -1),
        CALL(tengine_graph_keep_state(h, "x", "y"), -1),
        CALL(tengine_graph_get_hint_number(h), -1),
        CALL(tengine_graph_get_hint(h, 0, &hint, sizeof hint), -1),
        CALL(tengine_graph_set_hint(h, "split.prune", "0"), -1),
        CALL(tengine_graph_add_bucket(h, "x=1"), -1),
        CALL(tengine_graph_get_bucket_number(h), -1),
        CALL(tengine_graph_get_bucket(h, 0), nullptr),
        CALL(tengine_graph_explain_bucket(h, numbers), nullptr),
        CALL(tengine_graph_get_variant_number(h), -1),
        CALL(tengine_graph_get_variant(h, 0, &variant, sizeof variant), -1),
        CALL(tengine_graph_get_output(h, 0), nullptr),
        CALL(set_graph_attr(h, "a", numbers, 4), -1),
        CALL(get_graph_attr(h, "a", numbers, 4), -1),
        CALL(set_graph_device(h, "CPU"), -1),
        CALL(tengine_graph_cancel(h), -1),
        CALL(tengine_graph_set_completion(h, nullptr, nullptr), -1),
        CALL(tengine_graph_set_affinity(h, "*", "CPU"), -1),
        VOID_CALL(dump_graph(h)),
        CALL(create_graph_node(h, "n", "Relu"), nullptr),
        CALL(tengine_graph_add_node(h, "n", "", "Relu", 14), nullptr),
        CALL(get_graph_node(h, "x"), nullptr),
        CALL(get_graph_node_by_idx(h, 0), nullptr),
        CALL(get_graph_node_num(h), -1),
        CALL(create_graph_tensor(h, "t", TENGINE_DT_FP32), nullptr),
        CALL(get_graph_tensor(h, "x"), nullptr),
        CALL(prerun_graph(h), -1),
        CALL(prerun_graph_multithread(h, options()), -1),
        CALL(tengine_graph_place(h, options()), -1),
        CALL(run_graph(h, 1), -1),
        CALL(wait_graph(h, 1), -1),
        CALL(postrun_graph(h), -1),
        CALL(get_graph_exec_status(h), -1),
        CALL(set_graph_event_hook(h, GRAPH_EXEC_START, ignore_event, nullptr), -1),
        CALL(set_graph_thread(h, TENGINE_CLUSTER_ALL, 1), -1),
        CALL(set_graph_thread_mask(h, 1), -1),
    };
}

static std::vector<FailingCall> inspection_calls()
{
    return {
        CALL(tengine_graph_get_tensor_number(h), -1),
        CALL(tengine_graph_get_tensor(h, 0), nullptr),
        CALL(tengine_graph_get_stats(h, &stats), -1),
        CALL(tengine_graph_get_execution_node_number(h), -1),
        CALL(tengine_graph_get_thread_number(h), -1),
        CALL(tengine_graph_get_execution_node(h, 0, &execution_node), -1),
        CALL(tengine_graph_get_execution_kernel(h, 0, &kernel, sizeof kernel), -1),
        CALL(tengine_graph_get_refusal(h, 0, 0, &refusal), -1),
        CALL(tengine_graph_get_execution_input(h, 0, 0, &execution_tensor), -1),
        CALL(tengine_graph_get_execution_output_of(h, 0, 0, &execution_tensor), -1),
        CALL(tengine_graph_get_execution_output(h, 0, &execution_tensor), -1),
        CALL(tengine_graph_get_execution_tensor_number(h), -1),
        CALL(tengine_graph_get_execution_tensor(h, 0, &execution_tensor), -1),
        CALL(tengine_graph_get_execution_inputs(h, 0, numbers, 1), -1),
        CALL(tengine_graph_get_execution_outputs(h, 0, numbers, 1), -1),
        CALL(tengine_graph_get_execution_detail(h, 0, &detail, sizeof detail), -1),
        CALL(tengine_graph_get_execution_attribute(h, 0, 0, &attribute, sizeof attribute), -1),
        CALL(tengine_graph_get_plan_arena_number(h), -1),
        CALL(tengine_graph_get_plan_arena(h, 0, &arena, sizeof arena), -1),
        CALL(tengine_graph_get_plan_block_number(h), -1),
        CALL(tengine_graph_get_plan_block(h, 0, &block, sizeof block), -1),
        CALL(tengine_graph_get_plan_steps(h, 0, numbers, 1), -1),
        CALL(tengine_graph_get_subgraph(h, 0, &part), -1),
        CALL(tengine_graph_get_subgraph_group(h, 0, numbers), -1),
        CALL(tengine_graph_get_subgraph_origin(h, 0, numbers), -1),
        CALL(tengine_graph_get_compiled_part_number(h), -1),
        CALL(tengine_graph_get_compiled_part(h, 0, &compiled_part, sizeof compiled_part), -1),
        CALL(tengine_graph_get_model_preparation_number(h), -1),
        CALL(
            tengine_graph_get_model_preparation(h, 0, &model_preparation, sizeof model_preparation),
            -1),
        CALL(tengine_graph_get_scheduler(h), nullptr),
        CALL(tengine_graph_get_counters(h, 0, nullptr, 0), -1),
        CALL(tengine_graph_get_node_counters(h, 0, nullptr, 0), -1),
        CALL(tengine_graph_get_metadata(h, &metadata, sizeof metadata), -1),
        CALL(tengine_graph_get_property(h, 0, names, names), -1),
        CALL(tengine_graph_find_property(h, "key"), nullptr),
        CALL(tengine_graph_get_opset(h, 0, names, &number), -1),
        CALL(tengine_graph_get_trace_event_number(h), -1),
        CALL(tengine_graph_get_trace_event(h, 0, &trace_event, sizeof trace_event), -1),
        CALL(tengine_graph_get_trace_lane_number(h), -1),
        CALL(tengine_graph_get_trace_lane(h, 0, &trace_lane, sizeof trace_lane), -1),
        CALL(save_graph(h, "tengine", "file"), -1),
        CALL(tengine_graph_has_file(h, "file"), -1),
        CALL(tengine_graph_quantize(h, &quantization), nullptr),
        CALL(tengine_graph_share(h), nullptr),
        CALL(tengine_graph_choose_quantization(h, &quantization, 1, &choice, sizeof choice), -1),
        CALL(get_graph_memory(h, &memory, sizeof memory), -1),
        CALL(tengine_graph_get_device_memory(h, 0, &device_memory, sizeof device_memory), -1),
    };
}

const std::vector<FailingCall>& graph_calls()
{
    static const std::vector<FailingCall> calls = [] {
        std::vector<FailingCall> all = build_and_run_calls();
        const std::vector<FailingCall> more = inspection_calls();
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }();
    return calls;
}

const std::vector<FailingCall>& node_calls()
{
    static const std::vector<FailingCall> calls = {
        CALL(get_node_name(h), nullptr),
        CALL(get_node_op(h), nullptr),
        CALL(get_node_device(h), nullptr),
        CALL(tengine_node_get_doc_string(h), nullptr),
        CALL(get_node_input_number(h), -1),
        CALL(get_node_output_number(h), -1),
        CALL(get_node_input_tensor(h, 0), nullptr),
        CALL(get_node_output_tensor(h, 0), nullptr),
        CALL(set_node_input_tensor(h, 0, h), -1),
        CALL(set_node_output_tensor(h, 0, h, TENSOR_TYPE_VAR), -1),
        CALL(add_node_attr(h, "a", "int", 4), -1),
        CALL(get_node_attr_int(h, "a", numbers), -1),
        CALL(get_node_attr_float(h, "a", reals), -1),
        CALL(get_node_attr_pointer(h, "a", numbers), -1),
        CALL(get_node_attr_generic(h, "a", "int", numbers, 4), -1),
        CALL(set_node_attr_int(h, "a", numbers), -1),
        CALL(set_node_attr_float(h, "a", reals), -1),
        CALL(set_node_attr_pointer(h, "a", numbers), -1),
        CALL(set_node_attr_generic(h, "a", "int", numbers, 4), -1),
        CALL(tengine_node_get_attr_number(h, "a"), -1),
        CALL(set_custom_kernel(h, "CPU", &kernel_ops), -1),
        CALL(remove_custom_kernel(h, "CPU"), -1),
        CALL(tengine_node_get_domain(h), nullptr),
        CALL(tengine_node_get_version(h), -1),
    };
    return calls;
}

const std::vector<FailingCall>& tensor_calls()
{
    static const std::vector<FailingCall> calls = {
        CALL(get_tensor_name(h), nullptr),
        CALL(get_tensor_shape(h, numbers, 8), -1),
        CALL(set_tensor_shape(h, numbers, 1), -1),
        CALL(get_tensor_buffer_size(h), -1),
        CALL(tengine_tensor_get_buffer_size(h), -1),
        CALL(get_tensor_buffer(h), nullptr),
        CALL(set_tensor_buffer(h, numbers, 4), -1),
        CALL(get_tensor_data(h, numbers, 4), -1),
        CALL(set_tensor_data(h, numbers, 4), -1),
        CALL(tengine_tensor_set_buffer(h, numbers, 4), -1),
        CALL(tengine_tensor_get_data(h, numbers, 4), -1),
        CALL(tengine_tensor_set_data(h, numbers, 4), -1),
        CALL(get_tensor_data_type(h), -1),
        CALL(set_tensor_data_type(h, TENGINE_DT_FP32), -1),
        CALL(get_tensor_layout(h), -1),
        CALL(set_tensor_layout(h, TENGINE_LAYOUT_NCHW), -1),
        CALL(set_tensor_quant_param(h, reals, numbers, 1), -1),
        CALL(tengine_sequence_set(h, &element, 1), -1),
        CALL(tengine_sequence_get_number(h), -1),
        CALL(tengine_sequence_is_absent(h), -1),
        CALL(tengine_sequence_get(h, 0, &element), -1),
        CALL(tengine_string_set(h, names, 1), -1),
        CALL(tengine_string_get(h, 0), nullptr),
        CALL(get_tensor_quant_param(h, reals, numbers, 1), -1),
        CALL(tengine_tensor_get_type(h), -1),
        CALL(tengine_tensor_has_rank(h), -1),
        CALL(tengine_tensor_get_dim_name(h, 0), nullptr),
        CALL(tengine_tensor_get_declared_shape(h, numbers, 8), -1),
        CALL(tengine_tensor_has_data_shape(h), -1),
        CALL(tengine_tensor_get_producer(h), nullptr),
        CALL(tengine_tensor_get_consumer_number(h), -1),
        CALL(tengine_tensor_get_consumer(h, 0), nullptr),
        CALL(tengine_image_set_input_shape(h, nullptr, 1, nullptr), -1),
        CALL(tengine_image_set_input(h, nullptr, 1, nullptr), -1),
    };
    return calls;
}

static std::vector<FailingCall> image_calls()
{
    return {
        CALL(tengine_image_get_type(nullptr, 1), nullptr),
        CALL(tengine_image_get_size(nullptr, 1, numbers, numbers), -1),
        CALL(tengine_image_decode(nullptr, 1, 0, nullptr), -1),
        CALL(tengine_image_load("", 0, nullptr), -1),
        CALL(tengine_image_settings_init(nullptr, 8), -1),
        CALL(tengine_image_settings_parse("{}", 2, nullptr), -1),
        CALL(tengine_image_settings_load("no such file", nullptr), -1),
        CALL(tengine_image_settings_load_beside("", nullptr), -1),
        CALL(tengine_image_fill_shape(nullptr, 1, nullptr, numbers), -1),
        CALL(tengine_image_convert(nullptr, 1, nullptr, nullptr, nullptr, 0), -1),
    };
}

static std::vector<FailingCall> library_calls()
{
    return {
        CALL(create_context("c", 0), nullptr),
        CALL(create_graph(h, "no such format", "file"), nullptr),
        CALL(tengine_graph_load(h, "onnx", numbers, 4), nullptr),
        CALL(set_default_device("no such device"), -1),
        CALL(get_default_device(), nullptr),
        CALL(tengine_plugin_load("no such file"), -1),
        CALL(tengine_plugin_get_version(0), nullptr),
        CALL(tengine_plugin_get_file(0), nullptr),
        CALL(load_tengine_plugin("p", "no such file", "f"), -1),
        CALL(unload_tengine_plugin("p", "f"), -1),
        CALL(get_tengine_plugin_number(), -1),
        CALL(get_tengine_plugin_name(0), nullptr),
        CALL(tengine_op_create("com.example", "Shift", 1, 1), nullptr),
        CALL(tengine_op_set_init(nullptr, nullptr), -1),
        CALL(tengine_op_set_free(nullptr, nullptr), -1),
        CALL(tengine_op_set_prepare(nullptr, nullptr), -1),
        CALL(tengine_op_set_invoke(nullptr, nullptr), -1),
        CALL(tengine_op_set_invoke_async(nullptr, nullptr), -1),
        CALL(tengine_op_set_cancel(nullptr, nullptr), -1),
        CALL(tengine_op_set_device(nullptr, nullptr), -1),
        CALL(tengine_op_set_user_data(nullptr, nullptr, nullptr), -1),
        CALL(tengine_op_set_outputs_like(nullptr, 0), -1),
        CALL(tengine_op_register(h, nullptr), -1),
        CALL(tengine_op_unregister(h, nullptr), -1),
        CALL(tengine_device_get_number(), -1),
        CALL(tengine_device_get_name(-1), nullptr),
        CALL(tengine_device_get_operator_number("no such device"), -1),
        CALL(tengine_device_get_operator("no such device", 0), nullptr),
        CALL(tengine_device_get_data_type_number("no such device"), -1),
        CALL(tengine_device_get_data_type("no such device", 0), -1),
        CALL(tengine_device_get_features("no such device"), nullptr),
        CALL(tengine_device_get_option_number("no such device"), -1),
        CALL(tengine_device_get_option_name("no such device", 0), nullptr),
        CALL(tengine_device_get_option_default("no such device", 0), nullptr),
        CALL(tengine_device_get_option_help("no such device", 0), nullptr),
        CALL(tengine_file_replace("", "x", 1), -1),
        CALL(tengine_file_put("", "name", "x", 1), -1),
        CALL(tengine_operator_get_number(), -1),
        CALL(tengine_operator_get_name(-1), nullptr),
        CALL(tengine_operator_get_domain(-1), nullptr),
        CALL(tengine_operator_is_used(-1), -1),
        CALL(tengine_option_get_number(), -1),
        CALL(tengine_option_get_name(-1), nullptr),
        CALL(tengine_option_get_default(-1), nullptr),
        CALL(tengine_option_get_help(-1), nullptr),
        CALL(tengine_format_get_number(), -1),
        CALL(tengine_format_get_name(-1), nullptr),
        CALL(tengine_format_get_file_ending(-1), nullptr),
        CALL(tengine_data_type_get_name(-1), nullptr),
        CALL(tengine_trace_kind_get_name(-1), nullptr),
        CALL(tengine_data_type_get_size(-1), -1),
        CALL(tengine_data_type_get_bits(-1), -1),
        CALL(tengine_arena_set(nullptr, 1), -1),
        CALL(tengine_memory_set("SRAM", nullptr, 1), -1),
    };
}

const std::vector<FailingCall>& other_calls()
{
    static const std::vector<FailingCall> calls = [] {
        std::vector<FailingCall> all = library_calls();
        const std::vector<FailingCall> more = image_calls();
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }();
    return calls;
}

}  // namespace tengine
