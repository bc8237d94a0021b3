// SPDX-License-Identifier: Apache-2.0
// The options and the file of the machine are read once in a preparation.
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "device/tpu/device_run.h"
#include "device/tpu/machine/config.h"
#include "module/module.h"
#include "tengine/device.h"

namespace tengine::tpu {
namespace {

using testing::HasSubstr;

std::string file_of_machine;
int (*judge)(device*, const node*, ir_verdict_t*);

// Builds two consecutive nodes that the TPU takes.
void build_movements(test::IrBuilder& builder)
{
    builder.input("x", {4, 6}, TENGINE_DT_INT8);
    builder.add("Transpose", {"x"}, {"t"});
    builder.add("Transpose", {"t"}, {"y"});
    builder.outputs({"y"});
}

class TpuSurvey : public testing::Test
{
  protected:
    TpuSurvey()
    {
        init_modules();
        file_of_machine = testing::TempDir() + "tpu_survey_" + std::to_string(getpid()) + ".json";
        write(R"({"base": "edge"})");
        judge = allocator().inspect;
    }
    ~TpuSurvey() override
    {
        allocator().inspect = judge;
        std::remove(file_of_machine.c_str());
    }

    static struct allocator& allocator() { return *find_device_via_name("TPU")->allocator; }
    static void write(const char* json) { std::ofstream(file_of_machine) << json; }
};

TEST_F(TpuSurvey, WhatBecomesOfTheFileLaterDoesNotMatter)
{
    DeviceRun run("TPU", {{"config", file_of_machine}}, build_movements);
    allocator().inspect = [](device* device, const node* node, ir_verdict_t* out_verdict) {
        std::remove(file_of_machine.c_str());
        return judge(device, node, out_verdict);
    };
    ASSERT_EQ(run.prerun(), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(run.nodes_on("TPU"), run.execution()->node_num) << run.refusals();
    EXPECT_GT(run.execution()->node_num, 0);
    run.feed_all(3);
    EXPECT_EQ(run.run(), TENGINE_OK) << tengine_error_message();
}

TEST_F(TpuSurvey, ABadFileFailsThePreparation)
{
    DeviceRun run("TPU", {{"config", file_of_machine}}, build_movements);
    write(R"({"base": "edge", "rows": -1})");
    EXPECT_EQ(run.prerun(), TENGINE_ERANGE);
    EXPECT_THAT(tengine_error_message(), HasSubstr("device 'TPU', survey: "));
    EXPECT_THAT(tengine_error_message(), HasSubstr("rows"));
    write(R"({"base": "edge"})");
    EXPECT_EQ(run.prerun(), TENGINE_OK) << tengine_error_message();
}

}  // namespace
}  // namespace tengine::tpu
