// SPDX-License-Identifier: Apache-2.0
#include "mask_device.h"

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "mask.h"
#include "tengine/compiler_plugin.h"
#include "tengine/custom_op.h"
#include "tengine/device.h"

namespace tengine {
namespace {

constexpr char kByteCode[] = "mask";

bool is_mask(const node& node)
{
    const size_t length = std::strlen(node.name);
    return length >= 4 && std::strcmp(node.name + length - 4, "mask") == 0;
}

// ---- the compiler ----

int partition(void*, const char*, const graph* graph, tengine_op_list_t* list)
{
    for (int i = 0; i < graph->node_num; ++i) {
        const node* node = get_ir_graph_node(graph, i);
        if (node && is_mask(*node) && tengine_op_list_push(list, node, 0) < 0) return -1;
    }
    return 0;
}

// The entry point is the size of an element.
using Result = std::vector<std::string>;

int compile(void*, const char*, const subgraph* const parts[], int part_number, void** out_result)
{
    auto* result = new Result;
    for (int i = 0; i < part_number; ++i) {
        const tensor* input = get_ir_graph_tensor(parts[i]->graph, parts[i]->input_tensor_list[0]);
        result->push_back(std::to_string(input->elem_size));
    }
    *out_result = result;
    return 0;
}

int get_module_number(void*)
{
    return 1;
}

int get_module(void*, int, const void** out_bytes, size_t* out_size)
{
    *out_bytes = kByteCode;
    *out_size = sizeof kByteCode;
    return 0;
}

int get_call(void* result, int part, int* out_module, const char** out_entry_point)
{
    *out_module = 0;
    *out_entry_point = (*static_cast<Result*>(result))[static_cast<size_t>(part)].c_str();
    return 0;
}

void destroy_result(void* result)
{
    delete static_cast<Result*>(result);
}

// ---- the dispatch ----

struct Invocation
{
    size_t element_size;
    const void* from = nullptr;
    void* to = nullptr;
    size_t bytes = 0;
};

int load(const void* bytes, size_t size, void** out_module)
{
    if (size != sizeof kByteCode || std::memcmp(bytes, kByteCode, size) != 0) return -1;
    *out_module = const_cast<void*>(bytes);
    return 0;
}

int create_invocation(void*, const char* entry_point, int input_number, int output_number,
                      void** out_invocation)
{
    if (input_number != 1 || output_number != 1) return -1;
    *out_invocation = new Invocation{static_cast<size_t>(std::atoi(entry_point))};
    return 0;
}

void destroy_invocation(void* invocation)
{
    delete static_cast<Invocation*>(invocation);
}

int attach_input(void* invocation, int, const void* data, size_t size)
{
    static_cast<Invocation*>(invocation)->from = data;
    static_cast<Invocation*>(invocation)->bytes = size;
    return 0;
}

int attach_output(void* invocation, int, void* data, size_t)
{
    static_cast<Invocation*>(invocation)->to = data;
    return 0;
}

int invoke(void* invocation)
{
    const auto& of = *static_cast<Invocation*>(invocation);
    mask_elements(of.from, of.to, static_cast<int64_t>(of.bytes / of.element_size),
                  of.element_size);
    return 0;
}

tengine_compiler_t make_compiler()
{
    tengine_compiler_t compiler = {};
    compiler.size = sizeof compiler;
    compiler.hardware = TENGINE_HARDWARE_NPU;
    compiler.device = "MASKC";
    compiler.manufacturer = "tests";
    compiler.sdk_version = "1";
    compiler.byte_code_version = "1";
    compiler.partition = partition;
    compiler.compile = compile;
    compiler.get_module_number = get_module_number;
    compiler.get_module = get_module;
    compiler.get_call = get_call;
    compiler.destroy_result = destroy_result;
    return compiler;
}

tengine_dispatch_t make_dispatch()
{
    tengine_dispatch_t dispatch = {};
    dispatch.size = sizeof dispatch;
    dispatch.device = "MASKC";
    dispatch.version = "1";
    dispatch.byte_code_version = "1";
    dispatch.load = load;
    dispatch.unload = [](void*) {};
    dispatch.create_invocation = create_invocation;
    dispatch.destroy_invocation = destroy_invocation;
    dispatch.attach_input = attach_input;
    dispatch.attach_output = attach_output;
    dispatch.invoke = invoke;
    return dispatch;
}

const tengine_compiler_t kCompiler = make_compiler();
const tengine_dispatch_t kDispatch = make_dispatch();

// ---- the host ----

int describe_host(device*, vector* allowed, vector*, vector* precision)
{
    const int op = get_op_type("tengine", "Custom");
    if (push_vector_data(allowed, &op) < 0) return -1;
    for (const int type :
         {TENGINE_DT_FP32, TENGINE_DT_FP16, TENGINE_DT_BF16, TENGINE_DT_INT8, TENGINE_DT_UINT8})
        if (push_vector_data(precision, &type) < 0) return -1;
    return 0;
}

node& node_of(const subgraph* part, int index)
{
    return *get_ir_graph_node(part->graph, part->node_list[index]);
}

int prepare_host(device*, subgraph* part, void*)
{
    for (int i = 0; i < part->node_num; ++i) {
        uint64_t bytes = 0;
        node& node = node_of(part, i);
        const int status = tengine_op_prepare_node(&node, &bytes);
        if (status < 0) return status;
        tensor* output = get_ir_node_output(&node, 0);
        if (!output->data && allocate_ir_tensor(output) < 0) return -1;
    }
    return 0;
}

int run_host(device*, subgraph* part)
{
    for (int i = 0; i < part->node_num; ++i)
        if (const int status = tengine_op_run_node(&node_of(part, i), nullptr, 0); status < 0)
            return status;
    return 0;
}

int invoke_mask(void*, tengine_op_context_t* context)
{
    const tengine_op_tensor_t* x = tengine_op_input(context, 0);
    const int64_t number = tengine_op_tensor_elements(x);
    mask_elements(tengine_op_tensor_data(x),
                  tengine_op_tensor_mutable_data(tengine_op_output(context, 0)), number,
                  tengine_op_tensor_bytes(x) / static_cast<size_t>(number));
    return 0;
}

bool register_mask()
{
    tengine_op_t* op = tengine_op_create("com.example", "Mask", 1, 28);
    const bool is_registered = op && tengine_op_set_outputs_like(op, 0) == 0 &&
                               tengine_op_set_invoke(op, invoke_mask) == 0 &&
                               tengine_op_set_device(op, "MASKH") == 0 &&
                               tengine_op_register(nullptr, op) == 0;
    tengine_op_destroy(op);
    return is_registered;
}

struct interface host_interface;
struct allocator host_allocator;
struct device host;

}  // namespace

bool enter_compiler()
{
    return tengine_register_compiler(&kCompiler) == 0 && tengine_register_dispatch(&kDispatch) == 0;
}

void leave_compiler()
{
    tengine_unregister_dispatch(&kDispatch);
    tengine_unregister_compiler(&kCompiler);
}

bool enter_host()
{
    host_interface = {};
    host_interface.init = [](device*) { return 0; };
    host_interface.release_device = [](device*) { return 0; };
    host_interface.pre_run = prepare_host;
    host_interface.run = run_host;
    host_interface.post_run = [](device*, subgraph*) { return 0; };
    host_allocator = {};
    host_allocator.describe = describe_host;
    init_ir_device(&host, "MASKH");
    host.interface = &host_interface;
    host.allocator = &host_allocator;
    return register_device(&host) == 0 && register_mask();
}

void leave_host()
{
    unregister_device(&host);
}

}  // namespace tengine
