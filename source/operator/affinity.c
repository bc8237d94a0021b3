// SPDX-License-Identifier: Apache-2.0
// The user's affinities: patterns, matching nodes, and the rules of a graph.
#include "operator/affinity.h"

#include <limits.h>
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
    while ((*text & 0xC0) == 0x80);  // continuation bytes of a character in UTF-8
    return text;
}

// Only the last * is tried again, since it can match all that an earlier one could match instead.
// So the time is at most the product of the lengths.
static bool fits_pattern(const char* pattern, const char* text)
{
    const char* star = NULL;   // the pattern after the last *
    const char* taken = NULL;  // where the string continues after the characters that * has matched
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

// An entry of a list of devices, "A" or "A#2".
typedef struct entry
{
    const char* name;
    size_t length;
    const char* group;  // the string after #, or NULL
    size_t group_length;
} entry_t;

static bool next_entry(const char** cursor, entry_t* out_entry)
{
    const char* begin = *cursor;
    if (!begin) return false;
    const char* end = begin + strcspn(begin, ",");
    *cursor = *end ? end + 1 : NULL;
    begin += strspn(begin, " ");
    begin += *begin == '!';
    while (end > begin && end[-1] == ' ')
        --end;
    const char* mark = memchr(begin, '#', (size_t)(end - begin));
    *out_entry = (entry_t){.name = begin, .length = (size_t)((mark ? mark : end) - begin)};
    if (!mark) return true;
    out_entry->group = mark + 1;
    out_entry->group_length = (size_t)(end - out_entry->group);
    return true;
}

bool next_ir_affinity_device(const char** cursor, const char** out_name, size_t* out_length)
{
    entry_t entry;
    if (!next_entry(cursor, &entry)) return false;
    *out_name = entry.name;
    *out_length = entry.length;
    return true;
}

// Reads a group; 0 unless it is an integer from 1 to INT_MAX.
static int read_group(const entry_t* entry)
{
    int64_t group = 0;
    for (size_t i = 0; i < entry->group_length && group <= INT_MAX; ++i) {
        const char digit = entry->group[i];
        if (digit < '0' || digit > '9') return 0;
        group = group * 10 + (digit - '0');
    }
    return group <= INT_MAX ? (int)group : 0;
}

// A leading ! applies to the whole list.
static bool excludes(const char* devices)
{
    return devices[strspn(devices, " ")] == '!';
}

// Finds the device's entry in a list of devices.
static bool find_entry(const char* devices, const char* device, size_t wanted, entry_t* out_entry)
{
    while (next_entry(&devices, out_entry))
        if (out_entry->length == wanted && memcmp(out_entry->name, device, wanted) == 0)
            return true;
    return false;
}

static bool lists_device(const char* devices, const char* device)
{
    entry_t entry;
    return find_entry(devices, device, strlen(device), &entry);
}

int get_ir_affinity_group(const char* devices, const char* device)
{
    entry_t entry;
    if (excludes(devices) || !find_entry(devices, device, strlen(device), &entry)) return 0;
    return entry.group ? read_group(&entry) : 0;
}

bool allows_ir_affinity(const char* devices, const char* device)
{
    return lists_device(devices, device) != excludes(devices);
}

bool names_ir_affinity(const char* devices, const char* device)
{
    return !excludes(devices) && lists_device(devices, device);
}

// `first`: the first entry of the same device.
static int check_group(const char* devices, const entry_t* entry, const entry_t* first)
{
    const bool same =
        entry->group_length == first->group_length && !entry->group == !first->group &&
        (!entry->group || memcmp(entry->group, first->group, entry->group_length) == 0);
    if (!same)
        return tengine_error_set(
            TENGINE_EINVAL, "affinity: '%.200s' has a device twice in different groups", devices);
    if (!entry->group) return TENGINE_OK;
    if (excludes(devices))
        return tengine_error_set(TENGINE_EINVAL,
                                 "affinity: '%.200s' excludes a group: a device is excluded as a "
                                 "whole, without #",
                                 devices);
    if (read_group(entry) == 0)
        return tengine_error_set(TENGINE_EINVAL,
                                 "affinity: invalid group '%.*s' in '%.200s': expected a whole "
                                 "number from 1 to %d, as in A#2",
                                 (int)(entry->group_length < 50 ? entry->group_length : 50),
                                 entry->group, devices, INT_MAX);
    return TENGINE_OK;
}

static int check_devices(const char* devices)
{
    entry_t entry, first;
    const char* cursor = devices;
    while (next_entry(&cursor, &entry)) {
        if (entry.length == 0)
            return tengine_error_set(TENGINE_EINVAL,
                                     "affinity: empty device name in '%.200s': expected e.g. "
                                     "\"A,B\" (only these devices) or \"!A,B\" (all but these)",
                                     devices);
        if (entry.name > devices && entry.name[-1] == '!' && !excludes(devices))
            return tengine_error_set(TENGINE_EINVAL,
                                     "affinity: '%.200s' mixes devices with and without '!': "
                                     "expected one '!' at the front, for all of them",
                                     devices);
        find_entry(devices, entry.name, entry.length, &first);
        TENGINE_RETURN_IF_ERROR(check_group(devices, &entry, &first));
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
    return tengine_error_set(TENGINE_ENOMEM, "'%.200s': out of memory for its affinity", nodes);
}

// Removes earlier rules for the same nodes, so that a program that sets a rule before every prerun
// does not accumulate them.
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
