// SPDX-License-Identifier: Apache-2.0
// The coordinates at which Resize reads its input; for resize.cc (linear, cubic) and
// resize_nearest.cc.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "operator/onnx/resize_param.h"

namespace tengine::cpu {

inline bool is(const char* text, const char* other)
{
    return std::strcmp(text, other) == 0;
}

// Returns the input coordinate of output position `i`, in elements. Float follows other runtimes in
// the rounding of mode nearest, double is exact for weights.
template <class F>
F find_source(const resize_param& param, const resize_axis& axis, int64_t input_size, int64_t i)
{
    const char* mode = param.coordinate_transformation_mode;
    const F x = static_cast<F>(i);
    const F scale = static_cast<F>(axis.scale);
    const F length = static_cast<F>(axis.length);
    const F last = static_cast<F>(input_size - 1);
    const F half = static_cast<F>(0.5);
    if (is(mode, "asymmetric")) return x / scale;
    if (is(mode, "align_corners")) return axis.length == 1 ? 0 : x * last / (length - 1);
    if (is(mode, "tf_half_pixel_for_nn")) return (x + half) / scale;
    if (is(mode, "pytorch_half_pixel")) return axis.length > 1 ? (x + half) / scale - half : 0;
    if (is(mode, "tf_crop_and_resize")) {
        const F begin = static_cast<F>(axis.roi_begin);
        const F end = static_cast<F>(axis.roi_end);
        if (axis.length <= 1) return half * (begin + end) * last;
        return begin * last + x * (end - begin) * last / (length - 1);
    }
    const F centered = (x + half) / scale - half;
    if (!is(mode, "half_pixel_symmetric")) return centered;
    // The part of a pixel that was cut off is divided between both sides.
    const F cut = 1 - static_cast<F>(axis.size) / (scale * static_cast<F>(input_size));
    return static_cast<F>(input_size) * half * cut + centered;
}

// Whether tf_crop_and_resize reads outside the input.
inline bool is_outside(const resize_param& param, double source, int64_t input_size)
{
    return is(param.coordinate_transformation_mode, "tf_crop_and_resize") &&
           (source < 0 || source > static_cast<double>(input_size - 1));
}

// Clamps a coordinate to the range that converts to an integer, NaN included.
template <class F>
F limit(F source, int64_t input_size)
{
    const F margin = static_cast<F>(input_size) + 8;
    return source > -margin ? std::min(source, 2 * margin) : -margin;
}

// ---- mode nearest ----

// The half is added in double, where the sum is exact.
inline int64_t round_source(const char* nearest_mode, float source)
{
    if (is(nearest_mode, "floor")) return static_cast<int64_t>(std::floor(source));
    if (is(nearest_mode, "ceil")) return static_cast<int64_t>(std::ceil(source));
    if (is(nearest_mode, "round_prefer_ceil"))
        return static_cast<int64_t>(std::floor(double{source} + 0.5));
    return static_cast<int64_t>(std::ceil(double{source} - 0.5));
}

inline constexpr int64_t kOutside = -1;

// Computes offsets into the input, in elements, for all positions of one axis; kOutside: outside
// it.
inline void fill_nearest_offsets(const resize_param& param, const resize_axis& axis,
                                 int64_t input_size, int64_t stride, int64_t* out_offsets)
{
    for (int64_t i = 0; i < axis.size; ++i) {
        const float source = find_source<float>(param, axis, input_size, i);
        const int64_t position =
            axis.identity ? i : round_source(param.nearest_mode, limit(source, input_size));
        out_offsets[i] = is_outside(param, source, input_size) && !axis.identity
                             ? kOutside
                             : std::clamp<int64_t>(position, 0, input_size - 1) * stride;
    }
}

}  // namespace tengine::cpu
