// SPDX-License-Identifier: Apache-2.0
#include "scheduler/compiled.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/trace.h"
#include "graph/context.h"
#include "graph/graph.h"
#include "graph/option.h"
#include "graph/use.h"
#include "module/module.h"
#include "operator/custom/custom_kernel.h"
#include "optimizer/optimizer.h"
#include "scheduler/exchange.h"
#include "scheduler/failure.h"
#include "scheduler/lane.h"
#include "scheduler/spare_part.h"
#include "tengine/trace.h"

int fail_ir_compiled(const ir_compiled_t* compiled, const char* entry, int status)
{
    const struct subgraph* subgraph = compiled->subgraph;
    return fail_ir_entry(subgraph->device, entry, compiled->part_index, subgraph->node_num, status);
}

static void* find_options(const struct graph* graph, const struct device* device)
{
    const ir_context_t* context = graph->attribute->context;
    const ir_context_device_t* entry = context ? find_ir_context_device(context, device) : NULL;
    return entry ? entry->options : NULL;
}

static int list_parts_from(const struct graph* execution, const ir_compiled_t* first,
                           struct vector* out_parts)
{
    for (int i = first->part_index; i < get_vector_num(execution->subgraph_list); ++i) {
        const struct subgraph* part = get_ir_graph_subgraph(execution, i);
        if (part->device == first->subgraph->device && push_vector_data(out_parts, &part) < 0)
            return TENGINE_ENOMEM;
    }
    return TENGINE_OK;
}

static bool is_announced(const struct vector* devices, const struct device* device)
{
    for (int i = 0; i < get_vector_num(devices); ++i)
        if (*(struct device**)get_vector_data(devices, i) == device) return true;
    return false;
}

static int announce(ir_compiled_t* compiled, struct vector* parts)
{
    struct device* device = compiled->subgraph->device;
    const struct graph* execution = compiled->subgraph->graph->core->whole;
    if (list_parts_from(execution, compiled, parts) < 0 ||
        push_vector_data(execution->core->announced, &device) < 0)
        return tengine_error_set(TENGINE_ENOMEM, "out of memory for a list of parts");
    const int status = device->interface->pre_run_parts(
        device, (const struct subgraph* const*)get_vector_data(parts, 0), get_vector_num(parts));
    if (status < 0)
        TLOG_WARNING("device '%s', pre_run_parts: %s; each part is compiled by itself",
                     device->name, tengine_error_message());
    tengine_error_clear();
    return TENGINE_OK;
}

// A compiler that hangs must not hold the execution graph: an isolated part is compiled by itself.
static int announce_parts(ir_compiled_t* compiled)
{
    const struct device* device = compiled->subgraph->device;
    const struct graph* execution = compiled->subgraph->graph->core->whole;
    if (!device->interface->pre_run_parts || compiled->isolated) return TENGINE_OK;
    ir_graph_core_t* core = execution->core;
    if (!core->announced) core->announced = create_vector(sizeof(struct device*), NULL);
    if (!core->announced) return tengine_error_set(TENGINE_ENOMEM, "out of memory for a list");
    if (is_announced(core->announced, device)) return TENGINE_OK;
    struct vector* parts = create_vector(sizeof(struct subgraph*), NULL);
    if (!parts) return tengine_error_set(TENGINE_ENOMEM, "out of memory for a list of parts");
    const int status = announce(compiled, parts);
    release_vector(parts);
    return status;
}

static int compile(ir_compiled_t* compiled)
{
    TENGINE_RETURN_IF_ERROR(announce_parts(compiled));
    struct subgraph* subgraph = compiled->subgraph;
    struct device* device = subgraph->device;
    const int status =
        device->interface->pre_run(device, subgraph, find_options(subgraph->graph, device));
    if (status == 0) save_ir_stored_part(subgraph, compiled->part_index, &compiled->stored);
    return status;
}

