// SPDX-License-Identifier: Apache-2.0
// The frame of a written model: subgraphs, codes, buffers, signatures.
#include <algorithm>
#include <cstring>

#include "base/text_hash.h"
#include "graph/graph.h"
#include "graph/state.h"
#include "serializer/tflite/writing.h"
#include "tengine/log.h"

namespace tengine::tflite {
namespace {

constexpr size_t kBufferAlignment = 16;
constexpr uint64_t kTrailingAlignment = 64;
// All but constants; a builder cannot fail when it is full.
constexpr size_t kMostOtherBytes = size_t{1} << 26;
constexpr const char* kUsualKey = "serving_default";
constexpr const char* kUsualName = "main";

uint64_t count_constant_bytes(const Vector<WrittenEntry>& entries)
{
    Map<const void*, size_t> sizes;
    for (const WrittenEntry& entry : entries)
        for (int i = 0; i < entry.graph->tensor_num; ++i)
            if (const struct tensor* tensor = entry.graph->tensor_list[i];
                tensor && tensor->tensor_type == TENSOR_TYPE_CONST)
                sizes[tensor->data] = get_ir_tensor_bytes(tensor);
    uint64_t bytes = 0;
    for (const auto& [data, size] : sizes)
        bytes += size + kTrailingAlignment;
    return bytes;
}

// Sets whether the constants are too large for the tables.
int check_size(const Vector<WrittenEntry>& entries, bool* out_is_large)
{
    const uint64_t bytes = count_constant_bytes(entries);
    *out_is_large = bytes + kMostOtherBytes > kMostBytes;
    constexpr uint64_t kMost = PTRDIFF_MAX - kMostOtherBytes;
    if (bytes <= kMost) return TENGINE_OK;
    return tengine_error_set(
        TENGINE_ELIMIT, "the model has %llu bytes of constants, memory may have %llu",
        static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(kMost));
}

bool have_trailing_constants(const Vector<Origin>& origins)
{
    return std::any_of(origins.begin(), origins.end(),
                       [](const Origin& origin) { return origin.has_trailing_constants(); });
}

class ModelWriter
{
  public:
    ModelWriter(const Vector<WrittenEntry>& entries, const Vector<Origin>& origins,
                size_t table_size, bool is_large)
        : entries_(entries),
          origins_(origins),
          writing_(table_size, is_large || have_trailing_constants(origins)),
          builder_(writing_.builder)
    {
    }

    int run(Vector<char>* out_bytes);
    const TrailingBytes& trailing() const { return writing_.trailing; }

  private:
    using NamedTensors = flatbuffers::Vector<Offset<file::NamedTensor>>;

    int write_entry(size_t index);
    Offset<file::Signature> write_signature(uint32_t subgraph);
    Offset<NamedTensors> name_tensors(const int32_t* tensors, int number,
                                      const NamedTensors* known);
    Offset<file::NamedTensor> name_tensor(int32_t tensor);
    std::string_view find_description() const;

    const Vector<WrittenEntry>& entries_;
    const Vector<Origin>& origins_;
    Writing writing_;
    Builder& builder_;
    const struct graph* graph_ = nullptr;  // of the entry that is being written
    Places places_;
    Vector<Offset<file::Signature>> signatures_;
};

Offset<file::NamedTensor> ModelWriter::name_tensor(int32_t tensor)
{
    const auto name = builder_.CreateString(graph_->tensor_list[tensor]->name);
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
            return text_of(known->Get(i)->name()) == graph_->tensor_list[tensor]->name;
        });
        if (found == left.end()) continue;
        named.push_back(name_tensor(*found));
        left.erase(found);
    }
    for (const int32_t tensor : left)
        named.push_back(name_tensor(tensor));
    return builder_.CreateVector(named);
}

// The states of the graph are its last inputs and outputs, and variables of the file.
Offset<file::Signature> ModelWriter::write_signature(uint32_t subgraph)
{
    const file::Signature* known = writing_.origin->signature();
    const int states = count_ir_states(graph_);
    const auto inputs = name_tensors(graph_->input_tensors, graph_->input_tensor_num - states,
                                     known ? known->inputs() : nullptr);
    const auto outputs = name_tensors(graph_->output_tensors, graph_->output_tensor_num - states,
                                      known ? known->outputs() : nullptr);
    const std::string_view text = *writing_.entry ? writing_.entry
                                  : known         ? text_of(known->key())
                                                  : kUsualKey;
    const auto key = builder_.CreateString(text.data(), text.size());
    return file::CreateSignature(builder_, inputs, outputs, key, subgraph);
}

