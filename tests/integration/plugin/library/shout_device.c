// SPDX-License-Identifier: Apache-2.0
// A device in a plug-in, on the public headers only: it takes Neg and Abs in fp32 and computes them
// with its own code, 1000 too large so that a test can tell where they were computed.
#include <math.h>
#include <string.h>

#include "tengine/c_api.h"
#include "tengine/device.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int shout_init(void);
EXPORT int shout_release(void);
EXPORT int shout_init_fails(void);
EXPORT int shout_init_fails_late(void);
EXPORT int shout_init_leaves_a_context(void);
EXPORT int shout_release_fails(void);

static int init(struct device* device)
{
    (void)device;
    return 0;
}

static int pre_run(struct device* device, struct subgraph* subgraph, void* options)
{
    (void)device, (void)subgraph, (void)options;
    return 0;
}

static int run_node(const struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    struct tensor* output = get_ir_node_output(node, 0);
    const int negates = strcmp(get_ir_node_op(node), "Neg") == 0;
    for (int64_t i = 0; i < input->elem_num; ++i)
        output->f32[i] = (negates ? -input->f32[i] : fabsf(input->f32[i])) + 1000;
    return 0;
}

static int run(struct device* device, struct subgraph* subgraph)
{
    (void)device;
    for (int i = 0; i < subgraph->node_num; ++i)
        run_node(get_ir_graph_node(subgraph->graph, subgraph->node_list[i]));
    return 0;
}

static int post_run(struct device* device, struct subgraph* subgraph)
{
    (void)device, (void)subgraph;
    return 0;
}

static int release_device(struct device* device)
{
    (void)device;
    return 0;
}

// Each part has one node: results between nodes of a part have no memory.
static int describe(struct device* device, struct vector* allowed_ops, struct vector* blocked_ops,
                    struct vector* precision)
{
    static const char* const names[] = {"Neg", "Abs"};
    const int fp32 = TENGINE_DT_FP32;
    (void)device, (void)blocked_ops;
    return push_op_names(allowed_ops, names, 2) < 0 ? -1 : push_vector_data(precision, &fp32);
}

static struct interface interface = {.init = init,
                                     .pre_run = pre_run,
                                     .run = run,
                                     .post_run = post_run,
                                     .release_device = release_device};
static struct allocator allocator = {.describe = describe};
static struct device shout_device = {
    .name = "SHOUT", .interface = &interface, .allocator = &allocator};

int shout_init(void)
{
    return register_device(&shout_device);
}

int shout_release(void)
{
    return unregister_device(&shout_device);
}

int shout_init_fails(void)
{
    return -1;
}

// Fails after it has registered its device.
int shout_init_fails_late(void)
{
    shout_init();
    return tengine_error_set(TENGINE_EDEVICE, "the board is not there");
}

// The same; a context of its own still lists the device.
int shout_init_leaves_a_context(void)
{
    shout_init();
    add_context_device(create_context("left", 1), "SHOUT");
    return tengine_error_set(TENGINE_EDEVICE, "the board is not there");
}

int shout_release_fails(void)
{
    return -1;
}
