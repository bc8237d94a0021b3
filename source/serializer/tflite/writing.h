// SPDX-License-Identifier: Apache-2.0
// Writes source graphs of TensorFlow Lite's operators as a .tflite. The parts: writer.cc (frame),
// written_metadata.cc, written_subgraph.cc (order, tensors), written_control.cc (bodies),
// written_states.cc (variables), written_tables.cc (hash tables), written_operators.cc (codes,
// options), option_types.cc, versions.cc, origin.cc, archive.cc. Several graphs are the entries of
// one model (graph/entry.h), each with a signature.
//
// A graph that was read from a .tflite does not hold all of it: the data beside the graph, such as
// metadata, and constants in forms that the library does not compute with come from that file again
// where the graph agrees with it.
#pragma once

#include <algorithm>
#include <tuple>

#include "base/maps.hpp"
#include "graph/core.h"
#include "serializer/tflite/option_fields.h"

namespace tengine::tflite {

using Builder = flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
template <class Item>
using List = Offset<flatbuffers::Vector<Item>>;

constexpr int kCustomCode = 32;

// A graph of the model, the file that it was read from, or NULL, and the name of its signature; "":
// that of the file.
struct WrittenEntry
{
    const struct graph* graph;
    const FileImage* image;
    const char* name;
};

// The file that a graph, or the one that it is a copy of, was read from.
class Origin
{
  public:
    // Without an image nothing is found.
    explicit Origin(const WrittenEntry& entry);

    const FileImage* image() const { return image_; }
    const file::Model* model() const { return model_; }
    const file::Subgraph* subgraph() const { return subgraph_; }
    const file::Signature* signature() const { return signature_; }
    // Whether constants lie behind the tables of the file.
    bool has_trailing_constants() const;

    // The record of a tensor of the graph with the same type and number of dimensions, as far as
    // they are known; or none.
    const file::Tensor* find(const struct tensor& tensor) const;
    // The record of the operator whose first result the tensor is; or none.
    const file::Operator* find_writer(const struct tensor& result) const;
    // The graph's tensor for one of the file's; null: there is none.
    const struct tensor* find_tensor(int32_t index) const;
    // Whether the constant has values in another form in the file, and they are still its own.
    bool has_values_of(const struct tensor& tensor, const file::Tensor& record) const;
    // Whether the options of the custom operator are those that the node has.
    bool has_options_of(const struct node& node, const file::Operator& record) const;
    // The options of an operator whose options lie in the second union.
    OptionFields options_of(const file::Operator& record) const
    {
        return OptionFields(*image_, record.options_2());
    }
    // The values of the record, in the form of the file.
    void find_values(const file::Tensor& record, const uint8_t** out_bytes,
                     uint64_t* out_size) const;

  private:
    void choose_signature(std::string_view name);
    void list_names();
    size_t count_known(const file::Subgraph& subgraph) const;

    const FileImage* image_;
    const struct graph& graph_;
    const file::Model* model_ = nullptr;
    const file::Subgraph* subgraph_ = nullptr;
    const file::Signature* signature_ = nullptr;
    Map<std::string_view, uint32_t> indices_;  // by name
    Map<uint32_t, const file::Operator*> writers_;
};

// Bytes behind the tables, which have their places in the file. A file with such bytes is written
// twice, the second time with the size of its tables.
class TrailingBytes
{
  public:
    // `table_size` 0: not known yet.
    explicit TrailingBytes(size_t table_size) : end_(std::max<uint64_t>(table_size, 1)) {}

    bool is_empty() const { return blobs_.empty(); }
    // The place of bytes that stay where they are. It is above 1, as that of bytes which lie inside
    // of the tables is not.
    uint64_t add(const void* bytes, size_t size);
    void append_to(Vector<char>* bytes) const;

  private:
    struct Blob
    {
        const void* bytes;
        size_t size;
        uint64_t place;
    };
    uint64_t end_;
    Vector<Blob> blobs_;
};

// written_byte_code.cc: the byte code of DISPATCH_OPs, whose options have its place.
class ByteCodes
{
  public:
    explicit ByteCodes(TrailingBytes* trailing) : trailing_(*trailing) {}

    bool is_empty() const { return codes_.empty(); }
    // The options of a node.
    Vector<uint8_t> add(const struct node& node);
    // The metadata that name maker and chip; empty: no node does.
    const Vector<uint8_t>& stamp() const { return stamp_; }

