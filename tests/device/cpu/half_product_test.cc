// SPDX-License-Identifier: Apache-2.0
// The fast kernels of Conv, MatMul and Gemm in fp16 and bf16 against the reference, with the basic
// instructions and with all that this processor has, with one worker and several.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <random>

#include "base/half.h"
#include "device/cpu/channels_last.h"
#include "device/cpu/kernel/vector/vector_target.h"
#include "device/cpu/prepared_kernel.h"
#include "device/cpu/runnable.h"
#include "operator/param.h"
#include "support/ir_builder.h"

namespace tengine::test {
namespace {

using cpu::Kernel;

struct Case
{
    const char* op;
    std::vector<std::vector<int>> inputs;
    std::vector<std::pair<const char*, std::vector<int64_t>>> lists;
    std::vector<std::pair<const char*, int64_t>> ints;
    bool is_computed;  // the second input
    const char* kernel;
};

const std::vector<Case> kCases = {
    {"Conv",
     {{1, 3, 7, 7}, {4, 3, 3, 3}, {4}},
     {{"pads", {1, 1, 1, 1}}},
     {},
     false,
     "conv.f16.nhwc"},
    {"Conv", {{2, 13, 5, 17}, {17, 13, 1, 1}}, {}, {}, false, "conv.f16.nhwc"},
    {"Conv",
     {{1, 16, 9, 9}, {7, 16, 1, 1}, {7}},
     {{"strides", {2, 2}}},
     {},
     false,
     "conv.f16.nhwc"},
    {"Conv",
     {{1, 12, 13, 11}, {24, 4, 3, 5}, {24}},
     {{"pads", {2, 3, 0, 1}}, {"strides", {2, 1}}, {"dilations", {1, 2}}},
     {{"group", 3}},
     false,
     "conv.f16.nhwc"},
    {"Conv",
     {{1, 6, 6, 5}, {8, 3, 2, 3}},
     {{"dilations", {2, 1}}},
     {{"group", 2}},
     false,
     "conv.f16.nhwc"},
    {"Conv",
     {{1, 64, 3, 3}, {130, 64, 3, 3}},
     {{"pads", {1, 1, 1, 1}}},
     {},
     false,
     "conv.f16.nhwc"},
    {"Conv",
     {{1, 2, 40, 33}, {9, 2, 7, 7}, {9}},
     {{"pads", {3, 3, 3, 3}}},
     {},
     false,
     "conv.f16.nhwc"},
    // More taps than the number of K segments that are kept.
    {"Conv",
     {{1, 3, 33, 32}, {5, 3, 16, 16}, {5}},
     {{"strides", {16, 16}}},
     {},
     false,
     "conv.f16.nhwc"},
    {"Conv",
     {{2, 17, 23, 24}, {35, 17, 3, 3}, {35}},
     {{"pads", {1, 1, 1, 1}}},
     {},
     false,
     "conv.f16.winograd4x4"},
    {"Conv",
     {{1, 16, 62, 61}, {16, 16, 3, 3}},
     {{"pads", {0, 1, 0, 0}}},
     {},
     false,
     "conv.f16.winograd6x6"},
    // A single element in a row of the window; rows that are all in different sets of the cache.
    {"Conv", {{1, 1, 9, 9}, {5, 1, 3, 1}}, {}, {}, false, "conv.f16.nhwc"},
    {"Conv", {{1, 1024, 5, 5}, {33, 1024, 1, 1}, {33}}, {}, {}, false, "conv.f16.nhwc"},
    {"Conv",
     {{2, 37, 9, 8}, {37, 1, 3, 3}, {37}},
     {{"pads", {1, 1, 1, 1}}},
     {{"group", 37}},
     false,
     "conv.fp.depthwise_nhwc"},
    {"Conv",
     {{1, 70, 13, 11}, {70, 1, 5, 2}},
     {{"pads", {4, 0, 3, 1}}, {"strides", {2, 1}}, {"dilations", {1, 2}}},
     {{"group", 70}},
     false,
     "conv.fp.depthwise_nhwc"},
    // Two vectors and a part of one, in windows with special kernels.
    {"Conv",
     {{2, 77, 8, 21}, {77, 1, 3, 3}, {77}},
     {{"pads", {1, 1, 1, 1}}, {"strides", {2, 2}}},
     {{"group", 77}},
     false,
     "conv.fp.depthwise_nhwc"},
    {"Conv",
     {{2, 77, 9, 12}, {77, 1, 5, 5}, {77}},
     {{"pads", {2, 2, 2, 2}}},
     {{"group", 77}},
     false,
     "conv.fp.depthwise_nhwc"},
    {"Conv",
     {{1, 43, 6, 70}, {43, 1, 5, 5}},
     {{"pads", {0, 2, 1, 2}}},
     {{"group", 43}},
     false,
     "conv.fp.depthwise_nhwc"},
    {"Conv",
     {{1, 64, 11, 30}, {64, 1, 5, 5}, {64}},
     {{"pads", {2, 2, 2, 2}}, {"strides", {2, 2}}},
     {{"group", 64}},
     false,
     "conv.fp.depthwise_nhwc"},
    {"Conv", {{0, 2, 6, 6}, {8, 2, 2, 2}, {8}}, {}, {}, false, "reference"},
    {"MatMul", {{3, 35, 67}, {67, 45}}, {}, {}, false, "matmul.f16.packed"},
    {"MatMul", {{1, 1301}, {1301, 70}}, {}, {}, false, "matmul.f16.packed"},
    {"MatMul", {{4, 1300}, {1300, 33}}, {}, {}, false, "matmul.f16.packed"},
    {"MatMul", {{50, 1}, {1, 3}}, {}, {}, false, "matmul.f16.packed"},
    {"MatMul", {{2, 3, 19, 34}, {3, 34, 21}}, {}, {}, true, "matmul.f16.batched"},
    {"MatMul", {{7}, {7, 5}}, {}, {}, true, "matmul.f16.batched"},
    {"Gemm", {{5, 19}, {18, 19}, {18}}, {}, {{"transB", 1}}, false, "gemm.f16.packed"},
    {"Gemm", {{19, 5}, {19, 18}, {18}}, {}, {{"transA", 1}}, false, "reference"},
};

class Float16Node
{
  public:
    Float16Node(const Case& c, int data_type) : data_type_(data_type)
    {
        const std::vector<std::string> names = {"x", "w", c.inputs.size() > 2 ? "bias" : ""};
        for (size_t i = 0; i < c.inputs.size(); ++i) {
            size_t number = 1;
            for (const int dim : c.inputs[i])
                number *= static_cast<size_t>(dim);
            builder_.constant(names[i], c.inputs[i], std::vector<uint16_t>(number), data_type);
        }
        builder_.find("x")->tensor_type = TENSOR_TYPE_VAR;
        if (c.is_computed) builder_.find("w")->tensor_type = TENSOR_TYPE_VAR;
        node_ = builder_.add(c.op, c.inputs.size() > 2 ? names : std::vector<std::string>{"x", "w"},
                             {"y"});
        for (const auto& [name, values] : c.lists)
            EXPECT_EQ(set_node_ints(node_, name, values.data(), static_cast<int>(values.size())),
                      TENGINE_OK);
        for (const auto& [name, value] : c.ints)
            EXPECT_EQ(set_node_int(node_, name, value), TENGINE_OK);
        EXPECT_EQ(node_->op.infer_shape(node_), TENGINE_OK) << tengine_error_message();
        const tensor& w = *builder_.find("w");
        terms_ = std::string(c.op) == "Conv"
                     ? w.elem_num / w.dims[0]
                     : std::max(w.dims[w.dim_num - 2], w.dims[w.dim_num - 1]);
    }

