// SPDX-License-Identifier: Apache-2.0
// The records of a tmfile, version 2: little endian, without gaps, every offset an absolute
// position in the file, 0 for an absent object. Containers are
//     string   {size with its NUL, offset of the characters}
//     vector   {count, then count entries: offsets, indices, int32, float32 or 4 float32}
// The operator's row describes the fields of its parameter record.
//
// Extension records are an addition of this library: a node whose operator the format has no number
// for. Its operator record has type kExtensionType, the opset as version, and as parameter a
// string, the operator's full name ("Conv", "com.microsoft.QGemm"). Its attributes, those that
// differ from their default, are the node record's vector of attribute records {name, type, value}:
// two strings and the offset of the value, which is by type
//     "int"      int32                       "float"    float32
//     "string"   a string                    "strings"  a vector of offsets of strings
//     "ints"     a vector of int64           "floats"   a vector of float32
//     "tensor"   {data type, offset of a vector of dims, offset of a buffer record}
//     "graph"    a BodyRecord: a graph of control flow, such as a branch of an If. The node's last
//                inputs are what its graphs capture, in their order.
// Compiled parts are another addition: a PartsRecord directly precedes the model record. It has a
// vector of CompiledPartRecord, whose bytes start at multiples of kPartAlignment, as devices and
// mappings require (records may share bytes), and one of ConstantDigestRecord. The subgraph's
// vector of PartRecord, which others read only where there are several subgraphs, has the nodes and
// the device of each, in the same order. A VariantsRecord is the end of the bytes that the hash of
// the PartsRecord covers. The compiled parts of a body's nodes precede its
// BodyRecord in the same way. Preparations of the model (PreparedRecord) are among its compiled
// parts, under the device kPreparedDevice, which others do not have.
// A file with several entries has an EntriesRecord behind its header.
//
// An input or output that is absent has index kAbsentTensor. Data types of tensors after Tengine's
// 0-5 have the numbers of TENGINE_DT_*.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tengine::tmfile {

constexpr uint16_t kMainVersion = 2;
constexpr uint32_t kExtensionType = 0x544e4558;  // "XENT"
constexpr uint32_t kAbsentTensor = 0xffffffff;
// The alignment of constants' bytes in the writer's files, so that they can be used in place.
constexpr uint32_t kBufferAlignment = 64;
// Numbers of operators that the reader or the writer treats specially.
enum OperatorNumber : uint32_t
{
    kConst = 4,
    kInputOp = 12,
    kReshape = 23,
    kSoftmax = 28,
    kPad = 40,
    kStridedSlice = 41,
    kReduction = 45,
    kUnsqueeze = 88,
    kMean = 90,
    kMatMul = 91,
    kExpand = 92
};

struct HeaderRecord
{
    uint16_t main_version;
    uint16_t sub_version;
    uint16_t compile_version;
    uint16_t padding;
    uint32_t root;
};

struct ModelRecord
{
    int32_t origin;  // the framework the model came from
    int32_t sub_format;
    uint32_t subgraphs;  // vector of offsets
    uint32_t name;
};

struct SubgraphRecord
{
    uint32_t id;
    int32_t graph_layout;  // TENGINE_LAYOUT_*: parameters of nodes are in this order
    int32_t model_layout;  // and dims and constants in this
    uint32_t inputs;       // vectors of node indices
    uint32_t outputs;
    uint32_t nodes;  // vectors of offsets
    uint32_t tensors;
    uint32_t buffers;
    uint32_t name;
    uint32_t parts;  // vector of offsets; files before 2021 end before it
};
constexpr uint32_t kOldSubgraphBytes = 36;

// A part of a model that was split ahead of time.
struct PartRecord
{
    uint32_t id;
    uint32_t input_wait_count;
    uint32_t data_type;
    uint32_t nodes;  // vectors of indices
    uint32_t input_tensors;
    uint32_t output_tensors;
    uint32_t device;  // string
};

struct NodeRecord
{
    uint32_t id;
    uint32_t inputs;  // vectors of tensor indices
    uint32_t outputs;
    uint32_t op;
    uint32_t name;
    uint32_t attributes;     // vector of offsets
    uint32_t dynamic_shape;  // one byte and padding
};

struct OperatorRecord
{
    uint32_t version;
    uint32_t type;
    uint32_t param;
};

struct AttributeRecord
{
    uint32_t name;
    uint32_t type;
    uint32_t value;
};

