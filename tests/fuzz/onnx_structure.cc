// SPDX-License-Identifier: Apache-2.0
#include "fuzz/onnx_structure.h"

#include <string>

#include "fuzz/onnx_values.h"

namespace tengine::test {
namespace {

using ::onnx::AttributeProto;
using ::onnx::FunctionProto;
using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::SparseTensorProto;
using ::onnx::TensorProto;

// Larger graphs are not copied into others: the inputs stay small.
constexpr size_t kMostCopied = 2048;
constexpr int kMostFunctions = 8;
constexpr const char* kDomains[] = {"", "ai.onnx.ml", "com.microsoft", "ai.onnx.preview", "local"};
constexpr const char* kControl[] = {"If", "Loop", "Scan", "SequenceMap"};

class Structure : private OnnxValues
{
  public:
    Structure(std::mt19937* engine, ModelProto* model, GraphProto* graph)
        : OnnxValues(engine), model_(*model), graph_(*graph)
    {
    }

    void apply();

  private:
    using Step = void (Structure::*)();

    void add_control_node();
    void replace_body();
    void change_border();
    void rename_border();
    void make_function();
    void call_function();
    void change_function();
    void change_list();
    void refer_to_attribute();
    void give_type();
    void add_sparse();
    void change_sparse();
    void change_import();
    void change_domain();

    GraphProto* some_graph()
    {
        const std::vector<GraphProto*> graphs = list_graphs(&model_);
        return graphs[static_cast<size_t>(draw_from(graphs))];
    }
    std::string some_name();
    void add_body(const char* name, NodeProto* node);

