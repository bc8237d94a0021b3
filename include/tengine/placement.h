// SPDX-License-Identifier: Apache-2.0
// A model's own say in its placement: hints, and variants of its compiled parts. Results, errors,
// ownership and threads are as c_api.h says, structures with a `size` as inspect.h says.
// docs/hints.md has examples.
//
// Hints are affinities, as tengine_graph_set_affinity takes them, and options of the context:
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

// ---- Variants ----

// For whom the compiled parts of a model are (docs/compiled-parts.md). prerun_graph takes the best
// variant that fits, uses its compiled parts and no others, and applies its options where the
// program sets none. It keeps a variant with the options model.keep_parts and model.keep_variant.
struct tengine_variant
{
    char name[64];
    char devices[256];  // "TPU,CPU"
    char chip[64];      // "": any
    char driver[64];    // "": any
    int precision;      // TENGINE_MODE_*
    char options[512];  // "TPU.config=edge,split.prune=0"
    int part_number;    // compiled parts, also of bodies
    int64_t bytes;      // of these; parts with the same content count once
    int is_usable;      // 1: it fits the context, its devices, and the precision of the last
                        // preparation, else of the graph's own options
    int is_taken;       // 1: the last preparation has taken it, or keeps it
    char reason[256];   // why it is not usable, or, if so, not taken: "device TPU is not in the
                        // context"; why it is taken: "the first one that fits"
};

// The variants in the order of the file. Strings that do not fit are cut. Fail with
// TENGINE_EHANDLE, TENGINE_ESTATE (runs are in flight), TENGINE_EINVAL (NULL, a size of 0),
// TENGINE_ERANGE, TENGINE_ENOMEM, and the codes of devices.
TENGINE_API int tengine_graph_get_variant_number(graph_t graph);
TENGINE_API int tengine_graph_get_variant(graph_t graph, int index,
                                          struct tengine_variant* out_variant, size_t size);

TENGINE_EXTERN_C_END
