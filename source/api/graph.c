// SPDX-License-Identifier: Apache-2.0
// C API, group Graph: creation by hand or from a model, inputs and outputs, destruction.
#include "api/graph.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/attribute.h"
#include "api/check.h"
#include "api/custom_kernel.h"
#include "base/alloc.h"
#include "graph/context.h"
#include "graph/entry.h"
#include "graph/graph.h"
#include "graph/option.h"
#include "graph/shared_model.h"
#include "graph/state.h"
#include "module/module.h"
#include "operator/affinity.h"
#include "operator/registry.h"
#include "optimizer/optimizer.h"
#include "scheduler/scheduler.h"
#include "scheduler/shape_cache.h"
#include "serializer/serializer.h"
#include "tengine/entry.h"
#include "tengine/graph.h"

// The place that a model comes from.
typedef enum source_kind
{
    SOURCE_FILE,
    SOURCE_COPY,    // bytes in memory that the graph copies
    SOURCE_MEMORY,  // ":m": bytes in memory, which the graph owns if its format keeps them
    SOURCE_VIEW     // ":view": bytes in memory that stay the caller's
} source_kind_t;

typedef struct model_source
{
    struct serializer* serializer;
    source_kind_t kind;
    const char* place;  // file name, or address of the bytes
    size_t size;
} model_source_t;

// Splits "onnx:m" into the name of the format and the kind of source. As in Tengine Lite, the
// suffix is anything that begins with ":m".
static source_kind_t split_format(const char* format, size_t* out_length)
{
    const char* colon = strchr(format, ':');
    *out_length = colon != NULL ? (size_t)(colon - format) : strlen(format);
    if (!colon) return SOURCE_FILE;
    if (strcmp(colon, ":view") == 0) return SOURCE_VIEW;
    if (colon[1] == 'm') return SOURCE_MEMORY;
    *out_length = strlen(format);
    return SOURCE_FILE;
}

static int fail_unknown_format(const char* format, const char* function)
{
    char known[128] = "";
    for (int i = 0; i < get_serializer_count(); ++i) {
        struct serializer* serializer = find_serializer_via_index(i);
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s'%s'", i == 0 ? "" : ", ",
                 serializer->get_name(serializer));
    }
    return tengine_error_set(TENGINE_ENOENT, "%s: unknown model format '%s': expected %s", function,
                             format, known);
}

static int find_format(const char* format, const char* function, model_source_t* source)
{
    char name[32];
    size_t length;
    source->kind = split_format(format, &length);
    if (length < sizeof name) {
        memcpy(name, format, length);
        name[length] = '\0';
        source->serializer = find_serializer_via_name(name);
    }
    // Tengine Lite had one format and ignored the name before ":m".
    if (!source->serializer && source->kind == SOURCE_MEMORY)
        source->serializer = find_serializer_via_name("tengine");
    if (source->serializer) return TENGINE_OK;
    return fail_unknown_format(format, function);
}

static int read_source(const char* format, const char* file_name, va_list arguments,
                       model_source_t* out_source)
{
    *out_source = (model_source_t){.place = file_name};
    TENGINE_RETURN_IF_ERROR(find_format(format, "create_graph", out_source));
    if (out_source->kind == SOURCE_FILE) return check_name(file_name, "create_graph", "file_name");
    TENGINE_RETURN_IF_ERROR(check_pointer(file_name, "create_graph", "the address of the model"));
    const int size = va_arg(arguments, int);
    out_source->size = size > 0 ? (size_t)size : 0;
    if (size > 0) return TENGINE_OK;
    return tengine_error_set(TENGINE_EINVAL,
                             "create_graph: the model has %d bytes, expected 1 or more", size);
}

static int load_file(struct graph* graph, const model_source_t* source, va_list arguments)
{
    graph->core->serializer = source->serializer;
    return source->serializer->load_model(source->serializer, graph, source->place, arguments);
}

static int load_memory(struct graph* graph, const model_source_t* source)
{
    struct serializer* serializer = source->serializer;
    graph->core->serializer = serializer;
    if (source->kind == SOURCE_COPY || !serializer->load_block)
        return serializer->load_mem(serializer, graph, source->place, source->size);
    return serializer->load_block(serializer, graph, (void*)(uintptr_t)source->place, source->size,
                                  source->kind == SOURCE_MEMORY);
}

