// SPDX-License-Identifier: Apache-2.0
// Types and shapes of inputs and outputs.
#include "serializer/onnx/value_info.h"

#include <climits>

#include "serializer/onnx/tensor.h"

namespace tengine {
namespace {

using ::onnx::TypeProto;
using ::onnx::ValueInfoProto;

const char* describe_type(TypeProto::ValueCase type)
{
    switch (type) {
        case TypeProto::kTensorType:
            return "a tensor";
        case TypeProto::kSequenceType:
            return "a sequence";
        case TypeProto::kMapType:
            return "a map";
        case TypeProto::kOptionalType:
            return "an optional value";
        case TypeProto::kSparseTensorType:
            return "a sparse tensor";
        case TypeProto::VALUE_NOT_SET:
            break;
    }
    return "without a type";
}

}  // namespace

// Splits a tensor, a sequence of tensors, or an optional one of these; `out_tensor` is the tensor's
// type.
static int take_apart(const TypeProto& type, const std::string& owner,
                      const TypeProto::Tensor** out_tensor, int* out_container)
{
    const TypeProto* inner = &type;
    int container = 0;
    if (inner->has_optional_type()) {
        container = TENGINE_DT_OPTIONAL;
        inner = &inner->optional_type().elem_type();
    }
    if (inner->has_sequence_type()) {
        container += TENGINE_DT_SEQUENCE;
        inner = &inner->sequence_type().elem_type();
    }
    if (inner->has_tensor_type()) {
        *out_tensor = &inner->tensor_type();
        *out_container = container;
        return TENGINE_OK;
    }
    const TypeProto::ValueCase found = inner->value_case();
    const bool is_missing = found == TypeProto::VALUE_NOT_SET;
    if (container == 0)
        return tengine_error_set(is_missing ? TENGINE_EFORMAT : TENGINE_ENOTSUP,
                                 "%s is %s, which is not supported", owner.c_str(),
                                 describe_type(found));
    return tengine_error_set(is_missing ? TENGINE_EFORMAT : TENGINE_ENOTSUP,
                             "%s is %s of %s, which is not supported", owner.c_str(),
                             describe_type(type.value_case()),
                             is_missing ? "elements without a type" : describe_type(found));
}

int read_value_type(const TypeProto& type, const std::string& owner, int* out_data_type)
{
    const TypeProto::Tensor* tensor = nullptr;
    int container = 0;
    TENGINE_RETURN_IF_ERROR(take_apart(type, owner, &tensor, &container));
    if (tensor->elem_type() == ::onnx::TensorProto::UNDEFINED && container == 0) {
        *out_data_type = TENGINE_DT_UNKNOWN;
        return TENGINE_OK;
    }
    TENGINE_RETURN_IF_ERROR(convert_element_type(tensor->elem_type(), owner, out_data_type));
    *out_data_type += container;
    return TENGINE_OK;
}

int read_value_info(const ValueInfoProto& value, const std::string& owner,
                    DeclaredTensor* out_declared)
{
    const TypeProto::Tensor* tensor = nullptr;
    int container = 0;
    TENGINE_RETURN_IF_ERROR(take_apart(value.type(), owner, &tensor, &container));
    TENGINE_RETURN_IF_ERROR(
        convert_element_type(tensor->elem_type(), owner, &out_declared->data_type));
    out_declared->data_type += container;
    const TypeProto::Tensor& type = *tensor;
    if (!type.has_shape() || container != 0) return TENGINE_OK;

    const auto& dims = type.shape().dim();
    if (dims.size() > MAX_SHAPE_DIM_NUM)
        return tengine_error_set(TENGINE_ELIMIT, "%s: %d dimensions, expected at most %d",
                                 owner.c_str(), dims.size(), MAX_SHAPE_DIM_NUM);
    out_declared->dim_num = dims.size();
    for (int i = 0; i < dims.size(); ++i) {
        // Some exporters write a negative size for an unknown one.
        const int64_t dim = dims[i].has_dim_value() ? dims[i].dim_value() : -1;
        if (dim > INT_MAX)
            return tengine_error_set(TENGINE_EFORMAT, "%s: dimension %d is %lld, expected 0 to %d",
                                     owner.c_str(), i, static_cast<long long>(dim), INT_MAX);
        out_declared->dims[i] = dim < 0 ? -1 : static_cast<int>(dim);
        out_declared->names[i] = dims[i].has_dim_param() ? dims[i].dim_param().c_str() : "";
    }
    return TENGINE_OK;
}

}  // namespace tengine
