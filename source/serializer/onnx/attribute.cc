// SPDX-License-Identifier: Apache-2.0
// One row per attribute type; types without a function are not supported, and errors name them.
#include "serializer/onnx/attribute.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <unordered_set>
#include <vector>

#include "operator/added_field.h"
#include "operator/param.h"
#include "serializer/onnx/message.h"
#include "serializer/onnx/tensor.h"
#include "serializer/onnx/value_info.h"

namespace tengine {
namespace {

using ::onnx::AttributeProto;

struct Target
{
    struct node* node;
    ExternalData* external;
    std::string owner;  // "Conv 'conv1': attribute 'group'"
};

int set_float(const Target& target, const AttributeProto& attribute)
{
    return set_node_float(target.node, attribute.name().c_str(), attribute.f());
}

int set_int(const Target& target, const AttributeProto& attribute)
{
    return set_node_int(target.node, attribute.name().c_str(), attribute.i());
}

int set_text(const Target& target, const AttributeProto& attribute)
{
    return set_node_text(target.node, attribute.name().c_str(), attribute.s().data(),
                         attribute.s().size());
}

int set_floats(const Target& target, const AttributeProto& attribute)
{
    return set_node_floats(target.node, attribute.name().c_str(), attribute.floats().data(),
                           attribute.floats_size());
}

int set_ints(const Target& target, const AttributeProto& attribute)
{
    static_assert(sizeof(*attribute.ints().data()) == sizeof(int64_t));
    return set_node_ints(target.node, attribute.name().c_str(),
                         reinterpret_cast<const int64_t*>(attribute.ints().data()),
                         attribute.ints_size());
}

int set_texts(const Target& target, const AttributeProto& attribute)
{
    std::vector<const char*> texts;
    for (const std::string& text : attribute.strings())
        texts.push_back(text.c_str());
    return set_node_texts(target.node, attribute.name().c_str(), texts.data(),
                          static_cast<int>(texts.size()));
}

int set_tensor(const Target& target, const AttributeProto& attribute)
{
    TensorReader reader(attribute.t(), attribute.t().raw_data(), target.owner, target.external);
    TENGINE_RETURN_IF_ERROR(reader.describe());
    std::vector<char> values(reader.bytes());
    TENGINE_RETURN_IF_ERROR(reader.read(*target.node->graph, values.data()));
    struct op_tensor tensor = {};
    tensor.data_type = reader.data_type();
    tensor.dim_num = reader.dim_num();
    std::copy_n(reader.dims(), reader.dim_num(), tensor.dims);
    tensor.size = values.size();
    tensor.data = values.data();
    return set_node_tensor(target.node, attribute.name().c_str(), &tensor);
}

int set_type(const Target& target, const AttributeProto& attribute)
{
    int data_type;
    TENGINE_RETURN_IF_ERROR(read_value_type(attribute.tp(), target.owner, &data_type));
    return set_node_int(target.node, attribute.name().c_str(), data_type);
}

struct AttributeKind
{
    AttributeProto::AttributeType type;
    const char* what;
    op_field_kind_t field_kind;
    int (*set)(const Target& target, const AttributeProto& attribute);
    bool (*is_present)(const AttributeProto& attribute);
};

#define TENGINE_ONE(field) [](const AttributeProto& a) { return a.has_##field(); }
#define TENGINE_LIST(field) [](const AttributeProto& a) { return a.field##_size() > 0; }

const AttributeKind kKinds[] = {
    {AttributeProto::FLOAT, "a float", OP_FIELD_FLOAT, set_float, TENGINE_ONE(f)},
    {AttributeProto::INT, "an integer", OP_FIELD_INT, set_int, TENGINE_ONE(i)},
    {AttributeProto::STRING, "a string", OP_FIELD_STRING, set_text, TENGINE_ONE(s)},
    {AttributeProto::TENSOR, "a tensor", OP_FIELD_TENSOR, set_tensor, TENGINE_ONE(t)},
    {AttributeProto::FLOATS, "floats", OP_FIELD_FLOATS, set_floats, TENGINE_LIST(floats)},
    {AttributeProto::INTS, "integers", OP_FIELD_INTS, set_ints, TENGINE_LIST(ints)},
    {AttributeProto::STRINGS, "strings", OP_FIELD_STRINGS, set_texts, TENGINE_LIST(strings)},
    {AttributeProto::GRAPH, "a graph (control flow)", {}, nullptr, TENGINE_ONE(g)},
    {AttributeProto::GRAPHS, "graphs (control flow)", {}, nullptr, TENGINE_LIST(graphs)},
    {AttributeProto::TENSORS, "a list of tensors", {}, nullptr, TENGINE_LIST(tensors)},
    {AttributeProto::SPARSE_TENSOR, "a sparse tensor", {}, nullptr, TENGINE_ONE(sparse_tensor)},
    {AttributeProto::SPARSE_TENSORS, "sparse tensors", {}, nullptr, TENGINE_LIST(sparse_tensors)},
    {AttributeProto::TYPE_PROTO, "a type", OP_FIELD_INT, set_type, TENGINE_ONE(tp)},
    {AttributeProto::TYPE_PROTOS, "types", {}, nullptr, TENGINE_LIST(type_protos)},
};

#undef TENGINE_ONE
#undef TENGINE_LIST

// Files of the first IR version have no type field: the field that has a value determines the type.
const AttributeKind* find_kind(const AttributeProto& attribute)
{
    const bool typed = attribute.type() != AttributeProto::UNDEFINED;
    const auto* kind = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const auto& row) {
        return typed ? row.type == attribute.type() : row.is_present(attribute);
    });
    return kind == std::end(kKinds) ? nullptr : kind;
}