// The context of a graph for which the program gives none.
static struct context* create_own_context(void)
{
    struct context* context = create_ir_context(NULL);
    if (!context || add_ir_context_device(context, get_first_device(), NULL, 0) == 0)
        return context;
    destroy_ir_context(context);
    return NULL;
}

static void unload_graph(struct graph* graph)
{
    struct serializer* serializer = graph->core->serializer;
    if (serializer && serializer->unload_graph)
        serializer->unload_graph(serializer, graph, graph->core->serializer_privacy,
                                 graph->device_privacy);
}

static void release_graph(api_graph_t* graph)
{
    struct graph* target = graph->graph;
    postrun_ir_graph(target);
    release_graph_kernels(target);
    unload_graph(target);
    // The graph leaves the table first, so that no other thread can reach it while it is destroyed.
    const bool last = remove_graph_handles(graph);
    release_lent_memory(graph);
    destroy_ir_graph(target);
    if (last) destroy_ir_context(graph->context);
    free_memory(graph);
}

// Adds a graph to the table. NULL when out of memory; the graph then stays the caller's.
static api_graph_t* enter_graph(struct graph* graph, struct context* context)
{
    api_graph_t* entry = alloc_memory(sizeof *entry);
    if (!entry) {
        tengine_error_set(TENGINE_ENOMEM, "create_graph: out of memory");
        return NULL;
    }
    entry->thread = (options_t){1, TENGINE_CLUSTER_BIG, TENGINE_MODE_FP32, 0};
    entry->context = context;
    entry->graph = graph;
    if (add_handle(graph, HANDLE_GRAPH, entry) == 0) return entry;
    free_memory(entry);
    return NULL;
}

// An empty graph with its entry in the table. `context` NULL: the graph has its own.
static api_graph_t* create_empty_graph(struct context* context)
{
    struct context* used = context ? context : create_own_context();
    struct graph* graph = used ? create_ir_graph(used) : NULL;
    api_graph_t* entry = graph ? enter_graph(graph, used) : NULL;
    if (entry) return entry;
    destroy_ir_graph(graph);
    if (!context && used) destroy_ir_context(used);
    return NULL;
}

// How a format makes a copy of one of its graphs one of its own: inherit or share of serializer.h.
typedef int (*take_copy_t)(struct serializer* serializer, const struct graph* parent,
                           struct graph* copy);

// Adds a copy of the parent's graph to the table; `take` may be NULL. After a failure, NULL, the
// copy is destroyed.
static api_graph_t* enter_copy(struct graph* copy, const api_graph_t* parent, take_copy_t take)
{
    api_graph_t* entry = NULL;
    if ((!take || take(parent->graph->core->serializer, parent->graph, copy) == TENGINE_OK) &&
        (IS_MINIMAL || count_ir_states(parent->graph) == 0 || apply_ir_states(copy) == TENGINE_OK))
        entry = enter_graph(copy, parent->context);
    if (entry) return entry;
    unload_graph(copy);
    destroy_ir_graph(copy);
    return NULL;
}

graph_t give_graph(struct graph* graph, const api_graph_t* parent)
{
    const struct serializer* format = parent->graph->core->serializer;
    if (copy_ir_affinities(parent->graph, graph) < 0) {
        destroy_ir_graph(graph);
        return NULL;
    }
    return enter_copy(graph, parent, format ? format->inherit : NULL) ? graph : NULL;
}

graph_t tengine_graph_share(graph_t graph)
{
    const api_graph_t* target = find_graph(graph, __func__);
    struct graph* made = NULL;
    if (!target || check_idle(target, __func__) < 0 || share_ir_executions(target->graph) < 0 ||
        create_instance_graph(target->graph, &made) < 0)
        return api_pointer(NULL);
    if (!IS_MINIMAL && copy_ir_entries(made, target->graph) < 0) {
        destroy_ir_graph(made);
        return api_pointer(NULL);
    }
    const struct serializer* format = target->graph->core->serializer;
    api_graph_t* instance = enter_copy(made, target, format ? format->share : NULL);
    if (!instance) return api_pointer(NULL);
    instance->thread = target->thread;
    return made;
}

