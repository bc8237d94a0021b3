// SPDX-License-Identifier: Apache-2.0
// The memory plan of networks as inspect.h has it: no two blocks share a byte in a step, tensors
// have the memory that a run gives them, and the memories of arenas add up to the statistics.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <vector>

#include "models/model_run.h"
#include "tengine/inspect.h"

namespace tengine::models {
namespace {

constexpr int64_t kAlignment = 64;

struct Setting
{
    const char* model;
    int precision = TENGINE_MODE_FP32;
    const char* device = "";
    const char* scheduler = "sync";
    int threads = 1;
};

std::string path_of(const std::string& model)
{
    return model.rfind("digits", 0) == 0
               ? std::string(TENGINE_SOURCE_DIR) + "/examples/data/" + model
               : shared_data(model);
}

class MemoryPlan : public testing::TestWithParam<Setting>
{
  protected:
    void SetUp() override { ASSERT_EQ(init_tengine(), 0); }

    void TearDown() override
    {
        if (graph_) destroy_graph(graph_);
        if (context_) destroy_context(context_);
        release_tengine();
    }

    void set(const char* key, const char* value)
    {
        ASSERT_EQ(tengine_context_set_option(context_, key, value), 0) << get_tengine_error();
    }

    // False: this build has no such device, or the file is absent.
    bool load(const Setting& setting)
    {
        const std::string path = path_of(setting.model);
        if (!exists(path)) return false;
        context_ = create_context("plan", 1);
        if (*setting.device && add_context_device(context_, setting.device) != 0) return false;
        set("scheduler", setting.scheduler);
        set("split.prune", "0");
        set("split.report", "none");
        set("precision.float", "allow");
        const bool is_onnx = path.size() > 5 && path.substr(path.size() - 5) == ".onnx";
        graph_ = create_graph(context_, is_onnx ? "onnx" : "tengine", path.c_str());
        EXPECT_NE(graph_, nullptr) << get_tengine_error();
        return graph_ != nullptr;
    }

    // Free dimensions are 1, and inputs zeros.
    void prepare(const Setting& setting)
    {
        for (int i = 0; i < tengine_graph_get_input_number(graph_); ++i) {
            const tensor_t input = tengine_graph_get_input(graph_, i);
            int dims[MAX_SHAPE_DIM_NUM];
            const int rank = get_tensor_shape(input, dims, MAX_SHAPE_DIM_NUM);
            ASSERT_GE(rank, 0);
            for (int k = 0; k < rank; ++k)
                dims[k] = std::max(dims[k], 1);
            ASSERT_EQ(set_tensor_shape(input, dims, rank), 0);
            data_.emplace_back(static_cast<size_t>(get_tensor_buffer_size(input)));
            ASSERT_EQ(
                set_tensor_data(input, data_.back().data(), static_cast<int>(data_.back().size())),
                0);
        }
        ASSERT_EQ(prerun_graph_multithread(
                      graph_, {setting.threads, TENGINE_CLUSTER_ALL, setting.precision, 0}),
                  0)
            << get_tengine_error();
    }

    void read_plan()
    {
        arenas_.resize(static_cast<size_t>(tengine_graph_get_plan_arena_number(graph_)));
        blocks_.resize(static_cast<size_t>(tengine_graph_get_plan_block_number(graph_)));
        for (size_t i = 0; i < arenas_.size(); ++i)
            ASSERT_EQ(tengine_graph_get_plan_arena(graph_, static_cast<int>(i), &arenas_[i],
                                                   sizeof arenas_[i]),
                      0);
        for (size_t i = 0; i < blocks_.size(); ++i)
            ASSERT_EQ(tengine_graph_get_plan_block(graph_, static_cast<int>(i), &blocks_[i],
                                                   sizeof blocks_[i]),
                      0);
    }

    std::vector<tengine_plan_block> blocks_of(int arena) const
    {
        std::vector<tengine_plan_block> found;
        for (const tengine_plan_block& block : blocks_)
            if (block.arena == arena) found.push_back(block);
        return found;
    }

    void check_blocks(int index) const
    {
        const tengine_plan_arena& arena = arenas_[static_cast<size_t>(index)];
        const std::vector<tengine_plan_block> blocks = blocks_of(index);
        int64_t peak = 0;
        for (size_t i = 0; i < blocks.size(); ++i) {
            const tengine_plan_block& a = blocks[i];
            EXPECT_GE(a.offset, 0);
            EXPECT_GT(a.bytes, 0);
            EXPECT_LE(0, a.first);
            EXPECT_LE(a.first, a.last);
            EXPECT_LT(a.last, arena.step_number);
            peak = std::max(peak, a.offset + a.bytes);
            for (size_t k = 0; k < i; ++k) {
                const tengine_plan_block& b = blocks[k];
                if (a.block == b.block) continue;
                const bool in_time = a.first <= b.last && b.first <= a.last;
                const bool in_space =
                    a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
                EXPECT_FALSE(in_time && in_space)
                    << "arena " << index << ": tensors " << a.tensor << " and " << b.tensor;
            }
        }
        EXPECT_LE(peak, arena.bytes);
        if (arena.step_number == 0) return;
        EXPECT_GT(peak, arena.bytes - kAlignment) << "only the end is rounded up";
    }