    // Sets every element of all inputs, in order.
    void fill(const std::function<float()>& next)
    {
        for (const char* name : {"x", "w", "bias"})
            if (const tensor* values = builder_.find(name))
                for (int64_t i = 0; i < values->elem_num; ++i)
                    values->f16[i] = narrow(next());
    }

    // Returns an upper bound of the number of terms of each sum, without the bias.
    double terms() const { return static_cast<double>(terms_); }

    uint16_t narrow(float value) const
    {
        return data_type_ == TENGINE_DT_FP16 ? fp32_to_fp16(value) : fp32_to_bf16(value);
    }
    double widen(uint16_t value) const
    {
        return data_type_ == TENGINE_DT_FP16 ? fp16_to_fp32(value) : bf16_to_fp32(value);
    }
    // Returns the distance of a number to the next, relative to it.
    double unit() const { return data_type_ == TENGINE_DT_FP16 ? 0x1p-10 : 0x1p-7; }

    std::vector<const Kernel*> kernels() const { return cpu::list_accepting_kernels(*node_); }

    std::vector<uint16_t> run(const Kernel& kernel, int thread_num)
    {
        tensor* x = builder_.find("x");
        tensor* y = builder_.find("y");
        std::vector<uint16_t> values(static_cast<size_t>(y->elem_num), 0xffff);  // a NaN
        void* const data = x->data;
        std::vector<uint16_t> last;
        if (kernel.layout == cpu::Layout::kChannelsLast) {
            last = cpu::put_channels_last(*x, x->f16);
            x->data = last.data();
        }
        cpu::PreparedKernel prepared(kernel, node_, thread_num);
        y->data = values.data();
        prepared.run();
        x->data = data;
        y->data = nullptr;
        return kernel.layout == cpu::Layout::kChannelsLast
                   ? cpu::put_channels_second(*y, values.data())
                   : values;
    }

