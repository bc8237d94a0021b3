// SPDX-License-Identifier: Apache-2.0
// Vectors of fp32 from elements of any float type, and back: rounded once, to nearest even, as
// base/half.h does; NaN stays NaN. Included once for each instruction set.
#include <cstdint>
#include <cstring>

#include "device/cpu/kernel/vector/float_rows.h"
#include "device/cpu/shared/types.h"

// clang-format off
#if defined(TENGINE_CPU_ELEMENTS) == defined(HWY_TARGET_TOGGLE)
#ifdef TENGINE_CPU_ELEMENTS
#undef TENGINE_CPU_ELEMENTS
#else
#define TENGINE_CPU_ELEMENTS
#endif
// clang-format on

#include "device/cpu/kernel/vector/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

// `D` is a tag of fp32 vectors, whole ones or one lane.
template <class D>
HWY_INLINE hn::Vec<D> load_elements(D d, const float* from)
{
    return hn::LoadU(d, from);
}

template <class D>
HWY_INLINE void store_elements(D d, hn::Vec<D> value, float* to)
{
    hn::StoreU(value, d, to);
}

template <class D>
HWY_INLINE hn::Vec<D> load_elements(D d, const BFloat16* from)
{
    const hn::RebindToUnsigned<D> d32;
    const hn::Rebind<uint16_t, D> d16;
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(d32, hn::LoadU(d16, &from->bits))));
}

// Rounded to bf16, which is the upper half.
template <class D>
HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> round_to_upper(D, hn::Vec<D> value)
{
    const hn::RebindToUnsigned<D> d32;
    const auto bits = hn::BitCast(d32, value);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d32, 1));
    const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(d32, 0x7fff)));
    const auto quiet = hn::Or(bits, hn::Set(d32, 0x400000));
    return hn::IfThenElse(hn::RebindMask(d32, hn::IsNaN(value)), quiet, rounded);
}

template <class D>
HWY_INLINE void store_elements(D d, hn::Vec<D> value, BFloat16* to)
{
    const hn::Rebind<uint16_t, D> d16;
    const auto upper = hn::ShiftRight<16>(round_to_upper(d, value));
    hn::StoreU(hn::TruncateTo(d16, upper), d16, &to->bits);
}

#if (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)) || \
    (HWY_ARCH_ARM && HWY_TARGET == HWY_NEON && (__ARM_FP & 2))
template <class D>
HWY_INLINE hn::Vec<D> load_elements(D d, const Half* from)
{
    const hn::Rebind<uint16_t, D> d16;
    const hn::Rebind<hwy::float16_t, D> halves;
    return hn::PromoteTo(d, hn::BitCast(halves, hn::LoadU(d16, &from->bits)));
}

template <class D>
HWY_INLINE void store_elements(D, hn::Vec<D> value, Half* to)
{
    const hn::Rebind<uint16_t, D> d16;
    const hn::Rebind<hwy::float16_t, D> halves;
    hn::StoreU(hn::BitCast(d16, hn::DemoteTo(halves, value)), d16, &to->bits);
}
#else
// Highway's own conversions in integers neither round nor handle infinities.
template <class D>
HWY_INLINE hn::Vec<D> load_elements(D d, const Half* from)
{
    const hn::RebindToSigned<D> d32;
    const hn::Rebind<uint16_t, D> d16;
    const auto bits = hn::PromoteTo(d32, hn::LoadU(d16, &from->bits));
    const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(d32, 0x8000)));
    const auto magnitude = hn::And(bits, hn::Set(d32, 0x7fff));
    const auto shifted = hn::ShiftLeft<13>(magnitude);
    const auto normal = hn::Add(shifted, hn::Set(d32, 112 << 23));  // 127 - 15
    const auto small = hn::BitCast(d32, hn::Mul(hn::ConvertTo(d, magnitude), hn::Set(d, 0x1p-24f)));
    const auto infinite = hn::Or(shifted, hn::Set(d32, 0x7f800000));
    const auto quiet = hn::Or(infinite, hn::Set(d32, 0x400000));
    const auto large = hn::IfThenElse(hn::Gt(magnitude, hn::Set(d32, 0x7c00)), quiet, infinite);
    const auto finite = hn::IfThenElse(hn::Lt(magnitude, hn::Set(d32, 0x400)), small, normal);
    const auto result = hn::IfThenElse(hn::Lt(magnitude, hn::Set(d32, 0x7c00)), finite, large);
    return hn::BitCast(d, hn::Or(result, sign));
}

template <class D>
HWY_INLINE void store_elements(D d, hn::Vec<D> value, Half* to)
{
    const hn::RebindToSigned<D> d32;
    const hn::RebindToUnsigned<D> bits32;
    const hn::Rebind<uint16_t, D> d16;
    const auto bits = hn::BitCast(d32, value);
    const auto magnitude = hn::And(bits, hn::Set(d32, 0x7fffffff));
    const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(d32, 1));
    const auto normal =
        hn::ShiftRight<13>(hn::Add(hn::Sub(magnitude, hn::Set(d32, (112 << 23) - 0xfff)), odd));
    // The last bit of this sum counts 2^-24, as that of a subnormal half.
    const auto sum = hn::Add(hn::BitCast(d, magnitude), hn::Set(d, 0.5f));
    const auto small = hn::Sub(hn::BitCast(d32, sum), hn::Set(d32, 0x3f000000));
    const auto payload = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(d32, 0x3ff));
    const auto is_nan = hn::Gt(magnitude, hn::Set(d32, 0x7f800000));
    const auto large =
        hn::IfThenElse(is_nan, hn::Or(payload, hn::Set(d32, 0x7e00)), hn::Set(d32, 0x7c00));
    const auto finite = hn::IfThenElse(hn::Lt(magnitude, hn::Set(d32, 0x38800000)), small, normal);
    const auto half = hn::IfThenElse(hn::Lt(magnitude, hn::Set(d32, 0x477ff000)), finite, large);
    const auto sign = hn::ShiftRight<16>(hn::AndNot(hn::Set(d32, 0x7fffffff), bits));
    const auto result = hn::And(hn::Or(half, sign), hn::Set(d32, 0xffff));
    hn::StoreU(hn::TruncateTo(d16, hn::BitCast(bits32, result)), d16, &to->bits);
}
#endif

