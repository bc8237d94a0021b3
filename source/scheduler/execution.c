// SPDX-License-Identifier: Apache-2.0
// Between the source graph, which the user holds, and the execution graph, which runs: states,
// input and output memory, shapes handed back.
#include <string.h>

#include "graph/context.h"
#include "graph/graph.h"
#include "optimizer/optimizer.h"
#include "scheduler/scheduler.h"

static struct scheduler* scheduler_of(const struct graph* graph)
{
    const ir_context_t* context = graph->attribute->context;
    return context && context->scheduler ? context->scheduler : find_default_scheduler();
}

static bool has_same_shape(const struct tensor* a, const struct tensor* b)
{
    return a->shape_set == b->shape_set && a->dim_num == b->dim_num &&
           memcmp(a->dims, b->dims, sizeof(int) * a->dim_num) == 0;
}

static bool is_user_memory(const struct tensor* tensor)
{
    return tensor->data && !tensor->internal_allocated;
}

// The source tensor learns type and shape. A buffer the user gave for another size is let go.
static int publish_shape(struct tensor* source, const struct tensor* made)
{
    if (source->tensor_type != TENSOR_TYPE_VAR) return TENGINE_OK;
    const size_t old_bytes = get_ir_tensor_bytes(source);
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_data_type(source, made->data_type));
    if (made->shape_set)
        TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(source, made->dims, made->dim_num));
    else
        source->shape_set = 0;
    if (is_user_memory(source) && get_ir_tensor_bytes(source) != old_bytes) {
        TLOG_WARNING("tensor '%s' now has %zu bytes: its buffer of %zu bytes is no longer used",
                     source->name, get_ir_tensor_bytes(source), old_bytes);
        release_ir_tensor_data(source);
    }
    return TENGINE_OK;
}

static void publish_data(struct tensor* source, const struct tensor* made)
{
    if (source->tensor_type != TENSOR_TYPE_VAR || is_user_memory(source)) return;
    source->data = made->data;
    source->internal_allocated = made->data != NULL;
}

static int publish_results(struct graph* source, const struct graph* execution)
{
    for (int i = 0; i < execution->tensor_num; i++) {
        const struct tensor* made = execution->tensor_list[i];
        if (made->source_index >= 0)
            TENGINE_RETURN_IF_ERROR(publish_shape(source->tensor_list[made->source_index], made));
    }
    for (int i = 0; i < execution->output_tensor_num; i++) {
        const struct tensor* made = execution->tensor_list[execution->output_tensors[i]];
        publish_data(source->tensor_list[source->output_tensors[i]], made);
    }
    return TENGINE_OK;
}

static void withdraw_results(struct graph* source)
{
    for (int i = 0; i < source->tensor_num; i++) {
        struct tensor* tensor = source->tensor_list[i];
        if (tensor->internal_allocated) release_ir_tensor_data(tensor);
    }
}

int prerun_ir_graph(struct graph* source, const ir_run_options_t* options)
{
    if (source->status == IR_GRAPH_RUNNING)
        return tengine_error_set(TENGINE_ESTATE, "graph '%s' is running", source->name);
    TENGINE_RETURN_IF_ERROR(postrun_ir_graph(source));
    struct graph* execution = NULL;
    TENGINE_RETURN_IF_ERROR(create_execution_graph(source, options, &execution));
    struct scheduler* scheduler = scheduler_of(execution);
    source->execution = execution;
    int status = scheduler->prerun(scheduler, execution);
    if (status == TENGINE_OK) status = publish_results(source, execution);
    if (status < 0) {
        // The sentence of the failure must survive the cleaning up.
        char cause[1024];
        const int code = tengine_error_code();
        strncpy(cause, tengine_error_message(), sizeof(cause) - 1);
        cause[sizeof(cause) - 1] = '\0';
        postrun_ir_graph(source);
        return tengine_error_set(code, "%s", cause);
    }
    source->status = IR_GRAPH_READY;
    return TENGINE_OK;
}

