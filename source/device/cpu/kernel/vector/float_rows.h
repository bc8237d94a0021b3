// SPDX-License-Identifier: Apache-2.0
// Rows of fp16 or bf16 as fp32 and back, for kernels that compute such rows in buffers that stay in
// L1.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/cpu/kernel_context.h"
#include "device/cpu/shared/types.h"

namespace tengine::cpu {

// Whether the build computes in fp16 and bf16.
constexpr bool kHasHalves = has_type(FloatTypes{}, TENGINE_DT_BF16);

struct FloatRows
{
    void (*widen)(const void* from, int64_t count, float* to);
    void (*narrow)(const float* from, int64_t count, void* to);
};

// The conversions of TENGINE_DT_FP16 or TENGINE_DT_BF16.
FloatRows find_float_rows(int data_type);

// Elements that are converted at once.
constexpr int64_t kFloatBlock = 1024;

// Whether fast kernels compute in it.
constexpr bool is_fast_float(int data_type)
{
    return data_type == TENGINE_DT_FP32 ||
           (kHasHalves && (data_type == TENGINE_DT_FP16 || data_type == TENGINE_DT_BF16));
}

// An element of a tensor of such a type.
inline float read_float(const tensor& values, int64_t index)
{
    if (kHasHalves && values.data_type == TENGINE_DT_FP16) return fp16_to_fp32(values.f16[index]);
    if (kHasHalves && values.data_type == TENGINE_DT_BF16) return bf16_to_fp32(values.f16[index]);
    return values.f32[index];
}

// Whether a kernel widens its input: the type is not fp32.
inline bool has_float16(const tensor& values)
{
    return kHasHalves && values.data_type != TENGINE_DT_FP32;
}

// Rows of n that are converted at once.
constexpr int64_t rows_at_once(int64_t n)
{
    return n < kFloatBlock ? kFloatBlock / n : 1;
}

// Floats of them, in whole cache lines.
constexpr int64_t floats_at_once(int64_t n)
{
    return (rows_at_once(n) * n + 15) / 16 * 16;
}

// Scratch for this number of floats of each worker, and its address.
inline uint64_t row_scratch(const KernelContext& context, int64_t n)
{
    return static_cast<uint64_t>(floats_at_once(n)) * sizeof(float) *
           static_cast<uint64_t>(get_thread_pool_size(context.pool));
}

inline float* rows_of_worker(const KernelContext& context, int64_t n, int worker)
{
    return static_cast<float*>(context.scratch) + floats_at_once(n) * worker;
}

// Calls compute(row) for rows [begin, end) of n values of fp16 or bf16, in fp32: the result in
// place is rounded.
template <class Compute>
void compute_rows(const FloatRows& rows, const uint16_t* from, int64_t n, int64_t begin,
                  int64_t end, float* buffer, uint16_t* to, const Compute& compute)
{
    int64_t count = 0;
    for (int64_t first = begin; first < end; first += count) {
        count = std::min(rows_at_once(n), end - first);
        rows.widen(from + first * n, count * n, buffer);
        for (int64_t row = 0; row < count; ++row)
            compute(buffer + row * n);
        rows.narrow(buffer, count * n, to + first * n);
    }
}

}  // namespace tengine::cpu
