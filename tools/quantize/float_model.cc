// SPDX-License-Identifier: Apache-2.0
#include "quantize/float_model.h"

#include <cstring>
#include <utility>

#include "model.h"

namespace tengine::tools {

void set_input_shapes(graph_t graph, const std::vector<Tensor>& inputs)
{
    for (const Tensor& input : inputs) {
        tensor_t tensor = get_graph_tensor(graph, input.name.c_str());
        if (!tensor ||
            set_tensor_shape(tensor, input.shape.data(), static_cast<int>(input.shape.size())) < 0)
            fail_api("input '" + input.name + "'");
    }
}

FloatModel::FloatModel(const std::string& path, const std::vector<Tensor>& inputs,
                       const std::vector<std::string>& devices)
    : path_(path)
{
    context_.reset(create_context("quantize", devices.empty() ? 0 : 1));
    if (!context_) fail_api("context");
    for (const std::string& device : devices)
        if (add_context_device(context_.get(), device.c_str()) < 0) fail_api("--device " + device);
    // Devices get all nodes that they take, whether or not the transfer pays.
    for (const auto& [key, value] : {std::pair{"split.prune", "0"}, {"split.report", "none"}})
        if (!devices.empty() && tengine_context_set_option(context_.get(), key, value) < 0)
            fail_api(key);
    const char* format = format_of(path);
    graph_.reset(create_graph(context_.get(), format ? format : "onnx", path.c_str()));
    if (!graph_) fail_api(path);
    // An ONNX model keeps the dimensions that it leaves open.
    if (format && std::strcmp(format, "tengine") == 0) set_input_shapes(graph_.get(), inputs);
}

void FloatModel::set_option(const std::string& key, const std::string& value) const
{
    if (tengine_context_set_option(context_.get(), key.c_str(), value.c_str()) < 0)
        fail_api("option " + key);
}

}  // namespace tengine::tools
