// SPDX-License-Identifier: Apache-2.0
// QLinearConv as a product of bytes (quantized_conv.h), for processors with instructions for it
// (byte_product.h). qlinear_conv.cc is for the others.
//
// Bytes are packed as they are, unsigned ones with their highest bit flipped, which makes int8 of
// them and takes 128 off their zero point. With x and w what is packed, X and W their zero points,
// a sum of n centred products is
//     sum (x - X) (w - W) = sum x w - X sum w - W sum x + n X W .
// The sums of weights are found when these are packed, those of positions for each tile, but only
// where a W is not 0. All is computed modulo 2^32; the result fits an int32.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <type_traits>

#include "base/cpu.h"
#include "device/cpu/kernel/byte_product.h"
#include "device/cpu/kernel/quantized_conv.h"

#ifdef __ARM_NEON
#include <arm_neon.h>

namespace tengine::cpu {
namespace {

constexpr int kRows = QuantizedConv::kRows;
static_assert(kRows == kByteRows && kPositionUnit % kByteColumns == 0);

// What makes an int8 of a byte of type T, and what this takes off.
template <class T>
constexpr uint8_t kFlip = std::is_signed_v<T> ? 0 : 0x80;

// Before the weights of a panel: of each channel, the sum and the zero point of what is packed.
struct PanelHeader
{
    uint32_t sums[kRows];
    int32_t zeros[kRows];
};

// kGroup rows of sixteen positions, transposed.
template <int64_t kGroup>
void interleave(const uint8_t* const* rows, int64_t columns, uint8_t flip, uint8_t* packed)
{
    if (columns == kByteColumns && std::find(rows, rows + kGroup, nullptr) == rows + kGroup) {
        uint8_t quads[kGroup / 4][4 * kByteColumns];
        for (int64_t i = 0; i < kGroup / 4; ++i) {
            const uint8x16_t flips = vdupq_n_u8(flip);
            uint8x16x4_t four;
            for (int64_t j = 0; j < 4; ++j)
                four.val[j] = veorq_u8(vld1q_u8(rows[4 * i + j]), flips);
            vst4q_u8(kGroup == 4 ? packed : quads[i], four);
        }
        if constexpr (kGroup == 8) {
            for (int64_t i = 0; i < 4; ++i) {
                const uint32x4x2_t two = {vreinterpretq_u32_u8(vld1q_u8(quads[0] + 16 * i)),
                                          vreinterpretq_u32_u8(vld1q_u8(quads[1] + 16 * i))};
                vst2q_u32(reinterpret_cast<uint32_t*>(packed) + 8 * i, two);
            }
        }
        return;
    }
    std::memset(packed, 0, kGroup * kByteColumns);
    for (int64_t j = 0; j < kGroup; ++j)
        for (int64_t i = 0; rows[j] && i < columns; ++i)
            packed[kGroup * i + j] = rows[j][i] ^ flip;
}

template <int64_t kGroupSize, const ByteProduct& kProduct>
struct Bytes
{
    static constexpr int64_t kGroup = kGroupSize;
    static constexpr int64_t kGroupBytes = kGroup;
    static constexpr int64_t kHeaderBytes = sizeof(PanelHeader);

    static bool accepts(const node& node)
    {
        return kProduct.multiply && (get_cpu_features() & kProduct.features) == kProduct.features &&
               QuantizedConvKernel<Bytes>::accepts(node);
    }

    static int64_t count_lanes() { return kByteColumns; }

    template <class W>
    static void pack_channel(const W* w, int64_t depth, int64_t steps, int zero, int row,
                             char* panel)
    {
        PanelHeader& header = *reinterpret_cast<PanelHeader*>(panel);
        header.sums[row] = 0;
        header.zeros[row] = w ? zero - kFlip<W> : 0;
        auto* packed = reinterpret_cast<int8_t*>(panel + kHeaderBytes) + row * kGroup;
        for (int64_t k = 0; k < steps * kGroup; ++k) {
            int8_t& at = packed[k / kGroup * kGroup * kRows + k % kGroup];
            at = w && k < depth ? static_cast<int8_t>(w[k] ^ kFlip<W>) : int8_t{0};
            header.sums[row] += static_cast<uint32_t>(at);
        }
    }