static int bind_inputs(const struct graph* source, const struct graph* execution)
{
    for (int i = 0; i < source->input_tensor_num; i++) {
        const struct tensor* given = source->tensor_list[source->input_tensors[i]];
        struct tensor* input = execution->tensor_list[execution->input_tensors[i]];
        if (!has_same_shape(given, input) || given->data_type != input->data_type)
            return tengine_error_set(TENGINE_ESTATE,
                                     "input '%s' has another shape or type than at prerun; call "
                                     "prerun_graph again",
                                     given->name);
        if (!given->data && given->elem_num > 0)
            return tengine_error_set(TENGINE_EINVAL,
                                     "input '%s' has no data; give it %zu bytes with "
                                     "set_tensor_buffer or set_tensor_data",
                                     given->name, get_ir_tensor_bytes(given));
        input->data = given->data;
    }
    return TENGINE_OK;
}

static void bind_outputs(const struct graph* source, const struct graph* execution)
{
    for (int i = 0; i < source->output_tensor_num; i++) {
        const struct tensor* wanted = source->tensor_list[source->output_tensors[i]];
        struct tensor* output = execution->tensor_list[execution->output_tensors[i]];
        if (output->producer < 0 || !is_user_memory(wanted)) continue;
        if (is_ir_tensor_shape_known(output)) set_ir_tensor_data(output, wanted->data, false);
    }
}

// After a run: outputs no node writes are copied into the user's buffers, and outputs whose shape
// only the run could tell are handed over.
static int collect_outputs(struct graph* source, const struct graph* execution)
{
    for (int i = 0; i < source->output_tensor_num; i++) {
        struct tensor* wanted = source->tensor_list[source->output_tensors[i]];
        const struct tensor* output = execution->tensor_list[execution->output_tensors[i]];
        if (wanted->tensor_type != TENSOR_TYPE_VAR) continue;
        if (output->free_host_mem && output->producer >= 0) {
            TENGINE_RETURN_IF_ERROR(publish_shape(wanted, output));
            publish_data(wanted, output);
        }
        if (wanted->data != output->data && is_user_memory(wanted) && output->elem_num > 0)
            memcpy(wanted->data, output->data, get_ir_tensor_bytes(output));
    }
    return TENGINE_OK;
}

// After a failed run: memory of outputs whose shape only a run can tell may be gone.
static void withdraw_unfinished(const struct graph* source, const struct graph* execution)
{
    for (int i = 0; i < source->output_tensor_num; i++) {
        struct tensor* wanted = source->tensor_list[source->output_tensors[i]];
        const struct tensor* output = execution->tensor_list[execution->output_tensors[i]];
        const struct node* producer = get_ir_graph_node(execution, output->producer);
        if (producer && producer->dynamic_shape && wanted->internal_allocated)
            release_ir_tensor_data(wanted);
    }
}

int run_ir_graph(struct graph* source, int block)
{
    struct graph* execution = source->execution;
    if (!execution)
        return tengine_error_set(TENGINE_ESTATE, "graph '%s' is not prepared; call prerun_graph",
                                 source->name);
    if (source->status == IR_GRAPH_RUNNING)
        return tengine_error_set(TENGINE_ESTATE, "graph '%s' is running", source->name);
    TENGINE_RETURN_IF_ERROR(bind_inputs(source, execution));
    bind_outputs(source, execution);
    struct scheduler* scheduler = scheduler_of(execution);
    source->status = IR_GRAPH_RUNNING;
    int status = scheduler->run(scheduler, execution, block);
    if (status >= 0) status = collect_outputs(source, execution);
    if (status < 0) withdraw_unfinished(source, execution);
    source->status = status < 0 ? IR_GRAPH_ERROR : IR_GRAPH_READY;
    return status;
}

int wait_ir_graph(struct graph* source, int try_wait)
{
    (void)try_wait;  // the scheduler's wait returns at once when nothing is under way
    if (!source->execution)
        return tengine_error_set(TENGINE_ESTATE, "graph '%s' is not prepared; call prerun_graph",
                                 source->name);
    struct scheduler* scheduler = scheduler_of(source->execution);
    return scheduler->wait(scheduler, source->execution);
}

int postrun_ir_graph(struct graph* source)
{
    if (source->status == IR_GRAPH_RUNNING)
        return tengine_error_set(TENGINE_ESTATE, "graph '%s' is running", source->name);
    if (!source->execution) return TENGINE_OK;
    struct scheduler* scheduler = scheduler_of(source->execution);
    const int status = scheduler->postrun(scheduler, source->execution);
    withdraw_results(source);
    destroy_ir_graph(source->execution);
    source->execution = NULL;
    source->status = IR_GRAPH_DONE;
    return status;
}
