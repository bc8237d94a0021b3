// SPDX-License-Identifier: Apache-2.0
// C API: saving graphs to files.
#include <string.h>

#include "api/check.h"
#include "api/graph.h"
#include "api/model_file.h"
#include "base/alloc.h"
#include "base/minimal.h"
#include "graph/core.h"
#include "graph/entry.h"
#include "graph/metadata.h"
#include "graph/model_part.h"
#include "graph/variant.h"
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
    if (number == 0 && count_ir_variants(graph) == 0) return TENGINE_OK;
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

static int translate(struct graph* graph, const struct serializer* serializer,
                     struct graph** out_translated)
{
    TENGINE_RETURN_IF_ERROR(create_saved_graph(graph, serializer->dialect, out_translated));
    if (!*out_translated) return TENGINE_OK;
    const int status = share_compiled_parts(graph, serializer, *out_translated);
    if (status >= 0) return status;
    destroy_ir_graph(*out_translated);
    *out_translated = NULL;
    return status;
}

// The graph in the operators of the format, NULL: it is in them already. The byte code of parts
// lies in the nodes of a .tflite.
static int make_written(struct graph* graph, const struct serializer* serializer,
                        struct graph** out_written)
{
    *out_written = NULL;
    if (!IS_MINIMAL && strcmp(serializer->dialect, "tflite") == 0)
        TENGINE_RETURN_IF_ERROR(create_bundled_graph(graph, out_written));
    return *out_written ? TENGINE_OK : translate(graph, serializer, out_written);
}

static int save(struct graph* graph, struct serializer* serializer, const char* file_name)
{
    struct graph* written;
    TENGINE_RETURN_IF_ERROR(make_written(graph, serializer, &written));
    const int status = serializer->save_model(serializer, written ? written : graph, file_name);
    destroy_ir_graph(written);
    return status;
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

// ---- entries ----

// An entry on its way to a file.
typedef struct saved_entry
{
    struct graph* graph;       // NULL: it has not been found
    bool is_opened;            // for the file; else it is a graph of the program
    struct graph* translated;  // NULL: it is written as it is
    struct ir_metadata* own;   // of the graph, which has those of the file meanwhile
} saved_entry_t;

typedef struct saved_model
{
    int number;
    saved_entry_t* entries;
    const struct graph** graphs;  // to be written
    const char** names;
} saved_model_t;

static void free_entry(const saved_entry_t* entry)
{
    destroy_ir_graph(entry->translated);
    if (!entry->graph) return;
    release_ir_metadata(entry->graph->core->metadata);
    entry->graph->core->metadata = entry->own;
    if (entry->is_opened) destroy_entry_graph(entry->graph);
}

static void free_saved_model(const saved_model_t* model)
{
    for (int i = 0; model->entries && i < model->number; ++i)
        free_entry(&model->entries[i]);
    free_memory(model->entries);
    free_memory((void*)model->graphs);
    free_memory((void*)model->names);
}

// The graph of the program, if there is one.
static int find_graph_of(struct graph* graph, int index, saved_entry_t* entry)
{
    struct ir_metadata* written;
    struct graph* found = get_ir_entry(graph) == index ? graph : find_ir_entry_graph(graph, index);
    if (found && found->status == GRAPH_STAT_RUNNING)
        return tengine_error_set(TENGINE_ESTATE, "save_graph: entry '%s' is running",
                                 get_ir_entry_name(graph, index));
    entry->is_opened = !found;
    if (!found) TENGINE_RETURN_IF_ERROR(create_entry_graph(graph, index, &found));
    const int status = list_ir_written_metadata(found, &written);
    if (status < 0) {
        if (entry->is_opened) destroy_entry_graph(found);
        return status;
    }
    entry->graph = found;
    entry->own = found->core->metadata;
    found->core->metadata = written;
    return check_model_files(found);
}

static int prepare_entry(struct graph* graph, int index, const struct serializer* serializer,
                         saved_model_t* model)
{
    saved_entry_t* entry = &model->entries[index];
    model->names[index] = get_ir_entry_name(graph, index);
    TENGINE_RETURN_IF_ERROR(find_graph_of(graph, index, entry));
    TENGINE_RETURN_IF_ERROR(make_written(entry->graph, serializer, &entry->translated));
    model->graphs[index] = entry->translated ? entry->translated : entry->graph;
    return TENGINE_OK;
}

static int save_entries(struct graph* graph, struct serializer* serializer, const char* file_name)
{
    const int number = count_ir_entries(graph);
    saved_model_t model = {number, alloc_memory(sizeof *model.entries * (size_t)number),
                           alloc_memory(sizeof *model.graphs * (size_t)number),
                           alloc_memory(sizeof *model.names * (size_t)number)};
    int status = TENGINE_OK;
    if (!model.entries || !model.graphs || !model.names)
        status = tengine_error_set(TENGINE_ENOMEM, "save_graph: out of memory");
    for (int i = 0; i < number && status == TENGINE_OK; ++i)
        status = prepare_entry(graph, i, serializer, &model);
    if (status == TENGINE_OK)
        status = serializer->save_entries(serializer, model.graphs, model.names, number, file_name);
    free_saved_model(&model);
    return status;
}

static int save_model(struct graph* graph, struct serializer* serializer, const char* file_name)
{
    const int number = count_ir_entries(graph);
    if (IS_MINIMAL || number < 2) return save_with_hints(graph, serializer, file_name);
    if (serializer->save_entries) return save_entries(graph, serializer, file_name);
    TLOG_WARNING(
        "entry '%s' is written alone, the model has %d: only a tmfile or a .tflite can have "
        "several",
        get_ir_entry_name(graph, get_ir_entry(graph)), number);
    return save_with_hints(graph, serializer, file_name);
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
    return api_result(save_model(target->graph, serializer, file_name));
}
