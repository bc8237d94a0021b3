// SPDX-License-Identifier: Apache-2.0
// Whole networks of a usual size, quantised by `tengine quantize`: one integer part on the
// accelerator, with the CPU's bytes.
#include <filesystem>
#include <gtest/gtest.h>
#include <ostream>

#include "tools/accelerated_run.h"
#include "tools/classic_network.h"
#include "tools/program.h"

namespace tengine::program {
namespace {

using nlohmann::json;

struct Network
{
    const char* name;
    std::string (*make)(const std::string& folder, int64_t extent);
    int64_t extent;
    double macs;
};

void PrintTo(const Network& network, std::ostream* out)
{
    *out << network.name;
}

class PrecisionNetwork : public testing::TestWithParam<Network>
{
};

TEST_P(PrecisionNetwork, IsOnePartOnTheAcceleratorWithTheBytesOfTheCpu)
{
    if (!has_accelerator()) GTEST_SKIP() << "this build has no device " << kAccelerator;
    const std::string folder = scratch_folder();
    const std::string quantized = folder + "/quantized.onnx";
    const Finished finished =
        run({"quantize", GetParam().make(folder, GetParam().extent), "--random", "1", "-o",
             quantized, "--per-channel", "--json", "-"});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_GT(json::parse(finished.output)["output_snr_db"]["y"], 15);

    // On a fast processor the CPU would take the smaller network.
    const ModelResult result =
        run_both_ways(quantized, folder, {"--precision", "int8", "--option", "split.prune=0"});
    EXPECT_EQ(result.report["macs"], GetParam().macs);
    int parts = 0;
    for (const json& part : result.report["parts"])
        parts += part["device"] == kAccelerator ? 1 : 0;
    EXPECT_EQ(parts, 1);
    std::filesystem::remove_all(folder);  // a hundred megabytes
}

// The usual number of images takes minutes on an emulated processor.
#ifdef TENGINE_EMULATED
constexpr Network kResnet50 = {"resnet50", make_resnet50, 64, 335691776};
#else
constexpr Network kResnet50 = {"resnet50", make_resnet50, 224, 4089184256};
#endif

INSTANTIATE_TEST_SUITE_P(Architectures, PrecisionNetwork,
                         testing::Values(kResnet50, Network{"mobilenet_v2", make_mobilenet_v2, 224,
                                                            300774272}),
                         [](const auto& network) { return std::string(network.param.name); });

}  // namespace
}  // namespace tengine::program
