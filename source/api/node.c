// SPDX-License-Identifier: Apache-2.0
// C API, group Nodes: creation, look-up, connections. Attributes are in attribute.c.
#include <stdio.h>
#include <string.h>

#include "api/check.h"
#include "graph/context.h"
#include "graph/core.h"
#include "module/module.h"
#include "operator/selection.h"
#include "optimizer/optimizer.h"

// The id of an operator by the name that a program gives: Tengine's own names first, as programs
// written for it expect ("Softmax" is Tengine's), then ONNX's; "ai.onnx.Softmax" selects ONNX's.
static int find_op_type(const char* name)
{
    const int type = get_op_type("tengine", name);
    return type >= 0 ? type : get_op_type_by_name(name);
}

static int check_new_name(const struct graph* graph, const char* function, const char* node_name)
{
    TENGINE_RETURN_IF_ERROR(check_name(node_name, function, "node_name"));
    if (get_ir_node_index_from_name(graph, node_name) < 0) return TENGINE_OK;
    return tengine_error_set(TENGINE_EEXIST, "%s: node '%s' already exists", function, node_name);
}

static int check_new_op(const char* function, const char* node_name, const char* op_name)
{
    TENGINE_RETURN_IF_ERROR(check_name(op_name, function, "op_name"));
    if (find_op_type(op_name) < 0 && is_build_selective()) return fail_left_out(node_name, op_name);
    if (find_op_type(op_name) < 0)
        return tengine_error_set(TENGINE_EOPERATOR, "%s: node '%s': unknown operator '%s'",
                                 function, node_name, op_name);
    return TENGINE_OK;
}

static node_t append_node(api_graph_t* graph, const char* function, const char* node_name, int type,
                          int opset)
{
    if (check_idle(graph, function) < 0) return api_pointer(NULL);
    struct node* node = create_ir_node(graph->graph, node_name, type, opset);
    if (!node) return api_pointer(NULL);
    end_change(graph, TENGINE_OK);
    return api_pointer(give_node(node, graph));
}

node_t create_graph_node(graph_t graph, const char* node_name, const char* op_name)
{
    api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_new_name(target->graph, __func__, node_name) < 0 ||
        check_new_op(__func__, node_name, op_name) < 0)
        return api_pointer(NULL);
    return append_node(target, __func__, node_name, find_op_type(op_name), 0);
}

// Prints "opsets 7 to 9": those that have the operator, at least one.
static void describe_opsets(int type, char* text, size_t size)
{
    int first = 0, last = 0;
    for (int version = 1; version <= NEWEST_KNOWN_OPSET; ++version) {
        if (!find_op_method(type, version)) continue;
        if (first == 0) first = version;
        last = version;
    }
    snprintf(text, size, "opsets %d to %d", first, last);
}

static int find_versioned_op(const char* function, const char* node_name, const char* domain,
                             const char* op_name, int opset, int* out_type)
{
    TENGINE_RETURN_IF_ERROR(check_name(op_name, function, "op_name"));
    TENGINE_RETURN_IF_ERROR(check_pointer(domain, function, "domain"));
    if (opset < 0)
        return tengine_error_set(TENGINE_EINVAL, "%s: node '%s': opset %d, expected 0 or more",
                                 function, node_name, opset);
    *out_type = get_op_type(strcmp(domain, "ai.onnx") == 0 ? "" : domain, op_name);
    if (*out_type < 0)
        return tengine_error_set(TENGINE_EOPERATOR,
                                 "%s: node '%s': unknown operator '%s' of domain '%s'", function,
                                 node_name, op_name, domain);
    if (find_op_method(*out_type, opset)) return TENGINE_OK;
    char known[48];
    describe_opsets(*out_type, known, sizeof known);
    return tengine_error_set(TENGINE_EOPERATOR,
                             "%s: node '%s': operator '%s' of domain '%s' is known in %s, not in "
                             "opset %d",
                             function, node_name, op_name, domain, known, opset);
}

node_t tengine_graph_add_node(graph_t graph, const char* node_name, const char* domain,
                              const char* op_name, int opset)
{
    api_graph_t* target = find_graph(graph, __func__);
    int type = -1;
    if (!target || check_new_name(target->graph, __func__, node_name) < 0 ||
        find_versioned_op(__func__, node_name, domain, op_name, opset, &type) < 0)
        return api_pointer(NULL);
    return append_node(target, __func__, node_name, type, opset);
}

node_t get_graph_node(graph_t graph, const char* node_name)
{
    api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_name(node_name, __func__, "node_name") < 0) return api_pointer(NULL);
    const int index = get_ir_node_index_from_name(target->graph, node_name);
    if (index < 0) {
        tengine_error_set(TENGINE_ENOENT, "%s: the graph has no node '%s'", __func__, node_name);
        return api_pointer(NULL);
    }
    return api_pointer(give_node(get_ir_graph_node(target->graph, index), target));
}

node_t get_graph_node_by_idx(graph_t graph, int idx)
{
    api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_index(idx, target->graph->node_num, __func__, "nodes") < 0)
        return api_pointer(NULL);
    return api_pointer(give_node(get_ir_graph_node(target->graph, idx), target));
}

int get_graph_node_num(graph_t graph)
{
    const api_graph_t* target = find_graph(graph, __func__);
    return !target ? api_failure() : target->graph->node_num;
}

const char* get_node_name(node_t node)
{
    const struct node* target = find_node(node, __func__, NULL);
    return !target ? api_pointer(NULL) : target->name;
}

const char* get_node_op(node_t node)
{
    const struct node* target = find_node(node, __func__, NULL);
    return !target ? api_pointer(NULL) : get_ir_node_op(target);
}

