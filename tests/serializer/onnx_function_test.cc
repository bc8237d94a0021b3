// SPDX-License-Identifier: Apache-2.0
// Functions of a model: the nodes that replace their calls, and those that are refused.
#include "graph/body.h"
#include "graph/core.h"
#include "module/module.h"
#include "serializer/onnx_builder.h"
#include "serializer/serializer.h"

namespace tengine::test {
namespace {

using OnnxFunctionTest = SerializerTest;
using onnx::AttributeProto;
using onnx::FunctionProto;
using onnx::NodeProto;

// Encodes fields that the generated classes may lack.
std::string text_field(int number, const std::string& text)
{
    return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(text.size())} + text;
}

// Makes SerializeAsString() write the message with the field.
template <class Message>
void append_field(Message* message, int number, const std::string& payload)
{
    ASSERT_LT(payload.size(), 128u);
    ASSERT_TRUE(
        message->ParseFromString(message->SerializeAsString() + text_field(number, payload)));
}

FunctionProto* add_function(OnnxBuilder* builder, const std::string& name, Names inputs,
                            Names outputs)
{
    FunctionProto* function = builder->model.add_functions();
    function->set_name(name);
    function->set_domain("local");
    for (const char* input : inputs)
        function->add_input(input);
    for (const char* output : outputs)
        function->add_output(output);
    auto* import = function->add_opset_import();
    import->set_version(13);
    return function;
}

NodeProto* add_node(FunctionProto* function, const std::string& type, Names inputs, Names outputs,
                    const std::string& name = "")
{
    NodeProto* node = function->add_node();
    node->set_op_type(type);
    node->set_name(name);
    for (const char* input : inputs)
        node->add_input(input);
    for (const char* output : outputs)
        node->add_output(output);
    return node;
}

// x → call → y; its function is to be added.
OnnxBuilder calling_model(Names inputs = {"x"}, Names outputs = {"y"})
{
    OnnxBuilder builder;
    auto* import = builder.model.add_opset_import();
    import->set_domain("local");
    import->set_version(1);
    builder.add_input("x", {2, 3});
    builder.add_node("Gadget", inputs, outputs, "call")->set_domain("local");
    builder.add_output("y");
    return builder;
}

// Gadget(a) = Neg(Abs(a))
OnnxBuilder gadget_model()
{
    OnnxBuilder builder = calling_model();
    FunctionProto* function = add_function(&builder, "Gadget", {"a"}, {"b"});
    add_node(function, "Abs", {"a"}, {"t"}, "first");
    add_node(function, "Neg", {"t"}, {"b"});
    return builder;
}

std::string input_name(const Loaded& loaded, const char* node, int index)
{
    const struct tensor* tensor = get_ir_node_input(loaded.node(node), index);
    return tensor ? tensor->name : "";
}

std::string output_name(const Loaded& loaded, const char* node)
{
    return get_ir_node_output(loaded.node(node), 0)->name;
}

TEST_F(OnnxFunctionTest, ACallBecomesTheNodesOfItsFunction)
{
    const Loaded loaded(gadget_model());
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    EXPECT_EQ(loaded.node_names(), (std::vector<std::string>{"x", "call/first", "call/Neg_1"}));
    EXPECT_EQ(input_name(loaded, "call/first", 0), "x");
    EXPECT_EQ(output_name(loaded, "call/first"), "call/t");
    EXPECT_EQ(input_name(loaded, "call/Neg_1", 0), "call/t");
    EXPECT_EQ(output_name(loaded, "call/Neg_1"), "y");
}

TEST_F(OnnxFunctionTest, NamesThatAreTakenGetAnother)
{
    OnnxBuilder builder = gadget_model();
    builder.add_node("Relu", {"x"}, {"call/t"}, "relu");
    builder.add_output("call/t");
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    EXPECT_EQ(output_name(loaded, "call_1/first"), "call_1/t");
}

TEST_F(OnnxFunctionTest, CallsInFunctionsAndTwoCallsOfOne)
{
    OnnxBuilder builder = calling_model();
    FunctionProto* outer = add_function(&builder, "Gadget", {"a"}, {"b"});
    add_node(outer, "Part", {"a"}, {"t"}, "one")->set_domain("local");
    add_node(outer, "Part", {"t"}, {"b"}, "two")->set_domain("local");
    add_node(add_function(&builder, "Part", {"t"}, {"b"}), "Abs", {"t"}, {"b"}, "abs");
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    EXPECT_EQ(input_name(loaded, "call/one/abs", 0), "x");
    EXPECT_EQ(output_name(loaded, "call/one/abs"), "call/t");
    EXPECT_EQ(input_name(loaded, "call/two/abs", 0), "call/t");
    EXPECT_EQ(output_name(loaded, "call/two/abs"), "y");
}

NodeProto* add_elu(FunctionProto* function)
{
    NodeProto* elu = add_node(function, "Elu", {"a"}, {"b"}, "elu");
    AttributeProto* alpha = elu->add_attribute();
    alpha->set_name("alpha");
    alpha->set_type(AttributeProto::FLOAT);
    alpha->set_ref_attr_name("slope");
    return elu;
}

float alpha_of(const Loaded& loaded)
{
    return get_ir_node_float(loaded.node("call/elu"), "alpha", 0);
}

TEST_F(OnnxFunctionTest, AttributesComeFromTheCallOrItsDefaultsOrStayAway)
{
    OnnxBuilder builder = calling_model();
    FunctionProto* function = add_function(&builder, "Gadget", {"a"}, {"b"});
    add_elu(function);
    const Loaded silent(builder);
    ASSERT_EQ(silent.status, 0) << silent.message;
    EXPECT_EQ(alpha_of(silent), 1.0f);  // Elu's default

    AttributeProto slope;
    slope.set_name("slope");
    slope.set_type(AttributeProto::FLOAT);
    slope.set_f(0.25f);
    append_field(function, 11, slope.SerializeAsString());
    const Loaded usual(builder);
    ASSERT_EQ(usual.status, 0) << usual.message;
    EXPECT_EQ(alpha_of(usual), 0.25f);

    slope.set_f(0.5f);
    *builder.graph().mutable_node(0)->add_attribute() = slope;
    const Loaded given(builder);
    ASSERT_EQ(given.status, 0) << given.message;
    EXPECT_EQ(alpha_of(given), 0.5f);
}

TEST_F(OnnxFunctionTest, InputsAndOutputsAtTheEndMayBeMissing)
{
    OnnxBuilder builder = calling_model();
    FunctionProto* function = add_function(&builder, "Gadget", {"a", "low"}, {"b", "rest"});
    add_node(function, "Clip", {"a", "low"}, {"b"}, "clip");
    add_node(function, "Abs", {"a"}, {"rest"}, "abs");
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    EXPECT_EQ(input_name(loaded, "call/clip", 1), "");
    EXPECT_EQ(output_name(loaded, "call/abs"), "call/rest");
}

TEST_F(OnnxFunctionTest, AnInputThatIsAnOutputIsCopied)
{
    OnnxBuilder builder = calling_model();
    add_function(&builder, "Gadget", {"a"}, {"a"});
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    EXPECT_STREQ(get_ir_node_op(loaded.node("y")), "Identity");
    EXPECT_EQ(input_name(loaded, "y", 0), "x");
}

TEST_F(OnnxFunctionTest, NodesBindToTheImportsOfTheirFunction)
{
    // Before opset 13 axes of Squeeze are an attribute, which the model's own opset refuses.
    OnnxBuilder builder = calling_model();
    FunctionProto* function = add_function(&builder, "Gadget", {"a"}, {"b"});
    add_ints(add_node(function, "Unsqueeze", {"a"}, {"b"}, "node"), "axes", {0});
    EXPECT_LT(Loaded(builder).status, 0);
    function->mutable_opset_import(0)->set_version(11);
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    EXPECT_EQ(loaded.node("call/node")->op.version, 11);

    function->mutable_opset_import(0)->set_version(99);
    expect_failure(Loaded(builder), TENGINE_ENOTSUP, {"opset 99"});
}

int save(const Loaded& loaded, const std::string& path)
{
    serializer_t* onnx = find_serializer_via_name("onnx");
    return onnx->save_model(onnx, loaded.graph, path.c_str());
}

TEST_F(OnnxFunctionTest, AFileHoldsNodesOfTwoOpsetsWhereTheyMeanTheSame)
{
    const ScratchFolder folder;
    const std::string path = (folder.path / "saved.onnx").string();
    OnnxBuilder builder = gadget_model();
    builder.model.mutable_functions(0)->mutable_opset_import(0)->set_version(11);
    builder.add_node("Relu", {"x"}, {"z"}, "relu");
    builder.add_output("z");
    const Loaded same(builder);
    ASSERT_EQ(same.status, 0) << same.message;
    ASSERT_EQ(save(same, path), 0) << tengine_error_message();
    const Loaded again{std::filesystem::path(path)};
    ASSERT_EQ(again.status, 0) << again.message;
    EXPECT_EQ(again.node("call/first")->op.version, 21);

    FunctionProto* function = builder.model.mutable_functions(0);
    function->mutable_node(1)->set_op_type("Unsqueeze");
    add_ints(function->mutable_node(1), "axes", {0});
    const Loaded other(builder);
    ASSERT_EQ(other.status, 0) << other.message;
    // Axes are an attribute up to opset 12, and no other node needs a newer one.
    ASSERT_EQ(save(other, path), 0) << tengine_error_message();
    const Loaded older{std::filesystem::path(path)};
    ASSERT_EQ(older.status, 0) << older.message;
    EXPECT_EQ(older.node("relu")->op.version, 12);

    // The same operator with axes as an input, as in opsets from 13 on.
    builder.add_initializer("axes", {1})->set_data_type(onnx::TensorProto::INT64);
    builder.graph().mutable_initializer(0)->set_raw_data(std::string(8, '\0'));
    builder.add_node("Unsqueeze", {"x", "axes"}, {"w"}, "newer");
    builder.add_output("w");
    const Loaded both(builder);
    ASSERT_EQ(both.status, 0) << both.message;
    EXPECT_EQ(save(both, path), TENGINE_ENOTSUP);
    EXPECT_STREQ(tengine_error_message(),
                 "Unsqueeze 'call/Unsqueeze_1': the operator in this form ended with opset 12, the "
                 "file is for opset 21");
}

TEST_F(OnnxFunctionTest, AnOverloadIsPartOfTheName)
{
    OnnxBuilder builder = gadget_model();
    append_field(add_function(&builder, "Gadget", {"a"}, {"b"}), 13, "wide");
    add_node(builder.model.mutable_functions(1), "Relu", {"a"}, {"b"}, "relu");
    append_field(builder.graph().mutable_node(0), 8, "wide");
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    EXPECT_NE(loaded.node("call/relu"), nullptr);

    add_node(add_function(&builder, "Gadget", {"a"}, {"b"}), "Abs", {"a"}, {"b"});
    expect_failure(Loaded(builder), TENGINE_EFORMAT, {"'Gadget'", "'local'", "twice"});
}

TEST_F(OnnxFunctionTest, OperatorsThatAreKnownStayNodes)
{
    OnnxBuilder builder = small_model();
    FunctionProto* function = add_function(&builder, "Relu", {"a"}, {"b"});
    function->set_domain("");
    add_node(function, "Abs", {"a"}, {"b"}, "abs");
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    EXPECT_EQ(loaded.node_names(), (std::vector<std::string>{"x", "relu"}));
}

// If with a branch of one node, `op`, that reads `input` and writes "inside".
NodeProto* add_if(FunctionProto* function, const std::string& op, const std::string& input)
{
    NodeProto* node = add_node(function, "If", {"flag"}, {"b"}, "if");
    for (const char* name : {"then_branch", "else_branch"}) {
        AttributeProto* attribute = node->add_attribute();
        attribute->set_name(name);
        attribute->set_type(AttributeProto::GRAPH);
        onnx::GraphProto* graph = attribute->mutable_g();
        graph->set_name(name);
        NodeProto* inner = graph->add_node();
        inner->set_op_type(op);
        inner->set_name("inner");
        inner->add_input(input);
        inner->add_output("inside");
        graph->add_output()->set_name("inside");
    }
    return node;
}

TEST_F(OnnxFunctionTest, GraphsOfNodesReadTheFunctionsValuesAndAttributes)
{
    OnnxBuilder builder = calling_model({"x", "flag"});
    builder.add_input("flag", {}, onnx::TensorProto::BOOL);
    FunctionProto* function = add_function(&builder, "Gadget", {"a", "flag"}, {"b"});
    add_node(function, "Abs", {"a"}, {"t"}, "abs");
    NodeProto* node = add_if(function, "Elu", "t");
    for (AttributeProto& branch : *node->mutable_attribute()) {
        AttributeProto* alpha = branch.mutable_g()->mutable_node(0)->add_attribute();
        alpha->set_name("alpha");
        alpha->set_type(AttributeProto::FLOAT);
        alpha->set_ref_attr_name("slope");
    }
    AttributeProto* slope = builder.graph().mutable_node(0)->add_attribute();
    slope->set_name("slope");
    slope->set_type(AttributeProto::FLOAT);
    slope->set_f(0.5f);
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    const struct node* made = loaded.node("call/if");
    ASSERT_EQ(made->core->bodies->num, 2);
    const struct graph* branch = made->core->bodies->list[0].graph;
    EXPECT_EQ(get_ir_node_float(branch->node_list[0], "alpha", 0), 0.5f);
    EXPECT_EQ(input_name(loaded, "call/if", made->core->bodies->list[0].first_capture), "call/t");
}

TEST_F(OnnxFunctionTest, CallsInGraphsOfNodesAreExpanded)
{
    OnnxBuilder builder = calling_model({"x", "flag"});
    builder.add_input("flag", {}, onnx::TensorProto::BOOL);
    NodeProto* node = add_if(add_function(&builder, "Gadget", {"a", "flag"}, {"b"}), "Part", "a");
    for (AttributeProto& branch : *node->mutable_attribute())
        branch.mutable_g()->mutable_node(0)->set_domain("local");
    FunctionProto* part = add_function(&builder, "Part", {"a"}, {"b"});
    add_node(part, "Abs", {"a"}, {"t"}, "abs");
    add_node(part, "Neg", {"t"}, {"b"}, "neg");
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    const struct graph* branch = loaded.node("call/if")->core->bodies->list[1].graph;
    ASSERT_EQ(branch->node_num, 2);
    EXPECT_STREQ(get_ir_node_op(branch->node_list[1]), "Neg");
}

// Gadget(a, flag) { body } = If(flag) { body } { body }, called with a graph of one node, `op`,
// that reads the model's x.
OnnxBuilder handing_model(const char* op)
{
    OnnxBuilder builder = calling_model({"x", "flag"});
    builder.add_input("flag", {}, onnx::TensorProto::BOOL);
    FunctionProto* function = add_function(&builder, "Gadget", {"a", "flag"}, {"b"});
    NodeProto* node = add_if(function, op, "x");
    AttributeProto* body = builder.graph().mutable_node(0)->add_attribute();
    *body = node->attribute(0);
    body->set_name("body");
    for (AttributeProto& branch : *node->mutable_attribute()) {
        branch.clear_g();
        branch.set_ref_attr_name("body");
    }
    return builder;
}

TEST_F(OnnxFunctionTest, AGraphThatACallHandsOverKeepsItsNamesAndImports)
{
    OnnxBuilder builder = handing_model("Unsqueeze");
    NodeProto* call = builder.graph().mutable_node(0);
    add_ints(call->mutable_attribute(0)->mutable_g()->mutable_node(0), "axes", {0});
    EXPECT_LT(Loaded(builder).status, 0);  // axes are an input of the model's opset
    builder.model.mutable_opset_import(0)->set_version(11);
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    const ir_bodies_t* bodies = loaded.node("call/if")->core->bodies;
    EXPECT_EQ(loaded.node("call/if")->op.version, 13);
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(bodies->list[i].graph->node_list[0]->op.version, 11);
        EXPECT_EQ(input_name(loaded, "call/if", bodies->list[i].first_capture), "x");
    }
}

