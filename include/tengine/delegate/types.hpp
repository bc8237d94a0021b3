// SPDX-License-Identifier: Apache-2.0
// The types that delegates and the programs that use them share: results, element types, tensors.
// Part of tengine/delegate.hpp. Names and values are those of MindSpore Lite.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tengine/ir.h"

namespace tengine::delegate {

enum StatusCode : uint32_t
{
    kSuccess = 0,
    kLiteError = 0xffffffffu,
    kLiteNullptr = 0xfffffffeu,
    kLiteParamInvalid = 0xfffffffdu,
    kLiteMemoryFailed = 0xfffffffau,
    kLiteNotSupport = 0xfffffff9u,
    kLiteUninitializedObj = 0xfffffff7u,
    kLiteFileError = 0xfffffff6u,
    kLiteInputTensorError = 0xffffff9bu,
};

// A result, with a message when it is a failure.
class Status
{
  public:
    // Converts from a code implicitly, but not from the int that a Kernel returns.
    Status(enum StatusCode code = kSuccess, std::string message = {})
        : code_(code), message_(std::move(message))
    {
    }

    enum StatusCode StatusCode() const { return code_; }
    const std::string& GetErrDescription() const { return message_; }
    bool IsOk() const { return code_ == kSuccess; }
    bool IsError() const { return code_ != kSuccess; }
    explicit operator bool() const { return IsOk(); }
    friend bool operator==(const Status& a, const Status& b) { return a.code_ == b.code_; }
    friend bool operator!=(const Status& a, const Status& b) { return a.code_ != b.code_; }

  private:
    enum StatusCode code_;
    std::string message_;
};

enum class DataType : int
{
    kTypeUnknown = 0,
    kNumberTypeBool = 30,
    kNumberTypeInt8 = 32,
    kNumberTypeInt16 = 33,
    kNumberTypeInt32 = 34,
    kNumberTypeInt64 = 35,
    kNumberTypeUInt8 = 37,
    kNumberTypeUInt16 = 38,
    kNumberTypeUInt32 = 39,
    kNumberTypeUInt64 = 40,
    kNumberTypeFloat16 = 42,
    kNumberTypeFloat32 = 43,
    kNumberTypeFloat64 = 44,
    kNumberTypeBFloat16 = 45,
};

// Order of the dimensions of images. Tengine's is NCHW, and weights are [out, in, height, width].
enum Format : int64_t
{
    NCHW = 0,
    NHWC = 1,
};

// real = scale x (stored - zero_point)
struct QuantParam
{
    int bit_num;
    double scale;
    int32_t zero_point;
};

namespace detail {

// TENGINE_DT_* as a DataType.
inline DataType ToDataType(int type)
{
    switch (type) {
        case TENGINE_DT_FP32:
            return DataType::kNumberTypeFloat32;
        case TENGINE_DT_FP16:
            return DataType::kNumberTypeFloat16;
        case TENGINE_DT_INT8:
            return DataType::kNumberTypeInt8;
        case TENGINE_DT_UINT8:
            return DataType::kNumberTypeUInt8;
        case TENGINE_DT_INT32:
            return DataType::kNumberTypeInt32;
        case TENGINE_DT_INT16:
            return DataType::kNumberTypeInt16;
        case TENGINE_DT_INT64:
            return DataType::kNumberTypeInt64;
        case TENGINE_DT_BOOL:
            return DataType::kNumberTypeBool;
        case TENGINE_DT_FP64:
            return DataType::kNumberTypeFloat64;
        case TENGINE_DT_BF16:
            return DataType::kNumberTypeBFloat16;
        case TENGINE_DT_UINT16:
            return DataType::kNumberTypeUInt16;
        case TENGINE_DT_UINT32:
            return DataType::kNumberTypeUInt32;
        case TENGINE_DT_UINT64:
            return DataType::kNumberTypeUInt64;
        default:
            return DataType::kTypeUnknown;
    }
}

// False when a dimension is beyond those of Tengine.
inline bool ToDims(const std::vector<int64_t>& shape, std::vector<int>* out_dims)
{
    for (const int64_t dim : shape) {
        if (dim < INT_MIN || dim > INT_MAX) return false;
        out_dims->push_back(static_cast<int>(dim));
    }
    return true;
}

// The tensor that its handles refer to.
class TensorCore
{
  public:
    virtual ~TensorCore() = default;
    virtual const std::string& Name() const = 0;
    virtual int Type() const = 0;  // TENGINE_DT_*
    virtual std::vector<int64_t> Shape() const = 0;
    virtual void* Data() = 0;
    virtual size_t Bytes() const = 0;
    virtual bool IsConst() const = 0;
    virtual std::vector<QuantParam> QuantParams() const = 0;
    virtual bool SetShape(const std::vector<int64_t>& shape) = 0;
    virtual bool SetData(void* data) = 0;

