// SPDX-License-Identifier: Apache-2.0
// inspect.h, graphs: the model's graph, and the one that prerun_graph made of it.
#include <stdio.h>
#include <string.h>

#include "api/check.h"
#include "api/place.h"
#include "graph/declaration.h"
#include "graph/graph.h"
#include "graph/subgraph.h"
#include "operator/custom/custom_kernel.h"
#include "optimizer/optimizer.h"
#include "scheduler/part_report.h"
#include "scheduler/runner.h"
#include "scheduler/session.h"
#include "tengine/inspect.h"

// ---- the graph as the model has it ----

int tengine_graph_get_tensor_number(graph_t graph)
{
    const api_graph_t* target = find_graph(graph, __func__);
    return !target ? api_failure() : target->graph->tensor_num;
}

tensor_t tengine_graph_get_tensor(graph_t graph, int index)
{
    api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_index(index, target->graph->tensor_num, __func__, "tensors") < 0)
        return api_pointer(NULL);
    return api_pointer(give_tensor(get_ir_graph_tensor(target->graph, index), target));
}

int tengine_tensor_get_type(tensor_t tensor)
{
    const struct tensor* target = find_tensor(tensor, __func__, NULL);
    return !target ? api_failure() : target->tensor_type;
}

int tengine_tensor_has_rank(tensor_t tensor)
{
    const struct tensor* target = find_tensor(tensor, __func__, NULL);
    return !target ? api_failure() : target->shape_set;
}

// Whether the nodes give an output another rank than the model declares.
static bool has_other_rank(const struct tensor* tensor)
{
    return tensor->tensor_type == TENSOR_TYPE_VAR && tensor->shape_set &&
           is_ir_shape_declared(tensor) && tensor->dim_num != tensor->core->declaration->dim_num;
}

const char* tengine_tensor_get_dim_name(tensor_t tensor, int index)
{
    const struct tensor* target = find_tensor(tensor, __func__, NULL);
    if (!target || check_index(index, MAX_SHAPE_DIM_NUM, __func__, "dimensions") < 0)
        return api_pointer(NULL);
    return has_other_rank(target) ? "" : get_ir_tensor_dim_name(target, index);
}

node_t tengine_tensor_get_producer(tensor_t tensor)
{
    api_graph_t* owner = NULL;
    const struct tensor* target = find_tensor(tensor, __func__, &owner);
    if (!target) return api_pointer(NULL);
    struct node* producer = get_ir_graph_node(owner->graph, target->producer);
    if (producer) return api_pointer(give_node(producer, owner));
    // "None" is a result, not an error to log.
    tengine_error_set(TENGINE_ENOENT, "%s: no node writes tensor '%s'", __func__, target->name);
    return NULL;
}

int tengine_tensor_get_consumer_number(tensor_t tensor)
{
    const struct tensor* target = find_tensor(tensor, __func__, NULL);
    return !target ? api_failure() : target->consumer_num;
}

node_t tengine_tensor_get_consumer(tensor_t tensor, int index)
{
    api_graph_t* owner = NULL;
    const struct tensor* target = find_tensor(tensor, __func__, &owner);
    if (!target || check_index(index, target->consumer_num, __func__, "consumers") < 0)
        return api_pointer(NULL);
    return api_pointer(give_node(get_ir_graph_node(owner->graph, target->consumer[index]), owner));
}

const char* tengine_node_get_domain(node_t node)
{
    const struct node* target = find_node(node, __func__, NULL);
    return !target ? api_pointer(NULL) : get_ir_node_domain(target);
}

int tengine_node_get_version(node_t node)
{
    const struct node* target = find_node(node, __func__, NULL);
    return !target ? api_failure() : target->op.version;
}

// ---- statistics ----

static void count_model(const struct graph* graph, struct tengine_graph_stats* stats)
{
    stats->node_number = count_ir_computing_nodes(graph);
    for (int i = 0; i < graph->tensor_num; ++i) {
        const struct tensor* tensor = graph->tensor_list[i];
        if (tensor->tensor_type != TENSOR_TYPE_CONST) continue;
        stats->parameter_number += tensor->elem_num;
        stats->constant_bytes += (int64_t)get_ir_tensor_bytes(tensor);
    }
}

