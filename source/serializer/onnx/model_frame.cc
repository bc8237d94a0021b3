// SPDX-License-Identifier: Apache-2.0
#include "serializer/onnx/model_frame.h"

#include <string_view>
#include <unordered_set>

namespace tengine {
namespace {

std::unordered_set<std::string_view> list_inputs(const graph& graph)
{
    std::unordered_set<std::string_view> names;
    for (int i = 0; i < graph.input_tensor_num; ++i)
        names.insert(graph.tensor_list[graph.input_tensors[i]]->name);
    return names;
}

void copy_graph(const ::onnx::GraphProto& from, const graph& graph, ::onnx::GraphProto* to)
{
    if (from.has_name()) to->set_name(from.name());
    const std::unordered_set<std::string_view> inputs = list_inputs(graph);
    for (const auto& input : from.input())
        if (inputs.count(input.name()) > 0) *to->add_input() = input;
    *to->mutable_output() = from.output();
    *to->mutable_value_info() = from.value_info();
}

}  // namespace

std::shared_ptr<const ModelFrame> make_model_frame(const OnnxModel& model,
                                                   const std::vector<std::string>& node_names,
                                                   const graph& graph)
{
    auto frame = std::make_shared<ModelFrame>();
    frame->model = model.header;
    copy_graph(model.graph, graph, frame->model.mutable_graph());
    for (int i = 0; i < model.graph.node_size(); ++i) {
        std::vector<std::string>& names = frame->attributes[node_names[static_cast<size_t>(i)]];
        for (const auto& attribute : model.graph.node(i).attribute())
            names.push_back(attribute.name());
    }
    return frame;
}

}  // namespace tengine
