// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <memory>

#include "graph/entry.h"
#include "graph/graph.h"
#include "graph/name_index.h"
#include "operator/param.h"
#include "serializer/tflite/custom.h"
#include "serializer/tflite/values.h"
#include "serializer/tflite/writing.h"

namespace tengine::tflite {
namespace {

struct GraphDeleter
{
    void operator()(struct graph* made) const { destroy_ir_graph(made); }
};

bool is_verified(const FileImage& image)
{
    flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(image.bytes()),
                                   std::min(image.size(), kMostBytes), kMostLevels, kMostTables);
    return file::VerifyModelBuffer(verifier);
}

}  // namespace

// The file may have changed since the graph was read: it is verified again.
Origin::Origin(const FileImage* image, const struct graph& graph) : image_(image), graph_(graph)
{
    if (!image || !is_verified(*image)) return;
    model_ = file::GetModel(image->bytes());
    if (count(model_->subgraphs()) == 0) return;
    const struct graph& read = graph.core->source ? *graph.core->source : graph;
    const int entry = get_ir_entry(&read);
    signature_ = find_signature(*model_, entry < 0 ? "" : get_ir_entry_name(&read, entry));
    const uint32_t place = signature_ ? signature_->subgraph() : 0;
    if (place >= count(model_->subgraphs())) return;
    subgraph_ = model_->subgraphs()->Get(place);
    list_names();
    for (uint32_t i = 0; i < count(subgraph_->operators()); ++i) {
        const file::Operator* record = subgraph_->operators()->Get(i);
        if (count(record->outputs()) > 0)
            writers_.emplace(static_cast<uint32_t>(record->outputs()->Get(0)), record);
    }
}

bool Origin::has_trailing_constants() const
{
    for (uint32_t i = 0; model_ && i < count(model_->buffers()); ++i)
        if (model_->buffers()->Get(i)->offset() > 1) return true;
    return false;
}

// The names that the reader gives: those of the signature, else the tensors' own, the first of
// several.
void Origin::list_names()
{
    Map<uint32_t, std::string_view> named;
    const auto add = [&](const auto* list) {
        for (uint32_t i = 0; i < count(list); ++i)
            named.emplace(list->Get(i)->tensor(), text_of(list->Get(i)->name()));
    };
    if (signature_) {
        add(signature_->inputs());
        add(signature_->outputs());
    }
    for (uint32_t i = 0; i < count(subgraph_->tensors()); ++i) {
        const auto known = named.find(i);
        const std::string_view name = known != named.end() && !known->second.empty()
                                          ? known->second
                                          : text_of(subgraph_->tensors()->Get(i)->name());
        indices_.emplace(name, i);
    }
}

const file::Tensor* Origin::find(const struct tensor& tensor) const
{
    const auto known = indices_.find(tensor.name);
    if (known == indices_.end()) return nullptr;
    const file::Tensor* record = subgraph_->tensors()->Get(known->second);
    if (tensor.shape_set && count(record->shape()) != tensor.dim_num) return nullptr;
    const bool is_constant = tensor.tensor_type == TENSOR_TYPE_CONST;
    for (int type : {choose_form(*record, !is_constant, false).data_type,
                     choose_form(*record, !is_constant, true).data_type})
        if (type == tensor.data_type) return record;
    return nullptr;
}

const file::Operator* Origin::find_writer(const struct tensor& result) const
{
    const auto known = indices_.find(result.name);
    if (known == indices_.end()) return nullptr;
    const auto writer = writers_.find(known->second);
    return writer == writers_.end() ? nullptr : writer->second;
}

const struct tensor* Origin::find_tensor(int32_t index) const
{
    if (!subgraph_ || index < 0 || static_cast<uint32_t>(index) >= count(subgraph_->tensors()))
        return nullptr;
    for (const auto& [name, place] : indices_)
        if (place == static_cast<uint32_t>(index))
            return get_ir_graph_tensor(&graph_, find_ir_tensor_name(&graph_, String(name).c_str()));
    return nullptr;
}

void Origin::find_values(const file::Tensor& record, const uint8_t** out_bytes,
                         uint64_t* out_size) const
{
    Budget budget(0);
    Reading reading(nullptr, const_cast<FileImage*>(image_), &budget);
    reading.model = model_;
    struct tensor unnamed = {};
    if (tflite::find_values(reading, &unnamed, record, out_bytes, out_size) < 0) *out_size = 0;
}

// Reads the options again and compares.
bool Origin::has_options_of(const struct node& node, const file::Operator& record) const
{
    const std::unique_ptr<struct graph, GraphDeleter> holder(
        create_ir_graph(graph_.attribute->context));
    struct node* again =
        holder ? create_ir_node(holder.get(), node.name, node.op.type, node.op.version) : nullptr;
    Budget budget(image_->size());
    Reading reading(holder.get(), const_cast<FileImage*>(image_), &budget);
    reading.model = model_;
    const bool is_read =
        again && record.custom_options() && read_custom_options(reading, again, record) >= 0;
    tengine_error_clear();
    return is_read && has_same_op_param(&again->op, &node.op);
}

// Reads the record again and compares.
bool Origin::has_values_of(const struct tensor& tensor, const file::Tensor& record) const
{
    const std::unique_ptr<struct graph, GraphDeleter> holder(
        create_ir_graph(graph_.attribute->context));
    struct tensor* again =
        holder ? create_ir_tensor(holder.get(), tensor.name, tensor.data_type) : nullptr;
    if (!again || set_ir_tensor_shape(again, tensor.dims, tensor.dim_num) < 0) return false;
    Budget budget(image_->size());
    Reading reading(holder.get(), const_cast<FileImage*>(image_), &budget);
    reading.model = model_;
    reading.subgraph = subgraph_;
    const bool is_wide_bias = record.type() == kWideInteger;
    const ValueForm form = choose_form(record, false, is_wide_bias);
    const bool is_other = record.sparsity() || form.file_type != form.data_type;
    const uint8_t* bytes = nullptr;
    uint64_t size = 0;
    if (!is_other || form.data_type != tensor.data_type) return false;
    find_values(record, &bytes, &size);
    const bool is_read = size > 0 && set_values(reading, again, record, form, bytes, size) >= 0;
    tengine_error_clear();
    return is_read && get_ir_tensor_bytes(again) == get_ir_tensor_bytes(&tensor) &&
           std::memcmp(again->data, tensor.data, get_ir_tensor_bytes(&tensor)) == 0;
}

}  // namespace tengine::tflite
