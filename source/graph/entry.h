// SPDX-License-Identifier: Apache-2.0
// The entries of a model: source graphs of one file, or of the program, that have names. Graphs of
// one group share states of the same name (graph/state_value.h). A graph that a format loads begins
// a group of its own; open_entry() and join_entries() of the C API let graphs join that of another.
// Minimal builds have no entries.
#pragma once

#include <stdbool.h>

#include "base/minimal.h"
#include "graph/core.h"

TENGINE_EXTERN_C_BEGIN

enum
{
    IR_MOST_ENTRIES = 1024,
    IR_MOST_ENTRY_NAME = 255  // bytes
};

// Makes the graph, which is in no group, entry `own` of a model that has these. EFORMAT: no name,
// too many, or one that is empty, too long, or there twice. ENOMEM.
TENGINE_MUST_USE int begin_ir_entries(struct graph* graph, const char* const names[], int number,
                                      int own);
// The same as `other`, in a group of its own; nothing when that is in no group. ENOMEM.
TENGINE_MUST_USE int copy_ir_entries(struct graph* graph, const struct graph* other);
// The graph leaves its group, if it is in one, and joins that of `member` as entry `own` of it.
// ENOMEM leaves it where it was.
TENGINE_MUST_USE int join_ir_entries(struct graph* graph, struct graph* member, int own);
// The graph is in a group no longer. Its states are.
void leave_ir_entries(struct graph* graph);

// 0 and -1 for a graph that is in no group.
int count_ir_entries(const struct graph* graph);
int get_ir_entry(const struct graph* graph);
const char* get_ir_entry_name(const struct graph* graph, int index);
// -1: there is none.
int find_ir_entry(const struct graph* graph, const char* name);
// ENOENT: "<subject>: the model has no entry '<name>', expected 'a', 'b'".
int fail_without_ir_entry(const struct graph* graph, const char* subject, const char* name);

// The graph that is this entry in the group, the first of several; NULL: there is none now.
struct graph* find_ir_entry_graph(const struct graph* graph, int index);

// The members of the group, by place; NULL behind the last one. The lock is held.
struct graph* get_ir_entry_member(const struct graph* graph, int place);
// The lock of a group guards its members and what their states share. Nothing for a graph that is
// in no group.
void lock_ir_entries(const struct graph* graph);
void unlock_ir_entries(const struct graph* graph);

TENGINE_EXTERN_C_END
