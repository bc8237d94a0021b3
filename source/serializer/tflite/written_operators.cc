// SPDX-License-Identifier: Apache-2.0
// Nodes as operators of the file: the inverse of operators.cc, with the same rows.
#include <algorithm>
#include <cstring>

#include "flatbuffers/flexbuffers.h"
#include "operator/infer.h"
#include "operator/operator.h"
#include "operator/param.h"
#include "operator/registry.h"
#include "serializer/tflite/byte_code.h"
#include "serializer/tflite/numbers.h"
#include "serializer/tflite/writing.h"

namespace tengine::tflite {
namespace {

constexpr std::string_view kPrefix = "tflite.";

// A program's custom operator, or one that the library does not know.
bool is_open(const struct node& node)
{
    const std::string_view name = get_ir_node_text(&node, "op_name", "");
    return (node.op.method->traits & OP_OPEN) && name.substr(0, kPrefix.size()) == kPrefix;
}

bool is_file_operator(const struct node& node)
{
    return std::strcmp(get_ir_node_domain(&node), "tflite") == 0 || is_open(node);
}

const void* member_of(const struct node& node, const op_field_t& field)
{
    return static_cast<const char*>(node.op.param_mem) + field.offset;
}

// Whether the model's file lacks an option that the operator needs.
bool is_absent(const struct node& node, const op_field_t& field)
{
    const bool has_range = field.minimum != 0 || field.maximum != 0;
    return field.kind == OP_FIELD_INT && has_range &&
           *static_cast<const int*>(member_of(node, field)) < field.minimum;
}

// Options of any operator: the fields are those of its row, and all of them are written, since the
// values of absent ones are not the same in all programs.
class OptionsWriter
{
  public:
    OptionsWriter(Builder& builder, const struct node& node) : builder_(builder), node_(node) {}

    Offset<file::Options> run()
    {
        const ir_method_t& method = *node_.op.method;
        Vector<Offset<void>> lists;
        for (int i = 0; i < method.field_num; ++i)
            lists.push_back(is_list(method.fields[i]) ? add_list(method.fields[i])
                                                      : Offset<void>());
        const auto start = builder_.StartTable();
        for (int i = 0; i < method.field_num; ++i)
            add(method.fields[i], lists[static_cast<size_t>(i)]);
        return Offset<file::Options>(builder_.EndTable(start));
    }

  private:
    static bool is_list(const op_field_t& field)
    {
        return field.file_kind == OP_FILE_OFFSET || field.file_kind == OP_FILE_LONGS ||
               field.file_kind == OP_FILE_FLAGS;
    }

    template <class Value>
    Offset<void> add_ints(const op_ints& list)
    {
        Vector<Value> values;
        for (int i = 0; i < list.num; ++i)
            values.push_back(static_cast<Value>(list.values[i]));
        return builder_.CreateVector(values).o;
    }

    Offset<void> add_list(const op_field_t& field)
    {
        if (field.kind == OP_FIELD_FLOATS) {
            const auto& list = *static_cast<const op_floats*>(member_of(node_, field));
            return builder_.CreateVector(Vector<float>(list.values, list.values + list.num)).o;
        }
        const auto& list = *static_cast<const op_ints*>(member_of(node_, field));
        if (field.file_kind == OP_FILE_LONGS) return add_ints<int64_t>(list);
        return field.file_kind == OP_FILE_FLAGS ? add_ints<uint8_t>(list) : add_ints<int32_t>(list);
    }

    void add(const op_field_t& field, Offset<void> list)
    {
        const auto place =
            static_cast<flatbuffers::voffset_t>((field.file_offset + 2) * sizeof(uint16_t));
        const void* member = member_of(node_, field);
        if (is_absent(node_, field)) return;
        switch (field.file_kind) {
            case OP_FILE_NOT:
                return;
            case OP_FILE_BYTE:
                return builder_.AddElement(place,
                                           static_cast<int8_t>(*static_cast<const int*>(member)));
            case OP_FILE_LONG:
                return builder_.AddElement(place, int64_t{*static_cast<const int*>(member)});
            case OP_FILE_OFFSET:
            case OP_FILE_LONGS:
            case OP_FILE_FLAGS:
                return builder_.AddOffset(place, list);
            default:
                if (field.kind == OP_FIELD_FLOAT)
                    return builder_.AddElement(place, *static_cast<const float*>(member));
                return builder_.AddElement(place, *static_cast<const int*>(member));
        }
    }

