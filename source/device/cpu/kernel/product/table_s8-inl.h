// SPDX-License-Identifier: Apache-2.0
// Entries of a table of 256 bytes: 16 vectors of 16. The lower half of a byte takes an entry out of
// each of them, the bits of the higher half select one, in 36 operations. With AVX-512 VBMI, whose
// instruction takes an entry out of 128, in four. Included once for each instruction set that has
// vectors.
#include <cstdint>

#include "base/cpu.h"

// clang-format off
#if defined(TENGINE_CPU_BYTE_TABLE) == defined(HWY_TARGET_TOGGLE)
#ifdef TENGINE_CPU_BYTE_TABLE
#undef TENGINE_CPU_BYTE_TABLE
#else
#define TENGINE_CPU_BYTE_TABLE
#endif
// clang-format on

#include <hwy/highway.h>

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The entries of `parts` vectors of the table, from `table` on: halves of them by the bits from the
// highest on.
template <int kParts, class D, class V>
HWY_INLINE V select_entry(D d, const uint8_t* table, V bytes, V low)
{
    if constexpr (kParts == 1) {
        return hn::TableLookupBytes(hn::LoadDup128(d, table), low);
    } else {
        constexpr int kHalf = kParts / 2;
        const auto is_upper = hn::TestBit(bytes, hn::Set(d, static_cast<uint8_t>(kHalf * 16)));
        return hn::IfThenElse(is_upper, select_entry<kHalf>(d, table + kHalf * 16, bytes, low),
                              select_entry<kHalf>(d, table, bytes, low));
    }
}

#if HWY_TARGET == HWY_AVX3

HWY_INLINE hn::Vec512<uint8_t> widen(hn::Vec512<uint8_t> bytes)
{
    return bytes;
}
HWY_INLINE hn::Vec512<uint8_t> widen(hn::Vec256<uint8_t> bytes)
{
    return hn::Vec512<uint8_t>{_mm512_castsi256_si512(bytes.raw)};
}
HWY_INLINE hn::Vec512<uint8_t> widen(hn::Vec128<uint8_t> bytes)
{
    return hn::Vec512<uint8_t>{_mm512_castsi128_si512(bytes.raw)};
}
HWY_INLINE hn::Vec512<uint8_t> narrow(hn::Full512<uint8_t>, hn::Vec512<uint8_t> bytes)
{
    return bytes;
}
HWY_INLINE hn::Vec256<uint8_t> narrow(hn::Full256<uint8_t>, hn::Vec512<uint8_t> bytes)
{
    return hn::Vec256<uint8_t>{_mm512_castsi512_si256(bytes.raw)};
}
HWY_INLINE hn::Vec128<uint8_t> narrow(hn::Full128<uint8_t>, hn::Vec512<uint8_t> bytes)
{
    return hn::Vec128<uint8_t>{_mm512_castsi512_si128(bytes.raw)};
}

// The lower seven bits of each byte take an entry out of 128. The compiler may not use the
// instruction in functions for AVX3, some of whose processors lack it.
HWY_INLINE hn::Vec512<uint8_t> permute_entries(const uint8_t* entries, hn::Vec512<uint8_t> bytes)
{
    const hn::Full512<uint8_t> d;
    auto found = bytes.raw;
    __asm__("vpermi2b %2, %1, %0"
            : "+v"(found)
            : "v"(hn::LoadU(d, entries).raw), "v"(hn::LoadU(d, entries + 64).raw));
    return hn::Vec512<uint8_t>{found};
}

#endif

class Int8Table
{
  public:
    HWY_INLINE explicit Int8Table(const uint8_t* entries) : entries_(entries)
    {
#if HWY_TARGET == HWY_AVX3
        permutes_ = (get_cpu_features() & CPU_FEATURE_AVX512_VBMI) != 0;
#endif
    }

    template <class D>
    HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> bytes) const
    {
#if HWY_TARGET == HWY_AVX3
        if (permutes_) {
            const hn::Full512<uint8_t> wide;
            const auto all = widen(bytes);
            const auto is_upper = hn::TestBit(all, hn::Set(wide, uint8_t{0x80}));
            return narrow(d, hn::IfThenElse(is_upper, permute_entries(entries_ + 128, all),
                                            permute_entries(entries_, all)));
        }
#endif
        return select_entry<16>(d, entries_, bytes, hn::And(bytes, hn::Set(d, uint8_t{0x0f})));
    }

  private:
    const uint8_t* entries_;
#if HWY_TARGET == HWY_AVX3
    bool permutes_;
#endif
};

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // HWY_TARGET != HWY_SCALAR
#endif  // TENGINE_CPU_BYTE_TABLE
