// SPDX-License-Identifier: Apache-2.0
#include "scheduler/spare_part.h"

#include <string.h>

#include "base/alloc.h"
#include "graph/graph.h"
#include "graph/late_constant.h"
#include "operator/param.h"
#include "scheduler/exchange.h"

// Two parts, and the tensors of `b` that correspond to those of `a`.
typedef struct match
{
    const struct subgraph* a;
    const struct subgraph* b;
    int32_t* tensor_of;  // by index in a's graph; -1: not met yet
} match_t;

static bool has_same_quantisation(const struct tensor* a, const struct tensor* b)
{
    if (a->quant_param_num != b->quant_param_num) return false;
    if (a->quant_param_num == 0) return true;
    if (a->quant_param_num == 1) return a->scale == b->scale && a->zero_point == b->zero_point;
    const size_t number = (size_t)a->quant_param_num;
    return a->quant_axis == b->quant_axis &&
           memcmp(a->scale_list, b->scale_list, sizeof *a->scale_list * number) == 0 &&
           memcmp(a->zp_list, b->zp_list, sizeof *a->zp_list * number) == 0;
}

// A constant of the model has one address in every preparation; constants that passes make have
// several.
static bool is_same_constant(const struct tensor* a, const struct tensor* b)
{
    if (!has_same_ir_shape(a, b)) return false;
    if (find_ir_late_values(a) || find_ir_late_values(b))
        return find_ir_constant_place(a) == find_ir_constant_place(b);
    const size_t bytes = get_ir_tensor_bytes(a);
    return a->data == b->data || bytes == 0 || memcmp(a->data, b->data, bytes) == 0;
}

static bool match_tensor(match_t* match, const struct tensor* a, const struct tensor* b)
{
    if (!a || !b) return a == b;
    int32_t* known = &match->tensor_of[a->index];
    if (*known >= 0) return *known == b->index;
    *known = b->index;
    const bool is_constant = a->tensor_type == TENSOR_TYPE_CONST;
    if (is_constant != (b->tensor_type == TENSOR_TYPE_CONST) || a->data_type != b->data_type ||
        !has_same_quantisation(a, b))
        return false;
    return !is_constant || is_same_constant(a, b);
}

static bool match_node(match_t* match, const struct node* a, const struct node* b)
{
    if (!has_same_op_param(&a->op, &b->op) || a->dynamic_shape != b->dynamic_shape ||
        a->input_num != b->input_num || a->output_num != b->output_num)
        return false;
    for (int i = 0; i < a->input_num; ++i)
        if (!match_tensor(match, get_ir_node_input(a, i), get_ir_node_input(b, i))) return false;
    for (int i = 0; i < a->output_num; ++i)
        if (!match_tensor(match, get_ir_node_output(a, i), get_ir_node_output(b, i))) return false;
    return true;
}

static bool match_boundary(const match_t* match, const int32_t* a, const int32_t* b, int number)
{
    for (int i = 0; i < number; ++i)
        if (match->tensor_of[a[i]] != b[i]) return false;
    return true;
}

static bool match_parts(match_t* match)
{
    const struct subgraph* a = match->a;
    const struct subgraph* b = match->b;
    for (int i = 0; i < a->node_num; ++i)
        if (!match_node(match, a->graph->node_list[a->node_list[i]],
                        b->graph->node_list[b->node_list[i]]))
            return false;
    return match_boundary(match, a->input_tensor_list, b->input_tensor_list, a->input_num) &&
           match_boundary(match, a->output_tensor_list, b->output_tensor_list, a->output_num);
}

bool is_same_ir_part(const struct subgraph* a, const struct subgraph* b)
{
    if (a->device != b->device || a->node_num != b->node_num || a->input_num != b->input_num ||
        a->output_num != b->output_num)
        return false;
    const size_t bytes = sizeof(int32_t) * (size_t)a->graph->tensor_num;
    match_t match = {a, b, alloc_memory(bytes)};
    if (!match.tensor_of) return false;
    memset(match.tensor_of, 0xff, bytes);  // all -1
    const bool same = match_parts(&match);
    free_memory(match.tensor_of);
    return same;
}

void* take_ir_spare_part(const struct subgraph* part, const struct device* device)
{
    const struct graph* spare = part->graph->core->spare;
    for (int i = 0; spare && i < get_vector_num(spare->subgraph_list); ++i) {
        struct subgraph* old = get_ir_graph_subgraph(spare, i);
        if (!old->device_graph || old->device != device || !is_same_ir_part(old, part)) continue;
        void* device_graph = old->device_graph;
        old->device_graph = NULL;
        return device_graph;
    }
    return NULL;
}
