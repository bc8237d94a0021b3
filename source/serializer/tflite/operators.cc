// SPDX-License-Identifier: Apache-2.0
// Operators: their codes, options, inputs and outputs.
#include <algorithm>
#include <cstring>

#include "base/maps.hpp"
#include "graph/core.h"
#include "operator/custom/op.h"
#include "operator/infer.h"
#include "operator/param.h"
#include "operator/registry.h"
#include "operator/selection.h"
#include "serializer/tflite/control.h"
#include "serializer/tflite/custom.h"
#include "serializer/tflite/numbers.h"
#include "serializer/tflite/states.h"

namespace tengine::tflite {
namespace {

constexpr const char* kDomain = "tflite";
constexpr const char* kFlex = "Flex";

// Whether the operator has no meaning without the input.
bool needs_input(const struct node* node, uint32_t place)
{
    const ir_method_t& method = *node->op.method;
    return method.max_input < 0 || place < static_cast<uint32_t>(method.min_input);
}

// Options of any operator: the fields are those of its row.
class OptionsReader
{
  public:
    OptionsReader(Reading& reading, struct node* node, const file::Options* options)
        : reading_(reading),
          node_(node),
          table_(reinterpret_cast<const flatbuffers::Table*>(options)),
          verifier_(reinterpret_cast<const uint8_t*>(reading.image->bytes()), reading.image->size())
    {
    }

    int run()
    {
        const ir_method_t& method = *node_->op.method;
        for (int i = 0; table_ && i < method.field_num; ++i)
            TENGINE_RETURN_IF_ERROR(read(method.fields[i]));
        return TENGINE_OK;
    }

  private:
    int read(const op_field_t& field)
    {
        const auto place =
            static_cast<flatbuffers::voffset_t>((field.file_offset + 2) * sizeof(uint16_t));
        switch (field.file_kind) {
            case OP_FILE_BYTE:
                return read_number<int8_t>(field, place);
            case OP_FILE_OFFSET:
                return field.kind == OP_FIELD_FLOATS ? read_floats(field, place)
                                                     : read_ints<int32_t>(field, place);
            case OP_FILE_LONG:
                return read_number<int64_t>(field, place);
            case OP_FILE_LONGS:
                return read_ints<int64_t>(field, place);
            case OP_FILE_FLAGS:
                return read_ints<uint8_t>(field, place);
            case OP_FILE_BODY:
                return read_body(field, place);
            default:
                return field.kind == OP_FIELD_FLOAT ? read_number<float>(field, place)
                                                    : read_number<int32_t>(field, place);
        }
    }

    template <class Value>
    int read_number(const op_field_t& field, flatbuffers::voffset_t place)
    {
        if (!table_->VerifyField<Value>(verifier_, place, sizeof(Value))) return fail(field);
        if (!table_->CheckField(place)) return TENGINE_OK;
        const Value value = table_->GetField<Value>(place, 0);
        if (field.kind == OP_FIELD_FLOAT)
            return set_node_float(node_, field.name, static_cast<float>(value));
        return set_node_int(node_, field.name, static_cast<int64_t>(value));
    }

    // *out_list is NULL where the file has none.
    template <class Value>
    int find_list(const op_field_t& field, flatbuffers::voffset_t place,
                  const flatbuffers::Vector<Value>** out_list)
    {
        *out_list = nullptr;
        if (!table_->VerifyOffset(verifier_, place)) return fail(field);
        *out_list = table_->GetPointer<const flatbuffers::Vector<Value>*>(place);
        if (*out_list && !verifier_.VerifyVector(*out_list)) return fail(field);
        return reading_.budget.charge(uint64_t{count(*out_list)} * sizeof(int64_t));
    }

    int read_body(const op_field_t& field, flatbuffers::voffset_t place)
    {
        if (!table_->VerifyField<int32_t>(verifier_, place, sizeof(int32_t))) return fail(field);
        int body = 0;
        TENGINE_RETURN_IF_ERROR(
            find_body(reading_, node_, table_->GetField<int32_t>(place, 0), &body));
        return set_node_int(node_, field.name, body);
    }

    template <class Value>
    int read_ints(const op_field_t& field, flatbuffers::voffset_t place)
    {
        const flatbuffers::Vector<Value>* list = nullptr;
        TENGINE_RETURN_IF_ERROR(find_list(field, place, &list));
        if (!list) return TENGINE_OK;
        // The file may have them at any address.
        Vector<Value> copies(count(list));
        if (!copies.empty())
            std::memcpy(copies.data(), list->Data(), copies.size() * sizeof(Value));
        const Vector<int64_t> values(copies.begin(), copies.end());
        return set_node_ints(node_, field.name, values.data(), static_cast<int>(values.size()));
    }

