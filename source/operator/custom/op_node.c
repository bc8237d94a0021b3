// SPDX-License-Identifier: Apache-2.0
// See op_node.h. The functions that callbacks call are in op_context.c.
#include "operator/custom/op_node.h"

#include <string.h>

#include "base/alloc.h"
#include "graph/body.h"
#include "graph/core.h"
#include "graph/graph.h"
#include "graph/preparation.h"
#include "graph/run_state.h"
#include "operator/custom/completion.h"
#include "operator/infer.h"
#include "operator/param.h"
#include "tengine/log.h"

static const custom_kernel_table_t op_node_table;

static tengine_op_context_t* get_context(const struct node* node)
{
    return (tengine_op_context_t*)node->core->custom_kernel;
}

static const char* get_name(const ir_custom_kernel_t* kernel)
{
    return ((const tengine_op_context_t*)kernel)->op->full_name;
}

static bool tells_shapes(const ir_custom_kernel_t* kernel)
{
    (void)kernel;
    return true;
}

static bool is_async(const ir_custom_kernel_t* kernel)
{
    return ((const tengine_op_context_t*)kernel)->op->invoke_async;
}

// ---- the tensors of a call ----

static int reserve_tensors(tengine_op_context_t* context, const struct node* node)
{
    const int number = node->input_num + node->output_num;
    if (context->tensors && number == context->tensor_num) return TENGINE_OK;
    struct tengine_op_tensor* tensors = alloc_memory(sizeof *tensors * (size_t)number);
    if (!tensors) return fail_node(node, TENGINE_ENOMEM, "out of memory for %d tensors", number);
    free_memory(context->tensors);
    context->tensors = tensors;
    context->tensor_num = number;
    return TENGINE_OK;
}

static void take_tensors(tengine_op_context_t* context, const struct node* node)
{
    for (int i = 0; i < context->tensor_num; ++i) {
        struct tengine_op_tensor* slot = &context->tensors[i];
        slot->is_output = i >= node->input_num;
        slot->tensor = slot->is_output ? get_ir_node_output(node, i - node->input_num)
                                       : get_ir_node_input(node, i);
        slot->context = context;
    }
    context->node = node;
}

static struct tengine_op_tensor* get_output_slot(const tengine_op_context_t* context, int index)
{
    return &context->tensors[context->node->input_num + index];
}

// ---- calls ----

static int end_call(tengine_op_context_t* context, const char* callback, int returned)
{
    context->call = OP_CALL_NONE;
    return returned == 0 ? TENGINE_OK : fail_kernel_call(&context->kernel, callback, returned, "");
}

static int call_init(tengine_op_context_t* context)
{
    if (!context->op->init) return TENGINE_OK;
    void* state = NULL;
    tengine_error_clear();
    context->call = OP_CALL_INIT;
    const int returned = context->op->init(context->op->user_data, context, &state);
    TENGINE_RETURN_IF_ERROR(end_call(context, "init", returned));
    context->state = state;
    return TENGINE_OK;
}

static int call_prepare(tengine_op_context_t* context)
{
    if (!context->op->prepare) return TENGINE_OK;
    tengine_error_clear();
    context->call = OP_CALL_PREPARE;
    return end_call(context, "prepare", context->op->prepare(context->op->user_data, context));
}

static int call_invoke_async(tengine_op_context_t* context)
{
    ir_completion_t completion;
    open_completion(&completion);
    const int returned =
        context->op->invoke_async(context->op->user_data, context, completion.number);
    if (returned == 0)
        return end_call(context, "completion of invoke_async", wait_for_completion(&completion));
    withdraw_completion(&completion);
    return end_call(context, "invoke_async", returned);
}

static void cancel_invoke(void* subject)
{
    tengine_op_context_t* context = subject;
    context->op->cancel(context->op->user_data, context);
}

static int call_invoke(tengine_op_context_t* context, char* scratch)
{
    ir_call_t call;
    ir_run_t* run = context->op->cancel ? context->node->graph->core->run : NULL;
    TENGINE_RETURN_IF_ERROR(begin_ir_call(run, cancel_invoke, context, &call));
    tengine_error_clear();
    context->call = OP_CALL_INVOKE;
    context->scratch = scratch;
    const int status =
        context->op->invoke_async
            ? call_invoke_async(context)
            : end_call(context, "invoke", context->op->invoke(context->op->user_data, context));
    end_ir_call(&call);
    return status;
}

// ---- prepare ----

