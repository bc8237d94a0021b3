// SPDX-License-Identifier: Apache-2.0
// QLinearAdd and QLinearMul in integers only, so that the results equal those of the reference bit
// by bit. Two inputs may broadcast (broadcast.h), and tensors may be NHWC. Elements are treated as
// unsigned, int8 with the highest bit flipped.
//
// The sum of two products with factors of 31 bits is computed from products with the 16 high bits
// and with the 16 low ones, see scale_s8-inl.h. Products with a value for each channel, as in
// squeeze-and-excitation, use requantize-inl.h: in NHWC, the multiplier of each channel is found
// once. They are twice as fast, since ties are rare; efficientnet_b0 takes 15 % less time so.
// Limits: some 30 operations on vectors for as many elements as a vector has pairs of bytes.
#include <cstdint>
#include <cstring>
#include <utility>

#include "device/cpu/kernel/vector/fixed_vectors.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/broadcast.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/vector/qlinear_binary.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/product/row_product-inl.h"
#include "device/cpu/kernel/product/scale_s8-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

void add(const Int8Function& function, Int8Operand a, Int8Operand b, int64_t count, uint8_t* output)
{
    add_exactly(function, a, b, count, output);
}

void multiply(const Int8Function& function, Int8Operand a, Int8Operand b, int64_t count,
              uint8_t* output)
{
    multiply_exactly(function, a, b, count, output);
}

void multiply_rows(const Int8Function& function, const Int8Rows& rows)
{
    for (int64_t i = rows.begin; i < rows.end; ++i)
        multiply_exactly(function, {rows.a + i, true}, {rows.b + i % rows.columns, true}, 1,
                         rows.output + i);
}

#else

using Shorts = hn::ScalableTag<int16_t>;
using ShortVector = hn::Vec<Shorts>;
using Words = hn::RepartitionToWide<Shorts>;
using WordVector = hn::Vec<Words>;
using Bytes = hn::Rebind<uint8_t, Shorts>;
using ByteVector = hn::Vec<Bytes>;

constexpr int64_t kMostBytes = HWY_MAX_BYTES / sizeof(int16_t);

// The sum of both products: the operands are the zero points less the elements, and the factors
// negative, so that 2^31 fits.
class Sum
{
  public:
    HWY_INLINE explicit Sum(const Int8Function& function)
        : high_(set_pair(function, [](int64_t factor) { return -((factor + 0x7fff) >> 16); })),
          low_(set_pair(
              function,
              [](int64_t factor) { return ((factor + 0x7fff) >> 16) * 0x10000 - factor; })),
          half_(hn::Set(Words(), 1 << (find_shift(function) - 1))),
          shift_(find_shift(function))
    {
    }

    HWY_INLINE ShortVector operator()(ShortVector a, ShortVector b) const
    {
        const Shorts d;
        return demote_words(d, sum(hn::InterleaveLower(d, a, b)),
                            sum(hn::InterleaveUpper(d, a, b)));
    }

  private:
    // Any larger shift makes all sums 0, too.
    static HWY_INLINE int find_shift(const Int8Function& function)
    {
        return HWY_MIN(function.shift - 16, 31);
    }

    template <class Half>
    static HWY_INLINE ShortVector set_pair(const Int8Function& function, const Half& half)
    {
        const auto a = static_cast<uint32_t>(half(function.a.factor) & 0xffff);
        const auto b = static_cast<uint32_t>(half(function.b.factor) & 0xffff);
        return hn::BitCast(Shorts(), hn::Set(Words(), static_cast<int32_t>(b << 16 | a)));
    }

    static HWY_INLINE WordVector multiply(ShortVector pairs, ShortVector factors)
    {
        WordVector other = hn::Zero(Words());
        const WordVector sum =
            hn::ReorderWidenMulAccumulate(Words(), pairs, factors, hn::Zero(Words()), other);
        return hn::RearrangeToOddPlusEven(sum, other);
    }

    HWY_INLINE WordVector sum(ShortVector pairs) const
    {
        return divide_sum(Words(), hn::Add(multiply(pairs, high_), half_), multiply(pairs, low_),
                          shift_);
    }

    ShortVector high_, low_;
    WordVector half_;
    int shift_;
};

// The product of the magnitudes, which is below 2^16; the sign is applied last.
class Product
{
  public:
    HWY_INLINE explicit Product(const Int8Function& function)
        : scale_({static_cast<int32_t>(function.b.factor), function.shift})
    {
    }

