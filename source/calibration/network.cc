// SPDX-License-Identifier: Apache-2.0
// Runs graphs through the C API. The contract is in network.h.
#include "calibration/network.h"

#include <cstddef>

#include "calibration/failure.h"
#include "calibration/graph_reader.h"
#include "tengine/graph.h"
#include "tengine/inspect.h"

namespace tengine::calibration {
namespace {

bool writes_one_of(node_t node, const Set<String>& tensors)
{
    for (tensor_t output : list_node_outputs(node))
        if (output && tensors.count(get_tensor_name(output)) != 0) return true;
    return false;
}

}  // namespace

Vector<String> output_names(graph_t graph)
{
    Vector<String> names;
    for (tensor_t output : list_outputs(graph))
        names.emplace_back(get_tensor_name(output));
    return names;
}

Network::Network(graph_t graph, int threads) : graph_(graph), threads_(threads)
{
    for (tensor_t tensor : list_tensors(graph))
        tensors_.emplace(get_tensor_name(tensor), tensor);
}

// The library keeps the values of output nodes only.
int Network::show(const Vector<String>& tensors)
{
    if (tensors.empty()) return TENGINE_OK;
    Set<String> wanted(tensors.begin(), tensors.end());
    for (const String& output : output_names(graph_))
        wanted.insert(output);
    for (tensor_t input : list_inputs(graph_))
        wanted.erase(get_tensor_name(input));
    Vector<const char*> nodes;
    for (node_t node : list_all_nodes(graph_))
        if (writes_one_of(node, wanted)) nodes.push_back(get_node_name(node));
    if (!nodes.empty() &&
        set_graph_output_node(graph_, nodes.data(), static_cast<int>(nodes.size())) < 0)
        return tengine_error_code();
    return TENGINE_OK;
}

int Network::find_tensor(const String& name, tensor_t* out_tensor) const
{
    const auto found = tensors_.find(name);
    if (found == tensors_.end())
        return fail(TENGINE_EINTERNAL, "the model has no tensor '%s'", name.c_str());
    *out_tensor = found->second;
    return TENGINE_OK;
}

int Network::lend(const tengine_sample_input& input, bool is_new_shape)
{
    static std::byte nothing[1];
    tensor_t tensor;
    TENGINE_RETURN_IF_ERROR(find_tensor(input.name, &tensor));
    // The library only reads the buffer of an input.
    void* bytes = input.size == 0 ? nothing : const_cast<void*>(input.data);
    if ((is_new_shape && set_tensor_shape(tensor, input.dims, input.dim_number) < 0) ||
        tengine_tensor_set_buffer(tensor, bytes, input.size) < 0)
        return tengine_error_code();
    return TENGINE_OK;
}

int Network::run(const Sample& sample)
{
    Vector<Vector<int>> shapes;
    for (const tengine_sample_input& input : sample)
        shapes.emplace_back(input.dims, input.dims + input.dim_number);
    const bool is_new_shape = !is_prepared_ || shapes != shapes_;
    for (const tengine_sample_input& input : sample)
        TENGINE_RETURN_IF_ERROR(lend(input, is_new_shape));
    const options_t options = {threads_, TENGINE_CLUSTER_ALL, TENGINE_MODE_FP32, 0};
    if (is_new_shape && prerun_graph_multithread(graph_, options) < 0) return tengine_error_code();
    is_prepared_ = true;
    shapes_ = std::move(shapes);
    return run_graph(graph_, 1) < 0 ? tengine_error_code() : TENGINE_OK;
}

int Network::view(const String& name, FloatView* out_view) const
{
    tensor_t tensor;
    TENGINE_RETURN_IF_ERROR(find_tensor(name, &tensor));
    int dims[MAX_SHAPE_DIM_NUM];
    const int dim_number = get_tensor_shape(tensor, dims, MAX_SHAPE_DIM_NUM);
    if (dim_number < 0) return tengine_error_code();
    *out_view = {nullptr, 0, Vector<int>(dims, dims + dim_number)};
    if (get_tensor_data_type(tensor) != TENGINE_DT_FP32) return TENGINE_OK;
    out_view->number = 1;
    for (const int dim : out_view->shape)
        out_view->number *= static_cast<size_t>(dim);
    out_view->values = static_cast<const float*>(get_tensor_buffer(tensor));
    return out_view->values ? TENGINE_OK : tengine_error_code();
}

}  // namespace tengine::calibration
