// SPDX-License-Identifier: Apache-2.0
// C API: graphs to files.
#include "api/check.h"
#include "module/module.h"
#include "optimizer/optimizer.h"
#include "serializer/serializer.h"

static int save(const struct graph* graph, struct serializer* serializer, const char* file_name)
{
    struct graph* translated = NULL;
    TENGINE_RETURN_IF_ERROR(create_saved_graph(graph, serializer->dialect, &translated));
    const int status =
        serializer->save_model(serializer, translated ? translated : graph, file_name);
    if (translated) destroy_ir_graph(translated);
    return status;
}

static int find_writer(const char* format, struct serializer** out_serializer)
{
    *out_serializer = find_serializer_via_name(format);
    if (!*out_serializer)
        return tengine_error_set(TENGINE_ENOENT, "save_graph: unknown model format '%s'", format);
    if ((*out_serializer)->save_model != NULL) return TENGINE_OK;
    return tengine_error_set(TENGINE_ENOTSUP, "save_graph: models of format '%s' can only be read",
                             format);
}

int save_graph(graph_t graph, const char* model_format, const char* file_name, ...)
{
    const api_graph_t* target = find_graph(graph, __func__);
    struct serializer* serializer = NULL;
    if (!target || check_name(model_format, __func__, "model_format") < 0 ||
        check_name(file_name, __func__, "file_name") < 0 || check_idle(target, __func__) < 0 ||
        find_writer(model_format, &serializer) < 0)
        return api_failure();
    return api_result(save(target->graph, serializer, file_name));
}
