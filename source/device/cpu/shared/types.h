// SPDX-License-Identifier: Apache-2.0
// Element types as C++ types, and dispatch from TENGINE_DT_* to a template. Half and BFloat16
// convert to and from float; kernels compute in compute_t<T>.
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/half.h"
#include "tengine/defines.h"
#include "tengine/error.h"

namespace tengine::cpu {

struct Half
{
    uint16_t bits;
    Half() = default;
    Half(float value) : bits(fp32_to_fp16(value)) {}
    operator float() const { return fp16_to_fp32(bits); }
};

struct BFloat16
{
    uint16_t bits;
    BFloat16() = default;
    BFloat16(float value) : bits(fp32_to_bf16(value)) {}
    operator float() const { return bf16_to_fp32(bits); }
};

template <class T>
inline constexpr bool is_half = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T>
inline constexpr bool is_float = std::is_floating_point_v<T> || is_half<T>;
// The type arithmetic is done in.
template <class T>
using compute_t = std::conditional_t<is_half<T>, float, T>;
// The type in which long sums are accumulated.
template <class T>
using sum_t = std::conditional_t<is_float<T>, double, int64_t>;

template <class T>
struct Type
{
    using type = T;
};

// Calls body(Type<T>{}) with the C++ type of `data_type`, one of Ts; EDTYPE when it is none of
// them.
template <class... Ts>
struct TypeList
{
};

template <class T>
constexpr int data_type_of()
{
    if constexpr (std::is_same_v<T, float>) return TENGINE_DT_FP32;
    if constexpr (std::is_same_v<T, Half>) return TENGINE_DT_FP16;
    if constexpr (std::is_same_v<T, BFloat16>) return TENGINE_DT_BF16;
    if constexpr (std::is_same_v<T, double>) return TENGINE_DT_FP64;
    if constexpr (std::is_same_v<T, bool>) return TENGINE_DT_BOOL;
    if constexpr (std::is_same_v<T, int8_t>) return TENGINE_DT_INT8;
    if constexpr (std::is_same_v<T, uint8_t>) return TENGINE_DT_UINT8;
    if constexpr (std::is_same_v<T, int16_t>) return TENGINE_DT_INT16;
    if constexpr (std::is_same_v<T, uint16_t>) return TENGINE_DT_UINT16;
    if constexpr (std::is_same_v<T, int32_t>) return TENGINE_DT_INT32;
    if constexpr (std::is_same_v<T, uint32_t>) return TENGINE_DT_UINT32;
    if constexpr (std::is_same_v<T, int64_t>) return TENGINE_DT_INT64;
    if constexpr (std::is_same_v<T, uint64_t>) return TENGINE_DT_UINT64;
    return -1;
}

#ifdef TENGINE_FP32_ONLY
// A small build has the types of common models, and integers for shapes.
using FloatTypes = TypeList<float>;
using SignedTypes = TypeList<float, int32_t, int64_t>;
using NumberTypes = TypeList<float, int32_t, int64_t>;
#else
using FloatTypes = TypeList<float, Half, BFloat16, double>;
using SignedTypes = TypeList<float, Half, BFloat16, double, int8_t, int16_t, int32_t, int64_t>;
using NumberTypes = TypeList<float, Half, BFloat16, double, int8_t, uint8_t, int16_t, uint16_t,
                             int32_t, uint32_t, int64_t, uint64_t>;
#endif
using IntegerTypes =
    TypeList<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
using AllTypes = TypeList<float, Half, BFloat16, double, bool, int8_t, uint8_t, int16_t, uint16_t,
                          int32_t, uint32_t, int64_t, uint64_t>;
using IndexTypes = TypeList<int32_t, int64_t>;
// By element size, for kernels that only move data.
using SizedTypes = TypeList<uint8_t, uint16_t, uint32_t, uint64_t>;

template <class... Ts>
constexpr bool has_type(TypeList<Ts...>, int data_type)
{
    return ((data_type_of<Ts>() == data_type) || ...);
}

template <class Body, class... Ts>
int dispatch_type(TypeList<Ts...>, int data_type, Body&& body)
{
    int status = TENGINE_EDTYPE;
    const bool found =
        ((data_type_of<Ts>() == data_type ? (status = body(Type<Ts>{}), true) : false) || ...);
    if (!found) return tengine_error_set(TENGINE_EDTYPE, "no kernel for data type %d", data_type);
    return status;
}

// By bytes of one element: body(Type<uint8_t|uint16_t|uint32_t|uint64_t>{}).
template <class Body>
int dispatch_size(int element_size, Body&& body)
{
    switch (element_size) {
        case 1:
            return body(Type<uint8_t>{});
        case 2:
            return body(Type<uint16_t>{});
        case 4:
            return body(Type<uint32_t>{});
        case 8:
            return body(Type<uint64_t>{});
        default:
            return tengine_error_set(TENGINE_EDTYPE, "no kernel for elements of %d bytes",
                                     element_size);
    }
}

}  // namespace tengine::cpu