    Builder& builder_;
    const struct node& node_;
};

// ---- custom operators ----

void add_list(const op_ints& list, const char* name, flexbuffers::Builder* map)
{
    if (list.num == 0) return;
    map->TypedVector(name, [&] {
        for (int i = 0; i < list.num; ++i)
            map->Int(list.values[i]);
    });
}

// The library's own, whose options are words or a map.
Vector<uint8_t> encode_options(const struct node& node)
{
    const ir_method_t& method = *node.op.method;
    Vector<uint8_t> words;
    flexbuffers::Builder map;
    const size_t start = map.StartMap();
    for (int i = 0; i < method.field_num; ++i) {
        const op_field_t& field = method.fields[i];
        const void* member = member_of(node, field);
        if (is_absent(node, field)) continue;
        if (field.file_kind == OP_FILE_WORD) {
            const size_t place = field.file_offset * sizeof(int32_t);
            words.resize(std::max(words.size(), place + sizeof(int32_t)));
            std::memcpy(&words[place], member, sizeof(int32_t));
        } else if (field.kind == OP_FIELD_FLOAT) {
            map.Float(field.name, *static_cast<const float*>(member));
        } else if (field.kind == OP_FIELD_INTS) {
            add_list(*static_cast<const op_ints*>(member), field.name, &map);
        } else {
            map.Int(field.name, *static_cast<const int*>(member));
        }
    }
    if (!words.empty()) return words;
    map.EndMap(start);
    map.Finish();
    return {map.GetBuffer().begin(), map.GetBuffer().end()};
}

Vector<uint8_t> find_bytes(const struct node& node)
{
    const op_field_t* field = find_op_field(node.op.method, "custom_options", 0);
    if (!field) return {};
    const auto& value = *static_cast<const op_tensor*>(member_of(node, *field));
    const auto* bytes = static_cast<const uint8_t*>(value.data);
    return {bytes, bytes + value.size};
}

// The record of the file that the node was read from, if it is of the same operator.
const file::Operator* find_record(const Origin& origin, const struct node& node,
                                  const file::OperatorCode** out_code)
{
    const struct tensor* result = get_ir_node_output(&node, 0);
    const file::Operator* record = result ? origin.find_writer(*result) : nullptr;
    if (!record || record->code() >= count(origin.model()->codes())) return nullptr;
    const file::OperatorCode* code = origin.model()->codes()->Get(record->code());
    const int number = std::max<int>(code->old_code(), code->code());
    const bool is_same =
        number == node.op.method->tflite_code &&
        (number != kCustomCode || text_of(code->custom_code()) == get_ir_node_op(&node));
    if (!is_same) return nullptr;
    *out_code = code;
    return record;
}

Vector<uint8_t> find_custom_options(Writing& writing, const struct node& node,
                                    const file::Operator* record)
{
    if (is_open(node)) return find_bytes(node);
    if (is_dispatch(&node)) return writing.byte_codes.add(node);
    const Origin& origin = *writing.origin;
    if (!record || !origin.has_options_of(node, *record)) return encode_options(node);
    const auto* options = record->custom_options();
    return {options->begin(), options->end()};
}

String describe_op(const struct node& node)
{
    const char* open = get_ir_node_text(&node, "op_name", nullptr);
    if (open) return open;
    const char* domain = get_ir_node_domain(&node);
    return (*domain ? String(domain) + "." : String()) + get_ir_node_op(&node);
}

// Whether the file that the node is of has a subgraph for it, which the node has as a number.
bool has_body(const struct node& node)
{
    const ir_method_t& method = *node.op.method;
    return std::any_of(method.fields, method.fields + method.field_num,
                       [](const op_field_t& field) { return field.file_kind == OP_FILE_BODY; });
}

// The call of the file that an open node was read from: STABLEHLO_CUSTOM_CALL; null: none, it is a
// custom operator.
const file::Operator* find_call(const Origin& origin, const struct node& node)
{
    const struct tensor* result = get_ir_node_output(&node, 0);
    const file::Operator* record = is_open(node) && result ? origin.find_writer(*result) : nullptr;
    if (!record || record->code() >= count(origin.model()->codes())) return nullptr;
    std::string_view name;
    const bool is_call = origin.model()->codes()->Get(record->code())->code() == kCustomCall &&
                         origin.options_of(*record).read_text(0, &name) &&
                         kPrefix.size() + name.size() == describe_op(node).size() &&
                         describe_op(node).compare(kPrefix.size(), name.size(), name) == 0;
    return is_call ? record : nullptr;
}

// A name, a flag, a configuration and a version, which are those of the file, and options.
Offset<file::Options> write_call_options(Builder& builder, const OptionFields& known,
                                         const struct node& node)
{
    const String op = describe_op(node);
    std::string_view configuration;
    int8_t has_effects = 0;
    int32_t version = 0;
    if (!known.read_number(1, int8_t{0}, &has_effects) || !known.read_text(2, &configuration) ||
        !known.read_number(3, 0, &version))
        configuration = {};
    const auto name = builder.CreateString(op.data() + kPrefix.size(), op.size() - kPrefix.size());
    const auto text = builder.CreateString(configuration.data(), configuration.size());
    const auto bytes = builder.CreateVector(find_bytes(node));
    const auto start = builder.StartTable();
    builder.AddOffset(flatbuffers::FieldIndexToOffset(0), name);
    builder.AddElement(flatbuffers::FieldIndexToOffset(1), has_effects);
    builder.AddOffset(flatbuffers::FieldIndexToOffset(2), text);
    builder.AddElement(flatbuffers::FieldIndexToOffset(3), version);
    builder.AddOffset(flatbuffers::FieldIndexToOffset(5), bytes);
    return Offset<file::Options>(builder.EndTable(start));
}

// Absent inputs at the end are written where the file had them, and for the bias of operators with
// weights, which old programs expect.
uint32_t count_inputs(const struct node& node, const file::Operator* record)
{
    const ir_method_t& method = *node.op.method;
    const bool may_have_bias = method.min_input == 2 && method.max_input == 3;
    return record ? count(record->inputs()) : may_have_bias ? 3 : 0;
}

struct Code
{
    int number;
    std::string_view name;  // of a custom operator
    int version;
};

Code choose_code(const struct node& node, const file::OperatorCode* known)
{
    if (is_open(node)) {
        const std::string_view name = get_ir_node_text(&node, "op_name", "");
        return {kCustomCode, name.substr(kPrefix.size()),
                static_cast<int>(get_ir_node_int(&node, "domain_version", 1))};
    }
    const int number = node.op.method->tflite_code;
    return {number,
            number == kCustomCode ? std::string_view(get_ir_node_op(&node)) : std::string_view(),
            known ? known->version() : find_version(node, number)};
}

}  // namespace

int write_operator(Writing& writing, const struct node& node, const Vector<int32_t>& inputs,
                   const Vector<int32_t>& outputs, const Vector<int32_t>& intermediates,
                   Offset<file::Operator>* out_record)
{
    if (!is_file_operator(node))
        return fail_node(&node, TENGINE_EOPERATOR, "operator %s has no form in TensorFlow Lite",
                         describe_op(node).c_str());
    if (has_body(node))
        return fail_node(&node, TENGINE_ENOTSUP, "the body of %s cannot be written",
                         describe_op(node).c_str());
    Builder& builder = writing.builder;
    const file::OperatorCode* known = nullptr;
    const file::Operator* record = find_record(*writing.origin, node, &known);
    const file::Operator* call = find_call(*writing.origin, node);
    const Code code = call ? Code{kCustomCall, {}, 1} : choose_code(node, known);
    const OptionsType type = find_options_type(code.number);
    Offset<file::Options> options;
    List<uint8_t> custom;
    if (code.number == kCustomCode)
        custom = builder.CreateVector(find_custom_options(writing, node, record));
    else if (call)
        options = write_call_options(builder, writing.origin->options_of(*call), node);
    else if (type.number != 0)
        options = OptionsWriter(builder, node).run();
    List<uint8_t> mutated;
    if (record && record->mutated_inputs())
        mutated = builder.CreateVector(record->mutated_inputs()->data(),
                                       record->mutated_inputs()->size());
    Vector<int32_t> given = inputs;
    given.resize(std::max<size_t>(inputs.size(), count_inputs(node, record)), kAbsentTensor);
    const List<int32_t> in = builder.CreateVector(given);
    const List<int32_t> out = builder.CreateVector(outputs);
    const List<int32_t> inside = intermediates.empty() ? 0 : builder.CreateVector(intermediates);
    const uint32_t index = writing.add_code(code.number, code.name, code.version);
    const Offset<file::Options> none;
    const uint8_t first = type.is_later ? 0 : type.number;
    const uint8_t later = type.is_later ? type.number : 0;
    *out_record =
        file::CreateOperator(builder, index, in, out, first, type.is_later ? none : options, custom,
                             0, mutated, inside, 0, 0, later, type.is_later ? options : none);
    return TENGINE_OK;
}

}  // namespace tengine::tflite
