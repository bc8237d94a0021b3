// SPDX-License-Identifier: Apache-2.0
// The devices that the user allows for nodes: rules in the order they were given; for each node
// the last rule that fits it counts.
#pragma once

#include "tengine/ir.h"

TENGINE_EXTERN_C_BEGIN

// Characters are those of UTF-8; blanks around a device's name do not count.
typedef struct ir_affinity
{
    // "conv*": nodes by name, with * for any characters and ? for one; "op:Softmax": by operator,
    // with the same signs. A name that has these signs, or begins with "op:", is fitted by itself.
    char* nodes;
    char* devices;  // "A,B#2": only these, on B in group 2; "!A,B": any but these
} ir_affinity_t;

// Whether a node is one of `nodes`, written as above.
bool fits_ir_node(const char* nodes, const struct node* node);

// Appends a rule to graph->affinity; an earlier one with the same `nodes` goes. ENOENT when no node
// of the graph fits `nodes`; EINVAL for NULL, an empty text, a list with an empty name, one that
// mixes devices with and without !, and for a group that is invalid, excluded, or another than
// the device has in the same list. Whether the devices exist is the caller's to check. On failure
// the rules are as they were.
int add_ir_graph_affinity(struct graph* graph, const char* nodes, const char* devices);

// The devices text of the rule for a node, NULL when none fits. The rules are the source graph's; a
// node of an execution graph is known by its own name and operator and by those of the model's node
// it stands for, which `source` is if there is one.
const char* find_ir_node_affinity(const struct graph* graph, const struct node* node,
                                  const struct node* source);
// The same for a node of an execution graph, from the rules of the graph it was made of.
const char* find_ir_execution_affinity(const struct node* node);
// Whether a devices text lets `device` have the node, and whether it asks for it by name (a text
// with ! never does).
bool allows_ir_affinity(const char* devices, const char* device);
bool names_ir_affinity(const char* devices, const char* device);
// The group of ir_verdict_t in which a devices text wants a node on `device`; 0: it says nothing.
int get_ir_affinity_group(const char* devices, const char* device);
// The names in a devices text, without groups, one by one: *cursor is the text at first. False at
// the end. The name is *out_length bytes at *out_name.
bool next_ir_affinity_device(const char** cursor, const char** out_name, size_t* out_length);

TENGINE_EXTERN_C_END
