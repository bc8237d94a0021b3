// SPDX-License-Identifier: Apache-2.0
// The CPU device: the struct device around KernelList (supported nodes) and Plan (a compiled part).
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>

#include "base/guard.hpp"
#include "base/minimal.h"
#include "device/cpu/device_state.h"
#include "device/cpu/estimate.h"
#include "device/cpu/keeping.h"
#include "device/cpu/kernel/product/matrix_product.h"
#include "device/cpu/kernel/vector/instruction_set.h"
#include "device/cpu/kernel/vector/vector_target.h"
#include "device/cpu/plan/memories.h"
#include "device/cpu/plan/plan.h"
#include "graph/graph.h"
#include "operator/registry.h"
#include "tengine/device.h"

namespace tengine::cpu {
namespace {

int fill_kernels(DeviceState& state)
{
    TENGINE_RETURN_IF_ERROR(state.kernels.fill());
#ifndef TENGINE_MINIMAL
    TENGINE_RETURN_IF_ERROR(state.references.fill());
    state.references.keep_references();
#endif
    return TENGINE_OK;
}

int init(struct device* device)
{
    std::unique_ptr<DeviceState> state(new (std::nothrow) DeviceState);
    if (!state) return tengine_error_set(TENGINE_ENOMEM, "out of memory for the list of kernels");
    TENGINE_RETURN_IF_ERROR(
        guarded([&] { return fill_kernels(*state); }, "out of memory for the list of kernels"));
    device->privacy = state.release();
    choose_vector_target();
    return TENGINE_OK;
}

int release_device(struct device* device)
{
    delete static_cast<DeviceState*>(device->privacy);
    device->privacy = nullptr;
    return TENGINE_OK;
}

int release_graph(struct device*, void* device_graph)
{
    delete static_cast<Plan*>(device_graph);
    return TENGINE_OK;
}

int pre_run(struct device* device, subgraph* part, void*)
{
    return guarded(
        [&]() -> int {
            // The plan of the same part for other shapes owns packed weights until the new plan has
            // taken them.
            const std::unique_ptr<Plan> old(static_cast<Plan*>(part->device_graph));
            part->device_graph = nullptr;
            std::unique_ptr<Plan> plan;
            const KernelList& kernels = kernels_of(device, *part->graph);
            TENGINE_RETURN_IF_ERROR(Plan::choose(kernels, *part, &plan));
#ifndef TENGINE_MINIMAL
            if (is_timing_wanted(*part->graph))
                state_of(device).timed.choose(kernels, plan->steps());
#endif
            TENGINE_RETURN_IF_ERROR(plan->prepare(*part, list_tiers(*part, device)));
            part->device_graph = plan.release();
            return TENGINE_OK;
        },
        "part %d: out of memory for its plan", part->index);
}

int run(struct device*, subgraph* part)
{
    Plan& plan = *static_cast<Plan*>(part->device_graph);
    return guarded([&] { return plan.run(*part); }, "part %d: out of memory for a run",
                   part->index);
}

int measure(struct device*, subgraph* part, int64_t* out_node_ns)
{
    static_cast<const Plan*>(part->device_graph)->copy_times(out_node_ns);
    return TENGINE_OK;
}

int kernel(struct device*, subgraph* part, int index, ir_node_kernel_t* out_kernel)
{
    static_cast<const Plan*>(part->device_graph)->explain(index, out_kernel);
    return TENGINE_OK;
}

int plan(struct device*, subgraph* part, struct vector* out_blocks, struct vector* out_steps)
{
    static_cast<const Plan*>(part->device_graph)->list_blocks(*part, out_blocks, out_steps);
    return TENGINE_OK;
}

int place(struct device*, subgraph* part, struct vector* out_places)
{
    static_cast<const Plan*>(part->device_graph)->list_places(out_places);
    return TENGINE_OK;
}

int memories(struct device* device, const graph* graph, struct vector* out_memories)
{
    for (const ir_memory_t& memory : list_memories(*graph, device))
        if (push_vector_data(out_memories, &memory) < 0) throw std::bad_alloc();
    return TENGINE_OK;
}

int memory(struct device*, subgraph* part, ir_part_memory_t* out_memory)
{
    const Plan& plan = *static_cast<const Plan*>(part->device_graph);
    out_memory->compiled = static_cast<int64_t>(plan.compiled_bytes());
    return TENGINE_OK;
}

int post_run(struct device*, subgraph* part)
{
    if (part->device_graph) static_cast<Plan*>(part->device_graph)->leave_part();
    return TENGINE_OK;
}

// Returns the instructions and library of the fast kernels on this processor: "AVX3; OpenBLAS
// SkylakeX".
const char* features(struct device*)
{
    static const auto text = [] {
        std::array<char, 128> line = {};
        std::snprintf(line.data(), line.size(), "%s%s%s", get_instruction_set_text(),
                      *get_product_library() ? "; " : "", get_product_library());
        return line;
    }();
    return text.data();
}

int describe(struct device* device, struct vector* allowed_ops, struct vector*,
             struct vector* precision)
{
    return guarded(
        [&]() -> int {
            for (int type : kernels_of(device).operators())
                if (push_vector_data(allowed_ops, &type) < 0) throw std::bad_alloc();
            for (int type = TENGINE_DT_FP32; type <= TENGINE_DT_COMPLEX128; ++type)
                if (push_vector_data(precision, &type) < 0) throw std::bad_alloc();
            return TENGINE_OK;
        },
        "out of memory while listing operators");
}

int inspect(struct device* device, const node* node, ir_verdict_t* out_verdict)
{
    // The types of a dynamic node may be known only at run time.
    if (node->dynamic_shape || kernels_of(device).pick(*node)) return TENGINE_OK;
    const tensor* input = get_ir_node_input(node, 0);
    const char* type = input ? get_data_type_name(input->data_type) : "";
    refuse_ir_node(out_verdict, IR_REASON_DATA_TYPE, input ? input->name : "", type,
                   "no %s kernel supports %s with these parameters", get_ir_node_op(node), type);
    return TENGINE_OK;
}

int estimate(struct device* device, const node* node, double* out_ms)
{
    *out_ms = estimate_ms(kernels_of(device), *node);
    return TENGINE_OK;
}

extern struct device cpu_device;

// Operators whose fast kernels compute in fp32 only. The reference in fp16 or bf16 takes many times
// as long as these kernels with a conversion before and after.
constexpr const char* kFastInFloat[] = {
    "ConvTranspose",
    "GRU",
    "LSTM",
    "RMSNormalization",
    "RNN",
    "ReduceL2",
    "ReduceMax",
    "ReduceMin",
    "ReduceSumSquare",
    "RotaryEmbedding",
    "SimplifiedLayerNormalization",
    "com.microsoft.GroupQueryAttention",
    "com.microsoft.MatMulNBits",
    "com.microsoft.RotaryEmbedding",
    "com.microsoft.SkipLayerNormalization",
    "com.microsoft.SkipSimplifiedLayerNormalization",
    "tengine.ClippedLSTM",
};

bool is_fast_in_float(const KernelList& kernels, const node& node)
{
    const auto is_type_of = [&](const char* op) { return get_op_type_by_name(op) == node.op.type; };
    if (std::none_of(std::begin(kFastInFloat), std::end(kFastInFloat), is_type_of)) return false;
    const Kernel* kernel = kernels.pick_usual(node);
    return kernel && !is_reference(*kernel);
}

int optimize_graph(graph* graph, int precision)
{
    const KernelList& kernels = kernels_of(&cpu_device, *graph);
    const bool is_half = precision == TENGINE_MODE_FP16 || precision == TENGINE_MODE_BF16;
    for (int i = 0; is_half && i < graph->node_num; ++i) {
        node* node = graph->node_list[i];
        if (node && !node->dynamic_shape && is_fast_in_float(kernels, *node))
            node->core->keep_float = true;
    }
    return apply_ir_precision(graph, &cpu_device, precision);
}

ir_optimizer_t cpu_optimizer = {nullptr, guarded_entry<optimize_graph>};

struct Option
{
    ir_device_option_t shown;
    const char* values[3];
    const char* expected;
};

constexpr Option kOptions[] = {
    // Read by kernel/conv/conv_winograd.cc.
    {{"winograd", "on",
      "convolutions of 3x3 with a quarter of the multiplications and twice the error, and those of "
      "large maps with a fifth and ten times the error: on, 4x4 (no large maps), off"},
     {"on", "4x4", "off"},
     "on, 4x4 or off"},
#ifndef TENGINE_MINIMAL
    {{"timing", "off",
      "the kernels that accept a node are timed, and the fastest is used: on, off"},
     {"on", "off"},
     "on or off"},
    {{"kernels", "fast",
      "kernels to use: fast, or reference, the plain ones that fast ones are tested against"},
     {"fast", "reference"},
     "fast or reference"},
    {{"memories", "",
      "memories of the board in which tensors and weights are placed, the fastest first: "
      "NAME:BYTES:NS,..., NS for 1 KiB; empty: one"},
     {},
     ""},
#endif
};

constexpr const char* kKeys = IS_MINIMAL ? "winograd" : "winograd, timing, kernels or memories";

int check_option(struct device*, const char* key, const char* value)
{
    const Option* option =
        std::find_if(std::begin(kOptions), std::end(kOptions),
                     [key](const Option& each) { return !std::strcmp(each.shown.key, key); });
    if (option == std::end(kOptions))
        return tengine_error_set(TENGINE_ENOENT, "CPU: unknown option '%.100s': expected %s", key,
                                 kKeys);
#ifndef TENGINE_MINIMAL
    if (!option->values[0]) {
        Vector<ir_memory_t> memories;
        return *value ? parse_memories(value, &memories) : TENGINE_OK;
    }
#endif
    for (const char* known : option->values)
        if (known && std::strcmp(value, known) == 0) return TENGINE_OK;
    return tengine_error_set(TENGINE_EINVAL, "CPU: invalid %s '%.100s': expected %s", key, value,
                             option->expected);
}

const ir_device_option_t* get_option(struct device*, int index)
{
    return index < static_cast<int>(std::size(kOptions)) ? &kOptions[index].shown : nullptr;
}

struct interface make_interface()
{
    struct interface table = {};
    table.init = init;
    table.pre_run = pre_run;
    table.run = run;
    table.post_run = guarded_entry<post_run>;
    table.release_graph = release_graph;
    table.release_device = release_device;
    table.features = features;
    table.measure = guarded_entry<measure>;
    table.memory = guarded_entry<memory>;
    if (!IS_MINIMAL) {
        table.kernel = guarded_entry<kernel>;
        table.plan = guarded_entry<plan>;
        table.memories = guarded_entry<memories>;
        table.place = guarded_entry<place>;
    }
    table.check_option = guarded_entry<check_option>;
    table.option = get_option;
#ifdef TENGINE_KEEPS_PARTS
    add_keeping(table);
#endif
    return table;
}

struct allocator make_allocator()
{
    struct allocator table = {};
    table.describe = describe;
    table.inspect = guarded_entry<inspect>;
    table.estimate = guarded_entry<estimate>;
    return table;
}

struct interface cpu_interface = make_interface();
struct allocator cpu_allocator = make_allocator();
struct device cpu_device = {
    "CPU", &cpu_interface, &cpu_allocator, IS_MINIMAL ? nullptr : &cpu_optimizer, nullptr, nullptr};

}  // namespace

const KernelList& kernels_of(struct device* device, const graph& graph)
{
#ifndef TENGINE_MINIMAL
    const char* value = get_ir_device_option(&graph, device, "kernels");
    if (value && std::strcmp(value, "reference") == 0) return state_of(device).references;
#else
    (void)graph;
#endif
    return kernels_of(device);
}

}  // namespace tengine::cpu

TENGINE_DEFINE_DEVICE(cpu, &tengine::cpu::cpu_device);
