// SPDX-License-Identifier: Apache-2.0
// Memory that runs out at each allocation in turn: a failure with a message, and nothing is leaked.
#include <gtest/gtest.h>

#include "image/support.h"
#include "support/allocation_count.h"

namespace tengine::image {
namespace {

// Calls work() with each allocation failing; returns the number of calls that fail. stb continues
// without some of its blocks.
template <class Work>
int fail_each_allocation(const Work& work)
{
    const long first = count_allocations();
    EXPECT_EQ(work(), 0) << get_tengine_error();
    const long allocations = count_allocations() - first;
    int failures = 0;
    for (long number = 1; number <= allocations; ++number) {
        const long before = measure_live_memory().blocks;
        fail_allocation(number);
        const int status = work();
        fail_allocation(0);
        EXPECT_EQ(measure_live_memory().blocks, before) << "allocation " << number;
        if (status == 0) continue;
        EXPECT_EQ(get_tengine_errno(), TENGINE_ENOMEM) << number << ": " << get_tengine_error();
        ++failures;
    }
    return failures;
}

class ImageShortage : public testing::TestWithParam<const char*>
{
};

TEST_P(ImageShortage, IsReportedByTheDecoder)
{
    TENGINE_NEEDS_DECODER();
    if (!can_count_allocations()) GTEST_SKIP() << "a sanitizer has an allocator of its own";
    const std::string bytes = read_file(data_path(GetParam()));
    const int failures = fail_each_allocation([&] {
        tengine_image image = {};
        const int status = tengine_image_decode(bytes.data(), bytes.size(), 0, &image);
        tengine_image_free(&image);
        return status;
    });
    EXPECT_GT(failures, 0);
}

INSTANTIATE_TEST_SUITE_P(Files, ImageShortage,
                         testing::Values("colour.png", "palette.png", "colour16.png", "colour.bmp",
                                         "low.pgm", "coarse.jpeg", "progressive.jpeg",
                                         "cmyk.jpeg"));

TEST(ImageValueShortage, IsReported)
{
    if (!can_count_allocations()) GTEST_SKIP() << "a sanitizer has an allocator of its own";
    const std::vector<unsigned char> pixels(40 * 30 * 4, 77);
    const tengine_image image = {pixels.data(), 40, 30, TENGINE_IMAGE_BGRA, 6, 0};
    tengine_image_settings settings = make_settings();
    settings.orientation = 1;
    settings.fit = TENGINE_IMAGE_LETTERBOX;
    const tengine_image_target target = make_target(TENGINE_DT_FP32, 1, 3, 7, 9);
    std::vector<float> values(3 * 7 * 9);
    const int failures = fail_each_allocation([&] {
        return tengine_image_convert(&image, 1, &settings, &target, values.data(),
                                     values.size() * sizeof(float));
    });
    // The turned picture, the resized one, three lists of weights for each axis, two buffers.
    EXPECT_EQ(failures, 10);
}

}  // namespace
}  // namespace tengine::image
