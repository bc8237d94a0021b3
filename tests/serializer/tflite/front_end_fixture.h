// SPDX-License-Identifier: Apache-2.0
// Fixture of tests of tflite-micro's front end for audio. Numbers in them are those of its tests
// (tensorflow/tflite-micro, signal/micro/kernels/*_test.cc), those of kissfft (mborgerding/kissfft,
// 6e9e673e, with FIXED_POINT 16 and 32), or follow from the definition.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <flatbuffers/flexbuffers.h>
#include <fstream>
#include <sstream>

#include "serializer/tflite/model_test.h"
#include "serializer/tflite/model_text.h"

namespace tengine::test {

using Options = std::vector<std::pair<const char*, int>>;
using Shorts = std::vector<int16_t>;
using Words = std::vector<uint32_t>;

inline std::string encode_map(const Options& options)
{
    flexbuffers::Builder builder;
    builder.Map([&] {
        for (const auto& [name, value] : options)
            builder.Int(name, value);
    });
    builder.Finish();
    const auto& bytes = builder.GetBuffer();
    return {bytes.begin(), bytes.end()};
}

// Tensors without values are the inputs of the model.
inline TfliteModel make_model(const char* op, const Options& options,
                              std::vector<TfliteTensor> inputs,
                              const std::vector<TfliteTensor>& outputs)
{
    TfliteModel model;
    constexpr int kCustom = 32;
    TfliteOperator made = {kCustom, {}, {}, {}, op, encode_map(options)};
    model.tensors = std::move(inputs);
    for (size_t i = 0; i < model.tensors.size(); ++i) {
        made.inputs.push_back(static_cast<int32_t>(i));
        if (model.tensors[i].values.empty()) model.inputs.push_back(static_cast<int32_t>(i));
    }
    for (const TfliteTensor& output : outputs) {
        model.outputs.push_back(static_cast<int32_t>(model.tensors.size()));
        model.tensors.push_back(output);
    }
    made.outputs = model.outputs;
    model.operators = {made};
    return model;
}

inline TfliteTensor shorts(const char* name, std::vector<int32_t> shape, const Shorts& values = {})
{
    return {name, std::move(shape), kTfliteInt16, bytes_of(values)};
}

inline TfliteTensor words(const char* name, std::vector<int32_t> shape)
{
    return {name, std::move(shape), kTfliteUint32};
}

class TfliteFrontEndTest : public TfliteModelTest
{
  protected:
    void begin(const TfliteModel& model)
    {
        is_prepared_ = false;
        ASSERT_TRUE(load(model)) << get_tengine_error();
    }

    // The bytes of all outputs after one more run.
    std::vector<std::string> step(std::string input)
    {
        EXPECT_EQ(set_tensor_buffer(tengine_graph_get_input(graph_, 0), input.data(),
                                    static_cast<int>(input.size())),
                  0)
            << get_tengine_error();
        if (!is_prepared_) {
            EXPECT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
        }
        is_prepared_ = true;
        EXPECT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
        return read_results(graph_);
    }

    Shorts step_shorts(const Shorts& input) { return values_of<int16_t>(step(bytes_of(input))[0]); }

    // The file is written without the states.
    void expect_written(const TfliteModel& model)
    {
        const std::string path =
            testing::TempDir() + "front_end_" + std::to_string(getpid()) + ".tflite";
        ASSERT_TRUE(load(model)) << get_tengine_error();
        ASSERT_EQ(save_graph(graph_, "tflite", path.c_str()), 0) << get_tengine_error();
        unload();
        std::ifstream file(path, std::ios::binary);
        std::stringstream bytes;
        bytes << file.rdbuf();
        EXPECT_EQ(print_tflite(bytes.str()), print_tflite(encode_tflite(model)));
        graph_ = create_graph(nullptr, "tflite", path.c_str());
        std::remove(path.c_str());
        ASSERT_TRUE(graph_) << get_tengine_error();
        EXPECT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    }

    bool is_prepared_ = false;
};

}  // namespace tengine::test
