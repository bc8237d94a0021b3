// SPDX-License-Identifier: Apache-2.0
// transposes: moves the Transposes of results with the channels first behind the nodes that read
// them, until they meet one back, and both disappear. Models with the channels last have such pairs
// around each convolution. The Transposes of quantised filters move before their DequantizeLinear,
// where they are computed.
#include <algorithm>

#include "base/containers.hpp"
#include "base/maps.hpp"
#include "base/minimal.h"
#include "base/print_text.hpp"
#include "graph/graph.h"
#include "operator/param.h"
#include "operator/registry.h"
#include "optimizer/pass.h"
#include "optimizer/pass/transposed.h"

namespace tengine {
namespace {

class Mover
{
  public:
    explicit Mover(graph& graph) : graph_(graph) {}

    int run()
    {
        const int given = graph_.node_num;
        for (int i = 0; i < given; ++i) {
            node* node = graph_.node_list[i];
            if (!node) continue;
            if (is_op(node, "Transpose"))
                TENGINE_RETURN_IF_ERROR(visit_transpose(*node));
            else if (is_op(node, "Reshape"))
                TENGINE_RETURN_IF_ERROR(visit_reshape(*node));
            else if (is_op(node, "Conv") || is_op(node, "ConvTranspose"))
                TENGINE_RETURN_IF_ERROR(visit_filter(*node));
            else
                TENGINE_RETURN_IF_ERROR(visit(*node));
        }
        return TENGINE_OK;
    }

  private:
    node* producer_of(const struct tensor* tensor) const
    {
        return tensor ? get_ir_graph_node(&graph_, tensor->producer) : nullptr;
    }

    // The Transpose that computes the tensor, if it is one that moves.
    node* find_moving(const struct tensor* tensor, AxisOrder* out_order) const
    {
        node* transpose = producer_of(tensor);
        if (!find_order(transpose, out_order) || out_order->is_identity()) return nullptr;
        const bool is_moved = moved_.count(transpose) != 0;
        return is_moved || has_channels_first(producer_of(get_ir_node_input(transpose, 0)))
                   ? transpose
                   : nullptr;
    }

    int visit_transpose(node& node)
    {
        AxisOrder before, own;
        const struct node* first = find_moving(get_ir_node_input(&node, 0), &before);
        if (!first || !find_order(&node, &own)) return TENGINE_OK;
        const AxisOrder both = before.then(own);
        struct tensor* input = get_ir_node_input(first, 0);
        struct tensor* output = get_ir_node_output(&node, 0);
        if (both.is_identity() && !is_ir_graph_output(&graph_, output->index)) {
            TENGINE_RETURN_IF_ERROR(replace_ir_tensor_uses(&graph_, output, input));
            destroy_ir_node(&graph_, &node);
            return TENGINE_OK;
        }
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(&node, 0, input));
        moved_.insert(&node);
        return set_order(node, both);
    }

    static int set_order(node& transpose, const AxisOrder& order)
    {
        const Vector<int64_t> axes(order.axes.begin(), order.axes.begin() + order.rank);
        return set_node_ints(&transpose, "perm", axes.data(), order.rank);
    }

    // A Transpose that moves axes of one element only, before a Reshape to dimensions that are all
    // given.
    int visit_reshape(node& node)
    {
        AxisOrder order;
        const struct tensor* input = get_ir_node_input(&node, 0);
        const struct tensor* shape = get_ir_node_input(&node, 1);
        const struct node* transpose = find_moving(input, &order);
        if (!transpose || !is_constant(shape) || shape->data_type != TENGINE_DT_INT64 ||
            std::find(shape->i64, shape->i64 + shape->elem_num, 0) != shape->i64 + shape->elem_num)
            return TENGINE_OK;
        int last = -1;
        for (int i = 0; i < order.rank; ++i) {
            if (input->dims[i] == 1) continue;
            if (order.axes[static_cast<size_t>(i)] < last) return TENGINE_OK;
            last = order.axes[static_cast<size_t>(i)];
        }
        return set_ir_node_input_tensor(&node, 0, get_ir_node_input(transpose, 0));
    }

