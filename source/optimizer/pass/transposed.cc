// SPDX-License-Identifier: Apache-2.0
#include "optimizer/pass/transposed.h"

#include <cstring>

#include "base/containers.hpp"
#include "graph/graph.h"
#include "operator/infer.h"
#include "operator/param.h"
#include "operator/shaped.h"

namespace tengine {
namespace {

// Functions of each element of input 0.
constexpr const char* kUnary[] = {"Abs",       "Cast",       "Ceil",      "Clip",  "Elu",
                                  "Erf",       "Exp",        "Floor",     "Gelu",  "HardSigmoid",
                                  "HardSwish", "Identity",   "LeakyRelu", "Log",   "Neg",
                                  "Not",       "Reciprocal", "Relu",      "Round", "Sigmoid",
                                  "Sign",      "Softplus",   "Sqrt",      "Swish", "Tanh"};

// Functions of the elements of all inputs, with broadcasting.
constexpr const char* kBroadcast[] = {"Add",   "Div", "Max", "Min", "Mul",
                                      "PRelu", "Pow", "Sub", "Sum"};

// Operators with an attribute "axis", and its default.
struct AxisRow
{
    const char* op;
    int64_t axis;
};
constexpr AxisRow kAxis[] = {{"Concat", 0}, {"LogSoftmax", -1}, {"Softmax", -1}, {"Split", 0}};

constexpr const char* kReductions[] = {"ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
                                       "ReduceSum"};

constexpr const char* kPictures[] = {
    "AveragePool", "BatchNormalization", "Conv",          "ConvTranspose", "DepthToSpace", "LRN",
    "MaxPool",     "GlobalAveragePool",  "GlobalMaxPool", "Resize",        "SpaceToDepth"};

bool is_full_op(const node& node, const char* domain, const char* name)
{
    return std::strcmp(get_ir_node_op(&node), name) == 0 &&
           std::strcmp(get_ir_node_domain(&node), domain) == 0;
}

bool is_linear(const node& node)
{
    return is_op(&node, "QuantizeLinear") || is_op(&node, "DequantizeLinear");
}

const AxisRow* find_axis_row(const node& node)
{
    for (const AxisRow& row : kAxis)
        if (is_op(&node, row.op)) return &row;
    return nullptr;
}

int find_place(const AxisOrder& order, int axis)
{
    int place = 0;
    while (order.axes[static_cast<size_t>(place)] != axis)
        ++place;
    return place;
}

int64_t move_axis(const AxisOrder& order, int64_t axis)
{
    return order.axes[static_cast<size_t>(axis < 0 ? axis + order.rank : axis)];
}

bool is_list(const tensor* input)
{
    return is_constant(input) && input->data_type == TENGINE_DT_INT64 && input->data &&
           input->elem_num <= 2 * MAX_SHAPE_DIM_NUM;
}

int add_list(node& node, int place, const Vector<int64_t>& values)
{
    const int number = static_cast<int>(values.size());
    struct tensor* made = create_ir_tensor(node.graph, nullptr, TENGINE_DT_INT64);
    if (!made) return tengine_error_code();
    made->tensor_type = TENSOR_TYPE_CONST;
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(made, &number, 1));
    TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(made));
    std::copy(values.begin(), values.end(), made->i64);
    return set_ir_node_input_tensor(&node, place, made);
}

Vector<int64_t> values_of(const tensor& list)
{
    return Vector<int64_t>(list.i64, list.i64 + list.elem_num);
}

// Values for each axis, in `groups` lists that follow each other.
int reorder_values(node& node, int place, const AxisOrder& order, int groups)
{
    const Vector<int64_t> before = values_of(*get_ir_node_input(&node, place));
    Vector<int64_t> after(before.size());
    const auto rank = static_cast<size_t>(order.rank);
    for (size_t group = 0; group < static_cast<size_t>(groups); ++group)
        for (size_t i = 0; i < rank; ++i)
            after[group * rank + static_cast<size_t>(order.axes[i])] = before[group * rank + i];
    return add_list(node, place, after);
}

int reorder_axes(node& node, int place, const AxisOrder& order)
{
    Vector<int64_t> axes = values_of(*get_ir_node_input(&node, place));
    for (int64_t& axis : axes)
        axis = move_axis(order, axis);
    return add_list(node, place, axes);
}

// The order of the axes that are not reduced.
AxisOrder drop_axes(const AxisOrder& order, const Vector<int64_t>& reduced)
{
    std::array<bool, MAX_SHAPE_DIM_NUM> is_dropped = {};
    for (const int64_t axis : reduced)
        is_dropped[static_cast<size_t>(axis < 0 ? axis + order.rank : axis)] = true;
    AxisOrder kept;
    for (size_t i = 0; i < static_cast<size_t>(order.rank); ++i) {
        if (is_dropped[i]) continue;
        int axis = order.axes[i];
        for (size_t k = 0; k < static_cast<size_t>(order.rank); ++k)
            if (is_dropped[k] && order.axes[k] < order.axes[i]) --axis;
        kept.axes[static_cast<size_t>(kept.rank++)] = axis;
    }
    return kept;
}

