// SPDX-License-Identifier: Apache-2.0
// Makes and runs sessions. The contract is in session.h.
#include "session.h"

#include <algorithm>
#include <cstring>

namespace tengine::ort_host {
namespace {

using tools::Failure;
using tools::Tensor;

struct TypePair
{
    ONNXTensorElementDataType onnx;
    int library;
};

constexpr TypePair kTypes[] = {
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, TENGINE_DT_FP32},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, TENGINE_DT_FP16},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16, TENGINE_DT_BF16},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, TENGINE_DT_FP64},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, TENGINE_DT_BOOL},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, TENGINE_DT_INT8},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, TENGINE_DT_UINT8},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16, TENGINE_DT_INT16},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16, TENGINE_DT_UINT16},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, TENGINE_DT_INT32},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32, TENGINE_DT_UINT32},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, TENGINE_DT_INT64},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64, TENGINE_DT_UINT64},
};

int library_type(ONNXTensorElementDataType type)
{
    for (const TypePair& pair : kTypes) {
        if (pair.onnx == type) return pair.library;
    }
    throw NotTensor("the library has no type for ONNX's type " + std::to_string(type));
}

ONNXTensorElementDataType onnx_type(int library)
{
    for (const TypePair& pair : kTypes) {
        if (pair.library == library) return pair.onnx;
    }
    throw Failure("ONNX has no type for data type " + std::to_string(library));
}

// The values of a run. Inputs borrow the tensors' bytes.
struct Values
{
    Values(const OrtApi& table, size_t count) : api(table), values(count) {}
    ~Values()
    {
        for (OrtValue* value : values)
            api.ReleaseValue(value);
    }
    Values(const Values&) = delete;
    Values& operator=(const Values&) = delete;

    const OrtApi& api;
    std::vector<OrtValue*> values;
};

std::vector<const char*> pointers(const std::vector<std::string>& texts)
{
    std::vector<const char*> result;
    for (const std::string& text : texts)
        result.push_back(text.c_str());
    return result;
}

void append_devices(Runtime* runtime, const Request& request, OrtSessionOptions* options)
{
    std::vector<const OrtEpDevice*> chosen;
    const std::vector<Device> devices = runtime->devices();
    for (const std::string& name : request.devices) {
        const auto found = std::find_if(devices.begin(), devices.end(), [&](const Device& device) {
            const auto entry = device.metadata.find("device");
            return device.provider == kProvider && entry != device.metadata.end() &&
                   entry->second == name;
        });
        if (found == devices.end()) throw Failure("the provider has no device '" + name + "'");
        chosen.push_back(found->handle);
    }
    if (chosen.empty()) return;
    std::vector<const char*> keys, values;
    for (const auto& [key, value] : request.options) {
        keys.push_back(key.c_str());
        values.push_back(value.c_str());
    }
    runtime->check(runtime->api().SessionOptionsAppendExecutionProvider_V2(
        options, runtime->environment(), chosen.data(), chosen.size(), keys.data(), values.data(),
        keys.size()));
}

void configure(Runtime* runtime, const Request& request, OrtSessionOptions* options)
{
    const OrtApi& api = runtime->api();
    runtime->check(api.SetIntraOpNumThreads(options, 1));
    runtime->check(api.SetSessionGraphOptimizationLevel(options, request.level));
    runtime->check(
        api.AddSessionConfigEntry(options, "session.record_ep_graph_assignment_info", "1"));
    for (const auto& [key, value] : request.config)
        runtime->check(api.AddSessionConfigEntry(options, key.c_str(), value.c_str()));
    for (const auto& [name, size] : request.fixed_dims)
        runtime->check(api.AddFreeDimensionOverrideByName(options, name.c_str(), size));
    append_devices(runtime, request, options);
}

std::string take_text(const Runtime& runtime, char* text)
{
    OrtAllocator* allocator = nullptr;
    std::string copy = text;
    runtime.check(runtime.api().GetAllocatorWithDefaultOptions(&allocator));
    runtime.check(runtime.api().AllocatorFree(allocator, text));
    return copy;
}

void describe_tensor(const Runtime& runtime, const OrtTypeInfo* info, Input* input)
{
    const OrtApi& api = runtime.api();
    const OrtTensorTypeAndShapeInfo* tensor = nullptr;
    runtime.check(api.CastTypeInfoToTensorInfo(info, &tensor));
    if (!tensor) throw NotTensor("input '" + input->name + "' is not a tensor");
    ONNXTensorElementDataType type;
    size_t rank = 0;
    runtime.check(api.GetTensorElementType(tensor, &type));
    input->data_type = library_type(type);
    runtime.check(api.GetDimensionsCount(tensor, &rank));
    input->dims.resize(rank);
    runtime.check(api.GetDimensions(tensor, input->dims.data(), rank));
    std::vector<const char*> symbols(rank);
    runtime.check(api.GetSymbolicDimensions(tensor, symbols.data(), rank));
    input->symbols.assign(symbols.begin(), symbols.end());
}

OrtValue* lend(const Runtime& runtime, const OrtMemoryInfo* memory, const Tensor& tensor)
{
    // An empty tensor's bytes may have no address, but the runtime requires one.
    static char nothing;
    const std::vector<int64_t> dims(tensor.shape.begin(), tensor.shape.end());
    const void* bytes =
        tensor.bytes.empty() ? &nothing : static_cast<const void*>(&tensor.bytes[0]);
    OrtValue* value = nullptr;
    runtime.check(runtime.api().CreateTensorWithDataAsOrtValue(
        memory, const_cast<void*>(bytes), tensor.bytes.size(), dims.data(), dims.size(),
        onnx_type(tensor.data_type), &value));
    return value;
}

