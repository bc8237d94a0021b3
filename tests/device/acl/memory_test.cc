// SPDX-License-Identifier: Apache-2.0
// The memory that the device reports for a graph: rearranged weights, and tensors inside a part.
#include "scheduler/memory.h"

#include <gtest/gtest.h>

#include "device/acl/acl_run.h"
#include "operator/param.h"
#include "scheduler/scheduler.h"

namespace tengine::acl {
namespace {

constexpr int64_t kMegabyte = 1 << 20;
// Functions, their descriptions, and the rest of blocks that ACL's kernels round up to.
constexpr int64_t kSmall = kMegabyte / 4;

class AclMemory : public testing::Test
{
  protected:
    void SetUp() override
    {
        const test::IrBuilder builder;
        if (!find_device_via_name("ACL")->interface->memory)
            GTEST_SKIP() << "this C library does not tell how large the heap is";
    }
    static ir_device_memory_t count(AclRun& run)
    {
        vector* devices = create_vector(sizeof(ir_device_memory_t), nullptr);
        EXPECT_EQ(count_ir_device_memory(run.source(), devices), TENGINE_OK);
        ir_device_memory_t found = {};
        for (int i = 0; i < get_vector_num(devices); ++i) {
            const auto& entry = *static_cast<ir_device_memory_t*>(get_vector_data(devices, i));
            if (std::string(entry.device->name) == "ACL") found = entry;
        }
        release_vector(devices);
        return found;
    }
};

// Products of 8 x 512 with one constant of a megabyte.
Build build_products(int number)
{
    return [number](test::IrBuilder& builder) {
        builder.input("x", {8, 512});
        std::vector<float> weights(size_t{512} * 512);
        for (size_t i = 0; i < weights.size(); ++i)
            weights[i] = static_cast<float>(i % 7) / 7;
        builder.floats("w", {512, 512}, weights);
        std::string last = "x";
        for (int i = 0; i < number; ++i) {
            const std::string next = "y" + std::to_string(i);
            builder.add("MatMul", {last, "w"}, {next});
            last = next;
        }
        builder.outputs({last.c_str()});
    };
}

TEST_F(AclMemory, OfWeights)
{
    for (const int number : {1, 2, 3}) {
        AclRun run({}, build_products(number));
        ASSERT_EQ(run.prerun(), TENGINE_OK) << tengine_error_message();
        ASSERT_EQ(run.nodes_on("ACL"), number) << run.refusals();
        const ir_device_memory_t memory = count(run);
        EXPECT_EQ(memory.part_num, 1);
        EXPECT_EQ(memory.unknown_num, 0);
        // Each function rearranges the constant for itself.
        EXPECT_GE(memory.held.compiled, number * kMegabyte);
        EXPECT_LE(memory.held.compiled, number * kMegabyte + kSmall);
    }
}

TEST_F(AclMemory, OfTensorsInside)
{
    AclRun run({}, [](test::IrBuilder& builder) {
        builder.input("x", {64, 64, 64});
        const int64_t turn[] = {2, 0, 1};
        EXPECT_EQ(set_node_ints(builder.add("Transpose", {"x"}, {"a"}), "perm", turn, 3),
                  TENGINE_OK);
        builder.add("Abs", {"a"}, {"b"});
        EXPECT_EQ(set_node_ints(builder.add("Transpose", {"b"}, {"c"}), "perm", turn, 3),
                  TENGINE_OK);
        builder.outputs({"c"});
    });
    EXPECT_EQ(count(run).held.arena, 0) << "before the preparation";
    ASSERT_EQ(run.prerun(), TENGINE_OK) << tengine_error_message();
    ASSERT_EQ(run.nodes_on("ACL"), 3) << run.refusals();
    // a and b, a megabyte each, are alive at the same time. The graph has no weights.
    const ir_device_memory_t memory = count(run);
    EXPECT_GE(memory.held.arena, 2 * kMegabyte);
    EXPECT_LE(memory.held.arena, 2 * kMegabyte + kSmall);
    EXPECT_LE(memory.held.compiled, kSmall);
    postrun_ir_graph(run.source());
    EXPECT_EQ(count(run).part_num, 0);
    EXPECT_EQ(count(run).held.arena, 0);
}

}  // namespace
}  // namespace tengine::acl
