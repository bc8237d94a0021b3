// SPDX-License-Identifier: Apache-2.0
// QLinearAveragePool and QLinearGlobalAveragePool: sums of 8-bit values, divided by requantisation.
#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/matmul/qlinear.h"
#include "device/cpu/reference/window/window_pool.h"

namespace tengine::cpu {
namespace {

// The mean of quantised values. Elements of the padding are 0, so that only their number matters.
class QuantizedMean
{
  public:
    using Sum = int32_t;

    QuantizedMean(const Quantization& x, const Quantization& y, int data_type)
        : x_(x), y_(y), requantize_(data_type, y.zero_point)
    {
    }

    double real(int64_t count) const { return x_.scale / (y_.scale * static_cast<double>(count)); }

    static Sum start() { return 0; }
    Sum add(Sum sum, Sum value) const { return sum + value - x_.zero_point; }
    // Windows of equal count follow each other, except at the edges. One entirely in the padding
    // has the mean 0.
    uint8_t finish(Sum sum, int64_t count)
    {
        if (count <= 0) return requantize_.saturate(0);
        if (count != count_) {
            multiplier_ = make_multiplier(real(count), find_shift(real(count)));
            count_ = count;
        }
        return requantize_(sum, multiplier_);
    }

  private:
    Quantization x_, y_;
    Requantizer requantize_;
    int64_t count_ = 0;  // the count that multiplier_ is for
    Multiplier multiplier_ = {};
};

// Calls body(Type of x, the mean).
template <class Body>
int run_mean(const KernelContext& context, const Body& body)
{
    const QuantizedMean mean(Quantization(context, 1), Quantization(context, 3),
                             context.output(0)->data_type);
    const double largest = mean.real(1);
    Multiplier multiplier = {};
    TENGINE_RETURN_IF_ERROR(make_multipliers(context, &largest, 1, &multiplier));
    return dispatch_type(Int8Types{}, context.input(0)->data_type, [&](auto type) {
        body(type, mean);
        return TENGINE_OK;
    });
}

int run_average_pool(KernelContext& context)
{
    window shape;
    TENGINE_RETURN_IF_ERROR(resolve_pool_window(context.node, &shape));
    return run_mean(context, [&](auto type, const QuantizedMean& mean) {
        pool_windows<typename decltype(type)::type, uint8_t>(context, shape, mean);
    });
}

int run_global_average_pool(KernelContext& context)
{
    return run_mean(context, [&](auto type, const QuantizedMean& mean) {
        pool_channels<typename decltype(type)::type, uint8_t>(context, mean);
    });
}

constexpr Kernel qlinear_pool_rows[] = {
    {"com.microsoft.QLinearAveragePool", "reference", nullptr, run_average_pool},
    {"com.microsoft.QLinearGlobalAveragePool", "reference", nullptr, run_global_average_pool},
};

}  // namespace

extern const KernelTable qlinear_pool_reference;
const KernelTable qlinear_pool_reference = make_table<qlinear_pool_rows>();

}  // namespace tengine::cpu