// Makes the calls of the device: it allocates boundary tensors if it does so itself, then loads a
// stored part or compiles.
static int enter_device(ir_compiled_t* compiled)
{
    struct subgraph* subgraph = compiled->subgraph;
    struct device* device = subgraph->device;
    const struct allocator* allocator = device->allocator;
    tengine_error_clear();
    int status = allocator->allocate ? allocator->allocate(device, subgraph) : 0;
    if (status != 0) return fail_ir_compiled(compiled, "allocate", status);
    const bool loaded = load_ir_stored_part(subgraph, compiled->part_index, &compiled->stored);
    status = loaded ? 0 : compile(compiled);
    compiled->entered = status == 0;
    if (status == 0) return TENGINE_OK;
    status = fail_ir_compiled(compiled, "pre_run", status);
    if (allocator->release) allocator->release(device, subgraph);
    return status;
}

static int find_timeout(const struct subgraph* part, const struct device* device)
{
    if (device == find_default_device() || has_custom_kernels(part)) return 0;
    return (int)get_ir_context_number(part->graph->attribute->context, "prerun.watchdog_ms");
}

// ---- calls that are told to return soon ----

static void cancel_call(void* subject)
{
    ir_compiled_t* compiled = subject;
    struct device* device = compiled->subgraph->device;
    set_ir_run_end(&compiled->own_run, IR_RUN_CANCELLED);
    if (device->interface->cancel) device->interface->cancel(device, compiled->subgraph);
}

// Devices without the entry may ask; isolated parts ask for their own run.
static bool is_call_told(const ir_compiled_t* compiled)
{
    return compiled->isolated || compiled->subgraph->device->interface->cancel;
}

int enter_ir_run(ir_compiled_t* compiled, ir_run_t* run)
{
    set_ir_run_end(&compiled->own_run, IR_RUN_GOES_ON);
    compiled->subgraph->graph->core->run = compiled->isolated ? &compiled->own_run : run;
    const int status =
        begin_ir_call(is_call_told(compiled) ? run : NULL, cancel_call, compiled, &compiled->call);
    if (status < 0) leave_ir_run(compiled);
    return status;
}

void leave_ir_run(ir_compiled_t* compiled)
{
    end_ir_call(&compiled->call);
    compiled->subgraph->graph->core->run = NULL;
}

// ---- calls that may hang ----

static int enter_watched(void* compiled)
{
    return enter_device(compiled);
}

static int run_watched(void* compiled)
{
    return run_ir_compiled(compiled);
}

// From now on the run of the graph does not know the call, which may outlive it.
static void give_up_watched(void* subject)
{
    ir_compiled_t* compiled = subject;
    end_ir_call(&compiled->call);
    cancel_call(compiled);
}

static int close_watched(void* compiled)
{
    return close_ir_compiled(compiled);
}

static ir_watched_t watch_call(ir_compiled_t* compiled, int (*call)(void* compiled))
{
    return (ir_watched_t){compiled, compiled->part_index, call, give_up_watched, close_watched};
}

ir_watched_t get_ir_watched_run(ir_compiled_t* compiled)
{
    return watch_call(compiled, run_watched);
}

// If *out_blame is IR_BLAME_HANG, `compiled` no longer belongs to the caller.
static int enter_in_time(ir_compiled_t* compiled, int timeout_ms, ir_blame_t* out_blame)
{
    struct device* device = compiled->subgraph->device;
    const int part_index = compiled->part_index, node_num = compiled->subgraph->node_num;
    bool hung = false;
    ir_watch_t* watch;
    int status;
    if (timeout_ms == 0) {
        status = enter_device(compiled);
    } else {
        const ir_watched_t watched = watch_call(compiled, enter_watched);
        TENGINE_RETURN_IF_ERROR(create_ir_watch(&watched, timeout_ms, &watch));
        status = call_ir_watch(watch, &hung);
        if (!hung) destroy_ir_watch(watch);
    }
    if (status < 0) *out_blame = hung ? IR_BLAME_HANG : IR_BLAME_DEVICE;
    return hung ? fail_ir_entry(device, "pre_run", part_index, node_num, status) : status;
}

