// SPDX-License-Identifier: Apache-2.0
// Every fast kernel against the reference kernel of its operator, on every instruction set this
// machine has, with one worker and several. The allowed difference follows from the arithmetic.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <random>

#include "device/cpu/kernel/product/matrix_product.h"
#include "device/cpu/kernel/vector/vector_target.h"
#include "device/cpu/kernel_runner.h"
#include "device/cpu/table_cases.h"
#include "support/emulated.h"

namespace tengine::cpu {
namespace {

using tools::constant;
using tools::conv_case;
using tools::fed;

constexpr double kEpsilon = std::numeric_limits<float>::epsilon();

bool is_fast(const Kernel& kernel)
{
    return std::strcmp(kernel.name, "reference") != 0;
}

// The allowed distance of an element from the reference, in double, including the reference's own
// rounding.
using Tolerance = std::function<double(size_t index, float expected)>;

std::vector<float> random_values(size_t count, std::mt19937& generator, float low, float high)
{
    std::uniform_real_distribution<float> distribution(low, high);
    std::vector<float> values(count);
    for (float& value : values)
        value = distribution(generator);
    return values;
}

// Calls body with each instruction set in turn; once if kernels are compiled for one set only.
template <class Body>
void for_each_target(const Body& body)
{
    for (int target = 0; target < std::max(get_vector_target_num(), 1); ++target) {
        force_vector_target(target);
        const char* name = get_vector_target_name(target);
        body(name ? name : "no vectors");
    }
    force_vector_target(-1);
}

void expect_close(const std::vector<float>& actual, const std::vector<float>& expected,
                  const Tolerance& tolerance)
{
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i) {
        if (actual[i] == expected[i] || (std::isnan(actual[i]) && std::isnan(expected[i])))
            continue;
        ASSERT_LE(std::fabs(double{actual[i]} - double{expected[i]}), tolerance(i, expected[i]))
            << "element " << i << ": " << actual[i] << ", expected " << expected[i];
    }
}

class KernelTest : public testing::TestWithParam<Case>
{
  protected:
    // Compares all fast kernels with the reference on the runner's present inputs.
    static void compare(KernelRunner& runner, const Tolerance& tolerance)
    {
        const std::vector<const Kernel*> kernels = runner.kernels();
        ASSERT_FALSE(is_fast(*kernels.back())) << "the reference comes last";
        const std::vector<float> expected = runner.run(*kernels.back(), 1);
        for (const Kernel* kernel : kernels) {
            if (!is_fast(*kernel)) continue;
            for_each_target([&](const char* target) {
                for (int thread_num : {1, 2, 5}) {
                    SCOPED_TRACE(std::string(kernel->name) + " on " + target + ", " +
                                 std::to_string(thread_num) + " threads");
                    expect_close(runner.run(*kernel, thread_num), expected, tolerance);
                }
                if (kernel->in_place_input >= 0 &&
                    runner.input_size(kernel->in_place_input) == expected.size())
                    expect_close(runner.run_in_place(*kernel, 2), expected, tolerance);
            });
        }
    }
};

// ---- sums of products ----

using ProductTest = KernelTest;

// Layers of networks that take an emulator a minute each, mostly for the reference. Unlike smaller
// ones they have blocks of a cache's size, which do not depend on the processor.
bool takes_long(const Case& node_case, const KernelRunner& runner)
{
    constexpr size_t kMostMacs = size_t{1} << 25;
    if (!test::kEmulated || node_case.op.find("Conv") == std::string::npos) return false;
    const auto channels = static_cast<size_t>(std::max(node_case.inputs[0].dims[1], 1));
    return runner.input_size(0) / channels * runner.input_size(1) > kMostMacs;
}

// The error of a sum of n products in any order, with or without fused multiply-add, is at most n *
// eps * sum |a| |b|. The reference computes both factors: with the inputs' magnitudes it gives the
// sum, with ones the number of terms. Two more roundings are the store, and alpha and beta.
TEST_P(ProductTest, IsWithinTheErrorOfTheSum)
{
    KernelRunner runner(GetParam());
    if (takes_long(GetParam(), runner)) GTEST_SKIP() << "takes too long on an emulated processor";
    const Kernel& reference = *runner.kernels().back();
    std::mt19937 generator(1);
    std::vector<std::vector<float>> inputs;
    for (size_t i = 0; i < runner.input_num(); ++i) {
        const size_t size = runner.input_size(static_cast<int>(i));
        inputs.push_back(random_values(size, generator, -1, 1));
        runner.fill(static_cast<int>(i), std::vector<float>(size, 1));
    }
    const std::vector<float> terms = runner.run(reference, 1);
    for (size_t i = 0; i < inputs.size(); ++i) {
        std::vector<float> magnitudes = inputs[i];
        for (float& value : magnitudes)
            value = std::fabs(value);
        runner.fill(static_cast<int>(i), magnitudes);
    }
    const std::vector<float> sums = runner.run(reference, 1);
    for (size_t i = 0; i < inputs.size(); ++i)
        runner.fill(static_cast<int>(i), inputs[i]);
    compare(runner, [&](size_t i, float) { return (terms[i] + 3) * kEpsilon * sums[i]; });
}

// ---- element-wise ----

using ElementwiseTest = KernelTest;

// Returns the units in the last place by which kernel and reference may differ; 0: not at all. See
// the accuracy that kernel/vector/elementwise.cc states; the reference has an error of its own.
int unit_tolerance(const std::string& op)
{
    static const std::map<std::string, int> units = {
        {"Elu", 6},       {"Erf", 6},      {"Exp", 5},    {"Gelu", 12}, {"HardSigmoid", 4},
        {"HardSwish", 4}, {"Log", 5},      {"Mish", 12},  {"Pow", 3},   {"Selu", 6},
        {"Sigmoid", 8},   {"Softplus", 5}, {"Swish", 12}, {"Tanh", 8}};
    const auto found = units.find(op);
    return found == units.end() ? 0 : found->second;
}

// Returns the error of a result if arithmetic flushes subnormal numbers to 0, as NEON of 32 bits
// does; all others are exact.
double flushed_magnitude([[maybe_unused]] float expected)
{
#if defined(__arm__) && defined(__ARM_NEON)
    if (std::fabs(expected) < std::numeric_limits<float>::min())
        return std::numeric_limits<float>::min();
#endif
    return 0;
}

Tolerance units_of(const std::string& op)
{
    const int units = unit_tolerance(op);
    if (units == 0) return [](size_t, float expected) { return flushed_magnitude(expected); };
    // If a sum cancels, the unit is that of its terms, which have magnitude 1. Subnormal results
    // may be 0.
    const double floor =
        op.compare(0, 4, "Hard") == 0 || op == "Gelu" || op == "Swish" ? kEpsilon : 0;
    return [=](size_t, float expected) {
        const double unit = std::max(std::fabs(double{expected}) * kEpsilon, floor);
        return std::max(units * unit, double{std::numeric_limits<float>::min()});
    };
}

TEST_P(ElementwiseTest, IsWithinItsStatedAccuracy)
{
    KernelRunner runner(GetParam());
    std::mt19937 generator(1);
    runner.fill_all(generator, -4, 4);
    compare(runner, units_of(GetParam().op));
}

// Every function over the whole range of floats, with infinities, NaN, zeros and subnormals.
class ElementwiseRangeTest : public testing::TestWithParam<const char*>
{
};

TEST_P(ElementwiseRangeTest, OfAllMagnitudes)
{
    std::vector<float> values;
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 65521) {
        const uint32_t narrow = static_cast<uint32_t>(bits);
        float value;
        std::memcpy(&value, &narrow, sizeof value);
        values.push_back(value);
    }
    using Limits = std::numeric_limits<float>;
    for (float value :
         {0.0f, -0.0f, 1.0f, -1.0f, Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(),
          Limits::max(), Limits::lowest(), Limits::min(), Limits::denorm_min()})
        values.push_back(value);
    KernelRunner runner({GetParam(), {fed({static_cast<int>(values.size())})}});
    runner.fill(0, values);
    const std::vector<const Kernel*> kernels = runner.kernels();
    const std::vector<float> expected = runner.run(*kernels.back(), 1);
    for (const Kernel* kernel : kernels) {
        if (!is_fast(*kernel)) continue;
        for_each_target([&](const char* target) {
            SCOPED_TRACE(target);
            expect_close(runner.run(*kernel, 1), expected, units_of(GetParam()));
        });
    }
}

