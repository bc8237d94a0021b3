// SPDX-License-Identifier: Apache-2.0
#include "support/ir_builder.h"

#include <gtest/gtest.h>

#include "graph/graph.h"
#include "module/module.h"
#include "operator/registry.h"
#include "optimizer/optimizer.h"
#include "scheduler/scheduler.h"

namespace tengine::test {

IrBuilder::IrBuilder(context* context)
{
    EXPECT_EQ(init_modules(), TENGINE_OK) << tengine_error_message();
    graph_ = create_ir_graph(context);
}

IrBuilder::~IrBuilder()
{
    postrun_ir_graph(graph_);
    destroy_ir_graph(graph_);
}

tensor* IrBuilder::input(const std::string& name, std::vector<int> dims, int data_type)
{
    node* source = create_ir_node(graph_, name.c_str(), get_op_type("tengine", "InputOp"), 0);
    tensor* made = create_ir_tensor(graph_, name.c_str(), data_type);
    made->tensor_type = TENSOR_TYPE_INPUT;
    EXPECT_EQ(set_ir_tensor_shape(made, dims.data(), static_cast<int>(dims.size())), TENGINE_OK);
    EXPECT_EQ(set_ir_node_output_tensor(source, 0, made), TENGINE_OK);
    std::vector<int32_t> nodes(graph_->input_nodes, graph_->input_nodes + graph_->input_num);
    nodes.push_back(source->index);
    EXPECT_EQ(set_ir_graph_input_node(graph_, nodes.data(), static_cast<int>(nodes.size())),
              TENGINE_OK);
    return made;
}

tensor* IrBuilder::constant_bytes(const std::string& name, const std::vector<int>& dims,
                                  int data_type)
{
    tensor* made = create_ir_tensor(graph_, name.c_str(), data_type);
    made->tensor_type = TENSOR_TYPE_CONST;
    EXPECT_EQ(set_ir_tensor_shape(made, dims.data(), static_cast<int>(dims.size())), TENGINE_OK);
    EXPECT_EQ(allocate_ir_tensor(made), TENGINE_OK);
    return made;
}

tensor* IrBuilder::find(const std::string& name)
{
    return find_tensor(graph_, name);
}

node* IrBuilder::add(const std::string& op, std::vector<std::string> inputs,
                     std::vector<std::string> outputs, int opset)
{
    node* made =
        create_ir_node(graph_, outputs.front().c_str(), get_op_type_by_name(op.c_str()), opset);
    EXPECT_NE(made, nullptr) << tengine_error_message();
    // As in files: those of Tengine declare every tensor's type.
    const int type = made->op.method->tengine ? TENGINE_DT_FP32 : TENGINE_DT_UNKNOWN;
    const auto at = [&](const std::string& name) -> tensor* {
        if (name.empty()) return nullptr;
        tensor* known = find(name);
        return known ? known : create_ir_tensor(graph_, name.c_str(), type);
    };
    for (size_t i = 0; i < inputs.size(); ++i)
        EXPECT_EQ(set_ir_node_input_tensor(made, static_cast<int>(i), at(inputs[i])), TENGINE_OK);
    for (size_t i = 0; i < outputs.size(); ++i)
        EXPECT_EQ(set_ir_node_output_tensor(made, static_cast<int>(i), at(outputs[i])), TENGINE_OK);
    return made;
}

void IrBuilder::outputs(std::initializer_list<std::string> names)
{
    std::vector<int32_t> tensors;
    for (const std::string& name : names)
        tensors.push_back(find(name)->index);
    EXPECT_EQ(set_ir_graph_output_tensor(graph_, tensors.data(), static_cast<int>(tensors.size())),
              TENGINE_OK);
}

node* find_node(const graph* graph, const std::string& name)
{
    return get_ir_graph_node(graph, get_ir_node_index_from_name(graph, name.c_str()));
}

tensor* find_tensor(const graph* graph, const std::string& name)
{
    return get_ir_graph_tensor(graph, get_ir_tensor_index_from_name(graph, name.c_str()));
}

graph* make_execution_graph(graph* source)
{
    ir_run_options_t options = {};
    options.num_thread = 1;
    graph* made = nullptr;
    return create_execution_graph(source, &options, &made) < 0 ? nullptr : made;
}

}  // namespace tengine::test
