// SPDX-License-Identifier: Apache-2.0
// Whole networks with the ACL device in front of the default one agree with the latter alone.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>

#include "device/acl/model_run.h"

namespace tengine::acl {
namespace {

struct Network
{
    const char* name;
    const char* path;  // below shared/data, or examples/data for the digits
    std::vector<int> shape;
    // Nodes that ACL leaves, at most.
    int left;
};

std::string path_of(const Network& network)
{
    const std::string name = network.path;
    if (name.rfind("digits", 0) == 0) return std::string(TENGINE_EXAMPLES_DATA_DIR) + "/" + name;
    return std::string(TENGINE_SHARED_DATA_DIR) + "/" + name;
}

// Rounding errors of the layers add up; relative to the largest result.
void expect_close(const std::vector<float>& ours, const std::vector<float>& wanted, float bound)
{
    ASSERT_EQ(ours.size(), wanted.size());
    float largest = 1e-30F;
    for (const float value : wanted)
        largest = std::max(largest, std::fabs(value));
    for (size_t i = 0; i < wanted.size(); ++i)
        ASSERT_LE(std::fabs(ours[i] - wanted[i]), bound * largest) << "result " << i;
}

class AclNetwork : public testing::TestWithParam<Network>
{
};

TEST_P(AclNetwork, AgreesWithTheCpu)
{
    const Network& network = GetParam();
    const std::string path = path_of(network);
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "'" << path << "' is not there";
    const ModelResult on_acl = run_model(path, {"ACL", network.shape});
    const ModelResult on_cpu = run_model(path, {"", network.shape});
    EXPECT_LE(on_acl.count("CPU"), network.left);
    EXPECT_GT(on_acl.count("ACL"), 0);
    EXPECT_EQ(on_acl.redone, 0);
    // 50 layers of sums of up to 4608 products in fp32.
    expect_close(on_acl.output, on_cpu.output, 1e-4F);
}

// Small images, since emulated processors are slow; the networks are convolutions throughout.
INSTANTIATE_TEST_SUITE_P(
    All, AclNetwork,
    testing::Values(
        Network{"Digits", "digits.onnx", {1, 1, 28, 28}, 0},
        Network{"Mnist", "tmfile/mnist.tmfile", {1, 1, 28, 28}, 0},
        Network{"SqueezeNet", "tmfile/squeezenet_v1.1_benchmark.tmfile", {1, 3, 79, 79}, 0},
        Network{"MobileNet", "tmfile/mobilenet_benchmark.tmfile", {1, 3, 64, 64}, 0},
        Network{"LightSqueezeNet", "onnx_light/light_squeezenet.onnx", {1, 3, 224, 224}, 0}),
    [](const auto& network) { return std::string(network.param.name); });

// Quantised products go to the TPU, float ones to ACL, the rest to the default device.
TEST(AclNetworks, ThreeDevicesInOneGraph)
{
    const std::string folder = TENGINE_EXAMPLES_DATA_DIR;
    ModelSettings settings{"TPU,ACL", {1, 1, 28, 28}};
    settings.precision = TENGINE_MODE_INT8;
    settings.table = folder + "/digits.table";
    const ModelResult mixed = run_model(folder + "/digits.onnx", settings);
    settings.devices = "";
    const ModelResult on_cpu = run_model(folder + "/digits.onnx", settings);
    EXPECT_GT(mixed.count("ACL"), 0);
    EXPECT_GT(mixed.count("TPU"), 0);
    EXPECT_EQ(mixed.redone, 0);
    expect_close(mixed.output, on_cpu.output, 0.02F);
}

}  // namespace
}  // namespace tengine::acl
