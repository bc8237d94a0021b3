// SPDX-License-Identifier: Apache-2.0
// The fast kernels of QLinearConv against the reference, bit by bit, on every instruction set this
// machine has, with one worker and several; and scales that change from run to run.
#include <cstring>
#include <gtest/gtest.h>
#include <random>

#include "device/cpu/channels_last.h"
#include "device/cpu/kernel/vector_target.h"
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
};

const std::vector<Case> kCases = {
    {{1, 3, 7, 7}, {4, 3, 3, 3}, 1, {1, 1}, {1, 1}, {1, 1, 1, 1}},
    {{2, 13, 5, 17}, {17, 13, 1, 1}, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}},
    {{1, 16, 9, 9}, {7, 16, 1, 1}, 1, {2, 2}, {1, 1}, {0, 0, 0, 0}},
    {{1, 12, 13, 11}, {24, 4, 3, 5}, 3, {2, 1}, {1, 2}, {2, 3, 0, 1}},
    {{1, 64, 3, 3}, {130, 64, 3, 3}, 1, {1, 1}, {1, 1}, {1, 1, 1, 1}},
    {{1, 2, 40, 33}, {9, 2, 7, 7}, 1, {1, 1}, {1, 1}, {3, 3, 3, 3}},
    {{3, 1, 300}, {5, 1, 4}, 1, {3}, {2}, {2, 7}},
    {{1, 2, 3, 5, 4}, {6, 2, 2, 3, 2}, 1, {1, 1, 1}, {1, 1, 1}, {1, 0, 1, 0, 1, 0}},
    {{0, 2, 6, 6}, {8, 2, 2, 2}, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}},
};

class QuantizedNode
{
  public:
    // With weights of random zero points, or centred ones.
    QuantizedNode(const Case& c, int x_type, int w_type, int y_type, bool is_centred = false)
    {
        std::mt19937 random(17);
        const auto bytes = [&](const char* name, std::vector<int> dims, int type) {
            size_t number = 1;
            for (const int dim : dims)
                number *= static_cast<size_t>(dim);
            std::vector<uint8_t> values(number);
            for (uint8_t& value : values)
                value = static_cast<uint8_t>(random());
            builder_.constant(name, std::move(dims), values, type);
        };
        const int filters = c.w[0];
        bytes("x", c.x, x_type);
        bytes("w", c.w, w_type);
        bytes("x_zero", {}, x_type);
        if (is_centred)
            builder_.constant(
                "w_zero", {},
                std::vector<uint8_t>{w_type == TENGINE_DT_INT8 ? uint8_t{0} : uint8_t{128}},
                w_type);
        else
            bytes("w_zero", {filters}, w_type);
        bytes("y_zero", {}, y_type);
        builder_.floats("x_scale", {}, {0.02f});
        builder_.floats("y_scale", {}, {0.7f});
        std::vector<float> scales;
        std::vector<int32_t> bias;
        for (int i = 0; i < filters; ++i) {
            scales.push_back(0.001f * static_cast<float>(i % 11 + 1));
            bias.push_back((i - 5) * 7919);
        }
        builder_.floats("w_scale", {filters}, scales);
        builder_.constant("bias", {filters}, bias, TENGINE_DT_INT32);
        node_ = builder_.add(
            "QLinearConv",
            {"x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale", "y_zero", "bias"},
            {"y"});
        set("strides", c.strides);
        set("dilations", c.dilations);
        set("pads", c.pads);
        EXPECT_EQ(set_node_int(node_, "group", c.group), TENGINE_OK);
        EXPECT_EQ(node_->op.infer_shape(node_), TENGINE_OK) << tengine_error_message();
    }

    // All kernels that take the node when all instructions this processor has may be used.
    std::vector<const Kernel*> kernels() const { return cpu::list_runnable_kernels(*node_); }

    // The one that is used with these features.
    std::string choice(uint64_t features) const { return cpu::choose_kernel(*node_, features); }

