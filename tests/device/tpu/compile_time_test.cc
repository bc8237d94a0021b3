// SPDX-License-Identifier: Apache-2.0
// The time to compile a large part is proportional to its size.
#include <algorithm>
#include <ctime>
#include <gtest/gtest.h>

#include "device/tpu/device_run.h"
#include "operator/registry.h"

namespace tengine::tpu {
namespace {

constexpr int kType = TENGINE_DT_BF16;

// Adds a node with one result; returns the result.
int32_t add_node(graph* graph, const char* op, const std::vector<int32_t>& inputs)
{
    node* made = create_ir_node(graph, nullptr, get_op_type_by_name(op), 0);
    tensor* output = create_ir_tensor(graph, nullptr, kType);
    for (size_t i = 0; i < inputs.size(); ++i)
        EXPECT_EQ(set_ir_node_input_tensor(made, static_cast<int>(i),
                                           get_ir_graph_tensor(graph, inputs[i])),
                  TENGINE_OK);
    EXPECT_EQ(set_ir_node_output_tensor(made, 0, output), TENGINE_OK);
    return output->index;
}

// Sums one after the other.
int32_t add_chain(graph* graph, int32_t x, int32_t one, int number)
{
    for (int i = 0; i < number; ++i)
        x = add_node(graph, "Add", {x, one});
    return x;
}

// Adds independent sums, which a Concat joins.
int32_t add_wide(graph* graph, int32_t x, int32_t one, int number)
{
    std::vector<int32_t> sums;
    for (int i = 0; i < number; ++i)
        sums.push_back(add_node(graph, "Add", {x, one}));
    return add_node(graph, "Concat", sums);
}

using Add = int32_t (*)(graph* graph, int32_t x, int32_t one, int number);

double measure_prerun(Add add, int number)
{
    DeviceRun run("TPU", {}, [&](test::IrBuilder& builder) {
        const int32_t x = builder.input("x", {1, 4, 2, 2}, kType)->index;
        const std::vector<uint16_t> ones(16, 0x3f80);
        const int32_t one = builder.constant("one", {1, 4, 2, 2}, ones, kType)->index;
        const int32_t last = add(builder.get(), x, one, number);
        ASSERT_EQ(set_ir_graph_output_tensor(builder.get(), &last, 1), TENGINE_OK);
    });
    const std::clock_t start = std::clock();  // processor time, independent of other load
    EXPECT_EQ(run.prerun(), TENGINE_OK) << tengine_error_message();
    const std::clock_t end = std::clock();
    EXPECT_EQ(run.nodes_on("CPU"), 0) << run.refusals();
    return static_cast<double>(end - start);
}

// Eight times the layers may take eight times the time, and twice that if caches no longer hold
// them; a quadratic algorithm would take 64. The best of several attempts counts, since machines
// are shared.
TEST(CompileTime, IsInProportionToThePart)
{
    for (Add add : {add_chain, add_wide}) {
        double growth = 1e9;
        for (int attempt = 0; attempt < 5 && growth > 32; ++attempt)
            growth = std::min(growth, measure_prerun(add, 8000) / measure_prerun(add, 1000));
        EXPECT_LT(growth, 32) << (add == add_wide ? "wide" : "chain");
    }
}

}  // namespace
}  // namespace tengine::tpu