    // A tensor that one step writes and another reads has a block while both run.
    void check_lives(int index) const
    {
        std::map<int, std::pair<int, int>> lives;
        for (const tengine_plan_block& block : blocks_of(index)) {
            const auto [found, is_new] = lives.insert({block.tensor, {block.first, block.last}});
            if (is_new) continue;
            found->second.first = std::min(found->second.first, block.first);
            found->second.second = std::max(found->second.second, block.last);
        }
        // A node may have several steps, copies before and after its own.
        std::map<int, int> first_steps;
        const std::vector<int> steps = steps_of(index);
        for (size_t step = 0; step < steps.size(); ++step)
            first_steps.insert({steps[step], static_cast<int>(step)});
        for (const auto& [tensor, life] : lives) {
            if (tensor < 0) continue;
            for (const auto& [node, step] : first_steps) {
                if (!reads(node, tensor)) continue;
                EXPECT_LE(life.first, step) << "tensor " << tensor << " of node " << node;
                EXPECT_GE(life.second, step) << "tensor " << tensor << " of node " << node;
            }
        }
    }

    bool reads(int node, int tensor) const
    {
        const int number = tengine_graph_get_execution_inputs(graph_, node, nullptr, 0);
        std::vector<int> inputs(static_cast<size_t>(std::max(number, 0)));
        tengine_graph_get_execution_inputs(graph_, node, inputs.data(), number);
        return std::find(inputs.begin(), inputs.end(), tensor) != inputs.end();
    }

    std::vector<int> steps_of(int arena) const
    {
        const int number = tengine_graph_get_plan_steps(graph_, arena, nullptr, 0);
        std::vector<int> steps(static_cast<size_t>(std::max(number, 0)));
        EXPECT_EQ(tengine_graph_get_plan_steps(graph_, arena, steps.data(), number), number);
        return steps;
    }

    context_t context_ = nullptr;
    graph_t graph_ = nullptr;
    std::vector<std::vector<char>> data_;
    std::vector<tengine_plan_arena> arenas_;
    std::vector<tengine_plan_block> blocks_;
};

TEST_P(MemoryPlan, BlocksDoNotOverlap)
{
    const Setting& setting = GetParam();
    if (!load(setting)) GTEST_SKIP() << absent(path_of(setting.model)) << " or the device";
    prepare(setting);
    read_plan();
    tengine_graph_stats stats;
    ASSERT_EQ(tengine_graph_get_stats(graph_, &stats), 0);
    std::map<int, int64_t> memories;
    for (size_t i = 0; i < arenas_.size(); ++i) {
        const int memory = arenas_[i].memory;
        ASSERT_TRUE(memory >= 0 && memory <= static_cast<int>(i)) << memory;
        EXPECT_EQ(arenas_[static_cast<size_t>(memory)].memory, memory) << "the first one";
        memories[memory] = std::max(memories[memory], arenas_[i].bytes);
        check_blocks(static_cast<int>(i));
        if (*arenas_[i].device) check_lives(static_cast<int>(i));
    }
    int64_t bytes = 0;
    for (const auto& [memory, size] : memories)
        bytes += size;
    EXPECT_EQ(bytes, stats.arena_bytes);
    EXPECT_GE(static_cast<int>(arenas_.size()), 1 + stats.subgraph_number);
    EXPECT_FALSE(blocks_.empty());
}

// The results of the graph lie where the plan says, relative to each other.
TEST_P(MemoryPlan, ResultsHaveTheirPlannedPlaces)
{
    const Setting& setting = GetParam();
    if (!load(setting)) GTEST_SKIP() << absent(path_of(setting.model)) << " or the device";
    prepare(setting);
    read_plan();
    ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    std::vector<int> results(static_cast<size_t>(tengine_graph_get_output_number(graph_)));
    ASSERT_EQ(tengine_graph_get_execution_outputs(graph_, -1, results.data(),
                                                  static_cast<int>(results.size())),
              static_cast<int>(results.size()));
    std::set<const char*> begins;
    for (size_t i = 0; i < results.size(); ++i)
        for (const tengine_plan_block& block : blocks_of(0))
            if (block.tensor == results[i])
                begins.insert(static_cast<const char*>(get_tensor_buffer(
                                  tengine_graph_get_output(graph_, static_cast<int>(i)))) -
                              block.offset);
    EXPECT_EQ(begins.size(), 1u) << "one arena has them all";
}

std::vector<Setting> settings()
{
    std::vector<Setting> all;
    for (const int precision :
         {TENGINE_MODE_FP32, TENGINE_MODE_FP16, TENGINE_MODE_BF16, TENGINE_MODE_INT8})
        all.push_back({"digits.onnx", precision});
    all.push_back({"digits.onnx", TENGINE_MODE_FP32, "", "pipeline"});
    all.push_back({"digits.onnx", TENGINE_MODE_FP32, "", "sync", 2});
    all.push_back({"digits.onnx", TENGINE_MODE_BF16, "TPU"});
    all.push_back({"digits.onnx", TENGINE_MODE_BF16, "TPU", "pipeline"});
    all.push_back({"tmfile/mnist.tmfile"});
    for (const char* name : {"squeezenet", "inception_v1", "resnet50"}) {
        static std::set<std::string> names;
        const std::string file = "onnx_light/light_" + std::string(name) + ".onnx";
        all.push_back({names.insert(file).first->c_str()});
        all.push_back({names.insert(file).first->c_str(), TENGINE_MODE_FP16});
    }
    return all;
}

INSTANTIATE_TEST_SUITE_P(Networks, MemoryPlan, testing::ValuesIn(settings()),
                         [](const auto& setting) { return std::to_string(setting.index); });

}  // namespace
}  // namespace tengine::models
