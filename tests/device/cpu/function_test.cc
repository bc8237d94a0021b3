// SPDX-License-Identifier: Apache-2.0
// The fast functions of one number against the exact values, in double, over the whole range of
// floats and on every instruction set this machine has: within the units that
// kernel/vector/elementwise.cc states.
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

#include "device/cpu/kernel/vector/vector_target.h"
#include "device/cpu/kernel_runner.h"

namespace tengine::cpu {
namespace {

using Limits = std::numeric_limits<float>;

struct ExactFunction
{
    const char* op;
    double (*value)(double x);
    // Units in the last place: of the result, or of max(result, x) if it is a difference.
    double units;
    bool is_of_argument = false;
    std::vector<float> exponent = {};
};

void PrintTo(const ExactFunction& function, std::ostream* stream)
{
    *stream << function.op;
}

double elu(double x)
{
    return x < 0 ? std::expm1(x) : x;
}

// Uses ONNX's defaults.
double selu(double x)
{
    return double{1.05070102214813232421875f} *
           (x < 0 ? double{1.67326319217681884765625f} * std::expm1(x) : x);
}

double softplus(double x)
{
    return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x)));
}

double mish(double x)
{
    return x * std::tanh(softplus(x));
}

double swish(double x)
{
    return x / (1 + std::exp(-x));
}

double gelu(double x)
{
    return x / 2 * std::erfc(-x * std::sqrt(0.5));
}

std::vector<float> list_values()
{
    std::vector<float> values = {0.0f,
                                 -0.0f,
                                 1.0f,
                                 -1.0f,
                                 Limits::max(),
                                 Limits::lowest(),
                                 Limits::min(),
                                 -Limits::min(),
                                 Limits::denorm_min(),
                                 Limits::infinity(),
                                 Limits::quiet_NaN()};
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 16381) {
        const uint32_t narrow = static_cast<uint32_t>(bits);
        float value;
        std::memcpy(&value, &narrow, sizeof value);
        values.push_back(value);
    }
    // Values around 1, where logarithms vanish, and where exponentials end.
    for (int i = -20000; i < 20000; ++i) {
        values.push_back(1 + static_cast<float>(i) * 0x1p-22f);
        values.push_back(static_cast<float>(i) * 0.01f);
    }
    return values;
}

double unit_of(double value)
{
    return std::ldexp(1, std::max(std::ilogb(value), -126) - 23);
}

class FunctionTest : public testing::TestWithParam<ExactFunction>
{
  protected:
    static void expect_close(float actual, float x)
    {
        const ExactFunction& function = GetParam();
        const double exact = function.value(x);
        if (std::isnan(exact) || std::isinf(exact) || std::isinf(static_cast<float>(exact))) {
            ASSERT_EQ(std::isnan(actual), std::isnan(exact)) << "of " << x;
            if (!std::isnan(exact) && !std::isfinite(exact)) {
                ASSERT_EQ(actual, exact) << "of " << x;
            }
            return;
        }
        // Factors below the smallest normal number may be 0.
        const double least = Limits::min() * (1 + std::fmin(std::fabs(double{x}), 128));
        double unit = exact == 0 ? 0 : unit_of(exact);
        if (function.is_of_argument) unit = std::fmax(unit, std::fabs(double{x}) * 0x1p-23);
        ASSERT_LE(std::fabs(double{actual} - exact), function.units * unit + least)
            << actual << ", expected " << exact << " of " << x;
    }
};

TEST_P(FunctionTest, IsWithinItsUnits)
{
    const std::vector<float> values = list_values();
    Case node_case = {GetParam().op, {tools::fed({static_cast<int>(values.size())})}};
    if (!GetParam().exponent.empty()) node_case.inputs.push_back(tools::constant({1}));
    KernelRunner runner(node_case);
    runner.fill(0, values);
    if (!GetParam().exponent.empty()) runner.fill(1, GetParam().exponent);
    const std::vector<const Kernel*> kernels = runner.kernels();
    ASSERT_EQ(kernels.size(), get_vector_target_num() > 0 ? 2u : 1u);
    for (int target = 0; target < get_vector_target_num(); ++target) {
        SCOPED_TRACE(get_vector_target_name(target));
        force_vector_target(target);
        const std::vector<float> results = runner.run(*kernels.front(), 1);
        for (size_t i = 0; i < values.size() && !HasFatalFailure(); ++i) {
#if defined(__arm__) && defined(__ARM_NEON)
            if (std::fabs(values[i]) < Limits::min()) continue;  // treated as 0
#endif
            expect_close(results[i], values[i]);
        }
    }
    force_vector_target(-1);
}

INSTANTIATE_TEST_SUITE_P(
    Kernel, FunctionTest,
    testing::Values(ExactFunction{"Exp", [](double x) { return std::exp(x); }, 2},
                    ExactFunction{"Log", [](double x) { return std::log(x); }, 3},
                    ExactFunction{"Softplus", softplus, 3}, ExactFunction{"Elu", elu, 5},
                    ExactFunction{"Selu", selu, 5}, ExactFunction{"Mish", mish, 5},
                    ExactFunction{"Gelu", gelu, 5, true}, ExactFunction{"Swish", swish, 5, true},
                    ExactFunction{"Pow", [](double x) { return x * x; }, 0.5, false, {2}},
                    ExactFunction{"Pow", [](double x) { return x * x * x; }, 2, false, {3}},
                    ExactFunction{
                        "Pow", [](double x) { return std::pow(x, 0.5); }, 0.5, false, {0.5f}}),
    [](const auto& test) { return test.param.op + std::to_string(test.index); });

}  // namespace
}  // namespace tengine::cpu
