// SPDX-License-Identifier: Apache-2.0
// How often the compiler fetches weights, by the device's own count.
#include <cmath>

#include "device/tpu/device_run.h"
#include "scheduler/runner.h"
#include "tengine/device.h"

namespace tengine::tpu {
namespace {

void add_conv(test::IrBuilder& builder, const std::string& x, const std::string& y, int outputs,
              int side)
{
    const auto size = static_cast<size_t>(outputs * 16 * side * side);
    const std::string weights = y + ".weights";
    builder.constant(weights, {outputs, 16, side, side}, std::vector<int8_t>(size, 3),
                     TENGINE_DT_INT8);
    builder.add("QLinearConv", {x, "s", "z", weights, "s", "z", "s", "z"}, {y});
}

// Adds x, 64 x 64 pixels of 16 channels, and the constants of convolutions.
void add_input(test::IrBuilder& builder)
{
    builder.input("x", {1, 16, 64, 64}, TENGINE_DT_INT8);
    builder.floats("s", {}, {0.02f});
    builder.constant<int8_t>("z", {}, {0}, TENGINE_DT_INT8);
}

Build conv(int outputs, int side)
{
    return [=](test::IrBuilder& builder) {
        add_input(builder);
        add_conv(builder, "x", "y", outputs, side);
        builder.outputs({"y"});
    };
}

// The second convolution reads and writes the buffer only.
void build_two(test::IrBuilder& builder)
{
    add_input(builder);
    add_conv(builder, "x", "a", 16, 1);
    add_conv(builder, "a", "b", 600, 1);
    builder.add("com.microsoft.QLinearGlobalAveragePool", {"b", "s", "z", "s", "z"}, {"y"});
    builder.outputs({"y"});
}

double count_weight_bytes(const Build& build, const OptionValues& options)
{
    DeviceRun run("TPU", options, build);
    EXPECT_EQ(run.prerun(), TENGINE_OK) << tengine_error_message();
    run.feed_all(1);
    EXPECT_EQ(run.run(), TENGINE_OK) << tengine_error_message();
    const std::unique_ptr<struct vector, void (*)(struct vector*)> counters(
        create_vector(sizeof(ir_counter_t), nullptr), release_vector);
    EXPECT_EQ(count_ir_part(get_ir_graph_subgraph(run.execution(), 0), counters.get()), TENGINE_OK);
    for (int i = 0; i < get_vector_num(counters.get()); ++i) {
        const auto* counter = static_cast<ir_counter_t*>(get_vector_data(counters.get(), i));
        if (std::string(counter->name) == "weights read") return counter->value;
    }
    return -1;
}

// 4096 vectors are eight patches of half of edge's accumulators, two of tpu-v1's.
TEST(TpuTiling, ATileThatIsEnoughForABlockIsFetchedOnce)
{
    EXPECT_EQ(count_weight_bytes(conv(32, 1), {{"config", "edge"}}), 32 * 32);
    EXPECT_EQ(count_weight_bytes(build_two, {{"config", "tpu-v1"}}), (1 + 3) * 256 * 256);
    expect_same_bits(build_two, {{"config", "tpu-v1"}});
}

// 3 x 3 taps of 16 channels: two tiles for each of three rows of the window.
TEST(TpuTiling, SeveralTilesAreFetchedForEachPatch)
{
    constexpr double kTiles = 3 * 2 * 32 * 32;
    const double fetched = count_weight_bytes(conv(32, 3), {{"config", "edge"}});
    EXPECT_EQ(std::fmod(fetched, kTiles), 0);
    EXPECT_GE(fetched, 4 * kTiles) << "all accumulators hold a quarter of the result";
    EXPECT_LE(fetched, 9 * kTiles);
}

}  // namespace
}  // namespace tengine::tpu
