// SPDX-License-Identifier: Apache-2.0
#include "serializer/tflite/control.h"

#include "graph/body.h"
#include "graph/graph.h"
#include "graph/string_pool.h"
#include "operator/infer.h"
#include "operator/registry.h"
#include "serializer/tflite/numbers.h"

namespace tengine::tflite {
namespace {

constexpr int kCall = 31;
constexpr int kLaterWhile = 200;
constexpr int kComposite = 206;
constexpr int kMostNested = 64;

using Tensors = Vector<struct tensor*>;

Vector<int32_t> indices_of(const Tensors& tensors)
{
    Vector<int32_t> indices;
    for (const struct tensor* tensor : tensors)
        indices.push_back(tensor->index);
    return indices;
}

int set_outputs(struct graph* graph, const Tensors& outputs)
{
    const Vector<int32_t> indices = indices_of(outputs);
    return set_ir_graph_output_tensor(graph, indices.data(), static_cast<int>(indices.size()));
}

class CallReader
{
  public:
    CallReader(Reading& reading, uint32_t index, int code, const file::Operator& record)
        : reading_(reading), index_(index), code_(code), record_(record)
    {
    }

    int run();

  private:
    int list(const Reading& reading, const flatbuffers::Vector<int32_t>* indices, const char* what,
             Tensors* out_tensors) const;
    int check_call(const file::Subgraph& subgraph, size_t inputs, size_t outputs) const;
    int expand(Reading& reading, const file::Subgraph& subgraph, const char* name,
               const Tensors& inputs, size_t outputs, Tensors* out_results) const;
    int replace(const file::Subgraph& subgraph);
    int make_node(const char* op, int bodies, struct node** out_node) const;
    int finish_node(struct node* node) const;
    int begin_body(struct node* node, const char* attribute, ir_body_t* body) const;
    int read_body(Reading& inner, size_t outputs, Tensors* out_inputs, Tensors* out_results) const;
    int add_branch(struct node* node, const char* attribute, const file::Subgraph& subgraph,
                   ir_body_t* body) const;
    int add_if(const file::Subgraph& chosen, const file::Subgraph& other) const;
    int add_loop_body(struct node* node, const file::Subgraph& condition,
                      const file::Subgraph& work) const;
    int add_while(const file::Subgraph& condition, const file::Subgraph& work) const;

    template <class... Arguments>
    int fail(int status, const char* format, Arguments... arguments) const
    {
        return fail_operator(status, index_, code_, format, arguments...);
    }

