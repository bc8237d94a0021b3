// SPDX-License-Identifier: Apache-2.0
// metadata.h: the statements of a model about itself, outputs whose shape depends on data.
#include "tengine/metadata.h"

#include <string.h>

#include "api/check.h"
#include "graph/declaration.h"
#include "graph/graph.h"
#include "graph/metadata.h"
#include "operator/operator.h"

static const char* find_text(const struct ir_metadata* metadata, int kind)
{
    const ir_metadata_entry_t* entry = get_ir_metadata(metadata, kind, 0);
    return entry ? entry->text : "";
}

static int64_t find_number(const struct ir_metadata* metadata, int kind)
{
    const ir_metadata_entry_t* entry = get_ir_metadata(metadata, kind, 0);
    return entry ? entry->number : 0;
}

int tengine_graph_get_metadata(graph_t graph, struct tengine_metadata* out_metadata, size_t size)
{
    const api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_struct(out_metadata, size, __func__, "out_metadata") < 0)
        return api_failure();
    const struct ir_metadata* held = target->graph->core->metadata;
    const struct tengine_metadata made = {
        .graph_name = target->graph->name,
        .producer_name = find_text(held, IR_METADATA_PRODUCER_NAME),
        .producer_version = find_text(held, IR_METADATA_PRODUCER_VERSION),
        .domain = find_text(held, IR_METADATA_DOMAIN),
        .doc_string = find_text(held, IR_METADATA_DOC_STRING),
        .graph_doc_string = find_text(held, IR_METADATA_GRAPH_DOC_STRING),
        .model_version = find_number(held, IR_METADATA_MODEL_VERSION),
        .ir_version = find_number(held, IR_METADATA_IR_VERSION),
        .property_number = count_ir_metadata(held, IR_METADATA_PROPERTY),
        .opset_number = count_ir_metadata(held, IR_METADATA_OPSET),
    };
    give_struct(&made, sizeof made, out_metadata, size);
    return 0;
}

// `what` names the entries. NULL after a failure.
static const ir_metadata_entry_t* find_entry(graph_t graph, int kind, int index,
                                             const char* function, const char* what)
{
    const api_graph_t* target = find_graph(graph, function);
    if (!target) return NULL;
    const struct ir_metadata* held = target->graph->core->metadata;
    if (check_index(index, count_ir_metadata(held, kind), function, what) < 0) return NULL;
    return get_ir_metadata(held, kind, index);
}

int tengine_graph_get_property(graph_t graph, int index, const char** out_key,
                               const char** out_value)
{
    const ir_metadata_entry_t* entry =
        find_entry(graph, IR_METADATA_PROPERTY, index, __func__, "properties");
    if (!entry || check_pointer(out_key, __func__, "out_key") < 0 ||
        check_pointer(out_value, __func__, "out_value") < 0)
        return api_failure();
    *out_key = entry->key;
    *out_value = entry->text;
    return 0;
}

const char* tengine_graph_find_property(graph_t graph, const char* key)
{
    const api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_pointer(key, __func__, "key") < 0) return api_pointer(NULL);
    const struct ir_metadata* held = target->graph->core->metadata;
    const ir_metadata_entry_t* entry;
    for (int i = 0; (entry = get_any_ir_metadata(held, i)) != NULL; ++i)
        if (entry->kind == IR_METADATA_PROPERTY && strcmp(entry->key, key) == 0) return entry->text;
    // "None" is a result, not an error to log.
    tengine_error_set(TENGINE_ENOENT, "%s: the model has no property '%s'", __func__, key);
    return NULL;
}

int tengine_graph_get_opset(graph_t graph, int index, const char** out_domain, int64_t* out_version)
{
    const ir_metadata_entry_t* entry =
        find_entry(graph, IR_METADATA_OPSET, index, __func__, "opsets");
    if (!entry || check_pointer(out_domain, __func__, "out_domain") < 0 ||
        check_pointer(out_version, __func__, "out_version") < 0)
        return api_failure();
    *out_domain = entry->key;
    *out_version = entry->number;
    return 0;
}

const char* tengine_node_get_doc_string(node_t node)
{
    api_graph_t* owner = NULL;
    const struct node* target = find_node(node, __func__, &owner);
    if (!target) return api_pointer(NULL);
    return find_ir_node_doc_string(owner->graph->core->metadata, target->name);
}

// ---- shapes ----

int tengine_tensor_get_declared_shape(tensor_t tensor, int dims[], int dim_number)
{
    const struct tensor* target = find_tensor(tensor, __func__, NULL);
    if (!target || check_pointer(dims, __func__, "dims") < 0) return api_failure();
    if (!is_ir_shape_declared(target)) {
        // "None" is a result, not an error to log.
        tengine_error_set(TENGINE_ENOENT, "%s: the model declares no shape of tensor '%s'",
                          __func__, target->name);
        return -1;
    }
    const ir_declaration_t* declared = target->core->declaration;
    if (dim_number < declared->dim_num)
        return api_result(tengine_error_set(
            TENGINE_ERANGE, "%s: tensor '%s': the buffer has room for %d dimensions, expected %d",
            __func__, target->name, dim_number, declared->dim_num));
    memcpy(dims, declared->dims, sizeof *dims * (size_t)declared->dim_num);
    return declared->dim_num;
}

// Whether a node's rule for shapes reads a value that each run can change.
static bool reads_later_value(const struct node* node)
{
    const struct value_shape* rule = node ? node->op.method->value_shape : NULL;
    const struct tensor* value = rule ? get_ir_node_input(node, rule->input) : NULL;
    return value && value->tensor_type != TENSOR_TYPE_CONST;
}

static int find_output(const api_graph_t* owner, const struct tensor* tensor, const char* function,
                       int* out_index)
{
    const struct graph* graph = owner->graph;
    for (*out_index = 0; *out_index < graph->output_tensor_num; ++*out_index)
        if (graph->output_tensors[*out_index] == tensor->index) break;
    if (*out_index == graph->output_tensor_num)
        return tengine_error_set(TENGINE_EINVAL, "%s: tensor '%s' is not an output of the graph",
                                 function, tensor->name);
    TENGINE_RETURN_IF_ERROR(check_idle(owner, function));
    if (graph->core->execution) return TENGINE_OK;
    return tengine_error_set(TENGINE_ESTATE, "%s: call prerun_graph first", function);
}

int tengine_tensor_has_data_shape(tensor_t tensor)
{
    api_graph_t* owner = NULL;
    const struct tensor* target = find_tensor(tensor, __func__, &owner);
    int index;
    if (!target || find_output(owner, target, __func__, &index) < 0) return api_failure();
    const struct graph* execution = owner->graph->core->execution;
    const struct tensor* made = execution->tensor_list[execution->output_tensors[index]];
    return !is_ir_tensor_shape_known(made) ||
           reads_later_value(get_ir_graph_node(execution, made->producer));
}
