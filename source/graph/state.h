// SPDX-License-Identifier: Apache-2.0
// States: values that a source graph keeps from run to run. A state is an input and an output of
// the graph that the program neither feeds nor reads: a run reads the value that the last run that
// succeeded has left. They are the last of graph.input_tensors and graph.output_tensors, in the
// same order.
//
// The model states them as properties (graph/metadata.h), which all formats and copies keep:
//     tengine.state.<input> = <output>
//     tengine.initial.<input> = <hexadecimal digits of the first value, or of one element of it>
// A state without the second one begins with zeros. Graphs that are entries of a model
// (graph/entry.h) share states of the same name, or rather key:
//     tengine.shared.<input> = <key>, "": the state is of one entry
// An entry may begin a state at its first run, as CALL_ONCE of a .tflite does, where others have
// run before. Entries with the same number begin it once:
//     tengine.once.<input> = <number>, "": it does not
// Minimal builds read no properties and have no states.
#pragma once

#include "base/minimal.h"
#include "graph/core.h"
#include "tengine/vector.h"

TENGINE_EXTERN_C_BEGIN

// Adds the properties that make input and output a state. `first`: the first value, or one element
// of it; NULL: zeros. ENOMEM.
TENGINE_MUST_USE int declare_ir_state(struct graph* source, const char* input, const char* output,
                                      const void* first, size_t bytes);

// Adds the property that gives the state of this input a key. ENOMEM.
TENGINE_MUST_USE int share_ir_state_as(struct graph* source, const char* input, const char* key);

// Adds the property that says which of the model's beginnings the state has; -1: none. ENOMEM.
TENGINE_MUST_USE int begin_ir_state_once(struct graph* source, const char* input, int beginning);

// Makes states of all inputs and outputs that the properties name, and that are none yet. EGRAPH: a
// property names no input or no output, or another entry has it with another type or shape. ENOMEM.
TENGINE_MUST_USE int apply_ir_states(struct graph* source);

// Makes a state of an input and an output of the graph, and adds the property. EGRAPH: the graph
// has no such input or output, or another entry has it with another type or shape. ENOMEM.
TENGINE_MUST_USE int keep_ir_state(struct graph* source, const char* input, const char* output);

static inline int count_ir_states(const struct graph* source)
{
    return IS_MINIMAL ? 0 : get_vector_num(source->core->states);
}

struct tensor* get_ir_state_input(const struct graph* source, int index);
struct tensor* get_ir_state_output(const struct graph* source, int index);
bool find_ir_state(const struct graph* source, const struct tensor* tensor);  // of is_ir_state()
static inline bool is_ir_state(const struct graph* source, const struct tensor* tensor)
{
    return count_ir_states(source) > 0 && find_ir_state(source, tensor);
}

// After prerun, which has given inputs and outputs their shapes: states get memory. Those that have
// a value of the same size keep it. EGRAPH: an output has another shape or type than its input, or
// a shape that depends on data. EDTYPE: strings. ERANGE, EINVAL: the first value does not fit.
// ENOMEM.
TENGINE_MUST_USE int settle_ir_states(struct graph* source);

// Before a run, and after it: whether it has succeeded, so that the next one reads what it has
// written. The first fails with `status` while another entry that shares a state runs; ENOMEM,
// ERANGE, EINVAL.
TENGINE_MUST_USE int claim_ir_states(struct graph* source, int status);
void release_ir_states(struct graph* source, bool is_written);
// ESTATE while an entry that shares a state runs, which is not this graph.
TENGINE_MUST_USE int check_ir_states_idle(const struct graph* source);

// The name by which entries share the state; "": it is of one entry.
const char* get_ir_state_key(const struct graph* source, int index);
// The text of tengine.once; NULL: the state has no such property.
const char* get_ir_state_once(const struct graph* source, int index);
// The program has set the value of the state that the tensor is.
void set_ir_state(const struct graph* source, const struct tensor* tensor);
// Whether a property, that of an entry which shares the state included, has the first value.
bool has_ir_first_value(const struct graph* source, int index);
// Writes the first value of a state, of `bytes` bytes. EINVAL, ERANGE: the property does not fit.
TENGINE_MUST_USE int write_ir_first_value(const struct graph* source, int index, void* out_value,
                                          size_t bytes);

// The steps of a graph that has become an entry of others: its states become those of entries
// before it, which must have no other type, shape or scale (EGRAPH; ENOMEM), or stay its own. Runs
// are not in flight.
TENGINE_MUST_USE int begin_joining_ir_states(struct graph* graph);
void end_joining_ir_states(struct graph* graph, bool is_joined);

// The graph's share of the memory of its states. Any thread.
int64_t count_ir_state_bytes(const struct graph* source);

// Gives all states their first value; without memory they will begin with it. EINVAL, ERANGE.
TENGINE_MUST_USE int reset_ir_states(struct graph* source);

TENGINE_EXTERN_C_END