    Reading& reading_;
    uint32_t index_;
    int code_;
    const file::Operator& record_;
    Tensors inputs_;
    Tensors outputs_;
};

int CallReader::list(const Reading& reading, const flatbuffers::Vector<int32_t>* indices,
                     const char* what, Tensors* out_tensors) const
{
    TENGINE_RETURN_IF_ERROR(reading_.budget.charge(uint64_t{count(indices)} * sizeof(void*)));
    for (uint32_t i = 0; i < count(indices); ++i) {
        struct tensor* tensor = find_tensor(reading, indices->Get(i));
        if (!tensor)
            return fail(TENGINE_EFORMAT, "%s %u is tensor %d, expected one of %zu", what, i,
                        indices->Get(i), reading.tensors.size());
        const auto place = static_cast<size_t>(indices->Get(i));
        if (tensor->tensor_type == TENSOR_TYPE_VAR && !reading.is_written[place])
            return fail(TENGINE_EGRAPH, "%s %u, tensor %s, has no values and no operator writes it",
                        what, i, quote(tensor->name).c_str());
        out_tensors->push_back(tensor);
    }
    return TENGINE_OK;
}

int CallReader::check_call(const file::Subgraph& subgraph, size_t inputs, size_t outputs) const
{
    if (reading_.depth >= kMostNested)
        return fail(TENGINE_ELIMIT, "its subgraph is called by more than %d others, or by itself",
                    kMostNested);
    if (count(subgraph.inputs()) == inputs && count(subgraph.outputs()) == outputs)
        return TENGINE_OK;
    return fail(TENGINE_EGRAPH, "its subgraph has %u inputs and %u outputs, expected %zu and %zu",
                count(subgraph.inputs()), count(subgraph.outputs()), inputs, outputs);
}

// Adds the operators of a subgraph to the graph of `reading`, with these tensors as inputs.
int CallReader::expand(Reading& reading, const file::Subgraph& subgraph, const char* name,
                       const Tensors& inputs, size_t outputs, Tensors* out_results) const
{
    TENGINE_RETURN_IF_ERROR(check_call(subgraph, inputs.size(), outputs));
    Reading inner(reading, reading.graph, &subgraph, name);
    TENGINE_RETURN_IF_ERROR(
        inner.budget.charge(uint64_t{count(subgraph.tensors())} * sizeof(int32_t)));
    inner.tensors.resize(count(subgraph.tensors()), -1);
    for (size_t i = 0; i < inputs.size(); ++i) {
        const int32_t index = subgraph.inputs()->Get(static_cast<uint32_t>(i));
        if (index < 0 || static_cast<size_t>(index) >= inner.tensors.size() ||
            inner.tensors[static_cast<size_t>(index)] >= 0)
            return fail(TENGINE_EFORMAT,
                        "input %zu of its subgraph is tensor %d, which is an input "
                        "twice or not there",
                        i, index);
        inner.tensors[static_cast<size_t>(index)] = inputs[i]->index;
    }
    TENGINE_RETURN_IF_ERROR(add_tensors(inner));
    TENGINE_RETURN_IF_ERROR(add_operators(inner));
    return list(inner, subgraph.outputs(), "a subgraph's output", out_results);
}

int CallReader::replace(const file::Subgraph& subgraph)
{
    Tensors results;
    const String name = outputs_[0]->name;
    TENGINE_RETURN_IF_ERROR(
        expand(reading_, subgraph, name.c_str(), inputs_, outputs_.size(), &results));
    for (size_t i = 0; i < results.size(); ++i) {
        if (results[i]->data_type != outputs_[i]->data_type)
            return fail(TENGINE_EGRAPH, "output %zu is %s, that of its subgraph %s", i,
                        get_data_type_name(outputs_[i]->data_type),
                        get_data_type_name(results[i]->data_type));
        struct node* node = create_op_node(reading_.graph, outputs_[i]->name, "Identity", nullptr);
        if (!node) return last_error();
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(node, 0, results[i]));
        TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(node, 0, outputs_[i]));
    }
    return TENGINE_OK;
}

int CallReader::make_node(const char* op, int bodies, struct node** out_node) const
{
    if (reading_.body_depth >= IR_MOST_NESTED_BODIES)
        return fail(TENGINE_ELIMIT, "its subgraphs are nested in more than %d others",
                    IR_MOST_NESTED_BODIES);
    TENGINE_RETURN_IF_ERROR(reading_.budget.charge(sizeof(struct node)));
    struct node* node = create_op_node(reading_.graph, outputs_[0]->name, op, nullptr);
    if (!node) return last_error();
    node->core->bodies = create_ir_bodies(bodies);
    if (!node->core->bodies) return fail(TENGINE_ENOMEM, "%s", "out of memory for its graphs");
    *out_node = node;
    return TENGINE_OK;
}

int CallReader::finish_node(struct node* node) const
{
    for (size_t i = 0; i < outputs_.size(); ++i)
        TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(node, static_cast<int>(i), outputs_[i]));
    return TENGINE_OK;
}

int CallReader::begin_body(struct node* node, const char* attribute, ir_body_t* body) const
{
    body->graph = create_ir_graph(reading_.graph->attribute->context);
    if (!body->graph) return last_error();
    TENGINE_RETURN_IF_ERROR(join_ir_strings(body->graph, reading_.graph));
    const String name = String(node->name) + "/" + attribute;
    return set_ir_graph_name(body->graph, name.c_str());
}

