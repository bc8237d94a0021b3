// SPDX-License-Identifier: Apache-2.0
#include "tools/accelerated_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/program.h"

namespace tengine::program {

using nlohmann::json;

bool has_accelerator()
{
    const json list = json::parse(run({"devices", "--json", "-"}).output);
    for (const json& device : list["devices"])
        if (device["name"] == kAccelerator) return true;
    return false;
}

double ModelResult::mac_share(const std::string& device) const
{
    double there = 0;
    for (const json& part : report["parts"])
        if (part["device"] == device) there += part["macs"].get<double>();
    return there / report["macs"].get<double>();
}

ModelResult run_model(const std::string& model, const std::string& folder,
                      const std::vector<std::string>& more)
{
    const std::string file = folder + "/report.json";
    std::vector<std::string> arguments = {"run", model, "--output", folder, "--json", file};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.errors, testing::Not(testing::HasSubstr("runs in float")));
    json report = json::parse(tools::read_file(file));
    for (const json& part : report["parts"])
        EXPECT_EQ(part["redone"], 0) << part;
    const std::string output = report["outputs"][0]["name"];
    return {tools::read_tensor(folder + "/" + output + ".npy"), std::move(report)};
}

ModelResult run_both_ways(const std::string& model, const std::string& folder,
                          std::vector<std::string> more)
{
    const ModelResult alone = run_model(model, folder, more);
    more.insert(more.end(), {"--device", std::string(kAccelerator) + ",CPU"});
    ModelResult together = run_model(model, folder, more);
    EXPECT_EQ(together.output.shape, alone.output.shape);
    EXPECT_TRUE(together.output.bytes == alone.output.bytes) << "different bytes";
    EXPECT_EQ(alone.mac_share("CPU"), 1);
    EXPECT_EQ(together.mac_share(kAccelerator), 1);
    return together;
}

}  // namespace tengine::program
