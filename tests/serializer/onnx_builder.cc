// SPDX-License-Identifier: Apache-2.0
// See onnx_builder.h.
#include "serializer/onnx_builder.h"

#include <unistd.h>

#include <cstdarg>
#include <fstream>
#include <numeric>

#include "graph/core.h"
#include "module/module.h"
#include "serializer/serializer.h"

namespace tengine::test {
namespace {

struct serializer* onnx_serializer()
{
    return find_serializer_via_name("onnx");
}

// The serializer's entry takes a va_list, which only a variadic function can create.
int load_file(struct graph* graph, const char* path, ...)
{
    va_list arguments;
    va_start(arguments, path);
    const int status = onnx_serializer()->load_model(onnx_serializer(), graph, path, arguments);
    va_end(arguments);
    return status;
}

}  // namespace

OnnxBuilder::OnnxBuilder()
{
    model.set_ir_version(7);
    auto* opset = model.add_opset_import();
    opset->set_domain("");
    opset->set_version(13);
    graph().set_name("test");
}

onnx::ValueInfoProto* OnnxBuilder::add_input(const std::string& name, const Dims& dims, int type)
{
    auto* input = graph().add_input();
    input->set_name(name);
    auto* tensor = input->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(type);
    auto* shape = tensor->mutable_shape();
    for (const int64_t dim : dims) {
        if (dim < 0)
            shape->add_dim()->set_dim_param("N");
        else
            shape->add_dim()->set_dim_value(dim);
    }
    return input;
}

void OnnxBuilder::add_output(const std::string& name)
{
    graph().add_output()->set_name(name);
}

onnx::NodeProto* OnnxBuilder::add_node(const std::string& type, Names inputs, Names outputs,
                                       const std::string& name)
{
    auto* node = graph().add_node();
    node->set_op_type(type);
    if (!name.empty()) node->set_name(name);
    for (const char* input : inputs)
        node->add_input(input);
    for (const char* output : outputs)
        node->add_output(output);
    return node;
}

onnx::TensorProto* OnnxBuilder::add_initializer(const std::string& name, const Dims& dims)
{
    auto* tensor = graph().add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(onnx::TensorProto::FLOAT);
    size_t count = 1;
    for (const int64_t dim : dims) {
        tensor->add_dims(dim);
        count *= static_cast<size_t>(dim);
    }
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 0.0f);
    tensor->set_raw_data(values.data(), count * sizeof(float));
    return tensor;
}

onnx::AttributeProto* add_int(onnx::NodeProto* node, const std::string& name, int64_t value)
{
    auto* attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::INT);
    attribute->set_i(value);
    return attribute;
}

onnx::AttributeProto* add_ints(onnx::NodeProto* node, const std::string& name, const Dims& values)
{
    auto* attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::INTS);
    for (const int64_t value : values)
        attribute->add_ints(value);
    return attribute;
}

OnnxBuilder small_model()
{
    OnnxBuilder builder;
    builder.add_input("x", {2, 3});
    builder.add_node("Relu", {"x"}, {"y"}, "relu");
    builder.add_output("y");
    return builder;
}

OnnxBuilder conv_model()
{
    OnnxBuilder builder;
    builder.add_input("x", {1, 3, 8, 8});
    builder.add_initializer("weight", {4, 3, 3, 3});
    builder.add_initializer("bias", {4});
    auto* conv = builder.add_node("Conv", {"x", "weight", "bias"}, {"h"}, "conv");
    add_ints(conv, "kernel_shape", {3, 3});
    add_ints(conv, "pads", {1, 1, 1, 1});
    add_int(conv, "group", 1);
    builder.add_node("Relu", {"h"}, {"y"}, "relu");
    builder.add_output("y");
    return builder;
}

Loaded::Loaded(const std::string& bytes) : graph(create_ir_graph(nullptr))
{
    tengine_error_clear();
    status = onnx_serializer()->load_mem(onnx_serializer(), graph, bytes.data(), bytes.size());
    message = tengine_error_message();
}

Loaded::Loaded(const std::filesystem::path& file, struct context* context)
    : graph(create_ir_graph(context))
{
    tengine_error_clear();
    status = load_file(graph, file.c_str());
    message = tengine_error_message();
}

Loaded::~Loaded()
{
    onnx_serializer()->unload_graph(onnx_serializer(), graph, graph->core->serializer_privacy,
                                    nullptr);
    destroy_ir_graph(graph);
}

const struct tensor* Loaded::tensor(const char* name) const
{
    return get_ir_graph_tensor(graph, get_ir_tensor_index_from_name(graph, name));
}

const struct node* Loaded::node(const char* name) const
{
    return get_ir_graph_node(graph, get_ir_node_index_from_name(graph, name));
}

std::vector<std::string> Loaded::node_names() const
{
    std::vector<std::string> names;
    for (int i = 0; i < graph->node_num; ++i)
        names.push_back(graph->node_list[i]->name);
    return names;
}

void expect_failure(const Loaded& loaded, int code, Names parts)
{
    EXPECT_EQ(loaded.status, code) << loaded.message;
    EXPECT_EQ(tengine_error_code(), code);
    for (const char* part : parts)
        EXPECT_NE(loaded.message.find(part), std::string::npos)
            << "'" << part << "' is not in: " << loaded.message;
}

ScratchFolder::ScratchFolder()
{
    std::string name = (std::filesystem::temp_directory_path() / "tengine_XXXXXX").string();
    path = mkdtemp(name.data());
}

ScratchFolder::~ScratchFolder()
{
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
}

std::filesystem::path ScratchFolder::write(const std::string& name, const std::string& bytes) const
{
    const std::filesystem::path file = path / name;
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
}

void SerializerTest::SetUpTestSuite()
{
    ASSERT_EQ(init_modules(), 0) << tengine_error_message();
}

void SerializerTest::TearDownTestSuite()
{
    release_modules();
}

}  // namespace tengine::test
