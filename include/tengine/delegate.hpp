// SPDX-License-Identifier: Apache-2.0
// Delegates: C++ code of the program that computes parts of models in place of Tengine, with the
// names of MindSpore Lite (docs/delegates.md). Header-only, C++17, on the C headers.
//
//     delegate/types.hpp   Status, DataType, MSTensor
//     delegate/schema.hpp  operators: schema::Primitive, schema::PrimitiveType
//     delegate/kernel.hpp  classes to derive from or to read: Delegate, DelegateModel,
//                          kernel::Kernel; and Context
//     delegate/device.hpp  DelegateDevice, a delegate as a device for the C API
//     this file            Model, for programs without the C API, and TENGINE_DELEGATE_PLUGIN
//
// compat/mindspore has them under MindSpore Lite's names, for code that is written for it.
#pragma once

#include <climits>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tengine/c_api.h"
#include "tengine/delegate/device.hpp"

namespace tengine::delegate {

enum ModelType : uint32_t
{
    kMindIR = 0,  // refused: Tengine has no reader for it
    kONNX = 3,
    kMindIR_Lite = 4,  // refused, too
    kTengine = 100,    // a tmfile
};

namespace detail {

// The state that a Model and its tensors share.
struct Session
{
    graph_t graph = nullptr;
    bool prepared = false;
};

// The last failure of a function of Tengine.
inline Status LastFailure(enum StatusCode code)
{
    return {code, get_tengine_error()};
}

// "fp32 2x4"
inline std::string ToText(const MSTensor& tensor)
{
    if (!tensor.core()) return "an empty MSTensor";
    std::string text;
    for (const int64_t dim : tensor.Shape())
        text += (text.empty() ? "" : "x") + std::to_string(dim);
    return get_data_type_name(tensor.core()->Type()) + (text.empty() ? " scalar" : " " + text);
}

// An input or output of a Model, as long as that lives.
class ModelTensor final : public TensorCore
{
  public:
    ModelTensor(std::shared_ptr<const Session> session, tensor_t tensor)
        : session_(std::move(session)), tensor_(tensor), name_(get_tensor_name(tensor))
    {
    }

    const std::string& Name() const override { return name_; }
    int Type() const override
    {
        return session_->graph ? get_tensor_data_type(tensor_) : TENGINE_DT_UNKNOWN;
    }
    std::vector<int64_t> Shape() const override
    {
        int dims[MAX_SHAPE_DIM_NUM];
        const int rank = session_->graph ? get_tensor_shape(tensor_, dims, MAX_SHAPE_DIM_NUM) : 0;
        return {dims, dims + (rank > 0 ? rank : 0)};
    }
    void* Data() override
    {
        return session_->prepared && Bytes() > 0 ? get_tensor_buffer(tensor_) : nullptr;
    }
    size_t Bytes() const override
    {
        const int64_t bytes = session_->graph ? tengine_tensor_get_buffer_size(tensor_) : 0;
        return bytes > 0 ? static_cast<size_t>(bytes) : 0;
    }
    bool IsConst() const override { return false; }
    std::vector<QuantParam> QuantParams() const override
    {
        float scale = 0;
        int zero_point = 0;
        if (!session_->graph || get_tensor_quant_param(tensor_, &scale, &zero_point, 1) != 1)
            return {};
        return {{8 * get_data_type_size(Type()), scale, zero_point}};
    }
    bool SetShape(const std::vector<int64_t>&) override { return false; }
    bool SetData(void* data) override
    {
        return data && session_->prepared && Bytes() <= INT_MAX &&
               set_tensor_buffer(tensor_, data, static_cast<int>(Bytes())) == 0;
    }
    tensor_t Handle() const { return tensor_; }

  private:
    std::shared_ptr<const Session> session_;
    tensor_t tensor_;
    std::string name_;
};

// The device of a delegate, which all Models that name the delegate share.
inline Status ShareDevice(const std::shared_ptr<Delegate>& delegate,
                          std::shared_ptr<DelegateDevice>* out_device)
{
    static std::mutex mutex;
    static std::map<const Delegate*, std::weak_ptr<DelegateDevice>> devices;
    const std::lock_guard<std::mutex> lock(mutex);
    *out_device = devices[delegate.get()].lock();
    if (*out_device) return kSuccess;
    auto device = std::make_shared<DelegateDevice>(delegate);
    Status status = device->Register();
    if (status.IsError()) return status;
    devices[delegate.get()] = device;
    *out_device = std::move(device);
    return status;
}

}  // namespace detail

// A model that is loaded, prepared and run. One thread at a time.
class Model
{
  public:
    Model() = default;
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;
    ~Model() { Close(); }