struct TensorRecord
{
    uint32_t id;
    uint32_t buffer;  // index; constants only
    uint32_t dims;    // vector
    uint32_t name;
    uint32_t quantisation;  // vector of offsets
    int32_t layout;
    int32_t type;
    int32_t data_type;
};

struct QuantRecord
{
    int32_t zero_point;
    float scale;
    int32_t width;
};

struct BufferRecord
{
    uint32_t size;
    uint32_t data;
};

struct StringRecord
{
    uint32_t size;
    uint32_t data;
};

// The value of an extension's attribute of type "tensor".
struct TensorValueRecord
{
    int32_t data_type;
    uint32_t dims;
    uint32_t buffer;
};

// The value of one of type "graph". The tensors that the graph captures are the last of its inputs.
// Its subgraph has nodes, tensors and buffers, and no nodes for inputs and constants.
constexpr char kBodyType[] = "graph";
struct BodyRecord
{
    uint32_t subgraph;
    uint32_t inputs;  // vectors of tensor indices
    uint32_t outputs;
    uint32_t capture_num;
};

constexpr char kPartsMark[16] = "compiled parts\n";
constexpr uint32_t kPartAlignment = 4096;
constexpr size_t kDigestBytes = 32;  // SHA-256

struct PartsRecord
{
    char mark[sizeof kPartsMark];
    uint8_t
        digest[kDigestBytes];  // covers the following bytes, and those that hold the other records
    uint32_t begin;            // of these; at first the offset of a vector of PartNodesRecord, or 0
    uint32_t size;
    uint32_t parts;      // a vector of CompiledPartRecord
    uint32_t constants;  // a vector of ConstantDigestRecord
};

constexpr char kChecksumsMark[16] = "part checksums\n";

// Behind the word at the begin of the bytes that PartsRecord names; older files have other bytes
// there, and a part without a checksum, two words of 0, has its hash alone.
struct ChecksumsRecord
{
    char mark[sizeof kChecksumsMark];
    uint32_t checksums;  // a vector of ChecksumRecord, one for each part
};

struct ChecksumRecord
{
    uint64_t words[2];  // base/checksum.h
};

struct CompiledPartRecord
{
    uint8_t fingerprint[kDigestBytes];
    uint8_t digest[kDigestBytes];  // covers the bytes
    uint32_t target;               // a string, the device's own of its compiler and chip
    uint32_t size;
    uint32_t data;
};

// The nodes of the executed graph that a part has, in the same order; older files do not say.
struct PartNodesRecord
{
    uint32_t keys;     // a vector of uint64, find_ir_node_key() of each
    uint32_t options;  // hash_ir_device_options(), 0: not known
};

// The hash of a constant that fingerprints depend on, so that it need not be hashed at every start.
struct ConstantDigestRecord
{
    uint32_t tensor;  // index
    uint8_t digest[kDigestBytes];
};

// Preparations (graph/prepared.h) are compiled parts of this device, which have no nodes.
constexpr char kPreparedDevice[] = "prepared graph";
constexpr char kPreparedMark[16] = "prepared graph1";

// The bytes of such a part begin with it; all offsets in them are positions in these bytes. The
// graph has no nodes for inputs and constants. Constants without a buffer have the values of the
// model's tensor.
struct PreparedRecord
{
    char mark[sizeof kPreparedMark];
    uint32_t subgraph;  // nodes, tensors and buffers, as those of a body
    uint32_t inputs;    // vectors of tensor indices
    uint32_t outputs;
    uint32_t tensors;        // vectors of PreparedTensorRecord, one for each tensor,
    uint32_t nodes;          // PreparedNodeRecord, one for each node,
    uint32_t parts;          // PreparedPartRecord
    uint32_t settled;        // and PreparedShapeRecord
    int32_t precision;       // TENGINE_MODE_* after the passes
    int32_t rounding;        // ir_rounding_t
    uint32_t blocks;         // vector of PreparedBlockRecord; 0: none
    uint64_t between_bytes;  // memory of the tensors between parts, and of the outputs
};

struct PreparedTensorRecord
{
    int32_t source;  // the model's tensor, or -1
    int32_t axis;    // of the scales
    int32_t layout;
    int32_t reserved;  // 0
    uint64_t place;    // bytes from the begin of that memory; kNoPlace: it is not there
};
constexpr uint64_t kNoPlace = ~uint64_t{0};

struct PreparedNodeRecord
{
    int32_t source;      // the model's node, or -1
    uint32_t part;       // index
    int32_t group;       // its device's
    int32_t keep_float;  // 1: the user requires it
    uint32_t refusals;   // a vector of PreparedRefusalRecord
};

