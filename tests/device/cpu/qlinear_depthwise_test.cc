// SPDX-License-Identifier: Apache-2.0
// The depthwise QLinearConv in NHWC against the reference, bit by bit, on every instruction set
// this machine has, with one worker and several.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

#include "device/cpu/kernel/vector/vector_target.h"
#include "device/cpu/prepared_kernel.h"
#include "device/cpu/runnable.h"
#include "operator/param.h"
#include "support/ir_builder.h"

namespace tengine::test {
namespace {

using cpu::Kernel;
using cpu::Layout;

constexpr int kInt8 = TENGINE_DT_INT8, kUint8 = TENGINE_DT_UINT8;

struct Window
{
    std::vector<int> kernel;
    std::vector<int64_t> strides, dilations, pads;
};

const std::vector<Window> kWindows = {
    {{3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}}, {{3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}},
    {{5, 5}, {1, 1}, {1, 1}, {2, 2, 2, 2}}, {{5, 5}, {2, 2}, {1, 1}, {1, 2, 2, 1}},
    {{7, 7}, {1, 1}, {1, 1}, {3, 3, 3, 3}}, {{1, 3}, {1, 1}, {1, 1}, {0, 2, 0, 0}},
    {{3, 1}, {1, 2}, {1, 1}, {2, 0, 1, 0}}, {{3, 3}, {3, 3}, {1, 1}, {0, 1, 2, 0}},
    {{3, 3}, {1, 1}, {2, 3}, {2, 3, 2, 3}}, {{2, 4}, {3, 1}, {1, 2}, {1, 5, 0, 4}},
    {{1, 1}, {2, 1}, {1, 1}, {0, 0, 0, 0}}, {{4, 2}, {1, 3}, {1, 1}, {3, 1, 3, 1}},
};

// Heights and widths.
const std::vector<std::vector<int>> kImages = {{1, 1}, {2, 3}, {7, 7}, {9, 14}, {13, 40}};

struct Types
{
    int x, w, y;
};

// The effect of the scales on sums.
enum class Scales
{
    kOrdinary,     // one for each channel
    kPowersOfTwo,  // many results are in the middle between two integers
    kNearlyThat,   // just below it, by less than the resolution of their float
    kTiny,         // all results are the zero point
    kLarge,        // most results are at the ends of the range
};

class DepthwiseNode
{
  public:
    // The weights have random zero points, or are centred.
    DepthwiseNode(const Window& window, const std::vector<int>& x, Types types, bool is_centred,
                  Scales scales = Scales::kOrdinary)
        : random_(static_cast<unsigned>(x[1]))
    {
        const int channels = x[1];
        bytes("x", x, types.x);
        bytes("w", {channels, 1, window.kernel[0], window.kernel[1]}, types.w);
        bytes("x_zero", {}, types.x);
        if (is_centred)
            builder_.constant("w_zero", {},
                              std::vector<uint8_t>{types.w == kInt8 ? uint8_t{0} : uint8_t{128}},
                              types.w);
        else
            bytes("w_zero", {channels}, types.w);
        bytes("y_zero", {}, types.y);
        add_scales(scales, channels);
        node_ = builder_.add(
            "QLinearConv",
            {"x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale", "y_zero", "bias"},
            {"y"});
        set("strides", window.strides);
        set("dilations", window.dilations);
        set("pads", window.pads);
        EXPECT_EQ(set_node_int(node_, "group", channels), TENGINE_OK);
        EXPECT_EQ(node_->op.infer_shape(node_), TENGINE_OK) << tengine_error_message();
    }

    std::vector<const Kernel*> kernels() const { return cpu::list_runnable_kernels(*node_); }

    // Returns the result of the reference, which is the last kernel, in NHWC.
    std::vector<uint8_t> expected()
    {
        tensor* y = find("y");
        std::vector<uint8_t> values(static_cast<size_t>(y->elem_num));
        y->data = values.data();
        cpu::PreparedKernel(*kernels().back(), node_, 1).run();
        y->data = nullptr;
        return turn(*y, values.data());
    }