static int apply_states(struct graph* graph)
{
    const bool keeps = get_ir_context_number(graph->attribute->context, "model.states") != 0;
    return keeps ? apply_ir_states(graph) : TENGINE_OK;
}

// Formats choose the entry; models without entries have none to choose.
static int check_entry(const struct graph* graph)
{
    const char* wanted = get_ir_context_option(graph->attribute->context, "model.entry");
    const bool is_there = !*wanted || get_ir_entry(graph) >= 0;
    return is_there ? TENGINE_OK : fail_without_ir_entry(graph, "option model.entry", wanted);
}

// The handle of a graph that was created, unless it is NULL, and loaded with this status.
static graph_t give_loaded(api_graph_t* graph, int status)
{
    if (!IS_MINIMAL && graph && graph->graph->core->serializer && status == TENGINE_OK)
        status = check_entry(graph->graph);
    if (!IS_MINIMAL && graph && status == TENGINE_OK) status = apply_states(graph->graph);
    if (!IS_MINIMAL && graph && status == TENGINE_OK) status = take_ir_affinity_hints(graph->graph);
    if (graph && status == TENGINE_OK) return graph->graph;
    if (graph) release_graph(graph);
    return api_pointer(NULL);
}

graph_t create_graph(context_t context, const char* model_format, const char* file_name, ...)
{
    if (check_initialised(__func__) < 0 || (context && !find_context(context, __func__)))
        return api_pointer(NULL);
    va_list arguments;
    va_start(arguments, file_name);
    model_source_t source = {0};
    api_graph_t* graph = NULL;
    if (!model_format || read_source(model_format, file_name, arguments, &source) == 0)
        graph = create_empty_graph(context);
    int status = TENGINE_OK;
    if (graph && model_format)
        status = source.kind == SOURCE_FILE ? load_file(graph->graph, &source, arguments)
                                            : load_memory(graph->graph, &source);
    va_end(arguments);
    return give_loaded(graph, status);
}

static int read_memory(const char* format, const void* data, size_t size, const char* function,
                       model_source_t* out_source)
{
    *out_source = (model_source_t){.place = data, .size = size};
    TENGINE_RETURN_IF_ERROR(check_name(format, function, "model_format"));
    TENGINE_RETURN_IF_ERROR(find_format(format, function, out_source));
    if (out_source->kind == SOURCE_FILE) out_source->kind = SOURCE_COPY;
    TENGINE_RETURN_IF_ERROR(check_pointer(data, function, "data"));
    if (size > 0) return TENGINE_OK;
    return tengine_error_set(TENGINE_EINVAL, "%s: the model has 0 bytes, expected 1 or more",
                             function);
}

graph_t tengine_graph_load(context_t context, const char* model_format, const void* data,
                           size_t size)
{
    model_source_t source;
    if (check_initialised(__func__) < 0 || (context && !find_context(context, __func__)) ||
        read_memory(model_format, data, size, __func__, &source) < 0)
        return api_pointer(NULL);
    api_graph_t* graph = create_empty_graph(context);
    return give_loaded(graph, graph ? load_memory(graph->graph, &source) : TENGINE_OK);
}

// `graph` is empty, and joins the entries of the parent.
static int load_entry(struct graph* parent, int entry, struct graph* graph)
{
    struct serializer* format = parent->core->serializer;
    if (!format || !format->load_entry)
        return tengine_error_set(TENGINE_ENOTSUP,
                                 "entry '%s' is a graph of the program, not of a file, and cannot "
                                 "be opened",
                                 get_ir_entry_name(parent, entry));
    TENGINE_RETURN_IF_ERROR(format->load_entry(format, parent, entry, graph));
    TENGINE_RETURN_IF_ERROR(join_ir_entries(graph, parent, entry));
    // Packs are found by the addresses of constants, which must then stay where they are.
    TENGINE_RETURN_IF_ERROR(share_ir_executions(parent));
    TENGINE_RETURN_IF_ERROR(join_ir_shared_model(graph, parent));
    return share_ir_model(graph, NULL);
}

int create_entry_graph(struct graph* parent, int entry, struct graph** out_graph)
{
    struct graph* made = create_ir_graph(parent->attribute->context);
    if (!made) return tengine_error_code();
    int status = load_entry(parent, entry, made);
    if (status == TENGINE_OK) status = apply_states(made);
    if (status < 0)
        destroy_entry_graph(made);
    else
        *out_graph = made;
    return status;
}