TEST_F(OnnxFunctionTest, AGraphIsHandedOnAndMayCallWhatItIsGivenTo)
{
    // Outer(a, flag) { body } = Gadget(a, flag) { body }; the graph calls Gadget itself.
    OnnxBuilder builder = handing_model("Gadget");
    NodeProto* call = builder.graph().mutable_node(0);
    NodeProto* inner = call->mutable_attribute(0)->mutable_g()->mutable_node(0);
    inner->set_domain("local");
    inner->add_input("flag");
    AttributeProto* body = inner->add_attribute();
    *body = call->attribute(0);
    NodeProto* innermost = body->mutable_g()->mutable_node(0);
    innermost->Clear();
    innermost->set_op_type("Abs");
    innermost->add_input("x");
    innermost->add_output("inside");
    call->set_op_type("Outer");
    FunctionProto* outer = add_function(&builder, "Outer", {"a", "flag"}, {"b"});
    NodeProto* node = add_node(outer, "Gadget", {"a", "flag"}, {"b"}, "gadget");
    node->set_domain("local");
    AttributeProto* reference = node->add_attribute();
    reference->set_name("body");
    reference->set_type(AttributeProto::GRAPH);
    reference->set_ref_attr_name("body");
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    const struct node* first = loaded.node("call/gadget/if");
    ASSERT_NE(first, nullptr);
    const struct node* second = first->core->bodies->list[1].graph->node_list[0];
    ASSERT_STREQ(get_ir_node_op(second), "If");
    EXPECT_STREQ(get_ir_node_op(second->core->bodies->list[0].graph->node_list[0]), "Abs");

    // A graph as the default of an attribute has no names to read.
    builder.graph().mutable_node(0)->clear_attribute();
    AttributeProto usual;
    usual.set_name("body");
    usual.set_type(AttributeProto::GRAPH);
    usual.mutable_g()->set_name("g");
    append_field(builder.model.mutable_functions(1), 11, usual.SerializeAsString());
    expect_failure(Loaded(builder), TENGINE_ENOTSUP, {"'body'", "default"});
}

