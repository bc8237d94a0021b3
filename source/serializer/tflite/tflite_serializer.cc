// SPDX-License-Identifier: Apache-2.0
// The model format "tflite" as the serializer registry sees it: reading starts in reader.cc,
// writing in writer.cc.
#include "base/containers.hpp"
#include "base/replace_file.h"
#include "graph/entry.h"
#include "module/module.h"
#include "registry/selection.h"
#include "serializer/image_format.hpp"
#include "serializer/tflite/reading.h"
#include "serializer/tflite/writing.h"

namespace tengine::tflite {
namespace {

struct Format
{
    static constexpr char kName[] = "tflite";
    static constexpr char kFile[] = ".tflite";
    static constexpr char kEnding[] = ".tflite";
    // The numbers in a flatbuffer are aligned from its start: bytes at an odd address are copied.
    static constexpr size_t kAlignment = alignof(uint64_t);

    static int read_model(struct graph* graph, FileImage* image, const char* entry)
    {
        return tflite::read_model(graph, image, entry);
    }
};

#if TENGINE_CAN_WRITE_TMFILE
// A copy for this dialect has the file of its source.
const FileImage* find_image(const struct serializer* serializer, const struct graph& graph)
{
    const ir_graph_core_t& origin = *(graph.core->source ? graph.core->source : &graph)->core;
    return origin.serializer == serializer
               ? static_cast<const FileImage*>(origin.serializer_privacy)
               : nullptr;
}

int save_entries(struct serializer* serializer, const struct graph* const graphs[],
                 const char* const names[], int number, const char* file_name)
{
    if (!file_name || !*file_name)
        return tengine_error_set(TENGINE_EINVAL, "a .tflite needs a file name");
    Vector<char> bytes;
    TENGINE_RETURN_IF_ERROR(ImageFormat<Format>::guard("write", [&] {
        Vector<WrittenEntry> entries;
        for (int i = 0; i < number; ++i)
            entries.push_back({graphs[i], find_image(serializer, *graphs[i]), names[i]});
        return write_model(entries, &bytes);
    }));
    return replace_file(file_name, bytes.data(), bytes.size());
}

// The entry of a model with others is written alone.
int save_model(struct serializer* serializer, const struct graph* graph, const char* file_name)
{
    const struct graph* read = graph->core->source ? graph->core->source : graph;
    const int entry = get_ir_entry(read);
    const char* name = entry < 0 ? "" : get_ir_entry_name(read, entry);
    return save_entries(serializer, &graph, &name, 1, file_name);
}
#endif

serializer_t make_serializer()
{
    serializer_t made = ImageFormat<Format>::make();
#if TENGINE_CAN_WRITE_TMFILE
    made.save_model = save_model;
    made.save_entries = save_entries;
    made.dialect = "tflite";
#endif
    return made;
}

serializer_t tflite_serializer = make_serializer();

}  // namespace
}  // namespace tengine::tflite

TENGINE_DEFINE_SERIALIZER(tflite, &tengine::tflite::tflite_serializer);
