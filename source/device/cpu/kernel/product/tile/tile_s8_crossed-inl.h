// SPDX-License-Identifier: Apache-2.0
// The tile of group_tile-inl.h with crossed products, for pairs of int16: for two groups at once, x
// and x' of the input, y and y' of the weights,
//     (x + y') (x' + y) = x y + x' y' + x x' + y y',
// one product instead of two (S. Winograd, 1968). The sums of y y' belong to a column and are
// subtracted from its initial accumulators when weights are packed, those of x x' belong to a row
// (`GroupTile::compensation`). All is modulo 2^32. Numbers within 255, and so sums of two, leave
// room in an int16. For processors that have more units for sums than for products: of x86 with
// vectors of 256 bits four and two. To be included, after group_tile-inl.h, in a namespace of the
// instruction set's own, with hn, for a Set of Highway's vectors, in pixels_s8_impl.cc. Limits:
// eight sums and products of two groups and two vectors in four units, and the order in which these
// take them: a Zen 4 does 28 products a cycle, and 26 without crossing.
#pragma once

constexpr int kMostCrossedRows = 4;  // which with the weights take all sixteen registers

// The weights of two groups.
template <class Set>
struct CrossedWeights
{
    typename Set::Operand x, y, second_x, second_y;

    TENGINE_INLINE CrossedWeights() {}
};

template <class Set, int kRows, int kVectors>
TENGINE_INLINE void add_crossed(const Int8RowsAt& rows, const CrossedWeights<Set>& weights,
                                GroupSums<Set, kRows, kVectors>& sums)
{
    if constexpr (kRows > 1) add_crossed(rows, weights, sums.before);
    const char* at = rows.template at<kRows - 1>();
    const typename Set::Input first = Set::spread(at, 0);
    const typename Set::Input second = Set::spread(at + kGroupBytes, 0);
    Set::add(hn::Add(first, weights.second_x), hn::Add(second, weights.x), sums.x);
    if constexpr (kVectors > 1)
        Set::add(hn::Add(first, weights.second_y), hn::Add(second, weights.y), sums.y);
}

// For each row the same off all columns.
template <class Set, int kRows, int kVectors>
TENGINE_INLINE void take_off(const int32_t* compensation, GroupSums<Set, kRows, kVectors>& sums)
{
    if constexpr (kRows > 1) take_off(compensation, sums.before);
    const auto row = hn::Set(Integers(), compensation[kRows - 1]);
    sums.x = hn::Sub(sums.x, row);
    if constexpr (kVectors > 1) sums.y = hn::Sub(sums.y, row);
}

template <class Set, int kRows, int kVectors>
__attribute__((noinline)) void multiply_crossed_rows(const GroupTile& tile)
{
    GroupSums<Set, kRows, kVectors> sums;
    sums.start(tile.start, 0);
    take_off(tile.compensation, sums);
    Int8WeightsAt<Set> weights(tile);
    const int64_t step = tile.input_step;
    Int8Prefetch ahead(tile);
    for (int64_t i = 0; i < tile.segment_num; ++i) {
        const char* begin = tile.input + tile.segments[i];
        Int8RowsAt rows = {begin, begin + 3 * step, nullptr, nullptr, nullptr, step};
        for (int64_t twos = tile.groups / 2; twos > 0; --twos) {
            CrossedWeights<Set> both;
            both.x = weights.load();
            if constexpr (kVectors > 1) both.y = weights.load();
            both.second_x = weights.load();
            if constexpr (kVectors > 1) both.second_y = weights.load();
            ahead.ask();
            ahead.ask();
            add_crossed(rows, both, sums);
            rows.template advance<kRows>(2 * kGroupBytes);
        }
        add_groups(rows, tile.groups % 2, 0, weights, ahead, sums);
        if (tile.last_shift == 0) continue;
        rows.template advance<kRows>(tile.last_shift);
        add_group<false>(rows, 0, weights, sums);
    }
    sums.store(tile.sums, kVectors * Set::lanes());
}

template <class Set, int kRows = kMostCrossedRows>
void multiply_crossed_tile(const GroupTile& tile, int64_t rows)
{
    if constexpr (kRows > 1)
        if (rows < kRows) return multiply_crossed_tile<Set, kRows - 1>(tile, rows);
    return tile.is_wide ? multiply_crossed_rows<Set, kRows, 2>(tile)
                        : multiply_crossed_rows<Set, kRows, 1>(tile);
}

// The compensation for the crossed products of a row.
TENGINE_INLINE int32_t sum_compensation(const char* row, const int64_t* segments,
                                        int64_t segment_num, int64_t groups)
{
    const hn::Repartition<uint64_t, Integers> d;  // two groups each
    const hn::Repartition<int16_t, Integers> pairs;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    const int64_t twos = groups / 2;
    auto sum = hn::Zero(Integers()), none = hn::Zero(Integers());
    const auto add = [&](auto both) {
        sum =
            hn::ReorderWidenMulAccumulate(Integers(), hn::BitCast(pairs, both),
                                          hn::BitCast(pairs, hn::ShiftRight<32>(both)), sum, none);
    };
    for (int64_t segment = 0; segment < segment_num; ++segment) {
        const auto* from = reinterpret_cast<const uint64_t*>(row + segments[segment]);
        int64_t i = 0;
        for (; i + lanes <= twos; i += lanes)
            add(hn::LoadU(d, from + i));
        if (i < twos)
            add(hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(twos - i)), d, from + i));
    }
    return hn::GetLane(hn::SumOfLanes(Integers(), sum));
}

// The compensation for the pixels of a block.
TENGINE_INLINE void compute_compensation(const Int8Pixels& conv, const PixelBlock& block)
{
    const int64_t step = conv.input_step * conv.format.element_size;
    auto* to = reinterpret_cast<int32_t*>(block.scratch);
    for (int64_t line = 0; line < block.lines; ++line) {
        const char* row = block.input + line * block.line_step;
        for (int64_t pixel = 0; pixel < block.pixels; ++pixel, row += step)
            *to++ = sum_compensation(row, block.segments, conv.segment_num, conv.whole_groups());
    }
}
