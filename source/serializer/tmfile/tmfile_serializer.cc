// SPDX-License-Identifier: Apache-2.0
// The model format "tengine" as the serializer registry sees it: reading starts in reader.cc,
// writing in writer.cc.
#include "base/containers.hpp"
#include "base/replace_file.h"
#include "graph/core.h"
#include "module/module.h"
#include "operator/operator.h"
#include "registry/selection.h"
#include "serializer/image_format.hpp"
#include "serializer/tmfile/reader.h"
#include "serializer/tmfile/tmfile.h"
#include "serializer/tmfile/writer.h"

namespace tengine::tmfile {
namespace {

struct Format
{
    static constexpr char kName[] = "tengine";
    static constexpr char kFile[] = "tmfile";
    static constexpr char kEnding[] = ".tmfile";
    static constexpr size_t kAlignment = 1;

    static int read_model(struct graph* graph, FileImage* image, const char* entry)
    {
        return tmfile::read_model(graph, image, entry);
    }
};

#if TENGINE_CAN_WRITE_TMFILE
int save_model(struct serializer*, const struct graph* graph, const char* file_name)
{
    if (!file_name || !*file_name)
        return tengine_error_set(TENGINE_EINVAL, "a tmfile needs a file name");
    return save_tmfile(graph, file_name);
}

int save_entries(struct serializer*, const struct graph* const graphs[], const char* const names[],
                 int number, const char* file_name)
{
    Vector<char> bytes;
    TENGINE_RETURN_IF_ERROR(ImageFormat<Format>::guard("write", [&] {
        return write_model({graphs, graphs + number}, names, &bytes);
    }));
    return replace_file(file_name, bytes.data(), bytes.size());
}
#endif

serializer_t make_serializer()
{
    serializer_t made = ImageFormat<Format>::make();
#if TENGINE_CAN_WRITE_TMFILE
    made.save_model = save_model;
    made.save_entries = save_entries;
#endif
    made.dialect = "tengine";
    return made;
}

serializer_t tmfile_serializer = make_serializer();

}  // namespace

const FileImage* find_image(const struct graph& graph)
{
    if (graph.core->serializer != &tmfile_serializer) return nullptr;
    return static_cast<const FileImage*>(graph.core->serializer_privacy);
}

}  // namespace tengine::tmfile

namespace tengine {

int encode_tmfile(const struct graph* graph, Vector<char>* out_bytes)
{
    return ImageFormat<tmfile::Format>::guard(
        "write", [=] { return tmfile::write_model({graph}, nullptr, out_bytes); });
}

int save_tmfile(const struct graph* graph, const char* path)
{
    Vector<char> bytes;
    TENGINE_RETURN_IF_ERROR(encode_tmfile(graph, &bytes));
    return replace_file(path, bytes.data(), bytes.size());
}

}  // namespace tengine

TENGINE_DEFINE_SERIALIZER(tmfile, &tengine::tmfile::tmfile_serializer);
