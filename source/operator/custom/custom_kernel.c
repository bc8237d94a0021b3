// SPDX-License-Identifier: Apache-2.0
// See custom_kernel.h.
#include "operator/custom/custom_kernel.h"

#include <stdio.h>
#include <string.h>

#include "graph/core.h"
#include "operator/param.h"
#include "tengine/custom_op.h"

const char* get_kernel_name(const ir_custom_kernel_t* kernel)
{
    return kernel->table->get_name(kernel);
}

bool is_open_node(const struct node* node)
{
    return (node->op.method->traits & OP_OPEN) != 0;
}

const char* get_source_op(const struct node* node)
{
    return is_open_node(node) ? get_ir_node_text(node, "op_name", get_ir_node_op(node))
                              : get_ir_node_op(node);
}

int fail_kernel_call(const ir_custom_kernel_t* kernel, const char* function, int returned,
                     const char* consequence)
{
    const char* op = get_source_op(kernel->node);
    const char* node = kernel->node->name;
    const char* kind = kernel->table->kind;
    const int recorded = tengine_error_code();
    if (recorded != 0)
        return tengine_error_set(recorded, "%s '%s': %s of %s '%s': %s", op, node, function, kind,
                                 get_kernel_name(kernel), tengine_error_message());
    // A kernel for Tengine Lite can only return -1.
    return tengine_error_set(returned < -1 ? returned : TENGINE_EDEVICE,
                             "%s '%s': %s of %s '%s' returned %d%s", op, node, function, kind,
                             get_kernel_name(kernel), returned, consequence);
}

static const custom_kernel_table_t* get_table(const struct node* node)
{
    return node->core->custom_kernel->table;
}

int infer_custom_shapes(struct node* node)
{
    return get_table(node)->infer(node);
}

int bind_custom_kernel(const struct node* node)
{
    return get_table(node)->bind ? get_table(node)->bind(node) : TENGINE_OK;
}

ir_custom_kernel_t* find_custom_kernel(const struct node* node, const char* device)
{
    ir_custom_kernel_t* kernel = node->core->custom_kernel;
    while (kernel && strcmp(kernel->device, device) != 0)
        kernel = kernel->next;
    return kernel;
}

bool has_kernel_for_one_shape(const struct node* node)
{
    return node->core->custom_kernel && node->core->custom_kernel->table->is_for_one_shape;
}

bool has_custom_kernels(const struct subgraph* part)
{
    for (int i = 0; i < part->node_num; ++i)
        if (part->graph->node_list[part->node_list[i]]->core->custom_kernel) return true;
    return false;
}

static int check_custom_node(const struct node* node, const char* function)
{
    if (node && node->core->custom_kernel) return TENGINE_OK;
    return tengine_error_set(TENGINE_EINVAL, "%s: %s", function,
                             node ? "the node has no custom operator" : "node is NULL");
}

int tengine_op_prepare_node(const struct node* node, uint64_t* out_scratch)
{
    TENGINE_RETURN_IF_ERROR(check_custom_node(node, __func__));
    if (!out_scratch) return tengine_error_set(TENGINE_EINVAL, "%s: out_scratch is NULL", __func__);
    *out_scratch = 0;
    return get_table(node)->attach(node, out_scratch);
}

int tengine_op_run_node(const struct node* node, void* scratch, uint64_t scratch_size)
{
    TENGINE_RETURN_IF_ERROR(check_custom_node(node, __func__));
    return get_table(node)->run(node, scratch, scratch_size);
}

void detach_custom_kernel(ir_custom_kernel_t* kernel)
{
    if (kernel->table->detach) kernel->table->detach(kernel);
}

bool is_async_node(const struct node* node)
{
    const ir_custom_kernel_t* kernel = find_custom_kernel(node, node->device->name);
    return kernel && kernel->table->is_async && kernel->table->is_async(kernel);
}

int find_custom_in_place(const struct node* node, int output)
{
    return get_table(node)->find_in_place ? get_table(node)->find_in_place(node, output) : -1;
}

int finish_custom_kernel(ir_custom_kernel_t* kernel)
{
    return kernel->table->finish ? kernel->table->finish(kernel) : TENGINE_OK;
}

void add_custom_kernel(struct node* node, ir_custom_kernel_t* kernel)
{
    ir_custom_kernel_t** place = &node->core->custom_kernel;
    const bool is_first = strcmp(kernel->device, ir_default_device_name) == 0;
    while (*place && !is_first)
        place = &(*place)->next;
    kernel->next = *place;
    *place = kernel;
}

int remove_node_kernels(struct node* node)
{
    int status = TENGINE_OK;
    while (node->core->custom_kernel) {
        ir_custom_kernel_t* kernel = node->core->custom_kernel;
        node->core->custom_kernel = kernel->next;
        const int released = kernel->table->release(kernel);
        if (released < 0) status = released;
    }
    return status;
}
