// SPDX-License-Identifier: Apache-2.0
// C API: quantised graphs that devices take.
#include <stdio.h>
#include <string.h>

#include "api/check.h"
#include "tengine/inspect.h"
#include "tengine/quantize.h"

// The work that the devices of a placed graph take, and the message of the first that refuses.
typedef struct placement
{
    int64_t mac_number;
    char refusal[512];
} placement_t;

static int note_refusal(graph_t graph, int index, const struct tengine_execution_node* node,
                        placement_t* placement)
{
    struct tengine_refusal refusal;
    if (tengine_graph_get_refusal(graph, index, 0, &refusal) < 0) return -1;
    snprintf(placement->refusal, sizeof placement->refusal, "%s refuses %s '%s': %s",
             refusal.device, node->op, node->name, refusal.message);
    return 0;
}

static int read_placement(graph_t graph, placement_t* out_placement)
{
    const int number = tengine_graph_get_execution_node_number(graph);
    for (int i = 0; i < number; ++i) {
        struct tengine_execution_node node;
        if (tengine_graph_get_execution_node(graph, i, &node) < 0) return -1;
        const int is_left = strcmp(node.device, get_default_device()) == 0;
        const int is_refused = is_left && node.mac_number > 0 && node.refusal_number > 0;
        if (!is_left) out_placement->mac_number += node.mac_number;
        if (is_refused && !*out_placement->refusal &&
            note_refusal(graph, i, &node, out_placement) < 0)
            return -1;
    }
    return number;
}

static int place_quantized(graph_t graph, const struct tengine_quantization* how,
                           placement_t* out_placement)
{
    const struct options options = {1, TENGINE_CLUSTER_ALL, TENGINE_MODE_INT8, 0};
    graph_t made = tengine_graph_quantize(graph, how);
    if (!made) return -1;
    const int is_placed =
        tengine_graph_place(made, options) >= 0 && read_placement(made, out_placement) >= 0;
    return destroy_graph(made) < 0 || !is_placed ? -1 : 0;
}

static int check_choice(const struct tengine_quantization how[], int number, const void* out_choice,
                        size_t size, const char* function)
{
    TENGINE_RETURN_IF_ERROR(check_pointer(how, function, "how"));
    TENGINE_RETURN_IF_ERROR(check_struct(out_choice, size, function, "out_choice"));
    if (number >= 1) return TENGINE_OK;
    return tengine_error_set(TENGINE_EINVAL, "%s: number is %d: expected 1 or more", function,
                             number);
}

int tengine_graph_choose_quantization(graph_t graph, const struct tengine_quantization how[],
                                      int number, struct tengine_quantization_choice* out_choice,
                                      size_t size)
{
    if (!find_graph(graph, __func__) || check_choice(how, number, out_choice, size, __func__) < 0)
        return api_failure();
    struct tengine_quantization_choice choice = {0};
    placement_t first = {0};
    for (int i = 0; i < number; ++i) {
        placement_t placement = {0};
        if (place_quantized(graph, &how[i], &placement) < 0) return -1;
        if (i == 0) first = placement;
        if (i > 0 && placement.mac_number <= choice.mac_number) continue;
        choice.index = i;
        choice.mac_number = placement.mac_number;
    }
    choice.first_mac_number = first.mac_number;
    if (choice.index > 0) memcpy(choice.refusal, first.refusal, sizeof choice.refusal);
    give_struct(&choice, sizeof choice, out_choice, size);
    return 0;
}
