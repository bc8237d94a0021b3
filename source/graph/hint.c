// SPDX-License-Identifier: Apache-2.0
#include "graph/hint.h"

#include <stdio.h>
#include <string.h>

#include "base/minimal.h"
#include "graph/core.h"
#include "graph/metadata.h"
#include "graph/option.h"

static const char* const hint_options[] = {"split.prune", "split.min_nodes", "split.min_macs",
                                           "precision.keep_float"};

bool is_ir_hint_option(const char* key)
{
    for (size_t i = 0; i < sizeof hint_options / sizeof *hint_options; ++i)
        if (strcmp(hint_options[i], key) == 0) return true;
    return false;
}

const struct graph* find_ir_model(const struct graph* graph)
{
    for (const struct graph* next = graph; next;
         next = graph->core->source ? graph->core->source : graph->core->outer)
        graph = next;
    return graph;
}

bool takes_ir_hints(const struct graph* graph)
{
    return get_ir_context_number(graph->attribute->context, "model.hints") != 0;
}

// Patterns are compared with all nodes, which takes the product of their lengths.
static bool is_valid(const char* key, const char* value)
{
    if (strlen(value) <= IR_HINT_MOST_BYTES && check_ir_option(key, value) == TENGINE_OK)
        return true;
    tengine_error_clear();
    return false;
}

const char* find_ir_option_hint(const struct graph* graph, const char* key)
{
    const struct ir_metadata* metadata = find_ir_model(graph)->core->metadata;
    const char* value = NULL;
    const ir_metadata_entry_t* entry;
    for (int i = 0; (entry = get_any_ir_metadata(metadata, i)) != NULL; ++i) {
        const char* named = match_ir_property(entry, IR_OPTION_HINT);
        if (named && strcmp(named, key) == 0) value = entry->text;
    }
    return value && is_valid(key, value) ? value : NULL;
}

const char* get_ir_graph_option(const struct graph* graph, const char* key)
{
    const ir_context_t* context = graph->attribute->context;
    const char* set = context ? find_ir_key_value(context->key_values, key) : NULL;
    if (set) return set;
    const char* hint =
        !IS_MINIMAL && takes_ir_hints(graph) ? find_ir_option_hint(graph, key) : NULL;
    return hint ? hint : get_ir_context_option(context, key);
}

double get_ir_graph_number(const struct graph* graph, const char* key)
{
    return parse_ir_number(get_ir_graph_option(graph, key));
}

int add_ir_option_hint(struct graph* graph, const char* key, const char* value)
{
    char name[64];
    if (!is_ir_hint_option(key))
        return tengine_error_set(
            TENGINE_ENOENT,
            "hint '%.100s': a model may set " IR_HINT_OPTIONS ", and no other option", key);
    TENGINE_RETURN_IF_ERROR(check_ir_option(key, value));
    if (strlen(value) > IR_HINT_MOST_BYTES)
        return tengine_error_set(TENGINE_ERANGE,
                                 "hint '%s': the value has %zu bytes, expected at most %d", key,
                                 strlen(value), IR_HINT_MOST_BYTES);
    TENGINE_RETURN_IF_ERROR(own_ir_metadata(graph));
    snprintf(name, sizeof name, IR_OPTION_HINT "%s", key);
    const ir_metadata_entry_t entry = {IR_METADATA_PROPERTY, 0, name, value};
    TENGINE_RETURN_IF_ERROR(add_ir_metadata(graph->core->metadata, &entry));
    order_ir_metadata(graph->core->metadata);
    return TENGINE_OK;
}
