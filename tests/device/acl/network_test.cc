// SPDX-License-Identifier: Apache-2.0
// Whole networks with the ACL device in front of the default one agree with the latter alone.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>

#include "device/acl/model_run.h"

namespace tengine::acl {
namespace {

enum class Folder
{
    kShared,    // shared/data, reference data beside the tree
    kExamples,  // examples/data
    kExports,   // where benchmark/export_models.py writes networks of torchvision
};

struct Network
{
    const char* name;
    const char* path;  // below the folder
    std::vector<int> shape;
    Folder folder = Folder::kShared;
    bool is_large = false;
};

std::string find_exports()
{
    const char* cache = std::getenv("XDG_CACHE_HOME");
    const char* home = std::getenv("HOME");
    const std::string folder = cache && *cache ? cache : std::string(home ? home : "") + "/.cache";
    return folder + "/tengine/models";
}

std::string path_of(const Network& network)
{
    switch (network.folder) {
        case Folder::kExamples:
            return std::string(TENGINE_EXAMPLES_DATA_DIR) + "/" + network.path;
        case Folder::kExports:
            return find_exports() + "/" + network.path;
        default:
            return std::string(TENGINE_SHARED_DATA_DIR) + "/" + network.path;
    }
}

// Names the folder only, since scripts/test counts equal reasons.
std::string explain_absence(const Network& network)
{
    if (network.folder == Folder::kExports)
        return "networks are missing that benchmark/export_models.py squeezenet1_1 mobilenet_v2 "
               "resnet18 writes";
    const std::filesystem::path folder = std::filesystem::path(network.path).parent_path();
    return "files of ../shared/data/" + folder.string() + " are missing";
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
    if (!std::filesystem::exists(path)) GTEST_SKIP() << explain_absence(network);
#ifdef TENGINE_EMULATED
    if (network.is_large) GTEST_SKIP() << "takes up to 16 minutes on an emulated processor";
#endif
    const ModelResult on_acl = run_model(path, {"ACL", network.shape});
    const ModelResult on_cpu = run_model(path, {"", network.shape});
    EXPECT_EQ(on_acl.count("CPU"), 0);
    EXPECT_GT(on_acl.count("ACL"), 0);
    EXPECT_EQ(on_acl.redone, 0);
    // Sums of n products go wrong by sqrt(n) units of 2^-23 as a rule. 50 layers with up to 4608
    // products each: sqrt(50 * 4608) units are 5.7e-5.
    expect_close(on_acl.output, on_cpu.output, 1e-4F);
}

// Small images, since emulated processors are slow; the networks are convolutions throughout.
INSTANTIATE_TEST_SUITE_P(
    All, AclNetwork,
    testing::Values(
        Network{"Digits", "digits.onnx", {1, 1, 28, 28}, Folder::kExamples},
        Network{"SqueezeNet1_1", "squeezenet1_1.onnx", {1, 3, 79, 79}, Folder::kExports},
        Network{"MobileNetV2", "mobilenet_v2.onnx", {1, 3, 64, 64}, Folder::kExports},
        Network{"ResNet18", "resnet18.onnx", {1, 3, 64, 64}, Folder::kExports},
        Network{"Mnist", "tmfile/mnist.tmfile", {1, 1, 28, 28}},
        // Without weights: structure only. small_network_test.cc has such networks with weights.
        Network{"SqueezeNetBenchmark", "tmfile/squeezenet_v1.1_benchmark.tmfile", {1, 3, 79, 79}},
        Network{"MobileNetBenchmark", "tmfile/mobilenet_benchmark.tmfile", {1, 3, 64, 64}},
        Network{"LightSqueezeNet",
                "onnx_light/light_squeezenet.onnx",
                {1, 3, 224, 224},
                Folder::kShared,
                true}),
    [](const auto& network) { return std::string(network.param.name); });

}  // namespace
}  // namespace tengine::acl
