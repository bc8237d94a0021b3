// SPDX-License-Identifier: Apache-2.0
// The graph of a well-formed model, and the refusals of ill-formed ones.
#include <cstring>

#include "graph/core.h"
#include "serializer/onnx_builder.h"
#include "tengine/defines.h"

namespace tengine::test {
namespace {

using OnnxGraphTest = SerializerTest;

TEST_F(OnnxGraphTest, SmallModelHasInputNodeAndOutput)
{
    const Loaded loaded(small_model());
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    const struct graph* graph = loaded.graph;
    EXPECT_STREQ(graph->name, "test");
    EXPECT_NE(graph->core->serializer, nullptr);
    EXPECT_EQ(loaded.node_names(), (std::vector<std::string>{"x", "relu"}));
    ASSERT_EQ(graph->input_num, 1);
    ASSERT_EQ(graph->input_tensor_num, 1);
    const struct node* input = get_ir_graph_node(graph, graph->input_nodes[0]);
    EXPECT_STREQ(get_ir_node_op(input), "InputOp");
    EXPECT_EQ(input->node_type, TE_NODE_TYPE_INPUT);
    const struct tensor* x = get_ir_graph_tensor(graph, graph->input_tensors[0]);
    EXPECT_STREQ(x->name, "x");
    EXPECT_EQ(x->tensor_type, TENSOR_TYPE_INPUT);
    EXPECT_EQ(x->data_type, TENGINE_DT_FP32);
    ASSERT_EQ(x->dim_num, 2);
    EXPECT_EQ(x->dims[0], 2);
    EXPECT_EQ(x->dims[1], 3);
    ASSERT_EQ(graph->output_tensor_num, 1);
    EXPECT_STREQ(get_ir_graph_tensor(graph, graph->output_tensors[0])->name, "y");
    ASSERT_EQ(graph->output_num, 1);
    const struct node* relu = get_ir_graph_node(graph, graph->output_nodes[0]);
    EXPECT_STREQ(relu->name, "relu");
    EXPECT_EQ(relu->op.version, 13);
}

TEST_F(OnnxGraphTest, BytesAreNotNeededAfterLoading)
{
    std::string bytes = conv_model().encode();
    const Loaded loaded(bytes);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    std::fill(bytes.begin(), bytes.end(), '\xff');
    const struct tensor* weight = loaded.tensor("weight");
    EXPECT_EQ(weight->tensor_type, TENSOR_TYPE_CONST);
    EXPECT_EQ(weight->producer, -1);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(weight->data) % 64, 0u);
    EXPECT_EQ(weight->elem_num, 4 * 3 * 3 * 3);
    EXPECT_EQ(weight->f32[107], 107.0f);
}

TEST_F(OnnxGraphTest, FileAndMemoryGiveTheSame)
{
    const ScratchFolder folder;
    const std::string bytes = conv_model().encode();
    const Loaded loaded(folder.write("model.onnx", bytes));
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    EXPECT_EQ(loaded.node_names(), Loaded(bytes).node_names());
    EXPECT_EQ(loaded.tensor("bias")->f32[3], 3.0f);
}

TEST_F(OnnxGraphTest, UnknownDimensionsOfInputs)
{
    OnnxBuilder builder = small_model();
    auto* shape =
        builder.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
    shape->mutable_dim(0)->set_dim_param("batch");
    shape->add_dim();
    shape->add_dim()->set_dim_value(-1);
    shape->add_dim()->set_dim_value(0);
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    const struct tensor* x = loaded.tensor("x");
    ASSERT_EQ(x->dim_num, 5);
    const int expected[] = {-1, 3, -1, -1, 0};
    EXPECT_EQ(memcmp(x->dims, expected, sizeof(expected)), 0);
    EXPECT_STREQ(get_ir_tensor_dim_name(x, 0), "batch");
    EXPECT_STREQ(get_ir_tensor_dim_name(x, 2), "");
}

TEST_F(OnnxGraphTest, InputWithoutShapeHasNone)
{
    OnnxBuilder builder = small_model();
    builder.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    EXPECT_EQ(loaded.tensor("x")->shape_set, 0);
}

TEST_F(OnnxGraphTest, InputsKeepTheirOrderAndType)
{
    OnnxBuilder builder;
    builder.add_input("second", {1}, onnx::TensorProto::FLOAT16);
    builder.add_input("first", {1}, onnx::TensorProto::INT64);
    builder.add_node("Identity", {"first"}, {"a"});
    builder.add_node("Identity", {"second"}, {"b"});
    builder.add_output("b");
    builder.add_output("a");
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    ASSERT_EQ(loaded.graph->input_tensor_num, 2);
    EXPECT_EQ(loaded.graph->input_tensors[0], loaded.tensor("second")->index);
    EXPECT_EQ(loaded.tensor("second")->data_type, TENGINE_DT_FP16);
    EXPECT_EQ(loaded.tensor("first")->data_type, TENGINE_DT_INT64);
    ASSERT_EQ(loaded.graph->output_tensor_num, 2);
    EXPECT_EQ(loaded.graph->output_tensors[0], loaded.tensor("b")->index);
}

TEST_F(OnnxGraphTest, InitializersListedAsInputsAreConstants)
{
    OnnxBuilder builder = conv_model();
    builder.model.set_ir_version(3);
    builder.add_input("weight", {4, 3, 3, 3});
    builder.add_input("bias", {4});
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    EXPECT_EQ(loaded.graph->input_num, 1);
    EXPECT_EQ(loaded.tensor("weight")->tensor_type, TENSOR_TYPE_CONST);
}

TEST_F(OnnxGraphTest, AbsentInputsAndOutputs)
{
    OnnxBuilder builder;
    builder.add_input("x", {4});
    builder.add_initializer("maximum", {});
    builder.add_node("Clip", {"x", "", "maximum"}, {"y"}, "clip");
    builder.add_node("Dropout", {"y", "", ""}, {"z", ""}, "dropout");
    builder.add_output("z");
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    const struct node* clip = loaded.node("clip");
    ASSERT_EQ(clip->input_num, 3);
    EXPECT_EQ(clip->input_tensors[1], -1);
    EXPECT_EQ(clip->input_tensors[2], loaded.tensor("maximum")->index);
    const struct node* dropout = loaded.node("dropout");
    EXPECT_EQ(get_ir_node_input(dropout, 1), nullptr);
    EXPECT_EQ(get_ir_node_output(dropout, 1), nullptr);
}

TEST_F(OnnxGraphTest, NamesAreMadeUpAndUnique)
{
    OnnxBuilder builder;
    builder.add_input("x", {4});
    builder.add_node("Relu", {"x"}, {"a"}, "Relu_1");
    builder.add_node("Relu", {"a"}, {"b"});
    builder.add_node("Relu", {"b"}, {"c"}, "Relu_1");
    builder.add_node("Relu", {"c"}, {"d"}, "x");
    builder.add_output("d");
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    EXPECT_EQ(loaded.node_names(),
              (std::vector<std::string>{"x", "Relu_1", "Relu_1_", "Relu_1_2", "x_3"}));
}

TEST_F(OnnxGraphTest, OutputsThatAreInputsOrConstants)
{
    OnnxBuilder builder;
    builder.add_input("x", {4});
    builder.add_initializer("w", {4});
    for (const char* name : {"w", "x", "x"})
        builder.add_output(name);
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    ASSERT_EQ(loaded.graph->output_tensor_num, 3);
    EXPECT_EQ(loaded.graph->output_tensors[0], loaded.tensor("w")->index);
    EXPECT_EQ(loaded.graph->output_tensors[2], loaded.tensor("x")->index);
    ASSERT_EQ(loaded.graph->output_num, 1);
    EXPECT_EQ(loaded.node("x")->node_type, TE_NODE_TYPE_INPUT);
}

TEST_F(OnnxGraphTest, ConstantsOnly)
{
    OnnxBuilder builder;
    builder.add_initializer("w", {4});
    builder.add_output("w");
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    EXPECT_EQ(loaded.graph->input_num, 0);
    EXPECT_EQ(loaded.graph->output_num, 0);
    EXPECT_EQ(loaded.graph->output_tensor_num, 1);
}

TEST_F(OnnxGraphTest, OutputsOfOneNodeInTheFilesOrder)
{
    OnnxBuilder builder;
    builder.add_input("x", {4});
    add_int(builder.add_node("TopK", {"x", "k"}, {"values", "indices"}, "topk"), "axis", 0);
    auto* k = builder.add_initializer("k", {1});
    k->set_data_type(onnx::TensorProto::INT64);
    k->clear_raw_data();
    k->add_int64_data(2);
    builder.add_output("indices");
    builder.add_output("values");
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    EXPECT_EQ(loaded.graph->output_num, 1);
    ASSERT_EQ(loaded.graph->output_tensor_num, 2);
    EXPECT_EQ(loaded.graph->output_tensors[0], loaded.tensor("indices")->index);
}

TEST_F(OnnxGraphTest, UnsortedNodesAreSorted)
{
    OnnxBuilder builder;
    builder.add_input("x", {4});
    builder.add_node("Relu", {"b"}, {"c"}, "third");
    builder.add_node("Relu", {"x"}, {"a"}, "first");
    builder.add_node("Relu", {"a"}, {"b"}, "second");
    builder.add_output("c");
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    EXPECT_EQ(loaded.node_names(), (std::vector<std::string>{"x", "first", "second", "third"}));
    EXPECT_EQ(loaded.graph->output_nodes[0], 3);
    EXPECT_EQ(loaded.tensor("a")->producer, 1);
}

TEST_F(OnnxGraphTest, CycleIsRefused)
{
    OnnxBuilder builder;
    builder.add_input("x", {4});
    builder.add_node("Add", {"x", "c"}, {"a"}, "opens");
    builder.add_node("Relu", {"a"}, {"b"}, "middle");
    builder.add_node("Relu", {"b"}, {"c"}, "closes");
    builder.add_output("c");
    expect_failure(Loaded(builder), TENGINE_EGRAPH, {"cycle", "'opens'", "'middle'", "'closes'"});
}

TEST_F(OnnxGraphTest, NodeThatReadsItsOwnOutputIsRefused)
{
    OnnxBuilder builder;
    builder.add_node("Relu", {"a"}, {"a"}, "self");
    builder.add_output("a");
    expect_failure(Loaded(builder), TENGINE_EGRAPH, {"cycle", "'self'"});
}

TEST_F(OnnxGraphTest, MissingInputIsRefused)
{
    OnnxBuilder builder = small_model();
    builder.graph().mutable_node(0)->set_input(0, "nowhere");
    expect_failure(Loaded(builder), TENGINE_EGRAPH, {"Relu 'relu'", "input 0", "'nowhere'"});
}

TEST_F(OnnxGraphTest, OutputNobodyProducesIsRefused)
{
    OnnxBuilder builder = small_model();
    builder.add_output("nowhere");
    expect_failure(Loaded(builder), TENGINE_EGRAPH, {"graph output 'nowhere'"});
}

TEST_F(OnnxGraphTest, NoOutputsAreRefused)
{
    OnnxBuilder builder = small_model();
    builder.graph().clear_output();
    expect_failure(Loaded(builder), TENGINE_EGRAPH, {"no outputs"});
}

TEST_F(OnnxGraphTest, DuplicateNamesAreRefused)
{
    OnnxBuilder twice = small_model();
    twice.add_node("Relu", {"x"}, {"y"}, "again");
    expect_failure(Loaded(twice), TENGINE_EGRAPH, {"Relu 'again'", "'y'", "output of a node"});

    OnnxBuilder same_node = small_model();
    same_node.graph().mutable_node(0)->add_output("y");
    expect_failure(Loaded(same_node), TENGINE_EGRAPH, {"Relu 'relu'", "'y'"});

    OnnxBuilder overwritten_input = small_model();
    overwritten_input.add_node("Relu", {"y"}, {"x"}, "back");
    expect_failure(Loaded(overwritten_input), TENGINE_EGRAPH, {"'back'", "'x'", "a graph input"});

    OnnxBuilder inputs = small_model();
    inputs.add_input("x", {1});
    expect_failure(Loaded(inputs), TENGINE_EGRAPH, {"graph input 'x'", "taken"});

    OnnxBuilder weights = conv_model();
    weights.add_initializer("bias", {4});
    expect_failure(Loaded(weights), TENGINE_EGRAPH, {"initializer 'bias'", "an initializer"});

    OnnxBuilder written_weight = conv_model();
    written_weight.add_node("Relu", {"y"}, {"bias"}, "writer");
    expect_failure(Loaded(written_weight), TENGINE_EGRAPH, {"'writer'", "'bias'"});
}

TEST_F(OnnxGraphTest, NamelessTensorsAreRefused)
{
    OnnxBuilder input = small_model();
    input.add_input("", {1});
    expect_failure(Loaded(input), TENGINE_EGRAPH, {"graph input ''", "name"});

    OnnxBuilder weight = small_model();
    weight.add_initializer(std::string("a\0b", 3), {1});
    expect_failure(Loaded(weight), TENGINE_EGRAPH, {"initializer 'a?b'", "NUL"});
}

TEST_F(OnnxGraphTest, OnlyTensorsAndSequencesOfThemAreAccepted)
{
    OnnxBuilder sequence = small_model();
    sequence.graph().mutable_input(0)->mutable_type()->mutable_sequence_type();
    expect_failure(Loaded(sequence), TENGINE_EFORMAT,
                   {"graph input 'x'", "a sequence of elements without a type"});

    OnnxBuilder optional = small_model();
    optional.graph()
        .mutable_output(0)
        ->mutable_type()
        ->mutable_optional_type()
        ->mutable_elem_type()
        ->mutable_map_type();
    expect_failure(Loaded(optional), TENGINE_ENOTSUP,
                   {"graph output 'y'", "an optional value of a map"});

    OnnxBuilder map = small_model();
    map.graph().mutable_input(0)->mutable_type()->mutable_map_type();
    expect_failure(Loaded(map), TENGINE_ENOTSUP, {"graph input 'x'", "a map"});

    OnnxBuilder untyped = small_model();
    untyped.graph().mutable_input(0)->clear_type();
    expect_failure(Loaded(untyped), TENGINE_EFORMAT, {"graph input 'x'", "without a type"});

    OnnxBuilder text = small_model();
    text.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(27);
    expect_failure(Loaded(text), TENGINE_EDTYPE, {"graph input 'x'", "element type 27"});
}

TEST_F(OnnxGraphTest, ShapesOutOfRangeAreRefused)
{
    OnnxBuilder deep = small_model();
    deep.graph().clear_input();
    deep.add_input("x", Dims(9, 1));
    expect_failure(Loaded(deep), TENGINE_ELIMIT, {"graph input 'x'", "9 dimensions"});

    OnnxBuilder wide = small_model();
    wide.graph().clear_input();
    wide.add_input("x", {1, int64_t{1} << 40});
    expect_failure(Loaded(wide), TENGINE_EFORMAT, {"graph input 'x'", "dimension 1"});

    OnnxBuilder large = small_model();
    large.graph().clear_input();
    large.add_input("x", Dims(4, 0x7fffffff));
    expect_failure(Loaded(large), TENGINE_ERANGE, {"'x'"});
}

}  // namespace
}  // namespace tengine::test
