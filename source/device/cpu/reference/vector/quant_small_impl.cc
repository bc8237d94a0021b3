// SPDX-License-Identifier: Apache-2.0
// See quant_small.h. Elements are computed one by one: an element may have its own scale, and
// several elements may share a byte.
#include <algorithm>

#include "device/cpu/parallel.h"
#include "device/cpu/reference/vector/quant_slices.h"
#include "device/cpu/reference/vector/quant_small.h"
#include "device/cpu/reference/vector/quantize.h"
#include "device/cpu/reference/vector/small_elements.h"

namespace tengine::cpu {
namespace {

constexpr int64_t kSmallBlock = 256;  // elements: no byte of the output belongs to two blocks
constexpr int64_t kBlockGrain = 16;

// Calls body(begin, end) for blocks of the node's elements.
template <class Body>
void for_each_block(const KernelContext& context, const Body& body)
{
    const int64_t elements = context.output(0)->elem_num;
    parallel_for(context.pool, (elements + kSmallBlock - 1) / kSmallBlock, kBlockGrain,
                 [&](int64_t first, int64_t last, int) {
                     for (int64_t i = first; i < last; ++i)
                         body(i * kSmallBlock, std::min((i + 1) * kSmallBlock, elements));
                 });
}

// Codes of the numbers of one type.
class SmallQuantizer
{
  public:
    SmallQuantizer(const KernelContext& context)
        : writer_(context.output(0)->data_type, context.param<quant_param>().saturate != 0),
          is_float_(find_small_float(context.output(0)->data_type) != nullptr)
    {
        const int bits = get_data_type_bits(context.output(0)->data_type);
        const bool is_signed = is_signed_small(context.output(0)->data_type);
        range_.lowest = is_signed ? -(1 << (bits - 1)) : 0;
        range_.highest = range_.lowest + (1 << bits) - 1;
    }

    uint8_t code(double quotient, double zero_point) const
    {
        if (is_float_) return writer_.encode(quotient + zero_point);
        return writer_.encode(quantize(quotient, static_cast<int>(zero_point), range_));
    }
    void store(const uint8_t* codes, int64_t begin, int64_t number, void* target) const
    {
        writer_.store(codes, begin, number, target);
    }

  private:
    SmallWriter writer_;
    bool is_float_;
    QuantizedRange range_ = {};
};

// The zero points; absent ones are 0.
class ZeroPoints
{
  public:
    explicit ZeroPoints(const KernelContext& context, const tensor* values)
        : values_(context.input(2)), reader_(values_ ? values_ : values)
    {
    }
    double at(int64_t slice) const { return values_ ? reader_[slice] : 0; }

  private:
    const tensor* values_;
    SmallReader reader_;
};

}  // namespace

int quantize_small(KernelContext& context)
{
    Slices slices;
    TENGINE_RETURN_IF_ERROR(find_slices(context, &slices));
    const tensor* scale = context.input(1);
    const int type = division_type(context);
    const SmallQuantizer quantizer(context);
    const ZeroPoints zero_points(context, context.output(0));
    return dispatch_type(QuantizeInputTypes{}, context.input(0)->data_type, [&](auto x_type) {
        using X = typename decltype(x_type)::type;
        using Compute = std::conditional_t<std::is_same_v<X, double>, double, float>;
        const X* x = static_cast<const X*>(context.input(0)->data);
        for_each_block(context, [&](int64_t begin, int64_t end) {
            uint8_t codes[kSmallBlock];
            for (int64_t i = begin; i < end; ++i) {
                const int64_t slice = slices.scale_of(i / slices.size);
                const auto divisor = static_cast<Compute>(read_real(scale, slice));
                const Compute quotient = divide(static_cast<Compute>(x[i]), divisor, type);
                codes[i - begin] = quantizer.code(quotient, zero_points.at(slice));
            }
            quantizer.store(codes, begin, end - begin, context.output(0)->data);
        });
        return TENGINE_OK;
    });
}

int dequantize_small(KernelContext& context)
{
    Slices slices;
    TENGINE_RETURN_IF_ERROR(find_slices(context, &slices));
    const tensor* scale = context.input(1);
    const SmallReader x(context.input(0));
    const ZeroPoints zero_points(context, context.input(0));
    return dispatch_type(FloatTypes{}, context.output(0)->data_type, [&](auto y_type) {
        using Y = typename decltype(y_type)::type;
        Y* y = static_cast<Y*>(context.output(0)->data);
        for_each_block(context, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                const int64_t slice = slices.scale_of(i / slices.size);
                const auto factor = static_cast<compute_t<Y>>(read_real(scale, slice));
                const auto centred = static_cast<compute_t<Y>>(x[i] - zero_points.at(slice));
                y[i] = static_cast<Y>(centred * factor);
            }
        });
        return TENGINE_OK;
    });
}

}  // namespace tengine::cpu
