// SPDX-License-Identifier: Apache-2.0
// state.h: values that a graph keeps from run to run.
#include "tengine/state.h"

#include "api/check.h"
#include "graph/graph.h"
#include "graph/state.h"

int tengine_graph_get_state_number(graph_t graph)
{
    const api_graph_t* target = find_graph(graph, __func__);
    return !target ? api_failure() : count_ir_states(target->graph);
}

tensor_t tengine_graph_get_state(graph_t graph, int index)
{
    api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_index(index, count_ir_states(target->graph), __func__, "states") < 0)
        return api_pointer(NULL);
    return api_pointer(give_tensor(get_ir_state_input(target->graph, index), target));
}

int tengine_graph_reset_states(graph_t graph)
{
    const api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_idle(target, __func__) < 0 || check_ir_states_idle(target->graph) < 0)
        return api_failure();
    return api_result(reset_ir_states(target->graph));
}

int tengine_graph_keep_state(graph_t graph, const char* input, const char* output)
{
    api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_name(input, __func__, "input") < 0 ||
        check_name(output, __func__, "output") < 0 || check_idle(target, __func__) < 0)
        return api_failure();
    return end_change(target, keep_ir_state(target->graph, input, output));
}
