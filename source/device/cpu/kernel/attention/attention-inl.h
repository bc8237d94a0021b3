// SPDX-License-Identifier: Apache-2.0
// The parts of an attention, for floats of any type: packing of a block of keys and values, and
// scores that become exponentials while the running maximum grows. Included once for each
// instruction set.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "device/cpu/kernel/attention/attention.h"
#include "device/cpu/kernel/product/pixels_f32.h"

// clang-format off
#if defined(TENGINE_CPU_ATTENTION_PARTS) == defined(HWY_TARGET_TOGGLE)
#ifdef TENGINE_CPU_ATTENTION_PARTS
#undef TENGINE_CPU_ATTENTION_PARTS
#else
#define TENGINE_CPU_ATTENTION_PARTS
#endif
// clang-format on

#include <hwy/highway.h>

#include "device/cpu/kernel/product/panel_copy-inl.h"
#include "device/cpu/kernel/vector/elements-inl.h"
#include "device/cpu/kernel/vector/function-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr float kLowest = -std::numeric_limits<float>::infinity();

HWY_INLINE int64_t count_lanes()
{
    return static_cast<int64_t>(hn::Lanes(Floats()));
}

// Packs `count` keys: panel after panel, and within it for each element of depth that of the
// panel's keys.
template <class T>
void pack_keys(const AttentionBlocks& blocks, const T* keys, int64_t count, float* packed)
{
    const HeadMatrices& key = blocks.key;
    const int64_t depth = blocks.depth;
    for (int64_t first = 0; first < count; first += blocks.panel_lanes) {
        const int64_t left = count - first;
        const int64_t width = find_panel_width(left, blocks.panel_lanes);
        const T* from = keys + first * key.row_step;
        float* panel = packed + first * depth;
        pack_lines_across(from, key.row_step, key.column_step, left, depth, width, panel);
    }
}

template <class T>
void pack_values(const AttentionBlocks& blocks, const T* values, int64_t count, float* packed)
{
    for (int64_t first = 0; first < blocks.width; first += blocks.panel_lanes) {
        const int64_t left = blocks.width - first;
        const int64_t width = find_panel_width(left, blocks.panel_lanes);
        const T* from = values + first;
        float* panel = packed + first * count;
        pack_lines(from, blocks.value.row_step, left, count, width, panel);
    }
}

// Multiplies one query by `count` keys in place.
template <class T>
void score_keys(const AttentionBlocks& blocks, const T* keys, int64_t count, const float* query,
                float* scores)
{
    constexpr int kAtOnce = 4;
    const Floats d;
    const int64_t step = blocks.key.row_step, depth = blocks.depth;
    for (int64_t first = 0; first < count; first += kAtOnce, keys += kAtOnce * step) {
        const int64_t last = count - first - 1;  // of the remaining keys
        const T *key0 = keys, *key1 = keys + std::min<int64_t>(last, 1) * step;
        const T* key2 = keys + std::min<int64_t>(last, 2) * step;
        const T* key3 = keys + std::min<int64_t>(last, 3) * step;
        Vector sum0 = hn::Zero(d), sum1 = sum0, sum2 = sum0, sum3 = sum0;
        for (int64_t k = 0; k < depth; k += count_lanes()) {
            const int64_t left = depth - k;
            const Vector factor = load_lanes(query + k, left);
            sum0 = hn::MulAdd(load_lanes(key0 + k, left), factor, sum0);
            sum1 = hn::MulAdd(load_lanes(key1 + k, left), factor, sum1);
            sum2 = hn::MulAdd(load_lanes(key2 + k, left), factor, sum2);
            sum3 = hn::MulAdd(load_lanes(key3 + k, left), factor, sum3);
        }
        const float sums[kAtOnce] = {
            hn::GetLane(hn::SumOfLanes(d, sum0)), hn::GetLane(hn::SumOfLanes(d, sum1)),
            hn::GetLane(hn::SumOfLanes(d, sum2)), hn::GetLane(hn::SumOfLanes(d, sum3))};
        std::copy_n(sums, std::min<int64_t>(last + 1, kAtOnce), scores + first);
    }
}