static int check_boundary(const struct tensor* now, const struct tensor* planned)
{
    const bool same = has_same_ir_shape(now, planned);
    if (same && now->data_type == planned->data_type) return TENGINE_OK;
    return tengine_error_set(TENGINE_EDEVICE,
                             "'%s', which crosses the boundary of the part, has changed its %s",
                             planned->name, same ? "type" : "shape");
}

static int check_boundary_list(const struct graph* compiled, const int32_t* tensors, int number,
                               const struct graph* planned)
{
    for (int i = 0; i < number; ++i) {
        const struct tensor* tensor = compiled->tensor_list[tensors[i]];
        TENGINE_RETURN_IF_ERROR(
            check_boundary(tensor, planned->tensor_list[tensor->core->source_index]));
    }
    return TENGINE_OK;
}

// The tensors that parts exchange have memory and readers elsewhere: a device may not reshape them.
static int check_boundaries(const ir_compiled_t* compiled, const struct subgraph* part)
{
    const struct subgraph* subgraph = compiled->subgraph;
    int status = check_boundary_list(subgraph->graph, subgraph->input_tensor_list,
                                     subgraph->input_num, part->graph);
    if (status == TENGINE_OK)
        status = check_boundary_list(subgraph->graph, subgraph->output_tensor_list,
                                     subgraph->output_num, part->graph);
    return status == TENGINE_OK ? TENGINE_OK : fail_ir_compiled(compiled, "pre_run", status);
}

static int allocate_boundaries(struct graph* graph, const int32_t* tensors, int number)
{
    for (int i = 0; i < number; ++i) {
        struct tensor* tensor = graph->tensor_list[tensors[i]];
        if (is_ir_tensor_shape_known(tensor)) TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(tensor));
    }
    return TENGINE_OK;
}

static int copy_context(struct graph* graph)
{
    struct attribute* attribute = graph->attribute;
    if (!attribute->context) return TENGINE_OK;
    struct context* copy = copy_ir_context(attribute->context);
    if (!copy) return tengine_error_set(TENGINE_ENOMEM, "out of memory for the options of a part");
    attribute->context = copy;
    attribute->private_context = 1;
    return TENGINE_OK;
}

static int isolate(struct subgraph* subgraph)
{
    TENGINE_RETURN_IF_ERROR(copy_context(subgraph->graph));
    TENGINE_RETURN_IF_ERROR(
        allocate_boundaries(subgraph->graph, subgraph->input_tensor_list, subgraph->input_num));
    return allocate_boundaries(subgraph->graph, subgraph->output_tensor_list, subgraph->output_num);
}

static int fill(ir_compiled_t* compiled, const struct subgraph* part, struct device* device,
                bool isolated)
{
    compiled->part_index = part->index;
    compiled->isolated = isolated;
    TENGINE_RETURN_IF_ERROR(detach_ir_subgraph(part, device, isolated, &compiled->subgraph));
    TENGINE_RETURN_IF_ERROR(begin_ir_part_memories(part, compiled->subgraph, isolated));
    if (isolated) TENGINE_RETURN_IF_ERROR(isolate(compiled->subgraph));
    if (isolated) compiled->subgraph->graph->core->run = &compiled->own_run;
    if (!part->graph->run_options->profile) return TENGINE_OK;
    compiled->node_ns =
        alloc_memory(sizeof *compiled->node_ns * (size_t)compiled->subgraph->node_num);
    return compiled->node_ns ? TENGINE_OK
                             : tengine_error_set(TENGINE_ENOMEM, "out of memory for a profile");
}