    template <class X>
    static void pack_group(const X* const* rows, int, int64_t columns, int64_t step, char* packed)
    {
        for (int64_t begin = 0; begin < columns; begin += kByteColumns, packed += step) {
            const uint8_t* at[kGroup];
            for (int64_t i = 0; i < kGroup; ++i)
                at[i] = rows[i] ? reinterpret_cast<const uint8_t*>(rows[i] + begin) : nullptr;
            interleave<kGroup>(at, std::min<int64_t>(kByteColumns, columns - begin), kFlip<X>,
                               reinterpret_cast<uint8_t*>(packed));
        }
    }

    static void multiply(const char* panel, const char* packed, int64_t steps, int64_t vectors,
                         int64_t stride, int32_t* sums)
    {
        kProduct.multiply(reinterpret_cast<const int8_t*>(panel + kHeaderBytes),
                          reinterpret_cast<const int8_t*>(packed), steps, vectors, stride, sums);
    }

    static bool needs_column_sums(const char* panel)
    {
        const auto& zeros = reinterpret_cast<const PanelHeader*>(panel)->zeros;
        return std::any_of(std::begin(zeros), std::end(zeros), [](int zero) { return zero != 0; });
    }

    static void sum_columns(const char* packed, int64_t steps, int64_t columns, int32_t* sums)
    {
        std::fill_n(sums, columns, 0);
        const auto* bytes = reinterpret_cast<const int8_t*>(packed);
        for (int64_t begin = 0; begin < columns; begin += kByteColumns)
            for (int64_t k = 0; k < steps; ++k, bytes += kGroup * kByteColumns)
                for (int64_t i = 0; i < std::min<int64_t>(kByteColumns, columns - begin); ++i)
                    for (int64_t j = 0; j < kGroup; ++j)
                        sums[begin + i] += bytes[kGroup * i + j];
    }

    template <class X>
    static void centre(const char* panel, int row, int64_t depth, int x_zero,
                       const int32_t* column_sums, int64_t columns, int32_t* sums)
    {
        const PanelHeader& header = *reinterpret_cast<const PanelHeader*>(panel);
        const uint32_t x = static_cast<uint32_t>(x_zero - kFlip<X>);
        const uint32_t w = static_cast<uint32_t>(header.zeros[row]);
        const uint32_t added = x * (static_cast<uint32_t>(depth) * w - header.sums[row]);
        for (int64_t i = 0; i < columns; ++i) {
            const uint32_t column = w ? w * static_cast<uint32_t>(column_sums[i]) : 0;
            sums[i] = static_cast<int32_t>(static_cast<uint32_t>(sums[i]) + added - column);
        }
    }
};

using I8mm = Bytes<8, i8mm_product>;
using Dotprod = Bytes<4, dotprod_product>;
using I8mmKernel = QuantizedConvKernel<I8mm>;
using DotprodKernel = QuantizedConvKernel<Dotprod>;

constexpr Kernel rows[] = {
    {"QLinearConv", "conv.im2col_i8mm", I8mm::accepts, I8mmKernel::run, I8mmKernel::prepare},
    {"QLinearConv", "conv.im2col_dotprod", Dotprod::accepts, DotprodKernel::run,
     DotprodKernel::prepare},
};

}  // namespace

extern const KernelTable conv_bytes_kernels;
const KernelTable conv_bytes_kernels = make_table<rows>();

}  // namespace tengine::cpu
#else
namespace tengine::cpu {

extern const KernelTable conv_bytes_kernels;
const KernelTable conv_bytes_kernels = {nullptr, 0};

}  // namespace tengine::cpu
#endif  // __ARM_NEON