int ModelWriter::write_entry(size_t index)
{
    graph_ = entries_[index].graph;
    writing_.origin = &origins_[index];
    writing_.entry = entries_[index].name;
    const int states = count_ir_states(graph_);
    const int32_t *in = graph_->input_tensors, *out = graph_->output_tensors;
    const Vector<int32_t> inputs(in, in + graph_->input_tensor_num - states);
    const Vector<int32_t> outputs(out, out + graph_->output_tensor_num - states);
    if (outputs.empty())
        return tengine_error_set(TENGINE_EGRAPH, "the graph '%s' has no outputs", graph_->name);
    const file::Subgraph* record = writing_.origin->subgraph();
    const std::string_view known = record          ? text_of(record->name())
                                   : *graph_->name ? graph_->name
                                                   : kUsualName;
    const auto place = static_cast<uint32_t>(writing_.subgraphs.size());
    TENGINE_RETURN_IF_ERROR(write_subgraph(writing_, *graph_, inputs, outputs, known, &places_));
    if (*writing_.entry || !writing_.origin->model() || writing_.origin->signature())
        signatures_.push_back(write_signature(place));
    return TENGINE_OK;
}

// That of the first file which has one.
std::string_view ModelWriter::find_description() const
{
    for (const Origin& origin : origins_)
        if (origin.model() && !text_of(origin.model()->description()).empty())
            return text_of(origin.model()->description());
    return {};
}

int ModelWriter::run(Vector<char>* out_bytes)
{
    for (size_t i = 0; i < entries_.size(); ++i)
        TENGINE_RETURN_IF_ERROR(write_entry(i));
    TENGINE_RETURN_IF_ERROR(write_first_values(writing_));
    const Vector<Offset<file::Metadata>> metadata = write_metadata(writing_, entries_, origins_);
    const std::string_view about = find_description();
    const auto codes = builder_.CreateVector(writing_.codes);
    const auto subgraphs = builder_.CreateVector(writing_.subgraphs);
    const auto description = builder_.CreateString(about.data(), about.size());
    const auto buffers = builder_.CreateVector(writing_.buffers);
    const auto data = metadata.empty() ? 0 : builder_.CreateVector(metadata);
    const auto named = signatures_.empty() ? 0 : builder_.CreateVector(signatures_);
    file::FinishModelBuffer(builder_, file::CreateModel(builder_, kVersion, codes, subgraphs,
                                                        description, buffers, 0, data, named));
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
    Vector<KnownBuffer>& candidates = equal_buffers[hash_bytes(HASH_START, bytes, size)];
    for (const KnownBuffer& other : candidates)
        if (other.size == size && (size == 0 || std::memcmp(other.bytes, bytes, size) == 0))
            return known->second = other.number;
    if (constants_trail && size > 0) {
        const uint64_t place = trailing.add(bytes, size);
        buffers.push_back(file::CreateBuffer(builder, 0, place, size));
        known->second = static_cast<uint32_t>(buffers.size() - 1);
    } else {
        known->second = add_buffer(bytes, size);
    }
    candidates.push_back({bytes, size, known->second});
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

int write_model(const Vector<WrittenEntry>& entries, Vector<char>* out_bytes)
{
    bool is_large = false;
    TENGINE_RETURN_IF_ERROR(check_size(entries, &is_large));
    Vector<Origin> origins;
    for (const WrittenEntry& entry : entries)
        origins.emplace_back(entry);
    ModelWriter first(entries, origins, 0, is_large);
    TENGINE_RETURN_IF_ERROR(first.run(out_bytes));
    if (!first.trailing().is_empty()) {
        ModelWriter second(entries, origins, out_bytes->size(), is_large);
        TENGINE_RETURN_IF_ERROR(second.run(out_bytes));
        second.trailing().append_to(out_bytes);
    }
    for (const WrittenEntry& entry : entries) {
        if (!entry.image) continue;
        append_archive(entry.image->bytes(), entry.image->size(), out_bytes);
        break;
    }
    return TENGINE_OK;
}

}  // namespace tengine::tflite
