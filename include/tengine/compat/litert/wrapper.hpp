// SPDX-License-Identifier: Apache-2.0
// LiteRT's C++ wrappers, as far as the published guide uses them. Part of litert.hpp.
#pragma once

#include <algorithm>

#include "tengine/compat/litert/graph.hpp"
#include "tengine/compat/litert/options.hpp"

namespace litert {

enum class ElementType
{
    None = kLiteRtElementTypeNone,
    Float32 = kLiteRtElementTypeFloat32,
    Int32 = kLiteRtElementTypeInt32,
    UInt8 = kLiteRtElementTypeUInt8,
    Int64 = kLiteRtElementTypeInt64,
    TfString = kLiteRtElementTypeTfString,
    Bool = kLiteRtElementTypeBool,
    Int16 = kLiteRtElementTypeInt16,
    Complex64 = kLiteRtElementTypeComplex64,
    Int8 = kLiteRtElementTypeInt8,
    Float16 = kLiteRtElementTypeFloat16,
    Float64 = kLiteRtElementTypeFloat64,
    Complex128 = kLiteRtElementTypeComplex128,
    UInt64 = kLiteRtElementTypeUInt64,
    TfResource = kLiteRtElementTypeTfResource,
    TfVariant = kLiteRtElementTypeTfVariant,
    UInt32 = kLiteRtElementTypeUInt32,
    UInt16 = kLiteRtElementTypeUInt16,
    Int4 = kLiteRtElementTypeInt4,
    BFloat16 = kLiteRtElementTypeBFloat16,
    Int2 = kLiteRtElementTypeInt2,
    UInt4 = kLiteRtElementTypeUInt4,
    Float8E4M3FN = kLiteRtElementTypeFloat8E4M3FN,
    Float8E5M2 = kLiteRtElementTypeFloat8E5M2,
};

class Error
{
  public:
    explicit Error(LiteRtStatus status) : status_(status) {}
    LiteRtStatus Status() const { return status_; }

  private:
    LiteRtStatus status_;
};

// A value, or the status of the failure.
template <class T>
class Expected
{
  public:
    Expected(T value) : value_(std::make_unique<T>(std::move(value))) {}
    Expected(LiteRtStatus status) : status_(status) {}
    bool HasValue() const { return value_ != nullptr; }
    explicit operator bool() const { return HasValue(); }
    T& Value() { return *value_; }
    T& operator*() { return *value_; }
    T* operator->() { return value_.get(); }
    const T& Value() const { return *value_; }
    const T& operator*() const { return *value_; }
    const T* operator->() const { return value_.get(); }
    litert::Error Error() const { return litert::Error(status_); }

  private:
    std::unique_ptr<T> value_;
    LiteRtStatus status_ = kLiteRtStatusOk;
};

class Layout
{
  public:
    explicit Layout(const LiteRtLayout& layout)
        : dimensions_(layout.dimensions, layout.dimensions + layout.rank)
    {
    }
    const std::vector<int32_t>& Dimensions() const { return dimensions_; }
    uint32_t Rank() const { return static_cast<uint32_t>(dimensions_.size()); }

  private:
    std::vector<int32_t> dimensions_;
};

class RankedTensorType
{
  public:
    explicit RankedTensorType(const LiteRtRankedTensorType& type)
        : element_type_(static_cast<litert::ElementType>(type.element_type)), layout_(type.layout)
    {
    }
    litert::ElementType ElementType() const { return element_type_; }
    const litert::Layout& Layout() const { return layout_; }

  private:
    litert::ElementType element_type_;
    litert::Layout layout_;
};

// The bytes of a constant; none for a computed tensor.
class Weights
{
  public:
    explicit Weights(LiteRtWeights weights)
    {
        const void* bytes = nullptr;
        size_t size = 0;
        LiteRtGetWeightsBytes(weights, &bytes, &size);
        begin_ = static_cast<const uint8_t*>(bytes);
        size_ = size;
    }
    const uint8_t* data() const { return begin_; }
    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    const uint8_t& operator[](size_t index) const { return begin_[index]; }
    // Itself, as a range of bytes.
    const Weights& Bytes() const { return *this; }
    const uint8_t* begin() const { return begin_; }
    const uint8_t* end() const { return begin_ + size_; }

