// SPDX-License-Identifier: Apache-2.0
// The fast kernels of QLinearConv against the reference, bit by bit, on every instruction set this
// machine has, at the ends of their arithmetic; and the nodes that only the reference computes. The
// cases of the table are in quantized_case_test.cc.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

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
    std::vector<int> x, w;
    int group;
    std::vector<int64_t> strides, dilations, pads;
};

const Case kImage = {{1, 3, 7, 7}, {4, 3, 3, 3}, 1, {1, 1}, {1, 1}, {1, 1, 1, 1}};
const Case kLine = {{1, 24, 50}, {35, 24, 1}, 1, {1}, {1}, {0, 0}};
const Case kGroups = {{1, 12, 13, 11}, {24, 4, 3, 5}, 3, {2, 1}, {1, 2}, {2, 3, 0, 1}};
const Case kImages = {{10, 32, 4, 5}, {17, 32, 3, 3}, 1, {1, 1}, {1, 1}, {1, 1, 1, 1}};

// Three spatial axes, K segments of one element, two output channels for an input channel, no
// image.
const std::vector<Case> kCasesOfTheReference = {
    {{1, 2, 3, 5, 4}, {6, 2, 2, 3, 2}, 1, {1, 1, 1}, {1, 1, 1}, {1, 0, 1, 0, 1, 0}},
    {{3, 1, 300}, {5, 1, 4}, 1, {3}, {2}, {2, 7}},
    {{1, 4, 5, 5}, {8, 1, 3, 3}, 4, {1, 1}, {1, 1}, {1, 1, 1, 1}},
    {{0, 2, 6, 6}, {8, 2, 2, 2}, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}},
};

constexpr int kLargestBias = 5 * 7919;  // of up to eleven filters

class QuantizedNode
{
  public:
    // The weights have random zero points, or are centred.
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
            bias.push_back((i - 5) * kLargestBias / 5);
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

    // Returns all kernels that accept the node with all instructions of this processor allowed.
    std::vector<const Kernel*> kernels() const { return cpu::list_runnable_kernels(*node_); }

    // Returns the name of the kernel that is used with these features.
    std::string choice(uint64_t features) const { return cpu::choose_kernel(*node_, features); }