// A constant that depends on shapes (folded from Shape) has other values, and memory, in each
// preparation.
static const void* get_constant(const struct tensor* tensor)
{
    return tensor->tensor_type == TENSOR_TYPE_CONST ? tensor->data : NULL;
}

static void note_inputs(tengine_op_context_t* context)
{
    for (int i = 0; i < context->node->input_num; ++i) {
        struct tengine_op_tensor* slot = &context->tensors[i];
        if (!slot->tensor) continue;
        slot->prepared_type = slot->tensor->data_type;
        slot->prepared_rank = slot->tensor->dim_num;
        memcpy(slot->prepared_dims, slot->tensor->dims, sizeof slot->prepared_dims);
        slot->prepared_constant = get_constant(slot->tensor);
    }
}

static bool is_as_noted(const struct tengine_op_tensor* slot, const struct tensor* tensor)
{
    return slot->prepared_type == tensor->data_type && slot->prepared_rank == tensor->dim_num &&
           slot->prepared_constant == get_constant(tensor) &&
           memcmp(slot->prepared_dims, tensor->dims, sizeof *tensor->dims * tensor->dim_num) == 0;
}

static bool is_prepared_for(const tengine_op_context_t* context, const struct node* node)
{
    if (context->tensor_num != node->input_num + node->output_num) return false;
    for (int i = 0; i < node->input_num; ++i) {
        const struct tensor* input = get_ir_node_input(node, i);
        if (input && !is_as_noted(&context->tensors[i], input)) return false;
    }
    return true;
}

// Outputs have the type that the model declares, or that of the first input.
static int set_default_types(const struct node* node)
{
    const struct tensor* first = get_ir_node_input(node, 0);
    for (int i = 0; i < node->output_num; ++i) {
        struct tensor* output = get_ir_node_output(node, i);
        if (output && output->data_type == TENGINE_DT_UNKNOWN && first)
            TENGINE_RETURN_IF_ERROR(set_ir_tensor_data_type(output, first->data_type));
    }
    return TENGINE_OK;
}

// Shapes may be known at run time only; types must be known before.
static int check_types(const struct node* node)
{
    for (int i = 0; i < node->output_num; ++i) {
        const struct tensor* output = get_ir_node_output(node, i);
        if (!output || output->data_type != TENGINE_DT_UNKNOWN) continue;
        return tengine_error_set(
            TENGINE_EDTYPE,
            "%s '%s': the type of output '%s' is not known before the run: expected "
            "one from the model or its first input",
            get_name(node->core->custom_kernel), node->name, output->name);
    }
    return OP_SHAPE_LATER;
}

static int set_outputs_like(tengine_op_context_t* context)
{
    const int input = context->op->like_input;
    if (input < 0) return TENGINE_OK;
    context->call = OP_CALL_PREPARE;
    const tengine_op_tensor_t* like = tengine_op_input(context, input);
    int status = like ? TENGINE_OK
                      : tengine_error_set(TENGINE_EINVAL,
                                          "%s '%s': its outputs are like input %d, which is absent",
                                          context->op->full_name, context->node->name, input);
    for (int i = 0; i < context->node->output_num && status == TENGINE_OK; ++i)
        status = tengine_op_set_output_like(context, i, like);
    context->call = OP_CALL_NONE;
    return status;
}

static int check_outputs(const tengine_op_context_t* context)
{
    for (int i = 0; i < context->node->output_num; ++i) {
        const struct tengine_op_tensor* slot = get_output_slot(context, i);
        if (!slot->tensor) continue;
        const char* missing = slot->tensor->data_type == TENGINE_DT_UNKNOWN ? "type"
                              : !slot->is_sized && !slot->is_dynamic        ? "size"
                                                                            : NULL;
        if (missing)
            return tengine_error_set(TENGINE_EINVAL,
                                     "%s '%s': prepare of custom operator '%s' gave output %d, "
                                     "'%s', no %s",
                                     get_source_op(context->kernel.node), context->node->name,
                                     context->op->full_name, i, slot->tensor->name, missing);
    }
    return TENGINE_OK;
}

