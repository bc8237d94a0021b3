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

int check_is_tensor(const ValueInfoProto& value, const std::string& owner)
{
    const TypeProto::ValueCase type = value.type().value_case();
    if (type == TypeProto::kTensorType) return TENGINE_OK;
    return tengine_error_set(type == TypeProto::VALUE_NOT_SET ? TENGINE_EFORMAT : TENGINE_ENOTSUP,
                             "%s is %s; only tensors are supported", owner.c_str(),
                             describe_type(type));
}

int read_value_info(const ValueInfoProto& value, const std::string& owner,
                    DeclaredTensor* out_declared)
{
    TENGINE_RETURN_IF_ERROR(check_is_tensor(value, owner));
    const TypeProto::Tensor& type = value.type().tensor_type();
    TENGINE_RETURN_IF_ERROR(
        convert_element_type(type.elem_type(), owner, &out_declared->data_type));
    if (!type.has_shape()) return TENGINE_OK;

    const auto& dims = type.shape().dim();
    if (dims.size() > MAX_SHAPE_DIM_NUM)
        return tengine_error_set(TENGINE_ELIMIT, "%s: %d dimensions, at most %d are supported",
                                 owner.c_str(), dims.size(), MAX_SHAPE_DIM_NUM);
    out_declared->dim_num = dims.size();
    for (int i = 0; i < dims.size(); ++i) {
        // Some exporters write a negative size for one that is not known.
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
