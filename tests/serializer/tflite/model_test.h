// SPDX-License-Identifier: Apache-2.0
// Fixture of tests that load small models and run them.
#pragma once

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serializer/tflite/model_builder.h"
#include "support/result_bytes.h"
#include "tengine/c_api.h"
#include "tengine/graph.h"
#include "tengine/ir.h"

namespace tengine::test {

class TfliteModelTest : public testing::Test
{
  protected:
    static void SetUpTestSuite() { ASSERT_EQ(init_tengine(), 0); }
    static void TearDownTestSuite() { release_tengine(); }
    void TearDown() override { unload(); }

    void unload()
    {
        if (graph_) destroy_graph(graph_);
        graph_ = nullptr;
    }

    bool load(const TfliteModel& model)
    {
        unload();
        const std::string bytes = encode_tflite(model);
        graph_ = tengine_graph_load(nullptr, "tflite", bytes.data(), bytes.size());
        return graph_ != nullptr;
    }

    // Loads and prepares; whether both succeed.
    bool prepare(const TfliteModel& model) { return load(model) && prerun_graph(graph_) == 0; }

    // The bytes of all outputs.
    std::vector<std::string> run(const TfliteModel& model, std::vector<std::string> inputs)
    {
        if (!load(model)) {
            ADD_FAILURE() << get_tengine_error();
            return {};
        }
        for (size_t i = 0; i < inputs.size(); ++i)
            EXPECT_EQ(set_tensor_buffer(tengine_graph_get_input(graph_, static_cast<int>(i)),
                                        inputs[i].data(), static_cast<int>(inputs[i].size())),
                      0)
                << get_tengine_error();
        if (prerun_graph(graph_) < 0 || run_graph(graph_, 1) < 0) {
            ADD_FAILURE() << get_tengine_error();
            return {};
        }
        return read_results(graph_);
    }

    // Loading or preparing fails with this part of the message.
    void expect_refusal(const TfliteModel& model, int code, const char* text)
    {
        EXPECT_FALSE(prepare(model)) << text;
        EXPECT_EQ(get_tengine_errno(), code) << get_tengine_error();
        EXPECT_THAT(get_tengine_error(), testing::HasSubstr(text));
    }

    // Shapes of a damaged file may be large, and preparing takes their memory.
    static bool is_small(graph_t graph)
    {
        const auto* source = static_cast<const struct graph*>(graph);
        return std::all_of(source->tensor_list, source->tensor_list + source->tensor_num,
                           [](const struct tensor* tensor) { return tensor->elem_num < 10000; });
    }

    // Each byte of the file is changed, and each length cut: the result is a graph or a status.
    void expect_bounds(const TfliteModel& model)
    {
        const std::string file = encode_tflite(model);
        const auto take = [](const std::string& bytes) {
            graph_t graph = tengine_graph_load(nullptr, "tflite", bytes.data(), bytes.size());
            if (!graph) {
                EXPECT_LT(get_tengine_errno(), 0);
                return;
            }
            if (is_small(graph) && prerun_graph(graph) == 0) postrun_graph(graph);
            destroy_graph(graph);
        };
        for (size_t i = 0; i < file.size(); ++i) {
            for (const int change : {1, 0x40, 0x80, 0xff}) {
                std::string damaged = file;
                damaged[i] = static_cast<char>(damaged[i] ^ change);
                take(damaged);
            }
            if (i % 7 == 0) take(file.substr(0, i));
        }
    }

    graph_t graph_ = nullptr;
};

template <class Value>
std::vector<Value> values_of(const std::string& bytes)
{
    std::vector<Value> values(bytes.size() / sizeof(Value));
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(values.data()));
    return values;
}

}  // namespace tengine::test