    HWY_INLINE ShortVector operator()(ShortVector a, ShortVector b) const
    {
        return scale_(hn::Mul(hn::Abs(a), hn::Abs(b)), hn::BroadcastSignBit(hn::Xor(a, b)));
    }

  private:
    MagnitudeScale<Shorts> scale_;
};

// The same for IR_ROUNDING_FLOAT: ties to even have no sign either.
class FloatProduct
{
  public:
    HWY_INLINE explicit FloatProduct(const Int8Function& function)
        : scale_(hn::Set(Reals(), find_scale(function)))
    {
    }

    HWY_INLINE ShortVector operator()(ShortVector a, ShortVector b) const
    {
        const Shorts d;
        const ShortVector magnitudes = hn::Mul(hn::Abs(a), hn::Abs(b)), none = hn::Zero(d);
        const ShortVector signs = hn::BroadcastSignBit(hn::Xor(a, b));
        const ShortVector scaled = demote_words(d, scale(hn::InterleaveLower(d, magnitudes, none)),
                                                scale(hn::InterleaveUpper(d, magnitudes, none)));
        return hn::Sub(hn::Xor(scaled, signs), signs);
    }

  private:
    using Reals = hn::RebindToFloat<Words>;

    // A pair of int16 is a number without a sign.
    HWY_INLINE WordVector scale(ShortVector words) const
    {
        const auto most = hn::Set(Reals(), float{UINT8_MAX});
        const auto real = hn::Mul(hn::ConvertTo(Reals(), hn::BitCast(Words(), words)), scale_);
        return hn::NearestInt(hn::Min(real, most));
    }

    hn::Vec<Reals> scale_;
};

// The zero point less the elements.
class Centred
{
  public:
    HWY_INLINE Centred(const Int8Input& input, Int8Operand operand)
        : flip_(hn::Set(Bytes(), input.flip)),
          zero_(hn::Set(Shorts(), input.zero)),
          data_(operand.data),
          step_(operand.advances ? 1 : 0)
    {
        if (operand.advances) return;
        std::memset(all_, *operand.data, sizeof all_);
        data_ = all_;
    }
    Centred(const Centred&) = delete;
    Centred& operator=(const Centred&) = delete;

    HWY_INLINE ShortVector load(int64_t i) const
    {
        return centre(hn::LoadU(Bytes(), data_ + i * step_));
    }
    // Reads `count` elements only.
    HWY_INLINE ShortVector load_first(int64_t i, int64_t count)
    {
        std::memcpy(all_, data_ + i * step_, static_cast<size_t>(count));
        return centre(hn::LoadU(Bytes(), all_));
    }

  private:
    HWY_INLINE ShortVector centre(ByteVector bytes) const
    {
        return hn::Sub(zero_, hn::PromoteTo(Shorts(), hn::Xor(bytes, flip_)));
    }

    ByteVector flip_;
    ShortVector zero_;
    const uint8_t* data_;
    int64_t step_;
    uint8_t all_[kMostBytes] = {};
};

template <class Function>
HWY_INLINE void combine(const Int8Function& parameters, Int8Operand a_operand,
                        Int8Operand b_operand, int64_t count, uint8_t* output)
{
    const Bytes d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const Function function(parameters);
    Centred a(parameters.a, a_operand), b(parameters.b, b_operand);
    const ShortVector zero = hn::Set(Shorts(), parameters.zero);
    const ByteVector flip = hn::Set(d, parameters.flip);
    const auto finish = [&](ShortVector value) HWY_ATTR {
        return hn::Xor(hn::DemoteTo(d, hn::SaturatedAdd(value, zero)), flip);
    };
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
        hn::StoreU(finish(function(a.load(i), b.load(i))), d, output + i);
    if (i == count) return;
    uint8_t rest[kMostBytes];
    hn::StoreU(finish(function(a.load_first(i, count - i), b.load_first(i, count - i))), d, rest);
    std::memcpy(output + i, rest, static_cast<size_t>(count - i));
}

void add(const Int8Function& function, Int8Operand a, Int8Operand b, int64_t count, uint8_t* output)
{
    if (function.shift < kLeastShift) return add_exactly(function, a, b, count, output);
    combine<Sum>(function, a, b, count, output);
}

