// SPDX-License-Identifier: Apache-2.0
// A graph as a subgraph: its operators in an order in which they can run, and its tensors.
#include "serializer/tflite/written_subgraph.h"

#include <algorithm>
#include <cstring>

#include "graph/graph.h"
#include "graph/state.h"
#include "graph/string_pool.h"
#include "operator/infer.h"
#include "operator/registry.h"
#include "serializer/tflite/byte_code.h"
#include "serializer/tflite/numbers.h"
#include "serializer/tflite/values.h"

namespace tengine::tflite {
namespace {

template <class Item>
Vector<Item> to_list(const flatbuffers::Vector<Item>* list)
{
    return list ? Vector<Item>(list->begin(), list->end()) : Vector<Item>();
}

bool is_op(const struct node& node, const char* name)
{
    return std::strcmp(get_ir_node_op(&node), name) == 0;
}

// A free dimension is 1. A shape that depends on data is the file's, or none.
Vector<int32_t> find_shape(const struct tensor& tensor, const file::Tensor* record)
{
    if (!tensor.shape_set) return record ? to_list(record->shape()) : Vector<int32_t>();
    Vector<int32_t> shape(tensor.dims, tensor.dims + tensor.dim_num);
    std::replace(shape.begin(), shape.end(), -1, 1);
    return shape;
}

// The shape with -1 for free dimensions, as the file has it if the graph has the others; empty:
// there are none.
Vector<int32_t> find_signature(const struct tensor& tensor, const file::Tensor* record)
{
    Vector<int32_t> given = record ? to_list(record->shape_signature()) : Vector<int32_t>();
    if (!tensor.shape_set) return given;
    bool is_same = given.size() == tensor.dim_num;
    for (size_t i = 0; is_same && i < given.size(); ++i)
        is_same = given[i] < 0 || given[i] == tensor.dims[i];
    if (is_same) return given;
    given.assign(tensor.dims, tensor.dims + tensor.dim_num);
    return std::find(given.begin(), given.end(), -1) == given.end() ? Vector<int32_t>() : given;
}

// The byte code, the last input of its node, is not a tensor of the file.
int count_file_inputs(const struct node& node)
{
    return node.input_num - (is_dispatch(&node) ? 1 : 0);
}

// Nodes that stand for an input or a constant of a graph in source form.
bool is_source(const struct node& node)
{
    return is_op(node, "InputOp") || is_op(node, "Const");
}

// The number of strings, where each begins and the last one ends, and their bytes.
String encode_texts(const char* const* texts, size_t number)
{
    String bytes, ends;
    Vector<int32_t> head = {static_cast<int32_t>(number)};
    for (size_t i = 0; i < number; ++i) {
        head.push_back(static_cast<int32_t>((number + 2) * sizeof(int32_t) + bytes.size()));
        bytes += texts[i];
    }
    head.push_back(static_cast<int32_t>((number + 2) * sizeof(int32_t) + bytes.size()));
    return String(reinterpret_cast<const char*>(head.data()), head.size() * sizeof(int32_t)) +
           bytes;
}

}  // namespace

// ---- order ----

// Depth first, each node after those that write its inputs.
void SubgraphWriter::order_nodes()
{
    Vector<char> is_listed(static_cast<size_t>(graph_.node_num), 0);
    Vector<std::pair<int32_t, int>> open;  // a node, and its next input
    for (int i = 0; i < graph_.node_num; ++i) {
        if (graph_.node_list[i]) open.emplace_back(i, 0);
        while (!open.empty()) {
            auto& [index, input] = open.back();
            const struct node& node = *graph_.node_list[index];
            if (input == 0 && is_listed[static_cast<size_t>(index)]) {
                open.pop_back();
                continue;
            }
            is_listed[static_cast<size_t>(index)] = 1;
            if (input == node.input_num) {
                nodes_.push_back(&node);
                open.pop_back();
                continue;
            }
            const struct tensor* tensor = get_ir_node_input(&node, input++);
            if (tensor && tensor->producer >= 0 &&
                !is_listed[static_cast<size_t>(tensor->producer)])
                open.emplace_back(tensor->producer, 0);
        }
    }
}

// The format has no operator Identity: what reads its result reads its input.
void SubgraphWriter::find_copies()
{
    copied_.resize(static_cast<size_t>(graph_.tensor_num));
    names_.resize(copied_.size());
    for (size_t i = 0; i < copied_.size(); ++i)
        copied_[i] = static_cast<int32_t>(i);
    state_kinds_.resize(static_cast<size_t>(count_ir_states(&graph_)), StateKind::kPlain);
    handles_.resize(state_kinds_.size(), -1);
    for (const struct node* node : nodes_) {
        find_next_values(*node);
        if (!is_op(*node, "Identity")) continue;
        const struct tensor* from = get_ir_node_input(node, 0);
        const struct tensor* to = get_ir_node_output(node, 0);
        if (!from || !to) continue;
        const int32_t root = copied_[static_cast<size_t>(from->index)];
        copied_[static_cast<size_t>(to->index)] = root;
        const struct tensor& copied = *graph_.tensor_list[root];
        if (copied.tensor_type != TENSOR_TYPE_INPUT && copied.core->graph_output_num == 0 &&
            to->core->graph_output_num > 0)
            names_[static_cast<size_t>(root)] = to->name;
    }
}

int32_t SubgraphWriter::place_of(int32_t tensor) const
{
    return tensor < 0 ? -1 : places_[static_cast<size_t>(copied_[static_cast<size_t>(tensor)])];
}

Vector<int32_t> SubgraphWriter::list_places(const Vector<int32_t>& tensors) const
{
    Vector<int32_t> places;
    for (const int32_t tensor : tensors)
        places.push_back(place_of(tensor));
    return places;
}

// Tensors that nothing uses are written when the file had them.
void SubgraphWriter::number_tensors(const Vector<SubgraphInput>& inputs,
                                    const Vector<int32_t>& outputs)
{
    Vector<char> is_used(copied_.size(), 0);
    const auto use = [&](int32_t tensor) {
        if (tensor >= 0) is_used[static_cast<size_t>(copied_[static_cast<size_t>(tensor)])] = 1;
    };
    for (const struct node* node : nodes_) {
        if (is_source(*node)) continue;
        std::for_each(node->input_tensors, node->input_tensors + count_file_inputs(*node), use);
        std::for_each(node->output_tensors, node->output_tensors + node->output_num, use);
    }
    for (const SubgraphInput& input : inputs)
        use(input.tensor);
    std::for_each(outputs.begin(), outputs.end(), use);
    places_.resize(copied_.size(), -1);
    int32_t number = 0;
    for (size_t i = 0; i < copied_.size(); ++i) {
        const struct tensor* tensor = graph_.tensor_list[i];
        const bool is_copy = copied_[i] != static_cast<int32_t>(i);
        const bool is_written = is_used[i] || (tensor && origin_.find(*tensor));
        if (tensor && !is_copy && is_written && !is_hidden(static_cast<int32_t>(i)))
            places_[i] = number++;
    }
}

// ---- tensors ----

int SubgraphWriter::write_tensor(const struct tensor& tensor)
{
    const int state = find_state(tensor.index);
    if (state >= 0 && kind_of(state) == StateKind::kResource) {
        handles_[static_cast<size_t>(state)] = add_handle(get_ir_state_input(&graph_, state)->name);
        return TENGINE_OK;
    }
    const file::Tensor* record = origin_.find(tensor);
    const bool is_constant = tensor.tensor_type == TENSOR_TYPE_CONST;
    const bool is_records = record && is_constant && origin_.has_values_of(tensor, *record);
    uint32_t buffer = 0;
    if (is_records) {
        const uint8_t* bytes = nullptr;
        uint64_t size = 0;
        origin_.find_values(*record, &bytes, &size);
        buffer = writing_.share_buffer(bytes, static_cast<size_t>(size));
    } else if (is_constant) {
        TENGINE_RETURN_IF_ERROR(write_values(tensor, &buffer));
    }
    // The state that a resource is read as has the name of the resource.
    if (state >= 0 && kind_of(state) == StateKind::kPlain)
        return add_tensor(tensor, String(tensor.name) + "/read", record, false, buffer);
    // That of the file, or of the graph's output that is a copy of the tensor.
    const char* copy = names_[static_cast<size_t>(tensor.index)];
    const std::string_view known = record ? text_of(record->name()) : std::string_view();
    return add_tensor(tensor,
                      copy            ? copy
                      : known.empty() ? tensor.name
                                      : known,
                      record, is_records, buffer);
}

int SubgraphWriter::write_unread(const struct tensor& like, int32_t* out_place)
{
    *out_place = static_cast<int32_t>(tensors_.size());
    return add_tensor(like, String(like.name) + "_unread", nullptr, false, 0);
}

int SubgraphWriter::add_tensor(const struct tensor& tensor, std::string_view name,
                               const file::Tensor* record, bool is_records, uint32_t buffer)
{
    const int type = is_records ? record->type() : find_file_type(tensor.data_type);
    if (type < 0)
        return tengine_error_set(TENGINE_EDTYPE,
                                 "tensor '%s' is %s, which TensorFlow Lite does not have",
                                 tensor.name, get_data_type_name(tensor.data_type));
    const Vector<int32_t> shape = find_shape(tensor, record);
    const Vector<int32_t> signature = find_signature(tensor, record);
    const Offset<file::Quantization> quantization = write_quantisation(tensor, record, is_records);
    const int state = find_state(tensor.index);
    const bool is_variable =
        state >= 0 ? kind_of(state) == StateKind::kVariable : record && record->is_variable();
    const Offset<file::Sparsity> sparsity =
        is_records && record->sparsity() ? write_sparsity(*record->sparsity()) : 0;
    const auto text = builder_.CreateString(name.data(), name.size());
    const List<int32_t> dims = builder_.CreateVector(shape);
    const List<int32_t> free_dims = signature.empty() ? 0 : builder_.CreateVector(signature);
    tensors_.push_back(file::CreateTensor(builder_, dims, static_cast<int8_t>(type), buffer, text,
                                          quantization, is_variable, sparsity, free_dims,
                                          record && record->has_rank()));
    return TENGINE_OK;
}

// A tensor that the reader did not quantise has what the file says, if it is of the same type.
Offset<file::Quantization> SubgraphWriter::write_quantisation(const struct tensor& tensor,
                                                              const file::Tensor* record,
                                                              bool is_records)
{
    const file::Quantization* known = record ? record->quantization() : nullptr;
    const int number = tensor.quant_param_num;
    if (!known && number == 0) return 0;
    Vector<float> scales;
    Vector<int64_t> points;
    int axis = tensor.quant_axis;
    if (number == 0 || is_records) {
        scales = to_list(known->scale());
        points = to_list(known->zero_point());
        axis = known->axis();
    }
    for (int i = 0; !is_records && i < number; ++i) {
        scales.push_back(number == 1 ? tensor.scale : tensor.scale_list[i]);
        points.push_back(number == 1 ? tensor.zero_point : tensor.zp_list[i]);
    }
    const bool has_range = known && to_list(known->scale()) == scales;
    const Vector<float> minimum = has_range ? to_list(known->minimum()) : Vector<float>();
    const Vector<float> maximum = has_range ? to_list(known->maximum()) : Vector<float>();
    if (has_range) axis = known->axis();
    const bool has_blocks = is_records && known->details_type() == kBlockwise && known->details();
    const auto list = [&](const auto& values) {
        return values.empty() ? 0 : builder_.CreateVector(values);
    };
    const Offset<file::Details> details = has_blocks ? write_details(*known) : 0;
    const auto low = list(minimum), high = list(maximum), scale = list(scales);
    const List<int64_t> point = points.empty() ? 0 : builder_.CreateVector(points);
    return file::CreateQuantization(builder_, low, high, scale, point, has_blocks ? kBlockwise : 0,
                                    details, axis);
}

Offset<file::Details> SubgraphWriter::write_details(const file::Quantization& record)
{
    const auto place_of = [&](int32_t index) {
        const struct tensor* tensor = origin_.find_tensor(index);
        return tensor ? places_[static_cast<size_t>(tensor->index)] : 0;
    };
    const file::Details& details = *record.details();
    return file::CreateDetails(builder_, place_of(details.scales()),
                               details.zero_points() > 0 ? place_of(details.zero_points()) : 0,
                               details.block_size());
}

// The lists were checked when the values were compared.
Offset<file::Indices> SubgraphWriter::write_indices(int type, const file::Indices* indices)
{
    constexpr flatbuffers::voffset_t kPlace = 4;
    const auto* table = reinterpret_cast<const flatbuffers::Table*>(indices);
    if (!table) return 0;
    const auto copy = [&](auto value) {
        using Value = decltype(value);
        return builder_
            .CreateVector(to_list(table->GetPointer<const flatbuffers::Vector<Value>*>(kPlace)))
            .o;
    };
    const flatbuffers::uoffset_t list = type == 1   ? copy(int32_t{})
                                        : type == 2 ? copy(uint16_t{})
                                                    : copy(uint8_t{});
    const auto start = builder_.StartTable();
    builder_.AddOffset(kPlace, Offset<void>(list));
    return Offset<file::Indices>(builder_.EndTable(start));
}

Offset<file::Sparsity> SubgraphWriter::write_sparsity(const file::Sparsity& record)
{
    Vector<Offset<file::Dimension>> levels;
    for (uint32_t i = 0; i < count(record.dimensions()); ++i) {
        const file::Dimension& level = *record.dimensions()->Get(i);
        const bool is_sparse = level.format() != 0;
        const auto segments =
            is_sparse ? write_indices(level.segments_type(), level.segments()) : 0;
        const auto indices = is_sparse ? write_indices(level.indices_type(), level.indices()) : 0;
        levels.push_back(file::CreateDimension(builder_, level.format(), level.dense_size(),
                                               is_sparse ? level.segments_type() : 0, segments,
                                               is_sparse ? level.indices_type() : 0, indices));
    }
    const auto order = builder_.CreateVector(to_list(record.traversal_order()));
    const List<int32_t> blocks =
        record.block_map() ? builder_.CreateVector(to_list(record.block_map())) : 0;
    return file::CreateSparsity(builder_, order, blocks, builder_.CreateVector(levels));
}

int SubgraphWriter::write_values(const struct tensor& tensor, uint32_t* out_buffer)
{
    if (!is_ir_tensor_shape_known(&tensor) || (!tensor.data && tensor.elem_num > 0))
        return tengine_error_set(TENGINE_EGRAPH, "the constant '%s' has no values", tensor.name);
    if (tensor.elem_num == 0) return TENGINE_OK;
    if (IR_HAS_STRINGS && tensor.data_type == TENGINE_DT_STRING) {
        const String texts = encode_texts(static_cast<const char* const*>(tensor.data),
                                          static_cast<size_t>(tensor.elem_num));
        *out_buffer = writing_.add_buffer(texts.data(), texts.size());
        return TENGINE_OK;
    }
    *out_buffer = writing_.share_buffer(tensor.data, get_ir_tensor_bytes(&tensor));
    return TENGINE_OK;
}

// ---- operators ----

// Tensors inside an operator of the file.
Vector<int32_t> SubgraphWriter::find_intermediates(const struct node& node) const
{
    const struct tensor* result = get_ir_node_output(&node, 0);
    const file::Operator* record = result ? origin_.find_writer(*result) : nullptr;
    Vector<int32_t> places;
    for (uint32_t i = 0; record && i < count(record->intermediates()); ++i) {
        const struct tensor* tensor = origin_.find_tensor(record->intermediates()->Get(i));
        places.push_back(tensor ? places_[static_cast<size_t>(tensor->index)] : -1);
    }
    return places;
}

int SubgraphWriter::write_node(const struct node& node)
{
    if (is_source(node) || is_op(node, "Identity")) return TENGINE_OK;
    if (is_op(node, "If")) return write_if(node);
    if (is_op(node, "Loop")) return write_while(node);
    TENGINE_RETURN_IF_ERROR(check_resource(node));
    Vector<int32_t> operands(node.input_tensors, node.input_tensors + count_file_inputs(node));
    operands.erase(std::remove_if(operands.begin(), operands.end(),
                                  [&](int32_t tensor) { return is_hidden(tensor); }),
                   operands.end());
    const Vector<int32_t> inputs = list_places(operands);
    const int code = node.op.method->tflite_code;
    if (code == kHashTableFind) return write_table_use(node, 2, {inputs[0], inputs[1]});
    if (code == kHashTableSize) return write_table_use(node, 0, {});
    // The next value of a state is not an output in the file.
    Vector<int32_t> results(node.output_tensors, node.output_tensors + node.output_num);
    const auto is_state = [&](int32_t tensor) {
        return tensor >= 0 && copied_[static_cast<size_t>(tensor)] != tensor &&
               find_state(copied_[static_cast<size_t>(tensor)]) >= 0;
    };
    results.erase(std::remove_if(results.begin(), results.end(), is_state), results.end());
    const Vector<int32_t> outputs = list_places(results);
    Offset<file::Operator> record;
    TENGINE_RETURN_IF_ERROR(
        write_operator(writing_, node, inputs, outputs, find_intermediates(node), &record));
    operators_.push_back(record);
    return TENGINE_OK;
}

int SubgraphWriter::run(const Vector<SubgraphInput>& inputs, const Vector<int32_t>& outputs,
                        std::string_view name)
{
    const size_t place = writing_.subgraphs.size();
    writing_.subgraphs.emplace_back();
    order_nodes();
    find_copies();
    number_tensors(inputs, outputs);
    for (size_t i = 0; i < places_.size(); ++i)
        if (places_[i] >= 0) TENGINE_RETURN_IF_ERROR(write_tensor(*graph_.tensor_list[i]));
    Vector<int32_t> given;
    for (const SubgraphInput& input : inputs) {
        given.push_back(place_of(input.tensor));
        if (input.tensor < 0) TENGINE_RETURN_IF_ERROR(write_unread(*input.like, &given.back()));
    }
    TENGINE_RETURN_IF_ERROR(call_first_values());
    TENGINE_RETURN_IF_ERROR(write_handles());
    for (const struct node* node : nodes_)
        TENGINE_RETURN_IF_ERROR(write_node(*node));
    write_assignments();
    const List<Offset<file::Tensor>> tensors = builder_.CreateVector(tensors_);
    const List<int32_t> in = builder_.CreateVector(given);
    const List<int32_t> out = builder_.CreateVector(list_places(outputs));
    const List<Offset<file::Operator>> operators = builder_.CreateVector(operators_);
    const auto text = builder_.CreateString(name.data(), name.size());
    writing_.subgraphs[place] = file::CreateSubgraph(builder_, tensors, in, out, operators, text);
    // Copies have the places of what they copy.
    for (size_t i = 0; i < places_.size(); ++i)
        places_[i] = places_[static_cast<size_t>(copied_[i])];
    return TENGINE_OK;
}

int write_subgraph(Writing& writing, const struct graph& graph, const Vector<int32_t>& inputs,
                   const Vector<int32_t>& outputs, std::string_view name, Places* out_places)
{
    SubgraphWriter writer(writing, graph);
    Vector<SubgraphInput> given;
    for (const int32_t input : inputs)
        given.push_back({input, nullptr});
    TENGINE_RETURN_IF_ERROR(writer.run(given, outputs, name));
    *out_places = writer.places();
    return TENGINE_OK;
}

}  // namespace tengine::tflite
