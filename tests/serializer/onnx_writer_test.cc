// SPDX-License-Identifier: Apache-2.0
// The opset for which a file is written, and the form of its graph.
#include <memory>

#include "graph/body.h"
#include "graph/context.h"
#include "graph/option.h"
#include "module/module.h"
#include "operator/registry.h"
#include "optimizer/optimizer.h"
#include "serializer/onnx_written.h"
#include "serializer/serializer.h"

namespace tengine::test {
namespace {

using OnnxWriterTest = SerializerTest;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

TEST_F(OnnxWriterTest, TheOpsetIsTheUsualOneUnlessAnOperatorCameLater)
{
    for (const int given : {7, 13, 21, 26}) {
        OnnxBuilder builder = model_of(given, {2, 3});
        builder.add_node("Relu", {"x"}, {"y"});
        const Written written(builder, 0);
        EXPECT_EQ(written.opset(), 21);
        EXPECT_EQ(written.model.ir_version(), 10);
    }
    // One operator has an old form, another was added later.
    OnnxBuilder builder = model_of(24, {2, 3});
    builder.add_node("Swish", {"x"}, {"s"});
    builder.add_node("Softmax", {"s"}, {"y"});
    testing::internal::CaptureStderr();
    const Written written(builder, 0);
    EXPECT_EQ(written.opset(), 24);
    EXPECT_EQ(written.model.ir_version(), 12);
    EXPECT_NE(testing::internal::GetCapturedStderr().find(
                  "is written for opset 24: Swish 'Swish_0': the operator in this form came with "
                  "opset 24, the file is for opset 21"),
              std::string::npos);
}

// Without shapes the newer form of an old node may be unknown; the file then has the old one.
TEST_F(OnnxWriterTest, AnOlderOpsetWhereTheUsualOneCannotBe)
{
    OnnxBuilder builder = model_of(18, {1, 4, 2});
    builder.add_input("scale", {2});
    add_int(builder.add_node("GroupNormalization", {"x", "scale", "scale"}, {"y"}, "norm"),
            "num_groups", 2);
    testing::internal::CaptureStderr();
    const Written written(builder, 0);
    EXPECT_EQ(written.opset(), 20);
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_NE(log.find("is written for opset 20: GroupNormalization 'norm': input 1 is computed"),
              std::string::npos)
        << log;
    EXPECT_EQ(Written(builder, 21).status, TENGINE_ENOTSUP);
}

// NaN means a float that is not given.
TEST_F(OnnxWriterTest, WhatIsNotGivenIsNotWritten)
{
    OnnxBuilder builder = model_of(13, {2, 3});
    add_ints(builder.add_node("Constant", {}, {"y"}), "value_ints", {1, 2});
    add_ints(builder.add_node("RandomNormal", {}, {"z"}), "shape", {2});
    builder.add_output("z");
    const Written written(builder, 0);
    ASSERT_EQ(written.status, 0) << written.message;
    EXPECT_EQ(written.node("Constant").attribute_size(), 1);
    EXPECT_EQ(ints_of(written.node("Constant"), "value_ints"), (Dims{1, 2}));
    EXPECT_EQ(written.node("RandomNormal").attribute_size(), 1);
}

// The message is about the requested opset, not the last one that was tried.
TEST_F(OnnxWriterTest, ANodeThatNoNewerOpsetHas)
{
    OnnxBuilder builder = model_of(8, {1, 2, 3});
    NodeProto* scan = builder.add_node("Scan", {"", "x", "x"}, {"y", "z"}, "scan");
    add_int(scan, "num_scan_inputs", 1);
    onnx::AttributeProto* body = scan->add_attribute();
    body->set_name("body");
    body->set_type(onnx::AttributeProto::GRAPH);
    for (const char* input : {"a", "b"})
        body->mutable_g()->add_input()->set_name(input);
    for (const char* output : {"a", "b"})
        body->mutable_g()->add_output()->set_name(output);
    const std::string sentence =
        "Scan 'scan': the operator in this form ended with opset 8, the file is for opset 21";
    testing::internal::CaptureStderr();
    const Written written(builder, 0);
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_EQ(written.opset(), 8);
    EXPECT_NE(log.find("is written for opset 8: " + sentence), std::string::npos) << log;
    EXPECT_EQ(Written(builder, 21).message, sentence);
}

// The model declares neither type nor shape of y.
TEST_F(OnnxWriterTest, ResultsHaveTheShapesThatFollow)
{
    for (const int opset : {12, 13, 28}) {
        OnnxBuilder builder = model_of(13, {2, 3});
        add_list(&builder, "axes", {1});
        builder.add_node("Unsqueeze", {"x", "axes"}, {"y"});
        const Written written(builder, opset);
        ASSERT_EQ(written.status, 0) << written.message;
        const auto& type = written.model.graph().output(0).type().tensor_type();
        EXPECT_EQ(type.elem_type(), TensorProto::FLOAT);
        ASSERT_EQ(type.shape().dim_size(), 3) << opset;
        EXPECT_EQ(type.shape().dim(0).dim_value(), 2);
        EXPECT_EQ(type.shape().dim(1).dim_value(), 1);
        EXPECT_EQ(type.shape().dim(2).dim_value(), 3);
    }
    // It depends on data.
    OnnxBuilder builder = model_of(13, {2, 3});
    builder.add_node("NonZero", {"x"}, {"y"});
    const Written open(builder, 0);
    ASSERT_EQ(open.status, 0) << open.message;
    EXPECT_FALSE(open.model.graph().output(0).type().tensor_type().has_shape());
}

TEST_F(OnnxWriterTest, EveryOpsetThatIsReadCanBeAskedFor)
{
    const std::unique_ptr<context, void (*)(context*)> context(create_ir_context(nullptr),
                                                               destroy_ir_context);
    const auto ask = [&](int opset) {
        return set_ir_context_option(context.get(), "model.opset", std::to_string(opset).c_str());
    };
    OnnxBuilder builder = model_of(13, {2, 3});
    builder.add_node("Relu", {"x"}, {"y"});
    for (int opset = 7; opset <= NEWEST_KNOWN_OPSET; ++opset) {
        EXPECT_EQ(ask(opset), 0) << opset;
        EXPECT_EQ(Written(builder, opset).opset(), opset);
    }
    for (const int opset : {-1, 1, 6, NEWEST_KNOWN_OPSET + 1})
        EXPECT_EQ(ask(opset), TENGINE_EINVAL) << opset;
}

// ---- bodies ----

OnnxBuilder branching_model(int opset)
{
    OnnxBuilder builder = model_of(opset, {2, 3});
    builder.add_input("condition", {1}, TensorProto::BOOL);
    NodeProto* choice = builder.add_node("If", {"condition"}, {"y"}, "if");
    for (const char* branch : {"then_branch", "else_branch"}) {
        onnx::AttributeProto* attribute = choice->add_attribute();
        attribute->set_name(branch);
        attribute->set_type(onnx::AttributeProto::GRAPH);
        onnx::GraphProto* body = attribute->mutable_g();
        body->set_name(branch);
        NodeProto* node = body->add_node();
        node->set_op_type("ReduceSum");
        node->set_name(std::string("sum_") + branch);
        node->add_input("x");
        node->add_output("z");
        if (opset < 13) {
            add_ints(node, "axes", {1});
        } else {
            node->add_input("axes");
            TensorProto* axes = body->add_initializer();
            axes->set_name("axes");
            axes->set_data_type(TensorProto::INT64);
            axes->add_dims(1);
            axes->add_int64_data(1);
        }
        body->add_output()->set_name("z");
    }
    return builder;
}

TEST_F(OnnxWriterTest, BodiesHaveTheOpsetOfTheFile)
{
    for (const int from : {11, 13})
        for (const int to : {11, 13}) {
            const Written written(branching_model(from), to);
            ASSERT_EQ(written.status, 0) << written.message;
            for (const auto& branch : written.node("If").attribute()) {
                const NodeProto& node = branch.g().node(0);
                EXPECT_EQ(node.input_size(), to == 11 ? 1 : 2);
                EXPECT_EQ(ints_of(node, "axes"), to == 11 ? Dims{1} : Dims{});
                EXPECT_EQ(branch.g().initializer_size(), to == 11 ? 0 : 1);
            }
        }
}

TEST_F(OnnxWriterTest, TheGraphStaysAsItIs)
{
    const Loaded loaded(branching_model(11));
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    const auto body_node = [&] {
        return loaded.node("if")->core->bodies->list[0].graph->node_list[0];
    };
    const struct node* before = body_node();
    struct graph* copy = nullptr;
    ASSERT_EQ(create_saved_graph(loaded.graph, "", &copy), 0) << tengine_error_message();
    ASSERT_NE(copy, nullptr);
    destroy_ir_graph(copy);
    EXPECT_EQ(body_node(), before);
    EXPECT_EQ(before->op.version, 11);
    EXPECT_EQ(before->input_num, 1);
}

}  // namespace
}  // namespace tengine::test