    // Returns the result of an NHWC kernel, whose input is NHWC.
    std::vector<uint8_t> run(const Kernel& kernel, int thread_num)
    {
        tensor *x = find("x"), *y = find("y");
        std::vector<uint8_t> input = turn(*x, x->u8);
        std::vector<uint8_t> values(static_cast<size_t>(y->elem_num), 0xee);
        void* const data = x->data;
        x->data = input.data();
        y->data = values.data();
        cpu::PreparedKernel(kernel, node_, thread_num).run();
        x->data = data;
        y->data = nullptr;
        return values;
    }

    tensor* find(const char* name) { return builder_.find(name); }

  private:
    void bytes(const char* name, const std::vector<int>& dims, int type)
    {
        size_t number = 1;
        for (const int dim : dims)
            number *= static_cast<size_t>(dim);
        std::vector<uint8_t> values(number);
        for (uint8_t& value : values)
            value = static_cast<uint8_t>(random_());
        builder_.constant(name, dims, values, type);
    }

    void add_scales(Scales scales, int channels)
    {
        const bool is_power = scales == Scales::kPowersOfTwo || scales == Scales::kNearlyThat;
        const float x_scale = scales == Scales::kPowersOfTwo  ? 0.25f
                              : scales == Scales::kNearlyThat ? std::nextafter(0.25f, 0.0f)
                                                              : 0.02f;
        const float y_scale = is_power                      ? 16.0f
                              : scales == Scales::kOrdinary ? 0.7f
                              : scales == Scales::kTiny     ? 1e9f
                                                            : 1e-3f;
        std::vector<float> w_scales;
        std::vector<int32_t> bias;
        for (int i = 0; i < channels; ++i) {
            const float power = 1.0f / static_cast<float>(1 << (i % 5 + 1));
            w_scales.push_back(is_power ? power : 0.001f * static_cast<float>(i % 11 + 1));
            bias.push_back((i - 5) * 7919);
        }
        builder_.floats("x_scale", {}, {x_scale});
        builder_.floats("y_scale", {}, {y_scale});
        builder_.floats("w_scale", {channels}, w_scales);
        builder_.constant("bias", {channels}, bias, TENGINE_DT_INT32);
    }

    void set(const char* name, const std::vector<int64_t>& values)
    {
        EXPECT_EQ(set_node_ints(node_, name, values.data(), static_cast<int>(values.size())),
                  TENGINE_OK);
    }

    // Converts N, C, H, W to N, H, W, C.
    static std::vector<uint8_t> turn(const tensor& shape, const uint8_t* values)
    {
        const int64_t channels = shape.dims[1], plane = int64_t{shape.dims[2]} * shape.dims[3];
        std::vector<uint8_t> result(static_cast<size_t>(shape.elem_num));
        for (int64_t i = 0; i < shape.elem_num; ++i) {
            const int64_t image = i / (channels * plane), channel = i / plane % channels;
            const int64_t at = (image * plane + i % plane) * channels + channel;
            result[static_cast<size_t>(at)] = values[i];
        }
        return result;
    }

