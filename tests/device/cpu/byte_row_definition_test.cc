// SPDX-License-Identifier: Apache-2.0
// Pools, softmax and normalisation of int8 and uint8 against their definitions, as in
// byte_definition_test.cc.
#include <cmath>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/cpu/byte_definition.h"
#include "device/cpu/byte_node.h"
#include "device/cpu/prepared_kernel.h"

namespace tengine::test {
namespace {

// ---- pools ----

struct Pool
{
    std::vector<int> shape;
    std::vector<int64_t> kernel, strides, dilations, pads;
    int64_t ceil_mode = 0;
};

const Pool kPools[] = {
    {{2, 19, 7, 9}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}},
    {{1, 5, 8, 8}, {3, 2}, {1, 1}, {2, 3}, {1, 0, 2, 1}},
    {{1, 33, 5, 6}, {3, 3}, {2, 2}, {1, 1}, {0, 1, 1, 0}, 1},
    {{1, 70, 6, 6}, {2, 4}, {3, 3}, {1, 1}, {1, 2, 1, 2}, 1},
};

// Calls take(input index) for the elements under a window; returns the taps that are on the input
// or on its pads.
template <class Take>
int visit_window(const Pool& pool, const tensor& y, int64_t index, const Take& take)
{
    const int64_t h = pool.shape[2], w = pool.shape[3];
    const int64_t line = index / y.dims[3] % y.dims[2], column = index % y.dims[3];
    const int64_t plane = index / y.dims[3] / y.dims[2];
    int taps = 0;
    for (int64_t i = 0; i < pool.kernel[0]; ++i)
        for (int64_t j = 0; j < pool.kernel[1]; ++j) {
            const int64_t row = line * pool.strides[0] - pool.pads[0] + i * pool.dilations[0];
            const int64_t at = column * pool.strides[1] - pool.pads[1] + j * pool.dilations[1];
            taps += row < h + pool.pads[2] && at < w + pool.pads[3];
            if (row >= 0 && row < h && at >= 0 && at < w) take((plane * h + row) * w + at);
        }
    return taps;
}

void describe(ByteNode& node, const Pool& pool)
{
    node.set("kernel_shape", pool.kernel);
    node.set("strides", pool.strides);
    node.set("dilations", pool.dilations);
    node.set("pads", pool.pads);
    node.set("ceil_mode", pool.ceil_mode);
    node.infer();
}

void pool_bytes(const Pool& pool, int type, float scale, bool counts_padding)
{
    ByteNode node;
    node.bytes("x", pool.shape, type);
    node.bytes("x_zero", {}, type);
    node.bytes("y_zero", {}, type);
    node.floats("x_scale", {}, {scale});
    node.floats("y_scale", {}, {1});
    node.make("com.microsoft.QLinearAveragePool", {"x", "x_scale", "x_zero", "y_scale", "y_zero"});
    node.set("count_include_pad", counts_padding);
    describe(node, pool);
    const tensor& y = *get_ir_node_output(node.node(), 0);
    node.judge("average_pool.s8.nhwc", [&](const Bytes& bytes) {
        for (int64_t i = 0; i < y.elem_num; ++i) {
            int sum = 0, count = 0;
            const int taps = visit_window(pool, y, i, [&](int64_t at) {
                sum += element(node.find("x"), at) - element(node.find("x_zero"), 0);
                ++count;
            });
            const int divisor = std::max(counts_padding ? taps : count, 1);
            expect_nearest(bytes[static_cast<size_t>(i)], type, sum * double{scale} / divisor,
                           element(node.find("y_zero"), 0), doubt_of(255 * double{scale}));
            if (testing::Test::HasFailure()) return;
        }
    });
}

TEST(Int8RowDefinition, QLinearAveragePool)
{
    for (const Pool& pool : kPools)
        for (const int type : kInt8Types)
            for (const float scale : {0.25f, 1.0f, 0.7f, 100.0f})
                for (const bool counts_padding : {false, true}) {
                    SCOPED_TRACE(testing::PrintToString(pool.shape));
                    pool_bytes(pool, type, scale, counts_padding);
                }
}

TEST(Int8RowDefinition, MaxPoolOfBytes)
{
    for (const Pool& pool : kPools)
        for (const int type : kInt8Types) {
            SCOPED_TRACE(testing::PrintToString(pool.shape));
            ByteNode node;
            node.bytes("x", pool.shape, type);
            node.make("MaxPool", {"x"});
            describe(node, pool);
            const tensor& y = *get_ir_node_output(node.node(), 0);
            node.judge("max_pool.s8.nhwc", [&](const Bytes& bytes) {
                for (int64_t i = 0; i < y.elem_num; ++i) {
                    int largest = lowest_of(type);
                    visit_window(pool, y, i, [&](int64_t at) {
                        largest = std::max(largest, element(node.find("x"), at));
                    });
                    ASSERT_EQ(number_of(bytes[static_cast<size_t>(i)], type), largest);
                }
            });
        }
}

// The means divide by the number of values on the input, or by the number including the padding.
TEST(Int8RowDefinition, AveragePoolOfFloats)
{
    for (const Pool& pool : kPools)
        for (const bool counts_padding : {false, true}) {
            SCOPED_TRACE(testing::PrintToString(pool.shape));
            ByteNode node;
            std::vector<float> x;
            for (int64_t i = 0;
                 i < int64_t{pool.shape[0]} * pool.shape[1] * pool.shape[2] * pool.shape[3]; ++i)
                x.push_back(static_cast<float>(node.random()() % 1000) / 999 - 0.5f);
            node.floats("x", pool.shape, x);
            node.make("AveragePool", {"x"});
            node.set("count_include_pad", counts_padding);
            describe(node, pool);
            const tensor& y = *get_ir_node_output(node.node(), 0);
            node.judge("average_pool.fp.nhwc", [&](const Bytes& bytes) {
                for (int64_t i = 0; i < y.elem_num; ++i) {
                    double sum = 0;
                    int count = 0;
                    const int taps = visit_window(pool, y, i, [&](int64_t at) {
                        sum += double{x[static_cast<size_t>(at)]};
                        ++count;
                    });
                    float mean;
                    std::memcpy(&mean, bytes.data() + 4 * i, sizeof mean);
                    ASSERT_NEAR(double{mean}, sum / std::max(counts_padding ? taps : count, 1),
                                1e-6);
                }
            });
        }
}

// Nearly as many elements as 32 bits can sum.
TEST(Int8RowDefinition, MeansOfLargePlanes)
{
    constexpr int kSide = 2901;
    constexpr double kScale = float{0.3f};
    for (const int type : kInt8Types)
        for (const bool is_high : {false, true}) {
            ByteNode node;
            node.bytes("x", {1, 1, kSide, kSide}, type);
            node.bytes("x_zero", {}, type);
            node.bytes("y_zero", {}, TENGINE_DT_UINT8);
            const int lowest = lowest_of(type);
            std::memset(node.find("x")->data, lowest + (is_high ? 255 : 0), size_t{kSide} * kSide);
            node.find("x_zero")->u8[0] = static_cast<uint8_t>(lowest + (is_high ? 0 : 255));
            node.find("y_zero")->u8[0] = is_high ? 3 : 252;
            node.floats("x_scale", {}, {0.3f});
            node.floats("y_scale", {}, {2});
            node.make("com.microsoft.QLinearGlobalAveragePool",
                      {"x", "x_scale", "x_zero", "y_scale", "y_zero"});
            node.infer();
            node.judge("global_average_pool.s8.nhwc", [&](const Bytes& y) {
                expect_nearest(y[0], TENGINE_DT_UINT8, (is_high ? 255 : -255) * kScale / 2,
                               is_high ? 3 : 252, 1e-6);
            });
        }
}

// ---- QLinearSoftmax, tengine.QLinearLayerNormalization ----

// Each exponential has an error of 2^-24.
TEST(Int8RowDefinition, QLinearSoftmax)
{
    for (const int n : {1, 7, 33, 300})
        for (const int type : kInt8Types)
            for (const float scale : {0.0f, 1e-40f, 0.02f, 0.3f, 1e30f})
                for (const float y_scale : {1.0f / 256, 1e-3f, 0.5f}) {
                    SCOPED_TRACE(testing::PrintToString(std::vector<float>{scale, y_scale}));
                    ByteNode node;
                    node.bytes("x", {3, n}, type);
                    node.bytes("x_zero", {}, type);
                    node.bytes("y_zero", {}, type);
                    node.floats("x_scale", {}, {scale});
                    node.floats("y_scale", {}, {y_scale});
                    node.make("com.microsoft.QLinearSoftmax",
                              {"x", "x_scale", "x_zero", "y_scale", "y_zero"});
                    node.set("opset", 13);
                    node.infer();
                    const tensor* x = node.find("x");
                    node.judge("softmax.s8.table", [&](const Bytes& y) {
                        for (int i = 0; i < 3 * n; ++i) {
                            int largest = lowest_of(type);
                            double sum = 0;
                            for (int k = 0; k < n; ++k)
                                largest = std::max(largest, element(x, i / n * n + k));
                            for (int k = 0; k < n; ++k)
                                sum +=
                                    std::exp(double{scale} * (element(x, i / n * n + k) - largest));
                            const double real =
                                std::exp(double{scale} * (element(x, i) - largest)) / sum /
                                double{y_scale};
                            expect_nearest(y[static_cast<size_t>(i)], type, real,
                                           element(node.find("y_zero"), 0), 1e-3);
                            if (testing::Test::HasFailure()) return;
                        }
                    });
                }
}

// No integer represents its exponentials. The scale is known only at run time, and was not checked
// before.
TEST(Int8RowDefinition, QLinearSoftmaxRefusesANegativeScale)
{
    ByteNode node;
    node.bytes("x", {3, 7}, TENGINE_DT_INT8);
    node.floats("x_scale", {}, {0.1f});
    node.floats("y_scale", {}, {0.1f});
    node.make("com.microsoft.QLinearSoftmax", {"x", "x_scale", "", "y_scale", ""});
    node.set("opset", 13);
    node.infer();
    const cpu::Kernel& reference = *cpu::list_accepting_kernels(*node.node()).back();
    cpu::KernelContext context;
    context.node = node.node();
    for (const char* name : {"x_scale", "y_scale"}) {
        *node.find(name)->f32 = -0.1f;
        EXPECT_EQ(reference.run(context), TENGINE_ERANGE) << name;
        EXPECT_THAT(tengine_error_message(), testing::HasSubstr(name));
        *node.find(name)->f32 = 0.1f;
    }
}

// The bias and the product each have an error of 2^-9 of a quantisation step, floats less.
void normalize_rows(int n, int type, float x_scale, float y_scale)
{
    SCOPED_TRACE(testing::PrintToString(std::vector<float>{x_scale, y_scale}));
    ByteNode node;
    node.bytes("x", {3, n}, type);
    node.bytes("x_zero", {}, type);
    node.bytes("y_zero", {}, type);
    node.floats("x_scale", {}, {x_scale});
    node.floats("y_scale", {}, {y_scale});
    for (const char* name : {"scale", "bias"}) {
        std::vector<float> values;
        for (int i = 0; i < n; ++i)
            values.push_back(static_cast<float>(node.random()() % 2001) / 1000 - 1);
        node.floats(name, {n}, values);
    }
    node.make("tengine.QLinearLayerNormalization",
              {"x", "x_scale", "x_zero", "scale", "y_scale", "y_zero", "bias"});
    node.infer();
    const tensor* x = node.find("x");
    const double step = double{x_scale}, unit = double{y_scale};
    node.judge("layer_norm.s8.vector", [&](const Bytes& y) {
        for (int i = 0; i < 3 * n; ++i) {
            double mean = 0, variance = 0;
            for (int k = 0; k < n; ++k)
                mean += element(x, i / n * n + k) * step / n;
            for (int k = 0; k < n; ++k)
                variance += std::pow(element(x, i / n * n + k) * step - mean, 2) / n;
            const double centred =
                (element(x, i) * step - mean) / std::sqrt(variance + double{1e-5f});
            const double real = (centred * double{node.find("scale")->f32[i % n]} +
                                 double{node.find("bias")->f32[i % n]}) /
                                unit;
            expect_nearest(y[static_cast<size_t>(i)], type, real, element(node.find("y_zero"), 0),
                           0.005);
            if (testing::Test::HasFailure()) return;
        }
    });
}

TEST(Int8RowDefinition, QLinearLayerNormalization)
{
    for (const int n : {1, 7, 33, 300})
        for (const int type : kInt8Types)
            for (const float x_scale : {0.037f, 1e-6f, 0.0f})
                for (const float y_scale : {0.02f, 0.7f})
                    normalize_rows(n, type, x_scale, y_scale);
}

}  // namespace
}  // namespace tengine::test
