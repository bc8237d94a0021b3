// SPDX-License-Identifier: Apache-2.0
// Places in the execution graph: nodes, parts and tensors of the graph and of its prepared bodies
// are numbered together, the graph's first, then body by body.
#pragma once

#include "api/handle.h"
#include "tengine/vector.h"

TENGINE_EXTERN_C_BEGIN

// A graph, and the numbers of its first node, part and tensor.
typedef struct place
{
    const struct graph* graph;  // NULL: after the last graph, whose numbers are the totals
    int first_node;
    int first_part;
    int first_tensor;
} place_t;

typedef void (*visit_execution_t)(const struct graph* execution, void* argument);

// Visits the execution graph, unless it is NULL, then those of its bodies that are prepared, depth
// first.
void visit_executions(const struct graph* execution, visit_execution_t visit, void* argument);

// Finds the execution graph. NULL for a failure, which has been recorded: ESTATE during runs, since
// parts may then move from one device to another, and without a preparation. `out_owner` may be
// NULL.
const struct graph* find_execution(graph_t graph, const char* function, api_graph_t** out_owner);

// Finds the totals, the place after the last graph. ENOMEM.
TENGINE_MUST_USE int find_place_end(const struct graph* execution, place_t* out_end);

// Calls visit() with each place in their order, until it returns a negative status, which is then
// returned. ENOMEM.
TENGINE_MUST_USE int visit_places(const struct graph* execution,
                                  int (*visit)(const place_t* place, void* argument),
                                  void* argument);

// Find the object of this number. NULL for a failure, which has been recorded: as find_execution(),
// ERANGE, ENOMEM. `out_owner` may be NULL.
struct node* find_execution_node(graph_t graph, int index, const char* function,
                                 api_graph_t** out_owner, place_t* out_place);
struct tensor* find_execution_tensor(graph_t graph, int index, const char* function,
                                     place_t* out_place);
struct subgraph* find_part(graph_t graph, int index, const char* function);

TENGINE_EXTERN_C_END
