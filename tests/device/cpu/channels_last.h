// SPDX-License-Identifier: Apache-2.0
// Conversions between the two layouts of device/cpu/kernel_table.h, element by element.
#pragma once

#include <cstdint>
#include <vector>

#include "tengine/ir.h"

namespace tengine::cpu {

// Converts a tensor of rank four from NCHW to NHWC.
template <class T>
std::vector<T> put_channels_last(const tensor& shape, const T* values)
{
    const int64_t channels = shape.dims[1], plane = int64_t{shape.dims[2]} * shape.dims[3];
    std::vector<T> result;
    for (int64_t image = 0; image < shape.dims[0]; ++image)
        for (int64_t pixel = 0; pixel < plane; ++pixel)
            for (int64_t channel = 0; channel < channels; ++channel)
                result.push_back(values[(image * channels + channel) * plane + pixel]);
    return result;
}

// Converts from NHWC to NCHW.
template <class T>
std::vector<T> put_channels_second(const tensor& shape, const T* values)
{
    const int64_t channels = shape.dims[1], plane = int64_t{shape.dims[2]} * shape.dims[3];
    std::vector<T> result;
    for (int64_t image = 0; image < shape.dims[0]; ++image)
        for (int64_t channel = 0; channel < channels; ++channel)
            for (int64_t pixel = 0; pixel < plane; ++pixel)
                result.push_back(values[(image * plane + pixel) * channels + channel]);
    return result;
}

}  // namespace tengine::cpu
