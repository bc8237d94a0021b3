// SPDX-License-Identifier: Apache-2.0
// RotaryEmbedding of floats: a vector of pairs at a time, as separate halves of a head or
// interleaved. Workers share the heads. fp16 and bf16 are computed in fp32 and rounded once.
// Limits: memory bandwidth. Accuracy: a result is a sum of two products; each product and the sum
// are rounded at most once: within eps (|a| |cos| + |b| |sin|) of the exact value, and the other
// result of the pair correspondingly.
#include <algorithm>
#include <cstdint>

#include "device/cpu/kernel/vector/fixed_vectors.h"
#include "device/cpu/kernel/vector/float_rows.h"
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

// Rotates the pairs of elements i and i + half. `y` may be `x`.
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

// Rotates the pairs of elements 2 i and 2 i + 1. `y` may be `x`.
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

using Rotate = void (*)(const float* x, int64_t half, const float* cosines, const float* sines,
                        float* y);

// Floats of a worker: the rotated elements of a head, their cosines and their sines.
int64_t buffer_size(const rotary_form& form)
{
    return 4 * int64_t{form.half};
}

int prepare(KernelContext& context)
{
    rotary_form form;
    if (!has_float16(*context.input(0))) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(read_rotary(context.node, &form));
    context.scratch_size = row_scratch(context, buffer_size(form));
    return TENGINE_OK;
}

// Elements of T: float, or those of fp16 or bf16. rotate(x, row, y, worker) rotates the first
// elements of a head with a row of the table.
template <class T, class RotateHead>
void rotate_heads(const KernelContext& context, const rotary_form& form, const RotaryTable& table,
                  const RotateHead& rotate_head)
{
    const auto* input = static_cast<const T*>(context.input(0)->data);
    auto* output = static_cast<T*>(context.output(0)->data);
    const int64_t size = form.head_size, rotated = 2 * int64_t{form.half};
    parallel_for(context.pool, context.input(0)->elem_num / size, grain_for(size),
                 [&](int64_t begin, int64_t end, int worker) {
                     for (int64_t head = begin; head < end; ++head) {
                         const T* x = input + head * size;
                         T* y = output + head * size;
                         rotate_head(x, table.offset_of(head), y, worker);
                         if (x != y) std::copy(x + rotated, x + size, y + rotated);
                     }
                 });
}

void rotate_floats(const KernelContext& context, const rotary_form& form, const RotaryTable& table,
                   Rotate rotate)
{
    const float* cosines = context.input(form.cosine_input)->f32;
    const float* sines = context.input(form.sine_input)->f32;
    rotate_heads<float>(context, form, table, [=](const float* x, int64_t row, float* y, int) {
        rotate(x, form.half, cosines + row, sines + row, y);
    });
}

void rotate_shorts(const KernelContext& context, const rotary_form& form, const RotaryTable& table,
                   Rotate rotate)
{
    const FloatRows rows = find_float_rows(context.input(0)->data_type);
    const uint16_t* cosines = context.input(form.cosine_input)->f16;
    const uint16_t* sines = context.input(form.sine_input)->f16;
    const int64_t half = form.half;
    rotate_heads<uint16_t>(context, form, table,
                           [&](const uint16_t* x, int64_t row, uint16_t* y, int worker) {
                               float* head = rows_of_worker(context, buffer_size(form), worker);
                               float *cosine_row = head + 2 * half, *sine_row = cosine_row + half;
                               rows.widen(x, 2 * half, head);
                               rows.widen(cosines + row, half, cosine_row);
                               rows.widen(sines + row, half, sine_row);
                               rotate(head, half, cosine_row, sine_row, head);
                               rows.narrow(head, 2 * half, y);
                           });
}

int run(KernelContext& context)
{
    rotary_form form;
    TENGINE_RETURN_IF_ERROR(read_rotary(context.node, &form));
    const RotaryTable table(context, form);
    TENGINE_RETURN_IF_ERROR(table.check(context.node));
    const Rotate rotate = context.param<rotary_param>().interleaved
                              ? HWY_DYNAMIC_DISPATCH(rotate_neighbours)
                              : HWY_DYNAMIC_DISPATCH(rotate_halves);
    if (has_float16(*context.input(0)))
        rotate_shorts(context, form, table, rotate);
    else
        rotate_floats(context, form, table, rotate);
    return TENGINE_OK;
}

bool accepts(const node& node)
{
    const tensor& input = *get_ir_node_input(&node, 0);
    return is_fast_float(input.data_type) && input.elem_num > 0;
}

constexpr Kernel rotary_rows[] = {
    {.op = "RotaryEmbedding",
     .name = "rotary.fp.vector",
     .accepts = accepts,
     .run = run,
     .prepare = prepare,
     .in_place_input = 0},
    {.op = "com.microsoft.RotaryEmbedding",
     .name = "rotary.fp.vector",
     .accepts = accepts,
     .run = run,
     .prepare = prepare,
     .in_place_input = 0},
};

}  // namespace

extern const KernelTable rotary_kernels;
const KernelTable rotary_kernels = make_table<rotary_rows>();

}  // namespace tengine::cpu
#endif  // HWY_ONCE
