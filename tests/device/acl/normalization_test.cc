// SPDX-License-Identifier: Apache-2.0
// InstanceNormalization of values that are far from 0 for their deviation, against its formula in
// double: the reference's own product and sum in fp32 lose digits there.
#include <cmath>
#include <gtest/gtest.h>
#include <random>

#include "device/acl/acl_run.h"

namespace tengine::acl {
namespace {

constexpr float kScale = 0.75F, kBias = 0.5F;
constexpr double kEpsilon = 1e-5F;

struct Image
{
    int channels, height, width;
    float low, high;
};

std::vector<double> normalize(const Image& image, const std::vector<float>& x)
{
    std::vector<double> wanted;
    const auto size = static_cast<size_t>(image.height) * static_cast<size_t>(image.width);
    for (size_t begin = 0; begin < x.size(); begin += size) {
        double mean = 0, variance = 0;
        for (size_t i = begin; i < begin + size; ++i)
            mean += x[i] / static_cast<double>(size);
        for (size_t i = begin; i < begin + size; ++i)
            variance += (x[i] - mean) * (x[i] - mean) / static_cast<double>(size);
        for (size_t i = begin; i < begin + size; ++i)
            wanted.push_back(kScale * (x[i] - mean) / std::sqrt(variance + kEpsilon) + kBias);
    }
    return wanted;
}

class AclNormalization : public testing::TestWithParam<Image>
{
};

TEST_P(AclNormalization, OfInstancesFarFromZero)
{
    const Image& image = GetParam();
    const auto channels = static_cast<size_t>(image.channels);
    AclRun run({}, [&](test::IrBuilder& builder) {
        builder.input("x", {1, image.channels, image.height, image.width});
        builder.floats("scale", {image.channels}, std::vector<float>(channels, kScale));
        builder.floats("bias", {image.channels}, std::vector<float>(channels, kBias));
        builder.add("InstanceNormalization", {"x", "scale", "bias"}, {"y"});
        builder.outputs({"y"});
    });
    ASSERT_EQ(run.prerun(), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(run.nodes_on("ACL"), 1) << run.refusals();
    std::mt19937 random(3);
    std::uniform_real_distribution<float> values(image.low, image.high);
    std::vector<float> x(channels * static_cast<size_t>(image.height * image.width));
    for (float& value : x)
        value = values(random);
    run.feed("x", x.data(), x.size() * sizeof(float));
    ASSERT_EQ(run.run(), TENGINE_OK) << tengine_error_message();
    const std::vector<float> got = run.output("y");
    const std::vector<double> wanted = normalize(image, x);
    ASSERT_EQ(got.size(), wanted.size());
    // Results are below 2, and a sum of n squares in fp32 is wrong by n / 4 units, as it has four
    // columns.
    const double bound = 2 * std::ldexp(8 + image.height * image.width / 4.0, -24);
    for (size_t i = 0; i < got.size(); ++i)
        ASSERT_NEAR(got[i], wanted[i], bound) << i;
}

INSTANTIATE_TEST_SUITE_P(Values, AclNormalization,
                         testing::Values(Image{3, 7, 9, 99, 101}, Image{2, 64, 64, 99.9F, 100.1F},
                                         Image{2, 13, 17, -1000.5F, -999.5F},
                                         Image{3, 16, 16, 10.1F, 10.1F},
                                         Image{1, 32, 32, 1e6F, 1e6F}));

}  // namespace
}  // namespace tengine::acl
