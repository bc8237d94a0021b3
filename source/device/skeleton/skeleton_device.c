// SPDX-License-Identifier: Apache-2.0
// A device that takes no operator: a copy of this folder is the start of your own,
// docs/add-a-device.md shows how. Comments name the decisions to make. tengine/device.h has the
// contract, tengine/ir.h the graph; other parts of the library are not needed.
#include <stdlib.h>

#include "tengine/device.h"

// ---- Operators of the device ----

// A row per operator: its ONNX name and the function that runs a node of it. Devices whose library
// compiles whole networks have a function here that adds the node to the library's graph.
struct skeleton_kernel
{
    const char* op;
    int (*run)(const struct node* node);
};

static const struct skeleton_kernel skeleton_kernels[] = {
    {NULL, NULL},
};

// The element types that the kernels accept.
static const int skeleton_precisions[] = {TENGINE_DT_FP32};

// Lists the operators by name. Blocked operators are for devices that list all but a few; an
// operator in neither list is refused.
static int skeleton_describe(struct device* device, struct vector* allowed_ops,
                             struct vector* blocked_ops, struct vector* precision)
{
    (void)device;
    (void)blocked_ops;
    for (const struct skeleton_kernel* kernel = skeleton_kernels; kernel->op; ++kernel)
        TENGINE_RETURN_IF_ERROR(push_op_names(allowed_ops, &kernel->op, 1));

    const size_t number = sizeof skeleton_precisions / sizeof skeleton_precisions[0];
    for (size_t i = 0; i < number; ++i) {
        if (push_vector_data(precision, &skeleton_precisions[i]) < 0)
            return tengine_error_set(TENGINE_ENOMEM,
                                     "SKELETON: out of memory for the precision list");
    }
    return TENGINE_OK;
}

// Judges one node whose operator is listed. Refuse here whatever the kernels do not support:
// parameters, ranks, shapes, inputs that are not constant. The user sees the reason with its name
// and value.
static int skeleton_inspect(struct device* device, const struct node* node,
                            ir_verdict_t* out_verdict)
{
    (void)device;
    if (node->dynamic_shape)
        refuse_ir_node(out_verdict, IR_REASON_SHAPE, "", "", "shapes must be known in pre_run");
    return TENGINE_OK;
}

// ---- From a part of the graph to something that runs ----

struct skeleton_step
{
    const struct node* node;
    int (*run)(const struct node* node);
};

// The object that pre_run makes of a subgraph; its only owner is subgraph->device_graph.
struct skeleton_graph
{
    int step_num;
    struct skeleton_step steps[];
};

static int skeleton_release_graph(struct device* device, void* device_graph)
{
    (void)device;
    free(device_graph);
    return TENGINE_OK;
}

static int find_kernel(const struct node* node, struct skeleton_step* out_step)
{
    for (const struct skeleton_kernel* kernel = skeleton_kernels; kernel->op; ++kernel) {
        if (get_op_type("", kernel->op) == node->op.type) {
            *out_step = (struct skeleton_step){node, kernel->run};
            return TENGINE_OK;
        }
    }
    return tengine_error_set(TENGINE_EOPERATOR, "SKELETON: node '%s': no kernel for %s", node->name,
                             get_ir_node_op(node));
}

static int is_output(const struct subgraph* subgraph, int tensor_index)
{
    for (int i = 0; i < subgraph->output_num; ++i) {
        if (subgraph->output_tensor_list[i] == tensor_index) return 1;
    }
    return 0;
}

// Tensors inside the subgraph belong to the device; here each gets host memory. A device with
// memory of its own plans it in pre_run and does not set tensor->data.
static int allocate_inner_tensors(const struct subgraph* subgraph, const struct node* node)
{
    for (int i = 0; i < node->output_num; ++i) {
        struct tensor* tensor = get_ir_node_output(node, i);
        if (tensor && !is_output(subgraph, tensor->index))
            TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(tensor));
    }
    return TENGINE_OK;
}

// Everything that takes time or memory belongs here: convert layouts, pack weights, compile,
// allocate. If only the shapes have changed, the old device_graph is set; keep the parts of it that
// do not depend on them. `options` is the struct that the user gave with this device, or NULL. On
// failure leave device_graph NULL or releasable; the part then comes again in two halves, and a
// single node that fails goes to the default device with the message set here.
static int skeleton_pre_run(struct device* device, struct subgraph* subgraph, void* options)
{
    (void)options;
    skeleton_release_graph(device, subgraph->device_graph);
    subgraph->device_graph = NULL;

    const size_t steps_size = (size_t)subgraph->node_num * sizeof(struct skeleton_step);
    struct skeleton_graph* compiled = malloc(sizeof *compiled + steps_size);
    if (!compiled)
        return tengine_error_set(TENGINE_ENOMEM, "SKELETON: out of memory for %d steps",
                                 (int)subgraph->node_num);
    subgraph->device_graph = compiled;
    compiled->step_num = subgraph->node_num;
    for (int i = 0; i < subgraph->node_num; ++i) {
        const struct node* node = get_ir_graph_node(subgraph->graph, subgraph->node_list[i]);
        TENGINE_RETURN_IF_ERROR(find_kernel(node, &compiled->steps[i]));
        TENGINE_RETURN_IF_ERROR(allocate_inner_tensors(subgraph, node));
    }
    return TENGINE_OK;
}

// Inputs are in tensor->data of the subgraph's input tensors and of constants; results go to
// tensor->data of its output tensors, which is set. Allocate nothing here. After a failure the
// default device runs the part, until the next prerun_graph; a call that does not return within the
// option run.watchdog_ms counts as a failure.
static int skeleton_run(struct device* device, struct subgraph* subgraph)
{
    (void)device;
    const struct skeleton_graph* compiled = subgraph->device_graph;
    for (int i = 0; i < compiled->step_num; ++i)
        TENGINE_RETURN_IF_ERROR(compiled->steps[i].run(compiled->steps[i].node));
    return TENGINE_OK;
}

// Release the objects of runs (queues, events) and keep device_graph.
static int skeleton_post_run(struct device* device, struct subgraph* subgraph)
{
    (void)device;
    (void)subgraph;
    return TENGINE_OK;
}

// ---- The device ----

// Open the hardware or its library. A failure here is reported with the device's name and stops
// init_tengine; a device that may be absent succeeds, and refuses every node in inspect instead.
static int skeleton_init(struct device* device)
{
    (void)device;
    return TENGINE_OK;
}

static int skeleton_release_device(struct device* device)
{
    (void)device;
    return TENGINE_OK;
}

// The entries that are missing here are optional: async_run and async_wait, save and load,
// features, check_option, measure, count, cancel, memory and option; evaluation, allocate and
// release, estimate; the optimizer and the scheduler. The core then uses the default. Without
// estimate the device keeps every part that it takes, even one whose transfers cost more than it
// saves.
static struct interface skeleton_interface = {
    .init = skeleton_init,
    .pre_run = skeleton_pre_run,
    .run = skeleton_run,
    .post_run = skeleton_post_run,
    .release_graph = skeleton_release_graph,
    .release_device = skeleton_release_device,
};

static struct allocator skeleton_allocator = {
    .describe = skeleton_describe,
    .inspect = skeleton_inspect,
};

static struct device skeleton_device = {
    .name = "SKELETON",
    .interface = &skeleton_interface,
    .allocator = &skeleton_allocator,
};

// Defines register_skeleton_device() and unregister_skeleton_device(), which the build calls.
TENGINE_DEFINE_DEVICE(skeleton, &skeleton_device);