typedef struct stats_sum
{
    struct tengine_graph_stats* stats;
    struct vector* uses;  // of ir_shared_scratch_t, one for each lender; NULL: out of memory
} stats_sum_t;

// The bytes by which a lender needs more than for the parts that have been counted; -1: out of
// memory.
static int64_t count_more(const ir_shared_scratch_t* use, struct vector* uses)
{
    for (int i = 0; i < get_vector_num(uses); ++i) {
        ir_shared_scratch_t* known = get_vector_data(uses, i);
        if (known->lender != use->lender) continue;
        const int64_t more = use->bytes > known->bytes ? use->bytes - known->bytes : 0;
        known->bytes += more;
        return more;
    }
    return push_vector_data(uses, use) < 0 ? -1 : use->bytes;
}

// The bytes that the part adds to those of the parts that have been counted.
static int64_t count_arena(const struct subgraph* part, struct vector* uses)
{
    int64_t sum = (int64_t)part->plan_bytes;
    for (int i = 0; i < IR_MOST_MEMORIES; ++i) {
        const ir_shared_scratch_t* use = &part->core->shared_scratch[i];
        const int64_t more = use->lender ? count_more(use, uses) : 0;
        if (more < 0) return -1;
        if (use->lender) sum += more - use->bytes;
    }
    return sum;
}

static void count_parts(const struct graph* execution, stats_sum_t* sum)
{
    for (int i = 0; sum->uses && i < get_vector_num(execution->subgraph_list); ++i) {
        const int64_t bytes = count_arena(get_ir_graph_subgraph(execution, i), sum->uses);
        sum->stats->arena_bytes += bytes;
        if (bytes >= 0) continue;
        release_vector(sum->uses);
        sum->uses = NULL;
    }
}

static void count_execution(const struct graph* execution, void* argument)
{
    stats_sum_t* sum = argument;
    struct tengine_graph_stats* stats = sum->stats;
    const int part_num = get_vector_num(execution->subgraph_list);
    stats->execution_node_number += execution->node_num;
    stats->subgraph_number += part_num;
    for (int i = 0; i < execution->node_num; ++i)
        stats->mac_number += get_ir_node_macs(execution->node_list[i]);
    stats->arena_bytes += (int64_t)execution->core->plan_bytes;
    for (int i = 0; i < execution->core->plan_need_num; ++i)
        stats->arena_bytes += (int64_t)execution->core->plan_needs[i].bytes;
    count_parts(execution, sum);
}

int tengine_graph_get_stats(graph_t graph, struct tengine_graph_stats* out_stats)
{
    const api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_pointer(out_stats, __func__, "out_stats") < 0) return api_failure();
    memset(out_stats, 0, sizeof *out_stats);
    count_model(target->graph, out_stats);
    stats_sum_t sum = {out_stats, create_vector(sizeof(ir_shared_scratch_t), NULL)};
    visit_executions(target->graph->core->execution, count_execution, &sum);
    if (sum.uses) {
        release_vector(sum.uses);
        return 0;
    }
    tengine_error_set(TENGINE_ENOMEM, "%s: out of memory", __func__);
    return api_failure();
}

// ---- the execution graph ----

int tengine_graph_get_execution_node_number(graph_t graph)
{
    const struct graph* execution = find_execution(graph, __func__, NULL);
    place_t end;
    if (!execution || find_place_end(execution, &end) < 0) return api_failure();
    return end.first_node;
}

static double milliseconds(int64_t nanoseconds)
{
    return nanoseconds < 0 ? -1.0 : (double)nanoseconds / 1e6;
}

