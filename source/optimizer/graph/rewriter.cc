// SPDX-License-Identifier: Apache-2.0
#include "optimizer/graph/rewriter.h"

#include <cstring>

#include "base/containers.hpp"
#include "base/minimal.h"
#include "graph/graph.h"
#include "operator/infer.h"
#include "operator/onnx_type.h"
#include "operator/param.h"
#include "operator/registry.h"
#include "optimizer/pass.h"
#include "optimizer/pass/custom_node.h"

namespace tengine {
namespace {

// The least size of a late constant: a smaller copy costs less than making the values again for
// each reader, and passes and kernels read the values of smaller constants.
constexpr size_t kFewestLateBytes = 64 << 10;

}  // namespace

void Rewriter::begin()
{
    first_node_ = graph_.node_num;
    first_tensor_ = graph_.tensor_num;
}

void Rewriter::take_back()
{
    for (int i = first_node_; i < graph_.node_num; ++i)
        destroy_ir_node(&graph_, graph_.node_list[i]);
    graph_.node_num = first_node_;
    for (int i = first_tensor_; i < graph_.tensor_num; ++i)
        destroy_ir_tensor(&graph_, graph_.tensor_list[i]);
    graph_.tensor_num = first_tensor_;
}

tensor* Rewriter::add_tensor(const String& name, int data_type)
{
    tensor* made = create_ir_tensor(&graph_, name.c_str(), data_type);
    if (!made) fail(tengine_error_code());
    return made;
}

tensor* Rewriter::add_constant(const String& name, int data_type, const Vector<int>& dims,
                               const void* bytes)
{
    tensor* made = add_tensor(name, data_type);
    if (!made) return nullptr;
    int status = set_ir_tensor_shape(made, dims.data(), static_cast<int>(dims.size()));
    if (status >= 0) status = allocate_ir_tensor(made);
    fail(status);
    if (status < 0) return nullptr;
    made->tensor_type = TENSOR_TYPE_CONST;
    const size_t size = get_ir_tensor_bytes(made);
    if (size > 0) std::memcpy(made->data, bytes, size);
    return made;
}

tensor* Rewriter::add_list(const String& name, const Vector<int64_t>& values)
{
    return add_constant(name, TENGINE_DT_INT64, {static_cast<int>(values.size())}, values.data());
}

tensor* Rewriter::add_shared_constant(const String& name, int data_type, const Vector<int>& dims,
                                      const ir_pack_key_t& key, void (*fill)(void*, void*),
                                      void* argument)
{
    tensor* made = add_tensor(name, data_type);
    if (!made) return nullptr;
    int status = set_ir_tensor_shape(made, dims.data(), static_cast<int>(dims.size()));
    if (status >= 0) status = share_constant(graph_, *made, key, fill, argument);
    fail(status);
    return status < 0 ? nullptr : made;
}

const tensor* Rewriter::find_late_origin(const tensor& constant) const
{
    const bool may_be_late = !IS_MINIMAL && graph_.core->source && constant.dim_num >= 2 &&
                             get_ir_tensor_bytes(&constant) >= kFewestLateBytes &&
                             has_default_device_alone(graph_) && !has_custom_nodes(graph_);
    return may_be_late ? find_ir_origin(&graph_, &constant) : nullptr;
}

tensor* Rewriter::add_late_constant(const String& name, int data_type, const Vector<int>& dims,
                                    const ir_pack_key_t& key, const ir_late_values_t& values)
{
    tensor* made = add_tensor(name, data_type);
    if (!made) return nullptr;
    int status = set_ir_tensor_shape(made, dims.data(), static_cast<int>(dims.size()));
    if (status >= 0) status = make_ir_constant_late(&graph_, made, &key, &values);
    fail(status);
    return status < 0 ? nullptr : made;
}

void Rewriter::connect_inputs(node& made, const NodeDraft& draft)
{
    for (size_t i = 0; i < draft.inputs.size() && status_ == TENGINE_OK; ++i)
        if (draft.inputs[i])
            fail(set_ir_node_input_tensor(&made, static_cast<int>(i), draft.inputs[i]));
}

bool Rewriter::connect(node& made, const NodeDraft& draft)
{
    connect_inputs(made, draft);
    for (size_t i = 0; i < draft.outputs.size() && status_ == TENGINE_OK; ++i) {
        tensor* output = add_tensor(draft.outputs[i], TENGINE_DT_FP32);
        if (output) fail(set_ir_node_output_tensor(&made, static_cast<int>(i), output));
    }
    return status_ == TENGINE_OK;
}

void Rewriter::set_attributes(node& made, const NodeDraft& draft)
{
    if (draft.like) fail(copy_op_param(&made.op, &draft.like->op));
    for (const auto& [name, value] : draft.ints)
        fail(set_node_int(&made, name, value));
    for (const auto& [name, values] : draft.lists)
        fail(set_node_ints(&made, name, values.data(), static_cast<int>(values.size())));
    for (const auto& [name, value] : draft.texts)
        fail(set_node_text(&made, name, value, std::strlen(value)));
    for (const auto& [name, value] : draft.floats)
        fail(set_node_float(&made, name, value));
}

String Rewriter::name_operator(const NodeDraft& draft)
{
    return (*draft.domain ? String(draft.domain) + "." : String()) + draft.op;
}

// Null only on a failure.
node* Rewriter::create(const NodeDraft& draft)
{
    const char* name = draft.name.c_str();
    const String op = name_operator(draft);
    node* made = status_ < 0 ? nullptr : create_op_node(&graph_, name, op.c_str(), name);
    if (!made) {
        fail(tengine_error_code());
        return nullptr;
    }
    made->core->source_index = draft.source_index;
    set_attributes(*made, draft);
    return connect(*made, draft) && status_ == TENGINE_OK ? made : nullptr;
}

// Null when the operator refuses its inputs.
node* Rewriter::infer(node* made)
{
    const int checked = check_node(made);
    const int status = checked < 0 ? checked : infer_node(made);
    if (status == TENGINE_OK) return made;
    if (status == TENGINE_ENOMEM) fail(status);
    return nullptr;
}

node* Rewriter::add_node(const NodeDraft& draft)
{
    node* made = create(draft);
    return made ? infer(made) : nullptr;
}

node* Rewriter::add_device_node(const NodeDraft& draft)
{
    node* made = add_node(draft);
    return made && candidates_.takes(device_, *made) ? made : nullptr;
}

tensor* Rewriter::add_device_tensor(const NodeDraft& draft)
{
    node* made = add_device_node(draft);
    return made ? get_ir_node_output(made, 0) : nullptr;
}

void Rewriter::exchange(node& older, const NodeDraft& draft)
{
    if (status_ == TENGINE_OK) fail(change_node_method(&older, name_operator(draft).c_str()));
    if (status_ < 0) return;
    set_attributes(older, draft);
    keep_ir_node_inputs(&older, 0);
    connect_inputs(older, draft);
}

tensor* Rewriter::add_cast(tensor* value, int data_type, const String& name)
{
    const node* made = add_node(
        {"", "Cast", name, -1, {value}, {name}, nullptr, {{"to", get_onnx_type(data_type)}}});
    return made ? get_ir_node_output(made, 0) : nullptr;
}

}  // namespace tengine