// Reads a subgraph into a graph of its own, whose inputs are not in its list yet.
int CallReader::read_body(Reading& inner, size_t outputs, Tensors* out_inputs,
                          Tensors* out_results) const
{
    const file::Subgraph& subgraph = *inner.subgraph;
    ++inner.body_depth;
    TENGINE_RETURN_IF_ERROR(check_call(subgraph, out_inputs->size(), outputs));
    out_inputs->clear();
    TENGINE_RETURN_IF_ERROR(add_tensors(inner));
    TENGINE_RETURN_IF_ERROR(list(inner, subgraph.inputs(), "a subgraph's input", out_inputs));
    for (struct tensor* tensor : *out_inputs) {
        if (tensor->tensor_type != TENSOR_TYPE_VAR)
            return fail(TENGINE_EGRAPH, "tensor %s of its subgraph is an input twice",
                        quote(tensor->name).c_str());
        tensor->tensor_type = TENSOR_TYPE_INPUT;
    }
    TENGINE_RETURN_IF_ERROR(add_operators(inner));
    return list(inner, subgraph.outputs(), "a subgraph's output", out_results);
}

// ---- IF ----

// A branch captures all operands but the condition.
int CallReader::add_branch(struct node* node, const char* attribute, const file::Subgraph& subgraph,
                           ir_body_t* body) const
{
    TENGINE_RETURN_IF_ERROR(begin_body(node, attribute, body));
    Reading inner(reading_, body->graph, &subgraph, body->graph->name);
    Tensors inputs(inputs_.begin() + 1, inputs_.end()), results;
    TENGINE_RETURN_IF_ERROR(read_body(inner, outputs_.size(), &inputs, &results));
    for (const struct tensor* tensor : inputs)
        TENGINE_RETURN_IF_ERROR(add_ir_body_input(body, tensor, true));
    TENGINE_RETURN_IF_ERROR(sort_ir_graph(body->graph));
    TENGINE_RETURN_IF_ERROR(set_outputs(body->graph, results));
    TENGINE_RETURN_IF_ERROR(set_ir_graph_input_tensor(body->graph, body->inputs, body->input_num));
    body->first_capture = node->input_num;
    for (size_t i = 1; i < inputs_.size(); ++i)
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(node, node->input_num, inputs_[i]));
    return TENGINE_OK;
}

int CallReader::add_if(const file::Subgraph& chosen, const file::Subgraph& other) const
{
    struct node* node = nullptr;
    if (inputs_.empty()) return fail(TENGINE_EGRAPH, "%s", "it has no condition");
    TENGINE_RETURN_IF_ERROR(make_node("If", 2, &node));
    TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(node, 0, inputs_[0]));
    ir_body_t* bodies = node->core->bodies->list;
    TENGINE_RETURN_IF_ERROR(add_branch(node, "then_branch", chosen, &bodies[0]));
    TENGINE_RETURN_IF_ERROR(add_branch(node, "else_branch", other, &bodies[1]));
    return finish_node(node);
}

// ---- WHILE ----

struct tensor* add_scalar(struct graph* graph, const char* name, int data_type)
{
    struct tensor* tensor = create_ir_tensor(graph, name, data_type);
    if (!tensor || set_ir_tensor_shape(tensor, nullptr, 0) < 0) return nullptr;
    tensor->tensor_type = TENSOR_TYPE_INPUT;
    return tensor;
}

// Loop's body computes the condition of the next iteration from its own results. Its inputs are the
// number of the iteration and the condition, which it does not read, and the values.
int CallReader::add_loop_body(struct node* node, const file::Subgraph& condition,
                              const file::Subgraph& work) const
{
    ir_body_t* body = &node->core->bodies->list[0];
    TENGINE_RETURN_IF_ERROR(begin_body(node, "body", body));
    struct graph* graph = body->graph;
    Reading inner(reading_, graph, &work, graph->name);
    Tensors inputs = inputs_, results, next;
    TENGINE_RETURN_IF_ERROR(read_body(inner, outputs_.size(), &inputs, &results));
    const String name = String(graph->name) + "/condition";
    TENGINE_RETURN_IF_ERROR(expand(inner, condition, name.c_str(), results, 1, &next));
    const struct tensor* iteration = add_scalar(graph, "iteration", TENGINE_DT_INT64);
    const struct tensor* given = add_scalar(graph, "condition", TENGINE_DT_BOOL);
    if (!iteration || !given) return last_error();
    TENGINE_RETURN_IF_ERROR(add_ir_body_input(body, iteration, false));
    TENGINE_RETURN_IF_ERROR(add_ir_body_input(body, given, false));
    for (const struct tensor* tensor : inputs)
        TENGINE_RETURN_IF_ERROR(add_ir_body_input(body, tensor, false));
    next.insert(next.end(), results.begin(), results.end());
    TENGINE_RETURN_IF_ERROR(sort_ir_graph(graph));
    TENGINE_RETURN_IF_ERROR(set_outputs(graph, next));
    body->first_capture = node->input_num;
    return set_ir_graph_input_tensor(graph, body->inputs, body->input_num);
}

