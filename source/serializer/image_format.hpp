// SPDX-License-Identifier: Apache-2.0
// The entries of a format whose models are one file, in which their constants lie: an image, which
// is graph->serializer_privacy and which instances share.
#pragma once

#include <cstring>
#include <memory>

#include "base/containers.hpp"
#include "base/file_image.hpp"
#include "base/guard.hpp"
#include "base/minimal.h"
#include "graph/core.h"
#include "graph/entry.h"
#include "graph/option.h"
#include "serializer/serializer.h"

namespace tengine {

// Format has
//     kName, kEnding    those of serializer_t
//     kFile             the word for such a file in messages
//     kAlignment        of the bytes that are read in place
//     read_model()      fills an empty graph from an image, with the entry of this name; "": the
//                       first one
template <class Format>
class ImageFormat
{
  public:
    // The entries, except those that write.
    static serializer_t make()
    {
        serializer_t made = {};
        made.get_name = [](struct serializer*) { return Format::kName; };
        made.load_model = load_model;
        made.load_mem = load_mem;
        made.load_block = load_block;
        made.unload_graph = unload_graph;
        made.share = share;
        made.load_entry = load_entry;
        made.locate_data = [](const struct serializer*, const struct graph* graph,
                              const void* data) { return image_of(graph)->locate(data); };
        made.file_ending = Format::kEnding;
        made.has_file = [](const struct serializer*, const struct graph* graph,
                           const struct stat* file) { return image_of(graph)->is_of(*file); };
        made.check_files = [](const struct serializer*, const struct graph* graph) {
            return image_of(graph)->check();
        };
        return made;
    }

    // No exception leaves the folder of the format.
    template <class Work>
    static int guard(const char* what, const Work& work)
    {
        const auto with_library = [&] {
            return guarded_library(work, TENGINE_EINTERNAL, "cannot %s the %s", what,
                                   Format::kFile);
        };
        return guarded(with_library, "cannot %s the %s: out of memory", what, Format::kFile);
    }

  private:
    static FileImage* image_of(const struct graph* graph)
    {
        return static_cast<FileImage*>(graph->core->serializer_privacy);
    }

    // The image becomes the graph's even when loading fails: constants may lie in it already.
    static int read_image(struct serializer* serializer, struct graph* graph,
                          std::unique_ptr<FileImage> image)
    {
        graph->core->serializer = serializer;
        graph->core->serializer_privacy = image.get();
        const char* entry =
            IS_MINIMAL ? "" : get_ir_context_option(graph->attribute->context, "model.entry");
        return Format::read_model(graph, image.release(), entry);
    }

    static int load_model(struct serializer* serializer, struct graph* graph, const char* file_name,
                          va_list)
    {
        if (!file_name || !*file_name)
            return tengine_error_set(TENGINE_EINVAL, "a %s needs a file name", Format::kFile);
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

    static int load_block(struct serializer* serializer, struct graph* graph, void* block,
                          size_t size, bool owned)
    {
        const bool is_aligned = reinterpret_cast<uintptr_t>(block) % Format::kAlignment == 0;
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

    static int load_mem(struct serializer* serializer, struct graph* graph, const void* address,
                        size_t size)
    {
        void* copy = alloc_raw_memory(size);
        if (!copy)
            return tengine_error_set(TENGINE_ENOMEM, "out of memory for a %s of %zu bytes",
                                     Format::kFile, size);
        std::memcpy(copy, address, size);
        const int status = load_block(serializer, graph, copy, size, true);
        if (status < 0) free_memory(copy);
        return status;
    }

    static int unload_graph(struct serializer*, struct graph* graph, void* privacy, void*)
    {
        auto* image = static_cast<FileImage*>(privacy);
        if (image && image->leave()) delete image;
        graph->core->serializer_privacy = nullptr;
        return TENGINE_OK;
    }

    static int share(struct serializer* serializer, const struct graph* parent, struct graph* graph)
    {
        image_of(parent)->join();
        graph->core->serializer = serializer;
        graph->core->serializer_privacy = image_of(parent);
        return TENGINE_OK;
    }

    static int load_entry(struct serializer* serializer, const struct graph* parent, int entry,
                          struct graph* graph)
    {
        TENGINE_RETURN_IF_ERROR(image_of(parent)->check());
        TENGINE_RETURN_IF_ERROR(share(serializer, parent, graph));
        const char* name = get_ir_entry_name(parent, entry);
        return guard("load", [=] { return Format::read_model(graph, image_of(parent), name); });
    }
};

}  // namespace tengine