static int prepare(tengine_op_context_t* context, const struct node* node)
{
    TENGINE_RETURN_IF_ERROR(reserve_tensors(context, node));
    take_tensors(context, node);
    for (int i = 0; i < node->output_num; ++i)
        get_output_slot(context, i)->is_sized = get_output_slot(context, i)->is_dynamic = false;
    if (context->temporaries) resize_vector(context->temporaries, 0);
    context->temporary_bytes = 0;
    for (int i = 0; i < node->input_num; ++i)
        context->tensors[i].prepared_type = TENGINE_DT_UNKNOWN;  // until it succeeds
    TENGINE_RETURN_IF_ERROR(set_outputs_like(context));
    TENGINE_RETURN_IF_ERROR(call_prepare(context));
    TENGINE_RETURN_IF_ERROR(check_outputs(context));
    note_inputs(context);
    return TENGINE_OK;
}

static bool has_dynamic_output(const tengine_op_context_t* context)
{
    for (int i = 0; i < context->node->output_num; ++i)
        if (get_output_slot(context, i)->tensor && get_output_slot(context, i)->is_dynamic)
            return true;
    return false;
}

// Called for the execution graph, and for dynamic nodes in a run.
static int infer(struct node* node)
{
    tengine_op_context_t* context = get_context(node);
    TENGINE_RETURN_IF_ERROR(set_default_types(node));
    if (find_ir_unknown_input(node)) return check_types(node);
    context->is_settled = false;
    context->is_running = node->dynamic_shape != 0;
    TENGINE_RETURN_IF_ERROR(prepare(context, node));
    return has_dynamic_output(context) ? OP_SHAPE_LATER : TENGINE_OK;
}

// A plan that is used again may have other shapes than the last preparation.
static int prepare_again(tengine_op_context_t* context, const struct node* node)
{
    context->is_settled = true;
    return prepare(context, node);
}

// ---- run ----

static int attach(const struct node* node, uint64_t* out_scratch)
{
    tengine_op_context_t* context = get_context(node);
    if (!is_prepared_for(context, node)) TENGINE_RETURN_IF_ERROR(prepare_again(context, node));
    *out_scratch = context->temporary_bytes;
    return TENGINE_OK;
}

static int allocate_output(const struct node* node, struct tensor* output)
{
    const int64_t bytes = (int64_t)get_ir_tensor_bytes(output);
    TENGINE_RETURN_IF_ERROR(check_ir_memory(node->graph, bytes, node->name));
    return allocate_ir_tensor(output);
}

static int allocate_outputs(const tengine_op_context_t* context)
{
    for (int i = 0; i < context->node->output_num; ++i) {
        struct tengine_op_tensor* slot = get_output_slot(context, i);
        if (!slot->tensor) continue;
        if (slot->is_dynamic)
            release_ir_tensor_data(slot->tensor);
        else
            TENGINE_RETURN_IF_ERROR(allocate_output(context->node, slot->tensor));
    }
    return TENGINE_OK;
}

static int check_sized(const tengine_op_context_t* context)
{
    for (int i = 0; i < context->node->output_num; ++i) {
        const struct tengine_op_tensor* slot = get_output_slot(context, i);
        if (!slot->tensor || slot->is_sized) continue;
        return tengine_error_set(TENGINE_EDEVICE,
                                 "%s '%s': invoke of custom operator '%s' gave output %d, '%s', no "
                                 "size",
                                 get_source_op(context->kernel.node), context->node->name,
                                 context->op->full_name, i, slot->tensor->name);
    }
    return TENGINE_OK;
}

static int run(const struct node* node, void* scratch, uint64_t scratch_size)
{
    tengine_op_context_t* context = get_context(node);
    if (!is_prepared_for(context, node)) TENGINE_RETURN_IF_ERROR(prepare_again(context, node));
    if (context->temporary_bytes > scratch_size)
        return fail_node(node, TENGINE_ESTATE,
                         "prepare of custom operator '%s' requested temporaries of %llu bytes, "
                         "expected at most %llu as before for these inputs",
                         context->op->full_name, (unsigned long long)context->temporary_bytes,
                         (unsigned long long)scratch_size);
    take_tensors(context, node);
    for (int i = 0; i < node->output_num; ++i)
        if (get_output_slot(context, i)->is_dynamic) get_output_slot(context, i)->is_sized = false;
    if (node->dynamic_shape) TENGINE_RETURN_IF_ERROR(allocate_outputs(context));
    TENGINE_RETURN_IF_ERROR(call_invoke(context, scratch));
    return check_sized(context);
}

// ---- life ----

static void free_context(tengine_op_context_t* context)
{
    release_custom_op(context->op);
    release_vector(context->temporaries);
    free_memory(context->attribute_map);
    free_memory(context->tensors);
    free_memory(context);
}

