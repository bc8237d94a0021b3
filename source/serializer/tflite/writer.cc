// SPDX-License-Identifier: Apache-2.0
// The frame of a written model: subgraphs, codes, buffers, signature, metadata.
#include <algorithm>
#include <cstring>

#include "graph/graph.h"
#include "graph/metadata.h"
#include "graph/state.h"
#include "serializer/tflite/writing.h"
#include "tengine/log.h"

namespace tengine::tflite {
namespace {

constexpr size_t kBufferAlignment = 16;
constexpr uint64_t kTrailingAlignment = 64;
// All but constants; a builder cannot fail when it is full.
constexpr size_t kMostOtherBytes = size_t{1} << 26;
constexpr size_t kReleaseRoom = 16;
constexpr const char* kUsualKey = "serving_default";
constexpr const char* kUsualName = "main";
constexpr const char* kStamp = "LiteRtStamp";
constexpr const char* kOldPlace = "NPU_BYTE_CODE";

// Sets whether the constants are too large for the tables.
int check_size(const struct graph& graph, bool* out_is_large)
{
    uint64_t bytes = 0;
    for (int i = 0; i < graph.tensor_num; ++i)
        if (const struct tensor* tensor = graph.tensor_list[i];
            tensor && tensor->tensor_type == TENSOR_TYPE_CONST)
            bytes += get_ir_tensor_bytes(tensor) + kTrailingAlignment;
    *out_is_large = bytes + kMostOtherBytes > kMostBytes;
    constexpr uint64_t kMost = PTRDIFF_MAX - kMostOtherBytes;
    if (bytes <= kMost) return TENGINE_OK;
    return tengine_error_set(
        TENGINE_ELIMIT, "the model has %llu bytes of constants, memory may have %llu",
        static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(kMost));
}

class ModelWriter
{
  public:
    ModelWriter(const struct graph& graph, const FileImage* image, size_t table_size, bool is_large)
        : graph_(graph),
          origin_(image, graph),
          writing_(origin_, table_size, is_large || origin_.has_trailing_constants()),
          builder_(writing_.builder)
    {
    }

    int run(Vector<char>* out_bytes);
    const TrailingBytes& trailing() const { return writing_.trailing; }

  private:
    using NamedTensors = flatbuffers::Vector<Offset<file::NamedTensor>>;

    // The states of the graph are its last ones, and variables of the file.
    int count_inputs() const { return graph_.input_tensor_num - count_ir_states(&graph_); }
    int count_outputs() const { return graph_.output_tensor_num - count_ir_states(&graph_); }
    Offset<file::Signature> write_signature();
    Offset<NamedTensors> name_tensors(const int32_t* tensors, int number,
                                      const NamedTensors* known);
    Offset<file::NamedTensor> name_tensor(int32_t tensor);
    Vector<Offset<file::Metadata>> write_metadata();
    void write_release(Vector<Offset<file::Metadata>>* entries);
    void write_properties(Vector<Offset<file::Metadata>>* entries);

