// SPDX-License-Identifier: Apache-2.0
// Replaces DequantizeLinear and QuantizeLinear by quantised tensors, see quantized_tensors.h.
#include <algorithm>
#include <numeric>

#include "base/containers.hpp"
#include "graph/graph.h"
#include "graph/option.h"
#include "operator/operator.h"
#include "optimizer/dialect/kept_nodes.h"
#include "optimizer/dialect/linear_node.h"
#include "optimizer/dialect/quantized_tensors.h"

namespace tengine {
namespace {

constexpr const char* kIntegerIo = "model.integer_io";

bool is_linear(const node& node)
{
    return is_op(&node, "QuantizeLinear") || is_op(&node, "DequantizeLinear");
}

bool is_input(const graph& graph, const struct tensor& tensor)
{
    return tensor.tensor_type == TENSOR_TYPE_INPUT && tensor.producer < 0 &&
           std::find(graph.input_tensors, graph.input_tensors + graph.input_tensor_num,
                     tensor.index) != graph.input_tensors + graph.input_tensor_num;
}

// Tensors of int8 or uint8 that Tengine nodes move from one to another. Either all of them have the
// same quantisation, or none has any. Most groups have one tensor.
struct Group
{
    LinearParameters parameters;
    int members = 0;
    bool is_told = false;   // a node gives the parameters
    bool is_bytes = false;  // a neighbour needs integers, so the tensor is not quantised
};

class Absorber
{
  public:
    explicit Absorber(graph& graph)
        : graph_(graph),
          has_integer_io_(get_ir_context_number(graph.attribute->context, kIntegerIo) != 0),
          parents_(size_t(graph.tensor_num)),
          groups_(size_t(graph.tensor_num))
    {
        std::iota(parents_.begin(), parents_.end(), 0);
    }

    int run()
    {
        const int given = graph_.tensor_num;
        for (int i = 0; i < graph_.node_num; ++i)
            join(*graph_.node_list[i]);
        for (int i = 0; i < given; ++i)
            if (const struct tensor* tensor = graph_.tensor_list[i]) judge(*tensor);
        for (int i = 0; i < given; ++i) {
            const Group& group = group_of(i);
            if (graph_.tensor_list[i] && group.is_told && !group.is_bytes)
                TENGINE_RETURN_IF_ERROR(absorb(*graph_.tensor_list[i], group.parameters));
        }
        return TENGINE_OK;
    }

  private:
    int root_of(int tensor)
    {
        int& parent = parents_[static_cast<size_t>(tensor)];
        return parent == tensor ? tensor : parent = root_of(parent);
    }
    Group& group_of(int tensor) { return groups_[static_cast<size_t>(root_of(tensor))]; }

    void join(const node& node)
    {
        if (!moves_bytes(&node)) return;
        const struct tensor* first = nullptr;
        for (int i = 0; i < node.input_num + node.output_num; ++i) {
            const struct tensor* tensor = i < node.input_num
                                              ? get_ir_node_input(&node, i)
                                              : get_ir_node_output(&node, i - node.input_num);
            if (!tensor || !is_byte_type(tensor->data_type)) continue;
            if (!first) first = tensor;
            parents_[static_cast<size_t>(root_of(tensor->index))] = root_of(first->index);
        }
    }

    // ---- what is around a tensor ----

    void judge(const struct tensor& bytes)
    {
        Group& group = group_of(bytes.index);
        ++group.members;
        if (!is_byte_type(bytes.data_type) && bytes.data_type != TENGINE_DT_INT32) return;
        int results = 0;  // outputs of the graph that are computed from it
        bool agrees = judge_writer(bytes, &group);
        for (int i = 0; agrees && i < bytes.consumer_num; ++i)
            agrees = judge_reader(bytes, *graph_.node_list[bytes.consumer[i]], &group, &results);
        const bool is_one = group.members == 1 || group.parameters.scales.size() == 1;
        if (!agrees || !is_one) group.is_bytes = true;
    }

