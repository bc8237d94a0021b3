// SPDX-License-Identifier: Apache-2.0
// FlexAttention: the nodes that replace it, and refusals. ONNX's suite (conformance/) has its
// values.
#include "graph/core.h"
#include "serializer/onnx_builder.h"

namespace tengine::test {
namespace {

using OnnxFlexAttentionTest = SerializerTest;
using onnx::AttributeProto;
using onnx::NodeProto;

OnnxBuilder flex_model(int opset = 26, int version = 1)
{
    OnnxBuilder builder;
    builder.model.mutable_opset_import(0)->set_version(opset);
    auto* import = builder.model.add_opset_import();
    import->set_domain("ai.onnx.preview");
    import->set_version(version);
    for (const char* name : {"q", "k", "v"})
        builder.add_input(name, {1, 2, 3, 4});
    builder.add_node("FlexAttention", {"q", "k", "v"}, {"y"}, "flex")
        ->set_domain("ai.onnx.preview");
    builder.add_output("y");
    return builder;
}

NodeProto* flex_node(OnnxBuilder* builder)
{
    return builder->graph().mutable_node(0);
}

// The graph adds "c", which is its constant, or the model's input "extra".
onnx::GraphProto* add_mod(OnnxBuilder* builder, const char* name, bool is_constant)
{
    AttributeProto* attribute = flex_node(builder)->add_attribute();
    attribute->set_name(name);
    attribute->set_type(AttributeProto::GRAPH);
    onnx::GraphProto* graph = attribute->mutable_g();
    onnx::ValueInfoProto* input = graph->add_input();
    input->set_name("s");
    input->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
    graph->add_output()->set_name("t");
    NodeProto* node = graph->add_node();
    node->set_op_type("Add");
    node->add_input("s");
    node->add_input(is_constant ? "c" : "extra");
    node->add_output("t");
    if (!is_constant) return graph;
    onnx::TensorProto* constant = graph->add_initializer();
    constant->set_name("c");
    constant->set_data_type(onnx::TensorProto::FLOAT);
    constant->add_float_data(2);
    return graph;
}

TEST_F(OnnxFlexAttentionTest, WithoutGraphsItIsAnAttention)
{
    OnnxBuilder builder = flex_model();
    AttributeProto* scale = flex_node(&builder)->add_attribute();
    scale->set_name("scale");
    scale->set_type(AttributeProto::FLOAT);
    scale->set_f(0.25f);
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    const struct node* node = loaded.node("flex");
    ASSERT_NE(node, nullptr);
    EXPECT_STREQ(get_ir_node_op(node), "Attention");
    EXPECT_EQ(get_ir_node_float(node, "scale", 0), 0.25f);
}

TEST_F(OnnxFlexAttentionTest, NodesOfItsGraphsChangeScoresAndProbabilities)
{
    OnnxBuilder builder = flex_model();
    builder.add_input("extra", {1});
    add_mod(&builder, "score_mod", true);
    add_mod(&builder, "prob_mod", false);
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    const struct node* score = loaded.node("flex/score_mod/Add");
    const struct node* softmax = loaded.node("flex/probabilities");
    const struct node* weight = loaded.node("flex/prob_mod/Add");
    ASSERT_TRUE(score && softmax && weight);
    EXPECT_EQ(get_ir_node_input(score, 1)->tensor_type, TENSOR_TYPE_CONST);
    EXPECT_EQ(get_ir_node_input(softmax, 0), get_ir_node_output(score, 0));
    EXPECT_STREQ(get_ir_node_input(weight, 1)->name, "extra");
    EXPECT_STREQ(get_ir_node_output(loaded.node("flex"), 0)->name, "y");
    EXPECT_NE(loaded.node("flex/precise_scores"), nullptr);
}

TEST_F(OnnxFlexAttentionTest, WhatItDoesNotHaveIsRefused)
{
    expect_failure(Loaded(flex_model(22)), TENGINE_ENOTSUP, {"FlexAttention 'flex'", "23", "22"});
    expect_failure(Loaded(flex_model(26, 2)), TENGINE_EOPERATOR, {"FlexAttention", "opset 2"});

    OnnxBuilder few = flex_model();
    flex_node(&few)->mutable_input()->RemoveLast();
    expect_failure(Loaded(few), TENGINE_EGRAPH, {"2 inputs", "expected 3 and 1"});

    OnnxBuilder other = flex_model();
    add_mod(&other, "mask_mod", true);
    expect_failure(Loaded(other), TENGINE_EFORMAT, {"'mask_mod'", "score_mod and prob_mod"});

    OnnxBuilder many = flex_model();
    add_mod(&many, "score_mod", true)->add_input()->set_name("batch");
    expect_failure(Loaded(many), TENGINE_EGRAPH, {"'score_mod'", "2 inputs and 1 outputs"});
}

}  // namespace
}  // namespace tengine::test