INSTANTIATE_TEST_SUITE_P(Kernel, ElementwiseRangeTest,
                         testing::Values("Relu", "LeakyRelu", "Clip", "HardSigmoid", "HardSwish",
                                         "Sigmoid", "Tanh", "Erf", "Abs", "Neg", "Ceil", "Floor",
                                         "Round", "Sqrt", "Reciprocal"),
                         [](const auto& parameter) { return std::string(parameter.param); });

// ---- normalisations of rows ----

using NormTest = KernelTest;

// The error of the mean of the squares is, by kernel/norm/normalize-inl.h, within (n / (4 lanes) +
// lanes + 4) eps, and with at most 16 lanes within (n / 4 + 20) eps of it; the root halves that,
// and the root, two quotients and two products are rounded, in the reference too. If a mean is
// subtracted, its error is relative to the largest sum, which is below 3, and so are the errors of
// the differences; divided by a deviation above 1/2 that is at most 12 of these steps.
TEST_P(NormTest, IsWithinTheErrorOfTheSum)
{
    KernelRunner runner(GetParam());
    std::mt19937 generator(1);
    runner.fill_all(generator, -1, 1);
    const bool is_skip = GetParam().op.find("Skip") != std::string::npos;
    const double steps = static_cast<double>(runner.input_size(is_skip ? 2 : 1)) / 8 + 16;
    const bool has_mean = GetParam().op.find("SkipLayer") != std::string::npos;
    compare(runner, [&](size_t, float expected) {
        return steps * kEpsilon * (std::fabs(double{expected}) + (has_mean ? 12 : 0));
    });
}

