// SPDX-License-Identifier: Apache-2.0
// If and Loop as IF and WHILE, whose subgraphs have no values but those that they are given: what a
// body captures is given to it, and a loop hands it on.
#include <algorithm>

#include "graph/body.h"
#include "graph/graph.h"
#include "operator/fail.h"
#include "serializer/tflite/numbers.h"
#include "serializer/tflite/written_subgraph.h"

namespace tengine::tflite {
namespace {

bool is_constant_in(const struct graph& graph, int32_t tensor)
{
    return graph.tensor_list[tensor]->tensor_type == TENSOR_TYPE_CONST;
}

Vector<int32_t> outputs_of(const struct graph& graph)
{
    return {graph.output_tensors, graph.output_tensors + graph.output_tensor_num};
}

// The number of a tensor in a list; -1: it is not there.
int find_in(const Vector<int32_t>& list, int32_t tensor)
{
    const auto found = std::find(list.begin(), list.end(), tensor);
    return found == list.end() ? -1 : static_cast<int>(found - list.begin());
}

// A subgraph without operators, whose result is one of its inputs: the condition of a loop.
int write_choice(Writing& writing, const Vector<const struct tensor*>& likes, size_t chosen,
                 std::string_view name)
{
    const std::unique_ptr<struct graph, void (*)(struct graph*)> empty(create_ir_graph(nullptr),
                                                                       destroy_ir_graph);
    if (!empty) return last_error();
    Vector<int32_t> inputs;
    for (const struct tensor* like : likes) {
        struct tensor* made = create_ir_tensor(empty.get(), like->name, like->data_type);
        if (!made) return last_error();
        TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(made, like->dims, like->dim_num));
        inputs.push_back(made->index);
    }
    Places places;
    return write_subgraph(writing, *empty, inputs, {inputs[chosen]}, name, &places);
}

}  // namespace

int SubgraphWriter::add_call(const struct node& node, int code, const Vector<uint32_t>& subgraphs,
                             const Vector<int32_t>& inputs, const Vector<int32_t>& outputs)
{
    const auto start = builder_.StartTable();
    for (size_t i = 0; i < subgraphs.size(); ++i)
        builder_.AddElement(static_cast<flatbuffers::voffset_t>((i + 2) * sizeof(uint16_t)),
                            static_cast<int32_t>(subgraphs[i]));
    const Offset<file::Options> options(builder_.EndTable(start));
    const List<int32_t> in = builder_.CreateVector(inputs), out = builder_.CreateVector(outputs);
    const uint32_t index = writing_.add_code(code, {}, find_version(node, code));
    operators_.push_back(
        file::CreateOperator(builder_, index, in, out, find_options_type(code).number, options));
    return TENGINE_OK;
}

int SubgraphWriter::write_branch(const struct node& node, const ir_body_t& body,
                                 const Vector<int32_t>& captured, uint32_t* out_subgraph)
{
    Vector<SubgraphInput> inputs;
    const int first = body.input_num - body.capture_num;
    for (const int32_t outer : captured) {
        SubgraphInput input = {-1, graph_.tensor_list[outer]};
        for (int i = 0; i < body.capture_num; ++i)
            if (node.input_tensors[body.first_capture + i] == outer &&
                !is_constant_in(*body.graph, body.inputs[first + i]))
                input.tensor = body.inputs[first + i];
        inputs.push_back(input);
    }
    *out_subgraph = static_cast<uint32_t>(writing_.subgraphs.size());
    return SubgraphWriter(writing_, *body.graph)
        .run(inputs, outputs_of(*body.graph), body.graph->name);
}

int SubgraphWriter::write_if(const struct node& node)
{
    const ir_bodies_t* bodies = node.core->bodies;
    Vector<int32_t> captured, inputs = {node.input_tensors[0]};
    for (int i = 1; i < node.input_num; ++i)
        if (find_in(captured, node.input_tensors[i]) < 0) captured.push_back(node.input_tensors[i]);
    inputs.insert(inputs.end(), captured.begin(), captured.end());
    Vector<uint32_t> subgraphs(2);
    for (size_t i = 0; i < subgraphs.size(); ++i)
        TENGINE_RETURN_IF_ERROR(write_branch(node, bodies->list[i], captured, &subgraphs[i]));
    return add_call(node, kIf, subgraphs, list_places(inputs),
                    list_places({node.output_tensors, node.output_tensors + node.output_num}));
}

// The values of the loop are its condition, unless it is one of the others, these, and what the
// body captures.
int SubgraphWriter::write_while(const struct node& node)
{
    const ir_body_t& body = node.core->bodies->list[0];
    const struct graph& work = *body.graph;
    const int own = count_ir_own_inputs(&node);
    const int values = own - 2;
    const struct tensor* iteration = work.tensor_list[body.inputs[0]];
    const bool counts = get_ir_node_input(&node, 0) || iteration->consumer_num > 0;
    if (counts || !get_ir_node_input(&node, 1) || node.output_num > values ||
        work.tensor_list[body.inputs[1]]->consumer_num > 0)
        return fail_node(&node, TENGINE_EOPERATOR,
                         "it has a number of iterations or collects results, TensorFlow Lite's "
                         "WHILE has a condition and values alone");
    const Vector<int32_t> results = outputs_of(work);
    size_t condition = 0;
    bool is_value = false;
    for (int i = 0; !is_value && i < values; ++i) {
        is_value = results[0] == results[static_cast<size_t>(i) + 1] &&
                   node.input_tensors[1] == node.input_tensors[i + 2];
        condition = static_cast<size_t>(i);
    }
    if (!is_value) condition = 0;
    const int skipped = is_value ? 2 : 1;
    Vector<int32_t> given, kept(results.begin() + (is_value ? 1 : 0), results.end());
    Vector<SubgraphInput> inputs;
    Vector<const struct tensor*> likes;
    for (int i = skipped; i < node.input_num; ++i) {
        const int32_t inner = body.inputs[i];
        const bool is_read = i > 1 && !is_constant_in(work, inner);
        likes.push_back(work.tensor_list[inner]);
        inputs.push_back({is_read ? inner : -1, likes.back()});
        given.push_back(place_of(node.input_tensors[i]));
        if (i >= own) kept.push_back(inner);
    }
    Vector<int32_t> outputs;
    for (int i = skipped; i < node.input_num; ++i) {
        const bool is_result = i > 1 && i < own && i - 2 < node.output_num;
        outputs.push_back(is_result ? place_of(node.output_tensors[i - 2]) : -1);
        if (outputs.back() < 0)
            TENGINE_RETURN_IF_ERROR(
                write_unread(*graph_.tensor_list[node.input_tensors[i]], &outputs.back()));
    }
    Vector<uint32_t> subgraphs = {static_cast<uint32_t>(writing_.subgraphs.size())};
    TENGINE_RETURN_IF_ERROR(
        write_choice(writing_, likes, condition, String(work.name) + "/condition"));
    subgraphs.push_back(static_cast<uint32_t>(writing_.subgraphs.size()));
    TENGINE_RETURN_IF_ERROR(SubgraphWriter(writing_, work).run(inputs, kept, work.name));
    return add_call(node, kWhile, subgraphs, given, outputs);
}

}  // namespace tengine::tflite
