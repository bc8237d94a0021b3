// SPDX-License-Identifier: Apache-2.0
// GridSample and RoiAlign: the distance of fast kernels from the reference.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

#include "device/cpu/kernel/vector/vector_target.h"
#include "device/cpu/prepared_kernel.h"
#include "operator/param.h"
#include "support/ir_builder.h"

namespace tengine::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> random_values(size_t number, float low, float high)
{
    std::mt19937 random(3);
    std::uniform_real_distribution<float> distribution(low, high);
    std::vector<float> values(number);
    for (float& value : values)
        value = distribution(random);
    return values;
}

// A node whose input 0 is sampled.
struct Sampled
{
    IrBuilder builder;
    struct node* node = nullptr;

    void image(const std::vector<int>& dims)
    {
        size_t number = 1;
        for (const int dim : dims)
            number *= static_cast<size_t>(dim);
        builder.floats("x", dims, random_values(number, -1, 1));
    }
    void set_text(const char* name, const std::string& value)
    {
        EXPECT_EQ(set_node_text(node, name, value.c_str(), value.size()), TENGINE_OK);
    }
    std::vector<float> run(const cpu::Kernel& kernel, int thread_num)
    {
        tensor* output = get_ir_node_output(node, 0);
        std::vector<float> values(static_cast<size_t>(output->elem_num), NAN);
        output->data = values.data();
        cpu::PreparedKernel(kernel, node, thread_num).run();
        output->data = nullptr;
        return values;
    }
    // Results are means of pixels with nonnegative weights, so that the mean of their magnitudes
    // bounds the effect of `roundings`.
    void compare(const char* name, double roundings)
    {
        ASSERT_EQ(node->op.infer_shape(node), TENGINE_OK) << tengine_error_message();
        const std::vector<const cpu::Kernel*> kernels = cpu::list_accepting_kernels(*node);
        if (kernels.size() == 1) GTEST_SKIP() << "the build leaves the kernel out";
        ASSERT_STREQ(kernels[0]->name, name);
        tensor* x = get_ir_node_input(node, 0);
        const std::vector<float> expected = run(*kernels.back(), 1);
        const std::vector<float> pixels(x->f32, x->f32 + x->elem_num);
        for (int64_t i = 0; i < x->elem_num; ++i)
            x->f32[i] = std::fabs(pixels[static_cast<size_t>(i)]);
        const std::vector<float> magnitudes = run(*kernels.back(), 1);
        std::copy(pixels.begin(), pixels.end(), x->f32);
        for (int target = 0; target < std::max(cpu::get_vector_target_num(), 1); ++target)
            for (const int thread_num : {1, 3}) {
                cpu::force_vector_target(target);
                const std::vector<float> actual = run(*kernels[0], thread_num);
                for (size_t i = 0; i < actual.size(); ++i) {
                    const double bound =
                        roundings * std::numeric_limits<float>::epsilon() * magnitudes[i];
                    if (std::isinf(expected[i]))
                        ASSERT_EQ(actual[i], expected[i]) << i;
                    else
                        ASSERT_LE(std::fabs(double{actual[i]} - double{expected[i]}), bound) << i;
                }
            }
        cpu::force_vector_target(-1);
    }
};

// The roundings of the weight, the product and two sums, and that of the reference.
constexpr double kGridRoundings = 5;

void sample_grid(const char* padding, int aligned, bool has_infinity = false)
{
    SCOPED_TRACE(testing::Message() << padding << aligned);
    Sampled sampled;
    sampled.image({2, 5, 9, 7});
    if (has_infinity) sampled.builder.find("x")->f32[1] = kInfinity;
    // More points than are computed at a time, some outside the image, some at centres of pixels.
    std::vector<float> grid = random_values(size_t{2} * 13 * 11 * 2, -1.4f, 1.4f);
    std::fill_n(grid.begin(), 8, -1.0f);
    std::fill_n(grid.begin() + 8, 8, 1.0f);
    sampled.builder.floats("grid", {2, 13, 11, 2}, grid);
    sampled.node = sampled.builder.add("GridSample", {"x", "grid"}, {"y"});
    sampled.set_text("padding_mode", padding);
    EXPECT_EQ(set_node_int(sampled.node, "align_corners", aligned), TENGINE_OK);
    sampled.compare("grid_sample.f32.gather", kGridRoundings);
}

TEST(SampleKernel, GridSample)
{
    for (const char* padding : {"zeros", "border", "reflection"})
        for (const int aligned : {0, 1})
            sample_grid(padding, aligned);
}

// The infinity counts only where it has a weight, not for points at the centre of the neighbouring
// pixel.
TEST(SampleKernel, AnInfinityCounts)
{
    sample_grid("zeros", 1, true);
}

void align_regions(int channels, int ratio, const char* mode)
{
    SCOPED_TRACE(testing::Message() << channels << " channels, ratio " << ratio << mode);
    Sampled sampled;
    sampled.image({2, channels, 9, 12});
    // Regions inside, across the edge, outside, a point, inverted.
    sampled.builder.floats("regions", {6, 4}, {1, 2, 9, 7, -4, -3, 5, 6, 20, 20, 25, 22,
                                               3, 3, 3, 3, 9,  7,  1, 2, 0,  0,  40, 40});
    sampled.builder.ints("images", {0, 1, 1, 0, 1, 0});
    sampled.node = sampled.builder.add("RoiAlign", {"x", "regions", "images"}, {"y"});
    EXPECT_EQ(set_node_int(sampled.node, "output_height", 3), TENGINE_OK);
    EXPECT_EQ(set_node_int(sampled.node, "output_width", 2), TENGINE_OK);
    EXPECT_EQ(set_node_int(sampled.node, "sampling_ratio", ratio), TENGINE_OK);
    EXPECT_EQ(set_node_float(sampled.node, "spatial_scale", 0.75f), TENGINE_OK);
    sampled.set_text("coordinate_transformation_mode", mode);
    // The roundings of the weight, and of each of a bin's pixels; without a ratio a bin of the
    // largest region has 10 x 15 samples.
    const int samples = ratio > 0 ? ratio * ratio : 150;
    sampled.compare("roi_align.f32.vector", 4 * samples + 3);
}

// Channels around the lengths of vectors; more samples of a bin than are computed at a time.
TEST(SampleKernel, RoiAlign)
{
    for (const char* mode : {"half_pixel", "output_half_pixel"})
        for (const int channels : {1, 4, 19, 70})
            for (const int ratio : {0, 2, 9})
                align_regions(channels, ratio, mode);
}

}  // namespace
}  // namespace tengine::test
