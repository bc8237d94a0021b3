// SPDX-License-Identifier: Apache-2.0
// entry.h: the entries of a model. tengine_graph_open_entry() is in graph.c, with what loads
// graphs.
#include "tengine/entry.h"

#include "api/check.h"
#include "base/minimal.h"
#include "graph/entry.h"
#include "graph/state.h"

int tengine_graph_get_entry_number(graph_t graph)
{
    const api_graph_t* target = find_graph(graph, __func__);
    return !target ? api_failure() : count_ir_entries(target->graph);
}

const char* tengine_graph_get_entry_name(graph_t graph, int index)
{
    const api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_index(index, count_ir_entries(target->graph), __func__, "entries") < 0)
        return api_pointer(NULL);
    return get_ir_entry_name(target->graph, index);
}

int tengine_graph_get_entry_index(graph_t graph)
{
    const api_graph_t* target = find_graph(graph, __func__);
    if (!target) return api_failure();
    const int index = get_ir_entry(target->graph);
    return index >= 0 ? index
                      : api_result(tengine_error_set(
                            TENGINE_ENOENT, "%s: the model of the graph has no entries", __func__));
}

// ---- joining ----

static bool is_one_of(const graph_t graphs[], int number, graph_t graph)
{
    for (int i = 0; i < number; ++i)
        if (graphs[i] == graph) return true;
    return false;
}

static int check_joinable(const graph_t graphs[], int index, const char* function)
{
    const api_graph_t* target = find_graph(graphs[index], function);
    if (!target) return tengine_error_code();
    TENGINE_RETURN_IF_ERROR(check_idle(target, function));
    if (is_one_of(graphs, index, graphs[index]))
        return tengine_error_set(TENGINE_EINVAL, "%s: graph %d is there twice", function, index);
    if (!get_ir_entry_member(target->graph, 1)) return TENGINE_OK;
    return tengine_error_set(
        TENGINE_EEXIST, "%s: graph %d is entry '%s' of a model, and others of it are open",
        function, index, get_ir_entry_name(target->graph, get_ir_entry(target->graph)));
}

static int check_joining(const graph_t graphs[], const char* const names[], int number,
                         const char* function)
{
    TENGINE_RETURN_IF_ERROR(check_pointer(graphs, function, "graphs"));
    TENGINE_RETURN_IF_ERROR(check_pointer(names, function, "names"));
    for (int i = 0; i < number && i < IR_MOST_ENTRIES; ++i) {
        TENGINE_RETURN_IF_ERROR(check_name(names[i], function, "a name"));
        TENGINE_RETURN_IF_ERROR(check_joinable(graphs, i, function));
    }
    return TENGINE_OK;
}

// A list that a file must not have is the program's mistake here.
static int join_first(struct graph* first, const char* const names[], int number,
                      const char* function)
{
    leave_ir_entries(first);
    const int status = begin_ir_entries(first, names, number, 0);
    if (status != TENGINE_EFORMAT) return status;
    return tengine_error_set(TENGINE_EINVAL, "%s: %s", function, tengine_error_message());
}

static int join_all(const graph_t graphs[], const char* const names[], int number,
                    const char* function)
{
    TENGINE_RETURN_IF_ERROR(join_first(graphs[0], names, number, function));
    for (int i = 1; i < number; ++i) {
        TENGINE_RETURN_IF_ERROR(join_ir_entries(graphs[i], graphs[0], i));
        TENGINE_RETURN_IF_ERROR(begin_joining_ir_states(graphs[i]));
    }
    return TENGINE_OK;
}

int tengine_graph_join_entries(const graph_t graphs[], const char* const names[], int number)
{
    if (check_initialised(__func__) < 0) return api_failure();
    if (IS_MINIMAL) return api_result(fail_not_supported(__func__, "entries are"));
    if (check_joining(graphs, names, number, __func__) < 0) return api_failure();
    const int status = number < 1
                           ? tengine_error_set(TENGINE_EINVAL, "%s: %d graphs, expected 1 to %d",
                                               __func__, number, IR_MOST_ENTRIES)
                           : join_all(graphs, names, number, __func__);
    for (int i = 0; i < number && number <= IR_MOST_ENTRIES; ++i) {
        api_graph_t* target = find_graph(graphs[i], __func__);
        end_joining_ir_states(target->graph, status >= 0);
        if (status < 0)
            leave_ir_entries(target->graph);
        else
            target->changed = true;
    }
    return api_result(status);
}