// ---- refused ----

TEST_F(OnnxFunctionTest, RecursionIsRefused)
{
    OnnxBuilder builder = calling_model();
    FunctionProto* one = add_function(&builder, "Gadget", {"a"}, {"b"});
    add_node(one, "Other", {"a"}, {"b"})->set_domain("local");
    FunctionProto* two = add_function(&builder, "Other", {"a"}, {"b"});
    add_node(two, "Gadget", {"a"}, {"b"})->set_domain("local");
    expect_failure(Loaded(builder), TENGINE_EGRAPH, {"function 'Gadget' calls itself"});
}

TEST_F(OnnxFunctionTest, CallsThatDoNotFitAreRefused)
{
    OnnxBuilder many = calling_model({"x", "x"});
    add_node(add_function(&many, "Gadget", {"a"}, {"b"}), "Abs", {"a"}, {"b"});
    expect_failure(Loaded(many), TENGINE_EGRAPH, {"Gadget 'call'", "2 inputs", "at most 1 and 1"});

    OnnxBuilder empty = calling_model();
    add_function(&empty, "Gadget", {"a"}, {"b"});
    expect_failure(Loaded(empty), TENGINE_EGRAPH, {"'Gadget'", "'b'", "not the output of a node"});

    OnnxBuilder absent = calling_model({});
    add_function(&absent, "Gadget", {"a"}, {"a"});
    expect_failure(Loaded(absent), TENGINE_EGRAPH, {"'y'", "'a'", "not given"});

    OnnxBuilder outside = calling_model();
    add_node(add_function(&outside, "Gadget", {"a"}, {"b"}), "Add", {"a", "x"}, {"b"});
    expect_failure(Loaded(outside), TENGINE_EGRAPH, {"'call/x'", "not a graph input"});

    OnnxBuilder graphs = calling_model();
    add_elu(add_function(&graphs, "Gadget", {"a"}, {"b"}));
    AttributeProto* slope = graphs.graph().mutable_node(0)->add_attribute();
    slope->set_name("slope");
    slope->set_type(AttributeProto::GRAPHS);
    slope->add_graphs();
    expect_failure(Loaded(graphs), TENGINE_ENOTSUP, {"'slope'", "is a list of graphs"});
}