    std::vector<int64_t> lent_shape;  // the result of MSTensor::Shape()
};

// A tensor of the graph that a delegate sees, or of a part that one of its kernels computes. It is
// bound to that tensor while calls of the delegate are in flight.
class GraphTensor final : public TensorCore
{
  public:
    GraphTensor(const struct tensor& of, int place) : name_(of.name), place_(place), tensor_(&of) {}

    void Bind(const struct tensor* tensor) { tensor_ = tensor; }
    const struct tensor* Bound() const { return tensor_; }
    // Its index in the graph that the DelegateModel shows.
    int Place() const { return place_; }

    const std::string& Name() const override { return name_; }
    int Type() const override { return tensor_ ? tensor_->data_type : TENGINE_DT_UNKNOWN; }
    std::vector<int64_t> Shape() const override
    {
        return tensor_ ? std::vector<int64_t>(tensor_->dims, tensor_->dims + tensor_->dim_num)
                       : std::vector<int64_t>{};
    }
    void* Data() override { return tensor_ ? tensor_->data : nullptr; }
    size_t Bytes() const override { return tensor_ ? get_ir_tensor_bytes(tensor_) : 0; }
    bool IsConst() const override { return tensor_ && tensor_->tensor_type == TENSOR_TYPE_CONST; }
    std::vector<QuantParam> QuantParams() const override
    {
        std::vector<QuantParam> params;
        const int number = tensor_ ? tensor_->quant_param_num : 0;
        const int bits = 8 * (tensor_ ? tensor_->elem_size : 0);
        for (int i = 0; i < number; ++i)
            params.push_back({bits, number == 1 ? tensor_->scale : tensor_->scale_list[i],
                              number == 1 ? tensor_->zero_point : tensor_->zp_list[i]});
        return params;
    }
    bool SetShape(const std::vector<int64_t>& shape) override
    {
        if (shape == Shape()) return true;
        std::vector<int> dims;
        return tensor_ && ToDims(shape, &dims) &&
               set_ir_tensor_shape(const_cast<struct tensor*>(tensor_), dims.data(),
                                   static_cast<int>(dims.size())) == 0;
    }
    bool SetData(void*) override { return false; }

  private:
    std::string name_;
    int place_;
    const struct tensor* tensor_;
};

}  // namespace detail

// A handle of a tensor, which copies share; two are equal when they refer to one tensor. It has no
// memory of its own: the data are in Tengine's memory.
class MSTensor
{
  public:
    MSTensor() = default;
    MSTensor(std::nullptr_t) {}
    explicit MSTensor(std::shared_ptr<detail::TensorCore> core) : core_(std::move(core)) {}

    std::string Name() const { return core_ ? core_->Name() : std::string(); }
    enum DataType DataType() const
    {
        return core_ ? detail::ToDataType(core_->Type()) : DataType::kTypeUnknown;
    }
    // -1: a dimension that is not known yet. Valid until the next call for this tensor.
    const std::vector<int64_t>& Shape() const
    {
        static const std::vector<int64_t> none;
        return core_ ? core_->lent_shape = core_->Shape() : none;
    }
    // 0 while the shape is not known.
    int64_t ElementNum() const
    {
        const int size = core_ ? get_data_type_size(core_->Type()) : 0;
        return size > 0 ? static_cast<int64_t>(DataSize()) / size : 0;
    }
    // In Delegate::Build only constants have data. In Kernel::Execute all tensors have, at
    // addresses that may differ in every run.
    std::shared_ptr<const void> Data() const
    {
        return {std::shared_ptr<const void>(), core_ ? core_->Data() : nullptr};
    }
    void* MutableData() { return core_ ? core_->Data() : nullptr; }
    // Bytes; 0 while the shape is not known.
    size_t DataSize() const { return core_ ? core_->Bytes() : 0; }
    bool IsConst() const { return core_ && core_->IsConst(); }
    Format format() const { return NCHW; }
    std::vector<QuantParam> QuantParams() const
    {
        return core_ ? core_->QuantParams() : std::vector<QuantParam>{};
    }
    // For Kernel::ReSize, where outputs already have the shapes that the operators give them:
    // another shape is an error of the delegate. Model::Resize sets the shapes of a Model's
    // tensors.
    bool SetShape(const std::vector<int64_t>& shape) { return core_ && core_->SetShape(shape); }
    // For inputs and outputs of a Model: memory of the program, DataSize() bytes, which the program
    // owns and which must live until it is replaced, or the Model is resized, built again or
    // destroyed. False for other tensors, for nullptr, and when Tengine refuses.
    bool SetData(void* data) { return core_ && core_->SetData(data); }

    bool operator==(const MSTensor& other) const { return core_ == other.core_; }
    bool operator!=(const MSTensor& other) const { return core_ != other.core_; }
    bool operator==(std::nullptr_t) const { return !core_; }
    bool operator!=(std::nullptr_t) const { return core_ != nullptr; }
    const std::shared_ptr<detail::TensorCore>& core() const { return core_; }

  private:
    std::shared_ptr<detail::TensorCore> core_;
};

}  // namespace tengine::delegate