    bool judge_writer(const struct tensor& bytes, Group* group)
    {
        const node* writer = get_ir_graph_node(&graph_, bytes.producer);
        if (!writer || moves(*writer, bytes)) return true;
        if (!is_op(writer, "QuantizeLinear")) return false;
        const struct tensor& value = *get_ir_node_input(writer, 0);
        if (value.consumer_num != 1 || is_ir_graph_output(&graph_, value.index)) return false;
        const bool begins = has_integer_io_ && bytes.consumer_num > 0 && is_fed(bytes);
        return (begins || speaks_tengine(get_ir_graph_node(&graph_, value.producer))) &&
               tell(*writer, bytes, value, group);
    }

    bool judge_reader(const struct tensor& bytes, const node& reader, Group* group, int* results)
    {
        if (moves(reader, bytes)) return true;
        if (!is_op(&reader, "DequantizeLinear") || get_ir_node_input(&reader, 0) != &bytes)
            return false;
        const struct tensor& value = *get_ir_node_output(&reader, 0);
        if (ends(bytes, value)) {
            if (++*results > 1) return false;
        } else if (!is_read_by_tengine_only(graph_, value)) {
            return false;
        }
        return tell(reader, bytes, value, group);
    }

    static bool moves(const node& node, const struct tensor& bytes)
    {
        return is_byte_type(bytes.data_type) && moves_bytes(&node);
    }

    // Whether the program can feed the tensor in place of the float tensor that it is computed
    // from, and by that name.
    bool is_fed(const struct tensor& bytes) const
    {
        const node* writer = get_ir_graph_node(&graph_, bytes.producer);
        return is_op(writer, "QuantizeLinear") && is_input(graph_, *get_ir_node_input(writer, 0)) &&
               !is_ir_graph_output(&graph_, bytes.index);
    }

    // Whether the program can read the result of a Tengine node, and convert it. A tensor that the
    // program also feeds cannot have both names.
    bool ends(const struct tensor& bytes, const struct tensor& value) const
    {
        return has_integer_io_ && is_ir_graph_output(&graph_, value.index) &&
               value.consumer_num == 0 && bytes.producer >= 0 && !is_fed(bytes) &&
               !is_ir_graph_output(&graph_, bytes.index);
    }

    // Stores the quantisation that a node gives the tensor; false when a tensor cannot have it, or
    // another node gives a different one.
    static bool tell(const node& linear, const struct tensor& bytes, const struct tensor& value,
                     Group* group)
    {
        LinearParameters parameters;
        if (!read_linear_parameters(linear, bytes, value, &parameters) ||
            !can_have_parameters(bytes, parameters))
            return false;
        if (group->is_told) return group->parameters == parameters;
        group->parameters = std::move(parameters);
        group->is_told = true;
        return true;
    }

    // ---- what is around it goes ----

    int absorb(struct tensor& bytes, const LinearParameters& parameters)
    {
        if (!is_byte_type(bytes.data_type) && bytes.data_type != TENGINE_DT_INT32)
            return TENGINE_OK;
        TENGINE_RETURN_IF_ERROR(give_parameters(bytes, parameters));
        while (node* reader = find_linear_reader(bytes))
            TENGINE_RETURN_IF_ERROR(absorb_reader(bytes, *reader));
        node* writer = get_ir_graph_node(&graph_, bytes.producer);
        return writer && is_linear(*writer) ? absorb_writer(bytes, *writer) : TENGINE_OK;
    }

    node* find_linear_reader(const struct tensor& bytes)
    {
        for (int i = 0; i < bytes.consumer_num; ++i)
            if (is_linear(*graph_.node_list[bytes.consumer[i]]))
                return graph_.node_list[bytes.consumer[i]];
        return nullptr;
    }

    int absorb_reader(struct tensor& bytes, node& linear)
    {
        struct tensor* value = get_ir_node_output(&linear, 0);
        if (is_ir_graph_output(&graph_, value->index))
            TENGINE_RETURN_IF_ERROR(set_ir_tensor_name(&graph_, &bytes, value->name));
        TENGINE_RETURN_IF_ERROR(replace_ir_tensor_uses(&graph_, value, &bytes));
        destroy_ir_node(&graph_, &linear);
        return TENGINE_OK;
    }

    int absorb_writer(struct tensor& bytes, node& linear)
    {
        struct tensor* value = get_ir_node_input(&linear, 0);
        node* producer = get_ir_graph_node(&graph_, value->producer);
        destroy_ir_node(&graph_, &linear);
        if (!producer) return replace_input(*value, bytes);
        int place = 0;
        while (producer->output_tensors[place] != value->index)
            ++place;
        return set_ir_node_output_tensor(producer, place, &bytes);
    }

