// SPDX-License-Identifier: Apache-2.0
// C API: saving graphs to files.
#include <string.h>

#include "api/check.h"
#include "api/model_file.h"
#include "base/minimal.h"
#include "graph/core.h"
#include "graph/metadata.h"
#include "graph/model_part.h"
#include "module/module.h"
#include "operator/affinity.h"
#include "optimizer/optimizer.h"
#include "serializer/serializer.h"
#include "tengine/log.h"

// Parts are compiled of the nodes in the model's own format, not of their translation to another
// format. `translated` gets these parts, too.
static int share_compiled_parts(struct graph* graph, const struct serializer* target,
                                struct graph* translated)
{
    const struct serializer* origin = graph->core->serializer;
    const int number = count_ir_whole_model_parts(graph);
    if (number == 0) return TENGINE_OK;
    if (strcmp(target->dialect, "tengine") != 0) {
        TLOG_WARNING(
            "%d compiled parts of the model are not written: only a tmfile can have them, "
            "and a .tflite those that a vendor's compiler made of its nodes",
            number);
        return TENGINE_OK;
    }
    if (!origin || strcmp(origin->dialect, "tengine") != 0)
        return tengine_error_set(
            TENGINE_ENOTSUP,
            "save_graph: with model.keep_parts, only a model that was loaded from a tmfile can be "
            "saved as one: save it before prerun_graph, then load, prepare and save the tmfile");
    return share_ir_model_parts(graph, translated);
}

static int save_translated(struct graph* graph, struct serializer* serializer,
                           struct graph* translated, const char* file_name)
{
    int status = share_compiled_parts(graph, serializer, translated);
    if (status == TENGINE_OK) status = serializer->save_model(serializer, translated, file_name);
    destroy_ir_graph(translated);
    return status;
}

// The byte code of parts lies in the nodes.
static int save_bundled(struct serializer* serializer, struct graph* bundled, const char* file_name)
{
    const int status = serializer->save_model(serializer, bundled, file_name);
    destroy_ir_graph(bundled);
    return status;
}

static int save(struct graph* graph, struct serializer* serializer, const char* file_name)
{
    struct graph* translated = NULL;
    if (!IS_MINIMAL && strcmp(serializer->dialect, "tflite") == 0) {
        TENGINE_RETURN_IF_ERROR(create_bundled_graph(graph, &translated));
        if (translated) return save_bundled(serializer, translated, file_name);
    }
    TENGINE_RETURN_IF_ERROR(create_saved_graph(graph, serializer->dialect, &translated));
    return translated ? save_translated(graph, serializer, translated, file_name)
                      : serializer->save_model(serializer, graph, file_name);
}

// The file also has the program's affinities, which the graph has not.
static int save_with_hints(struct graph* graph, struct serializer* serializer,
                           const char* file_name)
{
    struct ir_metadata* own = graph->core->metadata;
    struct ir_metadata* written;
    if (IS_MINIMAL) return save(graph, serializer, file_name);
    TENGINE_RETURN_IF_ERROR(list_ir_written_metadata(graph, &written));
    graph->core->metadata = written;
    const int status = save(graph, serializer, file_name);
    graph->core->metadata = own;
    release_ir_metadata(written);
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
        find_writer(model_format, &serializer) < 0 || check_model_files(target->graph) < 0)
        return api_failure();
    return api_result(save_with_hints(target->graph, serializer, file_name));
}