  private:
    struct Code
    {
        const struct tensor* bytes;
        uint64_t place;
    };
    TrailingBytes& trailing_;
    Vector<Code> codes_;
    Vector<uint8_t> stamp_;
};

// The first value of a resource, which that of the first graph is that has one. `once`: graphs with
// the same text, tengine.once of graph/state.h, assign it once together.
struct FirstValue
{
    String container;
    String name;
    String once;
    bool is_assigned;
    const struct graph* graph;
    int state;
    const char* entry;
    bool is_variable;  // a tensor of an operator, no resource
};

// The tables of the file that all subgraphs share.
struct Writing
{
    // Buffer 0 is empty: tensors without values have it. `is_large`: constants lie behind the
    // tables.
    Writing(size_t table_size, bool is_large)
        : constants_trail(is_large), trailing(table_size), byte_codes(&trailing)
    {
        buffers.push_back(file::CreateBuffer(builder));
    }

    // The number of a new buffer with these bytes.
    uint32_t add_buffer(const void* bytes, size_t size);
    // The same for bytes that stay where they are: tensors with equal ones share a buffer.
    uint32_t share_buffer(const void* bytes, size_t size);
    // The number of the code.
    uint32_t add_code(int code, std::string_view name, int version);

    Builder builder;
    // Those of the graph that is being written, and its entry's name.
    const Origin* origin = nullptr;
    const char* entry = "";
    Vector<Offset<file::Buffer>> buffers;
    struct KnownBuffer
    {
        const void* bytes;
        size_t size;
        uint32_t number;
    };
    Map<std::pair<const void*, size_t>, uint32_t> known_buffers;
    Map<uint64_t, Vector<KnownBuffer>> equal_buffers;  // by the hash of their bytes
    const bool constants_trail;
    TrailingBytes trailing;
    Vector<Offset<file::OperatorCode>> codes;
    Map<std::tuple<int, String, int>, uint32_t> known_codes;
    Vector<Offset<file::Subgraph>> subgraphs;
    ByteCodes byte_codes;
    int32_t table_num = 0;  // hash tables of all subgraphs
    Vector<FirstValue> first_values;
    Map<String, int32_t> first_values_places;  // of the subgraphs that assign them, by `once`
};

// A tensor of a subgraph by its index in the graph; -1: absent.
using Places = Vector<int32_t>;

// written_subgraph.cc: adds the graph as the next subgraph.
TENGINE_MUST_USE int write_subgraph(Writing& writing, const struct graph& graph,
                                    const Vector<int32_t>& inputs, const Vector<int32_t>& outputs,
                                    std::string_view name, Places* out_places);

// written_states.cc: the subgraph that assigns the first values of resources, which all entries
// call before their first run.
TENGINE_MUST_USE int write_first_values(Writing& writing);

// written_metadata.cc: those of the files, whatever they are, and the hints and buckets of the
// graphs, which `origins` are of, too.
Vector<Offset<file::Metadata>> write_metadata(Writing& writing, const Vector<WrittenEntry>& entries,
                                              const Vector<Origin>& origins);

// written_operators.cc: the node as an operator with these tensors, as a record of the file.
TENGINE_MUST_USE int write_operator(Writing& writing, const struct node& node,
                                    const Vector<int32_t>& inputs, const Vector<int32_t>& outputs,
                                    const Vector<int32_t>& intermediates,
                                    Offset<file::Operator>* out_record);

struct OptionsType
{
    uint8_t number;
    bool is_later;  // whether the options lie in the second union
};
OptionsType find_options_type(int code);

// versions.cc: the lowest version of the operator that has the node's types and options.
int find_version(const struct node& node, int code);

// runtime_version.cc: the first release of TensorFlow Lite that has the operators written so far,
// "2.3.0", as far as they are known; "": none is.
String find_runtime_version(const Writing& writing);

// archive.cc: appends the archive of files at the end of another .tflite, if it has one.
void append_archive(const char* bytes, size_t size, Vector<char>* out_bytes);

// writer.cc. TENGINE_EOPERATOR names a node that has no form in TensorFlow Lite; TENGINE_ENOTSUP
// a state that entries cannot share in one; TENGINE_EDTYPE, TENGINE_EGRAPH, TENGINE_ELIMIT (more
// constants than memory can have), TENGINE_ENOMEM.
TENGINE_MUST_USE int write_model(const Vector<WrittenEntry>& entries, Vector<char>* out_bytes);

}  // namespace tengine::tflite
