// SPDX-License-Identifier: Apache-2.0
// The parts of products with weights of 4 or 8 bits in fp32, and the bytes of an input, see
// nbits_product.h.
//
// An element of a word is cut out with a mask where it is, which makes a multiple of a power of two
// of it, and the input is divided by that before: with the conversion and the multiply-add three
// instructions for a vector of elements. Words are shifted by half, so that no factor is below
// 2^-12. Zero points are taken off the sums of blocks.
// Limits: these instructions; with few rows the bandwidth of the memory.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "device/cpu/kernel/matmul/nbits_product.h"
#include "device/cpu/kernel/vector/fixed_vectors.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/matmul/nbits_product_impl.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

constexpr int64_t kMostBlock = 256;

using Floats = hn::CappedTag<float, kNbitsColumns>;
using Words = hn::Rebind<uint32_t, Floats>;
using Integers = hn::Rebind<int32_t, Floats>;
using Vector = hn::Vec<Floats>;
using WordVector = hn::Vec<Words>;

HWY_INLINE int64_t count_lanes()
{
    return static_cast<int64_t>(hn::Lanes(Floats()));
}

// The values are below 2^31.
HWY_INLINE Vector convert(WordVector words)
{
    return hn::ConvertTo(Floats(), hn::BitCast(Integers(), words));
}

// Returns `count` floats, followed by zeros up to `length`.
HWY_INLINE const float* fill_up(const float* values, int64_t count, int64_t length, float* room)
{
    if (count >= length) return values;
    std::copy_n(values, count, room);
    std::fill(room + count, room + length, 0.0f);
    return room;
}

// Quantises a block of a row to int8 and returns the sum of its bytes. The scale of a block with a
// NaN is one.
HWY_INLINE int32_t quantize_block(const float* values, int64_t size, float* scale, int8_t* bytes)
{
    const Floats d;
    const Integers di;
    auto largest = hn::Zero(di);
    for (int64_t i = 0; i < size; i += count_lanes()) {
        const auto bits = hn::BitCast(di, hn::Abs(hn::LoadU(d, values + i)));
        largest = hn::Max(largest, bits);
    }
    const int32_t bits = hn::GetLane(hn::MaxOfLanes(di, largest));
    float magnitude;
    std::memcpy(&magnitude, &bits, sizeof(magnitude));
    // A smaller magnitude would have no finite reciprocal, and counts as 0.
    constexpr float kLeast = 0x1p-120f;
    *scale = magnitude < kLeast ? 0 : magnitude / 127;
    const Vector factor = hn::Set(d, magnitude < kLeast ? 0 : 127 / magnitude);
    const hn::Rebind<int8_t, Floats> db;
    auto sum = hn::Zero(di);
    for (int64_t i = 0; i < size; i += count_lanes()) {
        const auto rounded = hn::NearestInt(hn::Mul(hn::LoadU(d, values + i), factor));
        sum = hn::Add(sum, rounded);
        hn::StoreU(hn::DemoteTo(db, rounded), db, bytes + i);
    }
    return hn::GetLane(hn::SumOfLanes(di, sum));
}

void quantize_rows(const NbitsQuantized& to, int64_t rows)
{
    float room[kMostBlock];
    int8_t bytes[kMostBlock];
    for (int64_t row = 0; row < rows; ++row) {
        for (int64_t block = 0; block < to.block_num; ++block) {
            const int64_t first = block * to.block_size;
            const float* values =
                fill_up(to.input + row * to.depth + first, to.depth - first, to.block_size, room);
            const int64_t at = block * rows + row;
            const int32_t sum = quantize_block(values, to.block_size, &to.scales[at], bytes);
            // The negation is modulo 2^32: when a value is not finite, the sum may be any number.
            to.sums[at] = static_cast<int32_t>(static_cast<uint32_t>(-to.zero_point) *
                                               static_cast<uint32_t>(sum));
            int8_t* words = to.values + first * rows + 4 * row;
            for (int64_t i = 0; i < to.block_size; i += 4)
                std::memcpy(words + i * rows, bytes + i, 4);
        }
    }
}

// The order of eight elements of 4 bits by their place in a word, and the factor that makes up for
// the place.
constexpr int kPlaces[8] = {0, 4, 1, 5, 2, 6, 3, 7};
constexpr float kPlaceFactors[4] = {1, 0x1p-4f, 0x1p-8f, 0x1p-12f};

void arrange_row(const float* input, int64_t depth, int64_t block_size, int64_t block_num, int bits,
                 float zero_point, float* values, float* sums)
{
    float room[kMostBlock];
    for (int64_t block = 0; block < block_num; ++block, values += block_size) {
        const int64_t first = block * block_size;
        const float* from = fill_up(input + first, depth - first, block_size, room);
        double sum = 0;
        for (int64_t i = 0; i < block_size; ++i)
            sum += from[i];
        sums[block] = static_cast<float>(-sum * zero_point);
        if (bits == 8) {
            std::copy_n(from, block_size, values);
            continue;
        }
        for (int64_t i = 0; i < block_size; i += 8)
            for (int place = 0; place < 8; ++place)
                values[i + place] = from[i + kPlaces[place]] * kPlaceFactors[place % 4];
    }
}

