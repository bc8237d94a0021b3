// SPDX-License-Identifier: Apache-2.0
// What becomes of the sums of a tile of byte_pixels_impl.cc that are bytes. They are taken as one
// row, whatever the panel's width is, so that all vectors are full; the bytes lie in the L1 cache
// until they go to the rows of the output. Included once for each instruction set.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "device/cpu/kernel/byte_panel.h"

// clang-format off
#if defined(TENGINE_CPU_BYTE_STORE) == defined(HWY_TARGET_TOGGLE)
#ifdef TENGINE_CPU_BYTE_STORE
#undef TENGINE_CPU_BYTE_STORE
#else
#define TENGINE_CPU_BYTE_STORE
#endif
// clang-format on

#include <hwy/highway.h>

#include "device/cpu/kernel/requantize-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kMostTileRows = 16, kMostTileColumns = 64;
constexpr int64_t kMostTileSums = kMostTileRows * kMostTileColumns;

// Both ends of a row of so many bytes, which may overlap.
template <int kBytes>
HWY_INLINE void copy_ends(const uint8_t* from, int64_t count, uint8_t* to)
{
    std::memcpy(to, from, kBytes);
    std::memcpy(to + count - kBytes, from + count - kBytes, kBytes);
}

// Rows of `count` bytes, 1 to 64.
HWY_INLINE void copy_byte_rows(const uint8_t* from, int64_t from_step, int64_t rows, int64_t count,
                               uint8_t* to, int64_t to_step)
{
    for (int64_t row = 0; row < rows; ++row, from += from_step, to += to_step) {
        if (count > 32)
            copy_ends<32>(from, count, to);
        else if (count == 32)
            std::memcpy(to, from, 32);
        else if (count >= 16)
            copy_ends<16>(from, count, to);
        else if (count >= 8)
            copy_ends<8>(from, count, to);
        else if (count >= 4)
            copy_ends<4>(from, count, to);
        else
            for (int64_t i = 0; i < count; ++i)
                to[i] = from[i];
    }
}

// The results of a panel: of each tile `rows` times its width. Widths are powers of two.
class TileBytes
{
  public:
    HWY_INLINE TileBytes(const ByteRange& range, const BytePanel& panel)
        : range_(range),
          panel_(panel)
#if HWY_TARGET != HWY_SCALAR
          ,
          period_(std::max<int64_t>(panel.width, L::kWidth)),
          scaling_(range)
    {
        for (int64_t i = 0; i < period_; i += panel.width)
            std::memcpy(scales_ + i, panel.scales(),
                        static_cast<size_t>(panel.width) * sizeof(float));
    }
#else
    {
    }
#endif

    // The first `columns` of each row. Sums behind the last may change.
    HWY_INLINE void store(int32_t* sums, int64_t rows, int64_t columns, uint8_t* output,
                          int64_t output_step) const
    {
        HWY_ALIGN uint8_t bytes[kMostTileSums];
        requantize(sums, rows, bytes);
        copy_byte_rows(bytes, panel_.width, rows, columns, output, output_step);
    }

  private:
#if HWY_TARGET == HWY_SCALAR
    void requantize(const int32_t* sums, int64_t rows, uint8_t* bytes) const
    {
        for (int64_t row = 0; row < rows; ++row)
            requantize_exactly(range_, sums + row * panel_.width, panel_.multipliers(),
                               panel_.width, bytes + row * panel_.width);
    }
#else
    using L = Lanes<HWY_MAX_BYTES>;
    static constexpr int kLanes = L::kWidth / 4;

    HWY_INLINE typename L::IntegerVector scale(const int32_t* sums, const float* scales,
                                               typename L::IntegerVector* fraction) const
    {
        return scaling_(hn::LoadU(typename L::Integers(), sums),
                        hn::LoadU(typename L::Reals(), scales), fraction);
    }

    HWY_INLINE void requantize(int32_t* sums, int64_t rows, uint8_t* bytes) const
    {
        const int64_t count = rows * panel_.width;
        const int64_t whole = (count + L::kWidth - 1) / L::kWidth * L::kWidth;
        std::fill(sums + count, sums + whole, 0);
        for (int64_t i = 0; i < whole; i += L::kWidth) {
            const int32_t* from = sums + i;
            const float* scales = scales_ + (i & (period_ - 1));
            auto fraction = scaling_.no_fraction();
            const auto first = scale(from, scales, &fraction);
            const auto second = scale(from + kLanes, scales + kLanes, &fraction);
            const auto third = scale(from + 2 * kLanes, scales + 2 * kLanes, &fraction);
            const auto fourth = scale(from + 3 * kLanes, scales + 3 * kLanes, &fraction);
            const typename L::Pairs d;
            const auto packed =
                scaling_.pack(demote_words(d, first, second), demote_words(d, third, fourth));
            hn::StoreU(put_in_order<L>(packed), typename L::Bytes(), bytes + i);
            if (HWY_UNLIKELY(scaling_.is_tie(fraction))) mend_ties(from, i, bytes + i);
        }
    }

    // Of a vector of bytes, whose sums are the first at this place of the row, those that may lie
    // on the other side of the middle between two integers.
    HWY_NOINLINE void mend_ties(const int32_t* sums, int64_t place, uint8_t* bytes) const
    {
        HWY_ALIGN int32_t fractions[kLanes];
        for (int64_t i = 0; i < L::kWidth; i += kLanes) {
            auto fraction = scaling_.no_fraction();
            scale(sums + i, scales_ + ((place + i) & (period_ - 1)), &fraction);
            if (!scaling_.is_tie(fraction)) continue;
            hn::Store(fraction, typename L::Integers(), fractions);
            for (int64_t j = i; j < i + kLanes; ++j)
                if (fractions[j - i] <= scaling_.kMostTie)
                    requantize_exactly(range_, sums + j,
                                       panel_.multipliers() + ((place + j) & (panel_.width - 1)), 1,
                                       bytes + j);
        }
    }
#endif

    const ByteRange& range_;
    const BytePanel& panel_;
#if HWY_TARGET != HWY_SCALAR
    int64_t period_;  // after which columns come again in the row
    ByteScaling<L> scaling_;
    HWY_ALIGN float scales_[kMostTileColumns];
#endif
};

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TENGINE_CPU_BYTE_STORE
