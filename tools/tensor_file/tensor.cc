// SPDX-License-Identifier: Apache-2.0
// Elements of tensors as numbers. The contract is in tensor.h.
#include "tensor_file/tensor.h"

#include <climits>
#include <cmath>
#include <cstring>

#include "tengine/inspect.h"
#include "tensor_file/failure.h"
#include "tensor_file/small_element.h"

namespace tengine::tools {
namespace {

template <typename T>
T load(const Tensor& tensor, size_t index)
{
    T value;
    std::memcpy(&value, tensor.bytes.data() + index * sizeof(T), sizeof(T));
    return value;
}

template <typename T>
void store(Tensor* tensor, size_t index, T value)
{
    std::memcpy(tensor->bytes.data() + index * sizeof(T), &value, sizeof(T));
}

constexpr int kHalfMantissaBits = 10;
constexpr int kHalfBias = 15;

double half_to_double(uint16_t bits)
{
    const int exponent = (bits >> kHalfMantissaBits) & 0x1f;
    const int mantissa = bits & 0x3ff;
    double value;
    if (exponent == 0x1f) {
        value = mantissa == 0 ? HUGE_VAL : std::nan("");
    } else if (exponent == 0) {
        value = std::ldexp(mantissa, 1 - kHalfBias - kHalfMantissaBits);
    } else {
        value = std::ldexp(mantissa + 0x400, exponent - kHalfBias - kHalfMantissaBits);
    }
    return (bits & 0x8000) != 0 ? -value : value;
}

// nearbyint() rounds to nearest even, and a mantissa that is rounded up to 2^10 carries into the
// exponent by itself.
uint16_t double_to_half(double value)
{
    const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    if (std::isnan(value)) return sign | 0x7e00;
    const double magnitude = std::fabs(value);
    if (magnitude >= 65520.0) return sign | 0x7c00;
    int exponent = 0;
    std::frexp(magnitude, &exponent);
    const int normal = magnitude < std::ldexp(1.0, 1 - kHalfBias) ? 1 : exponent - 1 + kHalfBias;
    const double scaled =
        std::nearbyint(std::ldexp(magnitude, kHalfBias + kHalfMantissaBits - normal));
    const int hidden = (normal - 1) << kHalfMantissaBits;
    return static_cast<uint16_t>(sign | (hidden + static_cast<int>(scaled)));
}

double bfloat_to_double(uint16_t bits)
{
    const uint32_t wide = static_cast<uint32_t>(bits) << 16;
    float value;
    std::memcpy(&value, &wide, sizeof value);
    return value;
}

uint16_t double_to_bfloat(double value)
{
    const float single = static_cast<float>(value);
    uint32_t bits;
    std::memcpy(&bits, &single, sizeof bits);
    if (std::isnan(single)) return static_cast<uint16_t>(bits >> 16 | 0x40);
    const uint32_t half_way = 0x7fff + ((bits >> 16) & 1);
    return static_cast<uint16_t>((bits + half_way) >> 16);
}

// Prints a shape whose dimensions may be too large for an int.
std::string whole_shape_text(const std::vector<int64_t>& shape)
{
    std::string text;
    for (const int64_t extent : shape)
        text += (text.empty() ? "" : "x") + std::to_string(extent);
    return text;
}

[[noreturn]] void fail_data_type(int data_type)
{
    throw Failure("unknown data type " + std::to_string(data_type));
}

}  // namespace

size_t Tensor::element_number() const
{
    size_t number = 1;
    for (const int extent : shape)
        number *= static_cast<size_t>(extent);
    return number;
}

size_t count_tensor_bytes(int data_type, const std::vector<int64_t>& shape)
{
    const int bits = tengine_data_type_get_bits(data_type);
    if (bits <= 0) fail_data_type(data_type);
    if (shape.size() > MAX_SHAPE_DIM_NUM)
        throw Failure("a tensor has " + std::to_string(shape.size()) +
                      " dimensions, expected at most " + std::to_string(MAX_SHAPE_DIM_NUM));
    const auto element_size = static_cast<uint64_t>(tengine_data_type_get_size(data_type));
    uint64_t number = 1;
    for (const int64_t extent : shape) {
        if (extent < 0 || extent > INT_MAX)
            throw Failure("a tensor has the dimension " + std::to_string(extent) +
                          ", expected 0 to " + std::to_string(INT_MAX));
        // Both factors are below 2^31, and so is a product that passes.
        number *= static_cast<uint64_t>(extent);
        if (number * element_size > INT_MAX)
            throw Failure("the shape " + whole_shape_text(shape) +
                          " is too large: a tensor has at most " + std::to_string(INT_MAX) +
                          " bytes");
    }
    return static_cast<size_t>((number * static_cast<uint64_t>(bits) + 7) / 8);
}

Tensor make_tensor(int data_type, const std::vector<int64_t>& shape)
{
    const size_t bytes = count_tensor_bytes(data_type, shape);
    Tensor tensor;
    tensor.data_type = data_type;
    for (const int64_t extent : shape)
        tensor.shape.push_back(static_cast<int>(extent));
    if (data_type == TENGINE_DT_STRING)
        tensor.texts.resize(tensor.element_number());
    else
        tensor.bytes.resize(bytes);
    return tensor;
}

Tensor make_tensor(int data_type, const std::vector<int64_t>& shape, std::string_view elements)
{
    const size_t bytes = count_tensor_bytes(data_type, shape);
    if (elements.size() != bytes)
        throw Failure("there are " + std::to_string(elements.size()) +
                      " bytes of elements, the shape " +
                      (shape.empty() ? "scalar" : whole_shape_text(shape)) + " needs " +
                      std::to_string(bytes));
    Tensor tensor = make_tensor(data_type, shape);
    if (bytes > 0) std::memcpy(tensor.bytes.data(), elements.data(), bytes);
    return tensor;
}

bool is_complex(int data_type)
{
    return data_type == TENGINE_DT_COMPLEX64 || data_type == TENGINE_DT_COMPLEX128;
}

std::complex<double> get_complex(const Tensor& tensor, size_t index)
{
    if (tensor.data_type == TENGINE_DT_COMPLEX64) return load<std::complex<float>>(tensor, index);
    if (tensor.data_type == TENGINE_DT_COMPLEX128) return load<std::complex<double>>(tensor, index);
    return get_element(tensor, index);
}

double get_element(const Tensor& tensor, size_t index)
{
    if (is_small(tensor.data_type))
        return code_to_double(tensor.data_type, get_code(tensor, index));
    switch (tensor.data_type) {
        case TENGINE_DT_FP32:
            return load<float>(tensor, index);
        case TENGINE_DT_FP16:
            return half_to_double(load<uint16_t>(tensor, index));
        case TENGINE_DT_BF16:
            return bfloat_to_double(load<uint16_t>(tensor, index));
        case TENGINE_DT_FP64:
            return load<double>(tensor, index);
        case TENGINE_DT_INT8:
            return load<int8_t>(tensor, index);
        case TENGINE_DT_INT16:
            return load<int16_t>(tensor, index);
        case TENGINE_DT_INT32:
            return load<int32_t>(tensor, index);
        case TENGINE_DT_INT64:
            return static_cast<double>(load<int64_t>(tensor, index));
        case TENGINE_DT_BOOL:
        case TENGINE_DT_UINT8:
            return load<uint8_t>(tensor, index);
        case TENGINE_DT_UINT16:
            return load<uint16_t>(tensor, index);
        case TENGINE_DT_UINT32:
            return load<uint32_t>(tensor, index);
        case TENGINE_DT_UINT64:
            return static_cast<double>(load<uint64_t>(tensor, index));
        default:
            fail_data_type(tensor.data_type);
    }
}

static void set_complex(Tensor* tensor, size_t index, std::complex<double> value)
{
    if (tensor->data_type == TENGINE_DT_COMPLEX64)
        store(tensor, index, std::complex<float>(value));
    else
        store(tensor, index, value);
}

void set_element(Tensor* tensor, size_t index, double value)
{
    if (is_complex(tensor->data_type)) return set_complex(tensor, index, value);
    if (is_small(tensor->data_type))
        return set_code(tensor, index, double_to_code(tensor->data_type, value));
    switch (tensor->data_type) {
        case TENGINE_DT_FP32:
            return store(tensor, index, static_cast<float>(value));
        case TENGINE_DT_FP16:
            return store(tensor, index, double_to_half(value));
        case TENGINE_DT_BF16:
            return store(tensor, index, double_to_bfloat(value));
        case TENGINE_DT_FP64:
            return store(tensor, index, value);
        case TENGINE_DT_INT8:
            return store(tensor, index, static_cast<int8_t>(value));
        case TENGINE_DT_INT16:
            return store(tensor, index, static_cast<int16_t>(value));
        case TENGINE_DT_INT32:
            return store(tensor, index, static_cast<int32_t>(value));
        case TENGINE_DT_INT64:
            return store(tensor, index, static_cast<int64_t>(value));
        case TENGINE_DT_BOOL:
            return store(tensor, index, static_cast<uint8_t>(value != 0));
        case TENGINE_DT_UINT8:
            return store(tensor, index, static_cast<uint8_t>(value));
        case TENGINE_DT_UINT16:
            return store(tensor, index, static_cast<uint16_t>(value));
        case TENGINE_DT_UINT32:
            return store(tensor, index, static_cast<uint32_t>(value));
        case TENGINE_DT_UINT64:
            return store(tensor, index, static_cast<uint64_t>(value));
        default:
            fail_data_type(tensor->data_type);
    }
}

bool is_floating(int data_type)
{
    return data_type == TENGINE_DT_FP32 || data_type == TENGINE_DT_FP16 ||
           data_type == TENGINE_DT_BF16 || data_type == TENGINE_DT_FP64 ||
           is_small_float(data_type);
}

// The generator is the standard's, its numbers are the same everywhere; the distributions are not.
void fill_random(std::mt19937_64* engine, Tensor* tensor)
{
    if (tensor->data_type == TENGINE_DT_STRING) return;
    const auto draw = [engine] { return std::ldexp(static_cast<double>((*engine)() >> 11), -53); };
    for (size_t i = 0; i < tensor->element_number(); ++i) {
        const double value = draw();
        if (is_complex(tensor->data_type))
            set_complex(tensor, i, {value, draw()});
        else
            set_element(tensor, i, is_floating(tensor->data_type) ? value : value < 0.5 ? 0 : 1);
    }
}

std::string shape_text(const std::vector<int>& shape)
{
    if (shape.empty()) return "scalar";
    std::string text;
    for (const int extent : shape) {
        if (!text.empty()) text += 'x';
        text += extent < 0 ? "?" : std::to_string(extent);
    }
    return text;
}

}  // namespace tengine::tools
