// SPDX-License-Identifier: Apache-2.0
// Tengine's Comparison, Logical and Where. Truth is a float there, 1 or 0, and a boolean in ONNX: a
// comparison can be raised only together with all that its result goes through, see logic_region.
#include <string.h>

#include "graph/graph.h"
#include "operator/row.h"
#include "operator/tengine/broadcast.h"
#include "operator/tengine/emit.h"
#include "operator/tengine/raise.h"

struct tm_logic_param
{
    int type;
};

static const op_field_t logic_fields[] = {
    TM_FIELD(struct tm_logic_param, INT, type, WORD, 0, .number = 0),
};

// By Comparison's type; 1, not equal, is made of Equal. `mirrored`: the type with operands
// exchanged.
static const struct
{
    const char* op;
    int mirrored;
} comparisons[] = {{"Equal", 0},          {"Equal", 1}, {"Greater", 4},
                   {"GreaterOrEqual", 5}, {"Less", 2},  {"LessOrEqual", 3}};
static const char* const logicals[] = {"And", "Or"};

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))
#define NOT_EQUAL 1

static int get_type(const struct node* node)
{
    return ((const struct tm_logic_param*)node->op.param_mem)->type;
}

static int lower_comparison(struct graph* graph, struct node* node)
{
    const int type = get_type(node);
    if (type < 0 || type >= COUNT(comparisons))
        return fail_node(node, TENGINE_EINVAL,
                         "unknown type %d: expected 0 (equal) to 5 (less or equal)", type);
    emitter_t emit = start_emitting(graph, node);
    struct tensor* operands[2];
    emit_tm_operands(&emit, operands);
    struct tensor* truth = emit_op(&emit, comparisons[type].op, 2, operands[0], operands[1]);
    if (type == NOT_EQUAL) truth = emit_op(&emit, "Not", 1, truth);
    return finish_emitting(&emit, 1, emit_cast(&emit, truth, TENGINE_DT_FP32));
}

static int lower_logical(struct graph* graph, struct node* node)
{
    const int type = get_type(node);
    if (type < 0 || type >= COUNT(logicals))
        return fail_node(node, TENGINE_EINVAL, "unknown type %d: expected 0 (and) or 1 (or)", type);
    emitter_t emit = start_emitting(graph, node);
    struct tensor* operands[2];
    emit_tm_operands(&emit, operands);
    for (int i = 0; i < 2; ++i)
        operands[i] = emit_cast(&emit, operands[i], TENGINE_DT_BOOL);
    struct tensor* truth = emit_op(&emit, logicals[type], 2, operands[0], operands[1]);
    return finish_emitting(&emit, 1, emit_cast(&emit, truth, TENGINE_DT_FP32));
}

// Where is element by element: condition, a and b have as many elements; the result has the
// condition's shape.
static int lower_where(struct graph* graph, struct node* node)
{
    struct tensor* inputs[3];
    int64_t dims[MAX_SHAPE_DIM_NUM];
    emitter_t emit = start_emitting(graph, node);
    for (int i = 0; i < 3; ++i)
        inputs[i] = get_ir_node_input(node, i);
    const struct tensor* condition = inputs[0];
    for (int i = 0; i < condition->dim_num; ++i)
        dims[i] = condition->dims[i];
    for (int i = 1; i < 3; ++i) {
        if (inputs[i]->elem_num != condition->elem_num)
            return fail_node(node, TENGINE_EINVAL,
                             "input %d has %lld elements, the condition has %lld, expected as many",
                             i, (long long)inputs[i]->elem_num, (long long)condition->elem_num);
        if (!have_same_shape(inputs[i], condition))
            inputs[i] = emit_reshape(&emit, inputs[i], dims, condition->dim_num);
    }
    inputs[0] = emit_cast(&emit, inputs[0], TENGINE_DT_BOOL);
    return finish_emitting(&emit, 1, emit_op(&emit, "Where", 3, inputs[0], inputs[1], inputs[2]));
}

static int raise_where(struct graph* graph, struct node* node)
{
    (void)graph;
    return refuse_raising(node, "Tengine Lite reads Where as ReLU1");
}

// ---- raising ----

static int find_comparison(const char* op)
{
    for (int type = 0; type < COUNT(comparisons); ++type)
        if (strcmp(comparisons[type].op, op) == 0) return type;
    return -1;
}

static int find_logical(const char* op)
{
    for (int type = 0; type < COUNT(logicals); ++type)
        if (strcmp(logicals[type], op) == 0) return type;
    return -1;
}

static bool is_raised_logic(const struct node* node)
{
    return strcmp(get_ir_node_domain(node), "tengine") == 0 &&
           (strcmp(get_ir_node_op(node), "Comparison") == 0 ||
            strcmp(get_ir_node_op(node), "Logical") == 0);
}

// The nodes that a boolean connects: comparisons, And, Or. Either all of them are raised or none.
#define REGION_CAPACITY 64
struct logic_region
{
    const struct node* nodes[REGION_CAPACITY];
    int node_num;
};

