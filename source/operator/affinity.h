// SPDX-License-Identifier: Apache-2.0
// The devices that the user, or the model itself with hints (graph/hint.h), allows for nodes: rules
// in the order in which they were set, those of the model first; the last rule that matches a node
// applies. A rule of the model does not apply where the graph has none of the devices that it
// names, or where the context ignores hints.
#pragma once

#include "tengine/ir.h"

struct ir_metadata;

TENGINE_EXTERN_C_BEGIN

// Characters are those of UTF-8; blanks around a device's name are ignored.
typedef struct ir_affinity
{
    // "conv*": nodes by name, where * matches any characters and ? one; "op:Softmax": by operator,
    // with the same wildcards. A name that contains wildcards, or begins with "op:", matches
    // itself.
    char* nodes;
    char* devices;  // "A,B#2": only these, on B in group 2; "!A,B": all except these
    bool is_hint;   // the model's
} ir_affinity_t;

// Whether `nodes`, written as above, matches a node.
bool fits_ir_node(const char* nodes, const struct node* node);

// Appends a rule to graph->affinity; it replaces an earlier one with the same `nodes`. ENOENT when
// `nodes` matches no node of the graph and no operator that the preparation may turn one into;
// EINVAL for NULL, an empty string, a list with an empty name, one that mixes devices with and
// without !, and for a group that is invalid, excluded, or differs from the device's group in the
// same list. The caller checks that the devices exist. A failure leaves the rules as they were.
int add_ir_graph_affinity(struct graph* graph, const char* nodes, const char* devices);

// Appends a rule of the model, before the program adds its own. As above, but nodes need not match
// and devices need not exist.
int add_ir_affinity_hint(struct graph* graph, const char* nodes, const char* devices);
// Appends those that the model's properties have. Invalid ones are logged and left out; so are all
// from the one on with which the rules would take too much time to compare with the nodes. ENOMEM.
TENGINE_MUST_USE int take_ir_affinity_hints(struct graph* graph);
// Appends the rules of `source` to a copy of its graph. ENOMEM.
TENGINE_MUST_USE int copy_ir_affinities(const struct graph* source, struct graph* copy);
// The metadata of a file that the graph is written to: with all rules as properties, those of the
// program after the model's own. The caller holds them; NULL: the graph has no metadata. ENOMEM.
TENGINE_MUST_USE int list_ir_written_metadata(struct graph* graph, struct ir_metadata** out_made);

// Whether the graph has one of the devices that a rule names, or the rule excludes some.
bool has_ir_affinity_device(const struct graph* graph, const ir_affinity_t* rule);
// The rule for a node, NULL when none matches, as below.
const ir_affinity_t* find_ir_node_rule(const struct graph* graph, const struct node* node,
                                       const struct node* source);
const ir_affinity_t* find_ir_execution_rule(const struct node* node);
// The list of devices of the rule for a node, NULL when none matches. The rules are the source
// graph's; a node of an execution graph is matched by its own name and operator and by those of the
// model's node that it stands for, `source`, if there is one.
const char* find_ir_node_affinity(const struct graph* graph, const struct node* node,
                                  const struct node* source);
// The same for a node of an execution graph, with the rules of its source graph.
const char* find_ir_execution_affinity(const struct node* node);
// Whether a list of devices allows `device`, and whether it names it (a list with ! never does).
bool allows_ir_affinity(const char* devices, const char* device);
bool names_ir_affinity(const char* devices, const char* device);
// The group of ir_verdict_t that a list of devices gives a node on `device`; 0: none.
int get_ir_affinity_group(const char* devices, const char* device);
// Steps through the names of a list of devices, without groups: *cursor is the list at first. False
// at the end. The name is *out_length bytes at *out_name.
bool next_ir_affinity_device(const char** cursor, const char** out_name, size_t* out_length);

TENGINE_EXTERN_C_END
