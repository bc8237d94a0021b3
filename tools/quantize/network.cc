// SPDX-License-Identifier: Apache-2.0
// Runs models through the C API. The contract is in network.h.
#include "quantize/network.h"

#include <algorithm>
#include <set>

#include "model.h"
#include "tengine/inspect.h"
#include "tensor_file/failure.h"

namespace tengine::tools {
namespace {

constexpr char kSubject[] = "the model";

bool writes_one_of(node_t node, const std::set<std::string>& tensors)
{
    for (int i = 0; i < get_node_output_number(node); ++i) {
        tensor_t output = get_node_output_tensor(node, i);
        if (output && tensors.count(get_tensor_name(output)) != 0) return true;
    }
    return false;
}

}  // namespace

std::vector<std::string> output_names(graph_t graph)
{
    std::vector<std::string> names;
    for (int i = 0; i < tengine_graph_get_output_number(graph); ++i)
        names.emplace_back(get_tensor_name(tengine_graph_get_output(graph, i)));
    return names;
}

Network::Network(graph_t graph, const std::vector<std::string>& tensors, int threads)
    : graph_(graph), threads_(threads)
{
    for (int i = 0; i < tengine_graph_get_tensor_number(graph); ++i) {
        const tensor_t tensor = tengine_graph_get_tensor(graph, i);
        tensors_.emplace(get_tensor_name(tensor), tensor);
    }
    if (!tensors.empty()) set_outputs(tensors);
}

// The library keeps the values of output nodes only.
void Network::set_outputs(const std::vector<std::string>& tensors)
{
    std::set<std::string> wanted(tensors.begin(), tensors.end());
    std::set<std::string> inputs;
    for (int i = 0; i < tengine_graph_get_input_number(graph_); ++i)
        inputs.insert(get_tensor_name(tengine_graph_get_input(graph_, i)));
    for (const std::string& output : output_names(graph_))
        wanted.insert(output);
    for (const std::string& input : inputs)
        wanted.erase(input);
    std::vector<const char*> nodes;
    for (int i = 0; i < get_graph_node_num(graph_); ++i) {
        node_t node = get_graph_node_by_idx(graph_, i);
        if (writes_one_of(node, wanted)) nodes.push_back(get_node_name(node));
    }
    if (nodes.empty()) return;
    if (set_graph_output_node(graph_, nodes.data(), static_cast<int>(nodes.size())) < 0)
        fail_api(kSubject);
}

tensor_t Network::find_tensor(const std::string& name) const
{
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) throw Failure("the model has no tensor '" + name + "'");
    return found->second;
}

void Network::run(const Sample& sample)
{
    std::vector<std::vector<int>> shapes;
    for (const Tensor& tensor : sample)
        shapes.push_back(tensor.shape);
    const bool is_new_shape = !is_prepared_ || shapes != shapes_;
    static std::byte nothing[1];
    for (const Tensor& tensor : sample) {
        tensor_t input = find_tensor(tensor.name);
        const std::vector<int>& shape = tensor.shape;
        // The library only reads the buffer of an input.
        void* bytes = tensor.bytes.empty() ? nothing : const_cast<std::byte*>(tensor.bytes.data());
        if ((is_new_shape &&
             set_tensor_shape(input, shape.data(), static_cast<int>(shape.size())) < 0) ||
            set_tensor_buffer(input, bytes, static_cast<int>(tensor.bytes.size())) < 0)
            fail_api("input '" + tensor.name + "'");
    }
    const options_t options = {threads_, TENGINE_CLUSTER_ALL, TENGINE_MODE_FP32, 0};
    if (is_new_shape && prerun_graph_multithread(graph_, options) < 0) fail_api(kSubject);
    is_prepared_ = true;
    shapes_ = std::move(shapes);
    if (run_graph(graph_, 1) < 0) fail_api(kSubject);
}

FloatView Network::view(const std::string& name) const
{
    tensor_t tensor = find_tensor(name);
    const Tensor described = describe_tensor(tensor);
    FloatView view;
    view.shape = described.shape;
    if (described.data_type != TENGINE_DT_FP32) return view;
    view.number = described.element_number();
    view.values = static_cast<const float*>(get_tensor_buffer(tensor));
    if (!view.values) fail_api("tensor '" + name + "'");
    return view;
}

}  // namespace tengine::tools