int CallReader::add_while(const file::Subgraph& condition, const file::Subgraph& work) const
{
    if (inputs_.size() != outputs_.size())
        return fail(TENGINE_EGRAPH, "it has %zu inputs and %zu outputs, expected as many",
                    inputs_.size(), outputs_.size());
    struct node* node = nullptr;
    TENGINE_RETURN_IF_ERROR(make_node("Loop", 1, &node));
    Tensors first;
    const String name = String(node->name) + "/condition";
    TENGINE_RETURN_IF_ERROR(expand(reading_, condition, name.c_str(), inputs_, 1, &first));
    first.insert(first.end(), inputs_.begin(), inputs_.end());
    // The number of iterations, input 0, is absent.
    for (size_t i = 0; i < first.size(); ++i)
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(node, static_cast<int>(i) + 1, first[i]));
    TENGINE_RETURN_IF_ERROR(add_loop_body(node, condition, work));
    return finish_node(node);
}

int CallReader::run()
{
    const bool is_composite = code_ == kComposite;
    const file::Subgraph *first = nullptr, *second = nullptr;
    TENGINE_RETURN_IF_ERROR(list(reading_, record_.inputs(), "input", &inputs_));
    TENGINE_RETURN_IF_ERROR(list(reading_, record_.outputs(), "output", &outputs_));
    for (const struct tensor* tensor : outputs_)
        if (tensor->producer >= 0 || tensor->tensor_type != TENSOR_TYPE_VAR)
            return fail(TENGINE_EGRAPH, "output %s is an input, a constant or written before",
                        quote(tensor->name).c_str());
    TENGINE_RETURN_IF_ERROR(
        find_called_subgraph(reading_, index_, record_, is_composite ? 1 : 0, &first));
    if (code_ == kCall || is_composite) return replace(*first);
    TENGINE_RETURN_IF_ERROR(find_called_subgraph(reading_, index_, record_, 1, &second));
    return code_ == kIf ? add_if(*first, *second) : add_while(*first, *second);
}

}  // namespace

bool calls_subgraphs(int code)
{
    return code == kCall || code == kIf || code == kWhile || code == kLaterWhile ||
           code == kComposite;
}

int find_called_subgraph(const Reading& reading, uint32_t index, const file::Operator& record,
                         uint16_t field, const file::Subgraph** out_subgraph)
{
    const int code = find_code(reading, record);
    const bool is_later = code == kComposite || code == kLaterWhile;
    const file::Options* options = is_later ? record.options_2() : record.options();
    const auto* table = reinterpret_cast<const flatbuffers::Table*>(options);
    const auto place = static_cast<flatbuffers::voffset_t>((field + 2) * sizeof(uint16_t));
    flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(reading.image->bytes()),
                                   reading.image->size());
    if (table && !table->VerifyField<int32_t>(verifier, place, sizeof(int32_t)))
        return fail_operator(TENGINE_EFORMAT, index, code, "%s",
                             "its options are not inside the file");
    const int32_t number = table ? table->GetField<int32_t>(place, 0) : 0;
    const auto* subgraphs = reading.model->subgraphs();
    if (number < 0 || static_cast<uint32_t>(number) >= count(subgraphs))
        return fail_operator(TENGINE_EFORMAT, index, code, "it calls subgraph %d, the model has %u",
                             number, count(subgraphs));
    *out_subgraph = subgraphs->Get(static_cast<uint32_t>(number));
    return TENGINE_OK;
}

int add_call(Reading& reading, uint32_t index, int code, const file::Operator& record)
{
    return CallReader(reading, index, code, record).run();
}

}  // namespace tengine::tflite
