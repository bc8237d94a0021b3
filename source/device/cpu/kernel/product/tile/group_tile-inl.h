// SPDX-License-Identifier: Apache-2.0
// The tile of group_tile.h. Weights are the vectors; each group of the input is read in place and
// broadcast to all lanes. To be included inside of a namespace of the instruction set's own, for
// its
//     struct Set
//     {
//         using Operand, Input, Sum;             // vectors: of weights, of input, of accumulators
//         static constexpr int64_t kVectorBytes;  // of weights
//         static constexpr int kRows;             // of the highest tile
//         static constexpr bool kHasHalves;       // which are two in a group
//         static Operand load(const char* weights);
//         static Input spread(const char* group, uint32_t flip);
//         static Sum start(const int32_t* values);
//         static void add(Input input, Operand weights, Sum& sum);
//         static void store(const Sum& sum, int32_t* values);
//         static int64_t lanes();
//     };
// with halves, whose last may have none beside it (infinity times 0 would be NaN), also
//         static Input spread_half(const char* half);  // and 0
// Where an instruction takes the group out of any quarter of a vector, so that one load of a row is
// for four groups, TENGINE_CPU_TILE_QUARTERS is defined, and Set has
//         static constexpr bool kFlips;  // some inputs
//         static Input load_inputs(const char* groups);
//         static Input flip(Input input);  // if so
//         template <int kQuarter>
//         static void add_quarter(Input input, Operand weights, Sum& sum);
// Where TENGINE_CPU_TILE_ROUNDS is defined, the format rounds, and Set has
//         struct Results
//         {
//             explicit Results(const Float16Results& results);
//             void take(const Sum& sum, int64_t row) const;
//             void take(const Sum& x, const Sum& y, int64_t row) const;
//         };
// Where TENGINE_CPU_TILE_KEEPS is, it has
//         static constexpr bool kKeeps;  // what it loads, at GroupTile::kept
//         static void keep(Operand weights, float* to);  // if so

// clang-format off
#if defined(TENGINE_CPU_GROUP_TILE) == defined(HWY_TARGET_TOGGLE)
#ifdef TENGINE_CPU_GROUP_TILE
#undef TENGINE_CPU_GROUP_TILE
#else
#define TENGINE_CPU_GROUP_TILE
#endif
// clang-format on

#define TENGINE_INLINE inline __attribute__((always_inline))

// The addresses of rows 0, 1, ... of a tile. Three rows share a pointer: x86 addresses the second
// and third by the step, so that fourteen rows take six registers.
struct Int8RowsAt
{
    const char *p0, *p3, *p6, *p9, *p12;
    int64_t step;

    template <int kRow>
    TENGINE_INLINE const char* at() const
    {
        constexpr int kFrom = kRow / 3;
        const char* from = kFrom == 0   ? p0
                           : kFrom == 1 ? p3
                           : kFrom == 2 ? p6
                           : kFrom == 3 ? p9
                                        : p12;
        return from + kRow % 3 * step;
    }

    // Hides from the compiler that the pointers are steps apart: it would keep one for each row,
    // and has no registers for them.
    template <int kRows>
    TENGINE_INLINE void advance(int64_t bytes)
    {
        move(p0, bytes);
        if constexpr (kRows > 3) move(p3, bytes);
        if constexpr (kRows > 6) move(p6, bytes);
        if constexpr (kRows > 9) move(p9, bytes);
        if constexpr (kRows > 12) move(p12, bytes);
    }

    static TENGINE_INLINE void move(const char*& pointer, int64_t bytes)
    {
        pointer += bytes;
        __asm__("" : "+r"(pointer));
    }
};

// Where TENGINE_CPU_TILE_AHEAD is defined, weights that come from memory, not from a cache, are
// prefetched between the products before: the processor's own prefetch is too late.
struct Int8Prefetch
{
    const char* at;
    int64_t step;

    TENGINE_INLINE explicit Int8Prefetch(const GroupTile& tile)
        : at(tile.ahead ? tile.ahead : tile.weights), step(tile.ahead ? tile.ahead_step : 0)
    {
    }
    TENGINE_INLINE void ask()
    {
#ifdef TENGINE_CPU_TILE_AHEAD
        __builtin_prefetch(at, 0, 2);
        at += step;
#endif
    }
};

// Where the next weights are, and where those that are widened are kept.
template <class Set>
struct Int8WeightsAt
{
    const char* at;
#ifdef TENGINE_CPU_TILE_KEEPS
    static constexpr bool kKeeps = Set::kKeeps;
#else
    static constexpr bool kKeeps = false;
#endif
    float* kept;

    TENGINE_INLINE explicit Int8WeightsAt(const GroupTile& tile) : at(tile.weights), kept(tile.kept)
    {
    }
    TENGINE_INLINE typename Set::Operand load()
    {
        const typename Set::Operand weights = Set::load(at);
        at += Set::kVectorBytes;
        if constexpr (kKeeps) {
            Set::keep(weights, kept);
            kept += Set::lanes();
        }
        return weights;
    }
};