// Multiplies the exponentials of one query by `count` values in place, and adds the result so far
// unless `is_first`.
template <class T>
void mix_values(const AttentionBlocks& blocks, const T* values, int64_t count, const float* powers,
                bool is_first, float* result)
{
    const Floats d;
    const int64_t lanes = count_lanes(), step = blocks.value.row_step, width = blocks.width;
    for (int64_t j = 0; j < width; j += 4 * lanes) {
        const auto left = [&](int64_t vector) { return width - j - vector * lanes; };
        const auto start = [&](int64_t vector) HWY_ATTR {
            return is_first || left(vector) <= 0
                       ? hn::Zero(d)
                       : load_lanes(result + j + vector * lanes, left(vector));
        };
        Vector sum0 = start(0), sum1 = start(1), sum2 = start(2), sum3 = start(3);
        const T* from = values + j;
        for (int64_t i = 0; i < count; ++i, from += step) {
            const Vector power = hn::Set(d, powers[i]);
            const auto value = [&](int64_t vector) HWY_ATTR {
                return load_lanes(from + vector * lanes, left(vector));
            };
            sum0 = hn::MulAdd(power, value(0), sum0);
            if (left(1) > 0) sum1 = hn::MulAdd(power, value(1), sum1);
            if (left(2) > 0) sum2 = hn::MulAdd(power, value(2), sum2);
            if (left(3) > 0) sum3 = hn::MulAdd(power, value(3), sum3);
        }
        store_lanes(sum0, result + j, left(0));
        if (left(1) > 0) store_lanes(sum1, result + j + lanes, left(1));
        if (left(2) > 0) store_lanes(sum2, result + j + 2 * lanes, left(2));
        if (left(3) > 0) store_lanes(sum3, result + j + 3 * lanes, left(3));
    }
}

// Maps scores to -cap..cap.
HWY_INLINE void cap_scores(float cap, int64_t count, float* scores)
{
    const Floats d;
    const Vector caps = hn::Set(d, cap), factors = hn::Set(d, 1 / cap);
    const TanhFunction tanh(nullptr);
    for (int64_t i = 0; i < count; i += count_lanes())
        hn::StoreU(hn::Mul(caps, tanh(hn::Mul(hn::LoadU(d, scores + i), factors))), d, scores + i);
}

// Replaces the scores of keys that the query does not see by -infinity.
inline void hide_scores(const uint8_t* is_seen, int64_t count, float* scores)
{
    for (int64_t i = 0; i < count; ++i)
        scores[i] += is_seen[i] != 0 ? 0.0f : kLowest;
}

template <class From, class To>
HWY_INLINE void scale_row(const From* from, int64_t count, float factor, To* to)
{
    const Vector factors = hn::Set(Floats(), factor);
    for (int64_t i = 0; i < count; i += count_lanes())
        store_lanes(hn::Mul(load_lanes(from + i, count - i), factors), to + i, count - i);
}

// Adds the mask, if there is one, to the scores; scores beyond the last become -infinity. Returns
// the largest.
template <class T>
HWY_INLINE float mask_scores(const T* mask, int64_t count, float* scores)
{
    const Floats d;
    Vector largest = hn::Set(d, kLowest);
    for (int64_t i = 0; i < count; i += count_lanes()) {
        Vector score = hn::LoadU(d, scores + i);
        if (mask) score = hn::Add(score, load_lanes(mask + i, count - i));
        if (i + count_lanes() > count)
            score = hn::IfThenElse(hn::FirstN(d, static_cast<size_t>(count - i)), score,
                                   hn::Set(d, kLowest));
        if (mask || i + count_lanes() > count) hn::StoreU(score, d, scores + i);
        largest = hn::Max(largest, score);
    }
    return hn::GetLane(hn::MaxOfLanes(d, largest));
}

// Replaces scores by e^(score - largest); returns their sum.
HWY_INLINE float raise_scores(float largest, int64_t count, float* scores)
{
    const Floats d;
    const Vector base = hn::Set(d, largest);
    Vector sum = hn::Zero(d);
    for (int64_t i = 0; i < count; i += count_lanes()) {
        const Vector power = exp_of_negative(hn::Sub(hn::LoadU(d, scores + i), base));
        sum = hn::Add(sum, power);
        hn::StoreU(power, d, scores + i);
    }
    return hn::GetLane(hn::SumOfLanes(d, sum));
}

// Adds the scores of the next keys to the state: they become exponentials, with the same base as
// the result and the sum. A base of -infinity would turn all later additions into NaN.
template <class T>
HWY_INLINE void add_scores(const T* mask, int64_t count, float* scores, int64_t width,
                           float* result, QueryState* state)
{
    const float largest = std::max(state->largest, mask_scores(mask, count, scores));
    const float base = largest == kLowest ? 0.0f : largest;
    const Floats d;
    if (state->largest != largest && result) {
        const float factor = hn::GetLane(exp_of_negative(hn::Set(d, state->largest - base)));
        scale_row(result, width, factor, result);
        state->sum *= factor;
    }
    state->sum += raise_scores(base, count, scores);
    state->largest = largest;
}

// Rounds the columns up to full panels.
HWY_INLINE int64_t pad_columns(const AttentionBlocks& blocks, int64_t columns)
{
    const int64_t whole = (columns - 1) / blocks.panel_lanes * blocks.panel_lanes;
    return whole + find_panel_width(columns - whole, blocks.panel_lanes);
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TENGINE_CPU_ATTENTION_PARTS
