// SPDX-License-Identifier: Apache-2.0
// The memory of a graph as get_graph_memory reports it: each kind of memory, by device, before and
// after prerun, and the sum compared with the count of the C allocator.
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "fixture.h"
#include "support/allocation_count.h"
#include "support/test_device.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

tengine_graph_memory read_memory(graph_t graph)
{
    tengine_graph_memory memory;
    EXPECT_EQ(get_graph_memory(graph, &memory, sizeof memory), 0) << get_tengine_error();
    EXPECT_EQ(memory.total_bytes, memory.owned_bytes + memory.value_bytes + memory.derived_bytes +
                                      memory.border_bytes + memory.device_bytes);
    return memory;
}

std::vector<tengine_device_memory> read_devices(graph_t graph)
{
    std::vector<tengine_device_memory> devices(
        static_cast<size_t>(read_memory(graph).device_number));
    for (size_t i = 0; i < devices.size(); ++i)
        EXPECT_EQ(tengine_graph_get_device_memory(graph, static_cast<int>(i), &devices[i],
                                                  sizeof devices[i]),
                  0)
            << get_tengine_error();
    return devices;
}

// ---- one kind after the other, on y = x * w ----

constexpr int kRows = 48, kColumns = 80;
constexpr int64_t kWeightBytes = int64_t{kRows} * kColumns * 4;

class GraphMemoryTest : public ApiTest
{
  protected:
    void SetUp() override
    {
        ApiTest::SetUp();
        context_ = create_context("memory", 1);
        graph_ = create_product(context_);
    }
    void TearDown() override
    {
        EXPECT_EQ(destroy_graph(graph_), 0);
        destroy_context(context_);
        ApiTest::TearDown();
    }

    static graph_t create_product(context_t context)
    {
        const graph_t graph = create_graph(context, nullptr, nullptr);
        const tensor_t x = add_input(graph, "x", {3, kRows});
        const std::vector<float> weight(kRows * kColumns, 0.5f);
        const tensor_t w = add_constant(graph, "w", {kRows, kColumns}, weight.data());
        add_node(graph, "y", "MatMul", {add_node(graph, "h", "Relu", {x}), w});
        EXPECT_TRUE(set_borders(graph, {"x"}, {"y"})) << get_tengine_error();
        return graph;
    }

    context_t context_ = nullptr;
    graph_t graph_ = nullptr;
};

TEST_F(GraphMemoryTest, PreparationComesAndGoes)
{
    const tengine_graph_memory before = read_memory(graph_);
    EXPECT_EQ(before.owned_bytes, kWeightBytes);
    EXPECT_EQ(before.total_bytes, kWeightBytes);
    EXPECT_EQ(before.mapped_bytes + before.borrowed_bytes + before.derived_bytes, 0);
    EXPECT_EQ(before.device_number, 1);
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    const tengine_graph_memory prepared = read_memory(graph_);
    EXPECT_EQ(prepared.owned_bytes, kWeightBytes) << "the execution graph shares it";
    EXPECT_EQ(prepared.derived_bytes, 0);
    EXPECT_GE(prepared.border_bytes, 3 * kColumns * 4);
    const std::vector<tengine_device_memory> devices = read_devices(graph_);
    EXPECT_STREQ(devices[0].device, get_default_device());
    EXPECT_EQ(devices[0].subgraph_number, 1);
    EXPECT_EQ(devices[0].unknown_number, 0);
    EXPECT_GE(devices[0].arena_bytes, 3 * kRows * 4) << "h lies in it";
    EXPECT_GT(devices[0].compiled_bytes, 0);
    EXPECT_EQ(devices[0].tensor_bytes, 0);
    EXPECT_EQ(devices[0].arena_bytes + devices[0].compiled_bytes, prepared.device_bytes);
    ASSERT_EQ(postrun_graph(graph_), 0);
    const tengine_graph_memory after = read_memory(graph_);
    EXPECT_EQ(std::memcmp(&after, &before, sizeof after), 0);
    EXPECT_EQ(read_devices(graph_)[0].subgraph_number, 0);
}