// Adds a field for an attribute of an unknown operator.
int make_room(const Target& target, const AttributeProto& attribute, op_field_kind_t kind)
{
    const method& method = *target.node->op.method;
    const char* name = attribute.name().c_str();
    const bool is_open = (method.traits & OP_OPEN) != 0;
    return is_open && !find_op_field(&method, name, 0) ? add_node_field(target.node, name, kind)
                                                       : TENGINE_OK;
}

int set_attribute(const Target& target, const AttributeProto& attribute)
{
    if (attribute.has_ref_attr_name())
        return tengine_error_set(
            TENGINE_EFORMAT, "%s refers to attribute %s of a function, but is not in one",
            target.owner.c_str(), quote_name(attribute.ref_attr_name()).c_str());
    const AttributeKind* kind = find_kind(attribute);
    if (kind && kind->type == AttributeProto::GRAPH && target.node->op.method->bodies)
        return TENGINE_OK;  // becomes a body
    if (!kind)
        return tengine_error_set(TENGINE_EFORMAT, "%s has neither a type nor a value",
                                 target.owner.c_str());
    if (!kind->set)
        return tengine_error_set(TENGINE_ENOTSUP, "%s is %s, which is not supported",
                                 target.owner.c_str(), kind->what);
    const bool is_open = (target.node->op.method->traits & OP_OPEN) != 0;
    if (kind->type == AttributeProto::TYPE_PROTO && is_open)
        return tengine_error_set(TENGINE_ENOTSUP, "%s is a type, which is not supported",
                                 target.owner.c_str());
    TENGINE_RETURN_IF_ERROR(make_room(target, attribute, kind->field_kind));
    return kind->set(target, attribute);
}

}  // namespace

int set_attributes(struct node* node, const ::onnx::NodeProto& proto, ExternalData* external)
{
    Target target = {node, external, ""};
    std::unordered_set<std::string_view> seen;
    for (const AttributeProto& attribute : proto.attribute()) {
        target.owner = node_label(get_ir_node_op(node), node->name) + ": attribute " +
                       quote_name(attribute.name());
        if (!seen.insert(attribute.name()).second)
            return tengine_error_set(TENGINE_EFORMAT, "%s is given twice", target.owner.c_str());
        TENGINE_RETURN_IF_ERROR(set_attribute(target, attribute));
    }
    return TENGINE_OK;
}

}  // namespace tengine
