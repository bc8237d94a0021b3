// SPDX-License-Identifier: Apache-2.0
// Prints nodes and graphs.
#include "operator/param.h"
#include "tengine/log.h"

static void print_list(text_t* out_text, const op_field_t* field, const void* memory)
{
    const int num = ((const struct op_ints*)memory)->num;
    append_text(out_text, "[");
    for (int i = 0; i < num; ++i) {
        const char* comma = i ? "," : "";
        if (field->kind == OP_FIELD_INTS)
            append_text(out_text, "%s%lld", comma,
                        (long long)((const struct op_ints*)memory)->values[i]);
        else if (field->kind == OP_FIELD_FLOATS)
            append_text(out_text, "%s%g", comma,
                        (double)((const struct op_floats*)memory)->values[i]);
        else
            append_text(out_text, "%s%s", comma, ((const struct op_strings*)memory)->values[i]);
    }
    append_text(out_text, "]");
}

static void print_value(text_t* out_text, const op_field_t* field, const void* memory)
{
    switch (field->kind) {
        case OP_FIELD_INT:
            append_text(out_text, "%d", *(const int*)memory);
            break;
        case OP_FIELD_FLOAT:
            append_text(out_text, "%g", (double)*(const float*)memory);
            break;
        case OP_FIELD_STRING:
            append_text(out_text, "%s", *(char* const*)memory);
            break;
        case OP_FIELD_TENSOR: {
            const struct op_tensor* tensor = memory;
            append_text(out_text, "%s of %zu bytes", get_data_type_name(tensor->data_type),
                        tensor->size);
            break;
        }
        default:
            print_list(out_text, field, memory);
    }
}

const op_field_t* find_given_param(const struct node* node, int index)
{
    const ir_method_t* method = node->op.method;
    for (int i = 0; i < method->field_num; ++i) {
        const op_field_t* field = &method->fields[i];
        const void* memory = (const char*)node->op.param_mem + field->offset;
        if (field != find_op_field(method, field->name, node->op.version)) continue;
        if (!is_default_param(field, memory) && index-- == 0) return field;
    }
    return NULL;
}

void print_param(const struct node* node, const op_field_t* field, text_t* out_text)
{
    print_value(out_text, field, (const char*)node->op.param_mem + field->offset);
}

void print_node_params(const struct node* node, text_t* out_text)
{
    const op_field_t* field;
    for (int i = 0; (field = find_given_param(node, i)) != NULL; ++i) {
        append_text(out_text, "%s%s=", out_text->length ? " " : "", field->name);
        print_param(node, field, out_text);
    }
}

static void print_tensor(text_t* out_text, const struct tensor* tensor)
{
    if (!tensor) {
        append_text(out_text, "-");
        return;
    }
    append_text(out_text, "%s:%s[", tensor->name, get_data_type_name(tensor->data_type));
    if (!tensor->shape_set) append_text(out_text, "?");
    for (int i = 0; i < tensor->dim_num; ++i)
        append_text(out_text, "%s%d", i ? "," : "", tensor->dims[i]);
    append_text(out_text, "]");
}

void dump_ir_graph(const struct graph* graph)
{
    TLOG_INFO("graph '%s': %d nodes, %d tensors, %d inputs, %d outputs, %d parts", graph->name,
              graph->node_num, graph->tensor_num, graph->input_tensor_num, graph->output_tensor_num,
              get_vector_num(graph->subgraph_list));
    for (int i = 0; i < graph->node_num; ++i) {
        const struct node* node = graph->node_list[i];
        text_t line = {0}, params = {0};
        append_text(&line, "%4d %s '%s' (", i, node->op.method->name, node->name);
        for (int k = 0; k < node->input_num; ++k) {
            if (k) append_text(&line, ", ");
            print_tensor(&line, get_ir_node_input(node, k));
        }
        append_text(&line, ") -> (");
        for (int k = 0; k < node->output_num; ++k) {
            if (k) append_text(&line, ", ");
            print_tensor(&line, get_ir_node_output(node, k));
        }
        print_node_params(node, &params);
        append_text(&line, ") %s part %d", params.data ? params.data : "", node->subgraph_idx);
        TLOG_INFO("%s", line.data ? line.data : "");
        free_text(&line);
        free_text(&params);
    }
}
