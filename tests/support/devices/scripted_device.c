// SPDX-License-Identifier: Apache-2.0
#include "scripted_device.h"

#include <limits.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

static scripted_device_t* self(struct device* device)
{
    return (scripted_device_t*)device;
}

// Returns the script for this graph.
static script_t script_of(struct device* device, const struct graph* graph)
{
    script_t script = self(device)->script;
    read_script_options(device, graph, &script);
    return script;
}

// ---- which nodes ----

static int describe_all(struct vector* allowed_ops, struct vector* blocked_ops)
{
    struct device* host = find_default_device();
    struct vector* precision = create_vector(sizeof(int), NULL);
    if (!precision) return tengine_error_set(TENGINE_ENOMEM, "out of memory for a list");
    const int status = host->allocator->describe(host, allowed_ops, blocked_ops, precision);
    release_vector(precision);
    return status;
}

static int describe(struct device* device, struct vector* allowed_ops, struct vector* blocked_ops,
                    struct vector* precision)
{
    const int type = TENGINE_DT_FP32;
    self(device)->describes++;
    if (push_vector_data(precision, &type) < 0)
        return tengine_error_set(TENGINE_ENOMEM, "out of memory for a list");
    if (self(device)->lists_all) return describe_all(allowed_ops, blocked_ops);
    return push_script_list(self(device)->script.operators, allowed_ops);
}

static int inspect(struct device* device, const struct node* node, ir_verdict_t* out_verdict)
{
    scripted_device_t* const scripted = self(device);
    const script_t script = script_of(device, node->graph);
    ++scripted->inspects;
    if (scripted->hooks.inspect) {
        TENGINE_RETURN_IF_ERROR(
            scripted->hooks.inspect(scripted->hooks.privacy, node, out_verdict));
        if (out_verdict->verdict != IR_VERDICT_YES) return TENGINE_OK;
    }
    if (script.verdict != 0) out_verdict->verdict = script.verdict;
    if (scripted->lists_all && !is_in_script_list(script.operators, get_ir_node_op(node)))
        refuse_ir_node(out_verdict, IR_REASON_OPERATOR, "", get_ir_node_op(node),
                       "the device has no %s", get_ir_node_op(node));
    else if (script.refuse)
        refuse_by_attribute(node, script.refuse, out_verdict);
    return TENGINE_OK;
}

static int estimate(struct device* device, const struct node* node, double* out_ms)
{
    const script_t script = script_of(device, node->graph);
    struct device* host = find_default_device();
    double host_ms = 0;
    self(device)->estimates++;
    if (script.estimate_percent != 0 && host->allocator->estimate)
        TENGINE_RETURN_IF_ERROR(host->allocator->estimate(host, node, &host_ms));
    *out_ms = script.estimate_ms +
              script.estimate_ns_per_mac * 1e-6 * (double)get_ir_node_macs(node) +
              script.estimate_percent / 100 * host_ms;
    return TENGINE_OK;
}

static int push_index(struct vector* list, int index)
{
    if (push_vector_data(list, &index) == 0) return TENGINE_OK;
    return tengine_error_set(TENGINE_ENOMEM, "out of memory for a list");
}

static int push_garbage(struct vector* list)
{
    static const int garbage[] = {-1, INT_MIN, 1000000, INT_MAX};
    for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; ++i)
        TENGINE_RETURN_IF_ERROR(push_index(list, garbage[i]));
    return TENGINE_OK;
}

static int evaluation(struct device* device, struct subgraph* part, struct vector* tensors,
                      struct vector* nodes)
{
    const script_t script = script_of(device, part->graph);
    self(device)->evaluations++;
    if (script.garbage_evaluation) {
        TENGINE_RETURN_IF_ERROR(push_garbage(nodes));
        return push_garbage(tensors);
    }
    for (int i = 0; i < part->node_num; ++i) {
        const struct node* node = get_ir_graph_node(part->graph, part->node_list[i]);
        if (is_in_script_list(script.hand_back, get_ir_node_op(node)))
            TENGINE_RETURN_IF_ERROR(push_index(nodes, node->index));
    }
    return TENGINE_OK;
}

// ---- from a part to its results ----

// A compiled part: the default device's data, and the options about runs, which must not be read
// when a part runs late.
typedef struct scripted_graph
{
    void* inner;
    script_t options;
    unsigned options_set;
} scripted_graph_t;

static int fail(const script_t* script, const char* what)
{
    if (script->status != 0) return script->status;
    return tengine_error_set(TENGINE_EDEVICE, "%s", what);
}

static int check_part(const script_t* script, const struct subgraph* part)
{
    if (script->fail_pre_run) return fail(script, "told to fail");
    if (script->max_nodes > 0 && part->node_num > script->max_nodes)
        return fail(script, "the part is too large");
    for (int i = 0; i < part->node_num; ++i) {
        const struct node* node = get_ir_graph_node(part->graph, part->node_list[i]);
        if (is_in_script_list(script->cannot_compile, get_ir_node_op(node)))
            return fail(script, "the part has an operator it cannot compile");
    }
    return TENGINE_OK;
}

static int release_graph(struct device* device, void* device_graph)
{
    scripted_graph_t* const compiled = device_graph;
    struct device* host = find_default_device();
    self(device)->releases++;
    const int status = !compiled || !compiled->inner
                           ? TENGINE_OK
                           : host->interface->release_graph(host, compiled->inner);
    free(compiled);
    return status;
}

// Calls an entry of the default device, with the default device's device_graph.
static int call_host(int (*entry)(struct device*, struct subgraph*), struct subgraph* part)
{
    scripted_graph_t* const compiled = part->device_graph;
    part->device_graph = compiled->inner;
    const int status = entry(find_default_device(), part);
    part->device_graph = compiled;
    return status;
}

