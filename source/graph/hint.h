// SPDX-License-Identifier: Apache-2.0
// Hints: what a model says about its own placement. They are properties (graph/metadata.h), which
// all formats and copies keep:
//     tengine.affinity.<nodes> = <devices>   rules in their order, see operator/affinity.h
//     tengine.option.<key> = <value>         an option by key
// Settings of the program come before them, and the option model.hints=0 ignores them. A model file
// is hostile: it may set the options below and no others, so that it names no file, no device's
// code and no thread. The last of several properties with the same key counts. Minimal builds read
// no properties.
#pragma once

#include "tengine/ir.h"

TENGINE_EXTERN_C_BEGIN

#define IR_AFFINITY_HINT "tengine.affinity."
#define IR_OPTION_HINT "tengine.option."
#define IR_HINT_MOST_BYTES 4096  // of a value
#define IR_HINT_OPTIONS "split.prune, split.min_nodes, split.min_macs and precision.keep_float"

// Whether a model may set the option.
bool is_ir_hint_option(const char* key);

// The model that a graph is of: the source graph with the metadata.
const struct graph* find_ir_model(const struct graph* graph);

// Whether the context of the graph allows hints.
bool takes_ir_hints(const struct graph* graph);

// The value of an option that a model may set, for a graph of any kind: the program's, else the
// model's if it is valid, else the default.
const char* get_ir_graph_option(const struct graph* graph, const char* key);
double get_ir_graph_number(const struct graph* graph, const char* key);

// The model's value of an option; NULL: none, or an invalid one.
const char* find_ir_option_hint(const struct graph* graph, const char* key);

// Adds the property for an option to the source graph's metadata. ENOENT: not one that a model may
// set. EINVAL, ERANGE: the value. ENOMEM.
TENGINE_MUST_USE int add_ir_option_hint(struct graph* graph, const char* key, const char* value);

TENGINE_EXTERN_C_END
