// SPDX-License-Identifier: Apache-2.0
// The parts of an ONNX model other than its graph, in the file of a copy that the library has
// changed.
#include <fstream>

#include "graph/graph.h"
#include "module/module.h"
#include "onnx_builder.h"
#include "optimizer/optimizer.h"
#include "serializer/serializer.h"
#include "tengine/quantize.h"

namespace tengine::test {
namespace {

using FrameTest = SerializerTest;

// A MaxPool with an attribute that is the default, and the metadata that programs leave in files.
OnnxBuilder documented_model()
{
    OnnxBuilder builder;
    builder.model.set_ir_version(3);
    builder.model.set_producer_name("producer");
    builder.model.set_doc_string("under a licence");
    auto* opset = builder.model.add_opset_import();
    opset->set_domain("com.example");
    opset->set_version(1);
    builder.graph().set_doc_string("a graph");
    builder.add_input("x", {-1, 1, 4, 4})
        ->mutable_type()
        ->mutable_tensor_type()
        ->mutable_shape()
        ->mutable_dim(0)
        ->set_dim_param("N");
    auto* pool = builder.add_node("MaxPool", {"x"}, {"y"}, "pool");
    add_int(pool, "ceil_mode", 0);
    add_ints(pool, "kernel_shape", {2, 2});
    builder.add_output("y");
    auto* inner = builder.graph().add_value_info();
    inner->set_name("z");
    return builder;
}

// The graph as the library copies it, which is a graph in float here.
struct Copy
{
    explicit Copy(const Loaded& loaded)
    {
        EXPECT_EQ(loaded.status, 0) << loaded.message;
        tengine_quantization how = {};
        how.get_range = [](void*, const char*, double*, double*) { return 0; };
        EXPECT_EQ(create_quantized_graph(loaded.graph, &how, &graph), 0) << tengine_error_message();
        EXPECT_EQ(onnx->inherit(onnx, loaded.graph, graph), 0);
    }
    ~Copy()
    {
        onnx->unload_graph(onnx, graph, graph->core->serializer_privacy, nullptr);
        destroy_ir_graph(graph);
    }
    Copy(const Copy&) = delete;
    Copy& operator=(const Copy&) = delete;

    ::onnx::ModelProto write() const
    {
        const ScratchFolder folder;
        const std::string path = folder.path / "copy.onnx";
        EXPECT_EQ(onnx->save_model(onnx, graph, path.c_str()), 0) << tengine_error_message();
        ::onnx::ModelProto model;
        std::ifstream file(path, std::ios::binary);
        EXPECT_TRUE(model.ParseFromIstream(&file));
        return model;
    }

    struct serializer* onnx = find_serializer_via_name("onnx");
    struct graph* graph = nullptr;
};

TEST_F(FrameTest, ACopySaysWhatTheModelSays)
{
    const OnnxBuilder builder = documented_model();
    const Copy copy{Loaded(builder)};
    ::onnx::ModelProto expected = builder.model;
    expected.set_ir_version(10);
    expected.mutable_opset_import(0)->set_version(21);
    EXPECT_EQ(copy.write().SerializeAsString(), expected.SerializeAsString());
}

TEST_F(FrameTest, DeclaredShapesGoWhenAnInputHasAnother)
{
    const Copy copy{Loaded(documented_model())};
    const int dims[] = {2, 1, 6, 6};
    ASSERT_EQ(set_ir_tensor_shape(copy.graph->tensor_list[copy.graph->input_tensors[0]], dims, 4),
              0);
    const ::onnx::ModelProto model = copy.write();
    EXPECT_EQ(model.doc_string(), "under a licence");
    const auto& shape = model.graph().input(0).type().tensor_type().shape();
    ASSERT_EQ(shape.dim_size(), 4);
    EXPECT_EQ(shape.dim(0).dim_value(), 2);
    EXPECT_EQ(shape.dim(3).dim_value(), 6);
    EXPECT_EQ(model.graph().value_info_size(), 0);
    EXPECT_FALSE(model.graph().output(0).type().tensor_type().has_shape());
}

}  // namespace
}  // namespace tengine::test
