// SPDX-License-Identifier: Apache-2.0
// The fast kernels of Conv in fp16 against the reference and against each other, with one worker
// and several.
#include <cmath>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <random>

#include "base/half.h"
#include "device/cpu/prepared_kernel.h"
#include "device/cpu/runnable.h"
#include "operator/param.h"
#include "support/ir_builder.h"

namespace tengine::test {
namespace {

using cpu::Kernel;

struct Case
{
    std::vector<int> x, w;
    int group;
    std::vector<int64_t> strides, dilations, pads;
    bool has_bias;
};

const std::vector<Case> kCases = {
    {{1, 3, 7, 7}, {4, 3, 3, 3}, 1, {1, 1}, {1, 1}, {1, 1, 1, 1}, true},
    {{2, 13, 5, 17}, {17, 13, 1, 1}, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}, false},
    {{1, 16, 9, 9}, {7, 16, 1, 1}, 1, {2, 2}, {1, 1}, {0, 0, 0, 0}, true},
    {{1, 12, 13, 11}, {24, 4, 3, 5}, 3, {2, 1}, {1, 2}, {2, 3, 0, 1}, true},
    {{1, 64, 3, 3}, {130, 64, 3, 3}, 1, {1, 1}, {1, 1}, {1, 1, 1, 1}, false},
    {{1, 2, 40, 33}, {9, 2, 7, 7}, 1, {1, 1}, {1, 1}, {3, 3, 3, 3}, true},
    {{3, 1, 300}, {5, 1, 4}, 1, {3}, {2}, {2, 7}, true},
    {{1, 2, 3, 5, 4}, {6, 2, 2, 3, 2}, 1, {1, 1, 1}, {1, 1, 1}, {1, 0, 1, 0, 1, 0}, true},
    {{0, 2, 6, 6}, {8, 2, 2, 2}, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}, true},
};

class HalfNode
{
  public:
    explicit HalfNode(const Case& c)
    {
        const auto halves = [&](const char* name, const std::vector<int>& dims) {
            size_t number = 1;
            for (const int dim : dims)
                number *= static_cast<size_t>(dim);
            builder_.constant(name, dims, std::vector<uint16_t>(number), TENGINE_DT_FP16);
        };
        halves("x", c.x);
        halves("w", c.w);
        if (c.has_bias) halves("bias", {c.w[0]});
        node_ = builder_.add("Conv", {"x", "w", c.has_bias ? "bias" : ""}, {"y"});
        set("strides", c.strides);
        set("dilations", c.dilations);
        set("pads", c.pads);
        EXPECT_EQ(set_node_int(node_, "group", c.group), TENGINE_OK);
        EXPECT_EQ(node_->op.infer_shape(node_), TENGINE_OK) << tengine_error_message();
        for (size_t i = 1; i < c.w.size(); ++i)
            terms_ *= c.w[i];
    }

    // Sets every element of all inputs, in order.
    void fill(const std::function<float()>& next)
    {
        for (const char* name : {"x", "w", "bias"})
            if (const tensor* values = builder_.find(name))
                for (int64_t i = 0; i < values->elem_num; ++i)
                    values->f16[i] = fp32_to_fp16(next());
    }

    // Of each sum, except the bias.
    double terms() const { return terms_; }

    std::vector<const Kernel*> kernels() const { return cpu::list_runnable_kernels(*node_); }

    std::string choice(uint64_t features) const { return cpu::choose_kernel(*node_, features); }

    std::vector<uint16_t> run(const Kernel& kernel, int thread_num)
    {
        tensor* y = builder_.find("y");
        std::vector<uint16_t> values(static_cast<size_t>(y->elem_num), 0x7e01);  // a NaN
        cpu::PreparedKernel prepared(kernel, node_, thread_num);
        y->data = values.data();
        prepared.run();
        y->data = nullptr;
        return values;
    }

    IrBuilder& builder() { return builder_; }

  private:
    void set(const char* name, const std::vector<int64_t>& values)
    {
        EXPECT_EQ(set_node_ints(node_, name, values.data(), static_cast<int>(values.size())),
                  TENGINE_OK);
    }

