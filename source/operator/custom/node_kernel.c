// SPDX-License-Identifier: Apache-2.0
// See node_kernel.h. kernel_tensors.c describes tensors for kernels.
#include "operator/custom/node_kernel.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/core.h"
#include "operator/custom/kernel_tensors.h"
#include "operator/infer.h"
#include "tengine/log.h"

static const custom_kernel_table_t node_kernel_table;

static node_kernel_t* get_node_kernel(const struct node* node)
{
    return (node_kernel_t*)node->core->custom_kernel;
}

static const char* get_name(const ir_custom_kernel_t* kernel)
{
    const char* name = ((const node_kernel_t*)kernel)->ops->kernel_name;
    return name && *name != '\0' ? name : "unnamed";
}

static bool tells_shapes(const ir_custom_kernel_t* kernel)
{
    return ((const node_kernel_t*)kernel)->ops->infer_shape;
}

// ---- putting it on, taking it off ----

// Whether a kernel for operator `wanted` matches the node: "Conv", "com.example.Fancy", or "Fancy".
static bool is_for_operator(const struct node* node, const char* wanted)
{
    const char* op = get_source_op(node);
    const char* bare = strrchr(op, '.');
    char full[256];
    snprintf(full, sizeof full, "%s.%s", get_ir_node_domain(node), op);
    return strcmp(wanted, op) == 0 || strcmp(wanted, get_ir_node_op(node)) == 0 ||
           strcmp(wanted, full) == 0 || (bare && strcmp(wanted, bare + 1) == 0);
}

static int check_ops(const struct node* node, const struct custom_kernel_ops* ops)
{
    const char* name = ops->kernel_name ? ops->kernel_name : "unnamed";
    if (has_kernel_for_one_shape(node))
        return fail_node(node, TENGINE_EEXIST,
                         "already has the custom kernel '%s'; remove_custom_kernel removes it",
                         get_kernel_name(node->core->custom_kernel));
    if (node->core->custom_kernel)
        return fail_node(node, TENGINE_ESTATE,
                         "is computed by a custom operator; it takes a custom kernel before the "
                         "first prerun_graph only");
    if (node->output_num == 0 && node->input_num == 0)
        return fail_node(node, TENGINE_EINVAL, "is not connected, so there is nothing to compute");
    if (node->op.method->tengine && (node->op.method->traits & OP_LEGACY) &&
        !node->op.method->lower)
        return fail_node(node, TENGINE_EINVAL,
                         "computes nothing that a custom kernel could replace");
    if (!ops->run)
        return fail_node(node, TENGINE_EINVAL, "custom kernel '%s' has no function run", name);
    if (ops->op && *ops->op != '\0' && !is_for_operator(node, ops->op))
        return fail_node(node, TENGINE_EINVAL,
                         "custom kernel '%s' is for operator '%s', the node is a '%s'", name,
                         ops->op, get_source_op(node));
    return TENGINE_OK;
}

int add_node_kernel(struct node* node, struct custom_kernel_ops* ops)
{
    TENGINE_RETURN_IF_ERROR(check_ops(node, ops));
    node_kernel_t* kernel = alloc_memory(sizeof *kernel);
    if (!kernel) return fail_node(node, TENGINE_ENOMEM, "out of memory for a custom kernel");
    kernel->base = (ir_custom_kernel_t){
        .table = &node_kernel_table, .node = node, .device = ir_default_device_name};
    kernel->ops = ops;
    add_custom_kernel(node, &kernel->base);
    return TENGINE_OK;
}

// ---- calls ----

typedef int (*kernel_call_t)(struct custom_kernel_ops* ops, struct custom_kernel_tensor* inputs[],
                             int input_num, struct custom_kernel_tensor* outputs[], int output_num);

// Calls a function of the kernel; an absent one succeeds.
static int call(node_kernel_t* kernel, const char* function, kernel_call_t entry)
{
    if (!entry) return TENGINE_OK;
    const ir_kernel_tensors_t* tensors = &kernel->tensors;
    tengine_error_clear();
    const int returned = entry(kernel->ops, tensors->inputs, tensors->input_num, tensors->outputs,
                               tensors->output_num);
    return returned == 0 ? TENGINE_OK : fail_kernel_call(&kernel->base, function, returned, "");
}

