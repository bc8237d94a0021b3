// SPDX-License-Identifier: Apache-2.0
// C API, custom kernels: a program's own code for one node. operator/custom/custom_kernel.h says
// how it is run.
#include "api/custom_kernel.h"

#include <string.h>

#include "api/check.h"
#include "graph/body.h"
#include "graph/core.h"
#include "operator/custom/node_kernel.h"
#include "scheduler/failure.h"
#include "scheduler/scheduler.h"
#include "tengine/device.h"
#include "tengine/log.h"

// Only kernels of set_custom_kernel() are prepared apart from a plan.
int finish_graph_kernels(const api_graph_t* owner)
{
    const struct graph* graph = owner->graph;
    ir_failure_t first_failure = {0};
    for (int i = 0; owner->kernel_num > 0 && i < graph->node_num; ++i) {
        ir_custom_kernel_t* kernel = graph->node_list[i]->core->custom_kernel;
        if (kernel && finish_custom_kernel(kernel) < 0 && first_failure.code == 0)
            keep_ir_failure(&first_failure);
    }
    return first_failure.code == 0 ? TENGINE_OK : raise_ir_failure(&first_failure);
}

void release_graph_kernels(const struct graph* graph)
{
    for (int i = 0; i < graph->node_num; ++i) {
        struct node* node = graph->node_list[i];
        const ir_bodies_t* bodies = node->core->bodies;
        if (node->core->custom_kernel && remove_node_kernels(node) < 0)
            TLOG_WARNING("destroy_graph: %s", tengine_error_message());
        for (int k = 0; bodies && k < bodies->num; ++k)
            if (bodies->list[k].graph)  // a model that failed to load may lack it
                release_graph_kernels(bodies->list[k].graph);
    }
}

// Programs' kernels run on the device that runs every operator.
static int check_kernel_device(const char* dev_name, const char* function)
{
    const char* device = find_default_device()->name;
    if (!dev_name || strcmp(dev_name, device) == 0) return TENGINE_OK;
    return tengine_error_set(TENGINE_ENOTSUP, "%s: custom kernels run on %s, not on '%s'", function,
                             device, dev_name);
}

int set_custom_kernel(node_t node, const char* dev_name, struct custom_kernel_ops* kernel_ops)
{
    api_graph_t* owner = NULL;
    struct node* target = find_node(node, __func__, &owner);
    if (!target || check_pointer(kernel_ops, __func__, "kernel_ops") < 0 ||
        check_kernel_device(dev_name, __func__) < 0 || check_idle(owner, __func__) < 0)
        return api_failure();
    const int status = add_node_kernel(target, kernel_ops);
    if (status == TENGINE_OK) ++owner->kernel_num;
    return end_change(owner, status);
}

// The preparation refers to the kernel, so it ends first.
static int remove_kernel(api_graph_t* owner, struct node* node)
{
    ir_failure_t failure = {0};
    if (postrun_ir_graph(owner->graph) < 0 || finish_graph_kernels(owner) < 0)
        keep_ir_failure(&failure);
    owner->has_run = false;
    --owner->kernel_num;
    const int status = remove_node_kernels(node);
    return failure.code == 0 ? status : raise_ir_failure(&failure);
}

int remove_custom_kernel(node_t node, const char* dev_name)
{
    api_graph_t* owner = NULL;
    struct node* target = find_node(node, __func__, &owner);
    if (!target || check_kernel_device(dev_name, __func__) < 0 || check_idle(owner, __func__) < 0)
        return api_failure();
    if (!has_kernel_for_one_shape(target))
        return api_result(tengine_error_set(TENGINE_ENOENT, "%s: node '%s' has no custom kernel",
                                            __func__, target->name));
    return end_change(owner, remove_kernel(owner, target));
}
