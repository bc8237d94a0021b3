// SPDX-License-Identifier: Apache-2.0
// The form of operators in the opset for which a file is written.
#include <cstring>

#include "operator/registry.h"
#include "serializer/onnx_written.h"

namespace tengine::test {
namespace {

using OnnxFormTest = SerializerTest;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

void expect_refusal(const Written& written, const std::string& sentence)
{
    EXPECT_EQ(written.status, TENGINE_ENOTSUP);
    EXPECT_EQ(written.message, sentence);
}

void add_float(OnnxBuilder* builder, const std::string& name, float value)
{
    TensorProto* scalar = builder->graph().add_initializer();
    scalar->set_name(name);
    scalar->set_data_type(TensorProto::FLOAT);
    scalar->set_raw_data(&value, sizeof value);
}

void add_text(NodeProto* node, const std::string& name, const std::string& value)
{
    onnx::AttributeProto* attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::STRING);
    attribute->set_s(value);
}

// ---- attributes that became inputs ----

struct Moved
{
    const char* op;
    int until;  // the last opset with the attribute
    const char* attribute;
    Dims values;
    bool scalar = false;
};

const Moved kMoved[] = {
    {"TopK", 9, "k", {2}, true},       {"Pad", 10, "pads", {0, 1, 0, 0, 1, 0}},
    {"ReduceSum", 12, "axes", {0, 1}}, {"Split", 12, "split", {1, 2}},
    {"Squeeze", 12, "axes", {2}},      {"Unsqueeze", 12, "axes", {0, 2}},
    {"ReduceMax", 17, "axes", {1}},    {"ReduceL2", 17, "axes", {1}},
};

// Returns the node in a model of `opset`.
OnnxBuilder moved_model(const Moved& moved, int opset)
{
    OnnxBuilder builder = model_of(opset, {3, 4, 1});
    const bool is_input = opset > moved.until;
    NodeProto* node = is_input ? builder.add_node(moved.op, {"x", "list"}, {"y"}, "only")
                               : builder.add_node(moved.op, {"x"}, {"y"}, "only");
    if (std::strcmp(moved.op, "Split") == 0 || std::strcmp(moved.op, "TopK") == 0)
        node->add_output("z");
    if (std::strcmp(moved.op, "TopK") == 0) add_int(node, "axis", 1);
    if (is_input)
        add_list(&builder, "list", moved.values);
    else if (moved.scalar)
        add_int(node, moved.attribute, moved.values[0]);
    else
        add_ints(node, moved.attribute, moved.values);
    return builder;
}

TEST_F(OnnxFormTest, AttributesThatBecameInputs)
{
    for (const Moved& moved : kMoved)
        for (const int from : {moved.until, moved.until + 1, NEWEST_KNOWN_OPSET}) {
            SCOPED_TRACE(std::string(moved.op) + " of opset " + std::to_string(from));
            const Written before(moved_model(moved, from), moved.until);
            ASSERT_EQ(before.status, 0) << before.message;
            EXPECT_EQ(before.opset(), moved.until);
            EXPECT_EQ(before.model.graph().initializer_size(), 0);
            const NodeProto& old = before.node(moved.op);
            EXPECT_EQ(old.input_size(), 1);
            EXPECT_EQ(
                moved.scalar ? Dims{int_of(old, moved.attribute)} : ints_of(old, moved.attribute),
                moved.values);

            const Written after(moved_model(moved, from), moved.until + 1);
            ASSERT_EQ(after.status, 0) << after.message;
            const NodeProto& node = after.node(moved.op);
            EXPECT_FALSE(find_attribute(node, moved.attribute));
            ASSERT_GE(node.input_size(), 2);  // Pad's value became an input as well
            EXPECT_EQ(after.values<int64_t>(node.input(1)), moved.values);
        }
}

TEST_F(OnnxFormTest, FloatsThatBecameInputs)
{
    OnnxBuilder clip = model_of(13, {3});
    add_float(&clip, "most", 6);
    clip.add_node("Clip", {"x", "", "most"}, {"y"});
    const Written before(clip, 10);
    ASSERT_EQ(before.status, 0) << before.message;
    const NodeProto& old = before.node("Clip");
    EXPECT_EQ(old.input_size(), 1);
    ASSERT_TRUE(find_attribute(old, "max"));
    EXPECT_EQ(find_attribute(old, "max")->f(), 6);
    EXPECT_FALSE(find_attribute(old, "min"));

    OnnxBuilder dropout = model_of(13, {3});
    add_float(&dropout, "ratio", 0.25f);
    dropout.add_node("Dropout", {"x", "ratio"}, {"y"});
    const Written dropped(dropout, 11);
    ASSERT_EQ(dropped.status, 0) << dropped.message;
    EXPECT_EQ(find_attribute(dropped.node("Dropout"), "ratio")->f(), 0.25f);
}

TEST_F(OnnxFormTest, SliceOfEveryForm)
{
    OnnxBuilder slice = model_of(13, {3, 4});
    add_list(&slice, "starts", {1});
    add_list(&slice, "ends", {3});
    add_list(&slice, "axes", {-1});
    add_list(&slice, "steps", {1});
    NodeProto* node = slice.add_node("Slice", {"x", "starts", "ends", "axes", "steps"}, {"y"}, "s");
    const Written plain(slice, 9);
    ASSERT_EQ(plain.status, 0) << plain.message;
    EXPECT_EQ(plain.node("Slice").input_size(), 1);
    EXPECT_EQ(ints_of(plain.node("Slice"), "starts"), (Dims{1}));
    EXPECT_EQ(ints_of(plain.node("Slice"), "ends"), (Dims{3}));
    EXPECT_EQ(ints_of(plain.node("Slice"), "axes"), (Dims{1}));  // -1 of two
    add_list(&slice, "twos", {2});
    node->set_input(4, "twos");
    expect_refusal(Written(slice, 9),
                   "Slice 's': steps came with opset 10, the file is for opset 9");
    EXPECT_EQ(Written(slice, 10).status, 0);
}

// Exporters write axes as Constant nodes.
TEST_F(OnnxFormTest, ConstantNodesBecomeAttributes)
{
    OnnxBuilder builder = model_of(13, {3, 4});
    add_ints(builder.add_node("Constant", {}, {"axes"}, "c"), "value_ints", {-1});
    builder.add_node("Unsqueeze", {"x", "axes"}, {"y"}, "only");
    const Written written(builder, 9);
    ASSERT_EQ(written.status, 0) << written.message;
    EXPECT_EQ(written.model.graph().node_size(), 1);
    EXPECT_EQ(written.model.graph().initializer_size(), 0);
    EXPECT_EQ(ints_of(written.node("Unsqueeze"), "axes"), (Dims{2}));  // of the result's three

    // A constant with other readers stays, and has no node if the opset has no such attribute.
    builder.add_node("Cast", {"axes"}, {"z"});
    add_int(builder.graph().mutable_node(2), "to", TensorProto::FLOAT);
    builder.add_output("z");
    const Written shared(builder, 11);
    ASSERT_EQ(shared.status, 0) << shared.message;
    EXPECT_EQ(shared.model.graph().node_size(), 2);
    EXPECT_EQ(shared.values<int64_t>("axes"), (std::vector<int64_t>{-1}));
    EXPECT_EQ(ints_of(shared.node("Unsqueeze"), "axes"), (Dims{-1}));  // opset 11 allows it
}

TEST_F(OnnxFormTest, WhatIsComputedIsNoAttribute)
{
    OnnxBuilder builder = model_of(13, {3, 4});
    builder.add_input("axes", {1}, TensorProto::INT64);
    builder.add_node("Unsqueeze", {"x", "axes"}, {"y"}, "only");
    expect_refusal(
        Written(builder, 12),
        "Unsqueeze 'only': 'axes' is computed, which opset 13 has and opset 12 does not: "
        "there it is an attribute");
    EXPECT_EQ(Written(builder, 13).status, 0);
}

// ---- other meanings ----

TEST_F(OnnxFormTest, SoftmaxAlongOneAxis)
{
    for (const char* op : {"Softmax", "LogSoftmax", "Hardmax"}) {
        OnnxBuilder newer = model_of(13, {2, 3, 4});
        newer.add_node(op, {"x"}, {"y"}, "soft");
        for (const int opset : {7, 11, 12}) {
            const Written last(newer, opset);
            ASSERT_EQ(last.status, 0) << last.message;
            EXPECT_EQ(int_of(last.node(op), "axis"), 2);
        }
        add_int(newer.graph().mutable_node(0), "axis", 1);
        expect_refusal(Written(newer, 12), std::string(op) +
                                               " 'soft': opset 13 has it along axis 1, opset 12 "
                                               "along the last axis only");
        OnnxBuilder older = model_of(12, {2, 3, 4});
        older.add_node(op, {"x"}, {"y"}, "soft");  // along the last two axes
        const Written raised(older, 0);
        ASSERT_EQ(raised.status, 0) << raised.message;
        EXPECT_EQ(raised.opset(), 21);
        EXPECT_EQ(int_of(raised.node("Flatten"), "axis"), -1);  // the default, 1
        EXPECT_EQ(raised.node("Reshape").output(0), "y");
    }
}

// Scale and bias are per group in opset 18, per channel in opset 21.
TEST_F(OnnxFormTest, GroupNormalizationOfChannels)
{
    OnnxBuilder builder = model_of(18, {1, 4, 2});
    builder.add_initializer("scale", {2});
    builder.add_initializer("bias", {2});
    add_int(builder.add_node("GroupNormalization", {"x", "scale", "bias"}, {"y"}, "norm"),
            "num_groups", 2);
    const Written same(builder, 20);
    ASSERT_EQ(same.status, 0) << same.message;
    EXPECT_EQ(same.node("GroupNormalization").input(1), "scale");
    const Written raised(builder, 21);
    ASSERT_EQ(raised.status, 0) << raised.message;
    const NodeProto& node = raised.node("GroupNormalization");
    EXPECT_EQ(raised.values<float>(node.input(1)), (std::vector<float>{0, 0, 1, 1}));
    EXPECT_EQ(raised.values<float>(node.input(2)), (std::vector<float>{0, 0, 1, 1}));
    EXPECT_EQ(raised.model.graph().initializer_size(), 2);

    builder.model.mutable_opset_import(0)->set_version(21);
    builder.add_initializer("scales", {4});
    builder.graph().mutable_node(0)->set_input(1, "scales");
    builder.graph().mutable_node(0)->set_input(2, "scales");
    expect_refusal(Written(builder, 20),
                   "GroupNormalization 'norm': this meaning came with opset 21, the file is for "
                   "opset 20");
}

TEST_F(OnnxFormTest, SplitInEqualParts)
{
    for (const int opset : {11, 13}) {
        OnnxBuilder older = model_of(opset, {4});
        older.add_node("Split", {"x"}, {"y", "z"}, "split");
        const Written raised(older, 18);
        ASSERT_EQ(raised.status, 0) << raised.message;
        EXPECT_EQ(int_of(raised.node("Split"), "num_outputs"), 2);
    }
    OnnxBuilder newer = model_of(18, {4});
    add_int(newer.add_node("Split", {"x"}, {"y", "z"}, "split"), "num_outputs", 2);
    const Written equal(newer, 11);
    ASSERT_EQ(equal.status, 0) << equal.message;
    EXPECT_FALSE(find_attribute(equal.node("Split"), "num_outputs"));
    newer.graph()
        .mutable_input(0)
        ->mutable_type()
        ->mutable_tensor_type()
        ->mutable_shape()
        ->mutable_dim(0)
        ->set_dim_value(3);
    expect_refusal(Written(newer, 17),
                   "Split 'split': opset 18 has parts of different sizes by num_outputs, opset 17 "
                   "does not");
}

TEST_F(OnnxFormTest, RoiAlignWithoutAName)
{
    OnnxBuilder builder = model_of(16, {1, 1, 4, 4});
    builder.add_initializer("rois", {1, 4});
    add_list(&builder, "batch", {0});
    NodeProto* node = builder.add_node("RoiAlign", {"x", "rois", "batch"}, {"y"}, "roi");
    add_text(node, "coordinate_transformation_mode", "output_half_pixel");
    const Written old(builder, 10);
    ASSERT_EQ(old.status, 0) << old.message;
    EXPECT_FALSE(find_attribute(old.node("RoiAlign"), "coordinate_transformation_mode"));
    const Written again(
        [&] {
            OnnxBuilder older = builder;
            older.model.mutable_opset_import(0)->set_version(10);
            older.graph().mutable_node(0)->clear_attribute();
            return older;
        }(),
        16);
    ASSERT_EQ(again.status, 0) << again.message;
    EXPECT_EQ(find_attribute(again.node("RoiAlign"), "coordinate_transformation_mode")->s(),
              "output_half_pixel");
    node->mutable_attribute(0)->set_s("half_pixel");
    expect_refusal(Written(builder, 15),
                   "RoiAlign 'roi': this meaning came with opset 16, the file is for opset 15");
}

TEST_F(OnnxFormTest, BatchNormalizationOfInference)
{
    OnnxBuilder builder = model_of(15, {1, 2, 3});
    builder.add_initializer("v", {2});
    NodeProto* node =
        builder.add_node("BatchNormalization", {"x", "v", "v", "v", "v"}, {"y"}, "norm");
    const Written old(builder, 7);
    ASSERT_EQ(old.status, 0) << old.message;
    EXPECT_EQ(old.node("BatchNormalization").attribute_size(), 0);
    add_int(node, "training_mode", 1);
    expect_refusal(Written(builder, 13),
                   "BatchNormalization 'norm': training_mode came with opset 14, the file is for "
                   "opset 13");
    // Up to opset 8 it may normalise each element by values of its own.
    builder.model.mutable_opset_import(0)->set_version(8);
    node->clear_attribute();
    add_int(node, "spatial", 0);
    builder.add_initializer("each", {2, 3});
    for (int i = 1; i < node->input_size(); ++i)
        node->set_input(i, "each");
    const Written raised(builder, 9);
    ASSERT_EQ(raised.status, 0) << raised.message;
    EXPECT_FALSE(find_attribute(raised.node("BatchNormalization"), "spatial"));
    EXPECT_GT(raised.model.graph().node_size(), 1);
}

// ---- what older opsets ask for ----

TEST_F(OnnxFormTest, InputsThatMayNotBeLeftOut)
{
    OnnxBuilder resize = model_of(13, {1, 1, 2, 2});
    add_list(&resize, "sizes", {1, 1, 4, 4});
    resize.add_node("Resize", {"x", "", "", "sizes"}, {"y"}, "resize");
    const Written filled(resize, 11);
    ASSERT_EQ(filled.status, 0) << filled.message;
    const NodeProto& node = filled.node("Resize");
    ASSERT_EQ(node.input_size(), 4);
    EXPECT_TRUE(filled.values<float>(node.input(1)).empty());
    EXPECT_TRUE(filled.values<float>(node.input(2)).empty());
    expect_refusal(Written(resize, 10),
                   "Resize 'resize': the operator in this form came with opset 11, the file is for "
                   "opset 10");

    OnnxBuilder gemm = model_of(13, {2, 3});
    gemm.add_initializer("w", {3, 4});
    gemm.add_node("Gemm", {"x", "w"}, {"y"}, "gemm");
    const Written biased(gemm, 9);
    ASSERT_EQ(biased.status, 0) << biased.message;
    EXPECT_EQ(biased.values<float>(biased.node("Gemm").input(2)), (std::vector<float>{0}));
    EXPECT_EQ(Written(gemm, 11).node("Gemm").input_size(), 2);
}

TEST_F(OnnxFormTest, AxesCountForwards)
{
    OnnxBuilder builder = model_of(13, {2, 3, 4});
    NodeProto* node = builder.add_node("Concat", {"x", "x"}, {"y"}, "join");
    add_int(node, "axis", -2);
    EXPECT_EQ(int_of(Written(builder, 10).node("Concat"), "axis"), 1);
    EXPECT_EQ(int_of(Written(builder, 11).node("Concat"), "axis"), -2);
    builder.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
    expect_refusal(Written(builder, 10),
                   "Concat 'join': a negative axis came with opset 11, the file is for opset 10");
}

TEST_F(OnnxFormTest, QuantizationInItsGranularities)
{
    OnnxBuilder builder = model_of(21, {2, 4});
    builder.add_initializer("scale", {2, 2});
    NodeProto* node = builder.add_node("QuantizeLinear", {"x", "scale"}, {"y"}, "q");
    add_int(node, "block_size", 2);
    EXPECT_EQ(Written(builder, 21).status, 0);
    expect_refusal(Written(builder, 19),
                   "QuantizeLinear 'q': block_size came with opset 21, the file is for opset 19");
    node->clear_attribute();
    builder.add_initializer("list", {4});
    node->set_input(1, "list");
    EXPECT_EQ(Written(builder, 13).status, 0);
    expect_refusal(Written(builder, 12),
                   "QuantizeLinear 'q': more than one scale came with opset 13, the file is for "
                   "opset 12");
    builder.add_initializer("one", {});
    node->set_input(1, "one");
    EXPECT_EQ(Written(builder, 10).status, 0);
    expect_refusal(Written(builder, 9),
                   "QuantizeLinear 'q': the operator in this form came with opset 10, the file is "
                   "for opset 9");
}

TEST_F(OnnxFormTest, ARefusalNamesTheOpsetThatTheModelNeeds)
{
    OnnxBuilder grid = model_of(16, {1, 1, 2, 2});
    grid.add_initializer("grid", {1, 2, 2, 2});
    grid.add_node("GridSample", {"x", "grid"}, {"y"}, "sample");
    expect_refusal(Written(grid, 15),
                   "GridSample 'sample': the operator in this form came with opset 16, the file is "
                   "for opset 15");
    const Written named(grid, 21);
    ASSERT_EQ(named.status, 0) << named.message;
    EXPECT_EQ(named.node("GridSample").attribute_size(), 0);  // bilinear is linear, the default
    OnnxBuilder swish = model_of(24, {2});
    swish.add_node("Swish", {"x"}, {"y"}, "swish");
    expect_refusal(Written(swish, 7),
                   "Swish 'swish': the operator in this form came with opset 24, the file is for "
                   "opset 7");
}

TEST_F(OnnxFormTest, WhatMeansNothingIsRefused)
{
    OnnxBuilder split = model_of(13, {4});
    split.add_node("Split", {"x"}, {}, "split");
    split.add_node("Relu", {"x"}, {"y"});
    EXPECT_EQ(Written(split, 21).status, 0);  // no part has a reader
    split.model.mutable_opset_import(0)->set_version(18);
    EXPECT_EQ(Written(split, 13).status, TENGINE_ENOTSUP);

    OnnxBuilder norm = model_of(18, {1, 4, 2});
    norm.add_initializer("scale", {3});
    NodeProto* node = norm.add_node("GroupNormalization", {"x", "scale", "scale"}, {"y"}, "norm");
    expect_refusal(Written(norm, 21),
                   "GroupNormalization 'norm': it has 4 channels (-1: not known) in 0 groups, and "
                   "opset 21, other than opset 18, has scales of channels");
    add_int(node, "num_groups", 2);
    EXPECT_EQ(Written(norm, 21).message,
              "GroupNormalization 'norm': input 1 has 3 elements for 2 groups");
    norm.graph().mutable_initializer(0)->set_data_type(TensorProto::INT32);
    EXPECT_EQ(Written(norm, 21).status, TENGINE_EDTYPE);

    OnnxBuilder gemm = model_of(13, {2, 3}, TensorProto::STRING);
    gemm.add_node("Gemm", {"x", "x"}, {"y"}, "gemm");
    expect_refusal(Written(gemm, 9),
                   "Gemm 'gemm': an absent bias came with opset 11, the file is for opset 9");
}

// Expects that `op` of opset 13 on inputs of `type` cannot be written for the opset before `first`.
void expect_first(const char* op, int type, const char* name, int first)
{
    OnnxBuilder builder = model_of(NEWEST_KNOWN_OPSET, {2, 3}, type);
    const bool is_binary = std::strcmp(op, "Add") == 0 || std::strcmp(op, "Max") == 0;
    if (is_binary)
        builder.add_node(op, {"x", "x"}, {"y"}, "only");
    else
        builder.add_node(op, {"x"}, {"y"}, "only");
    EXPECT_EQ(Written(builder, first).status, 0) << op << " " << name;
    expect_refusal(Written(builder, first - 1), std::string(op) + " 'only': " + name +
                                                    " came with opset " + std::to_string(first) +
                                                    ", the file is for opset " +
                                                    std::to_string(first - 1));
}

TEST_F(OnnxFormTest, TypesCameWithOpsets)
{
    expect_first("Flatten", TensorProto::INT32, "int32", 9);
    expect_first("Flatten", TensorProto::COMPLEX64, "complex64", 9);
    expect_first("Max", TensorProto::INT64, "int64", 12);
    expect_first("Abs", TensorProto::BFLOAT16, "bf16", 13);
    expect_first("Add", TensorProto::INT8, "int8", 14);
    expect_first("LeakyRelu", TensorProto::BFLOAT16, "bf16", 16);
    expect_first("Identity", 17, "float8e4m3fn", 19);
    expect_first("Sin", TensorProto::BFLOAT16, "bf16", 22);
}

}  // namespace
}  // namespace tengine::test