static int call_prerun(node_kernel_t* kernel, bool dynamic_shape)
{
    const struct custom_kernel_ops* ops = kernel->ops;
    if (!ops->prerun) return TENGINE_OK;
    const ir_kernel_tensors_t* tensors = &kernel->tensors;
    tengine_error_clear();
    const int returned = ops->prerun(kernel->ops, tensors->inputs, tensors->input_num,
                                     tensors->outputs, tensors->output_num, dynamic_shape);
    return returned == 0 ? TENGINE_OK : fail_kernel_call(&kernel->base, "prerun", returned, "");
}

static int undo_preparation(node_kernel_t* kernel)
{
    if (!kernel->prepared) return TENGINE_OK;
    kernel->prepared = false;
    const int status = call(kernel, "postrun", kernel->ops->postrun);
    free_kernel_tensors(&kernel->tensors);
    return status;
}

static int finish(ir_custom_kernel_t* base)
{
    node_kernel_t* kernel = (node_kernel_t*)base;
    return kernel->attached ? TENGINE_OK : undo_preparation(kernel);
}

// ---- shapes ----

// Eight dimensions and the 0 after them.
typedef int kernel_shape_t[MAX_SHAPE_DIM_NUM + 1];

static int take_shape(struct node* node, int index, const int* shape)
{
    struct tensor* output = get_ir_node_output(node, index);
    int rank = 0;
    if (!output) return TENGINE_OK;
    for (; rank < MAX_SHAPE_DIM_NUM && shape[rank] != 0; ++rank)
        if (shape[rank] < 0)
            return tengine_error_set(TENGINE_ERANGE,
                                     "%s '%s': infer_shape of custom kernel '%s' gave output %d "
                                     "the dimension %d",
                                     get_source_op(node->core->custom_kernel->node), node->name,
                                     get_kernel_name(node->core->custom_kernel), index,
                                     shape[rank]);
    return set_ir_tensor_shape(output, shape, rank);
}

static int call_infer_shape(struct node* node, kernel_shape_t* shapes, int** lists)
{
    struct custom_kernel_ops* ops = get_node_kernel(node)->ops;
    for (int i = 0; i < node->input_num; ++i) {
        const struct tensor* input = get_ir_node_input(node, i);
        if (input) memcpy(shapes[i], input->dims, sizeof *input->dims * input->dim_num);
        lists[i] = !input ? NULL : shapes[i];
    }
    for (int i = node->input_num; i < node->input_num + node->output_num; ++i)
        lists[i] = shapes[i];
    tengine_error_clear();
    const int returned =
        ops->infer_shape(ops, (const int**)lists, node->input_num, lists + node->input_num,
                         node->output_num, node->graph->graph_layout);
    if (returned != 0)
        return fail_kernel_call(node->core->custom_kernel, "infer_shape", returned, "");
    for (int i = 0; i < node->output_num; ++i)
        TENGINE_RETURN_IF_ERROR(take_shape(node, i, shapes[node->input_num + i]));
    return TENGINE_OK;
}

static int infer_shapes(struct node* node)
{
    const size_t number = (size_t)node->input_num + (size_t)node->output_num;
    kernel_shape_t* shapes = alloc_memory(sizeof *shapes * number);
    int** lists = alloc_memory(sizeof *lists * number);
    const int status = shapes && lists
                           ? call_infer_shape(node, shapes, lists)
                           : fail_node(node, TENGINE_ENOMEM, "out of memory for shapes");
    free_memory(shapes);
    free_memory(lists);
    return status;
}

// ---- bind ----

static int refuse_node(node_kernel_t* kernel, int returned)
{
    if (kernel->ops->force) return fail_kernel_call(&kernel->base, "bind", returned, "");
    if (is_open_node(kernel->base.node))
        return fail_kernel_call(&kernel->base, "bind", returned,
                                ", and this operator has no other kernel");
    kernel->base.refused = true;
    TLOG_NOTICE("%s '%s': bind of custom kernel '%s' returned %d; the built-in operator runs",
                get_source_op(kernel->base.node), kernel->base.node->name, get_name(&kernel->base),
                returned);
    return TENGINE_OK;
}

