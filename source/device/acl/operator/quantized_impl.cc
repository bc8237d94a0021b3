// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "device/acl/operator/quantized.h"

namespace tengine::acl {
namespace {

constexpr int kWeight = 3;
constexpr int64_t kLargestInput = 255;  // an element less its zero point
constexpr uint8_t kSignBit = 0x80;

int read_byte(const tensor& bytes, int64_t index)
{
    return bytes.data_type == TENGINE_DT_INT8 ? int{bytes.i8[index]} : int{bytes.u8[index]};
}

// Zero points of slices; an absent one is 0, a single one that of all.
std::vector<int> read_zero_points(const tensor* zero_point, int slices)
{
    std::vector<int> values(static_cast<size_t>(slices), 0);
    if (!zero_point) return values;
    for (int i = 0; i < slices; ++i)
        values[static_cast<size_t>(i)] = read_byte(*zero_point, zero_point->elem_num > 1 ? i : 0);
    return values;
}

bool is_single(const tensor* list)
{
    return !list || list->elem_num == 1;
}

bool check_scale(Builder& builder, const tensor& scales, int64_t index)
{
    const float scale = scales.f32[index];
    if (scale > 0 && std::isfinite(scale)) return true;
    return builder.refuse(IR_REASON_ATTRIBUTE, scales.name, std::to_string(scale).c_str(),
                          "a scale of %g, expected a finite one above 0", scale);
}

}  // namespace

bool read_quantization(Builder& builder, int index, Quantization* out)
{
    if (!builder.require_constant(index, "scale") ||
        !builder.require_constant(index + 1, "zero point"))
        return false;
    const tensor* scale = builder.source(index);
    const tensor* zero_point = builder.source(index + 1);
    if (!scale || !is_single(scale) || !is_single(zero_point))
        return builder.refuse(IR_REASON_SHAPE, "", "",
                              "input %d has several scales, which ACL supports only for weights",
                              index);
    if (scale->data_type != TENGINE_DT_FP32)
        return builder.refuse(IR_REASON_DATA_TYPE, scale->name,
                              get_data_type_name(scale->data_type),
                              "ACL supports only fp32 scales");
    *out = {scale->f32[0], read_zero_points(zero_point, 1)[0]};
    return check_scale(builder, *scale, 0);
}

DataType to_quantized_type(int data_type)
{
    return data_type == TENGINE_DT_INT8 ? DataType::QASYMM8_SIGNED : DataType::QASYMM8;
}

TensorInfo quantized_info(const TensorInfo& plain, int data_type, const Quantization& by)
{
    return make_info(plain.tensor_shape(), to_quantized_type(data_type),
                     QuantizationInfo(by.scale, by.zero_point));
}

TensorInfo quantized_info(const tensor& tensor, const Quantization& by)
{
    return quantized_info(to_acl_info(tensor), tensor.data_type, by);
}

bool require_rounding(Builder& builder)
{
    if (sizeof(void*) > 4) return true;
    return builder.refuse(IR_REASON_ATTRIBUTE, "", "",
                          "ACL for 32 bits truncates results instead of rounding them");
}

bool check_factor(Builder& builder, double factor, double largest)
{
    if (factor < kLeastFactor)
        return builder.refuse(IR_REASON_ATTRIBUTE, "", "",
                              "its scales make a factor of %g; ACL treats factors below %g as 0",
                              factor, kLeastFactor);
    // With factors of 1 and more ACL shifts the sum to the left first.
    int exponent = 0;
    std::frexp(factor, &exponent);
    if (std::ldexp(largest, std::max(exponent, 0)) < std::ldexp(1, 31)) return true;
    return builder.refuse(IR_REASON_ATTRIBUTE, "", "",
                          "its sums reach %g, times %g; ACL computes them in 32 bits", largest,
                          factor);
}

// ---- weights ----

bool QuantizedWeights::read(Builder& builder, int x_type, int slices, int64_t run)
{
    source_ = builder.source(kWeight);
    const tensor* scale = builder.source(kWeight + 1);
    const tensor* zero_point = builder.source(kWeight + 2);
    if (!builder.require_constant(kWeight, "weights") ||
        !builder.require_constant(kWeight + 1, "scale of the weights") ||
        !builder.require_constant(kWeight + 2, "zero point of the weights"))
        return false;
    if (source_->elem_num == 0)
        return builder.refuse(IR_REASON_SHAPE, source_->name, "0", "the weights are empty");
    for (int64_t i = 0; i < scale->elem_num; ++i)
        if (!check_scale(builder, *scale, i)) return false;
    const std::vector<int> zero_points = read_zero_points(zero_point, slices);
    scales_.assign(scale->f32, scale->f32 + scale->elem_num);
    reach_.assign(zero_points.size(), 0);
    for (int64_t i = 0; i < source_->elem_num; ++i) {
        const auto slice = static_cast<size_t>(i / run % slices);
        reach_[slice] += kLargestInput * std::abs(read_byte(*source_, i) - zero_points[slice]);
    }
    if (!is_single(scale) || !is_single(zero_point)) return read_slices(builder, zero_points, run);
    type_ = to_quantized_type(x_type);
    read_whole(zero_points[0], source_->data_type == TENGINE_DT_INT8, x_type == TENGINE_DT_INT8);
    return true;
}

// Another signedness has other bytes and another zero point.
void QuantizedWeights::read_whole(int zero_point, bool is_signed, bool becomes_signed)
{
    zero_point_ = zero_point;
    if (is_signed == becomes_signed) return;
    zero_point_ += is_signed ? 128 : -128;
    bytes_.assign(source_->u8, source_->u8 + source_->elem_num);
    for (uint8_t& byte : bytes_)
        byte ^= kSignBit;
}

bool QuantizedWeights::read_slices(Builder& builder, const std::vector<int>& zero_points,
                                   int64_t run)
{
    type_ = DataType::QSYMM8_PER_CHANNEL;
    scales_.resize(zero_points.size(), scales_[0]);
    const bool is_symmetric =
        std::all_of(zero_points.begin(), zero_points.end(), [](int zero) { return zero == 0; });
    if (is_symmetric && source_->data_type == TENGINE_DT_INT8) return true;
    bytes_.resize(static_cast<size_t>(source_->elem_num));
    for (int64_t i = 0; i < source_->elem_num; ++i) {
        const auto slice = static_cast<size_t>(i / run) % zero_points.size();
        const int value = read_byte(*source_, i) - zero_points[slice];
        if (value < INT8_MIN || value > INT8_MAX)
            return builder.refuse(IR_REASON_ATTRIBUTE, source_->name, "",
                                  "weights with a scale for each channel reach %d from their zero "
                                  "point, expected -128 to 127",
                                  value);
        bytes_[static_cast<size_t>(i)] = static_cast<uint8_t>(value);
    }
    return true;
}

void QuantizedWeights::transpose(int rows, int columns)
{
    const uint8_t* from = bytes_.empty() ? source_->u8 : bytes_.data();
    std::vector<uint8_t> turned(static_cast<size_t>(source_->elem_num));
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column)
            turned[static_cast<size_t>(column) * static_cast<size_t>(rows) +
                   static_cast<size_t>(row)] = from[int64_t{row} * columns + column];
    bytes_ = std::move(turned);
}

