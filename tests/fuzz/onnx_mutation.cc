// SPDX-License-Identifier: Apache-2.0
// The contract is in onnx_mutation.h. Attributes come from the operators' own tables.
#include "fuzz/onnx_mutation.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "fuzz/onnx_structure.h"
#include "fuzz/onnx_values.h"

namespace tengine::test {
namespace {

using ::onnx::AttributeProto;
using ::onnx::FunctionProto;
using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

constexpr int kMostNodes = 24;

class Mutation : private OnnxValues
{
  public:
    Mutation(std::mt19937* engine, ModelProto* model, GraphProto* graph)
        : OnnxValues(engine), model_(*model), graph_(*graph)
    {
    }

    void apply();

  private:
    using Step = void (Mutation::*)();

    NodeProto* some_node() { return graph_.mutable_node(draw_from(graph_.node())); }
    TensorProto* some_constant()
    {
        return graph_.mutable_initializer(draw_from(graph_.initializer()));
    }

    std::string some_value();

    void change_operator();
    void change_attribute();
    void add_attribute();
    void drop_attribute();
    void rewire_input();
    void change_input_number();
    void add_node();
    void drop_node();
    void repeat_node();
    void swap_nodes();
    void change_constant_shape();
    void change_constant_type();
    void change_constant_values();
    void add_constant();
    void change_input_shape();
    void change_input_type();
    void change_outputs();
    void change_opset();

