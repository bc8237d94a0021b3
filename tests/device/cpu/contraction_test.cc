// SPDX-License-Identifier: Apache-2.0
// The reference kernels round every product before they add it, on processors with fused
// multiply-add too, so that a result is the same number everywhere.
#include <cmath>
#include <gtest/gtest.h>

#include "device/cpu/kernel_runner.h"

namespace tengine::cpu {
namespace {

TEST(Reference, RoundsProductsBeforeItAddsThem)
{
    constexpr float kAlpha = 0.3f, kBeta = 0.1f;
    std::vector<float> x, expected;
    for (int i = 1; i <= 1000; ++i) {
        const float value = static_cast<float>(i) / 700;
        volatile float product = kAlpha * value;  // no sum can be fused with it
        const float sum = product + kBeta;
        if (sum == std::fma(kAlpha, value, kBeta)) continue;
        x.push_back(value);
        expected.push_back(sum);
    }
    ASSERT_GT(x.size(), 10u) << "fused sums differ";
    Case node_case = {"HardSigmoid", {tools::fed({static_cast<int>(x.size())})}};
    node_case.floats = {{"alpha", kAlpha}, {"beta", kBeta}};
    KernelRunner runner(node_case);
    runner.fill(0, x);
    EXPECT_EQ(runner.run(*runner.kernels().back(), 1), expected);
}

}  // namespace
}  // namespace tengine::cpu