void multiply(const Int8Function& function, Int8Operand a, Int8Operand b, int64_t count,
              uint8_t* output)
{
    if (function.rounding == IR_ROUNDING_NEAREST)
        combine<Product>(function, a, b, count, output);
    else if (function.rounding == IR_ROUNDING_FLOAT)
        combine<FloatProduct>(function, a, b, count, output);
    else
        multiply_exactly(function, a, b, count, output);
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(add);
HWY_EXPORT(multiply);
HWY_EXPORT(multiply_rows);

using Combine = void (*)(const Int8Function&, Int8Operand, Int8Operand, int64_t, uint8_t*);

uint8_t find_flip(int data_type)
{
    return data_type == TENGINE_DT_INT8 ? 0x80 : 0;
}

// The zero point of elements that are flipped if they are int8.
int16_t find_zero(int data_type, int zero_point)
{
    return static_cast<int16_t>(zero_point + find_flip(data_type));
}

struct Scales
{
    float a, b, y;

    explicit Scales(const KernelContext& context)
        : a(context.input(1)->f32[0]), b(context.input(4)->f32[0]), y(context.input(6)->f32[0])
    {
    }
};

// Describes the function without factors and shift.
Int8Function describe(const KernelContext& context)
{
    const auto describe_input = [&](int index) {
        const int type = context.input(index)->data_type;
        return Int8Input{find_flip(type),
                         find_zero(type, read_zero_point(context.input(index + 2), 0)), 0};
    };
    Int8Function function = {};
    function.a = describe_input(0);
    function.b = describe_input(3);
    const int type = context.output(0)->data_type;
    function.flip = find_flip(type);
    function.zero = find_zero(type, read_zero_point(context.input(7), 0));
    return function;
}

int combine_bytes(const KernelContext& context, const Int8Function& function, Combine combine)
{
    const tensor* const inputs[] = {context.input(0), context.input(3)};
    const uint8_t* a = inputs[0]->u8;
    const uint8_t* b = inputs[1]->u8;
    uint8_t* output = context.output(0)->u8;
    for_each_run(context, inputs, [=, &function](const BroadcastRun& run) {
        combine(function, {a + run.offsets[0], run.strides[0] != 0},
                {b + run.offsets[1], run.strides[1] != 0}, run.count, output + run.position);
    });
    return TENGINE_OK;
}

int run_add(KernelContext& context)
{
    const Scales scales(context);
    const double y = double{scales.y}, reals[] = {scales.a / y, scales.b / y};
    ir_multiplier_t multipliers[2] = {};
    TENGINE_RETURN_IF_ERROR(find_multipliers(context, reals, 2, multipliers));
    Int8Function function = describe(context);
    function.a.factor = multipliers[0].factor;
    function.b.factor = multipliers[1].factor;
    function.shift = multipliers[0].shift;
    return combine_bytes(context, function, HWY_DYNAMIC_DISPATCH(add));
}

// Smaller tensors are not worth a second thread.
constexpr int64_t kGrain = 8192;

// Whether the input `row` has a value for each index of the output's last axis, perhaps for each of
// its first axis, too, and the other input has all of its elements.
bool is_row(const tensor& output, const tensor& other, const tensor& row)
{
    const int rank = output.dim_num;
    if (rank < 2 || output.elem_num == 0 || other.elem_num != output.elem_num || row.dim_num < 1 ||
        row.dim_num > rank)
        return false;
    const int64_t columns = output.dims[rank - 1];
    const int64_t images = row.dim_num == rank ? row.dims[0] : 1;
    return row.dims[row.dim_num - 1] == columns && row.elem_num == images * columns &&
           row.elem_num < output.elem_num && (images == 1 || images == output.dims[0]);
}

// The input that is_row(); -1: none.
int find_row_input(const KernelContext& context)
{
    const tensor &y = *context.output(0), &a = *context.input(0), &b = *context.input(3);
    return is_row(y, a, b) ? 3 : is_row(y, b, a) ? 0 : -1;
}

int prepare_mul(KernelContext& context)
{
    const int row = find_row_input(context);
    if (row < 0) return TENGINE_OK;
    const tensor& y = *context.output(0);
    const auto columns = static_cast<uint64_t>(y.dims[y.dim_num - 1]);
    context.scratch_size = (columns + kMoreScales) * sizeof(float);
    return TENGINE_OK;
}

// Input b of `function` is the row.
void multiply_images(const KernelContext& context, const Int8Function& function, int row_input)
{
    const tensor &y = *context.output(0), &row = *context.input(row_input);
    const int64_t columns = y.dims[y.dim_num - 1], images = row.elem_num / columns;
    const int64_t count = y.elem_num / images;
    const float scale = function.rounding == IR_ROUNDING_FLOAT ? 1 : find_scale(function);
    auto* scales = static_cast<float*>(context.scratch);
    const auto run = HWY_DYNAMIC_DISPATCH(multiply_rows);
    for (int64_t image = 0; image < images; ++image) {
        Int8Rows rows = {context.input(3 - row_input)->u8 + image * count,
                         row.u8 + image * columns,
                         scales,
                         columns,
                         0,
                         0,
                         y.u8 + image * count};
        for (int64_t i = 0; i < columns; ++i)
            scales[i] = static_cast<float>((rows.b[i] ^ function.b.flip) - function.b.zero) * scale;
        for (int64_t i = 0; i < kMoreScales; ++i)
            scales[columns + i] = scales[i];
        parallel_for(context.pool, count, kGrain, [&](int64_t begin, int64_t end, int) {
            Int8Rows part = rows;
            part.begin = begin;
            part.end = end;
            run(function, part);
        });
    }
}

int run_mul(KernelContext& context)
{
    const Scales scales(context);
    const ir_rounding_t rounding = rounding_of(*context.node);
    const double real = find_ir_factor(rounding, scales.a, scales.b, scales.y);
    ir_multiplier_t multiplier = {};
    TENGINE_RETURN_IF_ERROR(find_multipliers(context, &real, 1, &multiplier));
    Int8Function function = describe(context);
    function.rounding = rounding;
    function.b.factor = multiplier.factor;
    function.shift = multiplier.shift;
    const int row = rounding == IR_ROUNDING_TWICE ? -1 : find_row_input(context);
    if (row < 0) return combine_bytes(context, function, HWY_DYNAMIC_DISPATCH(multiply));
    if (row == 0) {
        std::swap(function.a, function.b);
        std::swap(function.a.factor, function.b.factor);
    }
    multiply_images(context, function, row);
    return TENGINE_OK;
}

// The sums of IR_ROUNDING_TWICE are the reference's.
bool rounds_once(const node& node)
{
    return rounding_of(node) != IR_ROUNDING_TWICE;
}

constexpr Kernel qlinear_binary_rows[] = {
    {.op = "com.microsoft.QLinearAdd",
     .name = "add.s8.vector",
     .accepts = rounds_once,
     .run = run_add,
     .in_place_input = 0,
     .layout = Layout::kAny},
    {.op = "com.microsoft.QLinearMul",
     .name = "mul.s8.vector",
     .run = run_mul,
     .prepare = prepare_mul,
     .in_place_input = 0,
     .layout = Layout::kAny},
};

// output[i] = the function of centred a and b, with the zero point.
template <class Function>
void combine_exactly(const Int8Function& function, Int8Operand a, Int8Operand b, int64_t count,
                     uint8_t* output, const Function& compute)
{
    const auto centre = [](const Int8Input& input, Int8Operand operand, int64_t i) {
        return (operand.data[operand.advances ? i : 0] ^ input.flip) - input.zero;
    };
    const Int8Range range = find_byte_range(TENGINE_DT_UINT8, function.zero);
    for (int64_t i = 0; i < count; ++i) {
        const int64_t exact = compute(centre(function.a, a, i), centre(function.b, b, i));
        output[i] = saturate_int8(range, exact) ^ function.flip;
    }
}

}  // namespace

void add_exactly(const Int8Function& function, Int8Operand a, Int8Operand b, int64_t count,
                 uint8_t* output)
{
    combine_exactly(function, a, b, count, output, [&](int left, int right) {
        return round_ir_shift(left * function.a.factor + right * function.b.factor, function.shift);
    });
}

void multiply_exactly(const Int8Function& function, Int8Operand a, Int8Operand b, int64_t count,
                      uint8_t* output)
{
    const ir_multiplier_t multiplier = {static_cast<int32_t>(function.b.factor), function.shift};
    combine_exactly(function, a, b, count, output, [&](int left, int right) {
        return scale_ir_sum(function.rounding, left * right, multiplier);
    });
}

extern const KernelTable qlinear_binary_kernels;
const KernelTable qlinear_binary_kernels = make_table<qlinear_binary_rows>();

}  // namespace tengine::cpu
#endif  // HWY_ONCE
