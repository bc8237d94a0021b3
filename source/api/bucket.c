// SPDX-License-Identifier: Apache-2.0
// bucket.h: shapes in which smaller inputs run.
#include "tengine/bucket.h"

#include "api/check.h"
#include "base/minimal.h"
#include "graph/bucket.h"
#include "graph/graph.h"
#include "scheduler/bucket.h"
#include "scheduler/shape_cache.h"

int tengine_graph_add_bucket(graph_t graph, const char* shapes)
{
    api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_name(shapes, __func__, "shapes") < 0 || check_idle(target, __func__) < 0)
        return api_failure();
    if (IS_MINIMAL) return api_result(fail_not_supported(__func__, "buckets are"));
    return end_change(target, add_ir_bucket(target->graph, shapes));
}

int tengine_graph_get_bucket_number(graph_t graph)
{
    const api_graph_t* target = find_graph(graph, __func__);
    return !target ? api_failure() : count_ir_buckets(target->graph);
}

const char* tengine_graph_get_bucket(graph_t graph, int index)
{
    const api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_index(index, count_ir_buckets(target->graph), __func__, "buckets") < 0)
        return api_pointer(NULL);
    return IS_MINIMAL ? NULL : get_ir_bucket(target->graph, index);
}

const char* tengine_graph_explain_bucket(graph_t graph, int* bucket)
{
    const api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_pointer(bucket, __func__, "bucket") < 0) return api_pointer(NULL);
    *bucket = -1;
    if (IS_MINIMAL && target->graph->core->execution) return "";
    if (target->graph->core->execution)
        return explain_ir_bucket(get_ir_buckets(target->graph), target->graph, bucket);
    tengine_error_set(TENGINE_ESTATE, "%s: call prerun_graph first", __func__);
    return api_pointer(NULL);
}
