// SPDX-License-Identifier: Apache-2.0
// Checks a node against its operator's row.
#include <math.h>
#include <string.h>

#include "graph/core.h"
#include "operator/infer.h"
#include "operator/param.h"

bool is_default_param(const op_field_t* field, const void* memory)
{
    switch (field->kind) {
        case OP_FIELD_INT:
            return *(const int*)memory == (int)field->number;
        case OP_FIELD_FLOAT: {
            const float value = *(const float*)memory;
            const float initial = (float)field->number;
            return value == initial || (isnan(value) && isnan(initial));
        }
        case OP_FIELD_STRING: {
            const char* value = *(char* const*)memory;
            return !value || (field->text && strcmp(value, field->text) == 0);
        }
        case OP_FIELD_TENSOR:
            return ((const struct op_tensor*)memory)->dim_num < 0;
        default:
            return ((const struct op_ints*)memory)->num == 0;  // all lists start with num
    }
}

bool is_given_param(const ir_method_t* method, const op_field_t* field, const void* memory)
{
    if (!(method->traits & OP_OPEN)) return !is_default_param(field, memory);
    if (field->kind == OP_FIELD_STRING) return *(char* const*)memory != NULL;
    return field->kind != OP_FIELD_TENSOR || ((const struct op_tensor*)memory)->dim_num >= 0;
}

static int check_count(const struct node* node, const char* what, int number, int minimum,
                       int maximum)
{
    if (number >= minimum && (maximum < 0 || number <= maximum)) return TENGINE_OK;
    if (maximum < 0)
        return fail_node(node, TENGINE_EGRAPH, "%d %s, expected at least %d", number, what,
                         minimum);
    return fail_node(node, TENGINE_EGRAPH, "%d %s, expected %d to %d in opset %d", number, what,
                     minimum, maximum, node->op.version);
}

// Whether a required parameter with its default value may have been set: a number, unless the
// default is outside the allowed range.
static bool is_default_possible(const op_field_t* field)
{
    if (field->kind != OP_FIELD_INT && field->kind != OP_FIELD_FLOAT) return false;
    return field->number >= field->minimum || (field->minimum == 0 && field->maximum == 0);
}

int check_node_counts(const struct node* node)
{
    const ir_method_t* method = node->op.method;
    TENGINE_RETURN_IF_ERROR(
        check_count(node, "inputs", node->input_num, method->min_input, method->max_input));
    return check_count(node, "outputs", node->output_num, method->min_output, method->max_output);
}

int check_node(const struct node* node)
{
    const ir_method_t* method = node->op.method;
    if (method->bodies && !node->core->bodies)
        return fail_node(node, TENGINE_EGRAPH,
                         "it has no graphs; nodes of control flow come from model files");
    TENGINE_RETURN_IF_ERROR(check_node_counts(node));
    // None of a variadic operator's inputs is optional, unless it has bodies.
    const bool needs_all = method->max_input < 0 && !method->bodies;
    const int needed = needs_all ? node->input_num : method->min_input;
    for (int i = 0; i < needed; ++i)
        if (node->input_tensors[i] < 0)
            return fail_node(node, TENGINE_EGRAPH, "input %d is missing", i);
    for (int i = 0; i < method->field_num; ++i) {
        const op_field_t* field = &method->fields[i];
        if (!field->required || field != find_op_field(method, field->name, node->op.version))
            continue;
        if (is_default_param(field, (const char*)node->op.param_mem + field->offset) &&
            !is_default_possible(field))
            return fail_node(node, TENGINE_EGRAPH, "attribute '%s' is required", field->name);
    }
    return TENGINE_OK;
}
