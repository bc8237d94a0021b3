// SPDX-License-Identifier: Apache-2.0
#include "device/tpu/quantized_model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

#include "operator/param.h"

namespace tengine::tpu {
namespace {

constexpr float kScale = 0.05f;

int64_t product_of(const std::vector<int>& dims)
{
    int64_t product = 1;
    for (int dim : dims)
        product *= dim;
    return product;
}

}  // namespace

QuantizedModel::QuantizedModel(test::IrBuilder& builder, unsigned seed, int data_type,
                               int weight_type)
    : builder_(builder), random_(seed), data_type_(data_type), weight_type_(weight_type)
{
}

int QuantizedModel::random(int low, int high)
{
    return std::uniform_int_distribution<int>(low, high)(random_);
}

std::string QuantizedModel::scales(int number, float typical)
{
    std::vector<float> values;
    for (int i = 0; i < number; ++i)
        values.push_back(typical * static_cast<float>(random(50, 200)) / 100);
    const std::string name = next("scale");
    builder_.floats(name, number == 1 ? std::vector<int>{} : std::vector<int>{number}, values);
    return name;
}

std::string QuantizedModel::zero(int data_type, int value)
{
    const std::string name = next("zero");
    builder_.constant(name, {}, std::vector<int8_t>{static_cast<int8_t>(value)}, data_type);
    return name;
}

// All readers of an activation have the same zero point.
std::string QuantizedModel::zero_of(const std::string& activation)
{
    const std::string name = "zero_of_" + activation;
    if (!builder_.find(name)) {
        const int value = data_type_ == TENGINE_DT_INT8 ? random(-20, 20) : random(100, 150);
        builder_.constant(name, {}, std::vector<int8_t>{static_cast<int8_t>(value)}, data_type_);
    }
    return name;
}

std::string QuantizedModel::random_bytes(std::vector<int> dims, int data_type, int low, int high)
{
    std::vector<int8_t> values(static_cast<size_t>(product_of(dims)));
    for (int8_t& value : values)
        value = static_cast<int8_t>(random(low, high));
    const std::string name = next("bytes");
    builder_.constant(name, std::move(dims), values, data_type);
    return name;
}

std::string QuantizedModel::bytes(std::vector<int> dims)
{
    return random_bytes(std::move(dims), data_type_, 0, 255);
}

std::string QuantizedModel::weights(std::vector<int> dims)
{
    return random_bytes(std::move(dims), weight_type_, 0, 255);
}

std::string QuantizedModel::ints(const std::vector<int64_t>& values)
{
    const std::string name = next("ints");
    builder_.ints(name, values);
    return name;
}

std::string QuantizedModel::bias(int number)
{
    std::vector<int32_t> values;
    for (int i = 0; i < number; ++i)
        values.push_back(random(-5000, 5000));
    const std::string name = next("bias");
    builder_.constant(name, {number}, values, TENGINE_DT_INT32);
    return name;
}

std::string QuantizedModel::result(const std::string& stem)
{
    const std::string name = next(stem);
    zero_of(name);
    return name;
}

std::string QuantizedModel::input(std::vector<int> dims)
{
    const std::string name = next("x");
    builder_.input(name, std::move(dims), data_type_);
    return name;
}

std::string QuantizedModel::conv(const std::string& x, int channels, const ConvOptions& options)
{
    const int k = channels / options.group * options.kernel_h * options.kernel_w;
    const float scale = 1.0f / (30 * std::sqrt(static_cast<float>(k)));
    const std::string y = result("conv");
    std::vector<std::string> inputs = {
        x,
        scales(1, kScale),
        zero_of(x),
        weights({options.outputs, channels / options.group, options.kernel_h, options.kernel_w}),
        scales(options.per_channel ? options.outputs : 1, scale),
        zero(weight_type_, options.weight_zero),
        scales(1, kScale),
        zero_of(y)};
    if (options.bias) inputs.push_back(bias(options.outputs));
    builder_.add("QLinearConv", inputs, {y});
    set_ints(y, "pads", options.pads);
    set_ints(y, "strides", {options.stride, options.stride});
    set_ints(y, "dilations", {options.dilation, options.dilation});
    set_int(y, "group", options.group);
    return y;
}

std::string QuantizedModel::gemm(const std::string& x, int k, int n, bool per_channel,
                                 bool transposed)
{
    const float scale = 1.0f / (30 * std::sqrt(static_cast<float>(k)));
    const std::string y = result("gemm");
    const std::vector<int> dims = transposed ? std::vector<int>{n, k} : std::vector<int>{k, n};
    builder_.add(
        "com.microsoft.QGemm",
        {x, scales(1, kScale), zero_of(x), weights(dims), scales(per_channel ? n : 1, scale),
         zero(weight_type_, 0), bias(n), scales(1, kScale), zero_of(y)},
        {y});
    set_int(y, "transB", transposed);
    return y;
}

std::string QuantizedModel::matmul(const std::string& x, int k, int n)
{
    const float scale = 1.0f / (30 * std::sqrt(static_cast<float>(k)));
    const std::string y = result("matmul");
    builder_.add("QLinearMatMul",
                 {x, scales(1, kScale), zero_of(x), weights({k, n}), scales(1, scale),
                  zero(weight_type_, 3), scales(1, kScale), zero_of(y)},
                 {y});
    return y;
}

std::string QuantizedModel::pair(const std::string& op, const std::string& a, const std::string& b)
{
    const std::string y = result("pair");
    builder_.add("com.microsoft." + op,
                 {a, scales(1, kScale), zero_of(a), b, scales(1, kScale), zero_of(b),
                  scales(1, kScale), zero_of(y)},
                 {y});
    return y;
}

std::string QuantizedModel::average_pool(const std::string& x, int kernel, int stride, int pad,
                                         bool counts_padding)
{
    const std::string y = result("mean");
    builder_.add("com.microsoft.QLinearAveragePool",
                 {x, scales(1, kScale), zero_of(x), scales(1, kScale), zero_of(y)}, {y});
    set_ints(y, "kernel_shape", {kernel, kernel});
    set_ints(y, "strides", {stride, stride});
    set_ints(y, "pads", {pad, pad, pad, pad});
    set_int(y, "count_include_pad", counts_padding);
    return y;
}

std::string QuantizedModel::global_average_pool(const std::string& x)
{
    const std::string y = result("mean");
    builder_.add("com.microsoft.QLinearGlobalAveragePool",
                 {x, scales(1, kScale), zero_of(x), scales(1, kScale / 4), zero_of(y)}, {y});
    return y;
}

std::string QuantizedModel::max_pool(const std::string& x, int kernel, int stride, int pad)
{
    const std::string y = plain("MaxPool", {x});
    set_ints(y, "kernel_shape", {kernel, kernel});
    set_ints(y, "strides", {stride, stride});
    set_ints(y, "pads", {pad, pad, pad, pad});
    return y;
}

std::string QuantizedModel::lookup(const std::string& x)
{
    const std::string y = result("lookup");
    builder_.add("tengine.Lookup", {x, bytes({256})}, {y});
    return y;
}

std::string QuantizedModel::plain(const std::string& op, std::vector<std::string> inputs)
{
    const std::string y = result("plain");
    builder_.add(op, std::move(inputs), {y});
    return y;
}

void QuantizedModel::set_ints(const std::string& output, const char* name,
                              const std::vector<int64_t>& values)
{
    EXPECT_EQ(set_node_ints(test::find_node(builder_.get(), output), name, values.data(),
                            static_cast<int>(values.size())),
              TENGINE_OK)
        << tengine_error_message();
}

void QuantizedModel::set_int(const std::string& output, const char* name, int64_t value)
{
    EXPECT_EQ(set_node_int(test::find_node(builder_.get(), output), name, value), TENGINE_OK)
        << tengine_error_message();
}

void QuantizedModel::set_text(const std::string& output, const char* name, const char* value)
{
    EXPECT_EQ(
        set_node_text(test::find_node(builder_.get(), output), name, value, std::strlen(value)),
        TENGINE_OK)
        << tengine_error_message();
}

}  // namespace tengine::tpu
