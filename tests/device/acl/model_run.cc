// SPDX-License-Identifier: Apache-2.0
#include "device/acl/model_run.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <sstream>

#include "tengine/inspect.h"

namespace tengine::acl {
namespace {

void check(bool is_good)
{
    EXPECT_TRUE(is_good) << get_tengine_error();
}

context_t make_context(const ModelSettings& settings)
{
    context_t context = create_context("test", 1);
    std::istringstream names(settings.devices);
    for (std::string name; std::getline(names, name, ',');)
        check(add_context_device(context, name.c_str()) == 0);
    check(tengine_context_set_option(context, "split.prune", "0") == 0);
    check(tengine_context_set_option(context, "split.report", "none") == 0);
    return context;
}

// From -1 to 1, over and over.
std::vector<float> make_ramp(size_t size)
{
    std::vector<float> values(size);
    for (size_t i = 0; i < size; ++i)
        values[i] = static_cast<float>(i % 251) / 125 - 1;
    return values;
}

void read_nodes(graph_t graph, ModelResult* result)
{
    result->nodes = tengine_graph_get_execution_node_number(graph);
    for (int i = 0; i < result->nodes; ++i) {
        tengine_execution_node node;
        check(tengine_graph_get_execution_node(graph, i, &node) == 0);
        result->nodes_on.push_back(node.device);
    }
    tengine_graph_stats stats = {};
    check(tengine_graph_get_stats(graph, &stats) == 0);
    for (int i = 0; i < stats.subgraph_number; ++i) {
        tengine_subgraph part;
        check(tengine_graph_get_subgraph(graph, i, &part) == 0);
        result->redone += part.redo_number;
    }
}

}  // namespace

int ModelResult::count(const std::string& device) const
{
    return static_cast<int>(std::count(nodes_on.begin(), nodes_on.end(), device));
}

ModelResult run_model(const std::string& path, const ModelSettings& settings)
{
    ModelResult result;
    check(init_tengine() == 0);
    context_t context = make_context(settings);
    const bool is_onnx = path.rfind(".onnx") == path.size() - 5;
    graph_t graph = create_graph(context, is_onnx ? "onnx" : "tengine", path.c_str());
    check(graph != nullptr);
    tensor_t input = tengine_graph_get_input(graph, 0);
    check(set_tensor_shape(input, settings.shape.data(), static_cast<int>(settings.shape.size())) ==
          0);
    options run = {};
    run.num_thread = settings.threads;
    run.cluster = TENGINE_CLUSTER_ALL;
    run.precision = TENGINE_MODE_FP32;
    check(prerun_graph_multithread(graph, run) == 0);
    std::vector<float> fed = make_ramp(static_cast<size_t>(get_tensor_buffer_size(input)) / 4);
    check(set_tensor_buffer(input, fed.data(), static_cast<int>(fed.size() * 4)) == 0);
    check(run_graph(graph, 1) == 0);
    read_nodes(graph, &result);
    tensor_t output = tengine_graph_get_output(graph, 0);
    const auto* values = static_cast<const float*>(get_tensor_buffer(output));
    if (values) result.output.assign(values, values + get_tensor_buffer_size(output) / 4);
    postrun_graph(graph);
    destroy_graph(graph);
    destroy_context(context);
    release_tengine();
    return result;
}

}  // namespace tengine::acl
