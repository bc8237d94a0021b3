// SPDX-License-Identifier: Apache-2.0
// The user's affinities: patterns, matching nodes, and the rules of a graph.
#include "operator/affinity.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/context.h"
#include "graph/graph.h"
#include "graph/hint.h"
#include "graph/metadata.h"
#include "operator/registry.h"
#include "tengine/device.h"
#include "tengine/log.h"
#include "tengine/vector.h"

// Rules are compared with the nodes several times in a preparation.
#define MOST_HINTS 4096
#define MOST_HINT_WORK ((int64_t)1 << 28)

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

// Whether a preparation makes nodes of other operators of the node: those of a tmfile or a .tflite.
static bool is_converted(const struct node* node)
{
    const char* domain = get_ir_node_domain(node);
    return strcmp(domain, "tflite") == 0 ||
           (strcmp(domain, "tengine") == 0 && node->op.method->lower);
}

// Whether the pattern matches an operator that prepared graphs may have.
static bool fits_prepared_operator(const char* pattern)
{
    for (int i = 0; i < get_op_method_count(); ++i) {
        const ir_method_t* method = find_op_method_via_index(i);
        const bool is_prepared = !(method->traits & OP_LEGACY) && !method->tengine;
        if (is_prepared && fits_pattern(pattern, method->name)) return true;
    }
    return false;
}

// Whether `nodes` matches a node of the graph or, where a preparation turns its nodes into
// operators of ONNX, may match one of those: "op:Conv" for a Convolution of Tengine.
static bool fits_graph(const char* nodes, const struct graph* graph)
{
    const size_t prefix = sizeof operator_prefix - 1;
    bool has_converted = false;
    for (int i = 0; i < graph->node_num; ++i) {
        if (fits_ir_node(nodes, graph->node_list[i])) return true;
        has_converted = has_converted || is_converted(graph->node_list[i]);
    }
    return has_converted && strncmp(nodes, operator_prefix, prefix) == 0 &&
           fits_prepared_operator(nodes + prefix);
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

static int append_rule(struct vector** rules, const char* nodes, const char* devices, bool is_hint)
{
    if (!*rules) *rules = create_vector(sizeof(ir_affinity_t), release_rule);
    ir_affinity_t rule = {duplicate_string(nodes), duplicate_string(devices), is_hint};
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
        if (rule->is_hint == newest->is_hint && strcmp(rule->nodes, newest->nodes) == 0)
            remove_vector_via_index(rules, i);
    }
}

static int check_rule(const char* nodes, const char* devices)
{
    if (!nodes || nodes[0] == '\0')
        return tengine_error_set(
            TENGINE_EINVAL,
            "affinity: the nodes are %s: expected a name, a pattern with * and ?, or op:<operator>",
            nodes ? "empty" : "NULL");
    if (!devices) return tengine_error_set(TENGINE_EINVAL, "affinity: the devices are NULL");
    return check_devices(devices);
}

static int add_rule(struct graph* graph, const char* nodes, const char* devices, bool is_hint)
{
    TENGINE_RETURN_IF_ERROR(append_rule(&graph->core->affinity, nodes, devices, is_hint));
    remove_overruled(graph->core->affinity);
    return TENGINE_OK;
}

int add_ir_graph_affinity(struct graph* graph, const char* nodes, const char* devices)
{
    TENGINE_RETURN_IF_ERROR(check_rule(nodes, devices));
    if (!fits_graph(nodes, graph))
        return tengine_error_set(TENGINE_ENOENT,
                                 "affinity: none of the %d nodes of '%.100s' matches '%.200s': "
                                 "expected a name, a pattern with * and ?, or op:<operator>",
                                 count_ir_computing_nodes(graph), graph->name, nodes);
    return add_rule(graph, nodes, devices, false);
}

int add_ir_affinity_hint(struct graph* graph, const char* nodes, const char* devices)
{
    TENGINE_RETURN_IF_ERROR(check_rule(nodes, devices));
    return add_rule(graph, nodes, devices, true);
}

int copy_ir_affinities(const struct graph* source, struct graph* copy)
{
    for (int i = 0; i < get_vector_num(source->core->affinity); ++i) {
        const ir_affinity_t* rule = get_vector_data(source->core->affinity, i);
        TENGINE_RETURN_IF_ERROR(
            append_rule(&copy->core->affinity, rule->nodes, rule->devices, rule->is_hint));
    }
    return TENGINE_OK;
}

// ---- rules of the model ----

// Characters to compare a pattern with all nodes; others stop at the first difference.
static int64_t count_work(const struct graph* graph, const char* nodes)
{
    int64_t names = 0;
    if (!strchr(nodes, '*')) return graph->node_num;
    for (int i = 0; i < graph->node_num; ++i)
        names += (int64_t)strlen(graph->node_list[i]->name) + 16;
    return names * (int64_t)strlen(nodes);
}

int take_ir_affinity_hints(struct graph* graph)
{
    int64_t work = 0;
    const ir_metadata_entry_t* entry;
    for (int i = 0; (entry = get_any_ir_metadata(graph->core->metadata, i)) != NULL; ++i) {
        const char* nodes = match_ir_property(entry, IR_AFFINITY_HINT);
        if (!nodes) continue;
        work += count_work(graph, nodes);
        if (work > MOST_HINT_WORK || get_vector_num(graph->core->affinity) >= MOST_HINTS) {
            TLOG_WARNING(
                "graph '%s': the model's affinities from that of '%.100s' on are ignored: "
                "they are implausibly many and long for %d nodes",
                graph->name, nodes, graph->node_num);
            break;
        }
        const int status = add_ir_affinity_hint(graph, nodes, entry->text);
        if (status == TENGINE_ENOMEM) return status;
        if (status < 0)
            TLOG_WARNING("the model's affinity is ignored: %s", tengine_error_message());
    }
    tengine_error_clear();
    return TENGINE_OK;
}