// Function number i calls number i + 1 `calls` times.
OnnxBuilder nested_model(int functions, int calls)
{
    OnnxBuilder builder = calling_model();
    for (int i = 0; i < functions; ++i) {
        const std::string name = i == 0 ? "Gadget" : "F" + std::to_string(i);
        FunctionProto* function = add_function(&builder, name, {"a"}, {"b"});
        const bool is_last = i + 1 == functions;
        for (int call = 0; call < calls; ++call) {
            const std::string output = call + 1 == calls ? "b" : "t" + std::to_string(call);
            NodeProto* node = add_node(function, is_last ? "Abs" : "F" + std::to_string(i + 1),
                                       {"a"}, {output.c_str()});
            if (!is_last) node->set_domain("local");
        }
    }
    return builder;
}

TEST_F(OnnxFunctionTest, DeepAndLargeExpansionsAreRefused)
{
    EXPECT_EQ(Loaded(nested_model(20, 1)).status, 0);
    expect_failure(Loaded(nested_model(100, 1)), TENGINE_ELIMIT, {"more than 64 deep"});
    expect_failure(Loaded(nested_model(60, 2)), TENGINE_ELIMIT, {"131072 nodes"});

    OnnxBuilder heavy = nested_model(12, 2);
    NodeProto* node = heavy.model.mutable_functions(11)->mutable_node(0);
    node->set_doc_string(std::string(size_t{1} << 20, 'x'));
    expect_failure(Loaded(heavy), TENGINE_ELIMIT, {"67108864 bytes"});
}

