// SPDX-License-Identifier: Apache-2.0
#include "serializer/onnx/metadata.h"

#include <string>

#include "graph/core.h"
#include "graph/metadata.h"

namespace tengine {
namespace {

// The statements that are one text, in the order of onnx.proto.
struct TextField
{
    ir_metadata_kind_t kind;
    const std::string& (::onnx::ModelProto::*get)() const;
    std::string* (::onnx::ModelProto::*edit)();
    void (::onnx::ModelProto::*clear)();
};

using Model = ::onnx::ModelProto;

const TextField kTextFields[] = {
    {IR_METADATA_PRODUCER_NAME, &Model::producer_name, &Model::mutable_producer_name,
     &Model::clear_producer_name},
    {IR_METADATA_PRODUCER_VERSION, &Model::producer_version, &Model::mutable_producer_version,
     &Model::clear_producer_version},
    {IR_METADATA_DOMAIN, &Model::domain, &Model::mutable_domain, &Model::clear_domain},
    {IR_METADATA_DOC_STRING, &Model::doc_string, &Model::mutable_doc_string,
     &Model::clear_doc_string},
};

int add_text(ir_metadata* metadata, ir_metadata_kind_t kind, const std::string& text)
{
    if (text.empty()) return TENGINE_OK;
    const ir_metadata_entry_t entry = {kind, 0, "", text.c_str()};
    return add_ir_metadata(metadata, &entry);
}

int add_number(ir_metadata* metadata, ir_metadata_kind_t kind, int64_t number)
{
    if (number == 0) return TENGINE_OK;
    const ir_metadata_entry_t entry = {kind, number, "", ""};
    return add_ir_metadata(metadata, &entry);
}

int add_lists(const Model& model, ir_metadata* metadata)
{
    for (const auto& property : model.metadata_props()) {
        const ir_metadata_entry_t entry = {IR_METADATA_PROPERTY, 0, property.key().c_str(),
                                           property.value().c_str()};
        TENGINE_RETURN_IF_ERROR(add_ir_metadata(metadata, &entry));
    }
    for (const auto& opset : model.opset_import()) {
        const ir_metadata_entry_t entry = {IR_METADATA_OPSET, opset.version(),
                                           opset.domain().c_str(), ""};
        TENGINE_RETURN_IF_ERROR(add_ir_metadata(metadata, &entry));
    }
    return TENGINE_OK;
}

}  // namespace

int take_metadata(Model* model, ::onnx::GraphProto* model_graph, graph* graph)
{
    ir_metadata* metadata = create_ir_metadata();
    if (!metadata)
        return tengine_error_set(TENGINE_ENOMEM, "out of memory for the model's metadata");
    graph->core->metadata = metadata;
    for (const TextField& field : kTextFields) {
        TENGINE_RETURN_IF_ERROR(add_text(metadata, field.kind, (model->*field.get)()));
        (model->*field.clear)();
    }
    TENGINE_RETURN_IF_ERROR(
        add_text(metadata, IR_METADATA_GRAPH_DOC_STRING, model_graph->doc_string()));
    TENGINE_RETURN_IF_ERROR(
        add_number(metadata, IR_METADATA_MODEL_VERSION, model->model_version()));
    TENGINE_RETURN_IF_ERROR(add_number(metadata, IR_METADATA_IR_VERSION, model->ir_version()));
    TENGINE_RETURN_IF_ERROR(add_lists(*model, metadata));
    model_graph->clear_doc_string();
    model->clear_model_version();
    model->clear_metadata_props();
    return TENGINE_OK;
}

int take_node_metadata(const ::onnx::NodeProto& proto, const node& node, ir_metadata* metadata)
{
    if (proto.doc_string().empty()) return TENGINE_OK;
    const ir_metadata_entry_t entry = {IR_METADATA_NODE, 0, node.name, proto.doc_string().c_str()};
    return add_ir_metadata(metadata, &entry);
}

void write_metadata(const ir_metadata* metadata, Model* model)
{
    if (!metadata) {
        model->set_producer_name("tengine");
        return;
    }
    for (const TextField& field : kTextFields)
        if (const auto* entry = get_ir_metadata(metadata, field.kind, 0))
            *(model->*field.edit)() = entry->text;
    if (const auto* entry = get_ir_metadata(metadata, IR_METADATA_GRAPH_DOC_STRING, 0))
        model->mutable_graph()->set_doc_string(entry->text);
    if (const auto* entry = get_ir_metadata(metadata, IR_METADATA_MODEL_VERSION, 0))
        model->set_model_version(entry->number);
    const ir_metadata_entry_t* entry;
    for (int i = 0; (entry = get_any_ir_metadata(metadata, i)) != nullptr; ++i) {
        if (entry->kind != IR_METADATA_PROPERTY) continue;
        auto* property = model->add_metadata_props();
        property->set_key(entry->key);
        property->set_value(entry->text);
    }
}

}  // namespace tengine
