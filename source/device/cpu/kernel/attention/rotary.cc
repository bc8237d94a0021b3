// SPDX-License-Identifier: Apache-2.0
// RotaryEmbedding in fp32: a vector of pairs at a time, whose halves lie apart or interleaved.
// Heads are spread over the workers. Limits: the bandwidth of the memory. Accuracy: a result is a
// sum of two products, of which each and the sum are rounded at most once: within eps (|a| |cos| +
// |b| |sin|) of the exact value, and likewise for the other.
#include <algorithm>
#include <cstdint>

#include "device/cpu/kernel/vector/fixed_vectors.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/grain.h"
#include "device/cpu/shared/rotary_table.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/attention/rotary.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/vector/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

struct Pairs
{
    Vector first, second;
};

HWY_INLINE Pairs rotate(Vector a, Vector b, Vector cosine, Vector sine)
{
    return {hn::NegMulAdd(b, sine, hn::Mul(a, cosine)), hn::MulAdd(a, sine, hn::Mul(b, cosine))};
}

// Elements i and i + half. `y` may be `x`.
void rotate_halves(const float* x, int64_t half, const float* cosines, const float* sines, float* y)
{
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats()));
    for (int64_t i = 0; i < half; i += lanes) {
        const int64_t left = half - i;
        const Pairs pairs = rotate(load_lanes(x + i, left), load_lanes(x + half + i, left),
                                   load_lanes(cosines + i, left), load_lanes(sines + i, left));
        store_lanes(pairs.first, y + i, left);
        store_lanes(pairs.second, y + half + i, left);
    }
}

// Elements 2 i and 2 i + 1. `y` may be `x`.
void rotate_neighbours(const float* x, int64_t half, const float* cosines, const float* sines,
                       float* y)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    int64_t i = 0;
    for (; i + lanes <= half; i += lanes) {
        Vector a, b;
        hn::LoadInterleaved2(d, x + 2 * i, a, b);
        const Pairs pairs = rotate(a, b, hn::LoadU(d, cosines + i), hn::LoadU(d, sines + i));
        hn::StoreInterleaved2(pairs.first, pairs.second, d, y + 2 * i);
    }
    for (; i < half; ++i) {
        const float a = x[2 * i], b = x[2 * i + 1];
        y[2 * i] = a * cosines[i] - b * sines[i];
        y[2 * i + 1] = a * sines[i] + b * cosines[i];
    }
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(rotate_halves);
HWY_EXPORT(rotate_neighbours);

int run(KernelContext& context)
{
    rotary_form form;
    TENGINE_RETURN_IF_ERROR(read_rotary(context.node, &form));
    const RotaryTable table(context, form);
    TENGINE_RETURN_IF_ERROR(table.check(context.node));
    const float* input = context.input(0)->f32;
    const float* cosines = context.input(form.cosine_input)->f32;
    const float* sines = context.input(form.sine_input)->f32;
    float* output = context.output(0)->f32;
    const int64_t size = form.head_size, half = form.half;
    const auto rotate_head = context.param<rotary_param>().interleaved
                                 ? HWY_DYNAMIC_DISPATCH(rotate_neighbours)
                                 : HWY_DYNAMIC_DISPATCH(rotate_halves);
    parallel_for(context.pool, context.input(0)->elem_num / size, grain_for(size),
                 [&](int64_t begin, int64_t end, int) {
                     for (int64_t head = begin; head < end; ++head) {
                         const float* x = input + head * size;
                         float* y = output + head * size;
                         const int64_t row = table.offset_of(head);
                         rotate_head(x, half, cosines + row, sines + row, y);
                         if (x != y) std::copy(x + 2 * half, x + size, y + 2 * half);
                     }
                 });
    return TENGINE_OK;
}

bool accepts(const node& node)
{
    const tensor& input = *get_ir_node_input(&node, 0);
    return input.data_type == TENGINE_DT_FP32 && input.elem_num > 0;
}

constexpr Kernel rotary_rows[] = {
    {.op = "RotaryEmbedding",
     .name = "rotary.f32.vector",
     .accepts = accepts,
     .run = run,
     .in_place_input = 0},
    {.op = "com.microsoft.RotaryEmbedding",
     .name = "rotary.f32.vector",
     .accepts = accepts,
     .run = run,
     .in_place_input = 0},
};

}  // namespace

extern const KernelTable rotary_kernels;
const KernelTable rotary_kernels = make_table<rotary_rows>();

}  // namespace tengine::cpu
#endif  // HWY_ONCE
