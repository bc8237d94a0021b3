// SPDX-License-Identifier: Apache-2.0
// The synchronous scheduler: compiles and runs the parts of an execution graph one after the other
// on the calling thread, in the order of the part list, which is an order of execution.
#include <stdio.h>

#include "graph/context.h"
#include "graph/subgraph.h"
#include "scheduler/scheduler.h"

// Turns a device's bare failure into a sentence with its name; keeps the sentence it gave.
static int fail_part(const struct subgraph* part, const char* entry, int status)
{
    char cause[512];
    snprintf(cause, sizeof(cause), "%s", tengine_error_message());
    const int code = tengine_error_code() ? tengine_error_code() : TENGINE_EDEVICE;
    if (!*cause) snprintf(cause, sizeof(cause), "it returned %d", status);
    return tengine_error_set(code, "device '%s', %s of part %d (%d nodes): %s", part->device->name,
                             entry, part->index, part->node_num, cause);
}

static void* find_options(const struct graph* graph, const struct device* device)
{
    const ir_context_t* context = graph->attribute->context;
    const ir_context_device_t* entry = context ? find_ir_context_device(context, device) : NULL;
    return entry ? entry->options : NULL;
}

static int prepare_part(struct graph* graph, struct subgraph* part)
{
    struct device* device = part->device;
    tengine_error_clear();
    int status = device->allocator->allocate ? device->allocator->allocate(device, part) : 0;
    if (status < 0) return fail_part(part, "allocate", status);
    status = device->interface->pre_run(device, part, find_options(graph, device));
    if (status >= 0) {
        part->status = IR_GRAPH_READY;
        return TENGINE_OK;
    }
    status = fail_part(part, "pre_run", status);
    if (device->allocator->release) device->allocator->release(device, part);
    return status;
}

static int close_part(struct subgraph* part)
{
    struct device* device = part->device;
    if (part->status != IR_GRAPH_READY) return TENGINE_OK;
    part->status = IR_GRAPH_DONE;
    tengine_error_clear();
    int status = device->interface->post_run(device, part);
    if (status < 0) status = fail_part(part, "post_run", status);
    const int released = device->allocator->release ? device->allocator->release(device, part) : 0;
    if (released < 0 && status >= 0) status = fail_part(part, "release", released);
    return status < 0 ? status : TENGINE_OK;
}

// Closes every part even when one fails; reports the first failure.
static int postrun(struct scheduler* scheduler, struct graph* graph)
{
    (void)scheduler;
    int first_failure = TENGINE_OK;
    for (int i = 0; i < get_vector_num(graph->subgraph_list); i++) {
        const int status = close_part(get_ir_graph_subgraph(graph, i));
        if (status < 0 && first_failure == TENGINE_OK) first_failure = status;
    }
    return first_failure;
}

static int prerun(struct scheduler* scheduler, struct graph* graph)
{
    (void)scheduler;
    for (int i = 0; i < get_vector_num(graph->subgraph_list); i++)
        TENGINE_RETURN_IF_ERROR(prepare_part(graph, get_ir_graph_subgraph(graph, i)));
    return TENGINE_OK;
}

static int run(struct scheduler* scheduler, struct graph* graph, int block)
{
    (void)scheduler;
    (void)block;  // there is no other thread to go on with
    for (int i = 0; i < get_vector_num(graph->subgraph_list); i++) {
        struct subgraph* part = get_ir_graph_subgraph(graph, i);
        tengine_error_clear();
        const int status = part->device->interface->run(part->device, part);
        if (status < 0) return fail_part(part, "run", status);
    }
    return TENGINE_OK;
}

static int wait(struct scheduler* scheduler, struct graph* graph)
{
    (void)scheduler;
    (void)graph;
    return 1;  // run() has returned, so nothing is under way
}

static struct scheduler sync_scheduler = {
    .name = "sync",
    .prerun = prerun,
    .run = run,
    .wait = wait,
    .postrun = postrun,
};

struct scheduler* find_default_scheduler(void)
{
    return &sync_scheduler;
}