    // Loads a file, or `size` bytes that may be freed afterwards, and prepares the model as
    // `context` describes; nullptr is a Context without delegates. A delegate whose Init returns
    // kLiteNotSupport is left out, and logged. A model that has inputs of unknown shape is prepared
    // by Resize. Replaces the model that was built before; after a failure the Model is empty.
    // Fails with kLiteParamInvalid (another type than kONNX and kTengine, or `size`), kLiteNullptr
    // (`data`), kLiteFileError (not loaded), the failure of a delegate's Init, and kLiteError (not
    // prepared).
    Status Build(const std::string& path, ModelType type,
                 const std::shared_ptr<Context>& context = nullptr)
    {
        return BuildWith(context, type, [&](const char* format, context_t devices) {
            return create_graph(devices, format, path.c_str());
        });
    }
    Status Build(const void* data, size_t size, ModelType type,
                 const std::shared_ptr<Context>& context = nullptr)
    {
        if (!data) return {kLiteNullptr, "the model's data are nullptr"};
        if (size == 0 || size > INT_MAX)
            return {kLiteParamInvalid, "a model of " + std::to_string(size) +
                                           " bytes, which may be 1 to " + std::to_string(INT_MAX)};
        return BuildWith(context, type, [&](const char* format, context_t devices) {
            return CreateFromMemory(format, devices, data, static_cast<int>(size));
        });
    }

    // New shapes for all inputs. Delegates are not asked again; ReSize is called for their kernels.
    // After a failure the model keeps its shapes; if some were unknown, it needs another Resize.
    // Data of inputs have to be written again. Fails with kLiteUninitializedObj (nothing is built),
    // kLiteInputTensorError (`inputs` are not GetInputs(), or `dims` are not one shape for each),
    // kLiteError (not prepared).
    Status Resize(const std::vector<MSTensor>& inputs,
                  const std::vector<std::vector<int64_t>>& dims)
    {
        if (!session_->graph) return NotBuilt();
        if (inputs != inputs_ || dims.size() != inputs.size())
            return {kLiteInputTensorError,
                    "Resize got " + std::to_string(inputs.size()) + " tensors and " +
                        std::to_string(dims.size()) + " shapes; it takes the " +
                        std::to_string(inputs_.size()) +
                        " tensors of GetInputs(), in their order, and a shape for each"};
        std::vector<std::vector<int64_t>> before;
        for (const MSTensor& input : inputs_)
            before.push_back(input.Shape());
        const bool was_prepared = session_->prepared;
        const Status status = Reshape(dims);
        if (status.IsError() && was_prepared) static_cast<void>(Reshape(before));
        return status;
    }

    // Runs the model. `inputs` are GetInputs(), or other tensors of equal shapes and types, whose
    // data are copied. Fails with kLiteUninitializedObj (not prepared), kLiteNullptr (`outputs`),
    // kLiteInputTensorError, kLiteError (the run failed).
    Status Predict(const std::vector<MSTensor>& inputs, std::vector<MSTensor>* outputs)
    {
        if (!session_->prepared) return NotBuilt();
        if (!outputs) return {kLiteNullptr, "outputs are nullptr"};
        if (inputs.size() != inputs_.size())
            return {kLiteInputTensorError, std::to_string(inputs.size()) +
                                               " inputs for a model that has " +
                                               std::to_string(inputs_.size())};
        for (size_t i = 0; i < inputs.size(); ++i) {
            Status status = Feed(inputs[i], inputs_[i]);
            if (status.IsError()) return status;
        }
        if (run_graph(session_->graph, 1) < 0) return detail::LastFailure(kLiteError);
        *outputs = outputs_;
        return kSuccess;
    }