static bool add_to_region(struct logic_region* region, const struct node* node)
{
    for (int i = 0; i < region->node_num; ++i)
        if (region->nodes[i] == node) return true;
    if (region->node_num == REGION_CAPACITY) return false;
    region->nodes[region->node_num++] = node;
    return true;
}

static bool is_logic(const struct node* node)
{
    return node && (is_raised_logic(node) || find_logical(get_ir_node_op(node)) >= 0 ||
                    find_comparison(get_ir_node_op(node)) >= 0);
}

// Adds the nodes that compute the operands of And and Or.
static bool add_producers(struct logic_region* region, const struct node* node)
{
    if (find_logical(get_ir_node_op(node)) < 0) return true;
    for (int i = 0; i < 2; ++i) {
        const struct node* producer =
            get_ir_graph_node(node->graph, get_ir_node_input(node, i)->producer);
        if (!is_logic(producer) || !add_to_region(region, producer)) return false;
    }
    return true;
}

// Adds the readers of the result; each must be in the region or a Cast.
static bool add_consumers(struct logic_region* region, const struct node* node)
{
    const struct tensor* output = get_ir_node_output(node, 0);
    if (!output || is_ir_graph_output(node->graph, output->index)) return false;
    for (int i = 0; i < output->consumer_num; ++i) {
        const struct node* consumer = get_ir_graph_node(node->graph, output->consumer[i]);
        const bool ends = strcmp(get_ir_node_op(consumer), "Cast") == 0;
        if (!ends && !(is_logic(consumer) && find_comparison(get_ir_node_op(consumer)) < 0))
            return false;
        if (!ends && !add_to_region(region, consumer)) return false;
    }
    return true;
}

// Comparison has a rule for planes as little as Logical has one for channels.
static bool is_combined(struct node* node, tm_operands_t* out_operands)
{
    const int data_type = get_ir_node_input(node, 0)->data_type;
    if (data_type > TENGINE_DT_INT16 && find_comparison(get_ir_node_op(node)) >= 0) {
        refuse_raising(node, "it compares %s, a type that Tengine does not have",
                       get_data_type_name(data_type));
        return false;
    }
    if (!do_tm_operands_fit(node, out_operands)) return false;
    const tm_match_t match = out_operands->match;
    const bool per_channel = match == TM_MATCH_CHANNEL &&
                             get_ir_node_output(node, 0)->dims[0] == 1 &&
                             get_ir_node_output(node, 0)->dim_num == 4;
    if (match == TM_MATCH_SAME || match == TM_MATCH_SCALAR ||
        (per_channel && find_comparison(get_ir_node_op(node)) >= 0))
        return true;
    refuse_raising(node, "Tengine combines operands of one size, or one of them with a scalar");
    return false;
}

static bool is_region_raised(struct node* node)
{
    struct logic_region region = {.nodes = {node}, .node_num = 1};
    for (int i = 0; i < region.node_num; ++i) {
        struct node* member = get_ir_graph_node(node->graph, region.nodes[i]->index);
        tm_operands_t operands;
        if (is_raised_logic(member)) continue;
        if (!is_combined(member, &operands)) return false;
        if (!add_producers(&region, member) || !add_consumers(&region, member)) {
            refuse_raising(node, "its result is used as a boolean, Tengine's is a float");
            return false;
        }
    }
    return true;
}

static int raise_logic(struct graph* graph, struct node* node)
{
    const char* op = get_ir_node_op(node);
    const bool logical = find_logical(op) >= 0;
    int type = logical ? find_logical(op) : find_comparison(op);
    struct tensor* first = get_ir_node_input(node, 0);
    struct tensor* second = get_ir_node_input(node, 1);
    tm_operands_t operands;
    if (!is_combined(node, &operands) || !is_region_raised(node)) return OP_NOT_RAISED;
    // Tengine Lite requires the larger operand first.
    const bool exchanged = operands.swapped;
    if (exchanged && !logical) type = comparisons[type].mirrored;
    struct tensor* output = get_ir_node_output(node, 0);
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_data_type(output, TENGINE_DT_FP32));
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, logical ? "tengine.Logical" : "tengine.Comparison", 2,
             exchanged ? second : first, exchanged ? first : second);
    emit_attr_int(&emit, "type", type);
    return finish_emitting(&emit, 1, end_op(&emit));
}

#define LOGIC(num) \
    .min_input = num, .max_input = num, .min_output = 1, .max_output = 1, .traits = OP_LEGACY
#define TYPED OP_FIELDS(logic_fields), .param_size = sizeof(struct tm_logic_param)

static const ir_method_t* const rows[] = {
    TENGINE_ROW(Comparison, 12, 78, 4, LOGIC(2), TYPED, .lower = lower_comparison,
                RAISED("Equal|Greater|GreaterOrEqual|Less|LessOrEqual", raise_logic)),
    TENGINE_ROW(Logical, 36, 75, 4, LOGIC(2), TYPED, .lower = lower_logical,
                RAISED("And|Or", raise_logic)),
    TENGINE_ROW(Where, 97, 95, 0, LOGIC(3), .lower = lower_where, RAISED("Where", raise_where)),
};

OPERATOR_TABLE(tengine_logic_ops, rows);
