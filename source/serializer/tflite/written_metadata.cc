// SPDX-License-Identifier: Apache-2.0
// The metadata of a written model. Those of files are kept. The hints and buckets that all entries
// have are the model's, others have the name of their entry before them.
#include <algorithm>
#include <cstring>

#include "graph/graph.h"
#include "graph/metadata.h"
#include "serializer/tflite/writing.h"

namespace tengine::tflite {
namespace {

constexpr size_t kReleaseRoom = 16;
constexpr const char* kRelease = "min_runtime_version";
constexpr const char* kStamp = "LiteRtStamp";
constexpr const char* kOldPlace = "NPU_BYTE_CODE";

// Whether the entry is about byte code, whose operators say the same once more.
bool is_about_byte_code(std::string_view name)
{
    return name == kStamp || name == kOldPlace;
}

bool has_property(const struct graph& graph, const ir_metadata_entry_t& property)
{
    const ir_metadata_entry_t* entry;
    for (int i = 0; (entry = get_any_ir_metadata(find_ir_metadata(&graph), i)) != nullptr; ++i)
        if (entry->kind == IR_METADATA_PROPERTY && std::strcmp(entry->key, property.key) == 0)
            return std::strcmp(entry->text, property.text) == 0;
    return false;
}

class MetadataWriter
{
  public:
    MetadataWriter(Writing& writing, const Vector<WrittenEntry>& entries,
                   const Vector<Origin>& origins)
        : writing_(writing), entries_(entries), origins_(origins)
    {
    }

    Vector<Offset<file::Metadata>> run();

  private:
    void add(std::string_view name, const void* bytes, size_t size);
    void add_properties(size_t index);
    void add_release();
    void add_metadata(const file::Model& model);

    Writing& writing_;
    const Vector<WrittenEntry>& entries_;
    const Vector<Origin>& origins_;
    Vector<String> names_;
    Vector<Offset<file::Metadata>> metadata_;
};

void MetadataWriter::add(std::string_view name, const void* bytes, size_t size)
{
    const uint32_t buffer = writing_.add_buffer(bytes, size);
    const auto text = writing_.builder.CreateString(name.data(), name.size());
    metadata_.push_back(file::CreateMetadata(writing_.builder, text, buffer));
    names_.emplace_back(name);
}

// The graph's hints and buckets.
void MetadataWriter::add_properties(size_t index)
{
    const struct ir_metadata* metadata = find_ir_metadata(entries_[index].graph);
    const ir_metadata_entry_t* entry;
    for (int i = 0; (entry = get_any_ir_metadata(metadata, i)) != nullptr; ++i) {
        if (entry->kind != IR_METADATA_PROPERTY || !is_kept_property(entry->key)) continue;
        const bool is_common = std::all_of(
            entries_.begin(), entries_.end(),
            [&](const WrittenEntry& other) { return has_property(*other.graph, *entry); });
        if (is_common && index > 0) continue;
        add(is_common ? String(entry->key) : name_entry_property(entries_[index].name, entry->key),
            entry->text, std::strlen(entry->text));
    }
}

// The first release of TensorFlow Lite that runs graphs of other formats.
void MetadataWriter::add_release()
{
    String release = find_runtime_version(writing_);
    if (release.empty()) return;
    release.resize(kReleaseRoom, '\0');
    add(kRelease, release.data(), release.size());
}

// Names that another file has, too, are that one's.
void MetadataWriter::add_metadata(const file::Model& model)
{
    const Vector<String> known = names_;
    for (uint32_t i = 0; i < count(model.metadata()); ++i) {
        const file::Metadata* entry = model.metadata()->Get(i);
        const std::string_view name = text_of(entry->name());
        if (is_kept_property(name) || is_entry_property(name)) continue;
        if (std::find(known.begin(), known.end(), name) != known.end()) continue;
        if (!writing_.byte_codes.is_empty() && is_about_byte_code(name)) continue;
        const bool is_there = entry->buffer() < count(model.buffers());
        const auto* bytes = is_there ? model.buffers()->Get(entry->buffer())->data() : nullptr;
        add(name, bytes ? bytes->data() : nullptr, count(bytes));
    }
}

Vector<Offset<file::Metadata>> MetadataWriter::run()
{
    for (size_t i = 0; i < entries_.size(); ++i)
        add_properties(i);
    const bool is_of_other_format = std::any_of(
        origins_.begin(), origins_.end(), [](const Origin& origin) { return !origin.model(); });
    if (is_of_other_format) add_release();
    Vector<const file::Model*> models;
    for (const Origin& origin : origins_) {
        if (!origin.model() ||
            std::find(models.begin(), models.end(), origin.model()) != models.end())
            continue;
        models.push_back(origin.model());
        add_metadata(*origin.model());
    }
    const Vector<uint8_t>& stamp = writing_.byte_codes.stamp();
    if (!stamp.empty()) add(kStamp, stamp.data(), stamp.size());
    return metadata_;
}

}  // namespace

Vector<Offset<file::Metadata>> write_metadata(Writing& writing, const Vector<WrittenEntry>& entries,
                                              const Vector<Origin>& origins)
{
    return MetadataWriter(writing, entries, origins).run();
}

}  // namespace tengine::tflite
