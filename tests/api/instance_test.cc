// SPDX-License-Identifier: Apache-2.0
// Instances of a model: each computes what a graph of its own computes, they share the memory of
// weights, and neither changes nor ends what the others have.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>

#include "fixture.h"
#include "onnx_graph.h"
#include "op_model.h"
#include "scheduler/temporary_folder.h"
#include "support/test_device.h"
#include "tengine/custom_kernel.h"
#include "tengine/file.h"
#include "tengine/graph.h"
#include "tengine/inspect.h"
#include "tengine/string.h"

namespace tengine {
namespace {

using test::TemporaryFolder;

constexpr int kDepth = 128, kColumns = 256;
constexpr int64_t kWeightBytes = int64_t{2} * kDepth * kColumns * 4;

std::vector<float> make_values(size_t number, int seed = 0)
{
    std::vector<float> values(number);
    for (size_t i = 0; i < number; ++i)
        values[i] =
            static_cast<float>((i + static_cast<size_t>(seed)) * 7919 % 1009) / 8192 - 0.06f;
    return values;
}

// y = relu(x * w) * v, for any number of rows.
graph_t create_products(context_t context = nullptr)
{
    const graph_t graph = create_graph(context, nullptr, nullptr);
    const tensor_t x = add_input(graph, "x", {1, kDepth});
    const auto values = make_values(size_t{kDepth} * kColumns);
    const tensor_t w = add_constant(graph, "w", {kDepth, kColumns}, values.data());
    const tensor_t v = add_constant(graph, "v", {kColumns, kDepth}, values.data());
    const tensor_t product = add_node(graph, "p", "ai.onnx.MatMul", {x, w});
    add_node(graph, "y", "ai.onnx.MatMul", {add_node(graph, "r", "ai.onnx.Relu", {product}), v});
    EXPECT_TRUE(set_borders(graph, {"x"}, {"y"})) << get_tengine_error();
    return graph;
}

options with(int precision, int threads = 1)
{
    return {threads, TENGINE_CLUSTER_ALL, precision, 0};
}

// The result for `rows` rows, whose values depend on `seed`. Empty when it fails.
std::vector<float> run(graph_t graph, int rows, int seed = 0, int precision = TENGINE_MODE_FP32,
                       int threads = 1)
{
    const int shape[] = {rows, kDepth};
    const tensor_t x = tengine_graph_get_input(graph, 0);
    if (set_tensor_shape(x, shape, 2) != 0 ||
        !write_floats(x, make_values(static_cast<size_t>(rows) * kDepth, seed)) ||
        prerun_graph_multithread(graph, with(precision, threads)) != 0 || run_graph(graph, 1) != 0)
        return {};
    return read_floats(tengine_graph_get_output(graph, 0));
}

int64_t count_memory(graph_t graph)
{
    tengine_graph_memory memory;
    EXPECT_EQ(get_graph_memory(graph, &memory, sizeof memory), 0) << get_tengine_error();
    return memory.total_bytes;
}

int64_t count_compiled(graph_t graph)
{
    tengine_device_memory device;
    EXPECT_EQ(tengine_graph_get_device_memory(graph, 0, &device, sizeof device), 0);
    return device.compiled_bytes;
}

class InstanceTest : public ApiTest
{
  protected:
    void TearDown() override
    {
        for (const graph_t graph : graphs_)
            EXPECT_EQ(destroy_graph(graph), 0) << get_tengine_error();
        ApiTest::TearDown();
    }

    graph_t own(graph_t graph)
    {
        EXPECT_NE(graph, nullptr) << get_tengine_error();
        if (graph) graphs_.push_back(graph);
        return graph;
    }
    graph_t share(graph_t graph) { return own(tengine_graph_share(graph)); }

    void end(graph_t graph)
    {
        graphs_.erase(std::remove(graphs_.begin(), graphs_.end(), graph), graphs_.end());
        EXPECT_EQ(destroy_graph(graph), 0) << get_tengine_error();
    }