TEST_F(GraphMemoryTest, MisuseIsAnError)
{
    tengine_graph_memory memory;
    tengine_device_memory device;
    EXPECT_EQ(get_graph_memory(graph_, nullptr, sizeof memory), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(get_graph_memory(graph_, &memory, 0), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_graph_get_device_memory(graph_, 0, nullptr, sizeof device), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_graph_get_device_memory(graph_, 0, &device, 0), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    for (int index : {-1, 1}) {
        EXPECT_EQ(tengine_graph_get_device_memory(graph_, index, &device, sizeof device), -1);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    }
    const graph_t stale = create_relu_graph();
    ASSERT_EQ(destroy_graph(stale), 0);
    EXPECT_EQ(get_graph_memory(stale, &memory, sizeof memory), -1);
    EXPECT_TRUE(failed_with(TENGINE_EHANDLE));
    EXPECT_EQ(tengine_graph_get_device_memory(stale, 0, &device, sizeof device), -1);
    EXPECT_TRUE(failed_with(TENGINE_EHANDLE));
}

int ask_while_running(graph_t graph, int, void* out_result)
{
    tengine_graph_memory memory;
    *static_cast<int*>(out_result) = get_graph_memory(graph, &memory, sizeof memory);
    return 0;
}

TEST_F(GraphMemoryTest, NotWhileItRuns)
{
    int result = 1;
    ASSERT_EQ(set_graph_event_hook(graph_, GRAPH_EXEC_START, ask_while_running, &result), 0);
    ASSERT_TRUE(write_floats(get_graph_tensor(graph_, "x"), std::vector<float>(3 * kRows)));
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    EXPECT_EQ(result, -1);
}

// A program that was compiled for another version of the library.
TEST_F(GraphMemoryTest, StructsOfOtherSizes)
{
    struct
    {
        tengine_graph_memory memory;
        int64_t added;
    } newer;
    std::memset(&newer, 0x55, sizeof newer);
    ASSERT_EQ(get_graph_memory(graph_, &newer.memory, sizeof newer), 0);
    EXPECT_EQ(newer.memory.owned_bytes, kWeightBytes);
    EXPECT_EQ(newer.added, 0);
    tengine_graph_memory older;
    std::memset(&older, 0x55, sizeof older);
    ASSERT_EQ(get_graph_memory(graph_, &older, offsetof(tengine_graph_memory, borrowed_bytes)), 0);
    EXPECT_EQ(older.owned_bytes, kWeightBytes);
    EXPECT_EQ(older.borrowed_bytes, 0x5555555555555555) << "beyond what the program has";
}

TEST_F(GraphMemoryTest, BuffersOfTheProgramCountOnce)
{
    std::vector<float> shared(kRows * kColumns);
    for (const char* name : {"first", "second"}) {
        const tensor_t tensor = create_graph_tensor(graph_, name, TENGINE_DT_FP32);
        const node_t node = create_graph_node(graph_, name, "Const");
        const int dims[] = {kRows, kColumns};
        ASSERT_EQ(set_node_output_tensor(node, 0, tensor, TENSOR_TYPE_CONST), 0);
        ASSERT_EQ(set_tensor_shape(tensor, dims, 2), 0);
        ASSERT_EQ(set_tensor_buffer(tensor, shared.data(), static_cast<int>(kWeightBytes)), 0);
    }
    EXPECT_EQ(read_memory(graph_).borrowed_bytes, kWeightBytes);
    const int half[] = {kRows / 2, kColumns};
    const tensor_t inside = get_graph_tensor(graph_, "second");
    ASSERT_EQ(set_tensor_shape(inside, half, 2), 0);
    ASSERT_EQ(set_tensor_buffer(inside, shared.data() + kRows * kColumns / 4,
                                static_cast<int>(kWeightBytes / 2)),
              0);
    EXPECT_EQ(read_memory(graph_).borrowed_bytes, kWeightBytes) << "it lies inside the first";
    EXPECT_EQ(read_memory(graph_).owned_bytes, kWeightBytes);
}

TEST_F(GraphMemoryTest, InputsThatWereCopied)
{
    ASSERT_TRUE(write_floats(get_graph_tensor(graph_, "x"), std::vector<float>(3 * kRows)));
    EXPECT_EQ(read_memory(graph_).value_bytes, 3 * kRows * 4);
}

// ---- models from files and from memory ----

class ModelMemoryTest : public GraphMemoryTest
{
  protected:
    void SetUp() override
    {
        GraphMemoryTest::SetUp();
        path_ = std::filesystem::temp_directory_path() /
                ("tengine_graph_memory_" + std::to_string(getpid()));
    }
    void TearDown() override
    {
        std::filesystem::remove(path_);
        GraphMemoryTest::TearDown();
    }

    void expect_memory(const graph_t graph, int64_t mapped, int64_t owned, int64_t borrowed)
    {
        ASSERT_NE(graph, nullptr) << get_tengine_error();
        for (const bool prepared : {false, true}) {
            ASSERT_TRUE(!prepared || prerun_graph(graph) == 0) << get_tengine_error();
            const tengine_graph_memory memory = read_memory(graph);
            EXPECT_EQ(memory.mapped_bytes, mapped);
            EXPECT_EQ(memory.owned_bytes, owned);
            EXPECT_EQ(memory.borrowed_bytes, borrowed);
            EXPECT_EQ(memory.derived_bytes, 0);
        }
        EXPECT_EQ(destroy_graph(graph), 0);
    }

    std::vector<char> read_file() const
    {
        std::ifstream file(path_, std::ios::binary);
        return std::vector<char>(std::istreambuf_iterator<char>(file), {});
    }

    std::filesystem::path path_;
};

TEST_F(ModelMemoryTest, ASmallFileIsCopied)
{
    ASSERT_EQ(save_graph(graph_, "tengine", path_.c_str()), 0) << get_tengine_error();
    expect_memory(create_graph(context_, "tengine", path_.c_str()), 0, kWeightBytes, 0);
    ASSERT_EQ(save_graph(graph_, "onnx", path_.c_str()), 0) << get_tengine_error();
    expect_memory(create_graph(context_, "onnx", path_.c_str()), 0, kWeightBytes, 0);
}

TEST_F(ModelMemoryTest, AFileIsMapped)
{
    ASSERT_EQ(tengine_context_set_option(context_, "model.map", "1"), 0);
    ASSERT_EQ(save_graph(graph_, "tengine", path_.c_str()), 0) << get_tengine_error();
    expect_memory(create_graph(context_, "tengine", path_.c_str()), kWeightBytes, 0, 0);
    // An ONNX file has no alignment, so that only bytes certainly stay in it.
    const graph_t bytes = create_graph(context_, nullptr, nullptr);
    const tensor_t x = add_input(bytes, "x", {kColumns}, TENGINE_DT_UINT8);
    const std::vector<uint8_t> weight(kRows * kColumns, 7);
    const tensor_t w = add_constant(bytes, "w", {kRows, kColumns}, weight.data(), TENGINE_DT_UINT8);
    add_node(bytes, "y", "Add", {x, w}, TENGINE_DT_UINT8);
    ASSERT_TRUE(set_borders(bytes, {"x"}, {"y"})) << get_tengine_error();
    ASSERT_EQ(save_graph(bytes, "onnx", path_.c_str()), 0) << get_tengine_error();
    EXPECT_EQ(destroy_graph(bytes), 0);
    expect_memory(create_graph(context_, "onnx", path_.c_str()), kRows * kColumns, 0, 0);
}

TEST_F(ModelMemoryTest, BytesOfTheProgram)
{
    ASSERT_EQ(save_graph(graph_, "tengine", path_.c_str()), 0) << get_tengine_error();
    std::vector<char> bytes = read_file();
    const int size = static_cast<int>(bytes.size());
    expect_memory(create_graph(context_, "tengine:view", bytes.data(), size), 0, 0, kWeightBytes);
    void* block = std::malloc(bytes.size());
    std::memcpy(block, bytes.data(), bytes.size());
    expect_memory(create_graph(context_, "tengine:m", static_cast<char*>(block), size), 0,
                  kWeightBytes, 0);
    ASSERT_EQ(save_graph(graph_, "onnx", path_.c_str()), 0) << get_tengine_error();
    bytes = read_file();
    expect_memory(create_graph(context_, "onnx:m", bytes.data(), static_cast<int>(bytes.size())), 0,
                  kWeightBytes, 0);
}

// ---- what preparation and runs add ----

TEST_F(GraphMemoryTest, FoldedConstants)
{
    const graph_t graph = create_graph(context_, nullptr, nullptr);
    const std::vector<float> values(64, 1.0f);
    const tensor_t x = add_input(graph, "x", {64});
    const tensor_t a = add_constant(graph, "a", {64}, values.data());
    const tensor_t folded = add_node(graph, "folded", "Neg", {a});
    add_node(graph, "y", "Mul", {x, folded});
    ASSERT_TRUE(set_borders(graph, {"x"}, {"y"})) << get_tengine_error();
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    EXPECT_EQ(read_memory(graph).derived_bytes, 64 * 4);
    EXPECT_EQ(read_memory(graph).owned_bytes, 64 * 4);
    destroy_graph(graph);
}

TEST_F(GraphMemoryTest, ResultsWhoseShapesOnlyTheRunTells)
{
    const graph_t graph = create_graph(context_, nullptr, nullptr);
    add_node(graph, "y", "NonZero", {add_input(graph, "x", {64})}, TENGINE_DT_INT64);
    ASSERT_TRUE(set_borders(graph, {"x"}, {"y"})) << get_tengine_error();
    ASSERT_TRUE(write_floats(get_graph_tensor(graph, "x"), std::vector<float>(64, 1.0f)));
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    EXPECT_EQ(read_memory(graph).value_bytes, 64 * 4);
    ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
    EXPECT_EQ(read_memory(graph).value_bytes, 64 * 4 + 64 * 8);
    destroy_graph(graph);
}

TEST_F(GraphMemoryTest, RunsUnderWayHaveBordersEach)
{
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    const int64_t alone = read_memory(graph_).border_bytes;
    ASSERT_EQ(tengine_context_set_option(context_, "scheduler", "pipeline"), 0);
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    EXPECT_GE(read_memory(graph_).border_bytes, 3 * alone) << "two runs, and the last results";
}

// ---- devices ----

int tell_memory(device*, subgraph*, ir_part_memory_t* out_memory)
{
    EXPECT_EQ(out_memory->compiled, 0);
    EXPECT_EQ(out_memory->arena, 0);
    out_memory->compiled = 1000;
    out_memory->arena = 24;
    return 0;
}

int fail_to_tell(device*, subgraph*, ir_part_memory_t*)
{
    return tengine_error_set(TENGINE_EDEVICE, "the board does not answer");
}

class DeviceMemoryTest : public GraphMemoryTest
{
  protected:
    DeviceMemoryTest() : relu_("RELU", {"Relu"}), idle_("IDLE", {"Sin"}) {}

    void SetUp() override
    {
        GraphMemoryTest::SetUp();
        for (const char* device : {"IDLE", "RELU"})
            ASSERT_EQ(add_context_device(context_, device), 0) << get_tengine_error();
        ASSERT_EQ(tengine_context_set_option(context_, "split.prune", "0"), 0);
    }

    test::TestDevice relu_, idle_;
};

TEST_F(DeviceMemoryTest, InTheOrderTheyAreAsked)
{
    for (const bool prepared : {false, true}) {
        ASSERT_TRUE(!prepared || prerun_graph(graph_) == 0) << get_tengine_error();
        const std::vector<tengine_device_memory> devices = read_devices(graph_);
        ASSERT_EQ(devices.size(), 3u);
        EXPECT_STREQ(devices[0].device, "IDLE");
        EXPECT_STREQ(devices[1].device, "RELU");
        EXPECT_STREQ(devices[2].device, get_default_device());
        EXPECT_EQ(devices[0].subgraph_number, 0);
        EXPECT_EQ(devices[1].subgraph_number, prepared);
        EXPECT_EQ(devices[2].subgraph_number, prepared);
        EXPECT_EQ(devices[1].unknown_number, prepared) << "it has no interface.memory";
        EXPECT_EQ(read_memory(graph_).unknown_number, prepared);
    }
}

TEST_F(DeviceMemoryTest, WhatADeviceSaysCounts)
{
    relu_.get()->interface->memory = tell_memory;
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    const tengine_device_memory device = read_devices(graph_)[1];
    EXPECT_EQ(device.unknown_number, 0);
    EXPECT_EQ(device.compiled_bytes, 1000);
    EXPECT_EQ(device.arena_bytes, 24);
}

TEST_F(DeviceMemoryTest, ADeviceThatFailsIsNamed)
{
    relu_.get()->interface->memory = fail_to_tell;
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    tengine_graph_memory memory;
    tengine_device_memory device;
    EXPECT_EQ(get_graph_memory(graph_, &memory, sizeof memory), -1);
    EXPECT_NE(std::strstr(get_tengine_error(), "'RELU'"), nullptr) << get_tengine_error();
    EXPECT_NE(std::strstr(get_tengine_error(), "does not answer"), nullptr) << get_tengine_error();
    EXPECT_TRUE(failed_with(TENGINE_EDEVICE));
    EXPECT_EQ(tengine_graph_get_device_memory(graph_, 0, &device, sizeof device), -1);
    EXPECT_TRUE(failed_with(TENGINE_EDEVICE));
}

TEST_F(DeviceMemoryTest, APartThatFellBackIsTheDefaultDevices)
{
    ASSERT_TRUE(write_floats(get_graph_tensor(graph_, "x"), std::vector<float>(3 * kRows)));
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    relu_.fail_run = 1;
    ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    const std::vector<tengine_device_memory> devices = read_devices(graph_);
    EXPECT_EQ(devices[1].subgraph_number, 0);
    EXPECT_EQ(devices[2].subgraph_number, 2);
    EXPECT_EQ(devices[2].unknown_number, 0);
}

TEST_F(DeviceMemoryTest, WatchedPartsHaveCopies)
{
    ASSERT_EQ(tengine_context_set_option(context_, "run.watchdog_ms", "60000"), 0);
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    const std::vector<tengine_device_memory> devices = read_devices(graph_);
    EXPECT_EQ(devices[1].tensor_bytes, 2 * 3 * kRows * 4) << "x and h of the watched part";
    EXPECT_EQ(devices[2].tensor_bytes, 0);
}

// ---- the sum ----

// The description of a graph: source graph, execution graph, the parts once more, frames. For each
// node of the model, inputs and constants included. Stated in docs/memory.md.
constexpr int64_t kBytesPerNode = 4096;

class MemorySumTest : public ApiTest
{
  protected:
    void SetUp() override
    {
        if (!can_count_allocations()) GTEST_SKIP() << "a sanitizer has its own allocator";
        ApiTest::SetUp();
    }

    // Prepares and runs the graph, and compares.
    void expect_sum(graph_t (*create)());
};

void MemorySumTest::expect_sum(graph_t (*create)())
{
    // Creates the objects that exist once for the process.
    const graph_t first = create();
    ASSERT_EQ(prerun_graph(first), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(first, 1), 0) << get_tengine_error();
    ASSERT_EQ(destroy_graph(first), 0);

    const long empty = measure_live_memory().bytes;
    const graph_t graph = create();
    const int nodes = get_graph_node_num(graph);
    const int64_t loaded = measure_live_memory().bytes - empty;
    const int64_t told = read_memory(graph).total_bytes;
    EXPECT_GE(loaded, told);
    EXPECT_LE(loaded, told + kBytesPerNode * nodes);
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
    const int64_t prepared = measure_live_memory().bytes - empty;
    const tengine_graph_memory memory = read_memory(graph);
    EXPECT_GT(memory.total_bytes, told + 4 * kBytesPerNode * nodes) << "too small to tell anything";
    EXPECT_GE(prepared, memory.total_bytes);
    EXPECT_LE(prepared, memory.total_bytes + kBytesPerNode * nodes);
    RecordProperty("described_bytes_per_node",
                   static_cast<int>((prepared - memory.total_bytes) / nodes));
    ASSERT_EQ(destroy_graph(graph), 0);
    EXPECT_LT(measure_live_memory().bytes - empty, kBytesPerNode);
}

graph_t create_convolutions()
{
    const graph_t graph = create_graph(nullptr, nullptr, nullptr);
    tensor_t x = add_input(graph, "x", {1, 16, 56, 56});
    write_floats(x, std::vector<float>(16 * 56 * 56, 0.5f));
    const std::vector<float> filter(16 * 16 * 3 * 3, 0.1f);
    for (const char* name : {"0", "1", "2", "3"}) {
        const std::string weight = std::string("w") + name;
        const tensor_t w = add_constant(graph, weight.c_str(), {16, 16, 3, 3}, filter.data());
        x = add_node(graph, name, "Conv", {x, w});
    }
    EXPECT_TRUE(set_borders(graph, {"x"}, {"3"})) << get_tengine_error();
    return graph;
}

TEST_F(MemorySumTest, OfFloatConvolutions)
{
    expect_sum(create_convolutions);
}

// The weights of the convolution are packed.
graph_t create_quantised_convolution()
{
    const graph_t graph = create_graph(nullptr, nullptr, nullptr);
    const tensor_t x = add_input(graph, "x", {1, 64, 14, 14}, TENGINE_DT_UINT8);
    const std::vector<uint8_t> data(64 * 14 * 14, 3);
    set_tensor_data(x, data.data(), static_cast<int>(data.size()));
    const float scale = 0.5f;
    const uint8_t zero = 0;
    const int8_t weight_zero = 0;
    const std::vector<int8_t> filter(256 * 64 * 3 * 3, 1);
    const tensor_t s = add_constant(graph, "s", {}, &scale);
    const tensor_t z = add_constant(graph, "z", {}, &zero, TENGINE_DT_UINT8);
    const tensor_t wz = add_constant(graph, "wz", {}, &weight_zero, TENGINE_DT_INT8);
    const tensor_t w = add_constant(graph, "w", {256, 64, 3, 3}, filter.data(), TENGINE_DT_INT8);
    add_node(graph, "y", "QLinearConv", {x, s, z, w, s, wz, s, z}, TENGINE_DT_UINT8);
    EXPECT_TRUE(set_borders(graph, {"x"}, {"y"})) << get_tengine_error();
    return graph;
}

TEST_F(MemorySumTest, OfPackedWeights)
{
    if (std::strcmp(tengine_device_get_features("CPU"), "plain C++") == 0)
        GTEST_SKIP() << "plain kernels, which this build of the CPU device has, pack nothing";
    expect_sum(create_quantised_convolution);
}

}  // namespace
}  // namespace tengine
