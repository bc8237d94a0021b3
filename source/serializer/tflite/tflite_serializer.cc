// SPDX-License-Identifier: Apache-2.0
// The model format "tflite" as the serializer registry sees it: reading starts in reader.cc.
#include <cstring>
#include <memory>

#include "base/containers.hpp"
#include "base/guard.hpp"
#include "graph/core.h"
#include "graph/option.h"
#include "module/module.h"
#include "serializer/serializer.h"
#include "serializer/tflite/reading.h"

namespace tengine::tflite {
namespace {

const char* get_name(struct serializer*)
{
    return "tflite";
}

// No exception leaves this folder.
template <class Work>
int guard(const char* what, const Work& work)
{
    const auto with_library = [&] {
        return guarded_library(work, TENGINE_EINTERNAL, "cannot %s the .tflite", what);
    };
    return guarded(with_library, "cannot %s the .tflite: out of memory", what);
}

// The image becomes the graph's even when loading fails: constants may lie in it already.
int read_image(struct serializer* serializer, struct graph* graph, std::unique_ptr<FileImage> image)
{
    graph->core->serializer = serializer;
    graph->core->serializer_privacy = image.get();
    return read_model(graph, image.release());
}

int load_model(struct serializer* serializer, struct graph* graph, const char* file_name, va_list)
{
    if (!file_name || !*file_name)
        return tengine_error_set(TENGINE_EINVAL, "a .tflite needs a file name");
    const file_use_t use =
        parse_file_use(get_ir_context_option(graph->attribute->context, "model.map"));
    return guard("load", [=]() -> int {
        std::unique_ptr<FileImage> image(new FileImage);
        const FileImage* opened = image.get();
        TENGINE_RETURN_IF_ERROR(image->open(file_name, use));
        TENGINE_RETURN_IF_ERROR(read_image(serializer, graph, std::move(image)));
        return opened->check();
    });
}

int load_mem(struct serializer* serializer, struct graph* graph, const void* address, size_t size);

// The numbers in a flatbuffer are aligned from its start: bytes at an odd address are copied.
int load_block(struct serializer* serializer, struct graph* graph, void* block, size_t size,
               bool owned)
{
    const bool is_aligned = reinterpret_cast<uintptr_t>(block) % alignof(uint64_t) == 0;
    if (!is_aligned && !owned) return load_mem(serializer, graph, block, size);
    return guard("load", [=]() -> int {
        std::unique_ptr<FileImage> image(new FileImage);
        FileImage* made = image.get();
        made->view(block, size);
        TENGINE_RETURN_IF_ERROR(read_image(serializer, graph, std::move(image)));
        if (owned) made->own();
        return TENGINE_OK;
    });
}

int load_mem(struct serializer* serializer, struct graph* graph, const void* address, size_t size)
{
    void* copy = alloc_raw_memory(size);
    if (!copy)
        return tengine_error_set(TENGINE_ENOMEM, "out of memory for a .tflite of %zu bytes", size);
    std::memcpy(copy, address, size);
    const int status = load_block(serializer, graph, copy, size, true);
    if (status < 0) free_memory(copy);
    return status;
}

int unload_graph(struct serializer*, struct graph* graph, void* privacy, void*)
{
    auto* image = static_cast<FileImage*>(privacy);
    if (image && image->leave()) delete image;
    graph->core->serializer_privacy = nullptr;
    return TENGINE_OK;
}

int share(struct serializer* serializer, const struct graph* parent, struct graph* graph)
{
    auto* image = static_cast<FileImage*>(parent->core->serializer_privacy);
    image->join();
    graph->core->serializer = serializer;
    graph->core->serializer_privacy = image;
    return TENGINE_OK;
}

ir_data_place_t locate_data(const struct serializer*, const struct graph* graph, const void* data)
{
    return static_cast<const FileImage*>(graph->core->serializer_privacy)->locate(data);
}

bool has_file(const struct serializer*, const struct graph* graph, const struct stat* file)
{
    return static_cast<const FileImage*>(graph->core->serializer_privacy)->is_of(*file);
}

int check_files(const struct serializer*, const struct graph* graph)
{
    return static_cast<const FileImage*>(graph->core->serializer_privacy)->check();
}

serializer_t make_serializer()
{
    serializer_t made = {};
    made.get_name = get_name;
    made.load_model = load_model;
    made.load_mem = load_mem;
    made.load_block = load_block;
    made.unload_graph = unload_graph;
    made.share = share;
    made.locate_data = locate_data;
    made.file_ending = ".tflite";
    made.has_file = has_file;
    made.check_files = check_files;
    return made;
}

serializer_t tflite_serializer = make_serializer();

}  // namespace
}  // namespace tengine::tflite

TENGINE_DEFINE_SERIALIZER(tflite, &tengine::tflite::tflite_serializer);
