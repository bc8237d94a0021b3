// SPDX-License-Identifier: Apache-2.0
// Nodes that the compiler refuses: the CPU computes them, and the report has the reason.
#include <unistd.h>

#include <fstream>
#include <gtest/gtest.h>

#include "device/tpu/compiler/compiler.h"
#include "device/tpu/device_run.h"
#include "device/tpu/quantized_model.h"
#include "operator/param.h"

namespace tengine::tpu {
namespace {

void expect_refused(const std::function<std::string(QuantizedModel&)>& make,
                    const std::string& reason, int data_type = TENGINE_DT_INT8,
                    const OptionValues& options = {})
{
    DeviceRun run("TPU", options, [&](test::IrBuilder& builder) {
        QuantizedModel model(builder, 1, data_type);
        model.finish(make(model));
    });
    ASSERT_EQ(run.prerun(), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(run.nodes_on("TPU"), 0);
    EXPECT_NE(run.refusals().find(reason), std::string::npos) << run.refusals();
    run.feed_all(1);
    EXPECT_EQ(run.run(), TENGINE_OK) << tengine_error_message();
}

TEST(TpuRefusal, SumsThatMayOverflow)
{
    expect_refused(
        [](QuantizedModel& model) {
            return model.gemm(model.input({1, 300000}), 300000, 1);
        },
        "expected less than 2^31", TENGINE_DT_UINT8);
}

// A machine with one product per instruction needs an instruction for each product.
TEST(TpuRefusal, MoreProductsThanMemoryHolds)
{
    const std::string path =
        testing::TempDir() + "tpu_one_product." + std::to_string(getpid()) + ".json";
    std::ofstream(path) << R"({"base": "edge", "rows": 1, "columns": 1, "accumulator_rows": 1})";
    expect_refused(
        [](QuantizedModel& model) {
            return model.conv(model.input({1, 64, 32, 32}), 64);
        },
        "it takes 4608 tiles 1024 times, expected at most 262144 products", TENGINE_DT_INT8,
        {{"config", path}});
}

TEST(TpuRefusal, OneRowThatDoesNotFit)
{
    expect_refused(
        [](QuantizedModel& model) {
            return model.global_average_pool(model.input({1, 1, 800, 800}));
        },
        "one row of work takes");
}

TEST(TpuRefusal, BroadcastsOverChannels)
{
    expect_refused(
        [](QuantizedModel& model) {
            const std::string x = model.input({1, 8, 4, 4});
            return model.pair("QLinearMul", x, model.input({1, 1, 4, 4}));
        },
        "broadcasts over channels");
}

TEST(TpuRefusal, SlicesBackwards)
{
    expect_refused(
        [](QuantizedModel& model) {
            return model.plain("Slice", {model.input({1, 8, 4, 4}), model.ints({-1}),
                                         model.ints({-5}), model.ints({2}), model.ints({-1})});
        },
        "a step of -1");
}

TEST(TpuRefusal, WeightsThatAreComputed)
{
    expect_refused(
        [](QuantizedModel& model) {
            const std::string y = model.conv(model.input({1, 8, 4, 4}), 8);
            test::IrBuilder& builder = model.builder();
            builder.input("w", {8, 8, 3, 3}, TENGINE_DT_INT8);
            EXPECT_EQ(
                set_ir_node_input_tensor(test::find_node(builder.get(), y), 3, builder.find("w")),
                TENGINE_OK);
            return y;
        },
        "the weight must be constant");
}

}  // namespace
}  // namespace tengine::tpu
