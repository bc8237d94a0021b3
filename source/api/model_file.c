// SPDX-License-Identifier: Apache-2.0
// C API: the files that a graph was loaded from. Each format lists its own.
#include "api/model_file.h"

#include "api/check.h"
#include "graph/core.h"
#include "serializer/serializer.h"
#include "tengine/file.h"

int check_model_files(const struct graph* graph)
{
    const struct serializer* serializer = graph->core->serializer;
    return serializer && serializer->check_files ? serializer->check_files(serializer, graph)
                                                 : TENGINE_OK;
}

static bool is_model_file(const struct graph* graph, const char* path)
{
    const struct serializer* serializer = graph->core->serializer;
    struct stat file;
    return serializer && serializer->has_file && stat(path, &file) == 0 &&
           serializer->has_file(serializer, graph, &file);
}

int tengine_graph_has_file(graph_t graph, const char* path)
{
    const api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_name(path, __func__, "path") < 0) return api_failure();
    return is_model_file(target->graph, path);
}