Tensor copy_out(const Runtime& runtime, const OrtValue* value, const std::string& name)
{
    const OrtApi& api = runtime.api();
    int present = 0, is_tensor = 0;
    runtime.check(api.HasValue(value, &present));
    if (present) runtime.check(api.IsTensor(value, &is_tensor));
    if (!is_tensor) throw NotTensor("output '" + name + "' is not a tensor");
    ONNXTensorElementDataType type;
    const int64_t* dims = nullptr;
    size_t rank = 0;
    runtime.check(api.GetTensorElementTypeAndShapeDataReference(value, &type, &dims, &rank));
    Tensor tensor = tools::make_tensor(library_type(type), {dims, dims + rank});
    tensor.name = name;
    const void* data = nullptr;
    runtime.check(api.GetTensorData(value, &data));
    if (!tensor.bytes.empty()) std::memcpy(tensor.bytes.data(), data, tensor.bytes.size());
    return tensor;
}

}  // namespace

Session::Session(Runtime* runtime, const std::string& model, const Request& request)
    : runtime_(runtime), session_(runtime->api().ReleaseSession)
{
    const OrtApi& api = runtime->api();
    Owned<OrtSessionOptions> options(api.ReleaseSessionOptions);
    runtime->check(api.CreateSessionOptions(options.out()));
    configure(runtime, request, options.get());
    runtime->check(
        api.CreateSession(runtime->environment(), model.c_str(), options.get(), session_.out()));
    OrtAllocator* allocator = nullptr;
    size_t count = 0;
    runtime->check(api.GetAllocatorWithDefaultOptions(&allocator));
    runtime->check(api.SessionGetOutputCount(session_.get(), &count));
    for (size_t i = 0; i < count; ++i) {
        char* name = nullptr;
        runtime->check(api.SessionGetOutputName(session_.get(), i, allocator, &name));
        output_names_.push_back(take_text(*runtime, name));
    }
}

std::vector<Input> Session::inputs() const
{
    const OrtApi& api = runtime_->api();
    OrtAllocator* allocator = nullptr;
    size_t count = 0;
    runtime_->check(api.GetAllocatorWithDefaultOptions(&allocator));
    runtime_->check(api.SessionGetInputCount(session_.get(), &count));
    std::vector<Input> inputs(count);
    for (size_t i = 0; i < count; ++i) {
        char* name = nullptr;
        runtime_->check(api.SessionGetInputName(session_.get(), i, allocator, &name));
        inputs[i].name = take_text(*runtime_, name);
        Owned<OrtTypeInfo> info(api.ReleaseTypeInfo);
        runtime_->check(api.SessionGetInputTypeInfo(session_.get(), i, info.out()));
        describe_tensor(*runtime_, info.get(), &inputs[i]);
    }
    return inputs;
}

Placement Session::placement() const
{
    const OrtApi& api = runtime_->api();
    const OrtEpAssignedSubgraph* const* parts = nullptr;
    size_t part_count = 0;
    runtime_->check(api.Session_GetEpGraphAssignmentInfo(session_.get(), &parts, &part_count));
    Placement placement;
    for (size_t i = 0; i < part_count; ++i) {
        const char* provider = nullptr;
        const OrtEpAssignedNode* const* nodes = nullptr;
        size_t count = 0;
        runtime_->check(api.EpAssignedSubgraph_GetEpName(parts[i], &provider));
        runtime_->check(api.EpAssignedSubgraph_GetNodes(parts[i], &nodes, &count));
        const bool own = std::strcmp(provider, kProvider) == 0;
        placement.nodes += static_cast<int>(count);
        placement.own_nodes += own ? static_cast<int>(count) : 0;
        placement.own_parts += own;
        for (size_t n = 0; n < count && !own; ++n) {
            const char* type = nullptr;
            runtime_->check(api.EpAssignedNode_GetOperatorType(nodes[n], &type));
            ++placement.left[type];
        }
    }
    return placement;
}

std::vector<Tensor> Session::run(const std::vector<Tensor>& inputs) const
{
    const OrtApi& api = runtime_->api();
    Owned<OrtMemoryInfo> memory(api.ReleaseMemoryInfo);
    runtime_->check(api.CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, memory.out()));
    Values fed(runtime_->api(), inputs.size());
    std::vector<const char*> input_names;
    for (size_t i = 0; i < inputs.size(); ++i) {
        input_names.push_back(inputs[i].name.c_str());
        fed.values[i] = lend(*runtime_, memory.get(), inputs[i]);
    }
    Values results(runtime_->api(), output_names_.size());
    runtime_->check(api.Run(session_.get(), nullptr, input_names.data(), fed.values.data(),
                            fed.values.size(), pointers(output_names_).data(), output_names_.size(),
                            results.values.data()));
    std::vector<Tensor> outputs;
    for (size_t i = 0; i < output_names_.size(); ++i)
        outputs.push_back(copy_out(*runtime_, results.values[i], output_names_[i]));
    return outputs;
}

}  // namespace tengine::ort_host