    std::vector<uint8_t> run(const Kernel& kernel, int thread_num)
    {
        tensor *x = builder_.find("x"), *y = builder_.find("y");
        void* const data = x->data;
        const bool is_last = kernel.layout == cpu::Layout::kChannelsLast;
        std::vector<uint8_t> input;
        if (is_last) input = cpu::put_channels_last(*x, x->u8);
        if (is_last) x->data = input.data();
        cpu::PreparedKernel prepared(kernel, node_, thread_num);
        std::vector<uint8_t> values(static_cast<size_t>(y->elem_num), 0xee);
        y->data = values.data();
        prepared.run();
        if (is_last) values = cpu::put_channels_second(*y, values.data());
        x->data = data;
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
};

// Compares all fast kernels that accept the node, with all vectors, with the reference, which is
// last; as on a processor with these features.
void compare(QuantizedNode& node, uint64_t features, const std::vector<int>& thread_nums)
{
    const std::vector<const Kernel*> kernels = node.kernels();
    ASSERT_STREQ(kernels.back()->name, "reference");
    if (cpu::get_vector_target_num() == 0)
        GTEST_SKIP() << "the reference is all that this build has";
    ASSERT_GT(kernels.size(), 1u);
    const cpu::ForcedFeatures forced(features);
    const std::vector<uint8_t> expected = node.run(*kernels.back(), 1);
    for (const Kernel* kernel : kernels) {
        if (kernel == kernels.back()) break;
        for (int target = 0; target < cpu::get_vector_target_num(); ++target) {
            cpu::force_vector_target(target);
            for (const int thread_num : thread_nums)
                EXPECT_EQ(node.run(*kernel, thread_num), expected)
                    << kernel->name << ", " << cpu::get_vector_target_name(target) << ", "
                    << thread_num << " threads, features " << features;
        }
    }
    cpu::force_vector_target(-1);
}

// Compares with all int8 instructions that run here, with each of them alone, and with none.
void compare_formats(QuantizedNode& node, const std::vector<int>& thread_nums = {1, 2, 5})
{
    compare(node, cpu::find_runnable_features(), thread_nums);
    for (const cpu::SpecialInstructions& special : cpu::list_special_instructions())
        if (special.runs && std::string(special.kernel) == "conv.s8.nhwc")
            compare(node, special.feature, thread_nums);
    compare(node, 0, thread_nums);
}

// Small weights and scales that are powers of two: every eighth result is in the middle between two
// integers, or nearly so.
TEST(FastQLinearConv, RoundsHalvesToEvenAndNothingElse)
{
    for (const int type : {TENGINE_DT_INT8, TENGINE_DT_UINT8})
        for (const Case& c : {kImage, kGroups, kImages})
            for (const float scale : {1.0f, std::nextafter(1.0f, 0.0f)}) {
                SCOPED_TRACE(testing::PrintToString(c.x));
                QuantizedNode node(c, type, type, type, true);
                IrBuilder& builder = node.builder();
                tensor *w = builder.find("w"), *scales = builder.find("w_scale");
                for (int64_t i = 0; i < w->elem_num; ++i)
                    w->u8[i] =
                        static_cast<uint8_t>(w->u8[i] % 3 + (type == TENGINE_DT_INT8 ? -1 : 127));
                std::fill_n(scales->f32, scales->elem_num, 1.0f / 64);
                *builder.find("x_scale")->f32 = scale;
                *builder.find("y_scale")->f32 = 0.125f;
                std::fill_n(builder.find("bias")->i32, builder.find("bias")->elem_num, 1);
                compare_formats(node, {1});
            }
}

// The longest sum that fits an int32 with its bias, of the largest products: partial sums of
// uncentred elements may wrap.
TEST(FastQLinearConv, TakesTheLargestSums)
{
    constexpr int kDepth = (INT32_MAX - kLargestBias) / (255 * 255);
    const Case wide = {{1, kDepth, 1, 1}, {5, kDepth, 1, 1}, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}};
    for (const int data_type : {TENGINE_DT_INT8, TENGINE_DT_UINT8}) {
        QuantizedNode node(wide, data_type, data_type, TENGINE_DT_UINT8);
        const auto fill = [&](const char* name, bool is_highest) {
            const tensor* values = node.builder().find(name);
            const int lowest = data_type == TENGINE_DT_INT8 ? -128 : 0;
            std::memset(values->data, is_highest ? lowest + 255 : lowest,
                        static_cast<size_t>(values->elem_num));
        };
        *node.builder().find("y_scale")->f32 = 40000;  // so that results differ
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

// Elements at either end of their range, the most channels that Winograd's filtering accepts and
// one more: its sums wrap, and its dividends just fit.
TEST(FastQLinearConv, FiltersAsLongAsQuotientsFit)
{
    if (cpu::get_vector_target_num() == 0) GTEST_SKIP() << "this build has no fast kernels";
    for (const int channels : {38, 39}) {
        const Case wide = {{1, channels, 11, 15}, {17, channels, 3, 3}, 1, {1, 1}, {1, 1},
                           {1, 1, 1, 1}};
        QuantizedNode node(wide, TENGINE_DT_UINT8, TENGINE_DT_UINT8, TENGINE_DT_UINT8);
        *node.builder().find("y_scale")->f32 = 100;  // so that results differ
        std::mt19937 random(5);
        for (const bool is_mixed : {true, false})
            for (const int ends : {0, 1, 2, 3}) {
                for (const char* name : {"x", "w"}) {
                    const bool is_high = (ends >> (name[0] == 'w') & 1) != 0;
                    const tensor* values = node.builder().find(name);
                    for (int64_t i = 0; i < values->elem_num; ++i)
                        values->u8[i] = (is_mixed ? random() % 2 > 0 : is_high) ? 255 : 0;
                    const tensor* zero = node.builder().find(std::string(name) + "_zero");
                    std::memset(zero->data, is_high ? 0 : 255, static_cast<size_t>(zero->elem_num));
                }
                const char* expected = channels == 38 ? "conv.s8.winograd4x4" : "conv.s8.nhwc";
                if (!is_mixed) {
                    ASSERT_EQ(node.choice(0), expected);
                }
                compare(node, 0, {1});
            }
    }
}

// Blocks of Winograd's filtering have tiles of several pictures, and begin and end in the middle of
// one.
TEST(FastQLinearConv, FiltersTilesOfSeveralPictures)
{
    if (cpu::get_vector_target_num() == 0) GTEST_SKIP() << "this build has no fast kernels";
    const Case pictures = {{7, 64, 13, 30}, {17, 64, 3, 3}, 1, {1, 1}, {1, 1}, {1, 1, 1, 1}};
    for (const int type : {TENGINE_DT_INT8, TENGINE_DT_UINT8}) {
        QuantizedNode node(pictures, type, TENGINE_DT_INT8, type, true);
        *node.builder().find("y_scale")->f32 = 100;  // so that results differ
        ASSERT_EQ(node.choice(0), std::string("conv.s8.winograd4x4"));
        compare(node, 0, {1, 2, 3});
    }
}

void expect_reference(const QuantizedNode& node)
{
    EXPECT_EQ(node.kernels().size(), 1u);
    EXPECT_STREQ(node.kernels().front()->name, "reference");
}

TEST(FastQLinearConv, LeavesWhatItCannotPackToTheReference)
{
    for (const char* name : {"w", "x_scale", "w_zero", "bias"}) {
        SCOPED_TRACE(name);
        QuantizedNode node(kImage, TENGINE_DT_INT8, TENGINE_DT_INT8, TENGINE_DT_INT8);
        node.builder().find(name)->tensor_type = TENSOR_TYPE_VAR;
        expect_reference(node);
    }
    for (const Case& c : kCasesOfTheReference)
        expect_reference({c, TENGINE_DT_INT8, TENGINE_DT_INT8, TENGINE_DT_INT8});
}

// With any instructions.
TEST(FastQLinearConv, WantsItsChannelsLast)
{
    const QuantizedNode planes(kImage, TENGINE_DT_INT8, TENGINE_DT_INT8, TENGINE_DT_INT8);
    const QuantizedNode rows(kLine, TENGINE_DT_INT8, TENGINE_DT_INT8, TENGINE_DT_INT8);
    const bool has_vectors = cpu::get_vector_target_num() > 0;
    for (const uint64_t features : {uint64_t{0}, cpu::find_runnable_features()}) {
        EXPECT_EQ(planes.choice(features), has_vectors ? "conv.s8.nhwc" : "reference");
        EXPECT_EQ(rows.choice(features), has_vectors ? "conv.s8.ncw" : "reference");
    }
}

}  // namespace
}  // namespace tengine::test
