// SPDX-License-Identifier: Apache-2.0
// Networks in fewer bits than the model's: a graph stores a large weight only as the kernel has
// packed it, without a converted constant, if the CPU is the only device. With another device it is
// converted at once; results are bit-identical.
#include "fixture.h"
#include "scheduler/temporary_folder.h"
#include "support/test_device.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

constexpr int kDepth = 128, kColumns = 256;
constexpr int64_t kElements = int64_t{2} * kDepth * kColumns;  // of both weights

struct Case
{
    const char* name;
    int precision;
    int converted_bytes;  // of an element
    // 8-bit elements are packed as 16 bits if the processor multiplies these
    int most_packed_bytes;
};

const Case cases[] = {
    {"Bf16", TENGINE_MODE_BF16, 2, 2},
    {"Fp16", TENGINE_MODE_FP16, 2, 2},
    {"HybridInt8", TENGINE_MODE_HYBRID_INT8, 1, 2},
};

std::vector<float> make_values(size_t number)
{
    std::vector<float> values(number);
    for (size_t i = 0; i < number; ++i)
        values[i] = static_cast<float>(i * 7919 % 1009) / 8192 - 0.06f;
    return values;
}

class LateConstantTest : public ApiTest, public testing::WithParamInterface<Case>
{
  protected:
    void SetUp() override
    {
        ApiTest::SetUp();
        alone_ = create_context("alone", 0);
        beside_ = create_context("beside another", 0);
        ASSERT_EQ(add_context_device(beside_, "IDLE"), 0) << get_tengine_error();
    }
    void TearDown() override
    {
        destroy_context(alone_);
        destroy_context(beside_);
        ApiTest::TearDown();
    }

    // y = x * w * v.
    static graph_t create_products(context_t context)
    {
        const graph_t graph = create_graph(context, nullptr, nullptr);
        const tensor_t x = add_input(graph, "x", {1, kDepth});
        const auto add = [&](const char* name, const std::vector<int>& dims) {
            const auto number = static_cast<size_t>(dims[0]) * static_cast<size_t>(dims[1]);
            return add_constant(graph, name, dims, make_values(number).data());
        };
        const tensor_t product =
            add_node(graph, "p", "ai.onnx.MatMul", {x, add("w", {kDepth, kColumns})});
        add_node(graph, "y", "ai.onnx.MatMul", {product, add("v", {kColumns, kDepth})});
        EXPECT_TRUE(set_borders(graph, {"x"}, {"y"})) << get_tengine_error();
        return graph;
    }

    static std::vector<float> run(graph_t graph, int rows)
    {
        const int shape[] = {rows, kDepth};
        EXPECT_EQ(set_tensor_shape(get_graph_tensor(graph, "x"), shape, 2), 0);
        EXPECT_TRUE(write_floats(get_graph_tensor(graph, "x"),
                                 make_values(static_cast<size_t>(rows) * kDepth)));
        options how = {};
        how.num_thread = 1;
        how.precision = GetParam().precision;
        EXPECT_EQ(prerun_graph_multithread(graph, how), 0) << get_tengine_error();
        EXPECT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
        return read_floats(get_graph_tensor(graph, "y"));
    }

    // Returns the results with constants that are converted at once.
    std::vector<float> expect(int rows) const
    {
        const graph_t graph = create_products(beside_);
        const std::vector<float> results = run(graph, rows);
        EXPECT_GE(read_memory(graph).derived_bytes, kElements * GetParam().converted_bytes);
        EXPECT_EQ(destroy_graph(graph), 0);
        return results;
    }

    static tengine_graph_memory read_memory(graph_t graph)
    {
        tengine_graph_memory memory;
        EXPECT_EQ(get_graph_memory(graph, &memory, sizeof memory), 0) << get_tengine_error();
        return memory;
    }

    static int64_t read_compiled(graph_t graph)
    {
        tengine_device_memory device;
        EXPECT_EQ(tengine_graph_get_device_memory(graph, 0, &device, sizeof device), 0);
        return device.compiled_bytes;
    }

