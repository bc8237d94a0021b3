// SPDX-License-Identifier: Apache-2.0
// Reference kernels of Cast and CastLike (operator/onnx/cast_ops.c). Elements are widened to
// double, int64_t or uint64_t, which is exact, and narrowed from there: 529 pairs of types need
// only 56 short loops.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/vector/arithmetic.h"
#include "device/cpu/reference/vector/elementwise.h"
#include "device/cpu/reference/vector/small_elements.h"
#include "device/cpu/reference/vector/string_cast.h"
#include "operator/onnx/cast_param.h"

namespace tengine::cpu {
namespace {

constexpr int kBlock = 256;

// Holds kBlock values of double, int64_t or uint64_t.
struct alignas(8) Wide
{
    unsigned char bytes[kBlock * 8];
};

// Rounding a double to float and then to fp16 or bf16 could round twice. If the first step is not
// exact, its result is made odd (of the two neighbours, the one with the last bit set), from which
// the second step rounds correctly.
float round_to_odd(double value)
{
    const float nearest = static_cast<float>(value);
    const double error = value - static_cast<double>(nearest);
    if (error == 0 || !std::isfinite(nearest) || (fp32_to_bits(nearest) & 1) != 0) return nearest;
    return std::nextafter(nearest, error > 0 ? HUGE_VALF : -HUGE_VALF);
}

template <class To, class From>
To narrow(From value)
{
    if constexpr (std::is_same_v<To, bool>) {
        return value != 0;
    } else if constexpr (is_half<To>) {
        return To(round_to_odd(static_cast<double>(value)));
    } else if constexpr (std::is_same_v<From, double>) {
        return from_double<To>(value);
    } else {
        return static_cast<To>(value);  // integers keep their low bits
    }
}

// The source and target of a cast; reader and writer are used for small elements only.
struct Ends
{
    const tensor* source;
    const tensor* target;
    SmallReader reader;
    SmallWriter writer;
};

using Widen = void (*)(const Ends& ends, int64_t begin, int64_t num, Wide* out_wide);
using Narrow = void (*)(const Ends& ends, const Wide& wide, int64_t begin, int64_t num);

template <class From>
void widen_block(const Ends& ends, int64_t begin, int64_t num, Wide* out_wide)
{
    // A bool is read as a byte: the user's data may have other values than 0 and 1.
    using Stored = std::conditional_t<std::is_same_v<From, bool>, uint8_t, From>;
    const Stored* values = static_cast<const Stored*>(ends.source->data) + begin;
    auto* wide = reinterpret_cast<wide_t<From>*>(out_wide->bytes);
    for (int64_t i = 0; i < num; ++i) {
        if constexpr (std::is_same_v<From, bool>) {
            wide[i] = values[i] != 0;
        } else {
            wide[i] = static_cast<wide_t<From>>(values[i]);
        }
    }
}

template <class From, class To>
void narrow_block(const Ends& ends, const Wide& wide, int64_t begin, int64_t num)
{
    const From* values = reinterpret_cast<const From*>(wide.bytes);
    To* out = static_cast<To*>(ends.target->data) + begin;
    for (int64_t i = 0; i < num; ++i)
        out[i] = narrow<To>(values[i]);
}

void widen_small_block(const Ends& ends, int64_t begin, int64_t num, Wide* out_wide)
{
    auto* wide = reinterpret_cast<double*>(out_wide->bytes);
    for (int64_t i = 0; i < num; ++i)
        wide[i] = ends.reader[begin + i];
}

template <class From>
void narrow_small_block(const Ends& ends, const Wide& wide, int64_t begin, int64_t num)
{
    const From* values = reinterpret_cast<const From*>(wide.bytes);
    uint8_t codes[kBlock];
    for (int64_t i = 0; i < num; ++i)
        codes[i] = ends.writer.encode(values[i]);
    ends.writer.store(codes, begin, num, ends.target->data);
}

template <class From>
int find_narrow(int data_type, Narrow* out_narrow)
{
    if (is_small(data_type)) {
        *out_narrow = narrow_small_block<From>;
        return TENGINE_OK;
    }
    return dispatch_type(AllTypes{}, data_type, [&](auto type) {
        *out_narrow = narrow_block<From, typename decltype(type)::type>;
        return TENGINE_OK;
    });
}

int find_steps(int from, int to, Widen* out_widen, Narrow* out_narrow)
{
    if (is_small(from)) {
        *out_widen = widen_small_block;
        return find_narrow<double>(to, out_narrow);
    }
    return dispatch_type(AllTypes{}, from, [&](auto type) {
        using From = typename decltype(type)::type;
        *out_widen = widen_block<From>;
        return find_narrow<wide_t<From>>(to, out_narrow);
    });
}

power_rounding find_rounding(const cast_param& param)
{
    const char* mode = param.round_mode ? param.round_mode : "up";
    if (std::strcmp(mode, "down") == 0) return POWER_DOWN;
    return std::strcmp(mode, "nearest") == 0 ? POWER_NEAREST : POWER_UP;
}

// Blocks begin at multiples of kBlock, so that no byte of small elements belongs to two blocks.
int run_cast(KernelContext& context)
{
    const auto& param = context.param<cast_param>();
    const tensor* input = context.input(0);
    const tensor* output = context.output(0);
    if (input->data_type == TENGINE_DT_STRING || output->data_type == TENGINE_DT_STRING)
        return cast_strings(context);
    Widen widen = nullptr;
    Narrow narrow = nullptr;
    TENGINE_RETURN_IF_ERROR(find_steps(input->data_type, output->data_type, &widen, &narrow));
    const Ends ends = {input, output, SmallReader(input),
                       SmallWriter(output->data_type, param.saturate != 0, find_rounding(param))};
    const int64_t block_num = (output->elem_num + kBlock - 1) / kBlock;
    parallel_for(context.pool, block_num, kElementGrain / kBlock,
                 [=, &ends](int64_t first, int64_t last, int) {
                     Wide wide;
                     for (int64_t i = first * kBlock; i < last * kBlock; i += kBlock) {
                         const int64_t num = std::min<int64_t>(kBlock, output->elem_num - i);
                         widen(ends, i, num, &wide);
                         narrow(ends, wide, i, num);
                     }
                 });
    return TENGINE_OK;
}

constexpr Kernel cast_rows[] = {
    {"Cast", "reference", nullptr, run_cast},
    {"CastLike", "reference", nullptr, run_cast},
};

}  // namespace

extern const KernelTable cast_reference;
const KernelTable cast_reference = make_table<cast_rows>();

}  // namespace tengine::cpu
