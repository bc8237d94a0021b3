// SPDX-License-Identifier: Apache-2.0
// Products of fp16 or bf16 where the processor has no instructions that accumulate them: the input
// has been widened to fp32. Weights are when the first rows of a block load them, a part at a time,
// and are kept for the other rows; for the few rows of a decoder, which are at half the bandwidth
// of the memory, there are no others.
// Limits: multiply-adds; with few rows the memory, or conversions.
#include "device/cpu/kernel/product/pixels_f16.h"
#include "device/cpu/kernel/vector/fixed_vectors.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/product/tile/tile_f16_widened_impl.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/vector/elements-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// NEON multiplies by one lane of a vector.
#if HWY_ARCH_ARM_A64 && HWY_TARGET == HWY_NEON
#define TENGINE_CPU_TILE_QUARTERS
#endif

#if HWY_ARCH_X86
#define TENGINE_CPU_TILE_AHEAD
#endif
#define TENGINE_CPU_TILE_ROUNDS
#define TENGINE_CPU_TILE_KEEPS

// A group is one float of the input; T is the type of results, Weight that of weights.
template <class T, class Weight, bool kKeepsWeights>
struct WidenedHalves
{
    using Operand = Vector;
    using Input = Vector;
    using Sum = Vector;
    static constexpr int64_t kLanes = HWY_TARGET == HWY_SCALAR ? 1 : HWY_MAX_BYTES / 4;
    static constexpr int64_t kVectorBytes = kLanes * sizeof(Weight);
    static constexpr bool kHasHalves = false, kFlips = false, kKeeps = kKeepsWeights;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
    static constexpr int kRows = 14;
#elif HWY_ARCH_ARM_A64
    static constexpr int kRows = 8;
#elif HWY_ARCH_ARM_V7
    static constexpr int kRows = 4;
#else
    static constexpr int kRows = 6;
#endif

    static HWY_INLINE Operand load(const char* weights)
    {
        Operand vector = load_elements(Floats(), reinterpret_cast<const Weight*>(weights));
        keep_in_register(vector);
        return vector;
    }
    static HWY_INLINE void keep(Operand weights, float* to)
    {
        hn::StoreU(weights, Floats(), to);
    }
    static HWY_INLINE Input spread(const char* group, uint32_t)
    {
        return hn::Set(Floats(), *reinterpret_cast<const float*>(group));
    }
    static HWY_INLINE Sum start(const int32_t* values)
    {
        return hn::LoadU(Floats(), reinterpret_cast<const float*>(values));
    }
    static HWY_INLINE void add(Input input, Operand weights, Sum& sum)
    {
        sum = hn::MulAdd(input, weights, sum);
    }
#ifdef TENGINE_CPU_TILE_QUARTERS
    static HWY_INLINE Input load_inputs(const char* groups)
    {
        return hn::LoadU(Floats(), reinterpret_cast<const float*>(groups));
    }
    template <int kQuarter>
    static HWY_INLINE void add_quarter(Input input, Operand weights, Sum& sum)
    {
        // Volatile: GCC 12 would copy weights between registers to read others early.
        __asm__ volatile("fmla %0.4s, %1.4s, %2.s[%3]"
                         : "+w"(sum.raw)
                         : "w"(weights.raw), "w"(input.raw), "i"(kQuarter));
    }
#endif
    static HWY_INLINE void store(const Sum& sum, int32_t* values)
    {
        hn::StoreU(sum, Floats(), reinterpret_cast<float*>(values));
    }
    static HWY_INLINE int64_t lanes()
    {
        return kLanes;
    }
    struct Results
    {
        HWY_INLINE explicit Results(const Float16Results& to)
            : clip(to.low, to.high),
              addend(reinterpret_cast<const T*>(to.addend)),
              output(reinterpret_cast<T*>(to.output)),
              step(to.step)
        {
        }
        HWY_INLINE void take(const Sum& sum, int64_t row) const
        {
            store_elements(Floats(), finish(sum, row * step), output + row * step);
        }
        HWY_INLINE void take(const Sum& x, const Sum& y, int64_t row) const
        {
            store_pair(finish(x, row * step), finish(y, row * step + lanes()), output + row * step);
        }
        HWY_INLINE Vector finish(Vector sum, int64_t at) const
        {
            if (addend) sum = hn::Add(sum, load_elements(Floats(), addend + at));
            return clip(sum);
        }
        Bounds clip;
        const T* addend;
        T* output;
        int64_t step;
    };
};

#include "device/cpu/kernel/product/tile/group_tile-inl.h"

void multiply_widened_fp16(const GroupTile& tile, int64_t rows)
{
    multiply_group_tile<WidenedHalves<Half, float, false>>(tile, rows);
}

void multiply_widened_bf16(const GroupTile& tile, int64_t rows)
{
    multiply_group_tile<WidenedHalves<BFloat16, float, false>>(tile, rows);
}

template <class T>
HWY_INLINE void widen_and_multiply(const GroupTile& tile, int64_t rows)
{
    if (tile.kept)
        multiply_group_tile<WidenedHalves<T, T, true>>(tile, rows);
    else
        multiply_group_tile<WidenedHalves<T, T, false>, kFewHalfRows>(tile, rows);
}

void widen_and_multiply_fp16(const GroupTile& tile, int64_t rows)
{
    widen_and_multiply<Half>(tile, rows);
}

void widen_and_multiply_bf16(const GroupTile& tile, int64_t rows)
{
    widen_and_multiply<BFloat16>(tile, rows);
}

void describe_widened(int data_type, TileFormat* out_format)
{
    using Set = WidenedHalves<Half, float, false>;
    *out_format = {};
    out_format->element_size = sizeof(float);
    out_format->group = 1;
    out_format->most_rows = Set::kRows;
    out_format->columns = static_cast<int>(2 * Set::lanes());
    out_format->multiply =
        data_type == TENGINE_DT_FP16 ? multiply_widened_fp16 : multiply_widened_bf16;
    out_format->rounds = true;
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(widen_and_multiply_fp16);
HWY_EXPORT(widen_and_multiply_bf16);
HWY_EXPORT(describe_widened);

}  // namespace

TileFormat find_widened_format(int data_type)
{
    TileFormat format;
    HWY_DYNAMIC_DISPATCH(describe_widened)(data_type, &format);
    return format;
}

void widen_and_multiply_halves(int data_type, const GroupTile& tile, int64_t rows)
{
    if (data_type == TENGINE_DT_FP16)
        HWY_DYNAMIC_DISPATCH(widen_and_multiply_fp16)(tile, rows);
    else
        HWY_DYNAMIC_DISPATCH(widen_and_multiply_bf16)(tile, rows);
}

}  // namespace tengine::cpu
#endif  // HWY_ONCE