// Hands the device the object that it made of the same part for other shapes. If the device fails
// with it, the device compiles the part from the beginning.
static bool give_spare(ir_compiled_t* compiled, const struct subgraph* part)
{
    struct subgraph* subgraph = compiled->subgraph;
    if (compiled->stored.found.bytes) return false;
    subgraph->device_graph = take_ir_spare_part(part, subgraph->device);
    return subgraph->device_graph != NULL;
}

static ir_compiled_t* create_compiled(struct device* device)
{
    ir_compiled_t* compiled = alloc_memory(sizeof *compiled);
    if (compiled && begin_ir_use(device, device->name, IR_USER_CALL) == TENGINE_OK) {
        compiled->device = device;
        return compiled;
    }
    free_memory(compiled);
    tengine_error_set(TENGINE_ENOMEM, "out of memory for a compiled part");
    return NULL;
}

// Frees a part that its device has left.
static void discard(ir_compiled_t* compiled)
{
    if (compiled->subgraph) destroy_ir_graph(compiled->subgraph->graph);
    release_ir_stored_part(&compiled->stored);
    end_ir_use(compiled->device, IR_USER_CALL);
    free_memory(compiled->node_ns);
    free_memory(compiled);
}

int compile_ir_part(const struct subgraph* part, struct device* device, bool isolated,
                    ir_compiled_t** out_compiled, ir_blame_t* out_blame)
{
    const int timeout_ms = find_timeout(part, device);
    *out_blame = IR_BLAME_CORE;
    ir_compiled_t* compiled = create_compiled(device);
    if (!compiled) return TENGINE_ENOMEM;
    int status = fill(compiled, part, device, isolated || timeout_ms > 0);
    if (status == TENGINE_OK)
        find_ir_stored_part(part, device, compiled->isolated, &compiled->stored);
    const bool has_spare = status == TENGINE_OK && give_spare(compiled, part);
    trace_track_t* track = get_trace_track();
    const int64_t begin_ns = get_trace_time(track);
    if (status == TENGINE_OK) status = enter_in_time(compiled, timeout_ms, out_blame);
    end_trace_event(track, TENGINE_TRACE_COMPILE, device->name, begin_ns, status);
    if (status < 0) {
        const bool hung = *out_blame == IR_BLAME_HANG;
        if (!hung) discard(compiled);
        return has_spare && !hung ? compile_ir_part(part, device, isolated, out_compiled, out_blame)
                                  : status;
    }
    status = check_boundaries(compiled, part);
    if (status < 0) {
        ir_failure_t failure;
        keep_ir_failure(&failure);
        close_ir_compiled(compiled);
        *out_blame = IR_BLAME_DEVICE;
        return raise_ir_failure(&failure);
    }
    keep_ir_stored_part(part, device, &compiled->stored);
    if (!compiled->isolated) hold_ir_part_memories(part, compiled->subgraph);
    *out_compiled = compiled;
    return TENGINE_OK;
}

int find_ir_part_place(const struct subgraph* part, const struct subgraph* compiled, int index)
{
    const int node = compiled->graph->node_list[compiled->node_list[index]]->core->source_index;
    if (index < part->node_num && part->node_list[index] == node) return index;
    for (int i = 0; i < part->node_num; ++i)
        if (part->node_list[i] == node) return i;
    return 0;
}

int find_ir_compiled_place(const struct subgraph* part, const struct subgraph* compiled, int place)
{
    const struct graph* graph = compiled->graph;
    const int node = part->node_list[place];
    if (place < compiled->node_num &&
        graph->node_list[compiled->node_list[place]]->core->source_index == node)
        return place;
    for (int i = compiled->node_num - 1; i >= 0; --i)
        if (graph->node_list[compiled->node_list[i]]->core->source_index == node) return i;
    return -1;
}

