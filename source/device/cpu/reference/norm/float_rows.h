// SPDX-License-Identifier: Apache-2.0
// Rows of a tensor of any float type as doubles and back, for kernels with tensors of several types
// that compute in double.
#pragma once

#include <cstdint>

#include "device/cpu/shared/types.h"
#include "tengine/ir.h"

namespace tengine::cpu {

// Loads `count` elements from element `first` on.
using LoadRow = void (*)(const void* from, int64_t first, int64_t count, double* to);
using StoreRow = void (*)(const double* from, int64_t first, int64_t count, void* to);

template <class T>
void load_row(const void* from, int64_t first, int64_t count, double* to)
{
    const T* elements = static_cast<const T*>(from) + first;
    for (int64_t i = 0; i < count; ++i)
        to[i] = static_cast<double>(elements[i]);
}

template <class T>
void store_row(const double* from, int64_t first, int64_t count, void* to)
{
    T* elements = static_cast<T*>(to) + first;
    for (int64_t i = 0; i < count; ++i)
        elements[i] = static_cast<T>(from[i]);
}

// Find the functions for a tensor; without a tensor *out_load and *out_store are left unchanged.
// EDTYPE for other types.
template <class Types = FloatTypes>
int find_load_row(const tensor* from, LoadRow* out_load)
{
    if (!from) return TENGINE_OK;
    return dispatch_type(Types{}, from->data_type, [&](auto type) {
        *out_load = load_row<typename decltype(type)::type>;
        return TENGINE_OK;
    });
}

inline int find_store_row(const tensor* to, StoreRow* out_store)
{
    if (!to) return TENGINE_OK;
    return dispatch_type(FloatTypes{}, to->data_type, [&](auto type) {
        *out_store = store_row<typename decltype(type)::type>;
        return TENGINE_OK;
    });
}

}  // namespace tengine::cpu
