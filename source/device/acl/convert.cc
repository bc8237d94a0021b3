// SPDX-License-Identifier: Apache-2.0
#include "device/acl/convert.h"

#include <cstring>

namespace tengine::acl {

DataType to_acl_type(int data_type)
{
    switch (data_type) {
        case TENGINE_DT_FP32:
            return DataType::F32;
        case TENGINE_DT_FP16:
            return DataType::F16;
        case TENGINE_DT_INT8:
            return DataType::S8;
        case TENGINE_DT_UINT8:
        case TENGINE_DT_BOOL:
            return DataType::U8;
        case TENGINE_DT_INT16:
            return DataType::S16;
        case TENGINE_DT_UINT16:
            return DataType::U16;
        case TENGINE_DT_INT32:
            return DataType::S32;
        case TENGINE_DT_UINT32:
            return DataType::U32;
        default:
            return DataType::UNKNOWN;
    }
}

TensorShape to_acl_shape(const int dims[], int number)
{
    if (number == 0) return TensorShape(1U);
    TensorShape shape;
    for (int i = 0; i < number; ++i)
        shape.set(static_cast<size_t>(i), static_cast<size_t>(dims[number - 1 - i]));
    return shape;
}

TensorShape to_acl_shape(std::initializer_list<int> dims)
{
    return to_acl_shape(dims.begin(), static_cast<int>(dims.size()));
}

TensorInfo make_info(const TensorShape& shape, DataType type, const QuantizationInfo& scale)
{
    TensorInfo info(shape, 1, type, scale);
    info.set_data_layout(arm_compute::DataLayout::NCHW);
    return info;
}

TensorInfo to_acl_info(const tensor& tensor)
{
    return make_info(to_acl_shape(tensor.dims, tensor.dim_num), to_acl_type(tensor.data_type));
}

namespace {

// Calls body(bytes of the tensor's row, bytes of the dense row, length) for every row.
template <class Body>
void for_each_row(const ITensorInfo& info, const Body& body)
{
    const TensorShape& shape = info.tensor_shape();
    const auto& strides = info.strides_in_bytes();
    const size_t length = shape[0] * info.element_size();
    const size_t rows = shape.total_size() / shape[0];
    size_t position[arm_compute::MAX_DIMS] = {};
    for (size_t row = 0; row < rows; ++row) {
        size_t offset = info.offset_first_element_in_bytes();
        for (size_t d = 1; d < arm_compute::MAX_DIMS; ++d)
            offset += position[d] * strides[d];
        body(offset, row * length, length);
        for (size_t d = 1; d < arm_compute::MAX_DIMS && ++position[d] == shape[d]; ++d)
            position[d] = 0;
    }
}

}  // namespace

void copy_in(const void* dense, ITensor* tensor)
{
    const auto* from = static_cast<const uint8_t*>(dense);
    uint8_t* to = tensor->buffer();
    for_each_row(*tensor->info(), [&](size_t row, size_t dense_row, size_t length) {
        std::memcpy(to + row, from + dense_row, length);
    });
}

void copy_out(const ITensor& tensor, void* dense)
{
    auto* to = static_cast<uint8_t*>(dense);
    const uint8_t* from = tensor.buffer();
    for_each_row(*tensor.info(), [&](size_t row, size_t dense_row, size_t length) {
        std::memcpy(to + dense_row, from + row, length);
    });
}

}  // namespace tengine::acl
