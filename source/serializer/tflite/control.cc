// SPDX-License-Identifier: Apache-2.0
#include "serializer/tflite/control.h"

#include <initializer_list>

#include "graph/body.h"
#include "graph/graph.h"
#include "graph/string_pool.h"
#include "operator/infer.h"
#include "operator/registry.h"
#include "serializer/tflite/numbers.h"
#include "serializer/tflite/option_fields.h"

namespace tengine::tflite {
namespace {

constexpr int kCall = 31;
constexpr int kLaterWhile = 200;
constexpr int kCase = 209;
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

int find_subgraph(const Reading& reading, uint32_t index, int code, int32_t number,
                  const file::Subgraph** out_subgraph)
{
    const auto* subgraphs = reading.model->subgraphs();
    if (number < 0 || static_cast<uint32_t>(number) >= count(subgraphs))
        return fail_operator(TENGINE_EFORMAT, index, code, "it calls subgraph %d, the model has %u",
                             number, count(subgraphs));
    *out_subgraph = subgraphs->Get(static_cast<uint32_t>(number));
    return TENGINE_OK;
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
    int read_case();
    int add_case(size_t first, size_t last);
    int add_chosen(struct node* node, const char* attribute, size_t first, size_t last,
                   ir_body_t* body) const;

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
    Vector<const file::Subgraph*> branches_;  // of STABLEHLO_CASE
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

// ---- CASE ----

struct tensor* add_constant(struct graph* graph, const String& name, int32_t value)
{
    struct tensor* tensor = create_ir_tensor(graph, name.c_str(), TENGINE_DT_INT32);
    if (!tensor || set_ir_tensor_shape(tensor, nullptr, 0) < 0) return nullptr;
    tensor->tensor_type = TENSOR_TYPE_CONST;
    if (allocate_ir_tensor(tensor) < 0) return nullptr;
    *static_cast<int32_t*>(tensor->data) = value;
    return tensor;
}

// Adds an operator of TensorFlow Lite of int32, whose result is a scalar; null after setting the
// error.
struct tensor* add_scalar_op(struct graph* graph, const String& name, const char* op, int type,
                             std::initializer_list<struct tensor*> inputs)
{
    struct node* node = create_op_node(graph, name.c_str(), op, nullptr);
    struct tensor* result = node ? create_ir_tensor(graph, name.c_str(), type) : nullptr;
    if (!result || set_ir_tensor_shape(result, nullptr, 0) < 0) return nullptr;
    for (struct tensor* input : inputs)
        if (!input || set_ir_node_input_tensor(node, node->input_num, input) < 0) return nullptr;
    return set_ir_node_output_tensor(node, 0, result) < 0 ? nullptr : result;
}

// A branch of the If: the other half of the subgraphs. Its inputs are the operands of the operator.
int CallReader::add_chosen(struct node* node, const char* attribute, size_t first, size_t last,
                           ir_body_t* body) const
{
    TENGINE_RETURN_IF_ERROR(begin_body(node, attribute, body));
    struct graph* graph = body->graph;
    Reading inner(reading_, graph, reading_.subgraph, graph->name);
    ++inner.body_depth;
    CallReader reader(inner, index_, code_, record_);
    reader.branches_ = branches_;
    const auto make = [&](const struct tensor* like, const char* role, size_t place) {
        const String name = print_text("%s/%s_%zu", graph->name, role, place);
        struct tensor* made = create_ir_tensor(graph, name.c_str(), like->data_type);
        const bool is_made = made && set_ir_tensor_shape(made, like->dims, like->dim_num) == 0;
        return is_made ? made : nullptr;
    };
    TENGINE_RETURN_IF_ERROR(reading_.budget.charge(uint64_t{inputs_.size() + outputs_.size()} *
                                                   (sizeof(struct tensor) + sizeof(void*))));
    for (size_t i = 0; i < inputs_.size(); ++i) {
        struct tensor* input = make(inputs_[i], "input", i);
        if (!input) return last_error();
        input->tensor_type = TENSOR_TYPE_INPUT;
        TENGINE_RETURN_IF_ERROR(add_ir_body_input(body, input, true));
        reader.inputs_.push_back(input);
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
        reader.outputs_.push_back(make(outputs_[i], "output", i));
        if (!reader.outputs_.back()) return last_error();
    }
    TENGINE_RETURN_IF_ERROR(reader.add_case(first, last));
    TENGINE_RETURN_IF_ERROR(sort_ir_graph(graph));
    TENGINE_RETURN_IF_ERROR(set_outputs(graph, reader.outputs_));
    TENGINE_RETURN_IF_ERROR(set_ir_graph_input_tensor(graph, body->inputs, body->input_num));
    body->first_capture = node->input_num;
    for (struct tensor* input : inputs_)
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(node, node->input_num, input));
    return TENGINE_OK;
}

// Calls one of the subgraphs from `first` up to `last`: half of them are in each branch of an If.
int CallReader::add_case(size_t first, size_t last)
{
    if (first == last) {
        CallReader one(reading_, index_, code_, record_);
        one.inputs_.assign(inputs_.begin() + 1, inputs_.end());
        one.outputs_ = outputs_;
        return one.replace(*branches_[first]);
    }
    struct node* node = nullptr;
    const size_t middle = (first + last) / 2;
    TENGINE_RETURN_IF_ERROR(make_node("If", 2, &node));
    const String name = String(node->name) + "/is_lower";
    struct tensor* limit =
        add_constant(reading_.graph, name + "_limit", static_cast<int32_t>(middle) + 1);
    struct tensor* is_lower =
        add_scalar_op(reading_.graph, name, "tflite.LESS", TENGINE_DT_BOOL, {inputs_[0], limit});
    if (!is_lower) return last_error();
    TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(node, 0, is_lower));
    ir_body_t* bodies = node->core->bodies->list;
    TENGINE_RETURN_IF_ERROR(add_chosen(node, "then_branch", first, middle, &bodies[0]));
    TENGINE_RETURN_IF_ERROR(add_chosen(node, "else_branch", middle + 1, last, &bodies[1]));
    return finish_node(node);
}

// An index below 0, as one that is too large, is that of the last subgraph.
int CallReader::read_case()
{
    const flatbuffers::Vector<int32_t>* numbers = nullptr;
    if (!OptionFields(*reading_.image, record_.options_2()).read_list(0, &numbers))
        return fail(TENGINE_EFORMAT, "%s", "its options are not inside the file");
    if (count(numbers) == 0 || inputs_.empty() || inputs_[0]->data_type != TENGINE_DT_INT32 ||
        inputs_[0]->elem_num != 1)
        return fail(TENGINE_EGRAPH, "it has %u subgraphs and %zu inputs, %s", count(numbers),
                    inputs_.size(), "expected at least one, and first an int32");
    TENGINE_RETURN_IF_ERROR(reading_.budget.charge(uint64_t{count(numbers)} * sizeof(void*)));
    for (uint32_t i = 0; i < count(numbers); ++i) {
        branches_.push_back(nullptr);
        TENGINE_RETURN_IF_ERROR(
            find_subgraph(reading_, index_, code_, numbers->Get(i), &branches_.back()));
    }
    const size_t last = branches_.size() - 1;
    const String name = String(outputs_[0]->name) + "/index";
    struct graph* graph = reading_.graph;
    struct tensor* zero = add_constant(graph, name + "_zero", 0);
    struct tensor* least = add_constant(graph, name + "_last", static_cast<int32_t>(last));
    struct tensor* is_below = add_scalar_op(graph, name + "_is_below", "tflite.LESS",
                                            TENGINE_DT_BOOL, {inputs_[0], zero});
    inputs_[0] = add_scalar_op(graph, name, "tflite.SELECT_V2", TENGINE_DT_INT32,
                               {is_below, least, inputs_[0]});
    return inputs_[0] ? add_case(0, last) : last_error();
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
    if (code_ == kCase) return read_case();
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
           code == kComposite || code == kCase;
}

int find_called_subgraph(const Reading& reading, uint32_t index, const file::Operator& record,
                         uint16_t field, const file::Subgraph** out_subgraph)
{
    const int code = find_code(reading, record);
    const bool is_later = code == kComposite || code == kLaterWhile;
    const file::Options* options = is_later ? record.options_2() : record.options();
    int32_t number = 0;
    if (!OptionFields(*reading.image, options).read_number(field, 0, &number))
        return fail_operator(TENGINE_EFORMAT, index, code, "%s",
                             "its options are not inside the file");
    return find_subgraph(reading, index, code, number, out_subgraph);
}

int add_call(Reading& reading, uint32_t index, int code, const file::Operator& record)
{
    return CallReader(reading, index, code, record).run();
}

}  // namespace tengine::tflite
