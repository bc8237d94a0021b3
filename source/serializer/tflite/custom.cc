// SPDX-License-Identifier: Apache-2.0
#include "serializer/tflite/custom.h"

#include <climits>
#include <cstring>

#include "operator/added_field.h"
#include "operator/infer.h"
#include "operator/param.h"
#include "serializer/tflite/byte_code.h"
#include "serializer/tflite/flex_map.h"
#include "serializer/tflite/numbers.h"
#include "serializer/tflite/option_fields.h"

namespace tengine::tflite {
namespace {

using Kind = FlexMap::Kind;

struct Bytes
{
    const uint8_t* data = nullptr;
    size_t size = 0;
};

// Large options lie outside of the tables. False: not inside the file.
bool find_options(const Reading& reading, const file::Operator& record, Bytes* out_bytes)
{
    if (record.custom_options()) {
        *out_bytes = {record.custom_options()->data(), record.custom_options()->size()};
        return true;
    }
    const uint64_t offset = record.custom_offset(), size = record.custom_size();
    if (offset <= 1) return true;
    const uint64_t file_size = reading.image->size();
    if (offset > file_size || size > file_size - offset) return false;
    *out_bytes = {reinterpret_cast<const uint8_t*>(reading.image->bytes()) + offset,
                  static_cast<size_t>(size)};
    return true;
}

int fail_far_options(const Reading& reading, const String& name, const file::Operator& record)
{
    return tengine_error_set(
        TENGINE_EFORMAT, "%s: its options have %llu bytes from byte %llu on, the file %zu",
        quote(name).c_str(), static_cast<unsigned long long>(record.custom_size()),
        static_cast<unsigned long long>(record.custom_offset()), reading.image->size());
}

// The fields of both: the name; the subgraph, options and version of a composite; the subgraphs and
// options of a custom call.
int read_call_options(const Reading& reading, uint32_t index, int code,
                      const file::Operator& record, NamedCall* out_call)
{
    const OptionFields fields(*reading.image, record.options_2());
    const bool is_composite = code == kComposite;
    const flatbuffers::Vector<uint8_t>* bytes = nullptr;
    const flatbuffers::Vector<int32_t>* subgraphs = nullptr;
    bool is_inside = fields.read_text(0, &out_call->name);
    if (is_composite)
        is_inside = is_inside && fields.read_number(1, 0, &out_call->subgraph) &&
                    fields.read_list(2, &bytes) && fields.read_number(4, 1, &out_call->version);
    else
        is_inside = is_inside && fields.read_list(4, &subgraphs) && fields.read_list(5, &bytes);
    if (!is_inside)
        return fail_operator(TENGINE_EFORMAT, index, code, "%s",
                             "its options are not inside the file");
    if (count(subgraphs) > 0)
        return fail_operator(TENGINE_ENOTSUP, index, code, "%s calls %u subgraphs, expected none",
                             quote(out_call->name).c_str(), count(subgraphs));
    out_call->options = bytes ? bytes->data() : nullptr;
    out_call->option_size = count(bytes);
    return TENGINE_OK;
}

bool is_int(int64_t value)
{
    return value >= INT_MIN && value <= INT_MAX;
}

op_field_kind_t field_kind(Kind kind)
{
    switch (kind) {
        case Kind::kInt:
            return OP_FIELD_INT;
        case Kind::kFloat:
            return OP_FIELD_FLOAT;
        case Kind::kText:
            return OP_FIELD_STRING;
        case Kind::kFloats:
            return OP_FIELD_FLOATS;
        case Kind::kTexts:
            return OP_FIELD_STRINGS;
        default:
            return OP_FIELD_INTS;
    }
}

int set_texts(struct node* node, const char* name, const FlexMap::Entry& entry)
{
    Vector<String> copies;
    for (const std::string_view text : entry.texts)
        copies.emplace_back(text);
    Vector<const char*> texts;
    for (const String& copy : copies)
        texts.push_back(copy.c_str());
    return set_node_texts(node, name, texts.data(), static_cast<int>(texts.size()));
}

// Numbers become those of the field's kind.
int set_field(struct node* node, const char* name, op_field_kind_t kind,
              const FlexMap::Entry& entry)
{
    const Vector<float> floats(entry.floats.begin(), entry.floats.end());
    switch (kind) {
        case OP_FIELD_INT:
            return set_node_int(node, name, entry.kind == Kind::kInt ? entry.ints[0] : 0);
        case OP_FIELD_FLOAT:
            return set_node_float(node, name,
                                  entry.kind == Kind::kFloat ? floats[0]
                                  : entry.kind == Kind::kInt ? static_cast<float>(entry.ints[0])
                                                             : 0);
        case OP_FIELD_STRING:
            return set_node_text(node, name, entry.texts[0].data(), entry.texts[0].size());
        case OP_FIELD_INTS:
            return set_node_ints(node, name, entry.ints.data(),
                                 static_cast<int>(entry.ints.size()));
        case OP_FIELD_FLOATS:
            return set_node_floats(node, name, floats.data(), static_cast<int>(floats.size()));
        default:
            return set_texts(node, name, entry);
    }
}

int set_bytes(struct node* node, const Bytes& bytes)
{
    struct op_tensor value = {};
    value.data_type = TENGINE_DT_UINT8;
    value.dim_num = 1;
    value.dims[0] = static_cast<int>(bytes.size);
    value.size = bytes.size;
    value.data = const_cast<uint8_t*>(bytes.data);
    TENGINE_RETURN_IF_ERROR(add_node_field(node, "custom_options", OP_FIELD_TENSOR));
    return set_node_tensor(node, "custom_options", &value);
}

// Whether an entry can be an attribute beside those that the node has.
bool is_attribute(const struct node* node, const FlexMap::Entry& entry)
{
    if (entry.kind == Kind::kOther || entry.name.empty()) return false;
    if (entry.kind == Kind::kInt && !is_int(entry.ints[0])) return false;
    for (const std::string_view text : entry.texts)
        if (text.find('\0') != std::string_view::npos) return false;
    return !find_op_field(node->op.method, String(entry.name).c_str(), 0);
}

int add_entries(Reading& reading, struct node* node, const FlexMap& map)
{
    for (size_t i = 0; i < map.size(); ++i) {
        const FlexMap::Entry entry = map.get(i);
        if (!is_attribute(node, entry)) continue;
        const String name(entry.name);
        const op_field_kind_t kind = field_kind(entry.kind);
        const size_t elements = entry.ints.size() + entry.floats.size() + entry.texts.size();
        uint64_t bytes = name.size() + sizeof(op_field_t) + sizeof(struct op_tensor);
        for (const std::string_view text : entry.texts)
            bytes += text.size();
        TENGINE_RETURN_IF_ERROR(reading.budget.charge(bytes + elements * sizeof(int64_t)));
        TENGINE_RETURN_IF_ERROR(add_node_field(node, name.c_str(), kind));
        TENGINE_RETURN_IF_ERROR(set_field(node, name.c_str(), kind, entry));
    }
    return TENGINE_OK;
}

bool is_number(const FlexMap::Entry& entry)
{
    return entry.kind == Kind::kInt || entry.kind == Kind::kFloat;
}

int set_named(struct node* node, const op_field_t& field, const FlexMap& map)
{
    for (size_t i = 0; i < map.size(); ++i) {
        const FlexMap::Entry entry = map.get(i);
        if (entry.name != field.name) continue;
        const bool fits = field.kind == OP_FIELD_INTS    ? entry.kind == Kind::kInts
                          : field.kind == OP_FIELD_FLOAT ? is_number(entry)
                                                         : entry.kind == Kind::kInt;
        if (fits)
            return set_field(node, field.name, static_cast<op_field_kind_t>(field.kind), entry);
        return fail_node(node, TENGINE_EFORMAT, "its option '%s' is not %s", field.name,
                         field.kind == OP_FIELD_INTS    ? "a list of integers"
                         : field.kind == OP_FIELD_FLOAT ? "a number"
                                                        : "an integer");
    }
    return TENGINE_OK;
}

int set_word(struct node* node, const op_field_t& field, const Bytes& bytes)
{
    int32_t word = 0;
    const size_t place = field.file_offset * sizeof word;
    if (place + sizeof word > bytes.size)
        return fail_node(node, TENGINE_EFORMAT, "its options have %zu bytes, no '%s'", bytes.size,
                         field.name);
    std::memcpy(&word, bytes.data + place, sizeof word);
    return set_node_int(node, field.name, word);
}

}  // namespace

int read_named_call(const Reading& reading, uint32_t index, const file::Operator& record,
                    NamedCall* out_call)
{
    const int code = find_code(reading, record);
    if (code == kCustomCall || code == kComposite)
        return read_call_options(reading, index, code, record, out_call);
    const file::OperatorCode& entry = *reading.model->codes()->Get(record.code());
    out_call->name = text_of(entry.custom_code());
    out_call->version = entry.version();
    Bytes bytes;
    if (!find_options(reading, record, &bytes))
        return fail_far_options(reading, String(out_call->name), record);
    out_call->options = bytes.data;
    out_call->option_size = bytes.size;
    return TENGINE_OK;
}

int describe_custom(Reading& reading, struct node* node, const NamedCall& call,
                    const file::Operator& record)
{
    const String name = String("tflite.") + String(call.name);
    TENGINE_RETURN_IF_ERROR(reading.budget.charge(name.size() + call.option_size));
    TENGINE_RETURN_IF_ERROR(set_node_text(node, "op_name", name.data(), name.size()));
    TENGINE_RETURN_IF_ERROR(set_node_int(node, "domain_version", call.version));
    TENGINE_RETURN_IF_ERROR(set_node_int(node, "max_input_num", count(record.inputs())));
    TENGINE_RETURN_IF_ERROR(set_node_int(node, "max_output_num", count(record.outputs())));
    TENGINE_RETURN_IF_ERROR(set_bytes(node, {call.options, call.option_size}));
    const FlexMap map(call.options, call.option_size);
    return map.is_map() ? add_entries(reading, node, map) : TENGINE_OK;
}

int read_custom_options(Reading& reading, struct node* node, const file::Operator& record)
{
    Bytes bytes;
    if (!find_options(reading, record, &bytes))
        return fail_far_options(reading, String(node->name), record);
    if (is_dispatch(node)) return read_byte_code(reading, node, record, bytes.data, bytes.size);
    const FlexMap map(bytes.data, bytes.size);
    const ir_method_t& method = *node->op.method;
    for (int i = 0; i < method.field_num; ++i) {
        const op_field_t& field = method.fields[i];
        if (field.file_kind == OP_FILE_WORD)
            TENGINE_RETURN_IF_ERROR(set_word(node, field, bytes));
        else if (map.is_map())
            TENGINE_RETURN_IF_ERROR(set_named(node, field, map));
    }
    return TENGINE_OK;
}

}  // namespace tengine::tflite
