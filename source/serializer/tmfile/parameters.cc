// SPDX-License-Identifier: Apache-2.0
#include "serializer/tmfile/parameters.h"

#include <algorithm>

#include "base/containers.hpp"
#include "base/print_text.hpp"
#include "operator/infer.h"
#include "operator/param.h"
#include "operator/registry.h"
#include "serializer/tmfile/layout.h"

namespace tengine::tmfile {
namespace {

// Larger than any operator's record, and than the range of op_field_t.file_offset.
constexpr size_t kMaxRecordBytes = 256 + sizeof(int32_t);
constexpr size_t kAnchorFloats = 4;
constexpr int kStridedWords = 4;

// Reshape of the first version: 4 dims, their number, an axis; -2 and 0 mean an absent dim.
constexpr uint32_t kOldReshapeBytes = 24;
constexpr int kOldReshapeDims = 4;

struct Record
{
    alignas(int32_t) char bytes[kMaxRecordBytes] = {};
    size_t available = 0;

    int32_t* words() { return reinterpret_cast<int32_t*>(bytes); }
    int word_num() const { return static_cast<int>(available / sizeof(int32_t)); }
    template <class Value>
    Value get(size_t place) const
    {
        Value value;
        std::memcpy(&value, bytes + place, sizeof(value));
        return value;
    }
    template <class Value>
    void set(size_t place, Value value)
    {
        std::memcpy(bytes + place, &value, sizeof(value));
    }
};

size_t field_end(const op_field_t& field)
{
    const size_t begin = field.file_offset;
    switch (field.file_kind) {
        case OP_FILE_BYTE:
            return begin + 1;
        case OP_FILE_STRIDED:
            return begin + (kStridedWords - 1) * OP_FILE_STRIDE + sizeof(int32_t);
        default:
            return begin + sizeof(int32_t);
    }
}

bool is_reshape(const struct node* node)
{
    return node->op.method->tengine->id == kReshape;
}

// The old Reshape as the fields of the present one.
int read_old_reshape(struct node* node, const op_field_t& field, const Record& record)
{
    int64_t dims[kOldReshapeDims];
    int number = 0;
    for (int i = 0; i < kOldReshapeDims; ++i) {
        const int32_t dim = record.get<int32_t>(static_cast<size_t>(i) * sizeof(int32_t));
        if (dim != -2 && dim != 0) dims[number++] = dim;
    }
    return set_node_ints(node, field.name, dims, number);
}

class ParameterReader
{
  public:
    ParameterReader(Reading& reading, struct node* node)
        : reading_(reading),
          node_(node),
          what_(print_text("%s's parameters", quote(node->name).c_str())),
          method_(*node->op.method)
    {
    }

    int run(uint32_t param, uint32_t operator_offset);

  private:
    int read_field(const op_field_t& field);
    int read_ints(const op_field_t& field, uint32_t offset);
    int read_floats(const op_field_t& field, uint32_t offset, size_t group);
    int read_text(const op_field_t& field, uint32_t offset);
    int read_strided(const op_field_t& field);