// The device of the first execution node that stands for the source node; NULL when there is none.
static const struct device* find_placement(const struct node* node)
{
    const struct graph* execution = node->graph->core->execution;
    for (int i = 0; execution && i < execution->node_num; ++i) {
        const struct node* candidate = execution->node_list[i];
        if (candidate->core->source_index != node->index) continue;
        const struct subgraph* part = get_ir_graph_subgraph(execution, candidate->subgraph_idx);
        if (part) return part->device;
    }
    return NULL;
}

const char* get_node_device(node_t node)
{
    api_graph_t* owner = NULL;
    const struct node* target = find_node(node, __func__, &owner);
    if (!target) return api_pointer(NULL);
    const struct device* device = find_placement(target);
    return device ? device->name : find_best_device(owner->graph)->name;
}

void release_graph_node(node_t node)
{
    (void)node;
}

int get_node_input_number(node_t node)
{
    const struct node* target = find_node(node, __func__, NULL);
    return !target ? api_failure() : target->input_num;
}

int get_node_output_number(node_t node)
{
    const struct node* target = find_node(node, __func__, NULL);
    return !target ? api_failure() : target->output_num;
}

// An optional connection that is absent is a result, not an error to log.
static tensor_t give_connected(struct tensor* tensor, api_graph_t* owner, const char* function,
                               const struct node* node, const char* what, int index)
{
    if (tensor) return api_pointer(give_tensor(tensor, owner));
    tengine_error_set(TENGINE_ENOENT, "%s: node '%s': %s %d is left out", function, node->name,
                      what, index);
    return NULL;
}

tensor_t get_node_input_tensor(node_t node, int input_idx)
{
    api_graph_t* owner = NULL;
    const struct node* target = find_node(node, __func__, &owner);
    if (!target || check_index(input_idx, target->input_num, __func__, "inputs") < 0)
        return api_pointer(NULL);
    return give_connected(get_ir_node_input(target, input_idx), owner, __func__, target, "input",
                          input_idx);
}

tensor_t get_node_output_tensor(node_t node, int output_idx)
{
    api_graph_t* owner = NULL;
    const struct node* target = find_node(node, __func__, &owner);
    if (!target || check_index(output_idx, target->output_num, __func__, "outputs") < 0)
        return api_pointer(NULL);
    return give_connected(get_ir_node_output(target, output_idx), owner, __func__, target, "output",
                          output_idx);
}

// The limit for variadic operators bounds the cost of a wrong index.
enum
{
    PORT_LIMIT = 65536
};

static int check_port(const struct node* node, const char* function, const char* what, int index,
                      int most)
{
    if (most < 0 || most > PORT_LIMIT) most = PORT_LIMIT;
    if (index >= 0 && index < most) return TENGINE_OK;
    return tengine_error_set(TENGINE_ERANGE, "%s: %s '%s': index %d of %s: it takes at most %d",
                             function, get_ir_node_op(node), node->name, index, what, most);
}

static int check_same_graph(const api_graph_t* node_owner, const api_graph_t* tensor_owner,
                            const char* function)
{
    if (node_owner == tensor_owner) return TENGINE_OK;
    return tengine_error_set(TENGINE_EINVAL, "%s: node and tensor belong to different graphs",
                             function);
}

int set_node_input_tensor(node_t node, int input_idx, tensor_t tensor)
{
    api_graph_t* owner = NULL;
    api_graph_t* tensor_owner = NULL;
    struct node* target = find_node(node, __func__, &owner);
    if (!target) return api_failure();
    struct tensor* input = find_tensor(tensor, __func__, &tensor_owner);
    if (!input || check_same_graph(owner, tensor_owner, __func__) < 0 ||
        check_port(target, __func__, "inputs", input_idx, target->op.method->max_input) < 0 ||
        check_idle(owner, __func__) < 0)
        return api_failure();
    return end_change(owner, set_ir_node_input_tensor(target, input_idx, input));
}

static int check_output(const struct node* node, const char* function, int index,
                        const struct tensor* tensor, int tensor_type)
{
    TENGINE_RETURN_IF_ERROR(
        check_port(node, function, "outputs", index, node->op.method->max_output));
    if (tensor_type < TENSOR_TYPE_VAR || tensor_type > TENSOR_TYPE_DEP)
        return tengine_error_set(TENGINE_EINVAL, "%s: invalid tensor type %d: expected %d to %d",
                                 function, tensor_type, TENSOR_TYPE_VAR, TENSOR_TYPE_DEP);
    if (tensor->producer >= 0 && get_ir_node_output(node, index) != tensor)
        return tengine_error_set(TENGINE_EEXIST, "%s: tensor '%s' is already written by node '%s'",
                                 function, tensor->name,
                                 get_ir_graph_node(node->graph, tensor->producer)->name);
    return TENGINE_OK;
}

int set_node_output_tensor(node_t node, int output_idx, tensor_t tensor, int tensor_type)
{
    api_graph_t* owner = NULL;
    api_graph_t* tensor_owner = NULL;
    struct node* target = find_node(node, __func__, &owner);
    if (!target) return api_failure();
    struct tensor* output = find_tensor(tensor, __func__, &tensor_owner);
    if (!output || check_same_graph(owner, tensor_owner, __func__) < 0 ||
        check_output(target, __func__, output_idx, output, tensor_type) < 0 ||
        check_idle(owner, __func__) < 0 ||
        set_ir_node_output_tensor(target, output_idx, output) < 0)
        return api_failure();
    output->tensor_type = (uint8_t)tensor_type;
    return end_change(owner, TENGINE_OK);
}
