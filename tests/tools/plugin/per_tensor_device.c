// SPDX-License-Identifier: Apache-2.0
// A device in a plug-in that takes QLinearConv with int8 or uint8 data and one scale for its
// weights, and refuses others. It computes nothing: models are only placed on it.
#include "tengine/device.h"
#include "tengine/plugin.h"

static int succeed(struct device* device)
{
    (void)device;
    return 0;
}

static int pre_run(struct device* device, struct subgraph* subgraph, void* options)
{
    (void)device, (void)subgraph, (void)options;
    return 0;
}

static int run(struct device* device, struct subgraph* subgraph)
{
    (void)device, (void)subgraph;
    return tengine_error_set(TENGINE_ENOTSUP, "it computes nothing");
}

static int post_run(struct device* device, struct subgraph* subgraph)
{
    (void)device, (void)subgraph;
    return 0;
}

static int describe(struct device* device, struct vector* allowed_ops, struct vector* blocked_ops,
                    struct vector* precision)
{
    static const char* const names[] = {"QLinearConv"};
    static const int types[] = {TENGINE_DT_FP32, TENGINE_DT_INT8, TENGINE_DT_UINT8,
                                TENGINE_DT_INT32};
    (void)device, (void)blocked_ops;
    for (int i = 0; i < 4; ++i)
        if (push_vector_data(precision, &types[i]) < 0) return -1;
    return push_op_names(allowed_ops, names, 1);
}

static int inspect(struct device* device, const struct node* node, ir_verdict_t* out_verdict)
{
    const struct tensor* scale = get_ir_node_input(node, 4);
    (void)device;
    if (scale->elem_num > 1)
        refuse_ir_node(out_verdict, IR_REASON_ATTRIBUTE, "w_scale", "",
                       "the weights have %d scales, expected one", (int)scale->elem_num);
    return 0;
}

static struct interface interface = {.init = succeed,
                                     .pre_run = pre_run,
                                     .run = run,
                                     .post_run = post_run,
                                     .release_device = succeed};
static struct allocator allocator = {.describe = describe, .inspect = inspect};
static struct device per_tensor_device = {
    .name = "ONE_SCALE", .interface = &interface, .allocator = &allocator};

static int init(void)
{
    return register_device(&per_tensor_device);
}

TENGINE_PLUGIN("one_scale", "1.0", init, NULL);
