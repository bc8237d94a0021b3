// SPDX-License-Identifier: Apache-2.0
// A transformer with two signatures and a cache of keys and values, of which both give LiteRT's
// outputs; with the cache as a state that they share, they are the model whose cache the program
// hands on. In its file, in a tmfile and in a .tflite that have both.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

#include "models/model_run.h"
#include "tengine/c_api.h"
#include "tengine/entry.h"
#include "tengine/graph.h"
#include "tengine/state.h"
#include "tensor_file/npy.h"
#include "tensor_file/tensor.h"
#include "tensor_file/tensor_file.h"

namespace tengine::models {
namespace {

using tools::Tensor;

constexpr const char* kModel = "toy_transformer_kv_cache";
constexpr const char* kSecond = "signature_2";

class TfliteEntriesTest : public testing::Test
{
  protected:
    void SetUp() override
    {
        file_ = shared_data(std::string("tflite/models/") + kModel + ".tflite");
        if (!exists(file_)) GTEST_SKIP() << absent(file_);
        ASSERT_EQ(init_tengine(), 0);
        started_ = true;
        for (const auto& [name, place] :
             std::map<std::string, std::string>{{"cache_1", "input0"},
                                                {"cache_0", "input1"},
                                                {"tokens", "input2"},
                                                {"positions", "input3"},
                                                {"output_1_0", "output0"},
                                                {"output_0", "output1"},
                                                {"output_1_1", "output2"}})
            values_[name] = tools::read_tensor(
                shared_data(std::string("tflite/expected/") + kModel + "/" + place + ".npy"));
    }

    void TearDown() override
    {
        for (const std::string& path : written_)
            std::remove(path.c_str());
        if (started_) release_tengine();
    }

    // The model in this format.
    std::string write(const char* format, const char* ending)
    {
        const graph_t graph = create_graph(nullptr, "tflite", file_.c_str());
        const std::string path = testing::TempDir() + "toy_" + std::to_string(getpid()) + ending;
        written_.push_back(path);
        EXPECT_EQ(save_graph(graph, format, path.c_str()), 0) << get_tengine_error();
        EXPECT_EQ(destroy_graph(graph), 0);
        return path;
    }

    static void feed(tensor_t tensor, const Tensor& value)
    {
        EXPECT_EQ(set_tensor_data(tensor, value.bytes.data(), static_cast<int>(value.bytes.size())),
                  0)
            << get_tengine_error();
    }

    static void read(tensor_t tensor, Tensor* value)
    {
        EXPECT_EQ(
            get_tensor_data(tensor, value->bytes.data(), static_cast<int>(value->bytes.size())), 0)
            << get_tengine_error();
    }

    static double compare(const Tensor& actual, const Tensor& expected)
    {
        double largest = 0, most = 0;
        for (size_t i = 0; i < expected.element_number(); ++i) {
            const double wanted = tools::get_element(expected, i);
            largest = std::max(largest, std::fabs(wanted));
            most = std::max(most, std::fabs(tools::get_element(actual, i) - wanted));
        }
        return most / largest;
    }

    // Three steps; `kept`: the caches are states, else this function hands them on.
    std::vector<Tensor> run(const char* format, const std::string& path, bool kept)
    {
        const graph_t first = create_graph(nullptr, format, path.c_str());
        const graph_t second = first ? tengine_graph_open_entry(first, kSecond) : nullptr;
        EXPECT_NE(second, nullptr) << get_tengine_error();
        std::vector<Tensor> results;
        if (!second) return results;
        Tensor caches[] = {values_["cache_0"], values_["cache_1"]};
        const char* const before[] = {"cache_0", "cache_1"};
        const char* const after[] = {"output_1_0", "output_1_1"};
        for (const graph_t graph : {first, second}) {
            feed(get_graph_tensor(graph, "tokens"), values_["tokens"]);
            feed(get_graph_tensor(graph, "positions"), values_["positions"]);
            for (int i = 0; i < 2 && kept; ++i)
                EXPECT_EQ(tengine_graph_keep_state(graph, before[i], after[i]), 0)
                    << get_tengine_error();
        }
        for (int step = 0; step < 3; ++step) {
            const graph_t graph = step == 1 ? first : second;
            for (int i = 0; i < 2 && (step == 0 || !kept); ++i)
                feed(get_graph_tensor(graph, before[i]), caches[i]);
            EXPECT_EQ(prerun_graph(graph), 0) << get_tengine_error();
            EXPECT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
            results.push_back(values_["output_0"]);
            read(get_graph_tensor(graph, "output_0"), &results.back());
            for (int i = 0; i < 2; ++i) {
                read(get_graph_tensor(graph, kept ? before[i] : after[i]), &caches[i]);
                results.push_back(caches[i]);
            }
        }
        EXPECT_EQ(destroy_graph(first), 0);
        EXPECT_EQ(destroy_graph(second), 0);
        return results;
    }

    std::string file_;
    std::map<std::string, Tensor> values_;
    std::vector<std::string> written_;
    bool started_ = false;
};

TEST_F(TfliteEntriesTest, CachesAreHandedOnOrKept)
{
    const std::pair<const char*, std::string> forms[] = {{"tflite", file_},
                                                         {"tengine", write("tengine", ".tmfile")},
                                                         {"tflite", write("tflite", ".tflite")}};
    const std::vector<Tensor> steps = run("tflite", file_, false);
    ASSERT_EQ(steps.size(), 9);
    EXPECT_LT(compare(steps[0], values_["output_0"]), 1e-4);
    EXPECT_LT(compare(steps[1], values_["output_1_0"]), 1e-4);
    EXPECT_LT(compare(steps[2], values_["output_1_1"]), 1e-4);
    // The cache has a meaning.
    EXPECT_GT(compare(steps[1], values_["cache_0"]), 1e-2);
    for (const auto& [format, path] : forms)
        for (const bool kept : {false, true}) {
            SCOPED_TRACE(path + (kept ? ", with states" : ""));
            const std::vector<Tensor> same = run(format, path, kept);
            ASSERT_EQ(same.size(), steps.size());
            for (size_t i = 0; i < steps.size(); ++i)
                EXPECT_LT(compare(same[i], steps[i]), 1e-5) << i;
        }
    // The weights of both signatures are there once.
    const auto whole = static_cast<double>(std::filesystem::file_size(file_));
    EXPECT_LT(static_cast<double>(std::filesystem::file_size(written_[0])), 1.1 * whole);
    EXPECT_LT(static_cast<double>(std::filesystem::file_size(written_[1])), 1.02 * whole);
}

}  // namespace
}  // namespace tengine::models