    // The program writes their data before Predict and reads them after it, in place.
    std::vector<MSTensor> GetInputs() const { return inputs_; }
    std::vector<MSTensor> GetOutputs() const { return outputs_; }
    // An empty handle when there is none of this name.
    MSTensor GetInputByTensorName(const std::string& name) const { return Find(inputs_, name); }
    MSTensor GetOutputByTensorName(const std::string& name) const { return Find(outputs_, name); }
    // The graph, for functions of the C API: reports, profiles. It stays the Model's. nullptr while
    // nothing is built.
    graph_t graph() const { return session_->graph; }

  private:
    Status NotBuilt() const
    {
        for (const MSTensor& input : inputs_)
            if (input.DataSize() == 0)
                return {kLiteUninitializedObj, "input '" + input.Name() + "' is " +
                                                   detail::ToText(input) +
                                                   ": Resize gives it a shape"};
        return {kLiteUninitializedObj,
                session_->graph ? "the model has no shapes that fit: the last Resize failed"
                                : "the model is not built"};
    }

    static MSTensor Find(const std::vector<MSTensor>& tensors, const std::string& name)
    {
        for (const MSTensor& tensor : tensors)
            if (tensor.Name() == name) return tensor;
        return {};
    }

    // A tmfile's weights are used in place, so the graph gets a copy of the file.
    static graph_t CreateFromMemory(const std::string& format, context_t devices, const void* data,
                                    int size)
    {
        if (format == "onnx")
            return create_graph(devices, "onnx:m", static_cast<const char*>(data), size);
        char* copy = static_cast<char*>(std::malloc(static_cast<size_t>(size)));
        if (!copy) throw std::bad_alloc();
        std::memcpy(copy, data, static_cast<size_t>(size));
        graph_t graph = create_graph(devices, "tengine:m", copy, size);
        if (!graph) std::free(copy);
        return graph;
    }

    template <class Create>
    Status BuildWith(const std::shared_ptr<Context>& context, ModelType type, const Create& create)
    {
        if (type != kONNX && type != kTengine)
            return {kLiteParamInvalid, "models of type " + std::to_string(type) +
                                           " are not read; kONNX (3) and kTengine (100) are"};
        Close();
        if (init_tengine() < 0) return detail::LastFailure(kLiteError);
        options_ = context ? *context : Context();
        Status status = ListDevices();
        if (status.IsOk()) {
            session_->graph = create(type == kONNX ? "onnx" : "tengine", devices_);
            status = session_->graph ? Open() : detail::LastFailure(kLiteFileError);
        }
        if (status.IsError()) Close();
        return status;
    }

    Status ListDevices()
    {
        devices_ = create_context("delegates", 1);
        // Kernels take one shape at a time.
        if (!devices_ || tengine_context_set_option(devices_, "run.shape_cache", "0") < 0)
            return detail::LastFailure(kLiteError);
        for (const auto& delegate : options_.Delegates()) {
            std::shared_ptr<DelegateDevice> device;
            Status status = detail::ShareDevice(delegate, &device);
            if (status == kLiteNotSupport) {
                TLOG_NOTICE("delegate '%s' is left out: its Init returned 'not supported'",
                            delegate->Name().c_str());
                continue;
            }
            if (status.IsError()) return status;
            registered_.push_back(std::move(device));  // it must outlive the list
            if (add_context_device(devices_, registered_.back()->Name().c_str()) < 0)
                return detail::LastFailure(kLiteError);
        }
        return kSuccess;
    }

    Status Open()
    {
        for (int i = 0; i < tengine_graph_get_input_number(session_->graph); ++i)
            inputs_.push_back(Wrap(tengine_graph_get_input(session_->graph, i)));
        for (int i = 0; i < tengine_graph_get_output_number(session_->graph); ++i)
            outputs_.push_back(Wrap(tengine_graph_get_output(session_->graph, i)));
        for (const MSTensor& input : inputs_)
            if (input.DataSize() == 0) return kSuccess;
        return Prepare();
    }

    MSTensor Wrap(tensor_t tensor) const
    {
        return MSTensor(std::make_shared<detail::ModelTensor>(session_, tensor));
    }

    static tensor_t Handle(const MSTensor& tensor)
    {
        return static_cast<const detail::ModelTensor&>(*tensor.core()).Handle();
    }