#ifdef TENGINE_CPU_TILE_QUARTERS
// Four groups of each of kRows rows.
template <class Set, bool kFlips, int kRows>
struct Int8Quarters
{
    Int8Quarters<Set, kFlips, kRows - 1> before;
    typename Set::Input last;

    TENGINE_INLINE Int8Quarters() {}
    TENGINE_INLINE void load(const Int8RowsAt& rows)
    {
        before.load(rows);
        load_last(rows);
    }
    TENGINE_INLINE void load_last(const Int8RowsAt& rows)
    {
        last = Set::load_inputs(rows.template at<kRows - 1>());
    }
};

template <class Set, bool kFlips>
struct Int8Quarters<Set, kFlips, 0>
{
    TENGINE_INLINE Int8Quarters() {}
    TENGINE_INLINE void load(const Int8RowsAt&) {}
};

// The weights of a group, and of the next.
template <class Set>
struct Int8Weights
{
    typename Set::Operand x, y, next_x, next_y;
    const char* next;

    TENGINE_INLINE Int8Weights() {}
    TENGINE_INLINE void advance(int64_t bytes)
    {
        x = next_x;
        y = next_y;
        next += bytes;
    }
};
#endif

// The accumulators of kRows rows; x and y are those of the last.
template <class Set, int kRows, int kVectors>
struct GroupSums
{
    GroupSums<Set, kRows - 1, kVectors> before;
    typename Set::Sum x, y;

    TENGINE_INLINE GroupSums() {}
    TENGINE_INLINE void start(const int32_t* values, int64_t step)
    {
        before.start(values, step);
        values += (kRows - 1) * step;
        x = Set::start(values);
        if constexpr (kVectors > 1) y = Set::start(values + Set::lanes());
    }
    template <bool kIsHalf>
    TENGINE_INLINE void add(const Int8RowsAt& rows, uint32_t flip, typename Set::Operand weights_x,
                            typename Set::Operand weights_y)
    {
        before.template add<kIsHalf>(rows, flip, weights_x, weights_y);
        const typename Set::Input input = spread<kIsHalf>(rows.template at<kRows - 1>(), flip);
        Set::add(input, weights_x, x);
        if constexpr (kVectors > 1) Set::add(input, weights_y, y);
    }
#ifdef TENGINE_CPU_TILE_QUARTERS
    // The next operands are loaded as soon as registers are free, between the products: in-order
    // processors do not wait for them then.
    template <int kQuarter, bool kFlips>
    TENGINE_INLINE void add_quarter(Int8Quarters<Set, kFlips, kRows>& inputs,
                                    const Int8RowsAt& next, Int8Weights<Set>& weights)
    {
        before.template add_quarter<kQuarter>(inputs.before, next, weights);
        if constexpr (kFlips && kQuarter == 0) inputs.last = Set::flip(inputs.last);
        Set::template add_quarter<kQuarter>(inputs.last, weights.x, x);
        if constexpr (kRows == 1) weights.next_x = Set::load(weights.next);
        if constexpr (kVectors > 1) Set::template add_quarter<kQuarter>(inputs.last, weights.y, y);
        if constexpr (kRows == 1 && kVectors > 1)
            weights.next_y = Set::load(weights.next + Set::kVectorBytes);
        if constexpr (kQuarter == 3) inputs.load_last(next);
    }
#endif
    TENGINE_INLINE void store(int32_t* values, int64_t step) const
    {
        before.store(values, step);
        values += (kRows - 1) * step;
        Set::store(x, values);
        if constexpr (kVectors > 1) Set::store(y, values + Set::lanes());
    }
#ifdef TENGINE_CPU_TILE_ROUNDS
    TENGINE_INLINE void round(const typename Set::Results& results) const
    {
        before.round(results);
        if constexpr (kVectors > 1)
            results.take(x, y, kRows - 1);
        else
            results.take(x, kRows - 1);
    }
#endif

  private:
    template <bool kIsHalf>
    static TENGINE_INLINE typename Set::Input spread(const char* group, uint32_t flip)
    {
        if constexpr (kIsHalf)
            return Set::spread_half(group);
        else
            return Set::spread(group, flip);
    }
};

template <class Set, int kVectors>
struct GroupSums<Set, 0, kVectors>
{
    TENGINE_INLINE GroupSums() {}
    TENGINE_INLINE void start(const int32_t*, int64_t) {}
    template <bool kIsHalf>
    TENGINE_INLINE void add(const Int8RowsAt&, uint32_t, typename Set::Operand,
                            typename Set::Operand)
    {
    }
#ifdef TENGINE_CPU_TILE_QUARTERS
    template <int kQuarter, bool kFlips>
    TENGINE_INLINE void add_quarter(Int8Quarters<Set, kFlips, 0>&, const Int8RowsAt&,
                                    Int8Weights<Set>&)
    {
    }
#endif
    TENGINE_INLINE void store(int32_t*, int64_t) const {}
#ifdef TENGINE_CPU_TILE_ROUNDS
    TENGINE_INLINE void round(const typename Set::Results&) const {}
#endif
};

