// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <memory>

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
Origin::Origin(const WrittenEntry& entry) : image_(entry.image), graph_(*entry.graph)
{
    if (!image_ || !is_verified(*image_)) return;
    model_ = file::GetModel(image_->bytes());
    if (count(model_->subgraphs()) == 0) return;
    choose_signature(entry.name);
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

// Graphs that a program has joined have new names: it is the signature whose tensors and operators
// the graph has most of, and of equal ones that of the name, or the first one.
void Origin::choose_signature(std::string_view name)
{
    size_t most = 0;
    for (uint32_t i = 0; i < count(model_->signatures()); ++i) {
        const file::Signature* signature = model_->signatures()->Get(i);
        if (signature->subgraph() >= count(model_->subgraphs())) continue;
        const size_t known = count_known(*model_->subgraphs()->Get(signature->subgraph()));
        const bool is_better = known > most || (known == most && text_of(signature->key()) == name);
        if (signature_ && !is_better) continue;
        signature_ = signature;
        most = known;
    }
}

size_t Origin::count_known(const file::Subgraph& subgraph) const
{
    const auto find = [&](uint32_t index) -> const struct tensor*
    {
        const String name(text_of(subgraph.tensors()->Get(index)->name()));
        return get_ir_graph_tensor(&graph_, find_ir_tensor_name(&graph_, name.c_str()));
    };
    size_t number = 0;
    for (uint32_t i = 0; i < count(subgraph.tensors()); ++i) {
        const auto* shape = subgraph.tensors()->Get(i)->shape();
        const struct tensor* tensor = find(i);
        if (tensor && tensor->dim_num == count(shape) &&
            (!shape || std::equal(shape->begin(), shape->end(), tensor->dims)))
            ++number;
    }
    for (uint32_t i = 0; i < count(subgraph.operators()); ++i) {
        const file::Operator& record = *subgraph.operators()->Get(i);
        const int32_t result = count(record.outputs()) > 0 ? record.outputs()->Get(0) : -1;
        if (result < 0 || static_cast<uint32_t>(result) >= count(subgraph.tensors()) ||
            record.code() >= count(model_->codes()))
            continue;
        const struct tensor* tensor = find(static_cast<uint32_t>(result));
        const struct node* writer = tensor ? get_ir_graph_node(&graph_, tensor->producer) : nullptr;
        const file::OperatorCode& code = *model_->codes()->Get(record.code());
        if (writer && writer->op.method->tflite_code == std::max<int>(code.old_code(), code.code()))
            ++number;
    }
    return number;
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