// The node of a custom kernel is described as the operator that it replaces.
static void describe_custom_kernel(const struct node* node, struct tengine_execution_node* out_node)
{
    const ir_custom_kernel_t* kernel = node->core->custom_kernel;
    out_node->kernel = !kernel ? "" : get_kernel_name(kernel);
    if (!kernel) return;
    out_node->op = get_source_op(kernel->node);
    out_node->domain = get_ir_node_domain(kernel->node);
}

int tengine_graph_get_execution_node(graph_t graph, int index,
                                     struct tengine_execution_node* out_node)
{
    api_graph_t* owner = NULL;
    place_t place;
    struct node* node = find_execution_node(graph, index, __func__, &owner, &place);
    if (!node || check_pointer(out_node, __func__, "out_node") < 0) return api_failure();
    const struct subgraph* part = get_ir_graph_subgraph(node->graph, node->subgraph_idx);
    *out_node = (struct tengine_execution_node){
        .name = node->name,
        .op = get_ir_node_op(node),
        .domain = get_ir_node_domain(node),
        .device = part->device->name,
        .subgraph = place.first_part + node->subgraph_idx,
        .mac_number = get_ir_node_macs(node),
        .source = place.first_node > 0
                      ? NULL
                      : give_node(get_ir_graph_node(owner->graph, node->core->source_index), owner),
        .refusal_number = node->core->refusal_num,
        .predicted_ms = milliseconds(predict_ir_node(node)),
        .measured_ms = milliseconds(node->core->measured_ns),
        .input_number = node->input_num,
    };
    describe_custom_kernel(node, out_node);
    return 0;
}

int tengine_graph_get_execution_kernel(graph_t graph, int index,
                                       struct tengine_node_kernel* out_kernel, size_t size)
{
    place_t place;
    const struct node* node = find_execution_node(graph, index, __func__, NULL, &place);
    if (!node || check_struct(out_kernel, size, __func__, "out_kernel") < 0) return api_failure();
    ir_node_kernel_t found = {.name = ""};
    if (explain_ir_node(node, &found) < 0) return api_failure();
    struct tengine_node_kernel made;
    // A device may have filled the strings to the last byte.
    snprintf(made.name, sizeof made.name, "%.*s", (int)sizeof found.name - 1, found.name);
    snprintf(made.reason, sizeof made.reason, "%.*s", (int)sizeof found.reason - 1, found.reason);
    give_struct(&made, sizeof made, out_kernel, size);
    return 0;
}

static const char* get_reason_word(int code)
{
    switch (code) {
#define REASON_WORD(name, value, word, phrase) \
    case name:                                 \
        return word;
        IR_REASON_LIST(REASON_WORD)
#undef REASON_WORD
        default:
            return "other";
    }
}

int tengine_graph_get_refusal(graph_t graph, int node_index, int refusal_index,
                              struct tengine_refusal* out_refusal)
{
    place_t place;
    const struct node* node = find_execution_node(graph, node_index, __func__, NULL, &place);
    if (!node || check_pointer(out_refusal, __func__, "out_refusal") < 0 ||
        check_index(refusal_index, node->core->refusal_num, __func__, "refusals") < 0)
        return api_failure();
    const ir_refusal_t* refusal = &node->core->refusal_list[refusal_index];
    *out_refusal = (struct tengine_refusal){
        .device = refusal->device->name,
        .reason = get_reason_word(refusal->verdict.code),
        .attribute = refusal->verdict.attribute,
        .value = refusal->verdict.value,
        .message = refusal->verdict.message,
    };
    return 0;
}

static void add_nodes(const struct subgraph* part, struct tengine_subgraph* target)
{
    int64_t predicted_ns = 0;
    for (int i = 0; i < part->node_num; ++i) {
        struct node* node = get_ir_graph_node(part->graph, part->node_list[i]);
        target->mac_number += get_ir_node_macs(node);
        predicted_ns += predict_ir_node(node);
    }
    target->predicted_ms = milliseconds(predicted_ns);
}

