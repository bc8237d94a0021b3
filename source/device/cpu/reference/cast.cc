// SPDX-License-Identifier: Apache-2.0
// Reference kernels of Cast and CastLike (operator/cast_ops.c). Elements are widened to double,
// int64_t or uint64_t, which loses nothing, and narrowed from there; this keeps 169 pairs of types
// at 52 short loops.
#include <algorithm>
#include <cmath>

#include "device/cpu/reference/arithmetic.h"
#include "device/cpu/reference/elementwise.h"

namespace tengine::cpu {
namespace {

constexpr int kBlock = 256;

// Holds kBlock values of double, int64_t or uint64_t.
struct alignas(8) Wide
{
    unsigned char bytes[kBlock * 8];
};

// Rounding a double to float and then to a half could round twice. When the first step is not
// exact, its result is made odd (of the two neighbours the one with the last bit set), from which
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

using Widen = void (*)(const void* source, int64_t begin, int64_t num, Wide* out_wide);
using Narrow = void (*)(const Wide& wide, int64_t begin, int64_t num, void* target);

template <class From>
void widen_block(const void* source, int64_t begin, int64_t num, Wide* out_wide)
{
    // A bool is read as a byte: the user's data may hold other values than 0 and 1.
    using Stored = std::conditional_t<std::is_same_v<From, bool>, uint8_t, From>;
    const Stored* values = static_cast<const Stored*>(source) + begin;
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
void narrow_block(const Wide& wide, int64_t begin, int64_t num, void* target)
{
    const From* values = reinterpret_cast<const From*>(wide.bytes);
    To* out = static_cast<To*>(target) + begin;
    for (int64_t i = 0; i < num; ++i)
        out[i] = narrow<To>(values[i]);
}

template <class From>
int find_narrow(int data_type, Narrow* out_narrow)
{
    return dispatch_type(AllTypes{}, data_type, [&](auto type) {
        *out_narrow = narrow_block<From, typename decltype(type)::type>;
        return TENGINE_OK;
    });
}

int find_steps(int from, int to, Widen* out_widen, Narrow* out_narrow)
{
    return dispatch_type(AllTypes{}, from, [&](auto type) {
        using From = typename decltype(type)::type;
        *out_widen = widen_block<From>;
        return find_narrow<wide_t<From>>(to, out_narrow);
    });
}

int run_cast(KernelContext& context)
{
    const tensor* input = context.input(0);
    const tensor* output = context.output(0);
    Widen widen = nullptr;
    Narrow narrow = nullptr;
    TENGINE_RETURN_IF_ERROR(find_steps(input->data_type, output->data_type, &widen, &narrow));
    parallel_for(context.pool, output->elem_num, kElementGrain,
                 [=](int64_t begin, int64_t end, int) {
                     Wide wide;
                     for (int64_t i = begin; i < end; i += kBlock) {
                         const int64_t num = std::min<int64_t>(kBlock, end - i);
                         widen(input->data, i, num, &wide);
                         narrow(wide, i, num, output->data);
                     }
                 });
    return TENGINE_OK;
}

constexpr Kernel rows[] = {
    {"Cast", "reference", nullptr, run_cast},
    {"CastLike", "reference", nullptr, run_cast},
};

}  // namespace

extern const KernelTable cast_reference;
const KernelTable cast_reference = make_table<rows>();

}  // namespace tengine::cpu