    int read_floats(const op_field_t& field, flatbuffers::voffset_t place)
    {
        const flatbuffers::Vector<float>* list = nullptr;
        TENGINE_RETURN_IF_ERROR(find_list(field, place, &list));
        if (!list) return TENGINE_OK;
        const Vector<float> values(list->begin(), list->end());
        return set_node_floats(node_, field.name, values.data(), static_cast<int>(values.size()));
    }

    int fail(const op_field_t& field) const
    {
        return fail_node(node_, TENGINE_EFORMAT, "its option '%s' is not inside the file",
                         field.name);
    }

    Reading& reading_;
    struct node* node_;
    const flatbuffers::Table* table_;
    flatbuffers::Verifier verifier_;
};

class OperatorReader
{
  public:
    explicit OperatorReader(Reading& reading) : reading_(reading) {}

    int run();

  private:
    void list_types();
    int find_type(uint32_t index, const file::Operator& record, int* out_type) const;
    bool is_programs(const NamedCall& call) const;
    int find_named_type(uint32_t index, const NamedCall& call, int code, int* out_type) const;
    int add_operator(uint32_t index, const file::Operator& record);
    int add_node(uint32_t index, const file::Operator& record, int type, const NamedCall& call);
    int read_options(struct node* node, const file::Operator& record, const NamedCall& call);
    int require_tensor(const struct node* node, const char* what, uint32_t place, int32_t index,
                       struct tensor** out_tensor) const;
    int connect(struct node* node, const file::Operator& record);
    int connect_output(struct node* node, uint32_t place, int32_t index);