static int release(ir_custom_kernel_t* kernel)
{
    tengine_op_context_t* context = (tengine_op_context_t*)kernel;
    if (context->op->init && context->op->free)
        context->op->free(context->op->user_data, context->state);
    free_context(context);
    return TENGINE_OK;
}

static const custom_kernel_table_t op_node_table = {
    .kind = "custom operator",
    .get_name = get_name,
    .tells_shapes = tells_shapes,
    .infer = infer,
    .settles_types = true,
    .allocates_outputs = true,
    .attach = attach,
    .run = run,
    .is_async = is_async,
    .release = release,
};

// The node owns the hold on the operator from then on.
static int give_op(struct node* node, tengine_op_t* op)
{
    tengine_op_context_t* context = alloc_memory(sizeof *context);
    if (!context) {
        const int status = fail_node(node, TENGINE_ENOMEM, "out of memory for custom operator '%s'",
                                     op->full_name);
        release_custom_op(op);
        return status;
    }
    context->kernel = (ir_custom_kernel_t){
        .table = &op_node_table, .node = node, .device = get_custom_op_device(op)};
    context->op = op;
    context->node = node;
    const int status = call_init(context);
    if (status == TENGINE_OK)
        add_custom_kernel(node, &context->kernel);
    else
        free_context(context);
    return status;
}

// Whether the operator computes; those of inputs and constants do not.
static bool computes_something(const struct node* node)
{
    const ir_method_t* method = node->op.method;
    return !(method->tengine && (method->traits & OP_LEGACY) && !method->lower);
}

// "com.example.Atan" of unknown nodes: the domain ends at the last dot.
static tengine_op_t* hold_named_op(const struct context* context, const char* full_name,
                                   int version, const tengine_op_t* last)
{
    char domain[256] = "";
    const char* dot = strrchr(full_name, '.');
    const size_t length = dot ? (size_t)(dot - full_name) : 0;
    if (length >= sizeof domain) return NULL;
    memcpy(domain, full_name, length);
    return hold_custom_op(context, domain, dot ? dot + 1 : full_name, version, last);
}

static tengine_op_t* hold_op_for(const struct context* context, const struct node* node,
                                 const tengine_op_t* last)
{
    if (!is_open_node(node))
        return hold_custom_op(context, get_ir_node_domain(node), get_ir_node_op(node),
                              node->op.version, last);
    return hold_named_op(context, get_source_op(node),
                         (int)get_ir_node_int(node, "domain_version", 0), last);
}

// Leaves the node to the library's operator, for graphs that do not use the device.
static void leave_to_library(struct node* node)
{
    TLOG_NOTICE("%s '%s': stays the library's: the custom operator is for %s, and none is for %s",
                get_source_op(node), node->name, node->core->custom_kernel->device,
                ir_default_device_name);
    remove_node_kernels(node);
}

// Gives the node the operators of all devices, or none.
static int give_ops(const struct context* context, struct node* node)
{
    int status = TENGINE_OK;
    tengine_op_t* op = hold_op_for(context, node, NULL);
    while (op && status == TENGINE_OK) {
        status = give_op(node, op);
        if (status == TENGINE_OK) op = hold_op_for(context, node, op);
    }
    if (status < 0)
        remove_node_kernels(node);
    else if (node->core->custom_kernel && !is_open_node(node) &&
             !find_custom_kernel(node, ir_default_device_name))
        leave_to_library(node);
    return status;
}

// The bodies of a graph use its context.
static int give_ops_in(const struct context* context, struct node* node, bool only_unknown)
{
    const ir_bodies_t* bodies = node->core->bodies;
    for (int k = 0; bodies && k < bodies->num; ++k) {
        const struct graph* body = bodies->list[k].graph;
        for (int i = 0; i < body->node_num; ++i)
            TENGINE_RETURN_IF_ERROR(give_ops_in(context, body->node_list[i], only_unknown));
    }
    if (node->core->custom_kernel || !computes_something(node)) return TENGINE_OK;
    if (only_unknown && !is_open_node(node)) return TENGINE_OK;
    return give_ops(context, node);
}

int give_custom_ops(const struct graph* source, const int32_t nodes[], int node_num,
                    bool only_unknown)
{
    for (int i = 0; i < node_num; ++i)
        TENGINE_RETURN_IF_ERROR(
            give_ops_in(source->attribute->context, source->node_list[nodes[i]], only_unknown));
    return TENGINE_OK;
}
