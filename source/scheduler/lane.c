// SPDX-License-Identifier: Apache-2.0
#include "scheduler/lane.h"

#include "base/alloc.h"
#include "graph/graph.h"
#include "graph/preparation.h"
#include "scheduler/runner.h"
#include "scheduler/shape_cache.h"

void release_ir_lanes(ir_lanes_t* lanes)
{
    for (int i = 0; lanes->lenders && i < get_vector_num(lanes->lenders); ++i)
        free_memory(*(ir_scratch_t**)get_vector_data(lanes->lenders, i));
    if (lanes->lenders) release_vector(lanes->lenders);
    lanes->lenders = NULL;
}

static int add_lender(struct vector* lenders)
{
    ir_scratch_t* lender = alloc_memory(sizeof *lender);
    if (lender && push_vector_data(lenders, &lender) == 0) return TENGINE_OK;
    free_memory(lender);
    return tengine_error_set(TENGINE_ENOMEM, "out of memory for the memory of parts");
}

static int find_lender(ir_lanes_t* lanes, int lane, ir_scratch_t** out_lender)
{
    if (!lanes->lenders) lanes->lenders = create_vector(sizeof(ir_scratch_t*), NULL);
    if (!lanes->lenders)
        return tengine_error_set(TENGINE_ENOMEM, "out of memory for the memory of parts");
    while (get_vector_num(lanes->lenders) <= lane)
        TENGINE_RETURN_IF_ERROR(add_lender(lanes->lenders));
    *out_lender = *(ir_scratch_t**)get_vector_data(lanes->lenders, lane);
    return TENGINE_OK;
}

int put_ir_part_into_lane(struct subgraph* part, int lane)
{
    ir_scratch_t* lender;
    TENGINE_RETURN_IF_ERROR(find_lender(get_ir_lanes(part->graph->core->source), lane, &lender));
    set_ir_runner_lender(part, lender);
    return TENGINE_OK;
}

// The parts of the graph, or those of the body with the other bodies of the same depth.
static int put_into_one_lane(struct graph* execution)
{
    ir_scratch_t* lender;
    const struct graph* root = execution;
    int depth = 0;
    for (; root->core->source->core->outer; ++depth) {
        if (root->core->source->core->outer->run_options->concurrent) break;
        root = root->core->source->core->outer;
    }
    TENGINE_RETURN_IF_ERROR(find_lender(get_ir_lanes(root->core->source), depth, &lender));
    for (int i = 0; i < get_vector_num(execution->subgraph_list); ++i)
        set_ir_runner_lender(get_ir_graph_subgraph(execution, i), lender);
    return TENGINE_OK;
}

int fit_ir_lanes(struct graph* execution)
{
    if (!execution->run_options->concurrent) TENGINE_RETURN_IF_ERROR(put_into_one_lane(execution));
    for (int i = 0; i < get_vector_num(execution->subgraph_list); ++i) {
        const struct subgraph* part = get_ir_graph_subgraph(execution, i);
        const struct subgraph* compiled = get_ir_compiled_part(part);
        const int64_t growth = (int64_t)count_ir_scratch_growth(compiled);
        TENGINE_RETURN_IF_ERROR(claim_ir_memory(execution, growth, "the arenas of its parts"));
        TENGINE_RETURN_IF_ERROR(fit_ir_scratch(compiled));
    }
    return TENGINE_OK;
}
