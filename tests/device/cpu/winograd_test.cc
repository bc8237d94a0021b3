// SPDX-License-Identifier: Apache-2.0
// The error of Winograd's filtering, compared with that of a direct sum. The bound of F(4x4) is
// above the errors with the points of conv_winograd.cc (2.4 to 6 times) and below those with the
// points of Lavin and Gray, which are four times larger; likewise for F(6x6).
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

#include "base/half.h"
#include "device/cpu/kernel/vector/vector_target.h"
#include "device/cpu/kernel_runner.h"

namespace tengine::cpu {
namespace {

// Whole tiles of four and of six; as few of them as transform filters in each run.
constexpr int kSide = 24, kSmallSide = 12;

std::vector<float> normal(size_t count, bool is_positive, std::mt19937& generator)
{
    std::normal_distribution<float> distribution;
    std::vector<float> values(count);
    for (float& value : values) {
        value = distribution(generator);
        if (is_positive) value = std::max(value, 0.0f);
    }
    return values;
}

// Returns the result of channel 0 at row y, column x, in double.
double convolve(const std::vector<float>& input, const std::vector<float>& weight, int channels,
                int side, int y, int x)
{
    double sum = 0;
    for (int c = 0; c < channels; ++c)
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) {
                const int row = y + i - 1, column = x + j - 1;
                if (row < 0 || row >= side || column < 0 || column >= side) continue;
                const int place = (c * side + row) * side + column, tap = (c * 3 + i) * 3 + j;
                sum += double{input[static_cast<size_t>(place)]} * weight[static_cast<size_t>(tap)];
            }
    return sum;
}

// Returns the largest error of channel 0, in units of 4 * 2^-24 * sqrt(9 * channels) * rms(y).
double measure_error(const Kernel& kernel, int channels, int side, bool is_positive)
{
    KernelRunner runner(tools::conv_case("Conv", {1, channels, side, side}, {16, channels, 3, 3},
                                         {{}, {1, 1, 1, 1}, {}, 1, false}));
    std::mt19937 generator(static_cast<unsigned>(channels));
    const std::vector<float> input = normal(runner.input_size(0), is_positive, generator);
    const std::vector<float> weight = normal(runner.input_size(1), false, generator);
    runner.fill(0, input);
    runner.fill(1, weight);
    const std::vector<float> result = runner.run(kernel, 1);
    double squares = 0, worst = 0;
    for (int i = 0; i < side * side; ++i) {
        const double exact = convolve(input, weight, channels, side, i / side, i % side);
        squares += exact * exact;
        worst = std::max(worst, std::fabs(exact - double{result[static_cast<size_t>(i)]}));
    }
    const double rms = std::sqrt(squares / (side * side));
    return worst / (4 * 0x1p-24 * std::sqrt(9.0 * channels) * rms);
}

TEST(Winograd, ErrorIsThatOfItsPoints)
{
    if (get_vector_target_num() == 0) GTEST_SKIP() << "the build has no vectors";
    const Case any = tools::conv_case("Conv", {1, 16, 24, 24}, {16, 16, 3, 3}, {{}, {1, 1, 1, 1}});
    const Kernel *four = nullptr, *six = nullptr;
    for (const Kernel* kernel : KernelRunner(any).kernels()) {
        if (!std::strcmp(kernel->name, "conv.f32.winograd4x4")) four = kernel;
        if (!std::strcmp(kernel->name, "conv.f32.winograd6x6")) six = kernel;
    }
    ASSERT_TRUE(four && six);
    for (int target = 0; target < get_vector_target_num(); ++target) {
        SCOPED_TRACE(get_vector_target_name(target));
        force_vector_target(target);
        for (const int side : {kSide, kSmallSide})
            for (const int channels : {64, 512})
                for (const bool is_positive : {false, true}) {
                    SCOPED_TRACE(std::to_string(side) + ", " + std::to_string(channels) +
                                 (is_positive ? " positive" : ""));
                    const double small = measure_error(*four, channels, side, is_positive);
                    const double large = measure_error(*six, channels, side, is_positive);
                    EXPECT_GT(small, 0);
                    EXPECT_LE(small, 3);
                    EXPECT_GT(large, small) << "it is not of six by six results";
                    EXPECT_LE(large, 12);
                }
    }
    force_vector_target(-1);
}

// Blocks have tiles of several pictures, and begin and end in the middle of one.
TEST(Winograd, BatchesHaveBitsOfTheirPictures)
{
    if (get_vector_target_num() == 0) GTEST_SKIP() << "the build has no vectors";
    constexpr int kChannels = 48, kPictures = 5;
    int found = 0;
    for (const int data_type : {TENGINE_DT_FP32, TENGINE_DT_FP16, TENGINE_DT_BF16})
        for (const int side : {7, 13, 30}) {
            const auto make = [&](int pictures) {
                return tools::conv_case("Conv", {pictures, kChannels, side, side},
                                        {40, kChannels, 3, 3}, {{}, {1, 1, 1, 1}, {}, 1, true});
            };
            KernelRunner all(make(kPictures), data_type), one(make(1), data_type);
            std::mt19937 generator(5);
            const std::vector<float> input = normal(all.input_size(0), false, generator);
            for (const size_t i : {1, 2}) {
                const std::vector<float> values = normal(all.input_size(i), false, generator);
                all.fill(i, values);
                one.fill(i, values);
            }
            all.fill(0, input);
            for (const Kernel* kernel : all.kernels()) {
                if (!std::strstr(kernel->name, "winograd")) continue;
                ++found;
                for (const int threads : {1, 3}) {
                    SCOPED_TRACE(std::string(kernel->name) + ", side " + std::to_string(side) +
                                 ", threads " + std::to_string(threads));
                    const std::vector<float> results = all.run(*kernel, threads);
                    const size_t size = results.size() / kPictures;
                    for (size_t i = 0; i < kPictures; ++i) {
                        const size_t floats = input.size() / kPictures;
                        const float* picture = input.data() + i * floats;
                        one.fill(0, {picture, picture + floats});
                        const std::vector<float> expected = one.run(*kernel, 1);
                        ASSERT_EQ(expected.size(), size);
                        EXPECT_EQ(std::memcmp(results.data() + i * size, expected.data(),
                                              size * sizeof(float)),
                                  0)
                            << "picture " << i;
                    }
                }
            }
        }
    EXPECT_EQ(found, 3 * 3 * 2);
}

// Sums of 16-bit numbers equal those of fp32, rounded once.
TEST(Winograd, RoundsSumsOfSixteenBitsOnce)
{
    if (get_vector_target_num() == 0) GTEST_SKIP() << "the build has no vectors";
    constexpr int kChannels = 32;
    for (const int data_type : {TENGINE_DT_FP16, TENGINE_DT_BF16}) {
        KernelRunner runner(
            tools::conv_case("Conv", {1, kChannels, kSide, kSide}, {16, kChannels, 3, 3},
                             {{}, {1, 1, 1, 1}, {}, 1, false}),
            data_type);
        std::mt19937 generator(3);
        std::vector<float> input = normal(runner.input_size(0), false, generator);
        std::vector<float> weight = normal(runner.input_size(1), false, generator);
        const bool is_fp16 = data_type == TENGINE_DT_FP16;
        for (std::vector<float>* values : {&input, &weight})
            for (float& value : *values)
                value =
                    is_fp16 ? fp16_to_fp32(fp32_to_fp16(value)) : bf16_to_fp32(fp32_to_bf16(value));
        runner.fill(0, input);
        runner.fill(1, weight);
        const double sum_bound = 12 * 4 * 0x1p-24 * 9 * kChannels;  // rms(y) is sqrt(9 channels)
        int found = 0;
        for (const Kernel* kernel : runner.kernels()) {
            if (!std::strstr(kernel->name, "f16.winograd")) continue;
            ++found;
            for (int target = 0; target < get_vector_target_num(); ++target) {
                force_vector_target(target);
                const std::vector<float> result = runner.run(*kernel, 1);
                for (int i = 0; i < kSide * kSide; ++i) {
                    const double exact =
                        convolve(input, weight, kChannels, kSide, i / kSide, i % kSide);
                    const double half_unit = is_fp16 ? 0x1p-11 : 0x1p-8;
                    ASSERT_NEAR(result[static_cast<size_t>(i)], exact,
                                sum_bound + half_unit * (std::fabs(exact) + sum_bound))
                        << kernel->name << ", " << get_vector_target_name(target);
                }
            }
            force_vector_target(-1);
        }
        EXPECT_EQ(found, 2);
    }
}

}  // namespace
}  // namespace tengine::cpu
