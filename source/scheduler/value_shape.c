// SPDX-License-Identifier: Apache-2.0
#include "scheduler/value_shape.h"

#include "graph/body.h"
#include "graph/core.h"
#include "graph/graph.h"
#include "graph/preparation.h"
#include "operator/operator.h"
#include "scheduler/exchange.h"

static bool is_lent_output(const struct graph* source, const struct tensor* made)
{
    const struct tensor* output = get_ir_graph_tensor(source, made->core->source_index);
    return output && is_ir_user_memory(output);
}

// ---- values of inputs ----

// Whether the outputs of a node have the shapes for this value of its input. Nodes with an output
// in a buffer of the program's keep their shapes: kernels refuse values that need more.
static bool has_node_shapes_for(const struct graph* source, const struct node* node,
                                const struct tensor* value)
{
    const struct value_shape* rule = node->op.method->value_shape;
    bool is_same = true;
    for (int i = 0; i < node->output_num; ++i) {
        const struct tensor* output = get_ir_node_output(node, i);
        if (!output || !is_ir_tensor_shape_known(output) || rule->has_shape_for(node, i, value))
            continue;
        if (is_lent_output(source, output)) return true;
        is_same = false;
    }
    return is_same;
}

// Whether this holds for all nodes whose shapes depend on the value of this input.
static bool has_shapes_for_value(const struct graph* source, const struct graph* execution,
                                 int input)
{
    const struct tensor* given = source->tensor_list[source->input_tensors[input]];
    const struct tensor* made = execution->tensor_list[execution->input_tensors[input]];
    if (!given->data) return true;
    for (int i = 0; i < made->consumer_num; ++i) {
        const struct node* node = execution->node_list[made->consumer[i]];
        const struct value_shape* rule = node->op.method->value_shape;
        if (rule && rule->input == made->core->consumer_input[i] &&
            !has_node_shapes_for(source, node, given))
            return false;
    }
    return true;
}

bool has_ir_value_shapes(const struct graph* execution, const struct graph* source)
{
    for (int i = 0; i < source->input_tensor_num; ++i)
        if (!has_shapes_for_value(source, execution, i)) return false;
    return true;
}

// ---- values that only runs have ----

static bool reads_later_value(const struct node* node)
{
    const struct value_shape* rule = node->op.method->value_shape;
    const struct tensor* value = rule ? get_ir_node_input(node, rule->input) : NULL;
    return value && value->tensor_type != TENSOR_TYPE_CONST;
}

// The node itself, or one in its bodies.
static bool has_later_value(const struct node* node)
{
    const ir_bodies_t* bodies = node->core->bodies;
    if (reads_later_value(node)) return true;
    for (int i = 0; bodies && i < bodies->num; ++i) {
        const struct graph* body = bodies->list[i].graph;
        for (int k = 0; k < body->node_num; ++k)
            if (has_later_value(body->node_list[k])) return true;
    }
    return false;
}

static bool has_lent_outputs(const struct graph* source, const struct node* node)
{
    for (int i = 0; i < node->output_num; ++i) {
        const struct tensor* output = get_ir_node_output(node, i);
        if (output && is_lent_output(source, output)) return true;
    }
    return false;
}

// EDEVICE: the status of boundary.h for a part whose result has another size.
bool has_ir_assumed_shapes(const struct graph* source, int status)
{
    const struct graph* execution = source->core->execution;
    const bool may_misfit = is_ir_misfit(status) || status == TENGINE_EDEVICE;
    if (!may_misfit || !execution || source->status == GRAPH_STAT_RUNNING ||
        are_ir_shapes_left_to_runs(execution))
        return false;
    bool assumes = false;
    for (int i = 0; i < execution->node_num; ++i) {
        const struct node* node = execution->node_list[i];
        if (!has_later_value(node)) continue;
        if (has_lent_outputs(source, node)) return false;
        assumes = true;
    }
    return assumes;
}
