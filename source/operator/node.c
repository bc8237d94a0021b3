// SPDX-License-Identifier: Apache-2.0
// Operators of a graph's nodes: creation with default parameters, change of operator, and
// reading of parameters by name.
#include <stdio.h>
#include <string.h>

#include "graph/graph.h"
#include "operator/param.h"
#include "operator/registry.h"
#include "operator/selection.h"
#include "operator/usage.h"
#include "tengine/compiler_plugin.h"

static int newest_version(const ir_method_t* method)
{
    return method->until ? method->until : NEWEST_KNOWN_OPSET;
}

static int give_method(ir_op_t* op, int type, int version, const ir_method_t* method)
{
    note_operator_use(type);
    op->type = type;
    op->version = version;
    op->infer_shape = method->infer_shape;
    op->same_shape = !method->infer_shape;
    op->release = release_op_param;
    return init_op_param(op, method);
}

struct node* create_ir_node(struct graph* graph, const char* node_name, int op_type, int op_version)
{
    const ir_method_t* method = find_op_method(op_type, op_version);
    if (!method) {
        const char* op_name = find_op_name(op_type);
        tengine_error_set(TENGINE_EOPERATOR, "node '%s': unknown operator %d (%s) of opset %d",
                          node_name ? node_name : "", op_type, op_name ? op_name : "unknown",
                          op_version);
        return NULL;
    }
    char made_up[96];
    if (!node_name || !*node_name) {
        snprintf(made_up, sizeof(made_up), "%s_%d", method->name, graph->node_num);
        node_name = made_up;
    }
    struct node* node = append_ir_node(graph, node_name);
    if (!node) return NULL;
    const int version = op_version ? op_version : newest_version(method);
    if (give_method(&node->op, op_type, version, method) < 0) {
        destroy_ir_node(graph, node);
        --graph->node_num;
        return NULL;
    }
    return node;
}

struct node* create_op_node(struct graph* graph, const char* node_name, const char* full_name,
                            const char* origin)
{
    const int type = get_op_type_by_name(full_name);
    if (type < 0 && is_build_selective()) {
        fail_left_out(origin, full_name);
        return NULL;
    }
    return create_ir_node(graph, node_name, type, 0);
}

static int exchange_method(struct node* node, int type, int version, const ir_method_t* method)
{
    ir_op_t old = node->op;
    ir_op_t op = {0};
    TENGINE_RETURN_IF_ERROR(give_method(&op, type, version, method));
    node->op = op;
    const int status = copy_op_param(&node->op, &old);
    old.release(&old);
    return status;
}

int change_node_method(struct node* node, const char* full_name)
{
    const int type = get_op_type_by_name(full_name);
    const ir_method_t* method = find_op_method(type, 0);
    if (!method && is_build_selective()) return fail_left_out(node->name, full_name);
    if (!method)
        return tengine_error_set(TENGINE_EINTERNAL, "node '%s': unknown operator '%s'", node->name,
                                 full_name);
    return exchange_method(node, type, newest_version(method), method);
}

int change_node_opset(struct node* node, int version)
{
    const ir_method_t* method = find_op_method(node->op.type, version);
    if (!method)
        return tengine_error_set(TENGINE_EINTERNAL, "node '%s': opset %d has no %s", node->name,
                                 version, get_ir_node_op(node));
    return exchange_method(node, node->op.type, version, method);
}

const char* get_ir_node_op(const struct node* node)
{
    return node->op.method->name;
}

const char* get_ir_node_domain(const struct node* node)
{
    return node->op.method->domain ? node->op.method->domain : "";
}

static const void* find_value(const struct node* node, const char* name, op_field_kind_t kind)
{
    const op_field_t* field = find_op_field(node->op.method, name, node->op.version);
    if (!field || field->kind != kind) return NULL;
    return (const char*)node->op.param_mem + field->offset;
}

int64_t get_ir_node_int(const struct node* node, const char* name, int64_t otherwise)
{
    const int* value = find_value(node, name, OP_FIELD_INT);
    return value ? *value : otherwise;
}

float get_ir_node_float(const struct node* node, const char* name, float otherwise)
{
    const float* value = find_value(node, name, OP_FIELD_FLOAT);
    return value ? *value : otherwise;
}

const char* get_ir_node_text(const struct node* node, const char* name, const char* otherwise)
{
    char* const* value = find_value(node, name, OP_FIELD_STRING);
    return value && *value ? *value : otherwise;
}

const int64_t* get_ir_node_ints(const struct node* node, const char* name, int* out_num)
{
    const struct op_ints* list = find_value(node, name, OP_FIELD_INTS);
    *out_num = list ? list->num : 0;
    return list ? list->values : NULL;
}

const float* get_ir_node_floats(const struct node* node, const char* name, int* out_num)
{
    const struct op_floats* list = find_value(node, name, OP_FIELD_FLOATS);
    *out_num = list ? list->num : 0;
    return list ? list->values : NULL;
}

int64_t get_ir_node_macs(const struct node* node)
{
    const ir_method_t* method = node->op.method;
    return method->macs && !node->dynamic_shape ? method->macs(node) : 0;
}

static bool is_listed_node(const int32_t nodes[], int number, int32_t node)
{
    for (int i = 0; i < number; ++i)
        if (nodes[i] == node) return true;
    return false;
}

// Changes tensors of the node from one type to another; constants do not change.
static void retype_outputs(const struct node* node, int from, int to)
{
    for (int i = 0; i < node->output_num; ++i) {
        struct tensor* tensor = get_ir_node_output(node, i);
        if (!tensor || tensor->tensor_type != from) continue;
        tensor->tensor_type = (uint8_t)to;
        release_ir_tensor_data(tensor);
    }
}

int replace_ir_graph_input_nodes(struct graph* graph, const int32_t nodes[], int number)
{
    for (int i = 0; i < graph->input_num; ++i) {
        const struct node* node = get_ir_graph_node(graph, graph->input_nodes[i]);
        const bool computes = strcmp(get_ir_node_op(node), "InputOp") != 0;
        if (computes && !is_listed_node(nodes, number, node->index))
            retype_outputs(node, TENSOR_TYPE_INPUT, TENSOR_TYPE_VAR);
    }
    TENGINE_RETURN_IF_ERROR(set_ir_graph_input_node(graph, nodes, number));
    for (int i = 0; i < number; ++i)
        retype_outputs(get_ir_graph_node(graph, nodes[i]), TENSOR_TYPE_VAR, TENSOR_TYPE_INPUT);
    return TENGINE_OK;
}

// ---- tengine/compiler_plugin.h ----

enum
{
    CUSTOM_CODE = 32
};

static bool is_open(const struct node* node)
{
    return (node->op.method->traits & OP_OPEN) != 0;
}

int tengine_node_get_tflite_code(const struct node* node)
{
    const ir_method_t* method = node->op.method;
    if (is_open(node)) return CUSTOM_CODE;
    return method->domain && strcmp(method->domain, "tflite") == 0 ? method->tflite_code : -1;
}

const void* tengine_node_get_tflite_options(const struct node* node, size_t* out_size)
{
    const op_field_t* field =
        is_open(node) ? find_op_field(node->op.method, "custom_options", 0) : NULL;
    *out_size = 0;
    if (!field || field->kind != OP_FIELD_TENSOR) return NULL;
    const struct op_tensor* options =
        (const struct op_tensor*)((const char*)node->op.param_mem + field->offset);
    *out_size = options->size;
    return options->data;
}