    ModelProto& model_;
    GraphProto& graph_;
};

// Returns the name of a tensor of the graph, or of none.
std::string Mutation::some_value()
{
    std::vector<std::string> names = {""};
    for (const auto& input : graph_.input())
        names.push_back(input.name());
    for (const auto& constant : graph_.initializer())
        names.push_back(constant.name());
    for (const auto& node : graph_.node())
        names.insert(names.end(), node.output().begin(), node.output().end());
    return names[draw(static_cast<int>(names.size()))];
}

void Mutation::change_operator()
{
    if (graph_.node_size() > 0) some_node()->set_op_type(some_operator()->name);
}

void Mutation::change_attribute()
{
    if (graph_.node_size() == 0) return;
    NodeProto* node = some_node();
    if (node->attribute_size() == 0) return;
    AttributeProto* attribute = node->mutable_attribute(draw_from(node->attribute()));
    if (attribute->ints_size() > 0 && draw(4) != 0) {
        attribute->set_ints(draw_from(attribute->ints()), some_integer());
    } else if (attribute->floats_size() > 0) {
        attribute->set_floats(draw_from(attribute->floats()), some_float());
    } else if (attribute->has_i()) {
        attribute->set_i(some_integer());
    } else if (attribute->has_f()) {
        attribute->set_f(some_float());
    } else if (attribute->ints_size() > 0) {
        attribute->add_ints(some_integer());
    } else {
        attribute->set_type(static_cast<AttributeProto::AttributeType>(draw(14)));
    }
}

void Mutation::add_attribute()
{
    if (graph_.node_size() == 0) return;
    NodeProto* node = some_node();
    const int type = get_op_type_by_name(node->op_type().c_str());
    const ir_method_t* method = type < 0 ? nullptr : find_op_method(type, 0);
    if (!method || method->field_num == 0) return;
    fill_attribute(method->fields[draw(method->field_num)], node->add_attribute());
}

void Mutation::drop_attribute()
{
    if (graph_.node_size() == 0) return;
    NodeProto* node = some_node();
    if (node->attribute_size() == 0) return;
    const int index = draw_from(node->attribute());
    node->mutable_attribute()->DeleteSubrange(index, 1);
}

void Mutation::rewire_input()
{
    if (graph_.node_size() == 0) return;
    NodeProto* node = some_node();
    if (node->input_size() > 0) node->set_input(draw_from(node->input()), some_value());
}

void Mutation::change_input_number()
{
    if (graph_.node_size() == 0) return;
    NodeProto* node = some_node();
    if (draw(2) == 0) {
        node->add_input(some_value());
    } else if (node->input_size() > 0) {
        node->mutable_input()->RemoveLast();
    }
}

// A node that reads existing values; its results are outputs of the model.
void Mutation::add_node()
{
    if (graph_.node_size() >= kMostNodes) return drop_node();
    const ir_method_t* method = some_operator();
    std::vector<std::string> inputs;
    const int most = method->max_input < 0 ? method->min_input + 2 : method->max_input;
    for (int i = method->min_input + draw(most - method->min_input + 1); i > 0; --i)
        inputs.push_back(some_value());
    NodeProto* node = graph_.add_node();
    node->set_name(new_name());
    node->set_op_type(method->name);
    node->set_domain(method->domain ? method->domain : "");
    for (const std::string& input : inputs)
        node->add_input(input);
    for (int i = 0; i < method->field_num; ++i)
        if (method->fields[i].required || draw(4) == 0)
            fill_attribute(method->fields[i], node->add_attribute());
    for (int i = 0; i < (method->min_output > 1 ? method->min_output : 1); ++i) {
        node->add_output(new_name());
        graph_.add_output()->set_name(node->output(i));
    }
}

void Mutation::drop_node()
{
    if (graph_.node_size() > 1) graph_.mutable_node()->DeleteSubrange(draw_from(graph_.node()), 1);
}

void Mutation::repeat_node()
{
    if (graph_.node_size() == 0 || graph_.node_size() >= kMostNodes) return;
    NodeProto copy = *some_node();
    for (std::string& output : *copy.mutable_output()) {
        output = new_name();
        graph_.add_output()->set_name(output);
    }
    *graph_.add_node() = copy;
}

void Mutation::swap_nodes()
{
    if (graph_.node_size() > 1)
        graph_.mutable_node()->SwapElements(draw_from(graph_.node()), draw_from(graph_.node()));
}

void Mutation::change_constant_shape()
{
    if (graph_.initializer_size() == 0) return;
    TensorProto* constant = some_constant();
    const int size = constant->dims_size();
    if (size > 1 && draw(2) == 0) {
        constant->mutable_dims()->SwapElements(draw(size), draw(size));
    } else if (size > 0 && draw(4) == 0) {
        constant->set_dims(draw(size), some_integer());
    } else {
        constant->add_dims(1);
    }
}

void Mutation::change_constant_type()
{
    if (graph_.initializer_size() > 0) some_constant()->set_data_type(draw(24));
}

void Mutation::change_constant_values()
{
    if (graph_.initializer_size() == 0) return;
    TensorProto* constant = some_constant();
    std::string* raw = constant->mutable_raw_data();
    const bool is_wide = constant->data_type() == TensorProto::INT64;
    const size_t element = is_wide ? sizeof(int64_t) : sizeof(float);
    if (raw->size() < element) return fill_constant(constant);
    char* place =
        raw->data() + static_cast<size_t>(draw(static_cast<int>(raw->size() / element))) * element;
    const int64_t integer = some_integer();
    const float real = some_float();
    std::memcpy(place, is_wide ? static_cast<const void*>(&integer) : &real, element);
}

void Mutation::add_constant()
{
    TensorProto* constant = graph_.add_initializer();
    constant->set_name(new_name());
    fill_constant(constant);
    if (graph_.node_size() == 0) return;
    NodeProto* node = some_node();
    if (node->input_size() > 0) node->set_input(draw_from(node->input()), constant->name());
}

void Mutation::change_input_shape()
{
    if (graph_.input_size() == 0) return;
    auto* shape = graph_.mutable_input(draw_from(graph_.input()))
                      ->mutable_type()
                      ->mutable_tensor_type()
                      ->mutable_shape();
    auto* dim = shape->dim_size() == 0 || draw(8) == 0
                    ? shape->add_dim()
                    : shape->mutable_dim(draw_from(shape->dim()));
    if (draw(8) == 0) {
        dim->set_dim_param("n");
    } else {
        dim->set_dim_value(draw(16) == 0 ? some_integer() : draw(9));
    }
}

void Mutation::change_input_type()
{
    if (graph_.input_size() > 0)
        graph_.mutable_input(draw_from(graph_.input()))
            ->mutable_type()
            ->mutable_tensor_type()
            ->set_elem_type(draw(24));
}

void Mutation::change_outputs()
{
    if (graph_.output_size() > 1 && draw(2) == 0) {
        graph_.mutable_output()->DeleteSubrange(draw_from(graph_.output()), 1);
    } else {
        graph_.add_output()->set_name(some_value());
    }
}

void Mutation::change_opset()
{
    if (model_.opset_import_size() > 0)
        model_.mutable_opset_import(draw_from(model_.opset_import()))->set_version(draw(30));
}

void Mutation::apply()
{
    static constexpr Step kSteps[] = {
        &Mutation::change_operator,
        &Mutation::change_attribute,
        &Mutation::change_attribute,
        &Mutation::add_attribute,
        &Mutation::drop_attribute,
        &Mutation::rewire_input,
        &Mutation::rewire_input,
        &Mutation::change_input_number,
        &Mutation::add_node,
        &Mutation::add_node,
        &Mutation::drop_node,
        &Mutation::repeat_node,
        &Mutation::swap_nodes,
        &Mutation::change_constant_shape,
        &Mutation::change_constant_type,
        &Mutation::change_constant_values,
        &Mutation::change_constant_values,
        &Mutation::add_constant,
        &Mutation::change_input_shape,
        &Mutation::change_input_type,
        &Mutation::change_outputs,
        &Mutation::change_opset,
    };
    (this->*kSteps[draw(static_cast<int>(std::size(kSteps)))])();
}

}  // namespace

void mutate_model(std::mt19937* engine, ModelProto* model)
{
    OnnxValues values(engine);
    const std::vector<GraphProto*> graphs = list_graphs(model);
    const int place = values.draw(static_cast<int>(graphs.size()) + model->functions_size());
    GraphProto nodes;  // of a function
    GraphProto* graph = &nodes;
    FunctionProto* function = nullptr;
    if (place < static_cast<int>(graphs.size()))
        graph = graphs[static_cast<size_t>(place)];
    else
        function = model->mutable_functions(place - static_cast<int>(graphs.size()));
    if (function) nodes.mutable_node()->Swap(function->mutable_node());
    if (values.draw(3) == 0)
        mutate_structure(engine, model, graph);
    else
        Mutation(engine, model, graph).apply();
    if (function) nodes.mutable_node()->Swap(function->mutable_node());
}

}  // namespace tengine::test
