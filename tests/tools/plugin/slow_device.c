// SPDX-License-Identifier: Apache-2.0
// A device in a plug-in that takes 20 ms for a part of Sqrt nodes, whose results are 0, and does
// not measure its nodes.
#define _POSIX_C_SOURCE 200809L  // nanosleep()
#include <string.h>
#include <time.h>

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
    const struct timespec pause = {0, 20 * 1000 * 1000};
    (void)device;
    nanosleep(&pause, NULL);
    for (int i = 0; i < subgraph->output_num; ++i) {
        struct tensor* output =
            get_ir_graph_tensor(subgraph->graph, subgraph->output_tensor_list[i]);
        memset(output->data, 0, get_ir_tensor_bytes(output));
    }
    return 0;
}

static int post_run(struct device* device, struct subgraph* subgraph)
{
    (void)device, (void)subgraph;
    return 0;
}

static int describe(struct device* device, struct vector* allowed_ops, struct vector* blocked_ops,
                    struct vector* precision)
{
    static const char* const names[] = {"Sqrt"};
    const int fp32 = TENGINE_DT_FP32;
    (void)device, (void)blocked_ops;
    return push_op_names(allowed_ops, names, 1) < 0 ? -1 : push_vector_data(precision, &fp32);
}

static struct interface interface = {.init = succeed,
                                     .pre_run = pre_run,
                                     .run = run,
                                     .post_run = post_run,
                                     .release_device = succeed};
static struct allocator allocator = {.describe = describe};
static struct device slow_device = {
    .name = "SLOW", .interface = &interface, .allocator = &allocator};

static int init(void)
{
    return register_device(&slow_device);
}

TENGINE_PLUGIN("slow", "1.0", init, NULL);
