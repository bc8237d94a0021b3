// SPDX-License-Identifier: Apache-2.0
// Entries: named graphs of one model, such as the prefill and the decoding of a language model, the
// encoder and the decoder of a translator, or the signatures of a .tflite. Results, errors,
// ownership and threads are as c_api.h says. docs/entries.md has programs.
//
// create_graph loads one entry, that of the option model.entry or the first one, and
// tengine_graph_open_entry another as a graph of its own. Entries share the memory of the
// constants that their file has once, and packed weights made of them. They share states
// (state.h) of the same name: the run of one entry reads what a run of another has written. These
// have the same type, shape and quantisation in both. A state lives as long as one of the graphs
// that have it, which may be destroyed in any order.
//
// Entries that share states are for one thread at a time, and one of them may run: while a run is
// in flight, run_graph of another fails with TENGINE_ESTATE, or with TENGINE_ELIMIT when it does
// not block, and its states cannot be changed. Other entries are independent graphs.
#pragma once

#include "tengine/c_api.h"

TENGINE_EXTERN_C_BEGIN

// The number of entries of the model that the graph is one of; 0: the model is one graph without a
// name. TENGINE_EHANDLE.
TENGINE_API int tengine_graph_get_entry_number(graph_t graph);

// The name of an entry, in the order of the file. The string lives as long as the graph. Fails with
// TENGINE_EHANDLE and TENGINE_ERANGE.
TENGINE_API const char* tengine_graph_get_entry_name(graph_t graph, int index);

// Which of them this graph is. Fails with TENGINE_EHANDLE, and with TENGINE_ENOENT for a graph of a
// model without entries.
TENGINE_API int tengine_graph_get_entry_index(graph_t graph);

// Loads another entry of the graph's model, or the same once more, with the graph's context. The
// new graph shares states with `graph`, and with all entries that were opened from it; instances
// of tengine_graph_share have states of their own. The program destroys it with destroy_graph.
// Fails with TENGINE_EHANDLE, TENGINE_EINVAL (NULL or empty), TENGINE_ENOENT (no such entry; the
// message lists them), TENGINE_ESTATE (runs of `graph` are in flight), TENGINE_EGRAPH (a state has
// another type, shape or quantisation than in an entry that is open), TENGINE_ENOTSUP (an entry of
// tengine_graph_join_entries, which the program has), and as create_graph.
TENGINE_API graph_t tengine_graph_open_entry(graph_t graph, const char* name);

// Makes graphs of the program the entries of one model, in this order, which share states from then
// on. The values of a state are those of the first graph that has one. save_graph of one of them
// writes all to a tmfile; constants with the same bytes are there once. The graphs stay the
// program's. Fails with TENGINE_EHANDLE, TENGINE_EINVAL (NULL, no graph, more than 1024, one twice,
// a name that is empty, longer than 255 bytes or there twice), TENGINE_EEXIST (other entries of
// a graph's model are open), TENGINE_ESTATE (runs are in flight), TENGINE_EGRAPH (a state is not
// the same in two graphs), TENGINE_ENOMEM; each graph is then a model of its own.
TENGINE_API int tengine_graph_join_entries(const graph_t graphs[], const char* const names[],
                                           int number);

TENGINE_EXTERN_C_END