    IrBuilder builder_;
    node* node_;
    double terms_ = 1;
};

// The sums are off by at most terms * eps of fp32 * sum |x| |w|, and each result, also the
// reference's, was rounded to fp16.
TEST(FastHalfConv, IsWithinTheErrorOfTheSum)
{
    for (size_t number = 0; number < kCases.size(); ++number) {
        HalfNode node(kCases[number]);
        const std::vector<const Kernel*> kernels = node.kernels();
        if (kernels.size() == 1) GTEST_SKIP() << "the reference is all that this processor has";
        const Kernel& reference = *kernels.back();
        ASSERT_STREQ(reference.name, "reference");
        std::uniform_real_distribution<float> distribution(-1, 1);
        std::mt19937 random(7);
        node.fill([&] { return std::fabs(distribution(random)); });
        const std::vector<uint16_t> magnitudes = node.run(reference, 1);
        random.seed(7);
        node.fill([&] { return distribution(random); });
        const std::vector<uint16_t> expected = node.run(reference, 1);
        std::vector<uint16_t> first;
        for (const Kernel* kernel : kernels) {
            if (kernel == &reference) continue;
            for (const int thread_num : {1, 2, 5}) {
                SCOPED_TRACE(std::string(kernel->name) + ", case " + std::to_string(number) + ", " +
                             std::to_string(thread_num) + " threads");
                const std::vector<uint16_t> actual = node.run(*kernel, thread_num);
                for (size_t i = 0; i < actual.size(); ++i) {
                    const double value = fp16_to_fp32(expected[i]);
                    const double bound =
                        (node.terms() + 2) * 0x1p-23 * 1.001 * fp16_to_fp32(magnitudes[i]) +
                        0x1p-10 * std::fabs(value) + 0x1p-24;
                    ASSERT_LE(std::fabs(fp16_to_fp32(actual[i]) - value), bound) << i;
                }
                if (first.empty()) first = actual;
                EXPECT_EQ(actual, first) << "all kernels give the same bits";
            }
        }
    }
}

// Products and partial sums may be beyond fp16 when the result is not; subnormal values count.
TEST(FastHalfConv, SumsHaveTheRangeOfFp32)
{
    HalfNode node({{1, 64, 5, 5}, {8, 64, 1, 1}, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}, false});
    const std::vector<const Kernel*> kernels = node.kernels();
    if (kernels.size() == 1) GTEST_SKIP() << "the reference is all that this processor has";
    int64_t position = 0;
    const int64_t x_num = 64 * 5 * 5;
    node.fill([&] {
        const int64_t i = position++;
        if (i < x_num) return i < x_num / 2 ? 6e4f : 0x1p-24f;  // the least of all
        const int64_t channel = (i - x_num) % 64;
        if (channel < 32) return channel % 2 ? 6e4f : -6e4f;
        return 6e4f;
    });
    const std::vector<uint16_t> expected = node.run(*kernels.back(), 1);
    EXPECT_NEAR(fp16_to_fp32(expected[0]), 32 * 6e4f * 0x1p-24f, 1e-3);
    // Terms are as large as 3.6e9; nothing of the small ones is lost when the sum was back at 0.
    for (const Kernel* kernel : kernels)
        EXPECT_EQ(node.run(*kernel, 1), expected) << kernel->name;
}

TEST(FastHalfConv, IsTheBestThatTheProcessorHas)
{
    HalfNode node(kCases[0]);
    EXPECT_EQ(node.choice(0), "reference");
    for (const cpu::SpecialInstructions& special : cpu::list_special_instructions())
        if (!std::strcmp(special.word, "fhm") && special.is_compiled) {
            EXPECT_EQ(node.choice(special.feature), special.kernel);
            EXPECT_EQ(node.choice(~uint64_t{0}), special.kernel);
        }
#ifdef __ARM_NEON
    EXPECT_EQ(node.choice(CPU_FEATURE_NEON), "conv.im2col_fp16_neon");
#endif
    node.builder().find("w")->tensor_type = TENSOR_TYPE_VAR;
    EXPECT_EQ(node.choice(~uint64_t{0}), "reference");
}

}  // namespace
}  // namespace tengine::test