// Returns the accumulators of a row of a block that hide the latency of a multiply-add.
constexpr int count_chains(int rows)
{
    return rows == 1 ? 4 : 2;
}

template <int kRows>
struct FloatSums
{
    static constexpr int kChains = count_chains(kRows);
    Vector sums[kRows][kChains];

    HWY_INLINE FloatSums() {}
    // `step` floats from a row of the input to the next.
    template <int kChain>
    HWY_INLINE void add(WordVector words, const float* input, int64_t step)
    {
        const Vector weights = convert(words);
        for (int row = 0; row < kRows; ++row) {
            Vector& sum = sums[row][kChain % kChains];
            sum = hn::MulAdd(weights, hn::Set(Floats(), input[row * step]), sum);
        }
    }
};

// Computes the products of a line: eight elements of 4 bits, or four of 8.
template <int kBits, int kRows>
HWY_INLINE void add_line(const uint32_t* line, const float* input, int64_t step,
                         FloatSums<kRows>* sums)
{
    const Words d;
    const WordVector low = hn::LoadU(d, line);
    if constexpr (kBits == 8) {
        const WordVector mask = hn::Set(d, 0xffu);
        sums->template add<0>(hn::And(low, mask), input, step);
        sums->template add<1>(hn::And(hn::ShiftRight<8>(low), mask), input + 1, step);
        sums->template add<2>(hn::And(hn::ShiftRight<16>(low), mask), input + 2, step);
        sums->template add<3>(hn::ShiftRight<24>(low), input + 3, step);
    } else {
        const WordVector high = hn::ShiftRight<16>(low);
        const WordVector masks[4] = {hn::Set(d, 0xfu), hn::Set(d, 0xf0u), hn::Set(d, 0xf00u),
                                     hn::Set(d, 0xf000u)};
        sums->template add<0>(hn::And(low, masks[0]), input, step);
        sums->template add<1>(hn::And(low, masks[1]), input + 1, step);
        sums->template add<2>(hn::And(low, masks[2]), input + 2, step);
        sums->template add<3>(hn::And(low, masks[3]), input + 3, step);
        sums->template add<0>(hn::And(high, masks[0]), input + 4, step);
        sums->template add<1>(hn::And(high, masks[1]), input + 5, step);
        sums->template add<2>(hn::And(high, masks[2]), input + 6, step);
        sums->template add<3>(hn::And(high, masks[3]), input + 7, step);
    }
}

// Loads the zero points of a vector of columns.
HWY_INLINE Vector load_zero_points(const uint8_t* zero_points)
{
    const hn::Rebind<uint8_t, Floats> db;
    return convert(hn::PromoteTo(Words(), hn::LoadU(db, zero_points)));
}

// Computes the columns of a vector, from `column` on.
template <int kBits, int kRows>
HWY_INLINE void multiply_columns(const NbitsPanel& panel, const NbitsFloats& input, int64_t column,
                                 float* sums)
{
    const Floats d;
    constexpr int64_t kLineElements = kBits == 4 ? 8 : 4;
    const int64_t step = panel.block_num * panel.lines * kLineElements;
    const char* at = panel.blocks + column * int64_t{sizeof(float)};
    const float* values = input.values;
    Vector total[kRows];
    for (int row = 0; row < kRows; ++row)
        total[row] = hn::Zero(d);
    for (int64_t block = 0; block < panel.block_num; ++block) {
        const Vector scale = hn::LoadU(d, reinterpret_cast<const float*>(at));
        at += kNbitsLine;
        FloatSums<kRows> part;
        for (int row = 0; row < kRows; ++row) {
            const Vector start = hn::Set(d, input.sums[row * panel.block_num + block]);
            part.sums[row][0] =
                panel.zero_points
                    ? hn::Mul(load_zero_points(panel.zero_points + block * kNbitsColumns + column),
                              start)
                    : start;
            for (int chain = 1; chain < FloatSums<kRows>::kChains; ++chain)
                part.sums[row][chain] = hn::Zero(d);
        }
        for (int64_t line = 0; line < panel.lines; ++line, at += kNbitsLine) {
            add_line<kBits, kRows>(reinterpret_cast<const uint32_t*>(at), values, step, &part);
            values += kLineElements;
        }
        for (int row = 0; row < kRows; ++row) {
            Vector sum = hn::Add(part.sums[row][0], part.sums[row][1]);
            if constexpr (FloatSums<kRows>::kChains == 4)
                sum = hn::Add(sum, hn::Add(part.sums[row][2], part.sums[row][3]));
            total[row] = hn::MulAdd(sum, scale, total[row]);
        }
    }
    for (int row = 0; row < kRows; ++row)
        hn::StoreU(total[row], d, sums + row * kNbitsColumns + column);
}