    // Exchanges the DequantizeLinear and the Transpose of a filter.
    int visit_filter(node& conv)
    {
        AxisOrder order;
        node* transpose = producer_of(get_ir_node_input(&conv, 1));
        node* linear = transpose ? producer_of(get_ir_node_input(transpose, 0)) : nullptr;
        if (!find_order(transpose, &order) || !is_op(linear, "DequantizeLinear")) return TENGINE_OK;
        struct tensor* bytes = get_ir_node_input(linear, 0);
        if (!is_constant(bytes) || get_ir_node_output(linear, 0)->consumer_num != 1)
            return TENGINE_OK;
        struct tensor* filter = get_ir_node_output(transpose, 0);
        struct tensor* turned = nullptr;
        TENGINE_RETURN_IF_ERROR(add_tensor(*bytes, order, &turned));
        if (get_ir_node_input(linear, 1)->elem_num != 1) {
            const int64_t axis = get_ir_node_int(linear, "axis", 1);
            const auto end = order.axes.begin() + order.rank;
            const auto place = std::find(order.axes.begin(), end,
                                         static_cast<int>(axis < 0 ? axis + order.rank : axis));
            TENGINE_RETURN_IF_ERROR(set_node_int(linear, "axis", place - order.axes.begin()));
        }
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(transpose, 0, bytes));
        TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(transpose, 0, turned));
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(linear, 0, turned));
        TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(linear, 0, filter));
        return evaluate_node(*transpose);
    }

    // A tensor of the type and, in the order, the dimensions of `like`.
    int add_tensor(const struct tensor& like, const AxisOrder& order, struct tensor** out_tensor)
    {
        const String name = print_text("%s_transposed", like.name);
        *out_tensor = create_ir_tensor(&graph_, name.c_str(), like.data_type);
        if (!*out_tensor) return tengine_error_code();
        int dims[MAX_SHAPE_DIM_NUM];
        for (int i = 0; i < order.rank; ++i)
            dims[i] = like.dims[order.axes[static_cast<size_t>(i)]];
        return set_ir_tensor_shape(*out_tensor, dims, order.rank);
    }

    int visit(node& node)
    {
        Vector<int> inputs(static_cast<size_t>(std::max(node.input_num, 2)));
        inputs.resize(static_cast<size_t>(list_ordered_inputs(node, inputs.data())));
        AxisOrder order;
        if (inputs.empty() || !find_common_order(node, inputs, &order)) return TENGINE_OK;
        AxisOrder result;
        int status = TENGINE_OK;
        if (!reorder_node(node, order, &result, &status)) return TENGINE_OK;
        TENGINE_RETURN_IF_ERROR(status);
        for (const int place : inputs)
            TENGINE_RETURN_IF_ERROR(reorder_input(node, place, order));
        for (int i = 0; i < node.output_num; ++i)
            TENGINE_RETURN_IF_ERROR(add_behind(node, i, result));
        return TENGINE_OK;
    }

    // The order of the Transposes of the inputs, all of which have it, or are constants that can be
    // given the inverse.
    bool find_common_order(const node& node, const Vector<int>& inputs, AxisOrder* out_order) const
    {
        bool is_found = false;
        for (const int place : inputs) {
            const struct tensor* input = get_ir_node_input(&node, place);
            AxisOrder order;
            if (!input || !is_ir_tensor_shape_known(input)) return false;
            if (is_constant(input)) continue;
            if (!find_moving(input, &order) || (is_found && !(order == *out_order))) return false;
            *out_order = order;
            is_found = true;
        }
        const auto has_room = [&](int place) {
            return get_ir_node_input(&node, place)->dim_num <= out_order->rank;
        };
        for (int i = 0; i < node.output_num; ++i) {
            const struct tensor* output = get_ir_node_output(&node, i);
            if (output && !is_ir_tensor_shape_known(output)) return false;
        }
        return is_found && std::all_of(inputs.begin(), inputs.end(), has_room);
    }

    int reorder_input(node& node, int place, const AxisOrder& order)
    {
        struct tensor* input = get_ir_node_input(&node, place);
        if (!is_constant(input)) {
            const struct node* transpose = producer_of(input);
            return set_ir_node_input_tensor(&node, place, get_ir_node_input(transpose, 0));
        }
        if (input->elem_num == 1) return TENGINE_OK;
        struct tensor* shaped = nullptr;
        TENGINE_RETURN_IF_ERROR(pad_rank(node, *input, order.rank, &shaped));
        const AxisOrder inverse = order.inverse();
        struct tensor* turned = nullptr;
        TENGINE_RETURN_IF_ERROR(add_tensor(*shaped, inverse, &turned));
        struct node* transpose =
            create_op_node(&graph_, print_text("%s.Transpose_%d", node.name, place).c_str(),
                           "Transpose", node.name);
        if (!transpose) return tengine_error_code();
        TENGINE_RETURN_IF_ERROR(set_order(*transpose, inverse));
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(transpose, 0, shaped));
        TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(transpose, 0, turned));
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(&node, place, turned));
        return evaluate_node(*transpose);
    }

    // The constant with leading dimensions of 1, which broadcasting adds; a view of its values.
    int pad_rank(const node& node, struct tensor& constant, int rank, struct tensor** out_tensor)
    {
        *out_tensor = &constant;
        if (constant.dim_num == rank) return TENGINE_OK;
        int dims[MAX_SHAPE_DIM_NUM];
        const int added = rank - constant.dim_num;
        std::fill_n(dims, added, 1);
        std::copy_n(constant.dims, constant.dim_num, dims + added);
        struct tensor* view = create_ir_tensor(
            &graph_, print_text("%s_%s", constant.name, node.name).c_str(), constant.data_type);
        if (!view) return tengine_error_code();
        view->tensor_type = TENSOR_TYPE_CONST;
        TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(view, dims, rank));
        set_ir_tensor_data(view, constant.data, false);
        *out_tensor = view;
        return TENGINE_OK;
    }

    // Puts a Transpose between the node and its result, which keeps name, shape and readers.
    int add_behind(node& node, int index, const AxisOrder& order)
    {
        struct tensor* output = get_ir_node_output(&node, index);
        if (!output || order.is_identity()) return TENGINE_OK;
        struct tensor* inner = nullptr;
        TENGINE_RETURN_IF_ERROR(add_tensor(*output, order.inverse(), &inner));
        struct node* transpose =
            create_op_node(&graph_, print_text("%s.Transpose%d", node.name, index).c_str(),
                           "Transpose", node.name);
        if (!transpose) return tengine_error_code();
        transpose->core->source_index = node.core->source_index;
        TENGINE_RETURN_IF_ERROR(set_order(*transpose, order));
        TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(&node, index, nullptr));
        TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(&node, index, inner));
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(transpose, 0, inner));
        TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(transpose, 0, output));
        moved_.insert(transpose);
        return TENGINE_OK;
    }

    graph& graph_;
    Set<const node*> moved_;
};

}  // namespace

// Minimal builds read tmfiles, which were written after the pass. Transposes that are left without
// readers would keep the next passes from merging what they read.
int move_transposes(graph& graph)
{
    if (IS_MINIMAL) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(Mover(graph).run());
    TENGINE_RETURN_IF_ERROR(tidy_graph(graph));
    return remove_dead_code(graph);
}

}  // namespace tengine
