// SPDX-License-Identifier: Apache-2.0
#include "api/place.h"

#include "api/check.h"
#include "graph/body.h"
#include "graph/graph.h"
#include "scheduler/session.h"

void visit_executions(const struct graph* execution, visit_execution_t visit, void* argument)
{
    if (!execution) return;
    visit(execution, argument);
    for (int i = 0; i < execution->node_num; ++i) {
        const ir_bodies_t* bodies = execution->node_list[i]->core->bodies;
        for (int k = 0; bodies && k < bodies->num; ++k)
            visit_executions(bodies->list[k].graph->core->execution, visit, argument);
    }
}

typedef struct place_list
{
    struct vector* places;
    place_t next;
    int status;
} place_list_t;

static void list_place(const struct graph* execution, void* argument)
{
    place_list_t* list = argument;
    list->next.graph = execution;
    if (push_vector_data(list->places, &list->next) < 0) list->status = TENGINE_ENOMEM;
    list->next.first_node += execution->node_num;
    list->next.first_part += get_vector_num(execution->subgraph_list);
    list->next.first_tensor += execution->tensor_num;
}

// The list of places; NULL when out of memory.
static struct vector* list_places(const struct graph* execution)
{
    place_list_t list = {.places = create_vector(sizeof(place_t), NULL)};
    if (list.places) visit_executions(execution, list_place, &list);
    list.next.graph = NULL;
    if (list.places && list.status == TENGINE_OK && push_vector_data(list.places, &list.next) == 0)
        return list.places;
    release_vector(list.places);
    tengine_error_set(TENGINE_ENOMEM, "out of memory for a list of bodies");
    return NULL;
}

// The list is kept until the next run; without it a report would visit all nodes for each of a
// body's. A graph that is only placed cannot keep it: the caller then releases it, *out_own.
static const struct vector* find_places(const struct graph* execution, struct vector** out_own)
{
    ir_session_t* session = get_ir_session(execution);
    *out_own = NULL;
    if (!session) return *out_own = list_places(execution);
    if (session->places && session->places_run == session->started) return session->places;
    release_vector(session->places);
    session->places = list_places(execution);
    session->places_run = session->started;
    return session->places;
}

static place_t get_place(const struct vector* places, int index)
{
    return *(const place_t*)get_vector_data(places, index);
}

static int get_first_node(const place_t* place)
{
    return place->first_node;
}

static int get_first_part(const place_t* place)
{
    return place->first_part;
}

static int get_first_tensor(const place_t* place)
{
    return place->first_tensor;
}

// The last place that begins with `index`, which one has, or before.
static place_t search(const struct vector* places, int index, int (*get_first)(const place_t*))
{
    int begin = 0, end = get_vector_num(places) - 1;
    while (end - begin > 1) {
        const int middle = begin + (end - begin) / 2;
        const place_t place = get_place(places, middle);
        if (get_first(&place) <= index)
            begin = middle;
        else
            end = middle;
    }
    return get_place(places, begin);
}

// Finds the graph of `index`; `what`: "execution nodes". ERANGE, ENOMEM.
static int find_place(const struct graph* execution, int index,
                      int (*get_first)(const place_t* place), const char* function,
                      const char* what, place_t* out_place)
{
    struct vector* own;
    const struct vector* places = find_places(execution, &own);
    if (!places) return TENGINE_ENOMEM;
    const place_t end = get_place(places, get_vector_num(places) - 1);
    const int status = check_index(index, get_first(&end), function, what);
    if (status == TENGINE_OK) *out_place = search(places, index, get_first);
    release_vector(own);
    return status;
}

int find_place_end(const struct graph* execution, place_t* out_end)
{
    struct vector* own;
    const struct vector* places = find_places(execution, &own);
    if (!places) return TENGINE_ENOMEM;
    *out_end = get_place(places, get_vector_num(places) - 1);
    release_vector(own);
    return TENGINE_OK;
}

int visit_places(const struct graph* execution, int (*visit)(const place_t*, void*), void* argument)
{
    struct vector* own;
    const struct vector* places = find_places(execution, &own);
    if (!places) return TENGINE_ENOMEM;
    int status = TENGINE_OK;
    for (int i = 0; i < get_vector_num(places) - 1 && status >= 0; ++i)
        status = visit(get_vector_data(places, i), argument);
    release_vector(own);
    return status;
}

const struct graph* find_execution(graph_t graph, const char* function, api_graph_t** out_owner)
{
    api_graph_t* owner = find_graph(graph, function);
    if (!owner || check_idle(owner, function) < 0) return NULL;
    if (!owner->graph->core->execution)
        tengine_error_set(TENGINE_ESTATE, "%s: call prerun_graph first", function);
    if (out_owner) *out_owner = owner;
    return owner->graph->core->execution;
}

struct node* find_execution_node(graph_t graph, int index, const char* function,
                                 api_graph_t** out_owner, place_t* out_place)
{
    const struct graph* execution = find_execution(graph, function, out_owner);
    if (!execution) return NULL;
    *out_place = (place_t){.graph = execution};  // which has most of the nodes
    if ((index < 0 || index >= execution->node_num) &&
        find_place(execution, index, get_first_node, function, "execution nodes", out_place) < 0)
        return NULL;
    return out_place->graph->node_list[index - out_place->first_node];
}

struct tensor* find_execution_tensor(graph_t graph, int index, const char* function,
                                     place_t* out_place)
{
    const struct graph* execution = find_execution(graph, function, NULL);
    if (!execution) return NULL;
    *out_place = (place_t){.graph = execution};
    if ((index < 0 || index >= execution->tensor_num) &&
        find_place(execution, index, get_first_tensor, function, "execution tensors", out_place) <
            0)
        return NULL;
    return out_place->graph->tensor_list[index - out_place->first_tensor];
}

struct subgraph* find_part(graph_t graph, int index, const char* function)
{
    const struct graph* execution = find_execution(graph, function, NULL);
    if (!execution) return NULL;
    place_t place = {.graph = execution};
    if ((index < 0 || index >= get_vector_num(execution->subgraph_list)) &&
        find_place(execution, index, get_first_part, function, "subgraphs", &place) < 0)
        return NULL;
    return get_ir_graph_subgraph(place.graph, index - place.first_part);
}