// ---- rotations ----

using RotaryTest = KernelTest;

// Both products of numbers up to 1, and their sum, up to 2, are rounded: at most 2 eps in the
// reference and 2 eps in the kernel. Other elements are copied.
TEST_P(RotaryTest, IsWithinTheErrorOfTwoProducts)
{
    const Case& node_case = GetParam();
    KernelRunner runner(node_case);
    std::mt19937 generator(1);
    runner.fill_all(generator, -1, 1);
    const size_t rotated = 2 * static_cast<size_t>(node_case.inputs[1].dims.back());
    size_t heads = 1;
    for (const auto& [name, value] : node_case.ints)
        if (name == "num_heads") heads = static_cast<size_t>(value);
    const size_t size = static_cast<size_t>(node_case.inputs[0].dims.back()) / heads;
    compare(runner, [=](size_t i, float) { return i % size < rotated ? 4 * kEpsilon : 0; });
}

// ---- others ----

class OtherKernelTest : public KernelTest
{
};

TEST_P(OtherKernelTest, IsWithinTheErrorOfTheSum)
{
    KernelRunner runner(GetParam());
    std::mt19937 generator(1);
    runner.fill_all(generator, -1, 1);
    // Means of at most 900 values below 1, summed in another order; a few roundings of a number
    // below 5.
    const bool is_exact = GetParam().op.find("Max") != std::string::npos;
    compare(runner, [&](size_t, float) { return is_exact ? 0 : 4 * 64 * kEpsilon; });
}

// ---- the case table ----

const OperatorNames kProducts = {"Conv", "ConvTranspose", "Gemm", "MatMul"};
const OperatorNames kNorms = {"RMSNormalization", "SimplifiedLayerNormalization",
                              "com.microsoft.SkipLayerNormalization",
                              "com.microsoft.SkipSimplifiedLayerNormalization"};
const OperatorNames kRotations = {"RotaryEmbedding"};
const OperatorNames kElementwise = {
    "Abs",   "Add",     "Ceil",        "Clip",      "Div",       "Elu",        "Erf",   "Exp",
    "Floor", "Gelu",    "HardSigmoid", "HardSwish", "LeakyRelu", "Log",        "Max",   "Min",
    "Mish",  "Mul",     "Neg",         "PRelu",     "Pow",       "Reciprocal", "Relu",  "Round",
    "Selu",  "Sigmoid", "Softplus",    "Sqrt",      "Sub",       "Sum",        "Swish", "Tanh"};
const OperatorNames kOthers = {"AveragePool",
                               "BatchNormalization",
                               "GlobalAveragePool",
                               "GlobalMaxPool",
                               "GroupNormalization",
                               "InstanceNormalization",
                               "LayerNormalization",
                               "MaxPool",
                               "Softmax"};

// Awkward sizes, and those of networks. A rotation has a cosine and a sine for each token;
// positions in a table are left to the reference.
std::vector<Case> list_all_cases()
{
    std::vector<Case> all = tools::list_cases();
    const std::vector<Case> layers = tools::list_network_cases();
    all.insert(all.end(), layers.begin(), layers.end());
    all.erase(std::remove_if(all.begin(), all.end(),
                             [](const Case& each) {
                                 return each.op == "RotaryEmbedding" && each.inputs.size() > 3;
                             }),
              all.end());
    return all;
}

std::vector<Case> cases_of(const OperatorNames& operators)
{
    return choose_cases(list_all_cases(), operators, TENGINE_DT_FP32);
}

TEST(KernelTable, HasACaseOfAFastKernelForEachOperator)
{
    if (get_vector_target_num() == 0) GTEST_SKIP() << "the reference is all that this build has";
    for (const OperatorNames& operators : {kProducts, kNorms, kRotations, kElementwise, kOthers})
        expect_fast_kernels(list_all_cases(), operators, TENGINE_DT_FP32);
}

