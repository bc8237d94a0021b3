// SPDX-License-Identifier: Apache-2.0
// A plug-in that is compiled against the headers of several versions (CMakeLists.txt): the present
// ones, those of ABI 1 as it was published, shorter and longer tables than these, and another major
// version. Its device, named PLUGIN_NAME, computes Abs and adds 1000 so that a test can tell where
// it was computed.
#include <math.h>
#include <stdlib.h>

#include "tengine/plugin.h"

static int started;

static int init(struct device* device)
{
    device->privacy = &started;
    return 0;
}

static int pre_run(struct device* device, struct subgraph* subgraph, void* options)
{
    (void)options;
    subgraph->plan_bytes = 0;
    return device->privacy == &started ? 0 : -1;
}

static int run(struct device* device, struct subgraph* subgraph)
{
    (void)device;
    for (int i = 0; i < subgraph->node_num; ++i) {
        const struct node* node = get_ir_graph_node(subgraph->graph, subgraph->node_list[i]);
        const struct tensor* input = get_ir_node_input(node, 0);
        struct tensor* output = get_ir_node_output(node, 0);
        for (int64_t k = 0; k < input->elem_num; ++k)
            output->f32[k] = fabsf(input->f32[k]) + 1000;
    }
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

static int describe(struct device* device, struct vector* allowed_ops, struct vector* blocked_ops,
                    struct vector* precision)
{
    static const char* const names[] = {"Abs"};
    const int fp32 = TENGINE_DT_FP32;
    (void)device, (void)blocked_ops;
    return push_op_names(allowed_ops, names, 1) < 0 ? -1 : push_vector_data(precision, &fp32);
}

#ifdef HAS_FIRST_SAVE
// It has the parameters of ABI 1.0, and must not be called.
static int save(struct device* device, struct subgraph* subgraph, void** out_data, size_t* out_size)
{
    (void)device, (void)subgraph, (void)out_data, (void)out_size;
    abort();
}

static int load(struct device* device, struct subgraph* subgraph, const void* data, size_t size)
{
    (void)device, (void)subgraph, (void)data, (void)size;
    abort();
}
#endif

static struct interface interface = {.init = init,
                                     .pre_run = pre_run,
#ifdef HAS_FIRST_SAVE
                                     .save = save,
                                     .load = load,
#endif
                                     .run = run,
                                     .post_run = post_run,
                                     .release_device = release_device};
// Bytes that the library must not read as members of the preceding table.
static const unsigned char after_interface[256] = {0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a};
static struct allocator allocator = {.describe = describe};
static const unsigned char after_allocator[256] = {0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a};

static struct device device = {
    .name = PLUGIN_NAME, .interface = &interface, .allocator = &allocator};

static int start(void)
{
    started += after_interface[0] + after_allocator[0];
    return register_device(&device);
}

static int stop(void)
{
    return unregister_device(&device);
}

// The entry of Tengine's convention.
TENGINE_API int start_versioned(void);
TENGINE_API int start_versioned(void)
{
    return start();
}

TENGINE_PLUGIN(PLUGIN_NAME, "1.4.2", start, stop);