    std::mt19937 random_;
    IrBuilder builder_;
    node* node_;
};

// Compares this file's kernel, with all vectors, with the reference.
void compare(DepthwiseNode& node, const std::vector<int>& thread_nums = {1})
{
    const std::vector<const Kernel*> kernels = node.kernels();
    ASSERT_STREQ(kernels.back()->name, "reference");
    if (cpu::get_vector_target_num() == 0) GTEST_SKIP() << "this build has no vectors";
    const std::vector<uint8_t> expected = node.expected();
    for (int target = 0; target < cpu::get_vector_target_num(); ++target) {
        cpu::force_vector_target(target);
        const Kernel& kernel = *node.kernels().front();
        if (std::string(cpu::get_vector_target_name(target)) == "SCALAR") continue;
        ASSERT_STREQ(kernel.name, "conv.s8.depthwise_nhwc");
        ASSERT_EQ(kernel.layout, Layout::kChannelsLast);
        for (const int thread_num : thread_nums)
            EXPECT_EQ(node.run(kernel, thread_num), expected)
                << cpu::get_vector_target_name(target) << ", " << thread_num << " threads";
    }
    cpu::force_vector_target(-1);
}

bool has_room(const Window& window, const std::vector<int>& image)
{
    for (size_t i = 0; i < 2; ++i)
        if (image[i] + window.pads[i] + window.pads[i + 2] <
            (window.kernel[i] - 1) * window.dilations[i] + 1)
            return false;
    return true;
}

// Calls test(window, image, number) if the output has elements.
template <class Test>
void for_each_shape(const Test& test)
{
    int number = 0;
    for (const Window& window : kWindows)
        for (const std::vector<int>& image : kImages) {
            SCOPED_TRACE(++number);
            if (has_room(window, image)) test(window, image, number);
        }
}

TEST(DepthwiseQLinearConv, HasTheBitsOfTheReference)
{
    for_each_shape([](const Window& window, const std::vector<int>& image, int number) {
        for (const int type : {kInt8, kUint8})
            for (const bool is_centred : {false, true}) {
                // All numbers of channels occur in the course of the shapes.
                const int channels = (number * 11 + type * 5 + is_centred) % 69 + 2;
                DepthwiseNode node(window, {2, channels, image[0], image[1]},
                                   {type, number % 2 ? kInt8 : kUint8, type}, is_centred);
                compare(node);
            }
    });
}

TEST(DepthwiseQLinearConv, TakesAllNumbersOfChannels)
{
    for (int channels = 2; channels <= 130; ++channels) {
        SCOPED_TRACE(channels);
        const int number = channels % 4;
        DepthwiseNode node(kWindows[static_cast<size_t>(number)], {1, channels, 6, 9},
                           {channels % 3 ? kUint8 : kInt8, kInt8, number < 2 ? kUint8 : kInt8},
                           channels % 2 == 0);
        compare(node);
    }
}

TEST(DepthwiseQLinearConv, RoundsHalvesToEvenAndNothingElse)
{
    for (const Scales scales : {Scales::kPowersOfTwo, Scales::kNearlyThat})
        for (const Types types : {Types{kUint8, kInt8, kUint8}, Types{kInt8, kUint8, kInt8}})
            for (const bool is_centred : {false, true}) {
                DepthwiseNode node(kWindows[0], {1, 100, 12, 13}, types, is_centred, scales);
                compare(node);
            }
}

TEST(DepthwiseQLinearConv, StaysInTheRange)
{
    for (const Scales scales : {Scales::kTiny, Scales::kLarge})
        for (const int type : {kInt8, kUint8}) {
            DepthwiseNode node(kWindows[2], {1, 37, 12, 13}, {type, type, type}, true, scales);
            compare(node);
        }
}

// The largest possible products, all of one sign.
TEST(DepthwiseQLinearConv, TakesTheLargestSums)
{
    for (const int type : {kInt8, kUint8}) {
        DepthwiseNode node(kWindows[4], {1, 19, 8, 8}, {type, type, kUint8}, false);
        *node.find("y_scale")->f32 = 20;
        const auto fill = [&](const char* name, bool is_highest) {
            const tensor* values = node.find(name);
            const int lowest = type == kInt8 ? -128 : 0;
            std::fill_n(values->u8, values->elem_num,
                        static_cast<uint8_t>(is_highest ? lowest + 255 : lowest));
        };
        for (const bool x_high : {false, true})
            for (const bool w_high : {false, true}) {
                fill("x", x_high);
                fill("x_zero", !x_high);
                fill("w", w_high);
                fill("w_zero", !w_high);
                compare(node);
            }
    }
}

// Wide lines are computed in segments, large images by several workers.
TEST(DepthwiseQLinearConv, GivesTheSameBitsToAnyNumberOfWorkers)
{
    for (size_t number = 0; number < 4; ++number) {
        SCOPED_TRACE(number);
        for (const bool is_centred : {false, true}) {
            DepthwiseNode node(kWindows[number], {2, 112, 11, 300}, {kUint8, kInt8, kUint8},
                               is_centred);
            compare(node, {1, 2, 5});
        }
    }
}

TEST(DepthwiseQLinearConv, LeavesOtherConvolutionsAlone)
{
    DepthwiseNode node(kWindows[0], {1, 8, 5, 5}, {kInt8, kInt8, kInt8}, true);
    node.find("w")->tensor_type = TENSOR_TYPE_VAR;
    for (const Kernel* kernel : node.kernels())
        EXPECT_STRNE(kernel->name, "conv.s8.depthwise_nhwc");
}

}  // namespace
}  // namespace tengine::test
