// SPDX-License-Identifier: Apache-2.0
#include "serializer/onnx_written.h"

#include <fstream>
#include <memory>

#include "graph/context.h"
#include "graph/option.h"
#include "module/module.h"
#include "optimizer/optimizer.h"
#include "serializer/serializer.h"

namespace tengine::test {

using ::onnx::NodeProto;
using ::onnx::TensorProto;

Written::Written(OnnxBuilder builder, int opset)
{
    const std::unique_ptr<context, void (*)(context*)> context(create_ir_context(nullptr),
                                                               destroy_ir_context);
    EXPECT_EQ(set_ir_context_option(context.get(), "model.opset", std::to_string(opset).c_str()),
              0);
    const ScratchFolder folder;
    builder.model.set_ir_version(13);
    const Loaded loaded(folder.write("given.onnx", builder.encode()), context.get());
    EXPECT_EQ(loaded.status, 0) << loaded.message;
    if (loaded.status == 0) write(loaded.graph, folder.path / "written.onnx");
}

void Written::write(struct graph* graph, const std::string& path)
{
    struct serializer* onnx = find_serializer_via_name("onnx");
    struct graph* copy = nullptr;
    status = create_saved_graph(graph, "", &copy);
    if (status == 0) status = onnx->save_model(onnx, copy ? copy : graph, path.c_str());
    if (status != 0) message = tengine_error_message();
    if (copy) destroy_ir_graph(copy);
    if (status != 0) return;
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(model.ParseFromIstream(&file));
}

const NodeProto& Written::node(const std::string& op) const
{
    static const NodeProto none;
    for (const NodeProto& node : model.graph().node())
        if (node.op_type() == op) return node;
    ADD_FAILURE() << "the file has no " << op;
    return none;
}

std::string Written::raw_data(const std::string& name) const
{
    for (const TensorProto& tensor : model.graph().initializer())
        if (tensor.name() == name) return tensor.raw_data();
    ADD_FAILURE() << "the file has no initialiser '" << name << "'";
    return "";
}

OnnxBuilder model_of(int opset, const Dims& dims, int type)
{
    OnnxBuilder builder;
    builder.model.mutable_opset_import(0)->set_version(opset);
    builder.add_input("x", dims, type);
    builder.add_output("y");
    return builder;
}

void add_list(OnnxBuilder* builder, const std::string& name, const Dims& values)
{
    TensorProto* list = builder->graph().add_initializer();
    list->set_name(name);
    list->set_data_type(TensorProto::INT64);
    list->add_dims(static_cast<int64_t>(values.size()));
    list->set_raw_data(values.data(), values.size() * sizeof values[0]);
}

const onnx::AttributeProto* find_attribute(const NodeProto& node, const std::string& name)
{
    for (const auto& attribute : node.attribute())
        if (attribute.name() == name) return &attribute;
    return nullptr;
}

Dims ints_of(const NodeProto& node, const std::string& name)
{
    const auto* attribute = find_attribute(node, name);
    return attribute ? Dims(attribute->ints().begin(), attribute->ints().end()) : Dims();
}

int64_t int_of(const NodeProto& node, const std::string& name)
{
    const auto* attribute = find_attribute(node, name);
    return attribute ? attribute->i() : -1;
}

}  // namespace tengine::test
