// SPDX-License-Identifier: Apache-2.0
// The model format "onnx" as the serializer registry sees it. The work starts in model.cc.
#include <memory>

#include "base/guard.hpp"
#include "graph/core.h"
#include "graph/option.h"
#include "module/module.h"
#include "serializer/onnx/model.h"
#include "serializer/onnx/writer.h"
#include "serializer/serializer.h"

namespace {

const char* get_name(struct serializer*)
{
    return "onnx";
}

// No exception leaves this folder.
template <class Work>
int guard(const Work& work)
{
    const auto with_protobuf = [&] {
        return tengine::guarded_library(work, TENGINE_EFORMAT,
                                        "the ONNX model cannot be read or written");
    };
    return tengine::guarded(with_protobuf, "out of memory for the ONNX model");
}

// Kept in graph->serializer_privacy.
struct Origin
{
    explicit Origin(tengine::FileOptions options)
        : files(std::make_shared<tengine::ModelFiles>(options))
    {
    }

    std::shared_ptr<tengine::ModelFiles> files;  // those of all instances
    std::shared_ptr<const tengine::ModelFrame> frame;
    bool is_copy = false;
};

const Origin* origin_of(const struct graph* graph)
{
    return static_cast<const Origin*>(graph->core->serializer_privacy);
}

// The graph owns it, even when loading fails.
Origin* make_origin(struct serializer* serializer, struct graph* graph,
                    tengine::FileOptions options)
{
    auto* origin = new Origin(options);
    graph->core->serializer = serializer;
    graph->core->serializer_privacy = origin;
    return origin;
}

int load_model(struct serializer* serializer, struct graph* graph, const char* file_name, va_list)
{
    if (!file_name || !*file_name)
        return tengine_error_set(TENGINE_EINVAL, "an ONNX model needs a file name");
    const ir_context_t* context = graph->attribute->context;
    const tengine::FileOptions options = {
        parse_file_use(get_ir_context_option(context, "model.map")),
        get_ir_context_number(context, "model.refuse_hard_links") != 0};
    return guard([=] {
        Origin* origin = make_origin(serializer, graph, options);
        return tengine::load_onnx_file(graph, file_name, origin->files.get(), &origin->frame);
    });
}

int load_mem(struct serializer* serializer, struct graph* graph, const void* address, size_t size)
{
    const tengine::Bytes bytes(static_cast<const char*>(address), size);
    return guard([=] {
        return tengine::load_onnx_bytes(graph, bytes, &make_origin(serializer, graph, {})->frame);
    });
}

int unload_graph(struct serializer*, struct graph* graph, void* privacy, void*)
{
    delete static_cast<Origin*>(privacy);
    graph->core->serializer_privacy = nullptr;
    return TENGINE_OK;
}

ir_data_place_t locate_data(const struct serializer*, const struct graph* graph, const void* data)
{
    const Origin* origin = origin_of(graph);
    const tengine::ModelFile* file = origin ? origin->files->find(data) : nullptr;
    if (!file) return IR_DATA_PROGRAM;
    return file->is_copy ? IR_DATA_LIBRARY : IR_DATA_MAPPED;
}

bool has_file(const struct serializer*, const struct graph* graph, const struct stat* file)
{
    const Origin* origin = origin_of(graph);
    return origin && origin->files->has_origin(*file);
}

int check_files(const struct serializer*, const struct graph* graph)
{
    const Origin* origin = origin_of(graph);
    return origin ? origin->files->check() : TENGINE_OK;
}

int save_model(struct serializer* serializer, const struct graph* graph, const char* file_name)
{
    return guard([=] {
        // A copy for another opset has the files of its source.
        const struct graph* said = graph->core->source ? graph->core->source : graph;
        const Origin* origin = said->core->serializer == serializer ? origin_of(said) : nullptr;
        const bool has_frame = origin && origin->is_copy;
        return tengine::save_onnx_file(*graph, has_frame ? origin->frame.get() : nullptr,
                                       file_name);
    });
}

int inherit(struct serializer* serializer, const struct graph* parent, struct graph* graph)
{
    return guard([=] {
        Origin* origin = make_origin(serializer, graph, {});
        origin->frame = origin_of(parent)->frame;
        origin->files->add_origins(*origin_of(parent)->files);
        origin->is_copy = true;
        return static_cast<int>(TENGINE_OK);
    });
}

int share(struct serializer* serializer, const struct graph* parent, struct graph* graph)
{
    return guard([=] {
        graph->core->serializer = serializer;
        graph->core->serializer_privacy = new Origin(*origin_of(parent));
        return static_cast<int>(TENGINE_OK);
    });
}

// The serializer has no init and release: protobuf's global state is never shut down, because it
// cannot be started again and other users of protobuf in the process share it. The log of protobuf
// is not redirected: the messages have no required fields and no checked strings and are never too
// large, so that it prints nothing.
serializer_t make_serializer()
{
    serializer_t made = {};
    made.get_name = get_name;
    made.load_model = load_model;
    made.load_mem = load_mem;
    made.unload_graph = unload_graph;
    made.save_model = save_model;
    made.dialect = "";
    made.locate_data = locate_data;
    made.file_ending = ".onnx";
    made.inherit = inherit;
    made.share = share;
    made.has_file = has_file;
    made.check_files = check_files;
    return made;
}

serializer_t onnx_serializer = make_serializer();

}  // namespace

TENGINE_DEFINE_SERIALIZER(onnx, &onnx_serializer);
