// SPDX-License-Identifier: Apache-2.0
// Files with two signatures that share a variable.
#pragma once

#include <string>
#include <vector>

#include "serializer/tflite/model_test.h"
#include "tengine/entry.h"

namespace tengine::test {

inline constexpr int kAdd = 0, kMul = 18, kCallOnce = 129, kVarHandle = 142, kReadVariable = 143,
                     kAssignVariable = 144;

using Floats = std::vector<float>;

inline TfliteOperator make_handle(int32_t output, const char* name, const char* container = "box")
{
    return {kVarHandle, {}, {output}, {{0, 0, 0, {}, container}, {1, 0, 0, {}, name}}};
}

// y = v = v op x; the second tensor of this name is not the variable's.
inline TfliteModel make_step(int code, const char* name, const char* container = "box")
{
    TfliteModel model;
    model.tensors = {{"x", {2}}, {"handle", {}, kTfliteResource}, {"old", {2}}, {"y", {2}}};
    model.operators = {make_handle(1, name, container),
                       {kReadVariable, {1}, {2}},
                       {code, {2, 0}, {3}},
                       {kAssignVariable, {1, 3}, {}}};
    model.inputs = {0};
    model.outputs = {3};
    return model;
}

inline TfliteSignature sign(const char* key, uint32_t subgraph)
{
    return {key, subgraph, {{0, "x"}}, {{3, "y"}}};
}

// once: v = {5, 6}; add: y = v = v + x; scale: y = v = v * x
inline TfliteModel make_pair()
{
    TfliteModel model = make_step(kAdd, "v");
    model.operators.insert(model.operators.begin(), {kCallOnce, {}, {}, {{0, 4, 1, {}}}});
    TfliteModel once;
    once.tensors = {{"handle", {}, kTfliteResource},
                    {"first", {2}, kTfliteFloat, bytes_of<float>({5, 6})}};
    once.operators = {make_handle(0, "v"), {kAssignVariable, {0, 1}, {}}};
    model.called = {once, make_step(kMul, "v")};
    model.signatures = {sign("add", 0), sign("scale", 2)};
    return model;
}

// The same where each signature calls a subgraph of its own.
inline TfliteModel make_pair_of_calls()
{
    TfliteModel model = make_pair();
    TfliteModel once = model.called[0];
    once.tensors[1].values = bytes_of<float>({1, 2});
    model.called.push_back(once);
    TfliteModel& scale = model.called[1];
    scale.operators.insert(scale.operators.begin(), {kCallOnce, {}, {}, {{0, 4, 3, {}}}});
    return model;
}

class TfliteEntryTest : public TfliteModelTest
{
  protected:
    void TearDown() override
    {
        close();
        TfliteModelTest::TearDown();
    }

    void close()
    {
        if (other_) destroy_graph(other_);
        other_ = nullptr;
    }

    bool open(const TfliteModel& model, const char* name)
    {
        close();
        if (!load(model)) return false;
        other_ = tengine_graph_open_entry(graph_, name);
        return other_ != nullptr;
    }

    static Floats step(graph_t graph, Floats input)
    {
        Floats result(input.size());
        const int bytes = static_cast<int>(input.size() * sizeof(float));
        const tensor_t x = tengine_graph_get_input(graph, 0);
        EXPECT_EQ(set_tensor_buffer(x, input.data(), bytes), 0) << get_tengine_error();
        EXPECT_EQ(prerun_graph(graph), 0) << get_tengine_error();
        EXPECT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
        EXPECT_EQ(get_tensor_data(tengine_graph_get_output(graph, 0), result.data(), bytes), 0);
        return result;
    }

    graph_t other_ = nullptr;
};

}  // namespace tengine::test