    std::vector<graph_t> graphs_;
};

// ---- results, in each precision ----

class InstancePrecisionTest : public InstanceTest, public testing::WithParamInterface<int>
{
};

TEST_P(InstancePrecisionTest, ComputesTheSameBits)
{
    const int precision = GetParam();
    const graph_t alone = own(create_products());
    const std::vector<float> one = run(alone, 1, 3, precision), many = run(alone, 9, 4, precision);
    ASSERT_FALSE(one.empty()) << get_tengine_error();
    const graph_t first = own(create_products());
    ASSERT_EQ(run(first, 1, 3, precision), one);
    const graph_t second = share(first), third = share(second);
    EXPECT_EQ(run(second, 9, 4, precision), many) << get_tengine_error();
    EXPECT_EQ(read_floats(get_graph_tensor(first, "y")), one) << "the first has its own output";
    EXPECT_EQ(run(third, 1, 3, precision), one);
    end(first);
    EXPECT_EQ(run(second, 1, 3, precision), one) << "packed again without the first";
    end(second);
    EXPECT_EQ(run(third, 9, 4, precision, 2), many) << "of two threads";
}

// Each instance has its own precision, and the weights are packed for each.
TEST_P(InstancePrecisionTest, InstancesOfTwoPrecisionsAreIndependent)
{
    const graph_t alone = own(create_products());
    const std::vector<float> fp32 = run(alone, 5, 1), wanted = run(alone, 5, 1, GetParam());
    const graph_t first = own(create_products());
    EXPECT_EQ(run(first, 5, 1), fp32);
    const graph_t second = share(first);
    EXPECT_EQ(run(second, 5, 1, GetParam()), wanted);
    EXPECT_EQ(run(first, 5, 1, GetParam()), wanted);
    EXPECT_EQ(run(second, 5, 1), fp32);
}

INSTANTIATE_TEST_SUITE_P(Precisions, InstancePrecisionTest,
                         testing::Values(TENGINE_MODE_FP32, TENGINE_MODE_FP16, TENGINE_MODE_BF16,
                                         TENGINE_MODE_HYBRID_INT8));

// ---- memory ----

// Products of this many rows read packed weights.
constexpr int kManyRows = 48;

TEST_F(InstanceTest, PackedWeightsAreSharedInEitherOrder)
{
    for (const bool is_prepared : {true, false}) {
        const graph_t first = own(create_products());
        if (is_prepared) {
            ASSERT_FALSE(run(first, kManyRows).empty()) << get_tengine_error();
            EXPECT_GE(count_compiled(first), kWeightBytes);
        }
        const graph_t second = share(first);
        ASSERT_FALSE(run(second, kManyRows).empty()) << get_tengine_error();
        ASSERT_FALSE(run(first, kManyRows).empty()) << get_tengine_error();
        EXPECT_NEAR(static_cast<double>(count_compiled(second)), kWeightBytes / 2.0,
                    kWeightBytes / 8.0);
        EXPECT_EQ(count_compiled(first), count_compiled(second));
        const int64_t shared = count_memory(first);
        end(second);
        EXPECT_GE(count_compiled(first), kWeightBytes) << "the last one counts them alone";
        EXPECT_GT(count_memory(first), shared + kWeightBytes / 2);
    }
}

// Packs for another number of threads are others.
TEST_F(InstanceTest, PacksAreFoundAfterASecondPreparation)
{
    const graph_t first = own(create_products());
    ASSERT_FALSE(run(first, kManyRows).empty());
    const graph_t second = share(first);
    ASSERT_FALSE(run(second, kManyRows, 0, TENGINE_MODE_FP32, 2).empty());
    EXPECT_GE(count_compiled(second), kWeightBytes) << "packed for two threads";
    ASSERT_EQ(postrun_graph(second), 0);
    ASSERT_FALSE(run(second, 2 * kManyRows).empty());
    EXPECT_LT(count_compiled(second), kWeightBytes * 5 / 8) << "those of the first";
}

// The limit covers what an instance would hold alone.
TEST_F(InstanceTest, ALimitOfMemoryCountsSharedConstants)
{
    const context_t context = create_context("c", 0);
    const graph_t first = own(create_graph(context, nullptr, nullptr));
    constexpr int kWide = 4096;
    const tensor_t x = add_input(first, "x", {1, kDepth});
    const auto values = make_values(size_t{kDepth} * kWide);
    add_node(first, "y", "ai.onnx.MatMul",
             {x, add_constant(first, "w", {kDepth, kWide}, values.data())});
    ASSERT_TRUE(set_borders(first, {"x"}, {"y"}));
    const graph_t second = share(first);
    ASSERT_EQ(tengine_context_set_option(context, "memory.limit_mb", "1"), 0);
    for (const graph_t graph : {first, second}) {
        EXPECT_EQ(prerun_graph(graph), -1);
        EXPECT_NE(std::strstr(get_tengine_error(), "its constants"), nullptr)
            << get_tengine_error();
        EXPECT_TRUE(failed_with(TENGINE_ELIMIT));
    }
    ASSERT_EQ(tengine_context_set_option(context, "memory.limit_mb", "64"), 0);
    EXPECT_EQ(prerun_graph(second), 0) << get_tengine_error();
    destroy_context(context);
}

TEST_F(InstanceTest, AMappedFileStaysUntilTheLastOne)
{
    const TemporaryFolder folder;
    for (const char* format : {"onnx", "tengine"}) {
        const std::string path = folder.path() + "/products." + format;
        const graph_t written = own(create_products());
        ASSERT_EQ(save_graph(written, format, path.c_str()), 0) << get_tengine_error();
        const std::vector<float> wanted = run(written, 3, 2);
        for (const bool destroys_first : {true, false}) {
            const graph_t first = own(create_graph(nullptr, format, path.c_str()));
            const graph_t second = share(first), third = share(first);
            end(destroys_first ? first : second);
            EXPECT_EQ(run(third, 3, 2), wanted) << format;
            end(third);
            const graph_t left = destroys_first ? second : first;
            EXPECT_EQ(run(left, 3, 2), wanted) << format;
            EXPECT_EQ(run(left, 3, 2, TENGINE_MODE_BF16).size(), wanted.size());
            EXPECT_EQ(tengine_graph_has_file(left, path.c_str()), 1);
            end(left);
        }
    }
}

TEST_F(InstanceTest, ABlockOfMemoryIsFreedByTheLastOne)
{
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/products.tmfile";
    const graph_t written = own(create_products());
    ASSERT_EQ(save_graph(written, "tengine", path.c_str()), 0) << get_tengine_error();
    const std::vector<float> wanted = run(written, 3, 2);
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    for (const char* format : {"tengine:m", "tengine:view", "tengine"}) {
        void* block = std::malloc(bytes.size());
        std::memcpy(block, bytes.data(), bytes.size());
        const graph_t first = own(tengine_graph_load(nullptr, format, block, bytes.size()));
        if (std::strcmp(format, "tengine") == 0) std::free(block);
        const graph_t second = share(first);
        end(first);
        EXPECT_EQ(run(second, 3, 2), wanted) << format;
        end(second);
        if (std::strcmp(format, "tengine:view") == 0) std::free(block);
    }
}

// ---- changes ----

// Changes a constant in one of the ways that a program has.
const std::vector<std::function<void(tensor_t, std::vector<float>*)>> changes = {
    [](tensor_t w, std::vector<float>* values) {
        ASSERT_TRUE(write_floats(w, *values)) << get_tengine_error();
    },
    [](tensor_t w, std::vector<float>* values) {
        auto* buffer = static_cast<float*>(get_tensor_buffer(w));
        ASSERT_NE(buffer, nullptr) << get_tengine_error();
        std::copy(values->begin(), values->end(), buffer);
    },
    [](tensor_t w, std::vector<float>* values) {
        ASSERT_EQ(set_tensor_buffer(w, values->data(), static_cast<int>(values->size() * 4)), 0);
    }};

TEST_F(InstanceTest, AChangedConstantIsThatOfOneInstance)
{
    std::vector<float> others = make_values(size_t{kDepth} * kColumns, 500);
    const graph_t alone = own(create_products());
    const std::vector<float> old = run(alone, 2);
    ASSERT_TRUE(write_floats(get_graph_tensor(alone, "w"), others));
    const std::vector<float> changed = run(alone, 2);
    ASSERT_NE(old, changed);
    for (const auto& change : changes) {
        for (const bool changes_first : {true, false}) {
            const graph_t first = own(create_products());
            EXPECT_EQ(run(first, 2), old);
            const graph_t second = share(first);
            EXPECT_EQ(run(second, 2), old);
            const graph_t one = changes_first ? first : second;
            const graph_t other = changes_first ? second : first;
            change(get_graph_tensor(one, "w"), &others);
            EXPECT_EQ(run(one, 2), changed);
            EXPECT_EQ(run(other, 2), old);
            EXPECT_EQ(run(other, 3).size(), size_t{3} * kDepth);
            const graph_t copy = share(one), old_copy = share(other);
            EXPECT_EQ(run(copy, 2), changed);
            EXPECT_EQ(run(old_copy, 2), old);
            end(one);
            EXPECT_EQ(run(copy, 2), changed) << "has the values of the time of the call";
            for (const graph_t graph : {other, copy, old_copy})
                end(graph);
        }
    }
}

// A program may write to such memory after it has shared the graph, too.
TEST_F(InstanceTest, MemoryThatTheProgramMayWriteToIsNotShared)
{
    const graph_t first = own(create_products());
    auto* buffer = static_cast<float*>(get_tensor_buffer(get_graph_tensor(first, "w")));
    const std::vector<float> old = run(first, 2);
    const graph_t second = share(first);
    buffer[0] += 8;
    EXPECT_NE(run(first, 2), old);
    EXPECT_EQ(run(second, 2), old);
}

TEST_F(InstanceTest, AttributesShapesAndDevicesAreThoseOfTheCall)
{
    const graph_t first = own(create_small_network());
    ASSERT_EQ(tengine_graph_set_affinity(first, "*", "CPU"), 0) << get_tengine_error();
    const int shape[] = {2, 3, 13, 17};
    ASSERT_EQ(set_tensor_shape(tengine_graph_get_input(first, 0), shape, 4), 0);
    const graph_t second = share(first);
    int dims[4];
    ASSERT_EQ(get_tensor_shape(tengine_graph_get_input(second, 0), dims, 4), 4);
    EXPECT_EQ(dims[0], 2);
    ASSERT_EQ(get_graph_node_num(second), get_graph_node_num(first));
    for (int i = 0; i < get_graph_node_num(first); ++i) {
        const node_t a = get_graph_node_by_idx(first, i), b = get_graph_node_by_idx(second, i);
        EXPECT_STREQ(get_node_name(a), get_node_name(b));
        EXPECT_STREQ(get_node_op(a), get_node_op(b));
        EXPECT_EQ(get_node_input_number(a), get_node_input_number(b));
        EXPECT_EQ(get_node_output_number(a), get_node_output_number(b));
    }
    const int other[] = {5, 3, 13, 17};
    ASSERT_EQ(set_tensor_shape(tengine_graph_get_input(first, 0), other, 4), 0);
    ASSERT_EQ(get_tensor_shape(tengine_graph_get_input(second, 0), dims, 4), 4);
    EXPECT_EQ(dims[0], 2);
    const TemporaryFolder folder;
    const auto save = [&](graph_t graph, const std::string& name) {
        EXPECT_EQ(save_graph(graph, "tengine", (folder.path() + name).c_str()), 0)
            << get_tengine_error();
        std::ifstream file(folder.path() + name, std::ios::binary);
        return std::string{std::istreambuf_iterator<char>(file), {}};
    };
    ASSERT_EQ(set_tensor_shape(tengine_graph_get_input(first, 0), shape, 4), 0);
    EXPECT_EQ(save(first, "/first"), save(second, "/second"));
}

// ---- bodies, strings, custom code, devices ----

TEST_F(InstanceTest, BodiesHaveTheirOwnStateAndSharedConstants)
{
    using namespace onnx;
    const auto weights = make_values(size_t{64} * 64);
    const std::string body =
        graph({node("MatMul", {"sum", "w"}, {"next"}), node("Identity", {"on"}, {"goes_on"})},
              {value("i", kInt64), value("on", kBool), value("sum", kFloat, {-1, 64})},
              {value("goes_on", kBool), value("next", kFloat, {-1, 64})},
              {constant<float>("w", kFloat, {64, 64}, weights)});
    const std::string model = graph(
        {node("Loop", {"rounds", "", "x"}, {"y"}, {graph_attribute("body", body)})},
        {value("x", kFloat, {-1, 64}), value("rounds", kInt64)}, {value("y", kFloat, {-1, 64})});
    const auto run_rounds = [](graph_t graph, int rows, int64_t rounds) -> std::vector<float> {
        const int shape[] = {rows, 64};
        const tensor_t x = get_graph_tensor(graph, "x");
        if (set_tensor_shape(x, shape, 2) != 0 ||
            !write_floats(x, make_values(static_cast<size_t>(rows) * 64)) ||
            set_tensor_data(get_graph_tensor(graph, "rounds"), &rounds, sizeof rounds) != 0 ||
            prerun_graph(graph) != 0 || run_graph(graph, 1) != 0)
            return {};
        return read_floats(get_graph_tensor(graph, "y"));
    };
    const graph_t alone = own(load(model));
    const std::vector<float> two = run_rounds(alone, 1, 2), three = run_rounds(alone, 4, 3);
    ASSERT_FALSE(three.empty()) << get_tengine_error();
    const graph_t first = own(load(model));
    EXPECT_EQ(run_rounds(first, 1, 2), two);
    const graph_t second = share(first);
    EXPECT_EQ(run_rounds(second, 4, 3), three) << get_tengine_error();
    EXPECT_EQ(run_rounds(first, 1, 2), two);
    end(first);
    EXPECT_EQ(run_rounds(second, 1, 2), two);
}

TEST_F(InstanceTest, StringsAreThoseOfOneInstance)
{
    const graph_t first = own(create_graph(nullptr, nullptr, nullptr));
    const tensor_t x = add_input(first, "x", {2}, TENGINE_DT_STRING);
    const node_t node = create_graph_node(first, "w", "Const");
    const tensor_t w = create_graph_tensor(first, "w", TENGINE_DT_STRING);
    ASSERT_EQ(set_node_output_tensor(node, 0, w, TENSOR_TYPE_CONST), 0);
    const int shape[] = {2};
    ASSERT_EQ(set_tensor_shape(w, shape, 1), 0);
    const char* const suffixes[] = {"s", ""};
    ASSERT_EQ(tengine_string_set(w, suffixes, 2), 0) << get_tengine_error();
    add_node(first, "y", "ai.onnx.StringConcat", {x, w}, TENGINE_DT_STRING);
    ASSERT_TRUE(set_borders(first, {"x"}, {"y"})) << get_tengine_error();
    const graph_t second = share(first);
    const auto concatenate = [](graph_t graph, const char* one) -> std::string {
        const char* const texts[] = {one, "two"};
        if (tengine_string_set(get_graph_tensor(graph, "x"), texts, 2) != 0 ||
            prerun_graph(graph) != 0 || run_graph(graph, 1) != 0)
            return get_tengine_error();
        const tensor_t y = get_graph_tensor(graph, "y");
        return std::string(tengine_string_get(y, 0)) + " " + tengine_string_get(y, 1);
    };
    EXPECT_EQ(concatenate(first, "cat"), "cats two");
    EXPECT_EQ(concatenate(second, "dog"), "dogs two");
    EXPECT_STREQ(tengine_string_get(get_graph_tensor(first, "y"), 0), "cats");
    end(first);
    EXPECT_EQ(concatenate(second, "bird"), "birds two");
}

TEST_F(InstanceTest, AKernelOfOneNodeIsRefused)
{
    const graph_t graph = own(create_relu_graph());
    custom_kernel_ops ops = {};
    ops.kernel_name = "mine";
    ops.op = "Relu";
    ops.run = [](custom_kernel_ops*, custom_kernel_tensor**, int, custom_kernel_tensor**, int) {
        return 0;
    };
    ASSERT_EQ(set_custom_kernel(get_graph_node(graph, "y"), "CPU", &ops), 0) << get_tengine_error();
    EXPECT_EQ(tengine_graph_share(graph), nullptr);
    EXPECT_STREQ(get_tengine_error(),
                 "node 'y' has a kernel of set_custom_kernel, which belongs to one graph: set "
                 "kernels after tengine_graph_share, on each graph");
    EXPECT_TRUE(failed_with(TENGINE_ENOTSUP));
    ASSERT_EQ(remove_custom_kernel(get_graph_node(graph, "y"), "CPU"), 0);
    EXPECT_NE(share(graph), nullptr);
}

TEST_F(InstanceTest, APartOfAnotherDeviceIsCompiledForEach)
{
    test::TestDevice device("A", {"MatMul"});
    const context_t context = create_context("c", 0);
    ASSERT_EQ(add_context_device(context, "A"), 0) << get_tengine_error();
    ASSERT_EQ(tengine_context_set_option(context, "split.prune", "0"), 0);
    const graph_t first = own(create_products(context));
    destroy_context(context);
    const std::vector<float> wanted = run(first, 2);
    const graph_t second = share(first);
    EXPECT_EQ(run(second, 2), wanted);
    tengine_execution_node node = {};
    ASSERT_EQ(tengine_graph_get_execution_node(second, 0, &node), 0);
    EXPECT_STREQ(node.device, "A") << "the context is that of the first";
    end(first);
    EXPECT_EQ(run(second, 5).size(), size_t{5} * kDepth);
    end(second);
}

TEST_F(InstanceTest, CompiledPartsOfTheModelAreLoadedByEach)
{
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/kept.tmfile";
    const context_t context = create_context("c", 0);
    ASSERT_EQ(tengine_context_set_option(context, "model.keep_parts", "1"), 0)
        << get_tengine_error();
    const graph_t built = own(create_products(context));
    ASSERT_EQ(save_graph(built, "tengine", path.c_str()), 0) << get_tengine_error();
    const graph_t written = own(create_graph(context, "tengine", path.c_str()));
    const std::vector<float> wanted = run(written, kManyRows);
    ASSERT_FALSE(wanted.empty()) << get_tengine_error();
    const graph_t copy = share(written);
    EXPECT_EQ(run(copy, kManyRows), wanted);
    const std::string kept = folder.path() + "/with_parts.tmfile";
    ASSERT_EQ(save_graph(copy, "tengine", kept.c_str()), 0) << get_tengine_error();
    end(written);
    end(copy);
    const graph_t first = own(create_graph(context, "tengine", kept.c_str()));
    destroy_context(context);
    const graph_t second = share(first);
    EXPECT_EQ(run(first, kManyRows), wanted);
    end(first);
    EXPECT_EQ(run(second, kManyRows), wanted);
    int origin = -1;
    ASSERT_EQ(tengine_graph_get_subgraph_origin(second, 0, &origin), 0) << get_tengine_error();
    EXPECT_EQ(origin, TENGINE_PART_FROM_MODEL);
    end(second);
}

// ---- states and threads ----

TEST_F(InstanceTest, ARunInFlightIsNotShared)
{
    const context_t context = create_context("c", 0);
    ASSERT_EQ(tengine_context_set_option(context, "scheduler", "pipeline"), 0)
        << get_tengine_error();
    const graph_t graph = own(create_products(context));
    destroy_context(context);
    ASSERT_FALSE(run(graph, 1).empty()) << get_tengine_error();
    ASSERT_EQ(run_graph(graph, 0), 0) << get_tengine_error();
    EXPECT_EQ(tengine_graph_share(graph), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    EXPECT_EQ(wait_graph(graph, 0), 1);
    EXPECT_NE(share(graph), nullptr);
}

// Instances are shared, prepared, run, changed and destroyed at the same time. Most useful with the
// thread sanitizer.
TEST_F(InstanceTest, InstancesLiveOnTheirOwnThreads)
{
    const graph_t alone = own(create_products());
    for (const int precision : {TENGINE_MODE_FP32, TENGINE_MODE_BF16, TENGINE_MODE_HYBRID_INT8}) {
        const std::vector<float> one = run(alone, 1, 3, precision);
        const std::vector<float> six = run(alone, 6, 4, precision);
        const graph_t first = create_products();
        std::atomic<int> wrong{0};
        const auto use = [&](graph_t graph, int thread) {
            for (int round = 0; round < 4; ++round) {
                const graph_t next = tengine_graph_share(graph);
                wrong += run(graph, 1, 3, precision) != one;
                wrong += destroy_graph(graph) != 0;
                wrong += run(next, 6, 4, precision) != six;
                if (thread == 0) wrong += !write_floats(get_graph_tensor(next, "w"), {1, 2});
                if (thread == 0) wrong += run(next, 6, 4, precision) == six;
                graph = next;
                if (thread == 0) break;
            }
            wrong += destroy_graph(graph) != 0;
        };
        std::vector<graph_t> instances = {first};
        for (int i = 0; i < 3; ++i)
            instances.push_back(tengine_graph_share(first));
        std::vector<std::thread> threads;
        for (size_t i = 0; i < instances.size(); ++i)
            threads.emplace_back(use, instances[i], static_cast<int>(i));
        for (std::thread& thread : threads)
            thread.join();
        EXPECT_EQ(wrong, 0) << precision;
    }
}

}  // namespace
}  // namespace tengine
