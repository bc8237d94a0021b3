// SPDX-License-Identifier: Apache-2.0
#include "serializer/onnx/external_writer.h"

#include "graph/body.h"
#include "graph/graph.h"
#include "graph/option.h"

namespace tengine {
namespace {

constexpr size_t kFewest = 1024;     // smallest tensor that is written there
constexpr size_t kAlignment = 4096;  // of each tensor, so that any of them can be mapped
constexpr char kZeros[kAlignment] = {};

size_t count_weights(const graph& graph)
{
    size_t bytes = 0;
    for (int i = 0; i < graph.tensor_num; ++i)
        if (graph.tensor_list[i]->tensor_type == TENSOR_TYPE_CONST)
            bytes += get_ir_tensor_bytes(graph.tensor_list[i]);
    for (int i = 0; i < graph.node_num; ++i) {
        const ir_bodies_t* bodies = graph.node_list[i]->core->bodies;
        for (int k = 0; bodies && k < bodies->num; ++k)
            bytes += count_weights(*bodies->list[k].graph);
    }
    return bytes;
}

void add_entry(const char* key, const std::string& value, ::onnx::TensorProto* proto)
{
    auto* entry = proto->add_external_data();
    entry->set_key(key);
    entry->set_value(value);
}

}  // namespace

ExternalWriter::ExternalWriter(const graph& graph, const char* path)
    : path_(std::string(path) + ".data"),
      is_wanted_(static_cast<double>(count_weights(graph)) >
                 get_ir_context_number(graph.attribute->context, "model.external_mb") * 1024 * 1024)
{
}

bool ExternalWriter::takes(size_t size) const
{
    return is_wanted_ && size >= kFewest;
}

std::string ExternalWriter::name() const
{
    return path_.substr(path_.rfind('/') + 1);
}

void ExternalWriter::append(const void* data, size_t size)
{
    if (size == 0) return;
    pieces_.push_back({data, size});
    end_ += size;
}

void ExternalWriter::add(const void* data, size_t size, ::onnx::TensorProto* proto)
{
    append(kZeros, (kAlignment - end_ % kAlignment) % kAlignment);
    proto->set_data_location(::onnx::TensorProto::EXTERNAL);
    add_entry("location", name(), proto);
    add_entry("offset", std::to_string(end_), proto);
    add_entry("length", std::to_string(size), proto);
    append(data, size);
}

int ExternalWriter::write() const
{
    if (pieces_.empty()) return TENGINE_OK;
    const size_t slash = path_.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
    return put_file_by_pieces(folder.c_str(), name().c_str(), pieces_.data(), pieces_.size());
}

}  // namespace tengine