    const struct graph& graph_;
    Origin origin_;
    Writing writing_;
    Builder& builder_;
    Places places_;
};

Offset<file::NamedTensor> ModelWriter::name_tensor(int32_t tensor)
{
    const auto name = builder_.CreateString(graph_.tensor_list[tensor]->name);
    return file::CreateNamedTensor(builder_, name,
                                   static_cast<uint32_t>(places_[static_cast<size_t>(tensor)]));
}

// The names of the graph's inputs or outputs, in the order of the file's signature.
Offset<ModelWriter::NamedTensors> ModelWriter::name_tensors(const int32_t* tensors, int number,
                                                            const NamedTensors* known)
{
    Vector<int32_t> left(tensors, tensors + number);
    Vector<Offset<file::NamedTensor>> named;
    for (uint32_t i = 0; i < count(known); ++i) {
        const auto found = std::find_if(left.begin(), left.end(), [&](int32_t tensor) {
            return text_of(known->Get(i)->name()) == graph_.tensor_list[tensor]->name;
        });
        if (found == left.end()) continue;
        named.push_back(name_tensor(*found));
        left.erase(found);
    }
    for (const int32_t tensor : left)
        named.push_back(name_tensor(tensor));
    return builder_.CreateVector(named);
}

Offset<file::Signature> ModelWriter::write_signature()
{
    const file::Signature* known = origin_.signature();
    const auto inputs =
        name_tensors(graph_.input_tensors, count_inputs(), known ? known->inputs() : nullptr);
    const auto outputs =
        name_tensors(graph_.output_tensors, count_outputs(), known ? known->outputs() : nullptr);
    const std::string_view text = known ? text_of(known->key()) : kUsualKey;
    const auto key = builder_.CreateString(text.data(), text.size());
    return file::CreateSignature(builder_, inputs, outputs, key);
}

// Whether the entry is about byte code, whose operators say the same once more.
bool is_about_byte_code(std::string_view name)
{
    return name == kStamp || name == kOldPlace;
}

// The graph's hints and buckets.
void ModelWriter::write_properties(Vector<Offset<file::Metadata>>* entries)
{
    const struct ir_metadata* metadata = find_ir_metadata(&graph_);
    const ir_metadata_entry_t* entry;
    for (int i = 0; (entry = get_any_ir_metadata(metadata, i)) != nullptr; ++i) {
        if (entry->kind != IR_METADATA_PROPERTY || !is_kept_property(entry->key)) continue;
        const uint32_t buffer = writing_.add_buffer(entry->text, std::strlen(entry->text));
        entries->push_back(
            file::CreateMetadata(builder_, builder_.CreateString(entry->key), buffer));
    }
}

// The first release of TensorFlow Lite that runs a graph of another format.
void ModelWriter::write_release(Vector<Offset<file::Metadata>>* entries)
{
    String release = find_runtime_version(writing_);
    if (release.empty()) return;
    release.resize(kReleaseRoom, '\0');
    const uint32_t buffer = writing_.add_buffer(release.data(), release.size());
    const auto name = builder_.CreateString("min_runtime_version");
    entries->push_back(file::CreateMetadata(builder_, name, buffer));
}

// That of the file, whatever it is, except for its hints and buckets, which the graph has.
Vector<Offset<file::Metadata>> ModelWriter::write_metadata()
{
    Vector<Offset<file::Metadata>> entries;
    write_properties(&entries);
    const file::Model* model = origin_.model();
    if (!model) write_release(&entries);
    for (uint32_t i = 0; model && i < count(model->metadata()); ++i) {
        const file::Metadata* entry = model->metadata()->Get(i);
        if (is_kept_property(text_of(entry->name()))) continue;
        if (!writing_.byte_codes.is_empty() && is_about_byte_code(text_of(entry->name()))) continue;
        const bool is_there = entry->buffer() < count(model->buffers());
        const auto* bytes = is_there ? model->buffers()->Get(entry->buffer())->data() : nullptr;
        const uint32_t buffer = writing_.add_buffer(bytes ? bytes->data() : nullptr, count(bytes));
        const auto name =
            builder_.CreateString(text_of(entry->name()).data(), text_of(entry->name()).size());
        entries.push_back(file::CreateMetadata(builder_, name, buffer));
    }
    const Vector<uint8_t>& stamp = writing_.byte_codes.stamp();
    if (!stamp.empty()) {
        const uint32_t buffer = writing_.add_buffer(stamp.data(), stamp.size());
        entries.push_back(file::CreateMetadata(builder_, builder_.CreateString(kStamp), buffer));
    }
    return entries;
}

int ModelWriter::run(Vector<char>* out_bytes)
{
    const Vector<int32_t> inputs(graph_.input_tensors, graph_.input_tensors + count_inputs());
    const Vector<int32_t> outputs(graph_.output_tensors, graph_.output_tensors + count_outputs());
    if (outputs.empty()) return tengine_error_set(TENGINE_EGRAPH, "the graph has no outputs");
    const std::string_view known = origin_.subgraph() ? text_of(origin_.subgraph()->name())
                                   : *graph_.name     ? graph_.name
                                                      : kUsualName;
    TENGINE_RETURN_IF_ERROR(write_subgraph(writing_, graph_, inputs, outputs, known, &places_));
    Vector<Offset<file::Signature>> signatures;
    if (!origin_.model() || origin_.signature()) signatures.push_back(write_signature());
    const Vector<Offset<file::Metadata>> metadata = write_metadata();
    const std::string_view about =
        origin_.model() ? text_of(origin_.model()->description()) : std::string_view();
    const auto codes = builder_.CreateVector(writing_.codes);
    const auto subgraphs = builder_.CreateVector(writing_.subgraphs);
    const auto description = builder_.CreateString(about.data(), about.size());
    const auto buffers = builder_.CreateVector(writing_.buffers);
    const auto entries = metadata.empty() ? 0 : builder_.CreateVector(metadata);
    const auto named = signatures.empty() ? 0 : builder_.CreateVector(signatures);
    file::FinishModelBuffer(builder_, file::CreateModel(builder_, kVersion, codes, subgraphs,
                                                        description, buffers, 0, entries, named));
    const auto* bytes = reinterpret_cast<const char*>(builder_.GetBufferPointer());
    out_bytes->assign(bytes, bytes + builder_.GetSize());
    return TENGINE_OK;
}

}  // namespace

uint64_t TrailingBytes::add(const void* bytes, size_t size)
{
    const uint64_t place =
        (end_ + kTrailingAlignment - 1) / kTrailingAlignment * kTrailingAlignment;
    blobs_.push_back({bytes, size, place});
    end_ = place + size;
    return place;
}

void TrailingBytes::append_to(Vector<char>* bytes) const
{
    bytes->reserve(static_cast<size_t>(end_));
    for (const Blob& blob : blobs_) {
        bytes->resize(static_cast<size_t>(blob.place), 0);
        const auto* begin = static_cast<const char*>(blob.bytes);
        bytes->insert(bytes->end(), begin, begin + blob.size);
    }
}

uint32_t Writing::add_buffer(const void* bytes, size_t size)
{
    List<uint8_t> data;
    if (size > 0) {
        builder.ForceVectorAlignment(size, sizeof(uint8_t), kBufferAlignment);
        data = builder.CreateVector(static_cast<const uint8_t*>(bytes), size);
    }
    buffers.push_back(file::CreateBuffer(builder, data));
    return static_cast<uint32_t>(buffers.size() - 1);
}

uint32_t Writing::share_buffer(const void* bytes, size_t size)
{
    const auto [known, is_new] = known_buffers.try_emplace({bytes, size}, 0);
    if (!is_new) return known->second;
    if (constants_trail && size > 0) {
        const uint64_t place = trailing.add(bytes, size);
        buffers.push_back(file::CreateBuffer(builder, 0, place, size));
        known->second = static_cast<uint32_t>(buffers.size() - 1);
    } else {
        known->second = add_buffer(bytes, size);
    }
    return known->second;
}

// Old programs read the first field, which is a byte, new ones the other.
uint32_t Writing::add_code(int code, std::string_view name, int version)
{
    constexpr int kMostOld = 127;
    const auto [known, is_new] =
        known_codes.try_emplace({code, String(name), version}, static_cast<uint32_t>(codes.size()));
    if (!is_new) return known->second;
    const auto text = name.empty() ? 0 : builder.CreateString(name.data(), name.size());
    codes.push_back(file::CreateOperatorCode(builder, static_cast<int8_t>(std::min(code, kMostOld)),
                                             text, version, code));
    return known->second;
}

int write_model(const struct graph& graph, const FileImage* image, Vector<char>* out_bytes)
{
    bool is_large = false;
    TENGINE_RETURN_IF_ERROR(check_size(graph, &is_large));
    ModelWriter first(graph, image, 0, is_large);
    TENGINE_RETURN_IF_ERROR(first.run(out_bytes));
    if (!first.trailing().is_empty()) {
        ModelWriter second(graph, image, out_bytes->size(), is_large);
        TENGINE_RETURN_IF_ERROR(second.run(out_bytes));
        second.trailing().append_to(out_bytes);
    }
    if (image) append_archive(image->bytes(), image->size(), out_bytes);
    return TENGINE_OK;
}

}  // namespace tengine::tflite