static int ask_bind(const struct node* node)
{
    node_kernel_t* kernel = get_node_kernel(node);
    struct custom_kernel_ops* ops = kernel->ops;
    ir_kernel_tensors_t tensors = {0};
    if (!ops->bind) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(make_kernel_tensors(node, &tensors));
    tengine_error_clear();
    const int returned =
        ops->bind(ops, (const struct custom_kernel_tensor**)tensors.inputs, tensors.input_num,
                  (const struct custom_kernel_tensor**)tensors.outputs, tensors.output_num);
    free_kernel_tensors(&tensors);
    return returned == 0 ? TENGINE_OK : refuse_node(kernel, returned);
}

// ---- preparation and run ----

static void take_tensors(node_kernel_t* kernel, const ir_kernel_tensors_t* tensors)
{
    free_kernel_tensors(&kernel->tensors);
    kernel->tensors = *tensors;
}

static int prepare_again(node_kernel_t* kernel, const ir_kernel_tensors_t* tensors,
                         bool dynamic_shape)
{
    const int status = undo_preparation(kernel);
    take_tensors(kernel, tensors);
    TENGINE_RETURN_IF_ERROR(status);
    TENGINE_RETURN_IF_ERROR(call_prerun(kernel, dynamic_shape));
    kernel->prepared = true;
    return TENGINE_OK;
}

static int attach(const struct node* node, uint64_t* out_scratch)
{
    (void)out_scratch;
    node_kernel_t* kernel = get_node_kernel(node);
    ir_kernel_tensors_t tensors = {0};
    TENGINE_RETURN_IF_ERROR(make_kernel_tensors(node, &tensors));
    const kernel_change_t change = kernel->prepared
                                       ? compare_kernel_tensors(&kernel->tensors, &tensors)
                                       : KERNEL_TENSORS_OTHER;
    // If shapes are the same, only constants can have changed, which runs do not change.
    const bool keeps = change == KERNEL_TENSORS_SAME && node->dynamic_shape;
    const bool reshapes = change == KERNEL_TENSORS_RESHAPED && kernel->ops->reshape;
    int status = TENGINE_OK;
    if (keeps || reshapes)
        take_tensors(kernel, &tensors);
    else
        status = prepare_again(kernel, &tensors, node->dynamic_shape);
    if (reshapes) status = call(kernel, "reshape", kernel->ops->reshape);
    kernel->attached = status == TENGINE_OK;
    return status;
}

static void detach(ir_custom_kernel_t* base)
{
    node_kernel_t* kernel = (node_kernel_t*)base;
    kernel->attached = false;
    clear_kernel_data(&kernel->tensors);
}

static int run(const struct node* node, void* scratch, uint64_t scratch_size)
{
    (void)scratch, (void)scratch_size;
    node_kernel_t* kernel = get_node_kernel(node);
    set_kernel_data(node, &kernel->tensors);
    return call(kernel, "run", kernel->ops->run);
}

static int ask_in_place(const struct node* node, int output)
{
    struct custom_kernel_ops* ops = get_node_kernel(node)->ops;
    const int input = !ops->inplace_info ? -1 : ops->inplace_info(ops, output);
    return input < node->input_num ? input : -1;
}

// Two outputs cannot use the same memory: the first that names an input gets it.
static int find_in_place(const struct node* node, int output)
{
    const int input = ask_in_place(node, output);
    for (int i = 0; i < output && input >= 0; ++i)
        if (ask_in_place(node, i) == input) return -1;
    return input;
}

// Ends the kernel's life.
static int release(ir_custom_kernel_t* base)
{
    node_kernel_t* kernel = (node_kernel_t*)base;
    const int status = finish(base);
    if (kernel->ops->release) kernel->ops->release(kernel->ops);
    free_memory(kernel);
    return status;
}

static const custom_kernel_table_t node_kernel_table = {
    .kind = "custom kernel",
    .is_for_one_shape = true,
    .get_name = get_name,
    .tells_shapes = tells_shapes,
    .infer = infer_shapes,
    .bind = ask_bind,
    .attach = attach,
    .detach = detach,
    .run = run,
    .find_in_place = find_in_place,
    .finish = finish,
    .release = release,
};
