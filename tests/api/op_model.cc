// SPDX-License-Identifier: Apache-2.0
#include "op_model.h"

#include <algorithm>
#include <new>

#include "onnx_bytes.h"

namespace tengine {
namespace {

std::string make_value(const char* name, const std::vector<int>& dims)
{
    Message shape, tensor, type, info;
    for (const int dim : dims)
        shape.bytes(1, Message().number(1, static_cast<uint64_t>(dim)).text());
    tensor.number(1, 1);
    if (!dims.empty()) tensor.bytes(2, shape.text());
    type.bytes(1, tensor.text());
    info.bytes(1, name).bytes(2, type.text());
    return info.text();
}

// Floats are fields of four bytes, with the wire type 5.
std::string make_float(int field, float value)
{
    std::string text(1, static_cast<char>(field << 3 | 5));
    return text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void add_attributes(Message* node)
{
    const auto begin = [](const char* name) { return Message().bytes(1, name); };
    node->bytes(5, begin("offset").number(20, 1).text() + make_float(2, 0.5f));
    node->bytes(5, begin("level").number(3, 7).number(20, 2).text());
    node->bytes(5, begin("zero").number(3, 0).number(20, 2).text());
    node->bytes(5, begin("mode").bytes(4, "soft").number(20, 3).text());
    node->bytes(5, begin("steps").number(8, 4).number(8, 9).number(20, 7).text());
    node->bytes(5,
                begin("weights").number(20, 6).text() + make_float(7, 1.5f) + make_float(7, 2.5f));
    node->bytes(5, begin("words").bytes(9, "one").bytes(9, "two").number(20, 8).text());
}

ShiftOp& self(void* user_data)
{
    return *static_cast<ShiftOp*>(user_data);
}

int init_shift(void* user_data, tengine_op_context_t* context, void** out_state)
{
    const int status = self(user_data).note("init", context);
    if (status != 0) return status;
    auto* offset = new (std::nothrow) float(tengine_op_float(context, "offset", 0.5f));
    if (!offset) return tengine_op_report(context, TENGINE_ENOMEM, "out of memory for the state");
    *out_state = offset;
    ++self(user_data).states;
    return 0;
}

void free_shift(void* user_data, void* state)
{
    self(user_data).calls.push_back("free");
    --self(user_data).states;
    delete static_cast<float*>(state);
}

int prepare_shift(void* user_data, tengine_op_context_t* context)
{
    ShiftOp& shift = self(user_data);
    const int status = shift.note("prepare", context);
    if (status != 0) return status;
    if (shift.prepare) return shift.prepare(user_data, context);
    TENGINE_OP_ENSURE_EQ(context, tengine_op_input_number(context), 1);
    TENGINE_OP_ENSURE_TYPE(context, tengine_op_input(context, 0), TENGINE_DT_FP32);
    return tengine_op_set_output_like(context, 0, tengine_op_input(context, 0));
}

int invoke_shift(void* user_data, tengine_op_context_t* context)
{
    ShiftOp& op = self(user_data);
    const int status = op.note("invoke", context);
    if (status != 0) return status;
    return op.invoke ? op.invoke(user_data, context) : shift(context);
}

}  // namespace

std::string make_op_model(const OpModel& model)
{
    Message node, relu, graph, onnx, own, bytes;
    node.bytes(1, "x").bytes(2, "y").bytes(3, "shift").bytes(4, model.op);
    if (model.has_attributes) add_attributes(&node);
    node.bytes(7, model.domain);
    relu.bytes(1, "y").bytes(2, "z").bytes(3, "relu").bytes(4, "Relu");
    graph.bytes(1, node.text()).bytes(1, relu.text()).bytes(2, "op graph");
    graph.bytes(11, make_value("x", model.dims)).bytes(12, make_value("z", {}));
    onnx.bytes(1, "").number(2, 13);
    own.bytes(1, model.domain).number(2, static_cast<uint64_t>(model.version));
    bytes.number(1, 8).bytes(7, graph.text()).bytes(8, onnx.text());
    if (!model.domain.empty()) bytes.bytes(8, own.text());
    return bytes.text();
}

graph_t load_op_model(const OpModel& model, context_t context)
{
    const std::string bytes = make_op_model(model);
    return create_graph(context, "onnx:m", bytes.data(), static_cast<int>(bytes.size()));
}

int ShiftOp::count(const std::string& call) const
{
    return static_cast<int>(std::count(calls.begin(), calls.end(), call));
}

int ShiftOp::note(const std::string& call, tengine_op_context_t* context)
{
    calls.push_back(call);
    if (failing != call) return 0;
    return sentence.empty() ? code : tengine_op_report(context, code, "%s", sentence.c_str());
}

tengine_op_t* create_shift_op(ShiftOp* shift, const char* domain, const char* name, int min_version,
                              int max_version)
{
    tengine_op_t* op = tengine_op_create(domain, name, min_version, max_version);
    if (!op) return nullptr;
    tengine_op_set_init(op, init_shift);
    tengine_op_set_free(op, free_shift);
    tengine_op_set_prepare(op, prepare_shift);
    tengine_op_set_invoke(op, invoke_shift);
    tengine_op_set_user_data(op, shift, [](void* user_data) { ++self(user_data).releases; });
    return op;
}

testing::AssertionResult register_shift_op(ShiftOp* shift, context_t context, const char* domain,
                                           const char* name, int min_version, int max_version)
{
    tengine_op_t* op = create_shift_op(shift, domain, name, min_version, max_version);
    const int status = op ? tengine_op_register(context, op) : -1;
    tengine_op_destroy(op);
    if (status == 0) return testing::AssertionSuccess();
    return testing::AssertionFailure() << get_tengine_error();
}

int shift(tengine_op_context_t* context)
{
    const tengine_op_tensor_t* x = tengine_op_input(context, 0);
    const auto* from = static_cast<const float*>(tengine_op_tensor_data(x));
    auto* to = static_cast<float*>(tengine_op_tensor_mutable_data(tengine_op_output(context, 0)));
    const float offset = *static_cast<const float*>(tengine_op_state(context));
    std::transform(from, from + tengine_op_tensor_elements(x), to,
                   [offset](float value) { return value + offset; });
    return 0;
}

}  // namespace tengine