    // The results of runs with these scales of x, prepared once; they follow each other.
    std::vector<uint8_t> run(const Kernel& kernel, int thread_num,
                             const std::vector<float>& scales = {0.02f})
    {
        tensor *x = builder_.find("x"), *y = builder_.find("y");
        void* const data = x->data;
        const bool is_last = kernel.layout == cpu::Layout::kChannelsLast;
        std::vector<uint8_t> input;
        if (is_last) input = cpu::put_channels_last(*x, x->u8);
        if (is_last) x->data = input.data();
        std::vector<uint8_t> all;
        cpu::PreparedKernel prepared(kernel, node_, thread_num);
        for (const float scale : scales) {
            *builder_.find("x_scale")->f32 = scale;
            std::vector<uint8_t> values(static_cast<size_t>(y->elem_num), 0xee);
            y->data = values.data();
            prepared.run();
            if (is_last) values = cpu::put_channels_second(*y, values.data());
            all.insert(all.end(), values.begin(), values.end());
        }
        x->data = data;
        y->data = nullptr;
        return all;
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
};

// All fast kernels that take the node, with all vectors, against the reference, which comes last.
void compare(QuantizedNode& node, const std::vector<int>& thread_nums = {1, 2, 5})
{
    const std::vector<const Kernel*> kernels = node.kernels();
    ASSERT_STREQ(kernels.back()->name, "reference");
    if (kernels.size() == 1) GTEST_SKIP() << "the reference is all that this build has";
    const std::vector<uint8_t> expected = node.run(*kernels.back(), 1);
    for (const Kernel* kernel : kernels) {
        if (kernel == kernels.back()) break;
        for (int target = 0; target < cpu::get_vector_target_num(); ++target) {
            cpu::force_vector_target(target);
            for (const int thread_num : thread_nums)
                EXPECT_EQ(node.run(*kernel, thread_num), expected)
                    << kernel->name << ", " << cpu::get_vector_target_name(target) << ", "
                    << thread_num << " threads";
        }
    }
    cpu::force_vector_target(-1);
}

// The same with instructions for bytes and, for processors that have none, without.
void compare_formats(QuantizedNode& node, const std::vector<int>& thread_nums = {1, 2, 5})
{
    compare(node, thread_nums);
    const cpu::ForcedFeatures none(0);
    compare(node, thread_nums);
}

TEST(FastQLinearConv, HasTheBitsOfTheReference)
{
    for (size_t number = 0; number < kCases.size(); ++number)
        for (const int x_type : {TENGINE_DT_INT8, TENGINE_DT_UINT8})
            for (const int w_type : {TENGINE_DT_INT8, TENGINE_DT_UINT8})
                for (const int y_type : {TENGINE_DT_INT8, TENGINE_DT_UINT8}) {
                    SCOPED_TRACE(number);
                    QuantizedNode node(kCases[number], x_type, w_type, y_type);
                    compare_formats(node);
                }
}

TEST(FastQLinearConv, HasTheBitsOfTheReferenceWhenWeightsAreCentred)
{
    for (size_t number = 0; number < kCases.size(); ++number)
        for (const int type : {TENGINE_DT_INT8, TENGINE_DT_UINT8}) {
            SCOPED_TRACE(number);
            QuantizedNode node(kCases[number], type, type, type, true);
            compare_formats(node);
        }
}

// The longest sum that fits an int32, of the largest products: partial sums of uncentred bytes may
// wrap.
TEST(FastQLinearConv, TakesTheLargestSums)
{
    constexpr int kDepth = INT32_MAX / (255 * 255);
    const Case wide = {{1, kDepth, 1, 1}, {5, kDepth, 1, 1}, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}};
    for (const int data_type : {TENGINE_DT_INT8, TENGINE_DT_UINT8}) {
        QuantizedNode node(wide, data_type, data_type, TENGINE_DT_UINT8);
        const auto fill = [&](const char* name, bool is_highest) {
            const tensor* values = node.builder().find(name);
            const int lowest = data_type == TENGINE_DT_INT8 ? -128 : 0;
            std::memset(values->data, is_highest ? lowest + 255 : lowest,
                        static_cast<size_t>(values->elem_num));
        };
        *node.builder().find("y_scale")->f32 = 40000;  // the results are not all alike
        for (const bool x_high : {false, true})
            for (const bool w_high : {false, true}) {
                fill("x", x_high);
                fill("x_zero", !x_high);
                fill("w", w_high);
                fill("w_zero", !w_high);
                compare_formats(node, {1});
            }
    }
}

TEST(FastQLinearConv, ScalesAreReadInEachRun)
{
    QuantizedNode node(kCases[0], TENGINE_DT_INT8, TENGINE_DT_INT8, TENGINE_DT_INT8);
    node.builder().find("x_scale")->tensor_type = TENSOR_TYPE_VAR;
    const std::vector<const Kernel*> kernels = node.kernels();
    const std::vector<float> scales = {0.02f, 0.005f, 0};
    const std::vector<uint8_t> expected = node.run(*kernels.back(), 1, scales);
    EXPECT_NE(std::vector<uint8_t>(expected.begin(), expected.begin() + 196),
              std::vector<uint8_t>(expected.begin() + 196, expected.begin() + 392));
    for (const Kernel* kernel : kernels)
        EXPECT_EQ(node.run(*kernel, 1, scales), expected) << kernel->name;
}

TEST(FastQLinearConv, LeavesWhatItCannotPackToTheReference)
{
    QuantizedNode node(kCases[0], TENGINE_DT_INT8, TENGINE_DT_INT8, TENGINE_DT_INT8);
    node.builder().find("w")->tensor_type = TENSOR_TYPE_VAR;
    EXPECT_EQ(node.kernels().size(), 1u);
    EXPECT_STREQ(node.kernels().front()->name, "reference");
}

// Whatever instructions it has.
TEST(FastQLinearConv, WantsItsChannelsLast)
{
    const QuantizedNode node(kCases[0], TENGINE_DT_INT8, TENGINE_DT_INT8, TENGINE_DT_INT8);
    const std::string best = cpu::get_vector_target_num() > 0 ? "conv.byte_pixels" : "reference";
    EXPECT_EQ(node.choice(0), best);
    EXPECT_EQ(node.choice(cpu::find_runnable_features()), best);
}

}  // namespace
}  // namespace tengine::test