// ---- sparse initializers ----

// y = x + w, w of 2x3 with 5 and 7 at `indices`.
OnnxBuilder sparse_model(const Dims& index_dims, const std::vector<int64_t>& indices)
{
    OnnxBuilder builder;
    builder.add_input("x", {2, 3});
    builder.add_node("Add", {"x", "w"}, {"y"}, "add");
    builder.add_output("y");
    auto* sparse = builder.graph().add_sparse_initializer();
    sparse->add_dims(2);
    sparse->add_dims(3);
    auto* values = sparse->mutable_values();
    values->set_name("w");
    values->set_data_type(onnx::TensorProto::FLOAT);
    values->add_dims(2);
    values->add_float_data(5);
    values->add_float_data(7);
    auto* places = sparse->mutable_indices();
    places->set_data_type(onnx::TensorProto::INT64);
    for (const int64_t dim : index_dims)
        places->add_dims(dim);
    for (const int64_t index : indices)
        places->add_int64_data(index);
    return builder;
}

TEST_F(OnnxFunctionTest, SparseInitializersBecomeDense)
{
    for (const OnnxBuilder& builder :
         {sparse_model({2}, {1, 5}), sparse_model({2, 2}, {0, 1, 1, 2})}) {
        const Loaded loaded(builder);
        ASSERT_EQ(loaded.status, 0) << loaded.message;
        const struct tensor* tensor = loaded.tensor("w");
        ASSERT_EQ(tensor->elem_num, 6);
        const std::vector<float> values(tensor->f32, tensor->f32 + 6);
        EXPECT_EQ(values, (std::vector<float>{0, 5, 0, 0, 0, 7}));
    }
}

