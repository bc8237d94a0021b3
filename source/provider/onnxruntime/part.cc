// SPDX-License-Identifier: Apache-2.0
#include "part.h"

#include <algorithm>
#include <climits>
#include <cstring>

#include "tengine/inspect.h"

namespace tengine::provider {
namespace {

using Shape = std::vector<int>;

Shape shape_of(tensor_t tensor)
{
    int dims[MAX_SHAPE_DIM_NUM];
    const int rank = get_tensor_shape(tensor, dims, MAX_SHAPE_DIM_NUM);
    if (rank < 0) fail_library("a shape");
    return {dims, dims + rank};
}

// False where the shape depends on data.
bool is_shape_known(tensor_t tensor)
{
    const Shape shape = shape_of(tensor);
    return tengine_tensor_has_rank(tensor) == 1 &&
           std::find(shape.begin(), shape.end(), -1) == shape.end();
}

std::vector<tensor_t> find_tensors(graph_t graph, const std::vector<std::string>& names)
{
    std::vector<tensor_t> tensors;
    for (const std::string& name : names) {
        // An absent output of the host has no name.
        tensors.push_back(name.empty() ? nullptr : get_graph_tensor(graph, name.c_str()));
        if (!name.empty() && !tensors.back()) fail_library("a boundary tensor of the part");
    }
    return tensors;
}

void* allocate_output(OrtKernelContext* context, size_t index, const Shape& shape)
{
    const OrtApi& api = *runtime().api;
    const std::vector<int64_t> dims(shape.begin(), shape.end());
    OrtValue* value = nullptr;
    void* data = nullptr;
    check(api.KernelContext_GetOutput(context, index, dims.data(), dims.size(), &value));
    if (value) check(api.GetTensorMutableData(value, &data));
    return data;
}

}  // namespace

Part::Part(GraphPointer graph, const std::vector<std::string>& inputs,
           const std::vector<std::string>& outputs, const options_t& options, bool has_shapes)
    : graph_(std::move(graph)),
      options_(options),
      inputs_(find_tensors(graph_.get(), inputs)),
      outputs_(find_tensors(graph_.get(), outputs))
{
    if (has_shapes) prepare();
}

void Part::prepare()
{
    is_prepared_ = false;
    if (prerun_graph_multithread(graph(), options_) < 0) fail_library("the part's preparation");
    late_.clear();
    for (size_t i = 0; i < outputs_.size(); ++i)
        if (outputs_[i] && !is_shape_known(outputs_[i])) late_.push_back(i);
    is_prepared_ = true;
}

// Sets the input; true if its shape has changed since the last run.
bool Part::bind_input(OrtKernelContext* context, size_t index)
{
    const OrtApi& api = *runtime().api;
    const OrtValue* value = nullptr;
    auto type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    const int64_t* dims = nullptr;
    size_t rank = 0;
    const void* data = nullptr;
    check(api.KernelContext_GetInput(context, index, &value));
    check(api.GetTensorElementTypeAndShapeDataReference(value, &type, &dims, &rank));
    check(api.GetTensorData(value, &data));
    Shape shape;
    for (size_t i = 0; i < rank; ++i) {
        if (dims[i] > INT_MAX)
            throw Failure("input " + std::to_string(index) + " has dimension " +
                          std::to_string(dims[i]));
        shape.push_back(static_cast<int>(dims[i]));
    }
    const tensor_t tensor = inputs_[index];
    const bool is_new = shape != shape_of(tensor);
    if (is_new && set_tensor_shape(tensor, shape.data(), static_cast<int>(rank)) < 0)
        fail_library("input " + std::to_string(index));
    const int size = get_tensor_buffer_size(tensor);
    // The library only reads the data. A tensor without elements may have no address.
    static char nothing;
    void* buffer = size == 0 ? &nothing : const_cast<void*>(data);
    if (set_tensor_buffer(tensor, buffer, size) < 0) fail_library("input " + std::to_string(index));
    return is_new;
}

// The run writes into the host's memory.
void Part::bind_output(OrtKernelContext* context, size_t index)
{
    const tensor_t tensor = outputs_[index];
    const int size = get_tensor_buffer_size(tensor);
    void* data = allocate_output(context, index, shape_of(tensor));
    if (size < 0 || (size > 0 && set_tensor_buffer(tensor, data, size) < 0))
        fail_library("output " + std::to_string(index));
}

bool Part::is_late(size_t index) const
{
    return std::find(late_.begin(), late_.end(), index) != late_.end();
}

void Part::copy_output(OrtKernelContext* context, size_t index)
{
    const tensor_t tensor = outputs_[index];
    void* target = allocate_output(context, index, shape_of(tensor));
    const int64_t size = tengine_tensor_get_buffer_size(tensor);
    if (size <= 0) return;
    const void* source = get_tensor_buffer(tensor);
    if (!source) fail_library("output " + std::to_string(index));
    std::memcpy(target, source, static_cast<size_t>(size));
}

void Part::compute(OrtKernelContext* context)
{
    const std::lock_guard<std::mutex> lock(mutex_);
    // Cleared before the next input, which may throw.
    for (size_t i = 0; i < inputs_.size(); ++i)
        if (bind_input(context, i)) is_prepared_ = false;
    if (!is_prepared_) prepare();
    for (size_t i = 0; i < outputs_.size(); ++i)
        if (outputs_[i] && !is_late(i)) bind_output(context, i);
    if (run_graph(graph(), 1) < 0) fail_library("the part's run");
    for (const size_t index : late_)
        copy_output(context, index);
}

}  // namespace tengine::provider