    Reading& reading_;
    Map<int, int> types_;                      // by code
    Map<std::string_view, int> custom_types_;  // by name
};

int OperatorReader::run()
{
    list_types();
    const auto* operators = reading_.subgraph->operators();
    for (uint32_t i = 0; i < count(operators); ++i)
        TENGINE_RETURN_IF_ERROR(add_operator(i, *operators->Get(i)));
    return TENGINE_OK;
}

void OperatorReader::list_types()
{
    for (int i = 0; i < get_op_count(); ++i) {
        const ir_method_t* method = find_op_via_index(i);
        if (!method->domain || std::string_view(method->domain) != kDomain) continue;
        const int type = get_op_type(method->domain, method->name);
        if (method->tflite_code == kCustom)
            custom_types_[method->name] = type;
        else
            types_[method->tflite_code] = type;
    }
}

bool OperatorReader::is_programs(const NamedCall& call) const
{
    const struct context* context = reading_.graph->attribute->context;
    return has_custom_op(context, kDomain, String(call.name).c_str(), call.version);
}

// A program's operator takes the place of the library's.
int OperatorReader::find_named_type(uint32_t index, const NamedCall& call, int code,
                                    int* out_type) const
{
    const std::string_view name = call.name;
    const auto known = custom_types_.find(name);
    const bool is_known = code == kCustom && known != custom_types_.end();
    if (is_known && !is_programs(call)) {
        *out_type = known->second;
        return TENGINE_OK;
    }
    if (name.empty() || name.find('\0') != std::string_view::npos)
        return tengine_error_set(TENGINE_EFORMAT, "operator %u is a custom one without a name",
                                 index);
    if (name.substr(0, std::strlen(kFlex)) == kFlex && !is_programs(call))
        return tengine_error_set(TENGINE_EOPERATOR,
                                 "operator %u is %s, version %d, which needs TensorFlow's kernels "
                                 "(SELECT_TF_OPS): convert the model with TFLITE_BUILTINS alone",
                                 index, quote(name).c_str(), call.version);
    *out_type = get_op_type("tengine", "Generic");
    if (*out_type >= 0) return TENGINE_OK;
    return tengine_error_set(
        TENGINE_EOPERATOR,
        "operator %u is the custom operator %s, version %d, and this build has "
        "no operator Generic",
        index, quote(name).c_str(), call.version);
}

int OperatorReader::find_type(uint32_t index, const file::Operator& record, int* out_type) const
{
    const uint32_t codes = count(reading_.model->codes());
    if (record.code() >= codes)
        return tengine_error_set(TENGINE_EFORMAT, "operator %u has code %u, the model has %u",
                                 index, record.code(), codes);
    const file::OperatorCode* entry = reading_.model->codes()->Get(record.code());
    const int code = find_code(reading_, record);
    const auto known = types_.find(code);
    if (known != types_.end()) {
        *out_type = known->second;
        return TENGINE_OK;
    }
    return tengine_error_set(TENGINE_EOPERATOR,
                             "operator %u is %s (code %d), version %d, which is not supported",
                             index, find_code_name(code), code, entry->version());
}

int OperatorReader::read_options(struct node* node, const file::Operator& record,
                                 const NamedCall& call)
{
    if (node->op.method->traits & OP_OPEN) return describe_custom(reading_, node, call, record);
    if (find_code(reading_, record) == kCustom) return read_custom_options(reading_, node, record);
    const file::Options* options = record.options() ? record.options() : record.options_2();
    return OptionsReader(reading_, node, options).run();
}

int OperatorReader::add_operator(uint32_t index, const file::Operator& record)
{
    const int code = find_code(reading_, record);
    NamedCall call;
    int type = -1;
    if (handles_resources(code)) return add_resource_operator(reading_, index, code, record);
    if (count(record.outputs()) == 0)
        return tengine_error_set(TENGINE_EGRAPH, "operator %u has no outputs", index);
    const bool is_composite = code == kComposite;
    if (calls_subgraphs(code) && !is_composite) return add_call(reading_, index, code, record);
    if (code != kCustom && code != kCustomCall && !is_composite) {
        TENGINE_RETURN_IF_ERROR(find_type(index, record, &type));
        return add_node(index, record, type, call);
    }
    TENGINE_RETURN_IF_ERROR(read_named_call(reading_, index, record, &call));
    // A composite that no program has a kernel for is the operators of its decomposition.
    const bool has_operators = call.subgraph >= 0 || call.name.empty();
    if (is_composite && has_operators && !is_programs(call))
        return add_call(reading_, index, code, record);
    TENGINE_RETURN_IF_ERROR(find_named_type(index, call, code, &type));
    return add_node(index, record, type, call);
}

int OperatorReader::add_node(uint32_t index, const file::Operator& record, int type,
                             const NamedCall& call)
{
    const struct tensor* first = find_tensor(reading_, record.outputs()->Get(0));
    const String name = first ? String(first->name) : print_text("operator_%u", index);
    TENGINE_RETURN_IF_ERROR(reading_.budget.charge(name.size() + sizeof(struct node)));
    struct node* node = create_ir_node(reading_.graph, name.c_str(), type, 0);
    if (!node) return last_error();
    TENGINE_RETURN_IF_ERROR(reading_.budget.charge(node->op.param_size));
    TENGINE_RETURN_IF_ERROR(read_options(node, record, call));
    return connect(node, record);
}

int OperatorReader::require_tensor(const struct node* node, const char* what, uint32_t place,
                                   int32_t index, struct tensor** out_tensor) const
{
    *out_tensor = find_tensor(reading_, index);
    if (*out_tensor) return TENGINE_OK;
    return fail_node(node, TENGINE_EFORMAT, "%s %u is tensor %d, expected one of %zu", what, place,
                     index, reading_.tensors.size());
}

int OperatorReader::connect(struct node* node, const file::Operator& record)
{
    const uint32_t inputs = count(record.inputs()), outputs = count(record.outputs());
    // The memory of an index in the node and one in the list of the tensor's readers, which
    // doubles.
    TENGINE_RETURN_IF_ERROR(
        reading_.budget.charge((uint64_t{inputs} * 3 + outputs) * sizeof(int32_t)));
    // The last ones are set first, so that the node's lists grow once.
    for (uint32_t i = inputs; i-- > 0;) {
        const int32_t index = record.inputs()->Get(i);
        if (index == kAbsentTensor && !needs_input(node, i)) continue;
        struct tensor* tensor = nullptr;
        TENGINE_RETURN_IF_ERROR(require_tensor(node, "input", i, index, &tensor));
        if (tensor->tensor_type == TENSOR_TYPE_VAR &&
            !reading_.is_written[static_cast<size_t>(index)])
            return fail_node(node, TENGINE_EGRAPH,
                             "input %u, tensor '%s', has no values and no operator writes it", i,
                             tensor->name);
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(node, static_cast<int>(i), tensor));
    }
    TENGINE_RETURN_IF_ERROR(settle_bias(reading_, node, find_code(reading_, record)));
    for (uint32_t i = outputs; i-- > 0;)
        TENGINE_RETURN_IF_ERROR(connect_output(node, i, record.outputs()->Get(i)));
    TENGINE_RETURN_IF_ERROR(add_next_values(reading_, node, record));
    TENGINE_RETURN_IF_ERROR(add_hidden_states(reading_, node, record));
    return check_node_counts(node);
}

int OperatorReader::connect_output(struct node* node, uint32_t place, int32_t index)
{
    struct tensor* tensor = nullptr;
    TENGINE_RETURN_IF_ERROR(require_tensor(node, "output", place, index, &tensor));
    if (tensor->producer >= 0 || tensor->tensor_type != TENSOR_TYPE_VAR)
        return fail_node(node, TENGINE_EGRAPH,
                         "output %u, tensor '%s', is an input, a constant or written before", place,
                         tensor->name);
    return set_ir_node_output_tensor(node, static_cast<int>(place), tensor);
}

}  // namespace

// Old files have the first field alone, new ones both.
int find_code(const Reading& reading, const file::Operator& record)
{
    if (record.code() >= count(reading.model->codes())) return -1;
    const file::OperatorCode* entry = reading.model->codes()->Get(record.code());
    return std::max<int>(entry->old_code(), entry->code());
}

int add_operators(Reading& reading)
{
    return OperatorReader(reading).run();
}

}  // namespace tengine::tflite