struct PreparedRefusalRecord
{
    uint32_t device;     // string
    int32_t verdict;     // IR_VERDICT_*
    int32_t code;        // IR_REASON_*
    uint32_t attribute;  // strings
    uint32_t value;
    uint32_t message;
};

struct PreparedPartRecord
{
    uint32_t device;    // string
    uint32_t reserved;  // 0
    uint64_t arena;     // bytes inside the part, as planned where the file was made
};

// ir_arena_block_t, those of the first part first.
struct PreparedBlockRecord
{
    uint64_t offset;
    uint64_t bytes;
    int32_t memory;
    int32_t part;
};

struct PreparedShapeRecord
{
    int32_t source;  // the model's tensor
    uint32_t dims;   // a vector of int32
};

static_assert(sizeof(PreparedRecord) == 64 && sizeof(PreparedTensorRecord) == 24 &&
              sizeof(PreparedNodeRecord) == 20 && sizeof(PreparedRefusalRecord) == 24 &&
              sizeof(PreparedPartRecord) == 16 && sizeof(PreparedBlockRecord) == 24 &&
              sizeof(PreparedShapeRecord) == 8);

constexpr char kVariantsMark[16] = "model variants\n";

// For whom compiled parts are: the last record of those that the hash in PartsRecord covers, which
// only the model's own record has, not those of bodies. Older readers skip it.
struct VariantsRecord
{
    char mark[sizeof kVariantsMark];
    uint32_t variants;  // a vector of VariantRecord
};

struct VariantRecord
{
    uint32_t name;     // strings; 0: ""
    uint32_t devices;  // "TPU,CPU"
    uint32_t chip;     // of the first device, and its driver; "": any
    uint32_t driver;
    uint32_t precision;  // "int8"
    uint32_t options;    // a vector of VariantOptionRecord, 0: none
    uint32_t parts;      // a vector of FingerprintRecord, 0: none
};

struct VariantOptionRecord
{
    uint32_t key;  // strings: "TPU.config"
    uint32_t value;
};

// That of compiled parts, also of those of bodies.
struct FingerprintRecord
{
    uint8_t fingerprint[kDigestBytes];
};

constexpr char kMetadataMark[16] = "model metadata\n";

// The model's statements about itself. It directly precedes the record of the compiled parts, if
// there is one, else the model's.
struct MetadataRecord
{
    char mark[sizeof kMetadataMark];
    uint32_t entries;  // a vector of MetadataEntryRecord
};

struct MetadataEntryRecord
{
    int32_t kind;  // IR_METADATA_*, see graph/metadata.h
    uint32_t key;  // strings, 0: ""
    uint32_t text;
    uint32_t number[2];  // of 64 bits
};

constexpr char kEntriesMark[16] = "model entries\n\n";

// The entries of a file with several, two at least. It directly follows the header. Each entry has
// a model's record with all that precedes one; the first is the header's, which programs load that
// do not know of entries. Constants, and the bytes of compiled parts, are there once.
struct EntriesRecord
{
    char mark[sizeof kEntriesMark];
    uint32_t entries;  // a vector of EntryRecord
};

struct EntryRecord
{
    uint32_t name;  // a string
    uint32_t root;  // the model
};

static_assert(sizeof(EntriesRecord) == 20 && sizeof(EntryRecord) == 8);
static_assert(sizeof(VariantsRecord) == 20 && sizeof(VariantRecord) == 28 &&
              sizeof(VariantOptionRecord) == 8 && sizeof(FingerprintRecord) == kDigestBytes);
static_assert(sizeof(MetadataRecord) == 20 && sizeof(MetadataEntryRecord) == 20);
static_assert(sizeof(ChecksumsRecord) == 20 && sizeof(ChecksumRecord) == 16);
static_assert(sizeof(PartsRecord) == 64 && sizeof(CompiledPartRecord) == 76 &&
              sizeof(PartNodesRecord) == 8 && sizeof(ConstantDigestRecord) == 36);
static_assert(sizeof(HeaderRecord) == 12 && sizeof(ModelRecord) == 16 &&
              sizeof(SubgraphRecord) == 40 && sizeof(PartRecord) == 28 &&
              sizeof(NodeRecord) == 28 && sizeof(OperatorRecord) == 12 &&
              sizeof(TensorRecord) == 32 && sizeof(QuantRecord) == 12 && sizeof(BufferRecord) == 8);

}  // namespace tengine::tmfile