template <int kBits, int kRows>
void multiply_panel(const NbitsPanel& panel, const NbitsFloats& input, float* sums)
{
    for (int64_t column = 0; column < kNbitsColumns; column += count_lanes())
        multiply_columns<kBits, kRows>(panel, input, column, sums);
}

void multiply_floats(const NbitsPanel& panel, const NbitsFloats& input, int bits, int64_t rows,
                     float* sums)
{
    using MultiplyPanel = void (*)(const NbitsPanel&, const NbitsFloats&, float*);
    static constexpr MultiplyPanel kPanels[2][kNbitsFewRows] = {
        {multiply_panel<4, 1>, multiply_panel<4, 2>, multiply_panel<4, 3>, multiply_panel<4, 4>},
        {multiply_panel<8, 1>, multiply_panel<8, 2>, multiply_panel<8, 3>, multiply_panel<8, 4>}};
    kPanels[bits == 8][rows - 1](panel, input, sums);
}

// Converts elements of a block, for a vector of columns: less their zero points, times their
// scales.
template <int kBits>
HWY_INLINE void dequantize_block(const char* at, int64_t lines, Vector zero_point, int64_t width,
                                 float* values)
{
    const Floats d;
    const Words dw;
    const Vector scale = hn::LoadU(d, reinterpret_cast<const float*>(at));
    const WordVector mask = hn::Set(dw, kBits == 4 ? 0xfu : 0xffu);
    const auto store = [&](WordVector words, int64_t element) {
        const Vector value = hn::Sub(convert(hn::And(words, mask)), zero_point);
        hn::StoreU(hn::Mul(value, scale), d, values + element * width);
    };
    for (int64_t line = 0; line < lines; ++line) {
        at += kNbitsLine;
        const WordVector words = hn::LoadU(dw, reinterpret_cast<const uint32_t*>(at));
        if constexpr (kBits == 8) {
            store(words, 0);
            store(hn::ShiftRight<8>(words), 1);
            store(hn::ShiftRight<16>(words), 2);
            store(hn::ShiftRight<24>(words), 3);
            values += 4 * width;
        } else {
            store(words, 0);
            store(hn::ShiftRight<8>(words), 1);
            store(hn::ShiftRight<16>(words), 2);
            store(hn::ShiftRight<24>(words), 3);
            store(hn::ShiftRight<4>(words), 4);
            store(hn::ShiftRight<12>(words), 5);
            store(hn::ShiftRight<20>(words), 6);
            store(hn::ShiftRight<28>(words), 7);
            values += 8 * width;
        }
    }
}

void dequantize(const NbitsSegment& segment, int bits, float* values)
{
    const int64_t lines = segment.panel.lines, step = kNbitsLine * (1 + lines);
    const int64_t block_size = lines * (bits == 4 ? 8 : 4);
    for (int64_t i = 0; i < segment.width; i += count_lanes()) {
        const int64_t column = segment.column + i;
        const int64_t panel = column / kNbitsColumns, lane = column % kNbitsColumns;
        const char* at = segment.panel.blocks + panel * segment.panel_step + segment.first * step +
                         lane * int64_t{sizeof(float)};
        const uint8_t* zero_points = segment.panel.zero_points;
        if (zero_points)
            zero_points += panel * segment.zero_point_step + segment.first * kNbitsColumns + lane;
        Vector zero_point = hn::Set(Floats(), bits == 4 ? 8.0f : 128.0f);
        for (int64_t block = 0; block < segment.count; ++block, at += step) {
            if (zero_points) zero_point = load_zero_points(zero_points + block * kNbitsColumns);
            float* to = values + block * block_size * segment.width + i;
            if (bits == 4)
                dequantize_block<4>(at, lines, zero_point, segment.width, to);
            else
                dequantize_block<8>(at, lines, zero_point, segment.width, to);
        }
    }
}

}  // namespace
}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(quantize_rows);
HWY_EXPORT(arrange_row);
HWY_EXPORT(multiply_floats);
HWY_EXPORT(dequantize);

}  // namespace

void quantize_nbits_rows(const NbitsQuantized& to, int64_t rows)
{
    HWY_DYNAMIC_DISPATCH(quantize_rows)(to, rows);
}

void arrange_nbits_row(const float* input, int64_t depth, int64_t block_size, int64_t block_num,
                       int bits, float zero_point, float* values, float* sums)
{
    HWY_DYNAMIC_DISPATCH(arrange_row)
    (input, depth, block_size, block_num, bits, zero_point, values, sums);
}

void multiply_nbits_floats(const NbitsPanel& panel, const NbitsFloats& input, int bits,
                           int64_t rows, float* sums)
{
    HWY_DYNAMIC_DISPATCH(multiply_floats)(panel, input, bits, rows, sums);
}

void dequantize_nbits(const NbitsSegment& segment, int bits, float* values)
{
    HWY_DYNAMIC_DISPATCH(dequantize)(segment, bits, values);
}

}  // namespace tengine::cpu
#endif  // HWY_ONCE
