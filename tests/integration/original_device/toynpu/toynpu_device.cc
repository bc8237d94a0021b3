// SPDX-License-Identifier: Apache-2.0
// The tables of the device and its registration.
#include "toynpu_device.hpp"

#include "toynpu_graph.hpp"
#include "toynpu_limit.hpp"

#include <cstring>

extern "C" {
#include "api/c_api.h"
#include "device/device.h"
#include "graph/tensor.h"
#include "graph/node.h"
#include "graph/graph.h"
#include "graph/subgraph.h"
#include "executer/executer.h"
#include "optimizer/split.h"
#include "module/module.h"
#include "utility/vector.h"
#include "utility/log.h"
}

int toynpu_describe(struct device* device, struct vector* allowed_ops, struct vector* blocked_ops, struct vector* precision)
{
    (void)device;

    for (int op_type : toynpu_supported_ops)
    {
        push_vector_data(allowed_ops, &op_type);
    }

    for (int i = 0; i < OP_BUILTIN_LAST; i++)
    {
        bool in_list = false;

        for (const auto& type : toynpu_supported_ops)
        {
            if (type == i)
            {
                in_list = true;
                break;
            }
        }

        if (!in_list)
        {
            push_vector_data(blocked_ops, &i);
        }
    }

    int precision_var = TENGINE_DT_FP32;
    push_vector_data(precision, &precision_var);

    return 0;
}

int toynpu_evaluation(struct device* device, struct subgraph* sub_graph, struct vector* evolution_tensors, struct vector* evolution_nodes)
{
    // nothing to hand back
    (void)device;
    (void)sub_graph;
    (void)evolution_tensors;
    (void)evolution_nodes;

    return 0;
}

int toynpu_allocate(struct device* device, struct subgraph* sub_graph)
{
    if (nullptr == device)
    {
        return -1;
    }

    /* an INPUT tensor is always ready */
    sub_graph->input_wait_count = 0;

    for (int i = 0; i < sub_graph->input_num; i++)
    {
        struct tensor* tensor = get_ir_graph_tensor(sub_graph->graph, sub_graph->input_tensor_list[i]);

        if (tensor->tensor_type == TENSOR_TYPE_VAR)
            sub_graph->input_wait_count++;
    }

    return 0;
}

int toynpu_release(struct device* device, struct subgraph* sub_graph)
{
    (void)device;
    (void)sub_graph;

    return 0;
}

int toynpu_split_graph(struct graph* ir_graph)
{
    struct device* cur_dev = ir_graph->attribute->context->device;

    if (0 != strcmp(TOYNPU_DEV_NAME, cur_dev->name))
    {
        return -1;
    }

    struct vector* allowed_ops = create_vector(sizeof(int), nullptr);
    struct vector* blocked_ops = create_vector(sizeof(int), nullptr);
    struct vector* precision = create_vector(sizeof(int), nullptr);

    cur_dev->allocator->describe(cur_dev, allowed_ops, blocked_ops, precision);
    split_graph_node_to_sub_graph(ir_graph, allowed_ops, blocked_ops, precision);

    release_vector(allowed_ops);
    release_vector(blocked_ops);
    release_vector(precision);

    generate_sub_graph_io(ir_graph);
    add_sub_graph_to_ir_graph(ir_graph);

    return 0;
}

extern "C" {
static struct interface toynpu_interface = {
    .init = toynpu_dev_init,
    .pre_run = toynpu_dev_prerun,
    .run = toynpu_dev_run,
    .post_run = toynpu_dev_postrun,
    .async_run = nullptr,
    .async_wait = nullptr,
    .release_graph = nullptr,
    .release_device = toynpu_dev_release,
};

static struct allocator toynpu_allocator = {
    .describe = toynpu_describe,
    .evaluation = toynpu_evaluation,
    .allocate = toynpu_allocate,
    .release = toynpu_release,
};

static struct optimizer toynpu_optimizer = {
    .split_graph = toynpu_split_graph,
    .optimize_graph = nullptr,
};

static struct toynpu_device toynpu_dev = {
    .base = {
        .name = TOYNPU_DEV_NAME,
        .interface = &toynpu_interface,
        .allocator = &toynpu_allocator,
        .optimizer = &toynpu_optimizer,
        .scheduler = nullptr,
        .privacy = nullptr,
    },
};

int register_toynpu_device(void)
{
    int ret = register_device(&toynpu_dev.base);
    if (0 != ret)
    {
        TLOG_INFO("Tengine plugin %s register failed.\n", toynpu_dev.base.name);
        return -1;
    }

    TLOG_INFO("Tengine plugin device %s is registered.\n", toynpu_dev.base.name);
    return 0;
}

int unregister_toynpu_device(void)
{
    int ret = unregister_device(&toynpu_dev.base);
    if (0 != ret)
    {
        TLOG_INFO("Tengine plugin %s unregister failed.\n", toynpu_dev.base.name);
        return ret;
    }

    TLOG_INFO("Tengine plugin device %s is unregistered.\n", toynpu_dev.base.name);
    return 0;
}
}
