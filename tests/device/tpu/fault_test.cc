// SPDX-License-Identifier: Apache-2.0
// Injected faults: the result is the CPU's for any fault of the device, and the report names it.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <iterator>
#include <thread>

#include "device/tpu/device_run.h"
#include "device/tpu/program/program.h"
#include "graph/run_state.h"
#include "scheduler/watchdog.h"
#include "tengine/device.h"

namespace tengine::tpu {
namespace {

using testing::HasSubstr;

// y = QLinearConv(x), 3x3, 4 to 8 channels.
void build_conv(test::IrBuilder& builder)
{
    builder.input("x", {1, 4, 6, 6}, TENGINE_DT_INT8);
    std::vector<int8_t> weights(8 * 4 * 9);
    for (size_t i = 0; i < weights.size(); ++i)
        weights[i] = static_cast<int8_t>(i * 37 % 255 - 127);
    builder.floats("sx", {}, {0.02f});
    builder.floats("sw", {}, {0.01f});
    builder.floats("sy", {}, {0.5f});
    builder.constant<int8_t>("zx", {}, {3}, TENGINE_DT_INT8);
    builder.constant<int8_t>("zw", {}, {0}, TENGINE_DT_INT8);
    builder.constant<int8_t>("zy", {}, {-5}, TENGINE_DT_INT8);
    builder.constant("w", {8, 4, 3, 3}, weights, TENGINE_DT_INT8);
    builder.add("QLinearConv", {"x", "sx", "zx", "w", "sw", "zw", "sy", "zy"}, {"y"});
    builder.outputs({"y"});
}

Bytes right_result()
{
    DeviceRun run("CPU", {}, build_conv);
    EXPECT_EQ(run.prerun(), TENGINE_OK) << tengine_error_message();
    run.feed_all(7);
    EXPECT_EQ(run.run(), TENGINE_OK) << tengine_error_message();
    return run.outputs();
}

class TpuFault : public testing::Test
{
  protected:
    // Checks that two runs with the fault give the right result; returns the reported reason.
    std::string run_with(const std::string& fault, const OptionValues& more = {})
    {
        OptionValues options = more;
        options["fault"] = fault;
        DeviceRun run("TPU", options, build_conv);
        EXPECT_EQ(run.prerun(), TENGINE_OK) << tengine_error_message();
        run.feed_all(7);
        for (int i = 0; i < 2; ++i) {
            EXPECT_EQ(run.run(), TENGINE_OK) << tengine_error_message();
            EXPECT_EQ(run.outputs(), expected_) << fault;
        }
        EXPECT_EQ(run.nodes_on("CPU"), fault == "none" ? 0 : 1) << run.refusals();
        return run.refusals();
    }

