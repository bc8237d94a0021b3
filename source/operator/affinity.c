// SPDX-License-Identifier: Apache-2.0
// The user's affinities: texts, which nodes they fit, and the rules of a graph.
#include "operator/affinity.h"

#include <string.h>

#include "base/alloc.h"
#include "graph/graph.h"
#include "tengine/vector.h"

static const char operator_prefix[] = "op:";

// ---- nodes ----

static const char* next_character(const char* text)
{
    do
        ++text;
    while ((*text & 0xC0) == 0x80);  // the bytes after the first of a character in UTF-8
    return text;
}

// Only the last * is ever tried again: what an earlier one could take instead, the last one can
// take as well. So the time is at most the product of the lengths.
static bool fits_pattern(const char* pattern, const char* text)
{
    const char* star = NULL;   // the pattern after the last *
    const char* taken = NULL;  // where the text goes on after what that * has taken
    while (*text) {
        if (*pattern == '*') {
            star = ++pattern;
            taken = text;
        } else if (*pattern == '?') {
            ++pattern;
            text = next_character(text);
        } else if (*pattern == *text) {
            ++pattern;
            ++text;
        } else if (star) {
            pattern = star;
            text = taken = next_character(taken);
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        ++pattern;
    return *pattern == '\0';
}

bool fits_ir_node(const char* nodes, const struct node* node)
{
    const size_t prefix = sizeof operator_prefix - 1;
    if (strcmp(nodes, node->name) == 0) return true;
    if (strncmp(nodes, operator_prefix, prefix) != 0) return fits_pattern(nodes, node->name);
    return fits_pattern(nodes + prefix, get_ir_node_op(node));
}

static bool fits_any_node(const char* nodes, const struct graph* graph)
{
    for (int i = 0; i < graph->node_num; ++i)
        if (fits_ir_node(nodes, graph->node_list[i])) return true;
    return false;
}

// ---- devices ----

bool next_ir_affinity_device(const char** cursor, const char** out_name, size_t* out_length)
{
    const char* begin = *cursor;
    if (!begin) return false;
    const char* end = begin + strcspn(begin, ",");
    *cursor = *end ? end + 1 : NULL;
    begin += strspn(begin, " ");
    begin += *begin == '!';
    while (end > begin && end[-1] == ' ')
        --end;
    *out_name = begin;
    *out_length = (size_t)(end - begin);
    return true;
}

// A ! in front counts for the whole list.
static bool excludes(const char* devices)
{
    return devices[strspn(devices, " ")] == '!';
}

static bool lists_device(const char* devices, const char* device)
{
    const size_t wanted = strlen(device);
    const char* name;
    size_t length;
    while (next_ir_affinity_device(&devices, &name, &length))
        if (length == wanted && memcmp(name, device, length) == 0) return true;
    return false;
}

bool allows_ir_affinity(const char* devices, const char* device)
{
    return lists_device(devices, device) != excludes(devices);
}

bool names_ir_affinity(const char* devices, const char* device)
{
    return !excludes(devices) && lists_device(devices, device);
}

static int check_devices(const char* devices)
{
    const char* name;
    size_t length;
    const char* cursor = devices;
    while (next_ir_affinity_device(&cursor, &name, &length)) {
        if (length == 0)
            return tengine_error_set(TENGINE_EINVAL,
                                     "affinity: empty device name in '%.200s': expected e.g. "
                                     "\"A,B\" (only these devices) or \"!A,B\" (all but these)",
                                     devices);
        if (name > devices && name[-1] == '!' && !excludes(devices))
            return tengine_error_set(TENGINE_EINVAL,
                                     "affinity: '%.200s' mixes devices with and without '!': "
                                     "expected one '!' at the front, for all of them",
                                     devices);
    }
    return TENGINE_OK;
}

// ---- rules ----

static void release_rule(void* data)
{
    ir_affinity_t* rule = data;
    free_memory(rule->nodes);
    free_memory(rule->devices);
}

static int append_rule(struct vector** rules, const char* nodes, const char* devices)
{
    if (!*rules) *rules = create_vector(sizeof(ir_affinity_t), release_rule);
    ir_affinity_t rule = {duplicate_string(nodes), duplicate_string(devices)};
    if (*rules && rule.nodes && rule.devices && push_vector_data(*rules, &rule) == 0)
        return TENGINE_OK;
    release_rule(&rule);
    return tengine_error_set(TENGINE_ENOMEM, "no memory for the affinity of '%.200s'", nodes);
}

// Earlier rules for the same nodes as the last: else a program that changes its mind before every
// prerun would pile them up.
static void remove_overruled(struct vector* rules)
{
    for (int i = get_vector_num(rules) - 2; i >= 0; --i) {
        const ir_affinity_t* rule = get_vector_data(rules, i);
        const ir_affinity_t* newest = get_vector_data(rules, get_vector_num(rules) - 1);
        if (strcmp(rule->nodes, newest->nodes) == 0) remove_vector_via_index(rules, i);
    }
}

int add_ir_graph_affinity(struct graph* graph, const char* nodes, const char* devices)
{
    if (!nodes || nodes[0] == '\0')
        return tengine_error_set(
            TENGINE_EINVAL,
            "affinity: the nodes are %s: expected a name, a pattern with * and ?, or op:<operator>",
            nodes ? "empty" : "NULL");
    if (!devices) return tengine_error_set(TENGINE_EINVAL, "affinity: the devices are NULL");
    TENGINE_RETURN_IF_ERROR(check_devices(devices));
    if (!fits_any_node(nodes, graph))
        return tengine_error_set(TENGINE_ENOENT,
                                 "affinity: none of the %d nodes of '%.100s' matches '%.200s': "
                                 "expected a name, a pattern with * and ?, or op:<operator>",
                                 count_ir_computing_nodes(graph), graph->name, nodes);
    TENGINE_RETURN_IF_ERROR(append_rule(&graph->core->affinity, nodes, devices));
    remove_overruled(graph->core->affinity);
    return TENGINE_OK;
}

const char* find_ir_node_affinity(const struct graph* graph, const struct node* node,
                                  const struct node* source)
{
    for (int i = get_vector_num(graph->core->affinity) - 1; i >= 0; --i) {
        const ir_affinity_t* rule = get_vector_data(graph->core->affinity, i);
        if (fits_ir_node(rule->nodes, node) || (source && fits_ir_node(rule->nodes, source)))
            return rule->devices;
    }
    return NULL;
}

const char* find_ir_execution_affinity(const struct node* node)
{
    const struct graph* source = node->graph->core->source;
    if (!source) return NULL;
    return find_ir_node_affinity(source, node, get_ir_graph_node(source, node->core->source_index));
}
