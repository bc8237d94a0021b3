// SPDX-License-Identifier: Apache-2.0
// The states of a graph (graph/state.h) as variables of the file.
#include <algorithm>

#include "graph/declaration.h"
#include "graph/graph.h"
#include "graph/state.h"
#include "operator/fail.h"
#include "operator/operator.h"
#include "serializer/tflite/numbers.h"
#include "serializer/tflite/states.h"
#include "serializer/tflite/values.h"
#include "serializer/tflite/written_subgraph.h"

namespace tengine::tflite {
namespace {

// A table with one number, or with a container's name and a name.
Offset<file::Options> write_number(Builder& builder, int32_t number)
{
    const auto start = builder.StartTable();
    builder.AddElement(flatbuffers::FieldIndexToOffset(0), number);
    return Offset<file::Options>(builder.EndTable(start));
}

Offset<file::Options> write_name(Builder& builder, const String& container, const String& name)
{
    const auto place = builder.CreateString(container);
    const auto text = builder.CreateString(name);
    const auto start = builder.StartTable();
    builder.AddOffset(flatbuffers::FieldIndexToOffset(0), place);
    builder.AddOffset(flatbuffers::FieldIndexToOffset(1), text);
    return Offset<file::Options>(builder.EndTable(start));
}

Offset<file::Operator> make_operator(Writing& writing, int code, const Vector<int32_t>& inputs,
                                     const Vector<int32_t>& outputs, Offset<file::Options> options)
{
    Builder& builder = writing.builder;
    const auto in = builder.CreateVector(inputs), out = builder.CreateVector(outputs);
    const uint32_t index = writing.add_code(code, {}, 1);
    const uint8_t type = options.IsNull() ? 0 : find_options_type(code).number;
    return file::CreateOperator(builder, index, in, out, type, options);
}

bool is_filled_with(const Vector<uint8_t>& value, uint8_t byte)
{
    return std::all_of(value.begin(), value.end(), [&](uint8_t one) { return one == byte; });
}

}  // namespace

// The state whose value before a run the tensor is; -1: it is another tensor.
int SubgraphWriter::find_state(int32_t tensor) const
{
    for (int i = 0; i < count_ir_states(&graph_); ++i)
        if (get_ir_state_input(&graph_, i)->index == tensor) return i;
    return -1;
}

// Whether all values of the tensor are a state that the file does not have.
bool SubgraphWriter::is_hidden(int32_t tensor) const
{
    const int state = tensor < 0 ? -1 : find_state(copied_[static_cast<size_t>(tensor)]);
    return state >= 0 && kind_of(state) == StateKind::kHidden;
}

int32_t SubgraphWriter::root_of(const struct tensor* tensor) const
{
    return tensor ? copied_[static_cast<size_t>(tensor->index)] : -1;
}

// All values of a state in a run are one variable.
void SubgraphWriter::find_next_values(const struct node& node)
{
    const int code = node.op.method->tflite_code;
    const bool is_tflite = std::string_view(get_ir_node_domain(&node)) == "tflite";
    if (!is_tflite) return;
    const auto take = [&](int input, int output, StateKind kind) {
        const int32_t root = root_of(get_ir_node_input(&node, input));
        const int state = root < 0 ? -1 : find_state(root);
        if (state < 0) return false;
        state_kinds_[static_cast<size_t>(state)] = kind;
        if (const struct tensor* next = get_ir_node_output(&node, output))
            copied_[static_cast<size_t>(next->index)] = root;
        return true;
    };
    if (code == kReadVariable) take(0, -1, StateKind::kResource);
    if (code == kAssignVariable) take(0, 0, StateKind::kResource);
    if (!writes_next_values(node)) return;
    int output = node.output_num;
    for (int i = 0; i < node.input_num; ++i) {
        const int32_t root = root_of(get_ir_node_input(&node, i));
        if (root >= 0 && find_state(root) >= 0) --output;
    }
    if (output < node.op.method->min_output) return;
    const StateKind kind = code == kCustomCode ? StateKind::kHidden : StateKind::kVariable;
    for (int i = 0; i < node.input_num && output < node.output_num; ++i)
        if (take(i, output, kind)) ++output;
}

void SubgraphWriter::add_operator(int code, const Vector<int32_t>& inputs,
                                  const Vector<int32_t>& outputs, Offset<file::Options> options)
{
    operators_.push_back(make_operator(writing_, code, inputs, outputs, options));
}

// The number of a resource among the tensors.
int32_t SubgraphWriter::add_handle(std::string_view name)
{
    const auto text = builder_.CreateString(String(name) + "/resource");
    const List<int32_t> scalar = builder_.CreateVector(Vector<int32_t>());
    tensors_.push_back(file::CreateTensor(builder_, scalar, kResourceType, 0, text));
    return static_cast<int32_t>(tensors_.size() - 1);
}

// A state that its entry shares with no other has a container of its own. The key of a file's
// resource is "container:name", as the reader makes it.
void SubgraphWriter::name_resource(int state, String* out_container, String* out_name) const
{
    const char* key = get_ir_state_key(&graph_, state);
    *out_container = *key ? "" : *writing_.entry ? writing_.entry : "own";
    *out_name = *key ? key : get_ir_state_input(&graph_, state)->name;
    const size_t colon = out_name->find(':');
    const bool is_of_file = origin_.model() && kind_of(state) == StateKind::kResource;
    if (!*key || !is_of_file || colon == String::npos) return;
    *out_container = out_name->substr(0, colon);
    *out_name = out_name->substr(colon + 1);
}

Offset<file::Options> SubgraphWriter::name_handle(int state)
{
    String container, name;
    name_resource(state, &container, &name);
    return write_name(builder_, container, name);
}

// Entries are loaded alone, so that only here all that share a resource are there.
int SubgraphWriter::check_sharing(const FirstValue& mine, const FirstValue& other) const
{
    const struct tensor& one = *get_ir_state_input(&graph_, mine.state);
    const struct tensor& two = *get_ir_state_input(other.graph, other.state);
    if (other.graph == &graph_)
        return tengine_error_set(TENGINE_EGRAPH,
                                 "states '%s' and '%s' have the same name for entries, '%s'",
                                 two.name, one.name, mine.name.c_str());
    if (mine.is_variable || other.is_variable)
        return tengine_error_set(TENGINE_ENOTSUP,
                                 "entries '%s' and '%s' share '%s', the state of an operator, "
                                 "which belongs to one signature in a .tflite",
                                 other.entry, mine.entry, mine.name.c_str());
    char text[IR_SHAPE_TEXT_SIZE], text_2[IR_SHAPE_TEXT_SIZE];
    if (one.data_type == two.data_type && one.dim_num == two.dim_num &&
        std::equal(one.dims, one.dims + one.dim_num, two.dims))
        return TENGINE_OK;
    return tengine_error_set(
        TENGINE_EGRAPH, "state '%s' is %s %s in entry '%s', but %s %s in entry '%s'", one.name,
        get_data_type_name(one.data_type), print_ir_shape(&one, text), mine.entry,
        get_data_type_name(two.data_type), print_ir_shape(&two, text_2), other.entry);
}

int SubgraphWriter::add_first_value(int state)
{
    const bool is_variable =
        kind_of(state) == StateKind::kVariable || kind_of(state) == StateKind::kHidden;
    const char* once = get_ir_state_once(&graph_, state);
    const bool is_assigned = !is_variable && !(once && !*once);
    FirstValue value = {{},      {},    once ? once : "", is_assigned,
                        &graph_, state, writing_.entry,   is_variable};
    name_resource(state, &value.container, &value.name);
    FirstValue* known = nullptr;
    for (FirstValue& other : writing_.first_values) {
        if (other.container != value.container || other.name != value.name) continue;
        TENGINE_RETURN_IF_ERROR(check_sharing(value, other));
        if (other.once == value.once && other.is_assigned == value.is_assigned) known = &other;
    }
    if (!known)
        writing_.first_values.push_back(value);
    else if (!has_ir_first_value(known->graph, known->state) && has_ir_first_value(&graph_, state))
        *known = value;
    if (!is_assigned) return TENGINE_OK;
    const auto [place, is_new] = writing_.first_values_places.try_emplace(
        value.once, static_cast<int32_t>(writing_.subgraphs.size()));
    if (is_new) writing_.subgraphs.emplace_back();
    if (std::find(called_.begin(), called_.end(), place->second) != called_.end())
        return TENGINE_OK;
    called_.push_back(place->second);
    add_operator(kCallOnce, {}, {}, write_number(builder_, place->second));
    return TENGINE_OK;
}

// Variables of operators begin with zeros.
int SubgraphWriter::call_first_values()
{
    for (int i = 0; i < count_ir_states(&graph_); ++i) {
        const struct tensor& input = *get_ir_state_input(&graph_, i);
        if (!is_ir_tensor_shape_known(&input))
            return tengine_error_set(TENGINE_EGRAPH,
                                     "the shape of the state '%s' is not known, which a variable "
                                     "of a .tflite needs",
                                     input.name);
        TENGINE_RETURN_IF_ERROR(add_first_value(i));
        if (kind_of(i) == StateKind::kPlain || kind_of(i) == StateKind::kResource) continue;
        Vector<uint8_t> value(get_ir_tensor_bytes(&input));
        TENGINE_RETURN_IF_ERROR(write_ir_first_value(&graph_, i, value.data(), value.size()));
        const bool is_int8 = input.data_type == TENGINE_DT_INT8 && input.quant_param_num == 1;
        if (!is_filled_with(value, is_int8 ? static_cast<uint8_t>(input.zero_point) : 0))
            return tengine_error_set(TENGINE_ENOTSUP,
                                     "the state '%s' of an operator begins with other "
                                     "values than zeros, which a .tflite cannot say",
                                     input.name);
    }
    return TENGINE_OK;
}

int SubgraphWriter::write_handles()
{
    for (int i = 0; i < count_ir_states(&graph_); ++i) {
        if (kind_of(i) == StateKind::kVariable || kind_of(i) == StateKind::kHidden) continue;
        const struct tensor& input = *get_ir_state_input(&graph_, i);
        int32_t& handle = handles_[static_cast<size_t>(i)];
        const bool is_plain = kind_of(i) == StateKind::kPlain;
        if (is_plain) handle = add_handle(input.name);
        add_operator(kVarHandle, {}, {handle}, name_handle(i));
        if (is_plain) add_operator(kReadVariable, {handle}, {place_of(input.index)}, 0);
    }
    return TENGINE_OK;
}

// Without states, what a resource has is an input and an output of the graph.
int SubgraphWriter::check_resource(const struct node& node) const
{
    const int code = node.op.method->tflite_code;
    if (code != kReadVariable && code != kAssignVariable) return TENGINE_OK;
    const int32_t root = root_of(get_ir_node_input(&node, 0));
    if (root >= 0 && find_state(root) >= 0) return TENGINE_OK;
    return fail_node(
        &node, TENGINE_ENOTSUP,
        "its variable is not a state of the graph, which was loaded with model.states=0");
}

void SubgraphWriter::write_assignments()
{
    for (int i = 0; i < count_ir_states(&graph_); ++i)
        if (kind_of(i) == StateKind::kPlain)
            add_operator(kAssignVariable,
                         {handles_[static_cast<size_t>(i)],
                          place_of(get_ir_state_output(&graph_, i)->index)},
                         {}, 0);
}

namespace {

// The subgraph that assigns the values of one CALL_ONCE.
int write_once(Writing& writing, const String& once, Offset<file::Subgraph>* out_subgraph)
{
    Builder& builder = writing.builder;
    Vector<Offset<file::Tensor>> tensors;
    Vector<Offset<file::Operator>> operators;
    for (const FirstValue& first : writing.first_values) {
        if (!first.is_assigned || first.once != once) continue;
        const struct tensor& input = *get_ir_state_input(first.graph, first.state);
        Vector<uint8_t> value(get_ir_tensor_bytes(&input));
        TENGINE_RETURN_IF_ERROR(
            write_ir_first_value(first.graph, first.state, value.data(), value.size()));
        const Vector<int32_t> dims(input.dims, input.dims + input.dim_num);
        const auto place = static_cast<int32_t>(tensors.size());
        const auto name = builder.CreateString(first.name);
        const List<int32_t> scalar = builder.CreateVector(Vector<int32_t>());
        tensors.push_back(file::CreateTensor(builder, scalar, kResourceType, 0, name));
        const uint32_t buffer = writing.add_buffer(value.data(), value.size());
        const auto shape = builder.CreateVector(dims);
        const auto type = static_cast<int8_t>(find_file_type(input.data_type));
        const auto text = builder.CreateString(first.name + "/first");
        tensors.push_back(file::CreateTensor(builder, shape, type, buffer, text));
        const Offset<file::Options> options = write_name(builder, first.container, first.name);
        operators.push_back(make_operator(writing, kVarHandle, {}, {place}, options));
        operators.push_back(make_operator(writing, kAssignVariable, {place, place + 1}, {}, 0));
    }
    const List<int32_t> none = builder.CreateVector(Vector<int32_t>());
    const auto all = builder.CreateVector(tensors);
    const auto steps = builder.CreateVector(operators);
    const auto name = builder.CreateString("first_values");
    *out_subgraph = file::CreateSubgraph(builder, all, none, none, steps, name);
    return TENGINE_OK;
}

}  // namespace

int write_first_values(Writing& writing)
{
    for (const auto& [once, place] : writing.first_values_places)
        TENGINE_RETURN_IF_ERROR(
            write_once(writing, once, &writing.subgraphs[static_cast<size_t>(place)]));
    return TENGINE_OK;
}

}  // namespace tengine::tflite