constexpr int64_t kGroupBytes = 4;

#ifdef TENGINE_CPU_TILE_QUARTERS
// Adds four groups, `times` times. The next operands are loaded early; the last time they are
// operands that have been loaded already.
template <class Set, bool kFlips, int kRows, int kVectors>
TENGINE_INLINE void add_four_groups(Int8RowsAt& rows, int64_t times, const char*& weights,
                                    GroupSums<Set, kRows, kVectors>& sums)
{
    constexpr int64_t kStep = kVectors * Set::kVectorBytes;
    Int8Quarters<Set, kFlips, kRows> inputs;
    inputs.load(rows);
    Int8Weights<Set> read;
    read.next_x = Set::load(weights);
    read.next_y = Set::load(weights + (kVectors - 1) * Set::kVectorBytes);
    read.next = weights;
    while (times > 0) {
        read.advance(kStep);
        sums.template add_quarter<0>(inputs, rows, read);
        --times;
        int64_t more = times > 0;
        __asm__ volatile("" : "+r"(more));  // found here, where nothing waits for it
        read.advance(kStep);
        sums.template add_quarter<1>(inputs, rows, read);
        read.advance(kStep);
        sums.template add_quarter<2>(inputs, rows, read);
        rows.template advance<kRows>(more * 4 * kGroupBytes);
        read.advance(more * kStep);
        sums.template add_quarter<3>(inputs, rows, read);
    }
    rows.template advance<kRows>(4 * kGroupBytes);
    weights = read.next + kStep;
}
#endif

template <bool kIsHalf, class Set, int kRows, int kVectors>
TENGINE_INLINE void add_group(Int8RowsAt& rows, uint32_t flip, Int8WeightsAt<Set>& weights,
                              GroupSums<Set, kRows, kVectors>& sums)
{
    const typename Set::Operand x = weights.load();
    const typename Set::Operand y = kVectors > 1 ? weights.load() : x;
    sums.template add<kIsHalf>(rows, flip, x, y);
    rows.template advance<kRows>(kGroupBytes);
}

template <class Set, int kRows, int kVectors>
TENGINE_INLINE void add_groups(Int8RowsAt& rows, int64_t groups, uint32_t flip,
                               Int8WeightsAt<Set>& weights, Int8Prefetch& ahead,
                               GroupSums<Set, kRows, kVectors>& sums)
{
#ifdef TENGINE_CPU_TILE_QUARTERS
    const int64_t times = Int8WeightsAt<Set>::kKeeps ? 0 : groups / 4;
    groups -= 4 * times;
    if (times > 0 && (!Set::kFlips || flip == 0))
        add_four_groups<Set, false>(rows, times, weights.at, sums);
    else if (times > 0)
        add_four_groups<Set, Set::kFlips>(rows, times, weights.at, sums);
#endif
    for (; groups > 0; --groups) {
        ahead.ask();
        add_group<false>(rows, flip, weights, sums);
    }
}

template <class Set, int kRows, int kVectors>
__attribute__((noinline)) void multiply_byte_rows(const GroupTile& tile)
{
    GroupSums<Set, kRows, kVectors> sums;
    sums.start(tile.start, tile.start_step);
    Int8WeightsAt<Set> weights(tile);
    const int64_t step = tile.input_step;
    Int8Prefetch ahead(tile);
    for (int64_t i = 0; i < tile.segment_num; ++i) {
        const char* begin = tile.input + tile.segments[i];
        Int8RowsAt rows = {
            begin, begin + 3 * step, begin + 6 * step, begin + 9 * step, begin + 12 * step, step};
        add_groups(rows, tile.groups, tile.flip, weights, ahead, sums);
        if (tile.last_shift == 0) continue;
        if constexpr (Set::kHasHalves) {
            add_group<true>(rows, 0, weights, sums);
        } else {
            rows.template advance<kRows>(tile.last_shift);
            add_group<false>(rows, tile.flip, weights, sums);
        }
    }
#ifdef TENGINE_CPU_TILE_ROUNDS
    if (tile.results) return sums.round(typename Set::Results(*tile.results));
#endif
    sums.store(tile.sums, kVectors * Set::lanes());
}

template <class Set, int kRows = Set::kRows>
void multiply_group_tile(const GroupTile& tile, int64_t rows)
{
    if constexpr (kRows > 1)
        if (rows < kRows) return multiply_group_tile<Set, kRows - 1>(tile, rows);
    return tile.is_wide ? multiply_byte_rows<Set, kRows, 2>(tile)
                        : multiply_byte_rows<Set, kRows, 1>(tile);
}

#endif  // TENGINE_CPU_GROUP_TILE
