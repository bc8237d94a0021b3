// SPDX-License-Identifier: Apache-2.0
#include "operator/type_rule.h"

#include <string.h>

#include "graph/sequence.h"
#include "operator/fail.h"
#include "operator/onnx_type.h"
#include "operator/param.h"

enum
{
    NAME_SIZE = 64,  // an attribute or a type in a rule
    NOT_APPLICABLE = -1
};

static int find_named_type(const char* name)
{
    for (int type = 0; get_data_type_size(type) > 0; ++type)
        if (strcmp(get_data_type_name(type), name) == 0) return type;
    return NOT_APPLICABLE;
}

static int find_attribute_type(const struct node* node, const char* name)
{
    const op_field_t* field = find_op_field(node->op.method, name, node->op.version);
    if (!field) return NOT_APPLICABLE;
    const void* value = (const char*)node->op.param_mem + field->offset;
    if (field->kind == OP_FIELD_INT) return get_data_type_of_onnx(*(const int*)value);
    const struct op_tensor* tensor = value;
    return tensor->dim_num >= 0 ? tensor->data_type : NOT_APPLICABLE;
}

// Returns the type that `word` makes of the value's type.
static int change_type(const char* word, int type)
{
    if (type == NOT_APPLICABLE) return NOT_APPLICABLE;
    const int container = get_ir_container(type);
    const int element = get_ir_element_type(type);
    if (strncmp(word, "sequence:", 9) == 0)
        return container == 0 ? TENGINE_DT_SEQUENCE + type : NOT_APPLICABLE;
    if (strncmp(word, "element:", 8) == 0)
        return container == TENGINE_DT_SEQUENCE ? element : NOT_APPLICABLE;
    if (strncmp(word, "optional:", 9) == 0)
        return container <= TENGINE_DT_SEQUENCE ? TENGINE_DT_OPTIONAL + type : NOT_APPLICABLE;
    // Evaluates "value:", for an optional value or one that is not optional.
    return container < TENGINE_DT_OPTIONAL ? type : type - TENGINE_DT_OPTIONAL;
}

static int find_chosen_type(const struct node* node, const char* choice)
{
    const char* of = strchr(choice, ':');
    if (of) return change_type(choice, find_chosen_type(node, of + 1));
    if (*choice == '#') {
        const int type = (int)get_ir_node_int(node, choice + 1, 0);
        return type > 0 ? type : NOT_APPLICABLE;
    }
    if (*choice == '@') return find_attribute_type(node, choice + 1);
    if (*choice < '0' || *choice > '9') return find_named_type(choice);
    const struct tensor* input = get_ir_node_input(node, *choice - '0');
    return input ? input->data_type : NOT_APPLICABLE;
}

// Reads the type that the choices at `*rule` give; `*rule` then points after them.
static int read_word(const struct node* node, const char** rule)
{
    int type = NOT_APPLICABLE;
    do {
        char choice[NAME_SIZE] = "";
        *rule += **rule == '|';
        const size_t length = strcspn(*rule, "| ");
        if (length < sizeof choice) memcpy(choice, *rule, length);
        if (type == NOT_APPLICABLE) type = find_chosen_type(node, choice);
        *rule += length;
    } while (**rule == '|');
    *rule += **rule == ' ';
    return type;
}

int infer_node_types(struct node* node)
{
    const char* rule = node->op.method->types ? node->op.method->types : "0";
    int type = NOT_APPLICABLE;
    for (int i = 0; i < node->output_num; ++i) {
        if (*rule) type = read_word(node, &rule);
        struct tensor* output = get_ir_node_output(node, i);
        if (!output) continue;
        if (type == NOT_APPLICABLE)
            return fail_node(node, TENGINE_EDTYPE, "the type of output %d is not supported", i);
        TENGINE_RETURN_IF_ERROR(set_ir_tensor_data_type(output, type));
    }
    return TENGINE_OK;
}
