// SPDX-License-Identifier: Apache-2.0
// One row per type of attribute; the payloads are in format.h.
#include "serializer/tmfile/extension.h"

#include "base/containers.hpp"
#include "base/minimal.h"
#include "base/print_text.hpp"
#include "operator/added_field.h"
#include "operator/infer.h"
#include "operator/param.h"
#include "operator/registry.h"
#include "operator/selection.h"
#include "serializer/tmfile/texts.h"

namespace tengine::tmfile {
namespace {

// An attribute that is being read.
struct Attribute
{
    Reading& reading;
    struct node* node;
    String name;
    String what;  // "'conv1's attribute 'group'"
    uint32_t value;

    const FileView& file() const { return reading.file; }
};

int read_int(const Attribute& attribute)
{
    int32_t value = 0;
    TENGINE_RETURN_IF_ERROR(attribute.file().read(attribute.value, attribute.what, &value));
    return set_node_int(attribute.node, attribute.name.c_str(), value);
}

int read_float(const Attribute& attribute)
{
    float value = 0;
    TENGINE_RETURN_IF_ERROR(attribute.file().read(attribute.value, attribute.what, &value));
    return set_node_float(attribute.node, attribute.name.c_str(), value);
}

int read_text(const Attribute& attribute)
{
    std::string_view text;
    TENGINE_RETURN_IF_ERROR(attribute.file().read_string(attribute.value, attribute.what, &text));
    TENGINE_RETURN_IF_ERROR(attribute.reading.budget.charge(text.size() + 1));
    return set_node_text(attribute.node, attribute.name.c_str(), text.data(), text.size());
}

template <class Value>
int read_list(const Attribute& attribute, Vector<Value>* out_values)
{
    VectorView list;
    TENGINE_RETURN_IF_ERROR(
        attribute.file().read_vector(attribute.value, sizeof(Value), attribute.what, &list));
    TENGINE_RETURN_IF_ERROR(
        attribute.reading.budget.charge(uint64_t{list.count()} * sizeof(Value)));
    out_values->resize(list.count());
    for (uint32_t i = 0; i < list.count(); ++i)
        (*out_values)[i] = list.get<Value>(i);
    return TENGINE_OK;
}

int read_ints(const Attribute& attribute)
{
    Vector<int64_t> values;
    TENGINE_RETURN_IF_ERROR(read_list(attribute, &values));
    return set_node_ints(attribute.node, attribute.name.c_str(), values.data(),
                         static_cast<int>(values.size()));
}

int read_floats(const Attribute& attribute)
{
    Vector<float> values;
    TENGINE_RETURN_IF_ERROR(read_list(attribute, &values));
    return set_node_floats(attribute.node, attribute.name.c_str(), values.data(),
                           static_cast<int>(values.size()));
}

int read_texts(const Attribute& attribute)
{
    Vector<uint32_t> offsets;
    TENGINE_RETURN_IF_ERROR(read_list(attribute, &offsets));
    Vector<String> texts;
    Vector<const char*> pointers;
    for (const uint32_t offset : offsets) {
        std::string_view text;
        TENGINE_RETURN_IF_ERROR(attribute.file().read_string(offset, attribute.what, &text));
        TENGINE_RETURN_IF_ERROR(
            attribute.reading.budget.charge(text.size() + sizeof(char*) + sizeof(String)));
        texts.emplace_back(text);
    }
    for (const String& text : texts)
        pointers.push_back(text.c_str());
    return set_node_texts(attribute.node, attribute.name.c_str(), pointers.data(),
                          static_cast<int>(pointers.size()));
}

// Reads the value of type "tensor" by way of a new tensor, which checks type and shape.
int read_tensor(const Attribute& attribute)
{
    const FileView& file = attribute.file();
    TensorValueRecord record;
    TENGINE_RETURN_IF_ERROR(file.read(attribute.value, attribute.what, &record));
    VectorView dims;
    TENGINE_RETURN_IF_ERROR(file.read_vector(
        record.dims, sizeof(int32_t), print_text("%s's shape", attribute.what.c_str()), &dims));
    BufferRecord buffer;
    TENGINE_RETURN_IF_ERROR(
        file.read(record.buffer, print_text("%s's buffer", attribute.what.c_str()), &buffer));
    const char* bytes = nullptr;
    TENGINE_RETURN_IF_ERROR(file.find_bytes(buffer.data, buffer.size, attribute.what, &bytes));
    TENGINE_RETURN_IF_ERROR(attribute.reading.budget.charge(buffer.size));

    struct op_tensor value = {};
    value.data_type = record.data_type;
    value.dim_num = static_cast<int>(dims.count());
    value.size = buffer.size;
    value.data = const_cast<char*>(bytes);
    const auto bits = static_cast<uint64_t>(get_data_type_bits(record.data_type));
    uint64_t expected = bits;
    bool is_possible = bits > 0 && dims.count() <= MAX_SHAPE_DIM_NUM;
    for (uint32_t i = 0; is_possible && i < dims.count(); ++i) {
        value.dims[i] = dims.get<int32_t>(i);
        is_possible =
            value.dims[i] >= 0 &&
            !__builtin_mul_overflow(expected, static_cast<uint64_t>(value.dims[i]), &expected);
    }
    if (!IR_HAS_STRINGS && record.data_type == TENGINE_DT_STRING)
        return refuse_texts(attribute.what);
    Vector<const char*> texts;
    if (IR_HAS_STRINGS && record.data_type == TENGINE_DT_STRING) {
        const uint64_t number = expected / bits;
        if (!is_possible || buffer.size / sizeof(uint32_t) < number)
            return tengine_error_set(TENGINE_EFORMAT, "%s has %u bytes, too few for its strings",
                                     attribute.what.c_str(), buffer.size);
        texts.resize(number);
        TENGINE_RETURN_IF_ERROR(decode_texts(attribute.reading, bytes, buffer.size, number,
                                             attribute.what, texts.data()));
        value.data = texts.data();
        value.size = number * sizeof(char*);
        return set_node_tensor(attribute.node, attribute.name.c_str(), &value);
    }
    if (!is_possible || expected / 8 + (expected % 8 > 0) != buffer.size)
        return tengine_error_set(
            TENGINE_EFORMAT,
            "%s has %u bytes, which do not match its data type %d and %u dimensions",
            attribute.what.c_str(), buffer.size, record.data_type, dims.count());
    return set_node_tensor(attribute.node, attribute.name.c_str(), &value);
}

uint32_t write_int(FileBuilder& builder, const void* memory)
{
    return builder.add(static_cast<int32_t>(*static_cast<const int*>(memory)));
}

uint32_t write_float(FileBuilder& builder, const void* memory)
{
    return builder.add(*static_cast<const float*>(memory));
}

uint32_t write_text(FileBuilder& builder, const void* memory)
{
    return builder.add_string(*static_cast<char* const*>(memory));
}

uint32_t write_ints(FileBuilder& builder, const void* memory)
{
    const auto& list = *static_cast<const struct op_ints*>(memory);
    return builder.add_vector(list.values, static_cast<size_t>(list.num));
}

uint32_t write_floats(FileBuilder& builder, const void* memory)
{
    const auto& list = *static_cast<const struct op_floats*>(memory);
    return builder.add_vector(list.values, static_cast<size_t>(list.num));
}

uint32_t write_texts(FileBuilder& builder, const void* memory)
{
    const auto& list = *static_cast<const struct op_strings*>(memory);
    Vector<uint32_t> offsets;
    for (int i = 0; i < list.num; ++i)
        offsets.push_back(builder.add_string(list.values[i]));
    return builder.add_vector(offsets);
}

uint32_t write_tensor(FileBuilder& builder, const void* memory)
{
    const auto& value = *static_cast<const struct op_tensor*>(memory);
    TensorValueRecord record = {};
    record.data_type = value.data_type;
    record.dims = builder.add_vector(value.dims, static_cast<size_t>(value.dim_num));
    BufferRecord buffer = {};
    String texts;
    const bool has_texts = IR_HAS_STRINGS && value.data_type == TENGINE_DT_STRING;
    if (has_texts)
        texts =
            encode_texts(static_cast<const char* const*>(value.data), value.size / sizeof(char*));
    const size_t size = has_texts ? texts.size() : value.size;
    buffer.size = static_cast<uint32_t>(size);
    buffer.data =
        builder.add_aligned(has_texts ? texts.data() : value.data, size, kBufferAlignment);
    record.buffer = builder.add(buffer);
    return builder.add(record);
}

using Write = uint32_t (*)(FileBuilder& builder, const void* memory);

// Minimal builds write no files.
constexpr Write to_write(Write write)
{
    return IS_MINIMAL ? nullptr : write;
}

struct AttributeType
{
    uint8_t kind;  // op_field_kind_t
    const char* name;
    int (*read)(const Attribute& attribute);
    Write write;
};

constexpr AttributeType kTypes[] = {
    {OP_FIELD_INT, "int", read_int, to_write(write_int)},
    {OP_FIELD_FLOAT, "float", read_float, to_write(write_float)},
    {OP_FIELD_STRING, "string", read_text, to_write(write_text)},
    {OP_FIELD_INTS, "ints", read_ints, to_write(write_ints)},
    {OP_FIELD_FLOATS, "floats", read_floats, to_write(write_floats)},
    {OP_FIELD_STRINGS, "strings", read_texts, to_write(write_texts)},
    {OP_FIELD_TENSOR, "tensor", read_tensor, to_write(write_tensor)},
};

// Adds a field for an attribute of an unknown operator.
int make_room(Reading& reading, struct node* node, const String& name, const AttributeType& type)
{
    const method& method = *node->op.method;
    if (!(method.traits & OP_OPEN) || find_op_field(&method, name.c_str(), 0)) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(
        reading.budget.charge(name.size() + 1 + sizeof(op_field_t) + sizeof(struct op_tensor)));
    return add_node_field(node, name.c_str(), static_cast<op_field_kind_t>(type.kind));
}

int read_attribute(Reading& reading, struct node* node, uint32_t offset)
{
    const String owner = print_text("%s's attribute", quote(node->name).c_str());
    AttributeRecord record;
    TENGINE_RETURN_IF_ERROR(reading.file.read(offset, owner, &record));
    std::string_view name, type;
    TENGINE_RETURN_IF_ERROR(
        reading.file.read_string(record.name, print_text("%s's name", owner.c_str()), &name));
    TENGINE_RETURN_IF_ERROR(
        reading.file.read_string(record.type, print_text("%s's type", owner.c_str()), &type));
    if (type == kBodyType && node->op.method->bodies) return TENGINE_OK;  // see bodies.h
    for (const AttributeType& known : kTypes) {
        if (type != known.name) continue;
        TENGINE_RETURN_IF_ERROR(make_room(reading, node, String(name), known));
        return known.read({reading, node, String(name),
                           print_text("%s %s", owner.c_str(), quote(name).c_str()), record.value});
    }
    return tengine_error_set(TENGINE_EFORMAT, "%s %s has the unknown type %s", owner.c_str(),
                             quote(name).c_str(), quote(type).c_str());
}

uint32_t write_attribute(FileBuilder& builder, const op_field_t& field, const void* memory)
{
    const AttributeType& type = kTypes[field.kind];
    AttributeRecord record = {};
    record.name = builder.add_string(field.name);
    record.type = builder.add_string(type.name);
    record.value = type.write(builder, memory);
    return builder.add(record);
}

}  // namespace

int find_extension(const Reading& reading, const OperatorRecord& record, const String& node_name,
                   const String& what, int* out_type)
{
    std::string_view name;
    TENGINE_RETURN_IF_ERROR(reading.file.read_string(
        record.param, print_text("the operator's name of %s", what.c_str()), &name));
    *out_type = get_op_type_by_name(String(name).c_str());
    if (*out_type < 0 && is_build_selective())
        return fail_left_out(node_name.c_str(), String(name).c_str());
    const int version = record.version <= INT16_MAX ? static_cast<int>(record.version) : -1;
    if (*out_type >= 0 && version > 0 && find_op_method(*out_type, version)) return TENGINE_OK;
    return tengine_error_set(TENGINE_EOPERATOR, "%s has the unknown operator %s of opset %u",
                             what.c_str(), quote(name).c_str(), record.version);
}

int read_attributes(Reading& reading, struct node* node, uint32_t attributes)
{
    VectorView list;
    TENGINE_RETURN_IF_ERROR(reading.file.read_vector(
        attributes, sizeof(uint32_t),
        print_text("%s's list of attributes", quote(node->name).c_str()), &list));
    for (uint32_t i = 0; i < list.count(); ++i)
        TENGINE_RETURN_IF_ERROR(read_attribute(reading, node, list[i]));
    return TENGINE_OK;
}

uint32_t write_operator_name(FileBuilder& builder, const struct node& node)
{
    const String domain = get_ir_node_domain(&node);
    return builder.add_string((domain.empty() ? "" : domain + ".") + get_ir_node_op(&node));
}

uint32_t write_body_attribute(FileBuilder& builder, std::string_view name, uint32_t body)
{
    AttributeRecord record = {};
    record.name = builder.add_string(name);
    record.type = builder.add_string(kBodyType);
    record.value = body;
    return builder.add(record);
}

uint32_t write_attributes(FileBuilder& builder, const struct node& node, bool without_record,
                          Vector<uint32_t> offsets)
{
    const ir_method_t& method = *node.op.method;
    for (int i = 0; i < method.field_num; ++i) {
        const op_field_t& field = method.fields[i];
        const void* memory = static_cast<const char*>(node.op.param_mem) + field.offset;
        if (find_op_field(&method, field.name, node.op.version) != &field) continue;
        // The record of one of Tengine's operators has its other fields.
        const bool is_in_record =
            method.tengine && field.file_kind != OP_FILE_NOT && !without_record;
        if (!is_in_record && is_given_param(&method, &field, memory))
            offsets.push_back(write_attribute(builder, field, memory));
    }
    return offsets.empty() ? 0 : builder.add_vector(offsets);
}

}  // namespace tengine::tmfile
