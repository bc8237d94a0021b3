// SPDX-License-Identifier: Apache-2.0
// The memory that the instances of a model, and its entries, have in common: the data of constants,
// and tables of packs. An instance is a source graph of its own, which tengine_graph_share() makes;
// it has its own tensors, whose `data` point to this memory.
//
// The data of shared constants do not change and keep their addresses as long as there is an
// instance, since addresses are the keys of packs. An instance whose constants change gets its own
// copies and packs.
#pragma once

#include "graph/graph_pool.h"

TENGINE_EXTERN_C_BEGIN

struct ir_shared_model;

// The conditions beside the constants that packs depend on.
typedef struct ir_pack_terms
{
    int64_t values[6];
} ir_pack_terms_t;

// Prepares a source graph for another instance: the data of constants that it or a body of its
// nodes owns become those of the shared model. `terms`: those that the packs of its pool belong to;
// NULL: these packs are not for other instances. ENOMEM.
TENGINE_MUST_USE int share_ir_model(struct graph* source, const ir_pack_terms_t* terms);

// Makes `instance`, a copy of `source` as it is now or another entry of its file, share its model.
// ENOMEM.
TENGINE_MUST_USE int join_ir_shared_model(struct graph* instance, const struct graph* source);
// `entry`: shared_entry of the graph. NULL is allowed.
void release_ir_shared_model(struct ir_shared_model* model, int entry);

// Sets *out_packs to the table that instances with the same constants share under these terms. The
// caller is to release it. NULL: the graph shares no model, or has changed since it was shared.
// ENOMEM.
TENGINE_MUST_USE int find_ir_shared_packs(const struct graph* source, const ir_pack_terms_t* terms,
                                          struct graph_packs** out_packs);

// Gives a constant of an instance data of its own, before the program writes to it. ENOMEM.
TENGINE_MUST_USE int own_ir_constant(const struct graph* source, struct tensor* constant);

// The number of instances of this graph, which other entries of its model are not; 1 for a graph
// that shares no model.
int count_ir_instances(const struct graph* source);

TENGINE_EXTERN_C_END