void destroy_entry_graph(struct graph* graph)
{
    unload_graph(graph);
    destroy_ir_graph(graph);
}

graph_t tengine_graph_open_entry(graph_t graph, const char* name)
{
    const api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_name(name, __func__, "name") < 0 || check_idle(target, __func__) < 0)
        return api_pointer(NULL);
    const int entry = find_ir_entry(target->graph, name);
    if (entry < 0) {
        fail_without_ir_entry(target->graph, __func__, name);
        return api_pointer(NULL);
    }
    api_graph_t* opened = create_empty_graph(target->context);
    if (!opened) return api_pointer(NULL);
    opened->thread = target->thread;
    return give_loaded(opened, load_entry(target->graph, entry, opened->graph));
}

int destroy_graph(graph_t graph)
{
    api_graph_t* target = find_graph(graph, __func__);
    if (!target) return api_failure();
    while (!target->running && target->graph->status == GRAPH_STAT_RUNNING)
        wait_graph(graph, 0);
    if (check_idle(target, __func__) < 0) return api_failure();
    release_graph(target);
    return 0;
}

int set_graph_layout(graph_t graph, int layout_type)
{
    api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_layout(layout_type, __func__) < 0 || check_idle(target, __func__) < 0)
        return api_failure();
    target->graph->graph_layout = (int8_t)layout_type;
    return end_change(target, TENGINE_OK);
}

// ---- inputs and outputs, by node and by tensor ----

static int find_named_node(const struct graph* graph, const char* function, const char* name,
                           uint8_t* is_named, int32_t* out_index)
{
    TENGINE_RETURN_IF_ERROR(check_name(name, function, "a node name"));
    *out_index = get_ir_node_index_from_name(graph, name);
    if (*out_index < 0)
        return tengine_error_set(TENGINE_ENOENT, "%s: the graph has no node '%s'", function, name);
    if (is_named[*out_index])
        return tengine_error_set(TENGINE_EINVAL, "%s: node '%s' is named twice", function, name);
    is_named[*out_index] = 1;
    return TENGINE_OK;
}

typedef int (*set_node_list_t)(struct graph* graph, const int32_t nodes[], int number);

static int replace_node_list(struct graph* graph, const char* function, const char* names[],
                             int number, set_node_list_t set)
{
    TENGINE_RETURN_IF_ERROR(check_pointer(names, function, "the list of names"));
    if (number <= 0)
        return tengine_error_set(TENGINE_EINVAL, "%s: %d nodes, expected 1 or more", function,
                                 number);
    int32_t* nodes = alloc_memory(sizeof *nodes * (size_t)number + (size_t)graph->node_num);
    if (!nodes) return tengine_error_set(TENGINE_ENOMEM, "%s: out of memory", function);
    uint8_t* is_named = (uint8_t*)(nodes + number);
    int status = TENGINE_OK;
    for (int i = 0; i < number && status == TENGINE_OK; ++i)
        status = find_named_node(graph, function, names[i], is_named, &nodes[i]);
    if (status == TENGINE_OK) status = set(graph, nodes, number);
    free_memory(nodes);
    return status;
}

int set_graph_input_node(graph_t graph, const char* input_nodes[], int input_number)
{
    api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_idle(target, __func__) < 0) return api_failure();
    return end_change(target, replace_node_list(target->graph, __func__, input_nodes, input_number,
                                                replace_ir_graph_input_nodes));
}

int set_graph_output_node(graph_t graph, const char* output_nodes[], int output_number)
{
    api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_idle(target, __func__) < 0) return api_failure();
    return end_change(target, replace_node_list(target->graph, __func__, output_nodes,
                                                output_number, set_ir_graph_output_node));
}

int get_graph_input_node_number(graph_t graph)
{
    const api_graph_t* target = find_graph(graph, __func__);
    return !target ? api_failure() : target->graph->input_num;
}

int get_graph_output_node_number(graph_t graph)
{
    const api_graph_t* target = find_graph(graph, __func__);
    return !target ? api_failure() : target->graph->output_num;
}

node_t get_graph_input_node(graph_t graph, int idx)
{
    api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_index(idx, target->graph->input_num, __func__, "input nodes") < 0)
        return api_pointer(NULL);
    return api_pointer(
        give_node(get_ir_graph_node(target->graph, target->graph->input_nodes[idx]), target));
}

