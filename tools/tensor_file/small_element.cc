// SPDX-License-Identifier: Apache-2.0
// See small_element.h. Written independently of the library, to check it: values by ldexp(), codes
// by a search of the nearest value.
#include "tensor_file/small_element.h"

#include <cmath>
#include <string>

#include "tengine/inspect.h"
#include "tensor_file/failure.h"

namespace tengine::tools {
namespace {

struct FloatFormat
{
    int data_type;
    int exponent_bits, mantissa_bits, bias;
    bool has_sign;
    int finite;    // codes without sign that are numbers: the first `number`
    bool has_inf;  // the code after these
    int nan;       // a code that is NaN; -1: none
};

constexpr FloatFormat kFormats[] = {
    {TENGINE_DT_FLOAT8E4M3FN, 4, 3, 7, true, 127, false, 0x7f},
    {TENGINE_DT_FLOAT8E4M3FNUZ, 4, 3, 8, true, 128, false, 0x80},
    {TENGINE_DT_FLOAT8E5M2, 5, 2, 15, true, 124, true, 0x7e},
    {TENGINE_DT_FLOAT8E5M2FNUZ, 5, 2, 16, true, 128, false, 0x80},
    {TENGINE_DT_FLOAT4E2M1, 2, 1, 1, true, 8, false, -1},
    {TENGINE_DT_FLOAT8E8M0, 8, 0, 127, false, 255, false, 0xff},
};

const FloatFormat* find_format(int data_type)
{
    for (const FloatFormat& format : kFormats)
        if (format.data_type == data_type) return &format;
    return nullptr;
}

bool is_signed(int data_type)
{
    return data_type == TENGINE_DT_INT4 || data_type == TENGINE_DT_INT2;
}

int bits_of(int data_type)
{
    return tengine_data_type_get_bits(data_type);
}

double magnitude_to_double(const FloatFormat& format, int magnitude)
{
    const int exponent = magnitude >> format.mantissa_bits;
    const int mantissa = magnitude - (exponent << format.mantissa_bits);
    if (!format.has_sign) return std::ldexp(1, exponent - format.bias);
    const double fraction = std::ldexp(mantissa, -format.mantissa_bits);
    return exponent == 0 ? std::ldexp(fraction, 1 - format.bias)
                         : std::ldexp(1 + fraction, exponent - format.bias);
}

int wide_type(int data_type)
{
    return is_signed(data_type) ? TENGINE_DT_INT8 : TENGINE_DT_UINT8;
}

}  // namespace

bool is_small(int data_type)
{
    return data_type >= TENGINE_DT_UINT4 && data_type <= TENGINE_DT_FLOAT8E8M0;
}

bool is_small_float(int data_type)
{
    return find_format(data_type) != nullptr;
}

uint8_t get_code(const Tensor& tensor, size_t index)
{
    const auto bits = static_cast<size_t>(bits_of(tensor.data_type));
    const unsigned byte = std::to_integer<unsigned>(tensor.bytes[index * bits / 8]);
    return static_cast<uint8_t>(byte >> index * bits % 8 & ((1u << bits) - 1));
}

void set_code(Tensor* tensor, size_t index, uint8_t code)
{
    const auto bits = static_cast<size_t>(bits_of(tensor->data_type));
    const size_t shift = index * bits % 8;
    std::byte& byte = tensor->bytes[index * bits / 8];
    const unsigned others = std::to_integer<unsigned>(byte) & ~(((1u << bits) - 1) << shift);
    byte = static_cast<std::byte>(others | static_cast<unsigned>(code) << shift);
}

double code_to_double(int data_type, uint8_t code)
{
    const int bits = bits_of(data_type);
    const FloatFormat* format = find_format(data_type);
    if (!format) return is_signed(data_type) && code >> (bits - 1) ? code - (1 << bits) : code;
    if (code == format->nan) return std::nan("");
    const int sign = format->has_sign ? 1 << (bits - 1) : 0;
    const int magnitude = code & ~sign;
    const double value = magnitude < format->finite ? magnitude_to_double(*format, magnitude)
                         : format->has_inf && magnitude == format->finite ? HUGE_VAL
                                                                          : std::nan("");
    return (code & sign) != 0 ? -value : value;
}

uint8_t double_to_code(int data_type, double value)
{
    const int bits = bits_of(data_type);
    const FloatFormat* format = find_format(data_type);
    if (!format) return static_cast<uint8_t>(static_cast<int>(value) & ((1 << bits) - 1));
    if (std::isnan(value)) return static_cast<uint8_t>(format->nan < 0 ? 0 : format->nan);
    int nearest = 0;
    double least = HUGE_VAL;
    for (int magnitude = 0; magnitude < format->finite; ++magnitude) {
        const double error = std::fabs(std::fabs(value) - magnitude_to_double(*format, magnitude));
        if (error > least || (error == least && magnitude % 2 != 0)) continue;
        least = error;
        nearest = magnitude;
    }
    if (std::isinf(value)) nearest = format->finite - 1;
    const bool is_negative = std::signbit(value) && format->has_sign;
    const int code = nearest | (is_negative ? 1 << (bits - 1) : 0);
    return static_cast<uint8_t>(code == format->nan ? 0 : code);  // -0, where it is NaN
}

Tensor widen_small(const Tensor& tensor)
{
    Tensor bytes =
        make_tensor(wide_type(tensor.data_type), {tensor.shape.begin(), tensor.shape.end()});
    bytes.name = tensor.name;
    for (size_t i = 0; i < tensor.element_number(); ++i) {
        const uint8_t code = get_code(tensor, i);
        bytes.bytes[i] =
            static_cast<std::byte>(is_small_float(tensor.data_type)
                                       ? code
                                       : static_cast<int>(code_to_double(tensor.data_type, code)));
    }
    return bytes;
}

bool has_small_form(const Tensor& bytes, int data_type)
{
    return is_small(data_type) && bytes.data_type == wide_type(data_type);
}

Tensor narrow_to_small(const Tensor& bytes, int data_type)
{
    const std::string type = is_small(data_type) ? tengine_data_type_get_name(data_type) : "";
    if (!has_small_form(bytes, data_type)) throw Failure("there are no bytes for " + type);
    Tensor tensor = make_tensor(data_type, {bytes.shape.begin(), bytes.shape.end()});
    tensor.name = bytes.name;
    const int bits = bits_of(data_type);
    const int lowest = is_signed(data_type) ? -(1 << (bits - 1)) : 0;
    for (size_t i = 0; i < bytes.element_number(); ++i) {
        const int value = static_cast<int>(get_element(bytes, i));
        if (value < lowest || value >= lowest + (1 << bits))
            throw Failure("element " + std::to_string(i) + " is " + std::to_string(value) +
                          ", which " + type + " does not have");
        set_code(&tensor, i, static_cast<uint8_t>(value & ((1 << bits) - 1)));
    }
    return tensor;
}

}  // namespace tengine::tools