static void measure(ir_compiled_t* compiled)
{
    compiled->run_ns = (int64_t)get_time_ns() - compiled->begin_ns;
    if (!compiled->node_ns) return;
    struct subgraph* subgraph = compiled->subgraph;
    struct device* device = subgraph->device;
    const struct interface* interface = device->interface;
    if (interface->measure && interface->measure(device, subgraph, compiled->node_ns) == 0) return;
    for (int i = 0; i < subgraph->node_num; ++i)
        compiled->node_ns[i] = -1;
}

int run_ir_compiled(ir_compiled_t* compiled)
{
    struct device* device = compiled->subgraph->device;
    tengine_error_clear();
    compiled->begin_ns = (int64_t)get_time_ns();
    const int status = device->interface->run(device, compiled->subgraph);
    if (status == 0) measure(compiled);
    return status;
}

bool can_start_ir_compiled(const ir_compiled_t* compiled)
{
    const struct interface* interface = compiled->subgraph->device->interface;
    return interface->async_run && interface->async_wait;
}

int start_ir_compiled(ir_compiled_t* compiled)
{
    struct device* device = compiled->subgraph->device;
    tengine_error_clear();
    compiled->begin_ns = (int64_t)get_time_ns();
    return device->interface->async_run(device, compiled->subgraph);
}

int finish_ir_compiled(ir_compiled_t* compiled)
{
    struct device* device = compiled->subgraph->device;
    tengine_error_clear();
    const int status = device->interface->async_wait(device, compiled->subgraph, 0);
    if (status == 1) {
        measure(compiled);
        return 0;
    }
    if (status == 0) tengine_error_set(TENGINE_EDEVICE, "async_wait returned before the end");
    return status == 0 ? TENGINE_EDEVICE : status;
}

int count_ir_compiled(const ir_compiled_t* compiled, struct vector* out_counters)
{
    struct device* device = compiled->subgraph->device;
    if (!device->interface->count) return TENGINE_OK;
    tengine_error_clear();
    const int status = device->interface->count(device, compiled->subgraph, out_counters);
    return status == 0 ? TENGINE_OK : fail_ir_compiled(compiled, "count", status);
}

int explain_ir_compiled(const ir_compiled_t* compiled, int index, ir_node_kernel_t* out_kernel)
{
    struct device* device = compiled->subgraph->device;
    if (!device->interface->kernel) return TENGINE_OK;
    tengine_error_clear();
    const int status = device->interface->kernel(device, compiled->subgraph, index, out_kernel);
    return status == 0 ? TENGINE_OK : fail_ir_compiled(compiled, "kernel", status);
}

// A device without release_graph frees device_graph in post_run, as devices of Tengine Lite do. A
// loaded part may use the stored bytes, which end with the part.
static void* take_device_graph(const ir_compiled_t* compiled)
{
    struct subgraph* subgraph = compiled->subgraph;
    if (!subgraph->device->interface->release_graph || compiled->stored.found.bytes) return NULL;
    void* device_graph = subgraph->device_graph;
    subgraph->device_graph = NULL;
    return device_graph;
}

int close_ir_compiled(ir_compiled_t* compiled)
{
    return end_ir_compiled(compiled, NULL);
}

int end_ir_compiled(ir_compiled_t* compiled, void** out_device_graph)
{
    if (out_device_graph) *out_device_graph = NULL;
    if (!compiled) return TENGINE_OK;
    struct subgraph* subgraph = compiled->subgraph;
    struct device* device = subgraph->device;
    if (!compiled->entered) {
        discard(compiled);
        return TENGINE_OK;
    }
    tengine_error_clear();
    int status = device->interface->post_run(device, subgraph);
    if (status != 0) status = fail_ir_compiled(compiled, "post_run", status);
    const int released =
        device->allocator->release ? device->allocator->release(device, subgraph) : 0;
    if (released != 0 && status == 0) status = fail_ir_compiled(compiled, "release", released);
    if (out_device_graph && status == 0) *out_device_graph = take_device_graph(compiled);
    discard(compiled);
    return status;
}
