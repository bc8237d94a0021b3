// SPDX-License-Identifier: Apache-2.0
// The memory of a state (graph/state.h): two values, of which a run reads one and writes the other.
// The entries of a model that have states of the same key share one; the graphs that do are its
// users. The lock of their group (graph/entry.h) guards the list of users and who runs.
#pragma once

#include <stdbool.h>

#include "graph/core.h"

TENGINE_EXTERN_C_BEGIN

struct ir_state_value;

typedef struct ir_state_user
{
    struct graph* graph;
    struct tensor* input;
    struct tensor* output;
} ir_state_user_t;

// A value without memory that has one user. NULL when out of memory.
struct ir_state_value* create_ir_state_value(const ir_state_user_t* user);
// Adds a user, whose tensors are those of the value from then on, if it has memory of their size.
// EGRAPH: its tensor has another type, shape or quantisation, or the user's graph has the value
// already. ENOMEM. The lock is held.
TENGINE_MUST_USE int join_ir_state_value(struct ir_state_value* value, const ir_state_user_t* user);
// The user leaves, and the value with its last one.
void leave_ir_state_value(struct ir_state_value* value, const struct graph* graph);

// The user leaves a value that has others.
void remove_ir_state_user(struct ir_state_value* value, const struct graph* graph);
// The graph, a user of both, leaves the second value. Its memory becomes that of the first one, if
// no user of that has a value yet.
void merge_ir_state_value(struct ir_state_value* value, struct ir_state_value* left,
                          const struct graph* graph);

// Gives the tensors of the user, and of others of the same size, memory of this size: the value
// that there is, or that the program has set for a tensor. *out_is_new: there is neither, and the
// bytes of the input are not set. EGRAPH: a user that is prepared has another size. ENOMEM.
TENGINE_MUST_USE int settle_ir_state_value(struct ir_state_value* value,
                                           const ir_state_user_t* user, bool* out_is_new);

// The memory that the next run reads; NULL: none yet.
void* get_ir_state_memory(const struct ir_state_value* value, size_t* out_bytes);
// The bytes of both values, of which each user has an equal share: that of one. Any thread.
size_t get_ir_state_share(const struct ir_state_value* value, const struct graph* graph);
// User `index`, NULL behind the last one.
const ir_state_user_t* get_ir_state_user(const struct ir_state_value* value, int index);

// The value begins again, with bytes that the program has given, or else with the first value.
void restart_ir_state_value(struct ir_state_value* value, bool is_given);
// Before a run that has the value begin at its first time, as CALL_ONCE of a .tflite does, by this
// number. *out_is_late: runs have written the value without that, and the first value replaces
// theirs. The first function reserves the memory for it. The lock is held. ENOMEM.
TENGINE_MUST_USE int add_ir_state_beginning(struct ir_state_value* value, int number);
TENGINE_MUST_USE int begin_ir_state_value(struct ir_state_value* value, int number,
                                          bool* out_is_late);

// The next run reads the value that this one has written.
void turn_ir_state_value(struct ir_state_value* value);

// The graph whose run in flight has the value, NULL when there is none.
struct graph** find_ir_state_runner(struct ir_state_value* value);

TENGINE_EXTERN_C_END
