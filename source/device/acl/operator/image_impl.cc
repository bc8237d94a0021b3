// SPDX-License-Identifier: Apache-2.0
#include <arm_compute/runtime/NEON/functions/NESlice.h>

#include "device/acl/operator/image.h"

namespace tengine::acl {

TensorInfo image_info(const tensor& tensor)
{
    const int* dims = tensor.dims;
    const DataType type = to_acl_type(tensor.data_type);
    if (tensor.dim_num == 3) return make_info(to_acl_shape({dims[0], dims[1], 1, dims[2]}), type);
    return make_info(to_acl_shape(dims, tensor.dim_num), type);
}

bool read_image_window(Builder& builder, const window& window, ImageWindow* out_window)
{
    if (window.axis_num != 1 && window.axis_num != 2)
        return builder.refuse(IR_REASON_SHAPE, "", "", "a window over %d axes, expected 1 or 2",
                              window.axis_num);
    out_window->x = window.axes[window.axis_num - 1];
    out_window->y = window.axis_num == 2 ? window.axes[0] : window_axis{1, 1, 1, 1, 1, 0, 0};
    return true;
}

TensorInfo with_dimension(TensorInfo info, size_t dimension, int size)
{
    TensorShape shape = info.tensor_shape();
    shape.set(dimension, static_cast<size_t>(size));
    info.set_tensor_shape(shape);
    return info;
}

ITensor* take_channels(Builder& builder, ITensor* image, int first, int number)
{
    const ITensorInfo& info = *image->info();
    const TensorInfo plain =
        make_info(info.tensor_shape(), info.data_type(), info.quantization_info());
    ITensor* part = builder.temporary(with_dimension(plain, 2, number));
    arm_compute::Coordinates begin(0, 0, first);
    arm_compute::Coordinates end(info.dimension(0), info.dimension(1), first + number);
    // ACL drops trailing dimensions of 1, here the batch.
    if (info.num_dimensions() > 3) {
        begin.set(3, 0);
        end.set(3, static_cast<int>(info.dimension(3)));
    }
    builder.add<arm_compute::NESlice>(image, part, begin, end);
    return part;
}

arm_compute::PadStrideInfo to_pad_stride(const ImageWindow& window)
{
    const auto& [x, y] = window;
    return arm_compute::PadStrideInfo(
        static_cast<unsigned>(x.stride), static_cast<unsigned>(y.stride),
        static_cast<unsigned>(x.pad_begin), static_cast<unsigned>(x.pad_end),
        static_cast<unsigned>(y.pad_begin), static_cast<unsigned>(y.pad_end),
        arm_compute::DimensionRoundingType::FLOOR);
}

}  // namespace tengine::acl