    const Bytes expected_ = right_result();
};

TEST_F(TpuFault, NoneIsNone)
{
    EXPECT_EQ(run_with("none"), "");
}

TEST_F(TpuFault, ABadOpcodeIsFoundWhenItIsReached)
{
    EXPECT_THAT(run_with("bad_opcode@2"), HasSubstr("opcode"));
}

TEST_F(TpuFault, AFailedTransferEndsTheRun)
{
    EXPECT_THAT(run_with("dma@0"), HasSubstr("transfer"));
}

TEST_F(TpuFault, AHangIsGivenUpByTheWatchdog)
{
    EXPECT_THAT(run_with("hang@1", {{"run.watchdog_ms", "500"}}), HasSubstr("500 ms"));
    EXPECT_EQ(wait_hung_calls(10000), 0) << "the run ends when it is given up";
}

// The device is not given up, and a part that is loaded ends as well.
TEST_F(TpuFault, AHangEndsWithTheRunThatIsCancelled)
{
    const std::string folder = testing::TempDir() + "tpu_cancelled";
    std::filesystem::create_directories(folder);
    for (const char* scheduler : {"sync", "pipeline"})
        for (const char* watchdog_ms : {"0", "60000"}) {
            DeviceRun run("TPU",
                          {{"fault", "hang@1"},
                           {"run.deadline_ms", "30"},
                           {"run.watchdog_ms", watchdog_ms},
                           {"scheduler", scheduler},
                           {"cache.dir", folder}},
                          build_conv);
            ASSERT_EQ(run.prerun(), TENGINE_OK) << tengine_error_message();
            run.feed_all(7);
            for (int i = 0; i < 3; ++i) {
                EXPECT_EQ(run.run(), TENGINE_ECANCELED);
                EXPECT_THAT(tengine_error_message(), HasSubstr("within 30 ms (run.deadline_ms)"));
            }
            EXPECT_EQ(run.nodes_on("CPU"), 0) << run.refusals();
        }
    std::filesystem::remove_all(folder);
}

// Each run has the right bits or none.
TEST_F(TpuFault, NoneOfACancelledRunReachesTheNextOne)
{
    for (const char* scheduler : {"sync", "pipeline"}) {
        DeviceRun run("TPU", {{"scheduler", scheduler}}, build_conv);
        ASSERT_EQ(run.prerun(), TENGINE_OK) << tengine_error_message();
        run.feed_all(7);
        std::atomic<bool> is_over{false};
        std::thread canceller([&] {
            for (unsigned i = 0; !is_over; ++i) {
                cancel_ir_runs(run.source());
                std::this_thread::sleep_for(std::chrono::microseconds(i % 200));
            }
        });
        for (int i = 0; i < 100; ++i) {
            if (run.run() == TENGINE_OK)
                EXPECT_EQ(run.outputs(), expected_);
            else
                EXPECT_EQ(tengine_error_code(), TENGINE_ECANCELED) << tengine_error_message();
        }
        is_over = true;
        canceller.join();
        EXPECT_EQ(run.run(), TENGINE_OK) << tengine_error_message();
        EXPECT_EQ(run.outputs(), expected_);
        EXPECT_EQ(run.nodes_on("CPU"), 0) << run.refusals();
    }
}

TEST_F(TpuFault, AFlippedBitIsFoundWhenTheProgramIsLoaded)
{
    for (const int bit : {0, 77, 1000, 20000})
        EXPECT_THAT(run_with("bit_flip@" + std::to_string(bit)), HasSubstr("y: ")) << bit;
}

TEST_F(TpuFault, AFailureWhenThatIsWhatTheUserWants)
{
    DeviceRun run("TPU", {{"fault", "dma@0"}, {"split.fail_on_fallback", "1"}}, build_conv);
    ASSERT_EQ(run.prerun(), TENGINE_OK) << tengine_error_message();
    run.feed_all(7);
    EXPECT_LT(run.run(), 0);
    EXPECT_THAT(tengine_error_message(), HasSubstr("TPU"));
}

TEST(TpuProgramFile, TheOptionSavesWhatTheDeviceRuns)
{
    const std::string folder = testing::TempDir() + "tpu_programs";
    std::filesystem::create_directories(folder);
    DeviceRun run("TPU", {{"save_program", folder}, {"config", "scale32"}}, build_conv);
    ASSERT_EQ(run.prerun(), TENGINE_OK) << tengine_error_message();
    std::ifstream file(folder + "/y.tpu", std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    Program program;
    ASSERT_EQ(load_program(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), &program),
              TENGINE_OK)
        << tengine_error_message();
    Config config;
    ASSERT_EQ(load_config("scale32", &config), TENGINE_OK);
    EXPECT_EQ(validate_program(program, config), TENGINE_OK) << tengine_error_message();
    ASSERT_EQ(load_config("tpu-v1", &config), TENGINE_OK);
    EXPECT_LT(validate_program(program, config), 0) << "made for another machine";
    ASSERT_EQ(program.bindings.size(), 2u);
    EXPECT_EQ(program.bindings[0].name, "x");
    EXPECT_EQ(program.nodes, std::vector<std::string>{"y"});
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tengine::tpu