    Reading& reading_;
    struct node* node_;
    String what_;
    const ir_method_t& method_;
    Record record_;
};

int ParameterReader::run(uint32_t param, uint32_t operator_offset)
{
    const size_t size = method_.tengine->size;
    const size_t distance = operator_offset > param ? operator_offset - param : SIZE_MAX;
    const bool is_old_reshape = is_reshape(node_) && distance == kOldReshapeBytes;
    record_.available = is_old_reshape ? kOldReshapeBytes : std::min(size, distance);
    TENGINE_RETURN_IF_ERROR(
        reading_.file.read_words(param, record_.available, what_, record_.bytes));
    if (reading_.has_nhwc_parameters())
        words_from_nhwc(static_cast<uint32_t>(method_.tengine->id), record_.words(),
                        record_.word_num());
    for (int i = 0; i < method_.field_num; ++i) {
        const op_field_t& field = method_.fields[i];
        const bool is_list = field.file_kind == OP_FILE_OFFSET;
        if (is_old_reshape && is_list)
            TENGINE_RETURN_IF_ERROR(read_old_reshape(node_, field, record_));
        if (is_old_reshape || field.file_kind == OP_FILE_NOT ||
            field_end(field) > record_.available)
            continue;
        TENGINE_RETURN_IF_ERROR(read_field(field));
    }
    return TENGINE_OK;
}

int ParameterReader::read_field(const op_field_t& field)
{
    const size_t place = field.file_offset;
    if (field.file_kind == OP_FILE_BYTE)
        return set_node_int(node_, field.name, record_.get<uint8_t>(place));
    if (field.file_kind == OP_FILE_STRIDED) return read_strided(field);
    if (field.file_kind == OP_FILE_WORD)
        return field.kind == OP_FIELD_FLOAT
                   ? set_node_float(node_, field.name, record_.get<float>(place))
                   : set_node_int(node_, field.name, record_.get<int32_t>(place));
    const auto offset = record_.get<uint32_t>(place);
    if (offset == 0) return TENGINE_OK;
    if (field.file_kind == OP_FILE_ANCHORS) return read_floats(field, offset, kAnchorFloats);
    if (field.kind == OP_FIELD_INTS) return read_ints(field, offset);
    if (field.kind == OP_FIELD_FLOATS) return read_floats(field, offset, 1);
    return read_text(field, offset);
}

int ParameterReader::read_ints(const op_field_t& field, uint32_t offset)
{
    VectorView list;
    TENGINE_RETURN_IF_ERROR(reading_.file.read_vector(offset, sizeof(int32_t), what_, &list));
    TENGINE_RETURN_IF_ERROR(reading_.budget.charge(uint64_t{list.count()} * sizeof(int64_t)));
    Vector<int64_t> values(list.count());
    for (uint32_t i = 0; i < list.count(); ++i)
        values[i] = list.get<int32_t>(i);
    const int number = static_cast<int>(values.size());
    if (is_reshape(node_) && reading_.has_nhwc_parameters())
        TENGINE_RETURN_IF_ERROR(reshape_from_nhwc(node_, values.data(), number));
    return set_node_ints(node_, field.name, values.data(), number);
}

// An entry has `group` floats.
int ParameterReader::read_floats(const op_field_t& field, uint32_t offset, size_t group)
{
    VectorView list;
    TENGINE_RETURN_IF_ERROR(reading_.file.read_vector(offset, group * sizeof(float), what_, &list));
    const size_t number = list.count() * group;
    TENGINE_RETURN_IF_ERROR(reading_.budget.charge(uint64_t{list.count()} * group * sizeof(float)));
    Vector<float> values(number);
    for (size_t i = 0; i < number; ++i)
        values[i] = list.get<float>(static_cast<uint32_t>(i));
    return set_node_floats(node_, field.name, values.data(), static_cast<int>(number));
}

int ParameterReader::read_text(const op_field_t& field, uint32_t offset)
{
    std::string_view text;
    TENGINE_RETURN_IF_ERROR(reading_.file.read_string(offset, what_, &text));
    TENGINE_RETURN_IF_ERROR(reading_.budget.charge(text.size() + 1));
    return set_node_text(node_, field.name, text.data(), text.size());
}

int ParameterReader::read_strided(const op_field_t& field)
{
    int64_t values[kStridedWords];
    for (int i = 0; i < kStridedWords; ++i)
        values[i] =
            record_.get<int32_t>(field.file_offset + static_cast<size_t>(i) * OP_FILE_STRIDE);
    TENGINE_RETURN_IF_ERROR(reading_.budget.charge(sizeof(values)));
    return set_node_ints(node_, field.name, values, kStridedWords);
}

class ParameterWriter
{
  public:
    ParameterWriter(FileBuilder& builder, const struct node& node, bool is_nhwc)
        : builder_(builder), node_(node), is_nhwc_(is_nhwc)
    {
    }

    int run(uint32_t* out_offset);

  private:
    int write_field(const op_field_t& field);
    int write_ints(const op_field_t& field, const struct op_ints& list);
    int write_int(const op_field_t& field, int value);
    int write_floats(const op_field_t& field, const struct op_floats& list, size_t group);