INSTANTIATE_TEST_SUITE_P(Kernel, ProductTest, testing::ValuesIn(cases_of(kProducts)), test_name);
INSTANTIATE_TEST_SUITE_P(Kernel, NormTest, testing::ValuesIn(cases_of(kNorms)), test_name);
INSTANTIATE_TEST_SUITE_P(Kernel, RotaryTest, testing::ValuesIn(cases_of(kRotations)), test_name);
INSTANTIATE_TEST_SUITE_P(Kernel, ElementwiseTest, testing::ValuesIn(cases_of(kElementwise)),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Kernel, OtherKernelTest, testing::ValuesIn(cases_of(kOthers)), test_name);

// The fast kernels are chosen for the cases that they are made for.
TEST(KernelChoice, TakesTheFastKernel)
{
    const auto usual = [](const Case& node_case) { return KernelRunner(node_case).usual(); };
    const bool has_vectors = get_vector_target_num() > 0;
    const bool has_products = has_vectors || *get_product_library();
    const auto fast = [&](const char* name, const char* product) {
        return has_vectors ? name : has_products ? product : "reference";
    };
    EXPECT_EQ(usual({"Relu", {fed({3})}}), fast("relu.fp.vector", "reference"));
    EXPECT_EQ(usual(conv_case("Conv", {1, 4, 9, 9}, {4, 1, 3, 3}, {{}, {}, {}, 4})),
              fast("conv.fp.depthwise_nhwc", "conv.f32.im2col"));
    EXPECT_EQ(usual({"Gemm", {fed({33, 2}), constant({2, 2})}}),
              fast("gemm.f32.packed", "gemm.f32.blocked"));
    EXPECT_EQ(usual({"MatMul", {fed({2, 3, 2}), constant({2, 2})}}),
              fast("matmul.f32.packed", "matmul.f32.blocked"));
    // These have a vector for each picture of a batch.
    EXPECT_EQ(usual({"Gemm", {fed({32, 2}), constant({2, 2})}}),
              fast("gemm.f32.blocked", "gemm.f32.blocked"));
    EXPECT_EQ(usual({"MatMul", {fed({2, 1, 2}), constant({2, 2})}}),
              fast("matmul.f32.blocked", "matmul.f32.blocked"));
    EXPECT_EQ(usual(conv_case("Conv", {1, 4, 9, 9}, {4, 4, 3, 3})),
              fast("conv.f32.nhwc", "conv.f32.im2col"));
    EXPECT_EQ(usual(conv_case("Conv", {1, 16, 26, 26}, {16, 16, 3, 3})),
              fast("conv.f32.winograd4x4", "conv.f32.im2col"));
    // Both have four tiles, the first one with 49 results and the second with 36.
    EXPECT_EQ(usual(conv_case("Conv", {1, 16, 9, 9}, {16, 16, 3, 3})),
              fast("conv.f32.winograd4x4", "conv.f32.im2col"));
    EXPECT_EQ(usual(conv_case("Conv", {1, 16, 8, 8}, {16, 16, 3, 3})),
              fast("conv.f32.nhwc", "conv.f32.im2col"));
    // Five tiles have 51 results: they need more than three quarters of the multiply-adds.
    EXPECT_EQ(usual(conv_case("Conv", {1, 16, 5, 19}, {16, 16, 3, 3})),
              fast("conv.f32.nhwc", "conv.f32.im2col"));
    // Most of the window is in the padding; tiles of one pixel would take longer.
    EXPECT_EQ(usual(conv_case("Conv", {1, 16, 9, 9}, {16, 16, 3, 3}, {{}, {5, 5, 5, 5}, {5, 5}})),
              fast("conv.f32.nhwc_clipped", "conv.f32.im2col"));
    EXPECT_EQ(usual(conv_case("Conv", {1, 16, 3, 3}, {16, 16, 3, 3}, {{}, {1, 1, 1, 1}})),
              fast("conv.f32.nhwc", "conv.f32.im2col"));
    const auto product = [&](const char* name) { return has_products ? name : "reference"; };
    EXPECT_EQ(usual(conv_case("ConvTranspose", {1, 4, 9, 9}, {4, 1, 3, 3})),
              product("conv_transpose.f32.col2im"));
    EXPECT_EQ(usual(conv_case("ConvTranspose", {1, 4, 9, 9}, {4, 16, 3, 3})),
              fast("conv_transpose.f32.nhwc", "conv_transpose.f32.col2im"));
}

}  // namespace
}  // namespace tengine::cpu