    ModelProto& model_;
    GraphProto& graph_;
};

// Returns a value of any graph of the model: of an enclosing one, or of an unrelated one.
std::string Structure::some_name()
{
    const GraphProto& graph = *some_graph();
    std::vector<std::string> names = {"", new_name()};
    for (const auto& input : graph.input())
        names.push_back(input.name());
    for (const auto& constant : graph.initializer())
        names.push_back(constant.name());
    for (const NodeProto& node : graph.node())
        names.insert(names.end(), node.output().begin(), node.output().end());
    return names[static_cast<size_t>(draw_from(names))];
}

// ---- bodies ----

void Structure::add_body(const char* name, NodeProto* node)
{
    GraphProto copy = *some_graph();
    if (copy.ByteSizeLong() > kMostCopied) copy.clear_node();
    AttributeProto* attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(AttributeProto::GRAPH);
    *attribute->mutable_g() = copy;
}

void Structure::add_control_node()
{
    NodeProto node;
    node.set_op_type(kControl[draw(4)]);
    for (int i = draw(4); i >= 0; --i)
        node.add_input(some_name());
    if (node.op_type() == "If") {
        add_body("then_branch", &node);
        add_body("else_branch", &node);
    } else {
        add_body("body", &node);
    }
    for (int i = draw(3); i >= 0; --i) {
        node.add_output(new_name());
        if (draw(2) == 0) graph_.add_output()->set_name(node.output(node.output_size() - 1));
    }
    *graph_.add_node() = node;
}

void Structure::replace_body()
{
    if (graph_.node_size() == 0) return;
    NodeProto* node = some_of(graph_.mutable_node());
    for (AttributeProto& attribute : *node->mutable_attribute()) {
        if (!attribute.has_g() || draw(2) == 0) continue;
        const GraphProto copy = *some_graph();
        if (copy.ByteSizeLong() <= kMostCopied) *attribute.mutable_g() = copy;
        return;
    }
}

void Structure::change_border()
{
    switch (draw(5)) {
        case 0:
            graph_.add_input()->set_name(some_name());
            return;
        case 1:
            if (graph_.input_size() > 0)
                graph_.mutable_input()->DeleteSubrange(draw(graph_.input_size()), 1);
            return;
        case 2:
            if (graph_.input_size() > 1)
                graph_.mutable_input()->SwapElements(0, draw(graph_.input_size()));
            return;
        case 3:
            if (graph_.output_size() > 1)
                graph_.mutable_output()->SwapElements(0, draw(graph_.output_size()));
            return;
        default:
            graph_.add_output()->set_name(some_name());
    }
}

void Structure::rename_border()
{
    if (graph_.input_size() > 0 && draw(2) == 0)
        some_of(graph_.mutable_input())->set_name(some_name());
    else if (graph_.output_size() > 0)
        some_of(graph_.mutable_output())->set_name(some_name());
}

// ---- functions ----

void Structure::make_function()
{
    const GraphProto graph = *some_graph();
    if (model_.functions_size() >= kMostFunctions || graph.ByteSizeLong() > kMostCopied) return;
    FunctionProto* function = model_.add_functions();
    function->set_name("F" + std::to_string(draw(3)));
    function->set_domain("local");
    *function->mutable_node() = graph.node();
    *function->mutable_opset_import() = model_.opset_import();
    for (const auto& input : graph.input())
        function->add_input(input.name());
    for (const auto& output : graph.output())
        function->add_output(output.name());
    call_function();
}

void Structure::call_function()
{
    if (model_.functions_size() == 0 || graph_.node_size() == 0) return;
    const FunctionProto& function = *some_of(model_.mutable_functions());
    NodeProto* node = some_of(graph_.mutable_node());
    node->set_op_type(function.name());
    node->set_domain(function.domain());
    if (draw(4) == 0) return;
    while (node->input_size() > function.input_size())
        node->mutable_input()->RemoveLast();
    while (node->output_size() > function.output_size())
        node->mutable_output()->RemoveLast();
}

void Structure::change_function()
{
    if (model_.functions_size() == 0) return;
    FunctionProto* function = some_of(model_.mutable_functions());
    switch (draw(7)) {
        case 0:
            function->add_input(some_name());
            return;
        case 1:
            function->add_output(some_name());
            return;
        case 2:
            if (function->input_size() > 0) function->mutable_input()->RemoveLast();
            return;
        case 3:
            if (function->node_size() > 0) function->mutable_node()->RemoveLast();
            return;
        case 4:
            if (function->opset_import_size() > 0)
                some_of(function->mutable_opset_import())->set_version(draw(30));
            return;
        case 5:
            function->set_name(draw(2) == 0 ? "Relu" : "F" + std::to_string(draw(3)));
            return;
        default:
            function->set_domain(kDomains[draw(5)]);
    }
}

// ---- attributes and types ----

// Gives the lists of an operator that must have equal lengths different ones.
void Structure::change_list()
{
    if (graph_.node_size() == 0) return;
    NodeProto* node = some_of(graph_.mutable_node());
    if (node->attribute_size() == 0) return;
    AttributeProto* attribute = some_of(node->mutable_attribute());
    const bool grows = draw(2) == 0;
    if (attribute->ints_size() > 0)
        grows ? attribute->add_ints(some_integer()) : attribute->mutable_ints()->RemoveLast();
    else if (attribute->floats_size() > 0)
        grows ? attribute->add_floats(some_float()) : attribute->mutable_floats()->RemoveLast();
    else if (attribute->strings_size() > 0 && draw(2) == 0)
        *attribute->mutable_strings(draw(attribute->strings_size())) = some_text();
    else if (attribute->strings_size() > 0)
        grows ? attribute->add_strings(some_text()) : attribute->mutable_strings()->RemoveLast();
    else if (attribute->has_s())
        attribute->set_s(some_text());
}

void Structure::refer_to_attribute()
{
    if (graph_.node_size() == 0) return;
    NodeProto* node = some_of(graph_.mutable_node());
    if (node->attribute_size() == 0) return;
    AttributeProto* attribute = some_of(node->mutable_attribute());
    if (attribute->has_ref_attr_name() && draw(2) == 0)
        attribute->clear_ref_attr_name();
    else
        attribute->set_ref_attr_name(draw(2) == 0 ? attribute->name() : "slope");
}

void Structure::give_type()
{
    if (graph_.input_size() == 0) return;
    ::onnx::TypeProto* type = some_of(graph_.mutable_input())->mutable_type();
    type->Clear();
    const int choice = draw(8);
    if (choice == 0) return;
    if (choice == 1) {
        type->mutable_map_type()->set_key_type(draw(10));
        return;
    }
    if (choice < 4) type = type->mutable_optional_type()->mutable_elem_type();
    if (choice > 2 && choice < 7) type = type->mutable_sequence_type()->mutable_elem_type();
    if (draw(16) == 0) type = type->mutable_sequence_type()->mutable_elem_type();
    type->mutable_tensor_type()->set_elem_type(draw(4) == 0 ? draw(28) : TensorProto::FLOAT);
    if (draw(2) == 0)
        type->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(draw(4));
}

// ---- sparse constants ----

void Structure::add_sparse()
{
    SparseTensorProto* sparse = graph_.add_sparse_initializer();
    const int number = draw(4);
    for (int i = draw(3); i >= 0; --i)
        sparse->add_dims(draw(4) == 0 ? some_integer() : draw(5) + 1);
    TensorProto* values = sparse->mutable_values();
    TensorProto* indices = sparse->mutable_indices();
    values->set_data_type(TensorProto::FLOAT);
    indices->set_data_type(TensorProto::INT64);
    values->add_dims(number);
    indices->add_dims(number);
    for (int i = 0; i < number; ++i) {
        values->add_float_data(some_float());
        indices->add_int64_data(2 * i + draw(2));
    }
    values->set_name(new_name());
    if (graph_.node_size() == 0) return;
    NodeProto* node = some_of(graph_.mutable_node());
    if (node->input_size() > 0) node->set_input(draw(node->input_size()), values->name());
}

void Structure::change_sparse()
{
    if (graph_.sparse_initializer_size() == 0) return add_sparse();
    SparseTensorProto* sparse = some_of(graph_.mutable_sparse_initializer());
    TensorProto* indices = sparse->mutable_indices();
    switch (draw(5)) {
        case 0:
            if (sparse->dims_size() > 0)
                sparse->set_dims(draw(sparse->dims_size()), some_integer());
            return;
        case 1:
            sparse->add_dims(draw(3));
            return;
        case 2:
            if (indices->int64_data_size() > 0)
                indices->set_int64_data(draw(indices->int64_data_size()), some_integer());
            return;
        case 3:
            return fill_constant(sparse->mutable_values());
        default:
            fill_constant(indices);
    }
}

// ---- domains ----

void Structure::change_import()
{
    if (model_.opset_import_size() > 0 && draw(4) == 0) {
        model_.mutable_opset_import()->DeleteSubrange(draw(model_.opset_import_size()), 1);
        return;
    }
    auto* import = model_.add_opset_import();
    import->set_domain(kDomains[draw(5)]);
    import->set_version(draw(4) == 0 ? some_integer() : 1 + draw(5));
}

void Structure::change_domain()
{
    if (graph_.node_size() == 0) return;
    NodeProto* node = some_of(graph_.mutable_node());
    const ir_method_t* method = some_operator();
    node->set_op_type(method->name);
    node->set_domain(method->domain ? method->domain : "");
}

void Structure::apply()
{
    static constexpr Step kSteps[] = {
        &Structure::add_control_node, &Structure::replace_body,    &Structure::change_border,
        &Structure::change_border,    &Structure::rename_border,   &Structure::make_function,
        &Structure::call_function,    &Structure::change_function, &Structure::change_list,
        &Structure::change_list,      &Structure::change_list,     &Structure::refer_to_attribute,
        &Structure::give_type,        &Structure::add_sparse,      &Structure::change_sparse,
        &Structure::change_import,    &Structure::change_domain,
    };
    (this->*kSteps[draw(static_cast<int>(std::size(kSteps)))])();
}

void append_bodies(NodeProto* node, std::vector<GraphProto*>* graphs)
{
    for (AttributeProto& attribute : *node->mutable_attribute()) {
        if (!attribute.has_g()) continue;
        graphs->push_back(attribute.mutable_g());
        for (NodeProto& inner : *attribute.mutable_g()->mutable_node())
            append_bodies(&inner, graphs);
    }
}

}  // namespace

std::vector<GraphProto*> list_graphs(ModelProto* model)
{
    std::vector<GraphProto*> graphs = {model->mutable_graph()};
    for (NodeProto& node : *model->mutable_graph()->mutable_node())
        append_bodies(&node, &graphs);
    for (FunctionProto& function : *model->mutable_functions())
        for (NodeProto& node : *function.mutable_node())
            append_bodies(&node, &graphs);
    return graphs;
}

void mutate_structure(std::mt19937* engine, ModelProto* model, GraphProto* graph)
{
    Structure(engine, model, graph).apply();
}

}  // namespace tengine::test