TEST_F(OnnxFunctionTest, SparseInitializersMayBeComplex)
{
    OnnxBuilder builder = sparse_model({2}, {1, 5});
    auto* values = builder.graph().mutable_sparse_initializer(0)->mutable_values();
    values->set_data_type(onnx::TensorProto::COMPLEX64);
    expect_failure(Loaded(builder), TENGINE_EFORMAT, {"2 values of type complex64", "expected 4"});
    values->add_float_data(-1);
    values->add_float_data(-2);
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    const float* parts = loaded.tensor("w")->f32;
    EXPECT_EQ(std::vector<float>(parts, parts + 12),
              (std::vector<float>{0, 0, 5, 7, 0, 0, 0, 0, 0, 0, -1, -2}));
}

TEST_F(OnnxFunctionTest, SparseInitializersThatContradictThemselvesAreRefused)
{
    expect_failure(Loaded(sparse_model({2}, {1, 6})), TENGINE_EFORMAT, {"'w'", "6", "0 to 5"});
    expect_failure(Loaded(sparse_model({2}, {-1, 5})), TENGINE_EFORMAT, {"-1"});
    expect_failure(Loaded(sparse_model({2}, {5, 5})), TENGINE_EFORMAT, {"ascending"});
    expect_failure(Loaded(sparse_model({2, 2}, {0, 1, 1, 3})), TENGINE_EFORMAT, {"3", "0 to 2"});
    expect_failure(Loaded(sparse_model({1}, {1})), TENGINE_EFORMAT, {"[2] or [2,2]"});
    expect_failure(Loaded(sparse_model({2, 3}, {0, 0, 0, 1, 1, 1})), TENGINE_EFORMAT, {"[2,2]"});
    OnnxBuilder large = sparse_model({2}, {1, 5});
    large.graph().mutable_sparse_initializer(0)->set_dims(0, 1 << 30);
    expect_failure(Loaded(large), TENGINE_ELIMIT, {"268435456 bytes"});
    OnnxBuilder type = sparse_model({2}, {1, 5});
    type.graph().mutable_sparse_initializer(0)->mutable_indices()->set_data_type(
        onnx::TensorProto::UINT64);
    EXPECT_LT(Loaded(type).status, 0);
}

TEST_F(OnnxFunctionTest, SparseInitializersAreLargeTogether)
{
    OnnxBuilder many = sparse_model({2}, {1, 5});
    many.graph().mutable_sparse_initializer(0)->set_dims(0, 13 << 20);  // 156 MiB
    *many.graph().add_sparse_initializer() = many.graph().sparse_initializer(0);
    many.graph().mutable_sparse_initializer(1)->mutable_values()->set_name("v");
    expect_failure(Loaded(many), TENGINE_ELIMIT, {"'v'", "268435456 bytes"});
}

// Elements that share bytes.
TEST_F(OnnxFunctionTest, SparseInitializersOfFewBitsAreRefused)
{
    OnnxBuilder small = sparse_model({2}, {1, 5});
    auto* values = small.graph().mutable_sparse_initializer(0)->mutable_values();
    values->set_data_type(22);  // int4
    values->clear_float_data();
    values->add_int32_data(0x57);
    expect_failure(Loaded(small), TENGINE_ENOTSUP, {"'w'", "int4"});
}

}  // namespace
}  // namespace tengine::test