    IrBuilder& builder() { return builder_; }

  private:
    const int data_type_;
    IrBuilder builder_;
    node* node_;
    int64_t terms_ = 1;
};

// Lists the feature sets that the kernels use: none, and all that this processor has.
std::vector<uint64_t> list_features()
{
    return {0, cpu::find_runnable_features()};
}

// The error of the sums is at most 2 (terms + 2) * eps of fp32 * sum |x| |w|: some instructions
// round a sum to odd. Each result, also the reference's, was rounded to 16 bits.
void compare(const Case& c, int data_type)
{
    Float16Node node(c, data_type);
    std::uniform_real_distribution<float> distribution(-1, 1);
    std::mt19937 random(7);
    const Kernel& reference = *node.kernels().back();
    node.fill([&] { return std::fabs(distribution(random)); });
    const std::vector<uint16_t> magnitudes = node.run(reference, 1);
    random.seed(7);
    node.fill([&] { return distribution(random); });
    const std::vector<uint16_t> expected = node.run(reference, 1);
    for (const uint64_t features : list_features()) {
        const cpu::ForcedFeatures forced(features);
        const std::vector<const Kernel*> kernels = node.kernels();
        const char* name = cpu::get_vector_target_num() > 0 ? c.kernel : "reference";
        const auto found = std::find_if(kernels.begin(), kernels.end(), [&](const Kernel* one) {
            return !std::strcmp(one->name, name);
        });
        ASSERT_TRUE(found != kernels.end()) << name;
        // Only Winograd's kernel may precede it: whether it pays depends on the shapes.
        ASSERT_TRUE(found == kernels.begin() || std::strstr(kernels.front()->name, "winograd"));
        const Kernel& kernel = **found;
        std::vector<uint16_t> first;
        for (const int thread_num : {1, 2, 5}) {
            SCOPED_TRACE(std::to_string(thread_num) + " threads, features " +
                         std::to_string(features));
            const std::vector<uint16_t> actual = node.run(kernel, thread_num);
            if (first.empty()) first = actual;
            EXPECT_EQ(actual, first);
            for (size_t i = 0; i < actual.size(); ++i) {
                const double value = node.widen(expected[i]);
                const double bound =
                    2 * (node.terms() + 2) * 0x1p-23 * 1.01 * node.widen(magnitudes[i]) +
                    node.unit() * std::fabs(value) + 0x1p-24;
                ASSERT_LE(std::fabs(node.widen(actual[i]) - value), bound) << i;
            }
        }
    }
}

TEST(Float16Product, IsWithinTheErrorOfTheSum)
{
    for (const int data_type : {TENGINE_DT_FP16, TENGINE_DT_BF16})
        for (const Case& c : kCases) {
            SCOPED_TRACE(std::string(c.op) + ", type " + std::to_string(data_type) + ", case " +
                         std::to_string(&c - kCases.data()));
            compare(c, data_type);
        }
}

// Products and partial sums may exceed fp16 although the result does not; subnormal values count.
TEST(Float16Product, SumsHaveTheRangeOfFp32)
{
    Float16Node node({"Conv", {{1, 64, 5, 5}, {8, 64, 1, 1}}, {}, {}, false, ""}, TENGINE_DT_FP16);
    int64_t position = 0;
    const int64_t x_num = 64 * 5 * 5;
    node.fill([&] {
        const int64_t i = position++;
        if (i < x_num) return i < x_num / 2 ? 6e4f : 0x1p-24f;  // the smallest of all
        const int64_t channel = (i - x_num) % 64;
        if (channel < 32) return channel % 2 ? 6e4f : -6e4f;
        return 6e4f;
    });
    const std::vector<uint16_t> expected = node.run(*node.kernels().back(), 1);
    EXPECT_NEAR(fp16_to_fp32(expected[0]), 32 * 6e4f * 0x1p-24f, 1e-3);
    for (const uint64_t features : list_features()) {
        const cpu::ForcedFeatures forced(features);
        const Kernel& kernel = *node.kernels().front();
        EXPECT_EQ(node.run(kernel, 1), expected) << kernel.name;
    }
}

// Infinities and NaN are kept, and only used where they are read; an odd number of terms does not
// include one twice.
TEST(Float16Product, KeepsWhatIsNotFinite)
{
    for (const int data_type : {TENGINE_DT_FP16, TENGINE_DT_BF16})
        for (const float special : {INFINITY, -INFINITY, NAN})
            for (const int depth : {3, 5, 6, 7}) {
                Float16Node node({"MatMul", {{9, depth}, {depth, 20}}, {}, {}, false, ""},
                                 data_type);
                for (int place = 0; place < depth; ++place) {
                    int64_t position = 0;
                    node.fill([&] { return position++ == 4 * depth + place ? special : 1.0f; });
                    const std::vector<uint16_t> expected = node.run(*node.kernels().back(), 1);
                    for (const uint64_t features : list_features()) {
                        const cpu::ForcedFeatures forced(features);
                        const std::vector<uint16_t> actual = node.run(*node.kernels().front(), 1);
                        for (size_t i = 0; i < actual.size(); ++i) {
                            const double value = node.widen(expected[i]);
                            const double got = node.widen(actual[i]);
                            ASSERT_EQ(std::isnan(got), std::isnan(value)) << i;
                            ASSERT_TRUE(std::isnan(value) || got == value) << i << ", " << depth;
                        }
                    }
                }
            }
}

// The reference computes products with weights that a graph computes.
TEST(Float16Product, OfConvolutionsHasConstantWeights)
{
    Float16Node node(kCases[0], TENGINE_DT_BF16);
    node.builder().find("w")->tensor_type = TENSOR_TYPE_VAR;
    EXPECT_STREQ(node.kernels().front()->name, "reference");
}

}  // namespace
}  // namespace tengine::test
