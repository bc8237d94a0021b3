// SPDX-License-Identifier: Apache-2.0
// A device that hosts custom operators, and an operator for it: y = atan(x + offset) by a table, as
// on a small processor. A plug-in: tengine run --plugin hosting_device.so ...
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "tengine/custom_op.h"
#include "tengine/plugin.h"

// ---- the operator ----

enum
{
    STEPS_OF_ONE = 256,
    STEPS = 8 * STEPS_OF_ONE
};
static float table[STEPS + 1];  // atan from 0 to 8

static float look_up(float x)
{
    const float place = fabsf(x) * STEPS_OF_ONE;
    const float y = place < STEPS ? table[(int)(place + 0.5f)] : table[STEPS];
    return x < 0 ? -y : y;
}

static int invoke(void* user_data, tengine_op_context_t* context)
{
    const float offset = tengine_op_float(context, "offset", 0.0f);
    const float* x = tengine_op_tensor_data(tengine_op_input(context, 0));
    tengine_op_tensor_t* output = tengine_op_output(context, 0);
    float* y = tengine_op_tensor_mutable_data(output);
    (void)user_data;
    for (int64_t i = 0; i < tengine_op_tensor_elements(output); ++i)
        y[i] = look_up(x[i] + offset);
    return 0;
}

static int register_operator(void)
{
    tengine_op_t* op = tengine_op_create("com.example", "OffsetAtan", 1, 1);
    if (!op) return -1;
    tengine_op_set_outputs_like(op, 0);
    tengine_op_set_invoke(op, invoke);
    int status = tengine_op_set_device(op, "DSP");
    if (status == 0) status = tengine_op_register(NULL, op);
    tengine_op_destroy(op);
    return status;
}

// ---- the device ----

// A part as pre_run has made it.
struct plan
{
    uint64_t scratch_size;  // the largest of its nodes
    void* allocated;
    char* scratch;  // aligned, within scratch
};

static int init_device(struct device* device)
{
    (void)device;
    for (int i = 0; i <= STEPS; ++i)
        table[i] = atanf((float)i / STEPS_OF_ONE);
    return 0;
}

static int describe(struct device* device, struct vector* allowed, struct vector* blocked,
                    struct vector* precision)
{
    const int custom = get_op_type("tengine", "Custom"), fp32 = TENGINE_DT_FP32;
    (void)device, (void)blocked;
    return push_vector_data(allowed, &custom) < 0 || push_vector_data(precision, &fp32) < 0
               ? TENGINE_ENOMEM
               : 0;
}

static struct node* get_node(const struct subgraph* part, int index)
{
    return get_ir_graph_node(part->graph, part->node_list[index]);
}

// Boundary tensors of the part have memory of their own.
static int prepare_node(struct node* node, struct plan* plan)
{
    uint64_t bytes;
    const int status = tengine_op_prepare_node(node, &bytes);
    if (status < 0) return status;
    if (bytes > plan->scratch_size) plan->scratch_size = bytes;
    for (int i = 0; i < node->output_num; ++i) {
        struct tensor* output = get_ir_node_output(node, i);
        if (output && !output->data && allocate_ir_tensor(output) < 0) return TENGINE_ENOMEM;
    }
    return 0;
}

static int fill_plan(const struct subgraph* part, struct plan* plan)
{
    for (int i = 0; i < part->node_num; ++i) {
        const int status = prepare_node(get_node(part, i), plan);
        if (status < 0) return status;
    }
    plan->allocated = malloc((size_t)plan->scratch_size + 63);
    if (!plan->allocated) return tengine_error_set(TENGINE_ENOMEM, "out of memory for temporaries");
    plan->scratch = (char*)(((uintptr_t)plan->allocated + 63) & ~(uintptr_t)63);
    return 0;
}

static int post_run(struct device* device, struct subgraph* part)
{
    struct plan* plan = part->device_graph;
    (void)device;
    part->device_graph = NULL;
    if (plan) free(plan->allocated);
    free(plan);
    return 0;
}

static int pre_run(struct device* device, struct subgraph* part, void* options)
{
    struct plan* plan = calloc(1, sizeof *plan);
    (void)options;
    if (!plan) return tengine_error_set(TENGINE_ENOMEM, "out of memory for a plan");
    part->device_graph = plan;
    const int status = fill_plan(part, plan);
    if (status < 0) post_run(device, part);
    return status;
}

static int run(struct device* device, struct subgraph* part)
{
    const struct plan* plan = part->device_graph;
    int status = 0;
    (void)device;
    for (int i = 0; i < part->node_num && status == 0; ++i)
        status = tengine_op_run_node(get_node(part, i), plan->scratch, plan->scratch_size);
    return status;
}

static int release_device(struct device* device)
{
    (void)device;
    return 0;
}

static struct interface interface = {
    .init = init_device,
    .pre_run = pre_run,
    .run = run,
    .post_run = post_run,
    .release_device = release_device,
};
static struct allocator allocator = {.describe = describe};
static struct device dsp = {.name = "DSP", .interface = &interface, .allocator = &allocator};

static int init(void)
{
    const int status = register_device(&dsp);
    return status < 0 ? status : register_operator();
}

TENGINE_PLUGIN("hosting_device", "1.0.0", init, NULL);
