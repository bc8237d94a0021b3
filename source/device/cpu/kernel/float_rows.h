// SPDX-License-Identifier: Apache-2.0
// Rows of 16-bit floats as fp32 numbers and back, for kernels that compute such rows in buffers
// which stay in L1.
#pragma once

#include <cstdint>

#include "device/cpu/kernel_table.h"
#include "device/cpu/types.h"

namespace tengine::cpu {

// Whether the build computes in fp16 and bf16.
constexpr bool kHasHalves = has_type(FloatTypes{}, TENGINE_DT_BF16);

struct FloatRows
{
    void (*widen)(const void* from, int64_t count, float* to);
    void (*narrow)(const float* from, int64_t count, void* to);
};

// Of TENGINE_DT_FP16 or TENGINE_DT_BF16.
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

// Whether a kernel widens what it reads: the type is not fp32.
inline bool has_halves(const tensor& values)
{
    return kHasHalves && values.data_type != TENGINE_DT_FP32;
}

// Floats from a row to the next where each begins a cache line.
constexpr int64_t row_step(int64_t n)
{
    return (n + 15) / 16 * 16;
}

// Scratch for a row of n fp32 numbers of each worker, and where a worker has it.
inline uint64_t row_scratch(const KernelContext& context, int64_t n)
{
    return static_cast<uint64_t>(row_step(n)) * sizeof(float) *
           static_cast<uint64_t>(get_thread_pool_size(context.pool));
}

inline float* row_of_worker(const KernelContext& context, int64_t n, int worker)
{
    return static_cast<float*>(context.scratch) + row_step(n) * worker;
}

}  // namespace tengine::cpu
