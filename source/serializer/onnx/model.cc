// SPDX-License-Identifier: Apache-2.0
// Splits a model into its messages and checks the fields of the model itself.
#include "serializer/onnx/model.h"

#include <filesystem>

#include "graph/graph.h"
#include "graph/metadata.h"
#include "serializer/onnx/flex_attention.h"
#include "serializer/onnx/functions.h"
#include "serializer/onnx/graph_import.h"
#include "serializer/onnx/metadata.h"
#include "serializer/onnx/zip_map.h"

namespace tengine {
namespace {

// The differences between IR versions 3 and 13 are additions; earlier ones import no opsets.
constexpr int64_t kOldestIrVersion = 3;
constexpr int64_t kNewestIrVersion = 13;

int check_header(const ::onnx::ModelProto& header)
{
    if (!header.has_ir_version())
        return tengine_error_set(TENGINE_EFORMAT, "not an ONNX model: it has no IR version");
    if (header.ir_version() < kOldestIrVersion || header.ir_version() > kNewestIrVersion)
        return tengine_error_set(
            TENGINE_ENOTSUP, "ONNX IR version %lld is not supported: expected %lld to %lld",
            static_cast<long long>(header.ir_version()), static_cast<long long>(kOldestIrVersion),
            static_cast<long long>(kNewestIrVersion));
    return TENGINE_OK;
}

int take_apart(Bytes bytes, OnnxModel* out_model)
{
    std::vector<Encoded> graphs;
    TENGINE_RETURN_IF_ERROR(split_message({bytes, 0}, ::onnx::ModelProto::kGraphFieldNumber,
                                          &out_model->header, &graphs));
    TENGINE_RETURN_IF_ERROR(check_header(out_model->header));
    TENGINE_RETURN_IF_ERROR(
        collect_opsets(out_model->header.opset_import(), &out_model->imports.model));
    if (graphs.empty()) return tengine_error_set(TENGINE_EFORMAT, "the model has no graph");
    for (const Encoded& graph : graphs)
        TENGINE_RETURN_IF_ERROR(split_message(graph, ::onnx::GraphProto::kInitializerFieldNumber,
                                              &out_model->graph, &out_model->initializers));
    return TENGINE_OK;
}

int name_graph(struct graph* graph, const std::string& name)
{
    return name.empty() ? TENGINE_OK : set_ir_graph_name(graph, name.c_str());
}

int load(struct graph* graph, Bytes bytes, ExternalData* external, ModelFile* file,
         std::shared_ptr<const ModelFrame>* out_frame)
{
    OnnxModel model;
    TENGINE_RETURN_IF_ERROR(take_apart(bytes, &model));
    TENGINE_RETURN_IF_ERROR(expand_functions(&model, graph->attribute->context));
    TENGINE_RETURN_IF_ERROR(expand_flex_attention(&model, graph->attribute->context));
    drop_zip_maps(&model);
    TENGINE_RETURN_IF_ERROR(name_graph(graph, model.graph.name()));
    TENGINE_RETURN_IF_ERROR(take_metadata(&model.header, &model.graph, graph));
    model.metadata = graph->core->metadata;
    GraphImport import(graph, &model, external, file);
    TENGINE_RETURN_IF_ERROR(import.run());
    order_ir_metadata(model.metadata);
    *out_frame = make_model_frame(model, import.node_names(), *graph);
    return TENGINE_OK;
}

}  // namespace

int load_onnx_file(struct graph* graph, const std::string& path, ModelFiles* files,
                   std::shared_ptr<const ModelFrame>* out_frame)
{
    ModelFile* file = nullptr;
    TENGINE_RETURN_IF_ERROR(files->open_model(path, &file));
    const Bytes bytes(file->bytes.bytes, file->bytes.size);
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    ExternalData external(folder.empty() ? "." : folder.string(), files);
    TENGINE_RETURN_IF_ERROR(load(graph, bytes, &external, file, out_frame));
    // The check precedes the unmapping of files whose bytes have been copied.
    TENGINE_RETURN_IF_ERROR(files->check());
    files->unmap_unviewed();
    return TENGINE_OK;
}

int load_onnx_bytes(struct graph* graph, Bytes bytes, std::shared_ptr<const ModelFrame>* out_frame)
{
    ExternalData external;
    return load(graph, bytes, &external, nullptr, out_frame);
}

}  // namespace tengine