static void hang(scripted_device_t* scripted, int milliseconds)
{
    const struct timespec millisecond = {0, 1000000};
    const int releases = scripted->hang_releases;
    ++scripted->hanging;
    for (int i = 0; i != milliseconds && scripted->hang_releases == releases; ++i)
        thrd_sleep(&millisecond, NULL);
    --scripted->hanging;
}

static int pre_run(struct device* device, struct subgraph* part, void* options)
{
    scripted_device_t* const scripted = self(device);
    struct device* host = find_default_device();
    script_t script = scripted->script;
    const unsigned set = read_script_options(device, part->graph, &script);
    ++scripted->pre_runs;
    if (scripted->hooks.pre_run) scripted->hooks.pre_run(scripted->hooks.privacy, part, options);
    const int status = check_part(&script, part);
    if (status != TENGINE_OK) return status;
    if (script.hang_pre_run_ms != 0) hang(scripted, script.hang_pre_run_ms);

    scripted_graph_t* compiled = part->device_graph;
    if (!compiled) compiled = calloc(1, sizeof *compiled);
    if (!compiled) return tengine_error_set(TENGINE_ENOMEM, "out of memory for a part");
    compiled->options = script;
    compiled->options_set = set;
    part->device_graph = compiled->inner;
    const int host_status = host->interface->pre_run(host, part, NULL);
    compiled->inner = part->device_graph;
    part->device_graph = compiled;
    return host_status;
}

static int run_part(struct device* device, struct subgraph* part,
                    int (*hook)(void* privacy, struct subgraph* part))
{
    scripted_device_t* const scripted = self(device);
    const scripted_graph_t* const compiled = part->device_graph;
    script_t script = scripted->script;
    overlay_script(&script, &compiled->options, compiled->options_set);
    const int number = ++scripted->runs;
    const int status = hook ? hook(scripted->hooks.privacy, part) : TENGINE_OK;
    if (status != TENGINE_OK) return status;
    if (script.fail_all_runs || number == script.fail_run) return fail(&script, "told to fail");
    if (script.hang_ms != 0 && (script.hang_run == 0 || script.hang_run == number))
        hang(scripted, script.hang_ms);
    return call_host(find_default_device()->interface->run, part);
}

static int run(struct device* device, struct subgraph* part)
{
    return run_part(device, part, self(device)->hooks.run);
}

static int async_run(struct device* device, struct subgraph* part)
{
    self(device)->async_runs++;
    return run_part(device, part, self(device)->hooks.async_run);
}

static int async_wait(struct device* device, struct subgraph* part, int try_wait)
{
    const script_hooks_t* const hooks = &self(device)->hooks;
    self(device)->async_waits++;
    return hooks->async_wait ? hooks->async_wait(hooks->privacy, part, try_wait) : 1;
}

static int post_run(struct device* device, struct subgraph* part)
{
    self(device)->post_runs++;
    return !part->device_graph ? TENGINE_OK
                               : call_host(find_default_device()->interface->post_run, part);
}

static int measure(struct device* device, struct subgraph* part, int64_t* out_node_ns)
{
    (void)device;
    scripted_graph_t* const compiled = part->device_graph;
    struct device* host = find_default_device();
    if (!host->interface->measure)
        return tengine_error_set(TENGINE_ENOTSUP, "the default device measures nothing");
    part->device_graph = compiled->inner;
    const int status = host->interface->measure(host, part, out_node_ns);
    part->device_graph = compiled;
    return status;
}

static int allocate(struct device* device, struct subgraph* part)
{
    (void)part;
    self(device)->allocations++;
    return TENGINE_OK;
}

static int release(struct device* device, struct subgraph* part)
{
    (void)part;
    self(device)->allocator_releases++;
    return TENGINE_OK;
}

// ---- the device ----

static int do_nothing(struct device* device)
{
    (void)device;
    return TENGINE_OK;
}

// No thread may wait for a device that is destroyed.
static int release_device(struct device* device)
{
    release_scripted_hangs(self(device));
    return TENGINE_OK;
}

void init_scripted_device(scripted_device_t* out_device, const char* name)
{
    struct interface* const interface = &out_device->interface;
    struct allocator* const allocator = &out_device->allocator;
    interface->init = do_nothing;
    interface->pre_run = pre_run;
    interface->run = run;
    interface->post_run = post_run;
    interface->release_graph = release_graph;
    interface->release_device = release_device;
    interface->check_option = check_script_option;
    interface->measure = measure;
    allocator->describe = describe;
    allocator->inspect = inspect;
    allocator->evaluation = evaluation;
    allocator->allocate = allocate;
    allocator->release = release;
    init_ir_device(&out_device->device, name);
    out_device->device.interface = interface;
    out_device->device.allocator = allocator;
}

void enable_scripted_estimate(scripted_device_t* device)
{
    device->allocator.estimate = estimate;
}

static int survey(struct device* device, const struct graph* graph)
{
    const script_hooks_t* const hooks = &self(device)->hooks;
    self(device)->surveys++;
    return hooks->survey ? hooks->survey(hooks->privacy, graph) : TENGINE_OK;
}

void enable_scripted_survey(scripted_device_t* device)
{
    device->allocator.survey = survey;
}

void enable_scripted_async(scripted_device_t* device)
{
    device->interface.async_run = async_run;
    device->interface.async_wait = async_wait;
}

static void cancel(struct device* device, struct subgraph* part)
{
    (void)part;
    self(device)->cancels++;
    release_scripted_hangs(self(device));
}

void enable_scripted_cancel(scripted_device_t* device)
{
    device->interface.cancel = cancel;
}

void release_scripted_hangs(scripted_device_t* device)
{
    ++device->hang_releases;
}
