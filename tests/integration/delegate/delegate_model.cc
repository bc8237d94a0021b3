// SPDX-License-Identifier: Apache-2.0
#include "delegate_model.h"

#include <cmath>

namespace tengine {

std::string save_chain(const std::vector<std::string>& operators)
{
    static int number = 0;
    std::string path = testing::TempDir() + "delegate_" + std::to_string(getpid()) + "_" +
                       std::to_string(++number);
    const graph_t graph = create_graph(nullptr, nullptr, nullptr);
    tensor_t x = add_input(graph, "x", {2, 4});
    const std::vector<float> half(8, 0.5f);
    tensor_t c = nullptr;
    for (size_t i = 0; x && i < operators.size(); ++i) {
        const bool pair = operators[i] == "Add" || operators[i] == "Sub" || operators[i] == "Mul";
        const std::string name = i + 1 == operators.size() ? "y" : "n" + std::to_string(i);
        if (pair && !c) c = add_constant(graph, "c", {2, 4}, half.data());
        x = pair ? add_node(graph, name.c_str(), operators[i].c_str(), {x, c})
                 : add_node(graph, name.c_str(), operators[i].c_str(), {x});
    }
    EXPECT_TRUE(x && set_borders(graph, {"x"}, {"y"})) << get_tengine_error();
    EXPECT_EQ(save_graph(graph, "onnx", path.c_str()), 0) << get_tengine_error();
    destroy_graph(graph);
    return path;
}

float apply_chain(const std::vector<std::string>& operators, float x)
{
    for (const std::string& op : operators) {
        if (op == "Relu") x = std::max(x, 0.0f);
        if (op == "Add") x += 0.5f;
        if (op == "Sub") x -= 0.5f;
        if (op == "Mul") x *= 0.5f;
        if (op == "Neg") x = -x;
    }
    return x;
}

delegate::Status TestDelegate::replace_runs(delegate::DelegateModel* model)
{
    const auto has = [&](const delegate::kernel::Kernel* entry) {
        const delegate::schema::Primitive* primitive = model->GetPrimitive(entry);
        for (const std::string& op : operators)
            if (primitive && op == primitive->Operator()) return true;
        return false;
    };
    delegate::KernelIter from = model->BeginKernelIterator();
    while (from != model->EndKernelIterator()) {
        delegate::KernelIter end = from;
        while (end != model->EndKernelIterator() && has(*end))
            ++end;
        from = end == from
                   ? from + 1
                   : model->Replace(from, end, new CountingKernel(from, end, model, &calls));
    }
    return delegate::kSuccess;
}

std::vector<std::string> list_places(graph_t graph)
{
    std::vector<std::string> places;
    for (int i = 0; i < tengine_graph_get_execution_node_number(graph); ++i) {
        tengine_execution_node node;
        tengine_refusal refusal{};
        EXPECT_EQ(tengine_graph_get_execution_node(graph, i, &node), 0);
        if (node.refusal_number > 0) tengine_graph_get_refusal(graph, i, 0, &refusal);
        places.push_back(node.device +
                         (refusal.message ? std::string(": ") + refusal.message : std::string()));
    }
    return places;
}

}  // namespace tengine
