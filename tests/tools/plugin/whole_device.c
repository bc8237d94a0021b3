// SPDX-License-Identifier: Apache-2.0
// A device in a plug-in that takes only operators that models often have in several nodes. WHOLE
// computes them with the default device; a compiled part that it saves is the list of operators. It
// appends a line for each part to the file that the environment variable WHOLE_PARTS names:
// "compiled Gelu", "loaded Gelu".
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tengine/plugin.h"

enum
{
    LIST_SIZE = 1024
};

static int describe(struct device* device, struct vector* allowed_ops, struct vector* blocked_ops,
                    struct vector* precision)
{
    static const char* const names[] = {
        "Attention",       "Gelu", "HardSwish", "LayerNormalization", "RMSNormalization",
        "RotaryEmbedding", "Swish"};
    static const int types[] = {TENGINE_DT_FP32, TENGINE_DT_FP16, TENGINE_DT_BF16};
    (void)device, (void)blocked_ops;
    for (int i = 0; i < 3; ++i)
        if (push_vector_data(precision, &types[i]) < 0)
            return tengine_error_set(TENGINE_ENOMEM, "WHOLE: out of memory for a list");
    return push_op_names(allowed_ops, names, (int)(sizeof names / sizeof names[0]));
}

static void list_operators(const struct subgraph* part, char* list)
{
    size_t length = 0;
    list[0] = '\0';
    for (int i = 0; i < part->node_num && length < LIST_SIZE; ++i) {
        const char* op = get_ir_node_op(get_ir_graph_node(part->graph, part->node_list[i]));
        const int added = snprintf(list + length, LIST_SIZE - length, i == 0 ? "%s" : " %s", op);
        length += (size_t)added;
    }
}

static int record(const char* event, const char* list)
{
    const char* path = getenv("WHOLE_PARTS");
    FILE* file = path ? fopen(path, "a") : NULL;
    if (!file) return tengine_error_set(TENGINE_EIO, "WHOLE_PARTS names no file to write");
    fprintf(file, "%s %s\n", event, list);
    return fclose(file) == 0 ? 0 : tengine_error_set(TENGINE_EIO, "'%s': not written", path);
}

static int prepare(struct subgraph* part, const char* event)
{
    struct device* host = find_default_device();
    char list[LIST_SIZE];
    list_operators(part, list);
    TENGINE_RETURN_IF_ERROR(record(event, list));
    return host->interface->pre_run(host, part, NULL);
}

static int pre_run(struct device* device, struct subgraph* part, void* options)
{
    (void)device, (void)options;
    return prepare(part, "compiled");
}

static int save(struct device* device, struct subgraph* part, struct ir_sink* sink)
{
    char list[LIST_SIZE];
    (void)device;
    list_operators(part, list);
    return write_ir_sink(sink, list, strlen(list));
}

static int load(struct device* device, struct subgraph* part, const void* data, size_t size)
{
    char list[LIST_SIZE];
    (void)device;
    list_operators(part, list);
    if (size != strlen(list) || memcmp(data, list, size) != 0)
        return tengine_error_set(TENGINE_EFORMAT, "WHOLE: the saved part is not '%s'", list);
    return prepare(part, "loaded");
}

static int run(struct device* device, struct subgraph* part)
{
    struct device* host = find_default_device();
    (void)device;
    return host->interface->run(host, part);
}

static int post_run(struct device* device, struct subgraph* part)
{
    struct device* host = find_default_device();
    (void)device;
    return part->device_graph ? host->interface->post_run(host, part) : 0;
}

static int release_graph(struct device* device, void* device_graph)
{
    struct device* host = find_default_device();
    (void)device;
    return device_graph ? host->interface->release_graph(host, device_graph) : 0;
}

static int do_nothing(struct device* device)
{
    (void)device;
    return 0;
}

static struct interface interface = {.init = do_nothing,
                                     .pre_run = pre_run,
                                     .run = run,
                                     .post_run = post_run,
                                     .release_graph = release_graph,
                                     .release_device = do_nothing,
                                     .save = save,
                                     .load = load};
static struct allocator allocator = {.describe = describe};
static struct device whole_device = {
    .name = "WHOLE", .interface = &interface, .allocator = &allocator};

static int init(void)
{
    return register_device(&whole_device);
}

static int release(void)
{
    return unregister_device(&whole_device);
}

TENGINE_PLUGIN("whole", "1.0", init, release);