QuantizationInfo QuantizedWeights::quantization(int first, int number) const
{
    if (!is_per_slice()) return QuantizationInfo(scales_[0], zero_point_);
    return QuantizationInfo(
        std::vector<float>(scales_.begin() + first, scales_.begin() + first + number));
}

ITensor* QuantizedWeights::make(Builder& builder, const TensorShape& shape, int first,
                                int number) const
{
    const TensorInfo info = make_info(shape, type_, quantization(first, number));
    const size_t offset = first * info.total_size() / static_cast<size_t>(number);
    if (bytes_.empty()) return builder.constant(kWeight, info, offset);
    const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(offset);
    return builder.constant(info, {begin, begin + static_cast<std::ptrdiff_t>(info.total_size())});
}

bool QuantizedWeights::check_sums(Builder& builder, float x_scale, float y_scale,
                                  const tensor* bias) const
{
    for (size_t i = 0; i < reach_.size(); ++i) {
        const double scale = scales_[scales_.size() > 1 ? i : 0];
        auto largest = static_cast<double>(reach_[i]);
        if (bias) largest += std::fabs(static_cast<double>(bias->i32[bias->elem_num > 1 ? i : 0]));
        if (!check_factor(builder, x_scale * scale / y_scale, largest)) return false;
    }
    return true;
}

}  // namespace tengine::acl
