// SPDX-License-Identifier: Apache-2.0
// placement.h: what a model says about its own placement.
#include "graph/hint.h"

#include <stdio.h>
#include <string.h>

#include "api/check.h"
#include "graph/metadata.h"
#include "graph/option.h"
#include "operator/affinity.h"
#include "tengine/placement.h"

// ---- options ----

// The key of the option that an entry sets and whose last entry it is; NULL: none.
static const char* match_option(const struct ir_metadata* metadata, int index)
{
    const ir_metadata_entry_t* entry = get_any_ir_metadata(metadata, index);
    const char* key = match_ir_property(entry, IR_OPTION_HINT);
    if (!key || !is_ir_hint_option(key)) return NULL;
    while ((entry = get_any_ir_metadata(metadata, ++index)) != NULL) {
        const char* later = match_ir_property(entry, IR_OPTION_HINT);
        if (later && strcmp(later, key) == 0) return NULL;
    }
    return key;
}

// The place of option `wanted` among the entries, or, without it, -1 - the number of options.
static int find_option(const struct ir_metadata* metadata, int wanted)
{
    int number = 0;
    for (int i = 0; get_any_ir_metadata(metadata, i); ++i)
        if (match_option(metadata, i) && number++ == wanted) return i;
    return -1 - number;
}

static void judge_option(const struct graph* graph, struct tengine_hint* hint)
{
    const ir_context_t* context = graph->attribute->context;
    const char* set = find_ir_key_value(context->key_values, hint->option);
    const char* valid = find_ir_option_hint(graph, hint->option);
    if (!takes_ir_hints(graph))
        snprintf(hint->reason, sizeof hint->reason, "the option model.hints is 0");
    else if (set)
        snprintf(hint->reason, sizeof hint->reason, "the program sets '%.100s'", set);
    else if (!valid)
        snprintf(hint->reason, sizeof hint->reason, "the option cannot have this value");
    hint->is_used = hint->reason[0] == '\0';
}

static void describe_option(const struct graph* graph, int place, struct tengine_hint* hint)
{
    const ir_metadata_entry_t* entry = get_any_ir_metadata(graph->core->metadata, place);
    hint->option = match_ir_property(entry, IR_OPTION_HINT);
    hint->value = entry->text;
    judge_option(graph, hint);
}

// ---- affinities ----

static const ir_affinity_t* get_rule(const struct graph* graph, int index)
{
    for (int i = 0; i < get_vector_num(graph->core->affinity); ++i) {
        const ir_affinity_t* rule = get_vector_data(graph->core->affinity, i);
        if (rule->is_hint && index-- == 0) return rule;
    }
    return NULL;
}

static int count_rules(const struct graph* graph)
{
    int number = 0;
    while (get_rule(graph, number))
        ++number;
    return number;
}

// Counts the nodes that a rule matches, and those that it decides about: nodes that run, which also
// have the names of ONNX's operators, or without a preparation the model's.
static int count_fitting(const struct graph* model, const ir_affinity_t* rule, int* out_decided)
{
    const struct graph* execution = model->core->execution;
    const struct graph* graph = execution ? execution : model;
    int number = 0;
    for (int i = 0; i < graph->node_num; ++i) {
        const struct node* node = graph->node_list[i];
        const struct node* source =
            execution ? get_ir_graph_node(model, node->core->source_index) : NULL;
        if (node->input_num == 0) continue;
        number += fits_ir_node(rule->nodes, node) || (source && fits_ir_node(rule->nodes, source));
        *out_decided += find_ir_node_rule(model, node, source) == rule;
    }
    return number;
}

static void judge_affinity(const struct graph* graph, const ir_affinity_t* rule,
                           struct tengine_hint* hint)
{
    const int fitting = count_fitting(graph, rule, &hint->node_number);
    hint->is_used = hint->node_number > 0;
    if (!takes_ir_hints(graph))
        snprintf(hint->reason, sizeof hint->reason, "the option model.hints is 0");
    else if (!has_ir_affinity_device(graph, rule))
        snprintf(hint->reason, sizeof hint->reason, "the graph has no device '%.200s'",
                 rule->devices);
    else if (fitting == 0)
        snprintf(hint->reason, sizeof hint->reason, "no node of the model matches");
    else if (!hint->is_used)
        snprintf(hint->reason, sizeof hint->reason, "later affinities decide about its nodes");
}

static void describe_affinity(const struct graph* graph, const ir_affinity_t* rule,
                              struct tengine_hint* hint)
{
    hint->nodes = rule->nodes;
    hint->value = rule->devices;
    judge_affinity(graph, rule, hint);
}

// ---- functions ----

int tengine_graph_get_hint_number(graph_t graph)
{
    const api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_idle(target, __func__) < 0) return api_failure();
    return count_rules(target->graph) - 1 - find_option(target->graph->core->metadata, -1);
}

int tengine_graph_get_hint(graph_t graph, int index, struct tengine_hint* out_hint, size_t size)
{
    const api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_struct(out_hint, size, __func__, "out_hint") < 0 ||
        check_idle(target, __func__) < 0)
        return api_failure();
    const struct graph* model = target->graph;
    const int rules = count_rules(model);
    const int place = index < rules ? -1 : find_option(model->core->metadata, index - rules);
    const ir_affinity_t* rule = index < 0 ? NULL : get_rule(model, index);
    if (!rule && place < 0)
        return api_result(check_index(index, rules - 1 - find_option(model->core->metadata, -1),
                                      __func__, "hints"));
    struct tengine_hint made = {.nodes = "", .option = "", .value = ""};
    if (rule)
        describe_affinity(model, rule, &made);
    else
        describe_option(model, place, &made);
    give_struct(&made, sizeof made, out_hint, size);
    return 0;
}

int tengine_graph_set_hint(graph_t graph, const char* option, const char* value)
{
    api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_name(option, __func__, "option") < 0 ||
        check_pointer(value, __func__, "value") < 0 || check_idle(target, __func__) < 0)
        return api_failure();
    return end_change(target, add_ir_option_hint(target->graph, option, value));
}
