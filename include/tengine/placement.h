// SPDX-License-Identifier: Apache-2.0
// Hints: what a model says about its own placement. Results, errors, ownership and threads are as
// c_api.h says, structures with a `size` as inspect.h says. docs/hints.md has examples.
//
// A model has affinities, as tengine_graph_set_affinity takes them, and options of the context:
// split.prune, split.min_nodes, split.min_macs and precision.keep_float. Those of the program come
// before them; the option model.hints=0 ignores them. An affinity that names only devices that the
// graph does not have does not apply, without an error. All formats hold hints, as
// properties of metadata.h: "tengine.affinity.<nodes>" and "tengine.option.<key>". save_graph
// writes them with the affinities that the program has set.
#pragma once

#include "tengine/c_api.h"

TENGINE_EXTERN_C_BEGIN

struct tengine_hint
{
    const char* nodes;   // an affinity's, as tengine_graph_set_affinity takes them; "": an option
    const char* option;  // the option's key; "": an affinity
    const char* value;   // the devices, or the value of the option
    int node_number;     // nodes that the affinity decides about, of the execution graph, or of the
                         // model while there is none; 0: an option
    int is_used;         // 1, or 0 with the reason
    char reason[256];    // "the graph has none of the devices 'TPU'"; "": it is used
};

// The hints of the model: its affinities in their order, then its options. Those that are invalid
// were logged when the model was loaded, and are left out; so are options that a model may not set.
// Strings live until the graph is changed. Fail with TENGINE_EHANDLE, TENGINE_ESTATE (runs are in
// flight), TENGINE_EINVAL (NULL, a size of 0) and TENGINE_ERANGE.
TENGINE_API int tengine_graph_get_hint_number(graph_t graph);
TENGINE_API int tengine_graph_get_hint(graph_t graph, int index, struct tengine_hint* out_hint,
                                       size_t size);

// Lets the model set an option, for this graph and in files that save_graph writes; it applies from
// the next prerun_graph on. The last call for a key counts. Affinities of the model are those of
// tengine_graph_set_affinity in the graph that is saved. Fails with TENGINE_EHANDLE, TENGINE_EINVAL
// (NULL, an invalid value), TENGINE_ENOENT (not an option that a model may set), TENGINE_ERANGE (a
// number out of range, a value of more than 4096 bytes), TENGINE_ESTATE (runs are in flight) and
// TENGINE_ENOMEM.
TENGINE_API int tengine_graph_set_hint(graph_t graph, const char* option, const char* value);

TENGINE_EXTERN_C_END