    FileBuilder& builder_;
    const struct node& node_;
    bool is_nhwc_;
    Record record_;
};

int ParameterWriter::run(uint32_t* out_offset)
{
    *out_offset = 0;
    const ir_method_t& method = *node_.op.method;
    record_.available = method.tengine->size;
    if (record_.available == 0) return TENGINE_OK;
    for (int i = 0; i < method.field_num; ++i)
        if (method.fields[i].file_kind != OP_FILE_NOT)
            TENGINE_RETURN_IF_ERROR(write_field(method.fields[i]));
    if (is_nhwc_)
        words_to_nhwc(static_cast<uint32_t>(method.tengine->id), record_.words(),
                      record_.word_num());
    *out_offset = builder_.add_aligned(record_.bytes, record_.available, sizeof(uint32_t));
    return TENGINE_OK;
}

int ParameterWriter::write_field(const op_field_t& field)
{
    const void* memory = static_cast<const char*>(node_.op.param_mem) + field.offset;
    const size_t place = field.file_offset;
    switch (field.kind) {
        case OP_FIELD_INT:
            return write_int(field, *static_cast<const int*>(memory));
        case OP_FIELD_FLOAT:
            record_.set(place, *static_cast<const float*>(memory));
            return TENGINE_OK;
        case OP_FIELD_INTS:
            return write_ints(field, *static_cast<const struct op_ints*>(memory));
        case OP_FIELD_FLOATS:
            return write_floats(field, *static_cast<const struct op_floats*>(memory),
                                field.file_kind == OP_FILE_ANCHORS ? kAnchorFloats : 1);
        case OP_FIELD_STRING: {
            const char* text = *static_cast<char* const*>(memory);
            if (text) record_.set(place, builder_.add_string(text));
            return TENGINE_OK;
        }
        default:
            return fail_node(&node_, TENGINE_EINTERNAL,
                             "parameter '%s' cannot be stored in a tmfile", field.name);
    }
}

int ParameterWriter::write_int(const op_field_t& field, int value)
{
    if (field.file_kind != OP_FILE_BYTE) {
        record_.set(field.file_offset, static_cast<int32_t>(value));
        return TENGINE_OK;
    }
    if (value < 0 || value > UINT8_MAX)
        return fail_node(&node_, TENGINE_ERANGE, "'%s' is %d, expected 0 to 255 in a tmfile",
                         field.name, value);
    record_.set(field.file_offset, static_cast<uint8_t>(value));
    return TENGINE_OK;
}

int ParameterWriter::write_ints(const op_field_t& field, const struct op_ints& list)
{
    if (list.num == 0) return TENGINE_OK;
    Vector<int64_t> values(list.values, list.values + list.num);
    if (is_reshape(&node_) && is_nhwc_)
        TENGINE_RETURN_IF_ERROR(reshape_to_nhwc(&node_, values.data(), list.num));
    Vector<int32_t> words;
    for (const int64_t value : values) {
        if (value < INT32_MIN || value > INT32_MAX)
            return fail_node(&node_, TENGINE_ERANGE, "'%s' has %lld, expected 32 bits in a tmfile",
                             field.name, static_cast<long long>(value));
        words.push_back(static_cast<int32_t>(value));
    }
    if (field.file_kind != OP_FILE_STRIDED) {
        record_.set(field.file_offset, builder_.add_vector(words));
        return TENGINE_OK;
    }
    if (words.size() != kStridedWords)
        return fail_node(&node_, TENGINE_ERANGE, "'%s' has %zu numbers, expected %d in a tmfile",
                         field.name, words.size(), kStridedWords);
    for (size_t i = 0; i < words.size(); ++i)
        record_.set(field.file_offset + i * OP_FILE_STRIDE, words[i]);
    return TENGINE_OK;
}

int ParameterWriter::write_floats(const op_field_t& field, const struct op_floats& list,
                                  size_t group)
{
    if (list.num == 0) return TENGINE_OK;
    const auto number = static_cast<size_t>(list.num);
    if (number % group != 0)
        return fail_node(&node_, TENGINE_ERANGE, "'%s' has %zu numbers, expected a multiple of %zu",
                         field.name, number, group);
    const uint32_t offset = builder_.add(static_cast<uint32_t>(number / group));
    builder_.add_aligned(list.values, number * sizeof(float), sizeof(uint32_t));
    record_.set(field.file_offset, offset);
    return TENGINE_OK;
}

}  // namespace

uint32_t todays_number(const OperatorRecord& record)
{
    const bool has_param = record.param != 0;
    if (record.type == kUnsqueeze && !has_param) return kMatMul;
    if (record.type == kMean && has_param) return kUnsqueeze;
    if (record.type == kExpand && !has_param) return kMatMul;
    return record.type;
}

const ir_method_t* find_method(uint32_t operator_number)
{
    for (int i = 0; i < get_op_method_count(); ++i) {
        const ir_method_t* method = find_op_method_via_index(i);
        if (method->tengine && method->tengine->id >= 0 &&
            static_cast<uint32_t>(method->tengine->id) == operator_number)
            return method;
    }
    return nullptr;
}

int read_parameters(Reading& reading, struct node* node, const OperatorRecord& record,
                    uint32_t operator_offset)
{
    const size_t size = node->op.method->tengine->size;
    if (size == 0) return TENGINE_OK;
    if (size > kMaxRecordBytes)
        return fail_node(node, TENGINE_EINTERNAL, "a parameter record of %zu bytes", size);
    if (record.param == 0)
        return fail_node(node, TENGINE_EFORMAT, "it has no parameters, a %s has %zu bytes of them",
                         node->op.method->name, size);
    return ParameterReader(reading, node).run(record.param, operator_offset);
}

int write_parameters(FileBuilder& builder, const struct node& node, bool is_nhwc,
                     uint32_t* out_offset)
{
    return ParameterWriter(builder, node, is_nhwc).run(out_offset);
}

}  // namespace tengine::tmfile
