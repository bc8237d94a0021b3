// SPDX-License-Identifier: Apache-2.0
// The memory of a part as the device reports it: program and weights, host memory and buffers.
#include "scheduler/memory.h"

#include <cstring>

#include "device/tpu/device_run.h"
#include "device/tpu/machine/config.h"
#include "graph/graph.h"
#include "scheduler/runner.h"
#include "scheduler/scheduler.h"

namespace tengine::tpu {
namespace {

// y = QLinearMatMul(x, w), `depth` to 256 columns.
Build build_product(int depth)
{
    return [depth](test::IrBuilder& builder) {
        builder.input("x", {2, depth}, TENGINE_DT_INT8);
        for (const char* scale : {"sx", "sw", "sy"})
            builder.floats(scale, {}, {0.02f});
        for (const char* zero : {"zx", "zw", "zy"})
            builder.constant<int8_t>(zero, {}, {0}, TENGINE_DT_INT8);
        builder.constant("w", {depth, 256}, std::vector<int8_t>(static_cast<size_t>(depth) * 256),
                         TENGINE_DT_INT8);
        builder.add("QLinearMatMul", {"x", "sx", "zx", "w", "sw", "zw", "sy", "zy"}, {"y"});
        builder.outputs({"y"});
    };
}

ir_device_memory_t count_tpu(DeviceRun* run)
{
    vector* list = create_vector(sizeof(ir_device_memory_t), nullptr);
    EXPECT_EQ(count_ir_device_memory(run->source(), list), TENGINE_OK) << tengine_error_message();
    const auto entry = *static_cast<ir_device_memory_t*>(get_vector_data(list, 0));
    EXPECT_STREQ(entry.device->name, "TPU");
    release_vector(list);
    return entry;
}

TEST(TpuMemory, ComesWithPrerunAndGoesWithPostrun)
{
    Config config;
    ASSERT_EQ(load_config("edge", &config), TENGINE_OK);
    DeviceRun run("TPU", {{"config", "edge"}}, build_product(512));
    EXPECT_EQ(count_tpu(&run).held.compiled, 0);
    EXPECT_EQ(count_tpu(&run).held.arena, 0);
    ASSERT_EQ(run.prerun(), TENGINE_OK) << tengine_error_message();
    const ir_device_memory_t prepared = count_tpu(&run);
    EXPECT_EQ(prepared.part_num, 1);
    EXPECT_EQ(prepared.unknown_num, 0);
    const int64_t accumulators = config.accumulator_rows * config.columns * 4;
    EXPECT_GE(prepared.held.compiled, 512 * 256 + accumulators) << "the weights";
    EXPECT_GE(prepared.held.arena, config.unified_buffer_bytes + 2 * (512 + 256));
    run.feed_all(1);
    ASSERT_EQ(run.run(), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(count_tpu(&run).held.compiled, prepared.held.compiled) << "runs allocate nothing";
    EXPECT_EQ(count_tpu(&run).held.arena, prepared.held.arena);
    ASSERT_EQ(postrun_ir_graph(run.source()), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(count_tpu(&run).held.compiled + count_tpu(&run).held.arena, 0);
    EXPECT_EQ(count_tpu(&run).part_num, 0);
}

TEST(TpuMemory, GrowsWithTheWeights)
{
    DeviceRun small("TPU", {}, build_product(512)), large("TPU", {}, build_product(1024));
    ASSERT_EQ(small.prerun(), TENGINE_OK) << tengine_error_message();
    ASSERT_EQ(large.prerun(), TENGINE_OK) << tengine_error_message();
    EXPECT_GE(count_tpu(&large).held.compiled - count_tpu(&small).held.compiled, 512 * 256);
}

// The buffer on the chip and DRAM, with the sizes and rates of the configuration.
TEST(TpuMemory, HasTheMemoriesOfItsConfiguration)
{
    for (const char* name : {"edge", "tpu-v1"}) {
        Config config;
        ASSERT_EQ(load_config(name, &config), TENGINE_OK);
        DeviceRun run("TPU", {{"config", name}}, build_product(512));
        ASSERT_EQ(run.prerun(), TENGINE_OK) << tengine_error_message();
        const subgraph& part =
            *get_ir_compiled_part(get_ir_graph_subgraph(run.source()->core->execution, 0));
        ASSERT_EQ(part.core->memory_num, 2);
        const ir_scratch_need_t *buffer = &part.core->scratch[0], *dram = &part.core->scratch[1];
        EXPECT_STREQ(buffer->own.memory, "buffer");
        EXPECT_EQ(buffer->memory_bytes, config.unified_buffer_bytes);
        EXPECT_EQ(static_cast<int64_t>(buffer->planned), config.unified_buffer_bytes);
        EXPECT_STREQ(dram->own.memory, "DRAM");
        EXPECT_EQ(dram->memory_bytes, 0);
        EXPECT_GE(dram->planned, size_t{2 * (512 + 256)}) << "inputs and results";
        EXPECT_EQ(part.plan_bytes, buffer->planned + dram->planned);

        vector* memories = create_vector(sizeof(ir_memory_t), nullptr);
        ASSERT_EQ(part.device->interface->memories(part.device, part.graph, memories), 0);
        const auto* list = static_cast<const ir_memory_t*>(get_vector_data(memories, 0));
        EXPECT_DOUBLE_EQ(list[1].ns_per_kib, 1024 / config.host_gbps);
        EXPECT_LT(list[0].ns_per_kib, list[1].ns_per_kib);
        release_vector(memories);
    }
}

}  // namespace
}  // namespace tengine::tpu