// Two whole vectors.
template <class T>
HWY_INLINE void store_pair(Vector low, Vector high, T* to)
{
    const Floats d;
    store_elements(d, low, to);
    store_elements(d, high, to + hn::Lanes(d));
}

#if HWY_TARGET == HWY_AVX2
// Upper and lower 16 bits in separate vectors: the value is rounded up if the lower ones, less one
// if the upper are even, have their highest bit set.
HWY_INLINE void store_pair(Vector low, Vector high, BFloat16* to)
{
    const Floats d;
    if (HWY_UNLIKELY(_mm256_movemask_ps(_mm256_cmp_ps(low.raw, high.raw, _CMP_UNORD_Q)) != 0)) {
        store_elements(d, low, to);
        return store_elements(d, high, to + hn::Lanes(d));
    }
    const __m256i a = _mm256_castps_si256(low.raw), b = _mm256_castps_si256(high.raw);
    const __m256i zero = _mm256_setzero_si256();
    const __m256i upper = _mm256_packus_epi32(_mm256_srli_epi32(a, 16), _mm256_srli_epi32(b, 16));
    const __m256i lower =
        _mm256_packus_epi32(_mm256_blend_epi16(a, zero, 0xaa), _mm256_blend_epi16(b, zero, 0xaa));
    const __m256i even = _mm256_andnot_si256(upper, _mm256_set1_epi16(1));
    const __m256i up = _mm256_srai_epi16(_mm256_subs_epu16(lower, even), 15);
    const __m256i rounded = _mm256_sub_epi16(upper, up);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(&to->bits),
                        _mm256_permute4x64_epi64(rounded, 0xd8));
}
#elif HWY_TARGET != HWY_SCALAR
HWY_INLINE void store_pair(Vector low, Vector high, BFloat16* to)
{
    const hn::Repartition<uint16_t, Floats> d16;
    const auto lower = hn::BitCast(d16, round_to_upper(Floats(), low));
    const auto upper = hn::BitCast(d16, round_to_upper(Floats(), high));
    hn::StoreU(hn::ConcatOdd(d16, upper, lower), d16, &to->bits);
}
#endif

// Loads the first `count` elements, of 16 bits, at least one.
template <class T>
HWY_INLINE Vector load_lanes(const T* from, int64_t count)
{
    const Floats d;
    if (count >= static_cast<int64_t>(hn::Lanes(d))) return load_elements(d, from);
    uint16_t lanes[HWY_MAX_BYTES / sizeof(float)] = {};
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
    const hn::Rebind<uint16_t, Floats> d16;
    const auto present = hn::FirstN(d16, static_cast<size_t>(count));
    hn::StoreU(hn::MaskedLoad(present, d16, &from->bits), d16, lanes);
#else
    std::memcpy(lanes, from, static_cast<size_t>(count) * sizeof(T));
#endif
    return load_elements(d, reinterpret_cast<const T*>(lanes));
}

template <class T>
HWY_INLINE void store_lanes(Vector value, T* to, int64_t count)
{
    const Floats d;
    if (count >= static_cast<int64_t>(hn::Lanes(d))) return store_elements(d, value, to);
    uint16_t lanes[HWY_MAX_BYTES / sizeof(float)];
    store_elements(d, value, reinterpret_cast<T*>(lanes));
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
    const hn::Rebind<uint16_t, Floats> d16;
    const auto present = hn::FirstN(d16, static_cast<size_t>(count));
    hn::BlendedStore(hn::LoadU(d16, lanes), present, d16, &to->bits);
#else
    std::memcpy(to, lanes, static_cast<size_t>(count) * sizeof(T));
#endif
}

// `count` elements of 16 bits as floats.
template <class T>
HWY_INLINE void load_floats(const T* from, int64_t count, float* to)
{
    const Floats d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
        hn::StoreU(load_elements(d, from + i), d, to + i);
    if (i < count) store_lanes(load_lanes(from + i, count - i), to + i, count - i);
}

// Stores `count` floats, after finish(vector).
template <class T, class Finish>
HWY_INLINE void store_floats(const float* from, int64_t count, const Finish& finish, T* to)
{
    const Floats d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    int64_t i = 0;
    for (; i + 2 * lanes <= count; i += 2 * lanes)
        store_pair(finish(hn::LoadU(d, from + i)), finish(hn::LoadU(d, from + i + lanes)), to + i);
    for (; i < count; i += lanes)
        store_lanes(finish(load_lanes(from + i, count - i)), to + i, count - i);
}

template <class T>
HWY_INLINE void store_floats(const float* from, int64_t count, T* to)
{
    store_floats(
        from, count, [](Vector value) { return value; }, to);
}

// Calls body with Type<> of fp32, fp16 or bf16.
template <class Body>
HWY_INLINE void with_float_type(int data_type, const Body& body)
{
    if constexpr (kHasHalves) {
        if (data_type == TENGINE_DT_FP16) return body(Type<Half>());
        if (data_type == TENGINE_DT_BF16) return body(Type<BFloat16>());
    }
    body(Type<float>());
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TENGINE_CPU_ELEMENTS