int tengine_graph_get_subgraph(graph_t graph, int index, struct tengine_subgraph* out_subgraph)
{
    const struct subgraph* part = find_part(graph, index, __func__);
    if (!part || check_pointer(out_subgraph, __func__, "out_subgraph") < 0) return api_failure();
    *out_subgraph = (struct tengine_subgraph){
        .device = part->device->name,
        .node_number = part->node_num,
        .input_number = part->input_num,
        .output_number = part->output_num,
        .bytes_in = part->core->bytes_in,
        .bytes_out = part->core->bytes_out,
        .measured_ms = milliseconds(part->core->measured_ns),
        .redo_number = part->core->redo_num,
    };
    add_nodes(part, out_subgraph);
    return 0;
}

int tengine_graph_get_subgraph_group(graph_t graph, int index, int* out_group)
{
    const struct subgraph* part = find_part(graph, index, __func__);
    if (!part || check_pointer(out_group, __func__, "out_group") < 0) return api_failure();
    *out_group = get_ir_subgraph_group(part);
    return 0;
}

int tengine_graph_get_subgraph_origin(graph_t graph, int index, int* out_origin)
{
    const struct subgraph* part = find_part(graph, index, __func__);
    if (!part || check_pointer(out_origin, __func__, "out_origin") < 0) return api_failure();
    *out_origin = part->core->origin;
    return 0;
}

static int copy_counters(const struct vector* list, struct tengine_counter* counters, int capacity)
{
    const int number = get_vector_num(list);
    for (int i = 0; i < number && i < capacity; ++i) {
        const ir_counter_t* counter = get_vector_data(list, i);
        struct tengine_counter* target = &counters[i];
        // A device may have filled the strings to the last byte.
        snprintf(target->name, sizeof target->name, "%.*s", (int)sizeof counter->name - 1,
                 counter->name);
        snprintf(target->unit, sizeof target->unit, "%.*s", (int)sizeof counter->unit - 1,
                 counter->unit);
        target->value = counter->value;
    }
    return number;
}

typedef int (*append_counters_t)(void* subject, struct vector* out_counters);

static int append_part_counters(void* part, struct vector* out_counters)
{
    return count_ir_part(part, out_counters);
}

static int append_node_counters(void* node, struct vector* out_counters)
{
    return count_ir_node(node, out_counters);
}

static int give_counters(append_counters_t append, void* subject, const char* function,
                         struct tengine_counter* counters, int capacity)
{
    if (capacity > 0 && check_pointer(counters, function, "counters") < 0) return api_failure();
    struct vector* list = create_vector(sizeof(ir_counter_t), NULL);
    if (!list)
        return api_result(
            tengine_error_set(TENGINE_ENOMEM, "%s: out of memory for a list", function));
    int result = api_result(append(subject, list));
    if (result == 0) result = copy_counters(list, counters, capacity);
    release_vector(list);
    return result;
}

int tengine_graph_get_counters(graph_t graph, int subgraph, struct tengine_counter* counters,
                               int capacity)
{
    struct subgraph* part = find_part(graph, subgraph, __func__);
    return !part ? api_failure()
                 : give_counters(append_part_counters, part, __func__, counters, capacity);
}

int tengine_graph_get_node_counters(graph_t graph, int node_index, struct tengine_counter* counters,
                                    int capacity)
{
    place_t place;
    struct node* node = find_execution_node(graph, node_index, __func__, NULL, &place);
    return !node ? api_failure()
                 : give_counters(append_node_counters, node, __func__, counters, capacity);
}

const char* tengine_graph_get_scheduler(graph_t graph)
{
    const struct graph* execution = find_execution(graph, __func__, NULL);
    const ir_session_t* session = !execution ? NULL : get_ir_session(execution);
    if (execution && !session)
        tengine_error_set(TENGINE_ESTATE, "%s: the graph is placed, not prepared", __func__);
    return !session ? api_pointer(NULL) : session->scheduler->name;
}

int tengine_graph_get_thread_number(graph_t graph)
{
    const struct graph* execution = find_execution(graph, __func__, NULL);
    return !execution ? api_failure() : execution->run_options->num_thread;
}
