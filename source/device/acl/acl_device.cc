// SPDX-License-Identifier: Apache-2.0
// The Arm Compute Library as a device: the struct device around Builder (supported nodes) and Plan
// (a compiled part). docs/acl.md lists the operators.
#include "tengine/compat/tengine/acl_device.h"

#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "base/guard.hpp"
#include "device/acl/operator_table.h"
#include "device/acl/plan.h"
#include "device/acl/scheduler.h"
#include "graph/context.h"

namespace tengine::acl {
namespace {

extern struct device acl_device;

template <class Body>
int guard(const char* what, const Body& body)
{
    const auto with_library = [&] {
        return guarded_library(body, TENGINE_EDEVICE, "ACL failed to %s", what);
    };
    return guarded(with_library, "ACL: cannot %s: out of memory", what);
}

Plan* plan_of(const subgraph* part)
{
    return static_cast<Plan*>(part->device_graph);
}

// ---- interface ----

int init(device*)
{
    return guard("start its scheduler", [] {
        install_scheduler();
        return TENGINE_OK;
    });
}

int release_device(device*)
{
    return guard("stop its scheduler", [] {
        remove_scheduler();
        return TENGINE_OK;
    });
}

int release_graph(device*, void* device_graph)
{
    delete static_cast<Plan*>(device_graph);
    return TENGINE_OK;
}

int pre_run(device* device, subgraph* part, void*)
{
    return guard("compile", [&]() -> int {
        release_graph(device, part->device_graph);
        part->device_graph = nullptr;
        Settings settings;
        TENGINE_RETURN_IF_ERROR(read_settings(*part->graph, *device, &settings));
        std::unique_ptr<Plan> plan;
        TENGINE_RETURN_IF_ERROR(Plan::create(*part, settings, &plan));
        part->plan_bytes = plan->arena_bytes();
        part->device_graph = plan.release();
        return TENGINE_OK;
    });
}

int run(device*, subgraph* part)
{
    return guard("run", [&] { return plan_of(part)->run(*part); });
}

int post_run(device*, subgraph*)
{
    return TENGINE_OK;
}

int measure(device*, subgraph* part, int64_t* out_node_ns)
{
    plan_of(part)->copy_times(out_node_ns);
    return TENGINE_OK;
}

int memory(device*, subgraph* part, ir_part_memory_t* out_memory)
{
    const Plan& plan = *plan_of(part);
    out_memory->compiled = static_cast<int64_t>(plan.compiled_bytes());
    out_memory->arena = static_cast<int64_t>(plan.arena_bytes());
    return TENGINE_OK;
}

// "20.08; fp16 dotprod": the version, and the extensions of the processor that it uses.
const char* features(device*)
{
    static const auto text = [] {
        const auto& cpu = arm_compute::Scheduler::get().cpu_info();
        std::array<char, 64> line = {};
        std::snprintf(line.data(), line.size(), ACL_VERSION_TEXT "; NEON%s%s",
                      cpu.has_fp16() ? " fp16" : "", cpu.has_dotprod() ? " dotprod" : "");
        return line;
    }();
    return text.data();
}

int check_option(device*, const char* key, const char* value)
{
    return guard("check an option", [&] {
        Settings settings;
        return set_option(key, value, &settings);
    });
}

const ir_device_option_t* option(device*, int index)
{
    return get_option(index);
}

// ---- allocator ----

int describe(device*, struct vector* allowed_ops, struct vector*, struct vector* precision)
{
    return guard("describe itself", [&]() -> int {
        const std::vector<const char*> names = list_operators();
        TENGINE_RETURN_IF_ERROR(
            push_op_names(allowed_ops, names.data(), static_cast<int>(names.size())));
        for (const int type : {TENGINE_DT_FP32, TENGINE_DT_FP16, TENGINE_DT_INT8, TENGINE_DT_UINT8})
            if (push_vector_data(precision, &type) < 0) throw std::bad_alloc();
        return TENGINE_OK;
    });
}

int inspect(device* device, const node* node, ir_verdict_t* out_verdict)
{
    return guard("judge a node", [&]() -> int {
        if (node->dynamic_shape) {
            refuse_ir_node(out_verdict, IR_REASON_SHAPE, "", "",
                           "a shape is known only at run time");
            return TENGINE_OK;
        }
        Settings settings;
        TENGINE_RETURN_IF_ERROR(read_settings(*node->graph, *device, &settings));
        judge_node(*node, settings, out_verdict);
        return TENGINE_OK;
    });
}

// ---- optimizer ----

// The precision that the run requests, else that of the program's acl_option.
int find_precision(const graph& graph, int precision, int* out_precision)
{
    *out_precision = precision;
    const ir_context_device_t* entry =
        graph.attribute->context ? find_ir_context_device(graph.attribute->context, &acl_device)
                                 : nullptr;
    if (!entry || !entry->options) return TENGINE_OK;
    acl_option options;
    if (entry->option_size < sizeof options)
        return tengine_error_set(TENGINE_EINVAL, "struct acl_option has %zu bytes, expected %zu",
                                 sizeof options, entry->option_size);
    std::memcpy(&options, entry->options, sizeof options);
    if (options.precision < TENGINE_MODE_FP32 || options.precision > TENGINE_MODE_INT8)
        return tengine_error_set(TENGINE_EINVAL,
                                 "acl_option has invalid precision %d: expected TENGINE_MODE_FP32 "
                                 "(%d) to TENGINE_MODE_INT8 (%d)",
                                 options.precision, TENGINE_MODE_FP32, TENGINE_MODE_INT8);
    if (precision == TENGINE_MODE_FP32) *out_precision = options.precision;
    return TENGINE_OK;
}

int optimize_graph(graph* graph, int run_precision)
{
    int precision = 0;
    TENGINE_RETURN_IF_ERROR(find_precision(*graph, run_precision, &precision));
    return apply_ir_precision(graph, &acl_device, precision);
}

// ---- the device ----

struct interface make_interface()
{
    struct interface table = {};
    table.init = init;
    table.pre_run = pre_run;
    table.run = run;
    table.post_run = post_run;
    table.release_graph = release_graph;
    table.release_device = release_device;
    table.features = features;
    table.check_option = check_option;
    table.option = option;
    table.measure = guarded_entry<measure>;
    if (count_heap() > 0) table.memory = guarded_entry<memory>;
    return table;
}

struct allocator make_allocator()
{
    struct allocator table = {};
    table.describe = describe;
    table.inspect = inspect;
    return table;
}

struct interface acl_interface = make_interface();
struct allocator acl_allocator = make_allocator();
ir_optimizer_t acl_optimizer = {nullptr, guarded_entry<optimize_graph>};
struct device acl_device = {"ACL",          &acl_interface, &acl_allocator,
                            &acl_optimizer, nullptr,        nullptr};

}  // namespace
}  // namespace tengine::acl

TENGINE_DEFINE_DEVICE(acl, &tengine::acl::acl_device);