static bool has_device(const struct graph* graph, const char* name, size_t length)
{
    const ir_context_t* context = graph->attribute->context;
    const char* const own[] = {ir_default_device_name, graph->device ? graph->device->name : ""};
    for (size_t i = 0; i < sizeof own / sizeof *own; ++i)
        if (strlen(own[i]) == length && memcmp(own[i], name, length) == 0) return true;
    for (int i = 0; context && i < get_vector_num(context->devices); ++i) {
        const ir_context_device_t* entry = get_vector_data(context->devices, i);
        const char* device = entry->device->name;
        if (strlen(device) == length && memcmp(device, name, length) == 0) return true;
    }
    return false;
}

bool has_ir_affinity_device(const struct graph* graph, const ir_affinity_t* rule)
{
    const char* cursor = rule->devices;
    const char* name;
    size_t length;
    if (excludes(rule->devices)) return true;
    while (next_ir_affinity_device(&cursor, &name, &length))
        if (has_device(graph, name, length)) return true;
    return false;
}

static bool is_in_force(const struct graph* graph, const ir_affinity_t* rule)
{
    return !rule->is_hint || (takes_ir_hints(graph) && has_ir_affinity_device(graph, rule));
}

// ---- written rules ----

static const char key_prefix[] = IR_AFFINITY_HINT;

static int write_rule(struct ir_metadata* metadata, const ir_affinity_t* rule)
{
    const size_t bytes = sizeof key_prefix + strlen(rule->nodes);
    char* key = alloc_memory(bytes);
    if (!key) return tengine_error_set(TENGINE_ENOMEM, "out of memory for an affinity");
    snprintf(key, bytes, "%s%s", key_prefix, rule->nodes);
    const ir_metadata_entry_t entry = {IR_METADATA_PROPERTY, 0, key, rule->devices};
    const int status = add_ir_metadata(metadata, &entry);
    free_memory(key);
    return status;
}

// A later rule for the same nodes replaces this one.
static bool is_replaced(const struct vector* rules, int index)
{
    const ir_affinity_t* rule = get_vector_data(rules, index);
    for (int i = index + 1; i < get_vector_num(rules); ++i)
        if (strcmp(((const ir_affinity_t*)get_vector_data(rules, i))->nodes, rule->nodes) == 0)
            return true;
    return false;
}

// Whether a later property has the same key, the value of which counts.
static bool is_repeated(const struct ir_metadata* metadata, int index)
{
    const ir_metadata_entry_t* entry = get_any_ir_metadata(metadata, index);
    const ir_metadata_entry_t* later;
    const char* option = match_ir_property(entry, IR_OPTION_HINT);
    if (!option || !is_ir_hint_option(option)) return false;
    for (int i = index + 1; (later = get_any_ir_metadata(metadata, i)) != NULL; ++i)
        if (later->kind == IR_METADATA_PROPERTY && strcmp(later->key, entry->key) == 0) return true;
    return false;
}

static int write_metadata(const struct graph* graph, struct ir_metadata* made)
{
    const struct ir_metadata* held = graph->core->metadata;
    const struct vector* rules = graph->core->affinity;
    const ir_metadata_entry_t* entry;
    for (int i = 0; (entry = get_any_ir_metadata(held, i)) != NULL; ++i)
        if (!match_ir_property(entry, IR_AFFINITY_HINT) && !is_repeated(held, i))
            TENGINE_RETURN_IF_ERROR(add_ir_metadata(made, entry));
    for (int i = 0; i < get_vector_num(rules); ++i)
        if (!is_replaced(rules, i))
            TENGINE_RETURN_IF_ERROR(write_rule(made, get_vector_data(rules, i)));
    order_ir_metadata(made);
    return TENGINE_OK;
}

int list_ir_written_metadata(struct graph* graph, struct ir_metadata** out_made)
{
    *out_made = NULL;
    if (!graph->core->metadata && get_vector_num(graph->core->affinity) == 0) return TENGINE_OK;
    struct ir_metadata* made = create_ir_metadata();
    if (!made) return tengine_error_set(TENGINE_ENOMEM, "out of memory for the model's metadata");
    const int status = write_metadata(graph, made);
    if (status == TENGINE_OK)
        *out_made = made;
    else
        release_ir_metadata(made);
    return status;
}

// ---- looking up ----

const ir_affinity_t* find_ir_node_rule(const struct graph* graph, const struct node* node,
                                       const struct node* source)
{
    for (int i = get_vector_num(graph->core->affinity) - 1; i >= 0; --i) {
        const ir_affinity_t* rule = get_vector_data(graph->core->affinity, i);
        const bool fits =
            fits_ir_node(rule->nodes, node) || (source && fits_ir_node(rule->nodes, source));
        if (fits && is_in_force(graph, rule)) return rule;
    }
    return NULL;
}

const ir_affinity_t* find_ir_execution_rule(const struct node* node)
{
    const struct graph* source = node->graph->core->source;
    if (!source) return NULL;
    return find_ir_node_rule(source, node, get_ir_graph_node(source, node->core->source_index));
}

static const char* devices_of(const ir_affinity_t* rule)
{
    return rule ? rule->devices : NULL;
}

const char* find_ir_node_affinity(const struct graph* graph, const struct node* node,
                                  const struct node* source)
{
    return devices_of(find_ir_node_rule(graph, node, source));
}

const char* find_ir_execution_affinity(const struct node* node)
{
    return devices_of(find_ir_execution_rule(node));
}