    // Makes the program feed `bytes` in place of `value`.
    int replace_input(struct tensor& value, struct tensor& bytes)
    {
        std::replace(graph_.input_tensors, graph_.input_tensors + graph_.input_tensor_num,
                     value.index, bytes.index);
        bytes.tensor_type = TENSOR_TYPE_INPUT;
        value.tensor_type = TENSOR_TYPE_VAR;
        return set_ir_tensor_name(&graph_, &bytes, value.name);
    }

    graph& graph_;
    const bool has_integer_io_;
    Vector<int> parents_;   // by tensor: another tensor of its group, or itself (union-find)
    Vector<Group> groups_;  // by the tensor that is its own parent
};

int quantise_clamped(const node& clamp)
{
    struct tensor* tensor = find_clamped(clamp);
    const struct tensor* result = get_ir_node_output(&clamp, 0);
    if (!tensor || !result || !is_quantized(*result) || result->quant_param_num != 1 ||
        tensor->data_type != TENGINE_DT_FP32)
        return TENGINE_OK;
    return quantise_like(*tensor, *result);
}

// A tmfile has scales along dimension 0. Those along another are in the DequantizeLinear, which is
// the only reader left.
int drop_scales_of_integers(graph& graph)
{
    for (int i = 0; i < graph.tensor_num; ++i) {
        struct tensor* tensor = graph.tensor_list[i];
        if (!tensor || tensor->quant_param_num < 2 || tensor->quant_axis == 0 ||
            is_read_by_tengine_only(graph, *tensor))
            continue;
        TENGINE_RETURN_IF_ERROR(set_ir_tensor_quantization_parameter(tensor, scales_of(*tensor),
                                                                     zero_points_of(*tensor), 0));
    }
    return TENGINE_OK;
}

// ---- what stays ----

// Whether the program feeds the float tensor that `bytes` is quantised from, or reads the one
// dequantised from it.
bool is_read_or_fed_as_float(const graph& graph, const struct tensor& bytes)
{
    const node* writer = get_ir_graph_node(&graph, bytes.producer);
    if (is_op(writer, "QuantizeLinear") && is_input(graph, *get_ir_node_input(writer, 0)))
        return true;
    const auto ends = [&](int32_t index) {
        const node& reader = *graph.node_list[index];
        return is_op(&reader, "DequantizeLinear") &&
               is_ir_graph_output(&graph, get_ir_node_output(&reader, 0)->index);
    };
    return std::any_of(bytes.consumer, bytes.consumer + bytes.consumer_num, ends);
}

String describe_linear(const graph& graph, const node& linear)
{
    const bool writes = is_op(&linear, "QuantizeLinear");
    const struct tensor& bytes =
        writes ? *get_ir_node_output(&linear, 0) : *get_ir_node_input(&linear, 0);
    const String subject = String(get_ir_node_op(&linear)) + " '" + linear.name + "': ";
    if (is_read_or_fed_as_float(graph, bytes) &&
        get_ir_context_number(graph.attribute->context, kIntegerIo) == 0)
        return subject + "the program feeds or reads floats; the option " + kIntegerIo +
               " makes them integers";
    return subject + "not all that reads and writes '" + bytes.name +
           "' can have the integers as a quantised tensor";
}

void warn_of_linear_nodes(const graph& graph)
{
    KeptNodes kept;
    for (int i = 0; i < graph.node_num; ++i)
        if (const node* linear = graph.node_list[i]; linear && is_linear(*linear))
            if (String* why = kept.add(*linear)) *why = describe_linear(graph, *linear);
    kept.warn();
}

}  // namespace

int fold_qdq_nodes(graph& graph)
{
    TENGINE_RETURN_IF_ERROR(Absorber(graph).run());
    TENGINE_RETURN_IF_ERROR(drop_scales_of_integers(graph));
    for (int i = 0; i < graph.node_num; ++i)
        if (graph.node_list[i]) TENGINE_RETURN_IF_ERROR(quantise_clamped(*graph.node_list[i]));
    TENGINE_RETURN_IF_ERROR(quantise_moved_tensors(graph));
    warn_of_linear_nodes(graph);
    return TENGINE_OK;
}

}  // namespace tengine