    // At most: the records of constants, and scales.
    static constexpr int64_t kDerivedBytes = 4096;
    // At most: steps and states of kernels, and up to 16 bytes of each column beside its weights.
    static constexpr int64_t kStateBytes = 8192 + (kDepth + kColumns) * 16;

    test::TestDevice idle_{"IDLE", {"Sin"}};
    context_t alone_ = nullptr, beside_ = nullptr;
};

TEST_P(LateConstantTest, IsHeldAsItIsPackedAlone)
{
    const graph_t graph = create_products(alone_);
    EXPECT_EQ(run(graph, 3), expect(3));
    const tengine_graph_memory memory = read_memory(graph);
    EXPECT_EQ(memory.owned_bytes, 4 * kElements) << "the model's own";
    EXPECT_LT(memory.derived_bytes, kDerivedBytes);
    EXPECT_GE(read_compiled(graph), kElements * GetParam().converted_bytes);
    EXPECT_LT(read_compiled(graph), kElements * GetParam().most_packed_bytes + kStateBytes);
    EXPECT_EQ(postrun_graph(graph), 0);
    EXPECT_EQ(run(graph, 3), expect(3)) << "made again";
    EXPECT_EQ(destroy_graph(graph), 0);
}

// With a kept preparation, and with constants of an ended one.
TEST_P(LateConstantTest, ServesOtherShapes)
{
    for (const char* kept : {"0", "3"}) {
        ASSERT_EQ(tengine_context_set_option(alone_, "run.shape_cache", kept), 0);
        const graph_t graph = create_products(alone_);
        for (const int rows : {3, 40, 3, 1}) {
            EXPECT_EQ(run(graph, rows), expect(rows)) << rows << " rows";
            EXPECT_LT(read_compiled(graph),
                      kElements * GetParam().most_packed_bytes + 4 * kStateBytes)
                << "packed once";
        }
        EXPECT_EQ(destroy_graph(graph), 0);
    }
}

TEST_P(LateConstantTest, IsMadeOfWhatTheProgramWrites)
{
    const graph_t graph = create_products(alone_), other = create_products(beside_);
    std::vector<float> results = run(graph, 3);
    for (const float factor : {2.0f, 3.0f}) {
        for (const graph_t each : {graph, other})
            static_cast<float*>(get_tensor_buffer(get_graph_tensor(each, "w")))[7] = factor;
        EXPECT_NE(run(graph, 3), results);
        results = run(graph, 3);
        EXPECT_EQ(results, run(other, 3));
        EXPECT_EQ(run(graph, 5), run(other, 5));
    }
    for (const graph_t each : {graph, other})
        EXPECT_EQ(destroy_graph(each), 0);
}

TEST_P(LateConstantTest, OtherPrecisionsAndBackGiveTheSame)
{
    const graph_t graph = create_products(alone_);
    const std::vector<float> results = run(graph, 3);
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
    EXPECT_NE(read_floats(get_graph_tensor(graph, "y")), results) << "in fp32";
    EXPECT_EQ(run(graph, 3), results);
    EXPECT_EQ(destroy_graph(graph), 0);
}

TEST_P(LateConstantTest, PartsAreKeptInFiles)
{
    if (std::string(tengine_device_get_features("CPU")) == "plain C++")
        GTEST_SKIP() << "plain kernels pack nothing";
    const test::TemporaryFolder folder;
    ASSERT_EQ(tengine_context_set_option(alone_, "cache.dir", folder.path().c_str()), 0);
    const std::vector<float> expected = expect(3);
    for (const int origin : {TENGINE_PART_COMPILED, TENGINE_PART_FROM_CACHE}) {
        const graph_t graph = create_products(alone_);
        EXPECT_EQ(run(graph, 3), expected);
        EXPECT_LT(read_memory(graph).derived_bytes, kDerivedBytes);
        int found = -1;
        ASSERT_EQ(tengine_graph_get_subgraph_origin(graph, 0, &found), 0);
        EXPECT_EQ(found, origin);
        EXPECT_EQ(destroy_graph(graph), 0);
    }
}

INSTANTIATE_TEST_SUITE_P(Precisions, LateConstantTest, testing::ValuesIn(cases),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace tengine
