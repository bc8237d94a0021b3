// SPDX-License-Identifier: Apache-2.0
// Versions, opsets, operators that are not supported, attributes.
#include "serializer/onnx_builder.h"
#include "tengine/defines.h"

namespace tengine::test {
namespace {

using OnnxOperatorTest = SerializerTest;

onnx::AttributeProto* add_attribute(OnnxBuilder* builder, const std::string& name)
{
    auto* attribute = builder->graph().mutable_node(0)->add_attribute();
    attribute->set_name(name);
    return attribute;
}

TEST_F(OnnxOperatorTest, VersionPicksTheDescription)
{
    for (const int opset : {7, 9, 13, 17}) {
        OnnxBuilder builder = small_model();
        builder.model.mutable_opset_import(0)->set_version(opset);
        const Loaded loaded(builder);
        ASSERT_EQ(loaded.status, 0) << loaded.message;
        EXPECT_EQ(loaded.node("relu")->op.version, opset);
    }
}

TEST_F(OnnxOperatorTest, LongNameOfTheDefaultDomain)
{
    OnnxBuilder builder = small_model();
    builder.graph().mutable_node(0)->set_domain("ai.onnx");
    EXPECT_EQ(Loaded(builder).status, 0);
    builder.model.mutable_opset_import(0)->set_domain("ai.onnx");
    builder.graph().mutable_node(0)->clear_domain();
    EXPECT_EQ(Loaded(builder).status, 0);
}

TEST_F(OnnxOperatorTest, VersionsOutsideTheRangeAreRefused)
{
    OnnxBuilder builder = small_model();
    for (const int version : {3, 10, 13}) {
        builder.model.set_ir_version(version);
        EXPECT_EQ(Loaded(builder).status, 0);
    }
    for (const int version : {2, 14}) {
        builder.model.set_ir_version(version);
        expect_failure(Loaded(builder), TENGINE_ENOTSUP,
                       {"IR version", std::to_string(version).c_str(), "3 to 13"});
    }
    builder.model.clear_ir_version();
    expect_failure(Loaded(builder), TENGINE_EFORMAT, {"no IR version"});
}

TEST_F(OnnxOperatorTest, OperatorsThatNoBuildHasAreRefusedWithTheReason)
{
    OnnxBuilder builder = small_model();
    builder.model.mutable_opset_import(0)->set_version(20);
    for (const auto& [op, reason] :
         {std::pair{"ImageDecoder",
                    "ImageDecoder (opset 20, which decodes the formats of pictures"},
          std::pair{"RegexFullMatch", "which needs a matcher of RE2's expressions: 'relu'"}}) {
        builder.graph().mutable_node(0)->set_op_type(op);
        expect_failure(Loaded(builder), TENGINE_EOPERATOR, {reason});
    }
}

TEST_F(OnnxOperatorTest, OpsetImportsAreChecked)
{
    OnnxBuilder none = small_model();
    none.model.clear_opset_import();
    expect_failure(Loaded(none), TENGINE_EFORMAT, {"Relu 'relu'", "no opset", "domain ''"});

    OnnxBuilder twice = small_model();
    auto* import = twice.model.add_opset_import();
    import->set_domain("ai.onnx");
    import->set_version(14);
    expect_failure(Loaded(twice), TENGINE_EFORMAT, {"versions 13 and 14"});
    import->set_version(13);
    EXPECT_EQ(Loaded(twice).status, 0);

    OnnxBuilder negative = small_model();
    negative.model.mutable_opset_import(0)->set_version(-1);
    expect_failure(Loaded(negative), TENGINE_EFORMAT, {"version -1"});

    OnnxBuilder future = small_model();
    future.model.mutable_opset_import(0)->set_version(int64_t{1} << 30);
    expect_failure(Loaded(future), TENGINE_ENOTSUP,
                   {"opset 1073741824", "newest supported one is 28"});
}

TEST_F(OnnxOperatorTest, AllUnsupportedOperatorsAreListed)
{
    OnnxBuilder builder = small_model();
    auto* import = builder.model.add_opset_import();
    import->set_domain("com.microsoft");
    import->set_version(3);
    for (int i = 0; i < 7; ++i)
        builder.add_node("Fancy", {"x"}, {}, "fancy" + std::to_string(i))
            ->set_domain("com.microsoft");
    builder.add_node("NotAnOperator", {"x"}, {}, "other");
    builder.add_node("InputOp", {}, {}, "fake");
    expect_failure(Loaded(builder), TENGINE_EOPERATOR,
                   {"3 operators",
                    "com.microsoft.Fancy (opset 3: 'fancy0', 'fancy1', 'fancy2', "
                    "'fancy3', 'fancy4' and 2 more)",
                    "NotAnOperator (opset 13: 'other')", "InputOp (opset 13: 'fake')"});
}

TEST_F(OnnxOperatorTest, OperatorsOfUnknownDomainsAreGeneric)
{
    OnnxBuilder builder = small_model();
    auto* import = builder.model.add_opset_import();
    import->set_domain("com.example");
    import->set_version(3);
    auto* fancy = builder.add_node("Fancy", {"x", "", "x"}, {"a", "b"}, "fancy");
    fancy->set_domain("com.example");
    auto* rate = fancy->add_attribute();
    rate->set_name("rate");
    rate->set_type(::onnx::AttributeProto::FLOAT);
    rate->set_f(0.25f);
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    const int index = get_ir_node_index_from_name(loaded.graph, "fancy");
    ASSERT_GE(index, 0);
    const struct node* node = get_ir_graph_node(loaded.graph, index);
    EXPECT_STREQ(get_ir_node_op(node), "Generic");
    EXPECT_STREQ(get_ir_node_text(node, "op_name", ""), "com.example.Fancy");
    EXPECT_EQ(get_ir_node_int(node, "max_input_num", 0), 3);
    EXPECT_EQ(get_ir_node_int(node, "max_output_num", 0), 2);
    EXPECT_EQ(get_ir_node_float(node, "rate", 0), 0.25f);
    EXPECT_EQ(node->input_num, 3);
    EXPECT_EQ(get_ir_node_input(node, 1), nullptr);
    EXPECT_STREQ(get_ir_node_output(node, 1)->name, "b");
    // An attribute that cannot be kept is an error.
    auto* body = fancy->add_attribute();
    body->set_name("body");
    body->set_type(::onnx::AttributeProto::GRAPH);
    expect_failure(Loaded(builder), TENGINE_ENOTSUP, {"'body'", "graph"});
}

TEST_F(OnnxOperatorTest, LongListsDropNodesThenOperators)
{
    OnnxBuilder builder = small_model();
    for (int i = 0; i < 20; ++i)
        for (int k = 0; k < 10; ++k)
            builder.add_node("Missing" + std::to_string(i), {"x"}, {},
                             "a_rather_long_name" + std::to_string(i * 10 + k));
    expect_failure(
        Loaded(builder), TENGINE_EOPERATOR,
        {"20 operators", "Missing0 (opset 13: 10 nodes)", "Missing19 (opset 13: 10 nodes)"});

    for (int i = 20; i < 500; ++i)
        builder.add_node("Missing" + std::to_string(i), {"x"}, {});
    const Loaded loaded(builder);
    expect_failure(loaded, TENGINE_EOPERATOR, {"500 operators", "Missing0 ", " more"});
    EXPECT_LT(loaded.message.size(), 1000u);
}

TEST_F(OnnxOperatorTest, MarkersOfTheGraphAreNoOperators)
{
    OnnxBuilder builder = small_model();
    auto* import = builder.model.add_opset_import();
    import->set_domain("tengine");
    import->set_version(1);
    builder.add_node("Const", {}, {"c"}, "fake")->set_domain("tengine");
    expect_failure(Loaded(builder), TENGINE_EOPERATOR, {"tengine.Const (opset 1: 'fake')"});

    builder.graph().mutable_node(1)->set_op_type("ReLU");
    import->set_version(29);
    expect_failure(Loaded(builder), TENGINE_EOPERATOR,
                   {"tengine.ReLU (opset 29, known up to opset 28: 'fake')"});
}

TEST_F(OnnxOperatorTest, IntegerOperatorsOfOnnxRuntime)
{
    OnnxBuilder builder = small_model();
    auto* import = builder.model.add_opset_import();
    import->set_domain("com.microsoft");
    import->set_version(1);
    builder.add_node("QGemm", {"x", "x", "x", "x", "x", "x"}, {"z"}, "gemm")
        ->set_domain("com.microsoft");
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    EXPECT_STREQ(get_ir_node_domain(loaded.node("gemm")), "com.microsoft");

    builder.add_node("PackedAttention", {"x"}, {"w"}, "attention")->set_domain("com.microsoft");
    expect_failure(Loaded(builder), TENGINE_EOPERATOR,
                   {"com.microsoft.PackedAttention (opset 1: 'attention')"});
    import->set_version(2);
    expect_failure(Loaded(builder), TENGINE_EOPERATOR,
                   {"com.microsoft.QGemm (opset 2, known up to opset 1: 'gemm')"});
}

TEST_F(OnnxOperatorTest, AttributesOfEveryKind)
{
    OnnxBuilder builder = conv_model();
    auto* attribute = add_attribute(&builder, "auto_pad");
    attribute->set_type(onnx::AttributeProto::STRING);
    attribute->set_s("NOTSET");
    auto* gemm = builder.add_node("LeakyRelu", {"y"}, {"z"}, "leaky");
    auto* alpha = gemm->add_attribute();
    alpha->set_name("alpha");
    alpha->set_type(onnx::AttributeProto::FLOAT);
    alpha->set_f(0.25f);
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    const struct node* conv = loaded.node("conv");
    int number = 0;
    const int64_t* pads = get_ir_node_ints(conv, "pads", &number);
    ASSERT_EQ(number, 4);
    EXPECT_EQ(pads[3], 1);
    EXPECT_EQ(get_ir_node_int(conv, "group", -1), 1);
    EXPECT_STREQ(get_ir_node_text(conv, "auto_pad", ""), "NOTSET");
    EXPECT_EQ(get_ir_node_float(loaded.node("leaky"), "alpha", 0.0f), 0.25f);
}

TEST_F(OnnxOperatorTest, AttributeWithoutTypeIsWhatItHolds)
{
    OnnxBuilder builder = conv_model();
    for (auto& attribute : *builder.graph().mutable_node(0)->mutable_attribute())
        attribute.clear_type();
    const Loaded loaded(builder);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    int number = 0;
    get_ir_node_ints(loaded.node("conv"), "kernel_shape", &number);
    EXPECT_EQ(number, 2);
}

TEST_F(OnnxOperatorTest, WrongAttributesAreRefused)
{
    OnnxBuilder unknown = conv_model();
    add_int(unknown.graph().mutable_node(0), "colour", 3);
    expect_failure(Loaded(unknown), TENGINE_ENOENT, {"Conv 'conv'", "'colour'"});

    OnnxBuilder kind = conv_model();
    auto* attribute = add_attribute(&kind, "auto_pad");
    attribute->set_type(onnx::AttributeProto::INT);
    expect_failure(Loaded(kind), TENGINE_EINVAL, {"Conv 'conv'", "'auto_pad'"});

    OnnxBuilder range = conv_model();
    range.graph().mutable_node(0)->mutable_attribute(2)->set_i(int64_t{1} << 40);
    expect_failure(Loaded(range), TENGINE_ERANGE, {"Conv 'conv'", "'group'"});

    OnnxBuilder twice = conv_model();
    add_int(twice.graph().mutable_node(0), "group", 1);
    expect_failure(Loaded(twice), TENGINE_EFORMAT, {"Conv 'conv'", "'group'", "twice"});

    OnnxBuilder empty = conv_model();
    add_attribute(&empty, "dilations");
    expect_failure(Loaded(empty), TENGINE_EFORMAT, {"Conv 'conv'", "'dilations'", "neither"});

    OnnxBuilder reference = conv_model();
    add_attribute(&reference, "dilations")->set_ref_attr_name("outer");
    expect_failure(Loaded(reference), TENGINE_EFORMAT, {"Conv 'conv'", "'outer'", "function"});
}

TEST_F(OnnxOperatorTest, AttributesOfOtherOpsetsAreRefused)
{
    OnnxBuilder newer = small_model();
    newer.graph().mutable_node(0)->set_op_type("MaxPool");
    add_int(newer.graph().mutable_node(0), "ceil_mode", 1);
    newer.model.mutable_opset_import(0)->set_version(9);
    expect_failure(Loaded(newer), TENGINE_ENOENT,
                   {"MaxPool 'relu'", "'ceil_mode' in opset 9, only from 10 on"});

    OnnxBuilder older = small_model();
    older.graph().mutable_node(0)->set_op_type("Squeeze");
    add_ints(older.graph().mutable_node(0), "axes", {0});
    expect_failure(Loaded(older), TENGINE_ENOENT,
                   {"Squeeze 'relu'", "'axes' in opset 13, only up to 12"});
}

TEST_F(OnnxOperatorTest, AttributesWithoutPlaceAreRefused)
{
    OnnxBuilder graph = conv_model();
    auto* attribute = add_attribute(&graph, "body");
    attribute->set_type(onnx::AttributeProto::GRAPH);
    expect_failure(Loaded(graph), TENGINE_ENOTSUP, {"Conv 'conv'", "'body'", "control flow"});

    OnnxBuilder sparse = conv_model();
    add_attribute(&sparse, "sparse_value")->mutable_sparse_tensor();
    expect_failure(Loaded(sparse), TENGINE_ENOTSUP, {"'sparse_value'", "a sparse tensor"});
}

TEST_F(OnnxOperatorTest, ConstantKeepsItsValue)
{
    OnnxBuilder builder;
    auto* value = builder.add_node("Constant", {}, {"c"}, "constant")->add_attribute();
    value->set_name("value");
    value->set_type(onnx::AttributeProto::TENSOR);
    value->mutable_t()->set_data_type(onnx::TensorProto::INT64);
    value->mutable_t()->add_dims(2);
    value->mutable_t()->add_int64_data(5);
    builder.add_output("c");
    expect_failure(Loaded(builder), TENGINE_EFORMAT,
                   {"Constant 'constant': attribute 'value'", "1 values of type int64", "2"});
    value->mutable_t()->add_int64_data(-7);
    const Loaded loaded(builder);
    EXPECT_EQ(loaded.status, 0) << loaded.message;
}

}  // namespace
}  // namespace tengine::test