node_t get_graph_output_node(graph_t graph, int idx)
{
    api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_index(idx, target->graph->output_num, __func__, "output nodes") < 0)
        return api_pointer(NULL);
    return api_pointer(
        give_node(get_ir_graph_node(target->graph, target->graph->output_nodes[idx]), target));
}

tensor_t get_graph_input_tensor(graph_t graph, int input_node_idx, int tensor_idx)
{
    const node_t node = get_graph_input_node(graph, input_node_idx);
    return !node ? NULL : get_node_output_tensor(node, tensor_idx);
}

tensor_t get_graph_output_tensor(graph_t graph, int output_node_idx, int tensor_idx)
{
    const node_t node = get_graph_output_node(graph, output_node_idx);
    return !node ? NULL : get_node_output_tensor(node, tensor_idx);
}

// The states come last.
static int count_inputs(const struct graph* graph)
{
    return graph->input_tensor_num - count_ir_states(graph);
}

static int count_outputs(const struct graph* graph)
{
    return graph->output_tensor_num - count_ir_states(graph);
}

int tengine_graph_get_input_number(graph_t graph)
{
    const api_graph_t* target = find_graph(graph, __func__);
    return !target ? api_failure() : count_inputs(target->graph);
}

tensor_t tengine_graph_get_input(graph_t graph, int index)
{
    api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_index(index, count_inputs(target->graph), __func__, "inputs") < 0)
        return api_pointer(NULL);
    struct tensor* input = get_ir_graph_tensor(target->graph, target->graph->input_tensors[index]);
    return api_pointer(give_tensor(input, target));
}

int tengine_graph_get_output_number(graph_t graph)
{
    const api_graph_t* target = find_graph(graph, __func__);
    return !target ? api_failure() : count_outputs(target->graph);
}

tensor_t tengine_graph_get_output(graph_t graph, int index)
{
    api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_index(index, count_outputs(target->graph), __func__, "outputs") < 0)
        return api_pointer(NULL);
    struct tensor* output =
        get_ir_graph_tensor(target->graph, target->graph->output_tensors[index]);
    return api_pointer(give_tensor(output, target));
}

// ---- the rest ----

int set_graph_attr(graph_t graph, const char* attr_name, const void* buf, int size)
{
    (void)buf, (void)size;
    if (!find_graph(graph, __func__) || check_name(attr_name, __func__, "attr_name") < 0)
        return api_failure();
    return api_result(fail_not_supported(__func__, "attributes of a graph are"));
}

int get_graph_attr(graph_t graph, const char* attr_name, void* buf, int size)
{
    (void)buf, (void)size;
    if (!find_graph(graph, __func__) || check_name(attr_name, __func__, "attr_name") < 0)
        return api_failure();
    return api_result(fail_not_supported(__func__, "attributes of a graph are"));
}

int set_graph_device(graph_t graph, const char* dev_name)
{
    api_graph_t* target = find_graph(graph, __func__);
    struct device* device = NULL;
    if (!target || require_device(dev_name, __func__, "dev_name", &device) < 0 ||
        check_idle(target, __func__) < 0)
        return api_failure();
    return end_change(target, set_ir_graph_device(target->graph, device));
}

static int set_affinity(struct graph* graph, const char* nodes, const char* devices,
                        const char* function)
{
    const char* cursor = devices;
    const char* name;
    size_t length;
    struct device* device;
    while (next_ir_affinity_device(&cursor, &name, &length))
        // The rules check an empty name.
        if (length > 0) TENGINE_RETURN_IF_ERROR(find_named_device(name, length, function, &device));
    return add_ir_graph_affinity(graph, nodes, devices);
}

int tengine_graph_set_affinity(graph_t graph, const char* nodes, const char* devices)
{
    api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_name(nodes, __func__, "nodes") < 0 ||
        check_name(devices, __func__, "devices") < 0 || check_idle(target, __func__) < 0)
        return api_failure();
    return end_change(target, set_affinity(target->graph, nodes, devices, __func__));
}

void dump_graph(graph_t graph)
{
    const api_graph_t* target = find_graph(graph, __func__);
    if (!target)
        api_failure();
    else
        dump_ir_graph(target->graph);
}