bool reorder_reduction(node& node, const AxisOrder& order, AxisOrder* out_result, int* out_status)
{
    const tensor* axes = get_ir_node_input(&node, 1);
    if (!is_list(axes) || axes->elem_num == 0) return false;
    if (get_ir_node_int(&node, "keepdims", 1) == 0)
        *out_result = drop_axes(order, values_of(*axes));
    *out_status = reorder_axes(node, 1, order);
    return true;
}

bool reorder_pad(node& node, const AxisOrder& order, int* out_status)
{
    const tensor* pads = get_ir_node_input(&node, 1);
    if (!is_list(pads) || pads->elem_num != 2 * order.rank || get_ir_node_input(&node, 3))
        return false;
    *out_status = reorder_values(node, 1, order, 2);
    return true;
}

bool reorder_slice(node& node, const AxisOrder& order, int* out_status)
{
    const tensor* axes = get_ir_node_input(&node, 3);
    const tensor* starts = get_ir_node_input(&node, 1);
    if (axes && !is_list(axes)) return false;
    if (axes) {
        *out_status = reorder_axes(node, 3, order);
        return true;
    }
    Vector<int64_t> all;
    for (int64_t i = 0; i < starts->elem_num && i < order.rank; ++i)
        all.push_back(move_axis(order, i));
    *out_status = add_list(node, 3, all);
    return true;
}

}  // namespace

bool AxisOrder::is_identity() const
{
    for (int i = 0; i < rank; ++i)
        if (axes[static_cast<size_t>(i)] != i) return false;
    return true;
}

AxisOrder AxisOrder::then(const AxisOrder& next) const
{
    AxisOrder both = {rank, {}};
    for (size_t i = 0; i < static_cast<size_t>(rank); ++i)
        both.axes[i] = axes[static_cast<size_t>(next.axes[i])];
    return both;
}

AxisOrder AxisOrder::inverse() const
{
    AxisOrder made = {rank, {}};
    for (int i = 0; i < rank; ++i)
        made.axes[static_cast<size_t>(i)] = find_place(*this, i);
    return made;
}

bool find_order(const node* node, AxisOrder* out_order)
{
    if (!is_op(node, "Transpose")) return false;
    const tensor* input = get_ir_node_input(node, 0);
    int rank = 0;
    const int64_t* order = get_ir_node_ints(node, "perm", &rank);
    if (!is_ir_tensor_shape_known(input) || rank != input->dim_num) return false;
    *out_order = {rank, {}};
    for (int i = 0; i < rank; ++i)
        out_order->axes[static_cast<size_t>(i)] = static_cast<int>(order[i]);
    return true;
}

int list_ordered_inputs(const node& node, int* out_inputs)
{
    if (is_one_of(node, kBroadcast) || is_op(&node, "Concat")) {
        for (int i = 0; i < node.input_num; ++i)
            out_inputs[i] = i;
        return node.input_num;
    }
    out_inputs[0] = 0;
    if (is_full_op(node, "com.microsoft", "QLinearAdd") ||
        is_full_op(node, "com.microsoft", "QLinearMul")) {
        out_inputs[1] = 3;
        return 2;
    }
    const bool is_known = is_one_of(node, kUnary) || is_linear(node) || find_axis_row(node) ||
                          is_one_of(node, kReductions) || is_op(&node, "Pad") ||
                          is_op(&node, "Slice") || is_full_op(node, "tengine", "Lookup");
    return is_known ? 1 : 0;
}

bool reorder_node(node& node, const AxisOrder& order, AxisOrder* out_result, int* out_status)
{
    *out_result = order;
    *out_status = TENGINE_OK;
    if (is_one_of(node, kReductions)) return reorder_reduction(node, order, out_result, out_status);
    if (is_op(&node, "Pad")) return reorder_pad(node, order, out_status);
    if (is_op(&node, "Slice")) return reorder_slice(node, order, out_status);
    const AxisRow* row = find_axis_row(node);
    const bool has_scales = is_linear(node) && get_ir_node_input(&node, 1)->elem_num != 1;
    if (!row && !has_scales) return true;
    const int64_t axis = get_ir_node_int(&node, "axis", row ? row->axis : 1);
    *out_status = set_node_int(&node, "axis", move_axis(order, axis));
    return true;
}

bool has_channels_first(const node* node)
{
    while (node && (is_one_of(*node, kUnary) || is_linear(*node))) {
        const tensor* input = get_ir_node_input(node, 0);
        node = get_ir_graph_node(node->graph, input->producer);
    }
    return node && (is_one_of(*node, kPictures) || (node->op.method->traits & OP_READS_QUANTIZED) ||
                    is_full_op(*node, "com.microsoft", "QLinearAveragePool"));
}

}  // namespace tengine