    Status Prepare()
    {
        options run{};
        run.num_thread = options_.GetThreadNum();
        run.cluster = TENGINE_CLUSTER_BIG;
        run.precision = TENGINE_MODE_FP32;
        for (const auto& info : options_.MutableDeviceInfo())
            if (info && info->GetEnableFP16()) run.precision = TENGINE_MODE_FP16;
        session_->prepared = prerun_graph_multithread(session_->graph, run) == 0;
        return session_->prepared ? GiveMemory() : detail::LastFailure(kLiteError);
    }

    // Inputs have memory of the Model until the program sets its own.
    Status GiveMemory()
    {
        memory_.clear();
        for (MSTensor& input : inputs_) {
            memory_.emplace_back(input.DataSize() / sizeof(std::max_align_t) + 1);
            if (input.DataSize() > 0 && !input.SetData(memory_.back().data()))
                return detail::LastFailure(kLiteError);
        }
        return kSuccess;
    }

    Status Reshape(const std::vector<std::vector<int64_t>>& shapes)
    {
        session_->prepared = false;
        for (size_t i = 0; i < shapes.size(); ++i) {
            std::vector<int> dims;
            if (!detail::ToDims(shapes[i], &dims))
                return {kLiteInputTensorError, "input '" + inputs_[i].Name() +
                                                   "' has a dimension beyond " +
                                                   std::to_string(INT_MAX)};
            if (set_tensor_shape(Handle(inputs_[i]), dims.data(), static_cast<int>(dims.size())) <
                0)
                return detail::LastFailure(kLiteInputTensorError);
        }
        return Prepare();
    }

    static Status Feed(const MSTensor& from, MSTensor& to)
    {
        if (from == to) return kSuccess;
        if (from.DataType() != to.DataType() || from.Shape() != to.Shape())
            return {kLiteInputTensorError, "input '" + to.Name() + "' is " + detail::ToText(to) +
                                               ", what was given " + detail::ToText(from)};
        const std::shared_ptr<const void> data = from.Data();
        if (!data)
            return {kLiteInputTensorError, "what was given for input '" + to.Name() + "', '" +
                                               from.Name() + "', has no data"};
        std::memcpy(to.MutableData(), data.get(), to.DataSize());
        return kSuccess;
    }

    void Close()
    {
        inputs_.clear();
        outputs_.clear();
        session_->prepared = false;
        if (session_->graph) destroy_graph(session_->graph);
        session_->graph = nullptr;
        session_ = std::make_shared<detail::Session>();  // tensors of the old one stay empty
        if (devices_) destroy_context(devices_);
        devices_ = nullptr;
        registered_.clear();
        memory_.clear();
    }

    std::shared_ptr<detail::Session> session_ = std::make_shared<detail::Session>();
    Context options_;
    context_t devices_ = nullptr;
    std::vector<std::shared_ptr<DelegateDevice>> registered_;
    std::vector<MSTensor> inputs_;
    std::vector<MSTensor> outputs_;
    std::vector<std::vector<std::max_align_t>> memory_;
};

namespace detail {

// The body of a plug-in's init.
inline int RegisterPlugin(std::shared_ptr<Delegate> delegate,
                          std::unique_ptr<DelegateDevice>* out_device)
{
    auto device = std::make_unique<DelegateDevice>(std::move(delegate));
    if (device->Register().IsError()) return tengine_error_code();
    *out_device = std::move(device);
    return 0;
}

}  // namespace detail
}  // namespace tengine::delegate

// At file scope, once in a shared library: makes it a plug-in (plugin.h) that registers a delegate,
// an object of `Class`, so that `tengine run --plugin FILE --device NAME` and every program has it.
#define TENGINE_DELEGATE_PLUGIN(plugin_name, plugin_version, Class)                     \
    static std::unique_ptr<tengine::delegate::DelegateDevice> tengine_delegate_device;  \
    static int tengine_delegate_init()                                                  \
    {                                                                                   \
        return tengine::delegate::detail::Guard(plugin_name, [] {                       \
            return tengine::delegate::detail::RegisterPlugin(std::make_shared<Class>(), \
                                                             &tengine_delegate_device); \
        });                                                                             \
    }                                                                                   \
    static int tengine_delegate_release()                                               \
    {                                                                                   \
        tengine_delegate_device.reset();                                                \
        return 0;                                                                       \
    }                                                                                   \
    TENGINE_PLUGIN(plugin_name, plugin_version, tengine_delegate_init, tengine_delegate_release)
