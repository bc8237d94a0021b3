// SPDX-License-Identifier: Apache-2.0
// ZipMap: left out at the end of a graph, refused elsewhere.
#include "serializer/onnx_builder.h"

namespace tengine::test {
namespace {

using OnnxZipMapTest = SerializerTest;

// x → Relu → p → ZipMap → maps
OnnxBuilder zipped_model()
{
    OnnxBuilder builder;
    auto* import = builder.model.add_opset_import();
    import->set_domain("ai.onnx.ml");
    import->set_version(1);
    builder.add_input("x", {2, 3});
    builder.add_node("Relu", {"x"}, {"p"}, "relu");
    builder.add_node("ZipMap", {"p"}, {"maps"}, "zip")->set_domain("ai.onnx.ml");
    builder.add_output("maps");
    auto* type = builder.graph().mutable_output(0)->mutable_type();
    type->mutable_sequence_type()->mutable_elem_type()->mutable_map_type();
    return builder;
}

TEST_F(OnnxZipMapTest, ItsInputTakesItsPlaceAtTheEnd)
{
    const Loaded loaded(zipped_model());
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    EXPECT_EQ(loaded.node_names(), (std::vector<std::string>{"x", "relu"}));
    ASSERT_EQ(loaded.graph->output_tensor_num, 1);
    EXPECT_STREQ(get_ir_graph_tensor(loaded.graph, loaded.graph->output_tensors[0])->name, "p");
}

TEST_F(OnnxZipMapTest, MapsThatANodeReadsAreRefused)
{
    OnnxBuilder builder = zipped_model();
    builder.add_node("Relu", {"maps"}, {"y"}, "reader");
    builder.add_output("y");
    expect_failure(Loaded(builder), TENGINE_EOPERATOR, {"ai.onnx.ml.ZipMap (opset 1: 'zip')"});
}

}  // namespace
}  // namespace tengine::test