  private:
    const uint8_t* begin_ = nullptr;
    size_t size_ = 0;
};

// Get() of an optional input that is absent is NULL: it has no name, type or bytes.
class Tensor
{
  public:
    explicit Tensor(LiteRtTensor tensor) : tensor_(tensor) {}
    LiteRtTensor Get() const { return tensor_; }
    std::string Name() const
    {
        const char* name = "";
        LiteRtGetTensorName(tensor_, &name);
        return name;
    }
    litert::ElementType ElementType() const
    {
        if (!tensor_) return litert::ElementType::None;
        return static_cast<litert::ElementType>(
            tengine_litert::to_element_type(tensor_->tensor->data_type));
    }
    Expected<litert::RankedTensorType> RankedTensorType() const
    {
        LiteRtRankedTensorType type = {};
        const LiteRtStatus status = LiteRtGetRankedTensorType(tensor_, &type);
        if (status != kLiteRtStatusOk) return status;
        return litert::RankedTensorType(type);
    }
    litert::Weights Weights() const { return litert::Weights(tensor_); }
    bool IsConstant() const { return Weights().size() > 0; }
    bool IsSubgraphInput() const
    {
        if (!tensor_) return false;
        const auto& inputs = tensor_->subgraph->inputs;
        return std::find(inputs.begin(), inputs.end(), tensor_) != inputs.end();
    }
    LiteRtQuantizationTypeId QTypeId() const
    {
        LiteRtQuantizationTypeId id = kLiteRtQuantizationNone;
        LiteRtGetQuantizationTypeId(tensor_, &id);
        return id;
    }

  private:
    LiteRtTensor tensor_;
};

class Op
{
  public:
    explicit Op(LiteRtOp op) : op_(op) {}
    LiteRtOp Get() const { return op_; }
    LiteRtOpCode Code() const { return op_->code; }
    bool Is(LiteRtOpCode code) const { return op_->code == code; }
    // With the indices of LiteRtGetOpInput: absent ones among them, but none at the end.
    std::vector<Tensor> Inputs() const { return Wrap(op_->inputs); }
    std::vector<Tensor> Outputs() const { return Wrap(op_->outputs); }
    Expected<std::string> CustomCode() const
    {
        const char* code = nullptr;
        const LiteRtStatus status = LiteRtGetCustomCode(op_, &code);
        if (status != kLiteRtStatusOk) return status;
        return std::string(code);
    }
    static std::vector<Tensor> Wrap(const std::vector<LiteRtTensorT*>& tensors)
    {
        std::vector<Tensor> result;
        for (LiteRtTensorT* tensor : tensors)
            result.push_back(Tensor(tensor));
        return result;
    }

  private:
    LiteRtOp op_;
};

class Subgraph
{
  public:
    explicit Subgraph(LiteRtSubgraph subgraph) : subgraph_(subgraph) {}
    LiteRtSubgraph Get() const { return subgraph_; }
    std::vector<Op> Ops() const
    {
        std::vector<Op> ops;
        for (LiteRtOpT& op : subgraph_->ops)
            ops.push_back(Op(&op));
        return ops;
    }
    std::vector<Tensor> Inputs() const { return Op::Wrap(subgraph_->inputs); }
    std::vector<Tensor> Outputs() const { return Op::Wrap(subgraph_->outputs); }

  private:
    LiteRtSubgraph subgraph_;
};

class Model
{
  public:
    static Model CreateFromNonOwnedHandle(LiteRtModel model) { return Model(model); }
    size_t NumSubgraphs() const { return model_->subgraphs.size(); }
    Expected<litert::Subgraph> Subgraph(size_t index) const
    {
        if (index >= model_->subgraphs.size()) return kLiteRtStatusErrorIndexOOB;
        return litert::Subgraph(&model_->subgraphs[index]);
    }

  private:
    explicit Model(LiteRtModel model) : model_(model) {}
    LiteRtModel model_;
};

// The options of a composite operator.
struct CompositeOptions
{
    std::string name;
};

template <class Options>
Expected<Options> GetOptionsAs(LiteRtOp op)
{
    const char* name = nullptr;
    const LiteRtStatus status = LiteRtGetSHLOCompositeOpName(op, &name);
    if (status != kLiteRtStatusOk) return status;
    return Options{name};
}

namespace internal {

inline LiteRtStatus ToStatus(LiteRtStatus status)
{
    return status;
}
template <class T>
LiteRtStatus ToStatus(const Expected<T>& expected)
{
    return expected.HasValue() ? kLiteRtStatusOk : expected.Error().Status();
}

}  // namespace internal
}  // namespace litert

// In functions that return a LiteRtStatus. The second argument, for a message in LiteRT, is not
// used.
#define LITERT_FIRST(expression, ...) (expression)
#define LITERT_RETURN_IF_ERROR(...)                                   \
    do {                                                              \
        const LiteRtStatus litert_status_ =                           \
            litert::internal::ToStatus(LITERT_FIRST(__VA_ARGS__, 0)); \
        if (litert_status_ != kLiteRtStatusOk) return litert_status_; \
    } while (0)
#define LITERT_JOIN_INSIDE(a, b) a##b
#define LITERT_JOIN(a, b) LITERT_JOIN_INSIDE(a, b)
#define LITERT_ASSIGN_OR_RETURN(declaration, expression)                 \
    auto LITERT_JOIN(litert_expected_, __LINE__) = (expression);         \
    if (!LITERT_JOIN(litert_expected_, __LINE__))                        \
        return LITERT_JOIN(litert_expected_, __LINE__).Error().Status(); \
    declaration = std::move(*LITERT_JOIN(litert_expected_, __LINE__))
