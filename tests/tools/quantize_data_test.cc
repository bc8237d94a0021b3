// SPDX-License-Identifier: Apache-2.0
// The samples of `tengine quantize`, and its messages about scales and about further attempts.
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tensor_file/tensor_file.h"
#include "tools/npz_file.h"
#include "tools/program.h"
#include "tools/quantize_model.h"

namespace tengine::program {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class QuantizeData : public testing::Test
{
  protected:
    // y = Conv(x), whose input is 1x3x2x4.
    QuantizeData()
    {
        ModelMaker maker({1, 3, 2, 4});
        maker.constant("w", {2, 3, 1, 1}, {1.0f, -0.5f, 0.25f, 0.5f, 1.0f, -1.0f});
        maker.node("Conv", {"x", "w"}, "y");
        model_ = maker.write(folder_);
        fs::create_directories(data_);
    }

    static tools::Tensor make_sample(int data_type, const std::vector<int64_t>& shape, double unit)
    {
        tools::Tensor tensor = tools::make_tensor(data_type, shape);
        tensor.name = "x";
        for (size_t i = 0; i < tensor.element_number(); ++i)
            tools::set_element(&tensor, i, static_cast<double>(i % 24) * unit);
        return tensor;
    }

    Finished quantize(const std::vector<std::string>& more = {}) const
    {
        std::vector<std::string> arguments = {"quantize", model_, "-o", out_, "--json", "-"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        if (std::find(more.begin(), more.end(), "--data") == more.end())
            arguments.insert(arguments.end(), {"--data", data_});
        return run(arguments);
    }

    // Returns the file that is written with these samples.
    std::string written(const std::vector<std::string>& more = {}) const
    {
        const Finished finished = quantize(more);
        EXPECT_EQ(finished.status, 0) << finished.errors;
        return tools::read_file(out_);
    }

    std::string folder_ = scratch_folder();
    std::string data_ = folder_ + "/data";
    std::string out_ = folder_ + "/out.onnx";
    std::string model_;
};

// The chip supports one scale for the weights of a convolution.
TEST_F(QuantizeData, WhatADeviceRefusesDecides)
{
    tools::write_tensor(data_ + "/1.npy", make_sample(TENGINE_DT_FP32, {1, 3, 2, 4}, 0.25));
    const std::vector<std::string> device = {"--plugin", PER_TENSOR_DEVICE, "--device",
                                             "ONE_SCALE"};
    const json report = json::parse(quantize(device).output);
    EXPECT_EQ(report["per_channel"], false);
    EXPECT_EQ(report["scales_reason"],
              "48 MACs are taken so, 0 MACs per channel, uint8: ONE_SCALE refuses QLinearConv 'y': "
              "the weights have 2 scales, expected one");
    EXPECT_EQ(written(device), written({"--per-tensor"}));
    // The request of the command line is kept.
    std::vector<std::string> asked = device;
    asked.push_back("--per-channel");
    const json kept = json::parse(quantize(asked).output);
    EXPECT_EQ(kept["per_channel"], true);
    EXPECT_EQ(kept["scales_reason"], nullptr);
    EXPECT_EQ(written(asked), written());
}

TEST_F(QuantizeData, FoldersOfClassesAreSamplesToo)
{
    for (const char* name :
         {"cat/1.npy", "cat/young/2.npy", "dog/3.npy", "dog/.hidden.npy", ".git/4.npy"}) {
        fs::create_directories(fs::path(data_ + "/" + name).parent_path());
        tools::write_tensor(data_ + "/" + name, make_sample(TENGINE_DT_FP32, {1, 3, 2, 4}, 0.1));
    }
    const Finished finished = quantize();
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_EQ(json::parse(finished.output)["samples"], 3);
}

// Each file has the same numbers as one in fp32, 1x3x2x4.
TEST_F(QuantizeData, OtherTypesAndOrdersAreConverted)
{
    const std::string file = data_ + "/0.npy";
    tools::write_tensor(file, make_sample(TENGINE_DT_FP32, {1, 3, 2, 4}, 0.25));
    const std::string expected = written();
    for (const int type : {TENGINE_DT_FP64, TENGINE_DT_FP16}) {
        tools::write_tensor(file, make_sample(type, {1, 3, 2, 4}, 0.25));
        EXPECT_EQ(written(), expected) << type;
    }
    tools::write_tensor(file, make_sample(TENGINE_DT_UINT8, {1, 3, 2, 4}, 1));
    EXPECT_EQ(written({"--scale", "1/4"}), expected) << "pixels";
    tools::Tensor last = tools::make_tensor(TENGINE_DT_FP32, {1, 2, 4, 3});
    for (size_t pixel = 0; pixel < 8; ++pixel)
        for (size_t c = 0; c < 3; ++c)
            tools::set_element(&last, pixel * 3 + c, static_cast<double>(c * 8 + pixel) * 0.25);
    tools::write_tensor(file, last);
    EXPECT_EQ(written(), expected) << "NHWC";
    last.name = "x";
    const std::string npz = folder_ + "/data.npz";
    tools::write_file(npz, encode_npz({last}));
    EXPECT_EQ(written({"--data", npz}), expected) << "NHWC in .npz";
    tools::Tensor stacked = last;
    stacked.shape.insert(stacked.shape.begin() + 1, 1);
    tools::write_file(npz, encode_npz({stacked}));
    EXPECT_EQ(written({"--data", npz}), expected) << "samples with an axis of their own";
    tools::write_tensor(file, make_sample(TENGINE_DT_INT32, {1, 3, 2, 4}, 1));
    const Finished refused = quantize();
    EXPECT_EQ(refused.status, 1);
    EXPECT_THAT(refused.errors, HasSubstr("holds int32, the input 'x' takes fp32: expected floats, "
                                          "or uint8 as pixels"));
}

TEST_F(QuantizeData, AScalarInputHasANumberForEachSample)
{
    ModelMaker maker({1, 3, 2, 4});
    maker.add_input("k", {});
    maker.constant("w", {2, 3, 1, 1}, {1.0f, -0.5f, 0.25f, 0.5f, 1.0f, -1.0f});
    maker.node("Conv", {"x", "w"}, "c");
    maker.node("Mul", {"c", "k"}, "y");
    const std::string model = maker.write(folder_), npz = folder_ + "/data.npz";
    tools::Tensor factors = make_sample(TENGINE_DT_FP32, {2}, 1);
    factors.name = "k";
    tools::write_file(npz, encode_npz({make_sample(TENGINE_DT_FP32, {2, 3, 2, 4}, 0.25), factors}));
    const Finished finished = run({"quantize", model, "-o", out_, "--data", npz});
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.output, HasSubstr("samples     2\n"));
}

TEST_F(QuantizeData, AWeightHasAScaleForEachChannelUnlessAskedOtherwise)
{
    tools::write_tensor(data_ + "/0.npy", make_sample(TENGINE_DT_FP32, {1, 3, 2, 4}, 0.25));
    const std::string usual = written();
    EXPECT_EQ(written({"--per-channel"}), usual);
    EXPECT_NE(written({"--per-tensor"}), usual);
    EXPECT_EQ(json::parse(quantize().output)["per_channel"], true);
    EXPECT_EQ(json::parse(quantize({"--per-tensor"}).output)["per_channel"], false);
    EXPECT_EQ(quantize({"--per-tensor", "--per-channel"}).status, 2);
    // The CPU supports everything, so that the default applies.
    const json report = json::parse(quantize({"--device", "CPU"}).output);
    EXPECT_EQ(report["per_channel"], true);
    EXPECT_TRUE(report["scales_reason"].is_null());
}

// One value in a thousand is an outlier, so that all others share few steps.
TEST_F(QuantizeData, ALargeDropSaysWhatToTry)
{
    ModelMaker maker({1, 8});
    std::vector<float> weights(64, 0.0f);
    for (size_t i = 0; i < 8; ++i)
        weights[i * 8 + i] = 1.0f;
    maker.constant("w", {8, 8}, weights);
    maker.node("MatMul", {"x", "w"}, "y");
    model_ = maker.write(folder_);
    for (int sample = 0; sample < 20; ++sample) {
        tools::Tensor tensor = tools::make_tensor(TENGINE_DT_FP32, {1, 8});
        for (size_t i = 0; i < 8; ++i)
            tools::set_element(&tensor, i, static_cast<double>((sample * 5 + i * 3) % 8) * 0.01);
        if (sample == 0) tools::set_element(&tensor, 0, 1000);
        tools::write_tensor(data_ + "/" + std::to_string(100 + sample) + ".npy", tensor);
    }
    const Finished finished = run({"quantize", model_, "-o", out_, "--data", data_});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.output,
                AllOf(HasSubstr("\ntry         --method mse, --method percentile, --max-drop 1"),
                      HasSubstr("\nscales      per channel, uint8\n")));
    const Finished bounded =
        run({"quantize", data_file("digits.onnx"), "-o", out_, "--random", "4"});
    EXPECT_THAT(bounded.output, Not(HasSubstr("\ntry ")));
}

TEST_F(QuantizeData, AHalfModelIsNamedAsSuch)
{
    ModelMaker maker({1, 4});
    maker.constant("w", {4, 4}, std::vector<float>(16, 0.0f));
    maker.node("MatMul", {"x", "w"}, "y");
    auto* graph = maker.model.mutable_graph();
    auto* weight = graph->mutable_initializer(0);
    weight->set_data_type(::onnx::TensorProto::FLOAT16);
    weight->clear_float_data();
    weight->set_raw_data(std::string(32, '\0'));
    for (auto* value : {graph->mutable_input(0), graph->mutable_output(0)})
        value->mutable_type()->mutable_tensor_type()->set_elem_type(::onnx::TensorProto::FLOAT16);
    const std::string model = maker.write(folder_);
    for (const std::vector<std::string>& how :
         {std::vector<std::string>{"--random", "1"}, {"--dynamic"}}) {
        std::vector<std::string> arguments = {"quantize", model, "-o", out_};
        arguments.insert(arguments.end(), how.begin(), how.end());
        const Finished finished = run(arguments);
        EXPECT_EQ(finished.status, 1);
        EXPECT_THAT(finished.errors,
                    HasSubstr("there is nothing to quantise: the model is fp16: expected fp32"));
    }
}

// Such as voice detectors, which have another body for each sampling rate.
TEST_F(QuantizeData, AModelWhoseWorkIsInBodiesNamesThem)
{
    ModelMaker maker({1, 4});
    maker.constant("w", {4, 4}, std::vector<float>(16, 0.5f));
    set_int(maker.node("ReduceMax", {"x"}, "largest"), "keepdims", 0);
    set_int(maker.node("Cast", {"largest"}, "is_loud"), "to", ::onnx::TensorProto::BOOL);
    ::onnx::NodeProto* choice = maker.node("If", {"is_loud"}, "y");
    for (const char* name : {"then_branch", "else_branch"}) {
        auto* attribute = choice->add_attribute();
        attribute->set_name(name);
        attribute->set_type(::onnx::AttributeProto::GRAPH);
        ::onnx::GraphProto* body = attribute->mutable_g();
        body->set_name(name);
        auto* product = body->add_node();
        product->set_op_type("MatMul");
        product->add_input("x");
        product->add_input("w");
        product->add_output(name);
        *body->add_output() = maker.model.graph().output(0);
        body->mutable_output(0)->set_name(name);
    }
    const std::string model = maker.write(folder_);
    for (const auto& [how, cause] :
         {std::pair{std::vector<std::string>{"--random", "1"}, "no node has an int8 form"},
          {{"--dynamic"}, "no MatMul or Gemm multiplies by a constant matrix"}}) {
        std::vector<std::string> arguments = {"quantize", model, "-o", out_};
        arguments.insert(arguments.end(), how.begin(), how.end());
        const Finished finished = run(arguments);
        EXPECT_EQ(finished.status, 1);
        EXPECT_THAT(finished.errors,
                    HasSubstr("there is nothing to quantise: " + std::string(cause) +
                              "; the bodies of If 'y' stay in float"));
    }
}

// As exporters write for opsets before 11: limits of a Clip are attributes, and become inputs of
// the type of the clipped tensor, which a file with free dimensions does not declare.
TEST_F(QuantizeData, AnOldModelWithFreeDimensionsIsWritten)
{
    ModelMaker maker({1, 3, 2, 4}, 10);
    maker.constant("w", {2, 3, 1, 1}, {1.0f, -0.5f, 0.25f, 0.5f, 1.0f, -1.0f});
    maker.node("Conv", {"x", "w"}, "c");
    auto* clip = maker.node("Clip", {"c"}, "y");
    for (const auto& [name, value] : {std::pair{"min", 0.0f}, {"max", 6.0f}}) {
        auto* limit = clip->add_attribute();
        limit->set_name(name);
        limit->set_type(::onnx::AttributeProto::FLOAT);
        limit->set_f(value);
    }
    auto* shape = maker.model.mutable_graph()
                      ->mutable_input(0)
                      ->mutable_type()
                      ->mutable_tensor_type()
                      ->mutable_shape();
    for (const int axis : {0, 2, 3})
        shape->mutable_dim(axis)->set_dim_param("d" + std::to_string(axis));
    model_ = maker.write(folder_);
    tools::write_tensor(data_ + "/0.npy", make_sample(TENGINE_DT_FP32, {1, 3, 2, 4}, 0.25));
    written({"--shape", "x=1x3x2x4"});
    const std::string sample = data_ + "/0.npy", results = folder_ + "/results";
    ASSERT_EQ(run({"run", model_, "--input", sample, "--output", results}).status, 0);
    const Finished compared = run({"run", out_, "--input", sample, "--expect", results + "/y.npy",
                                   "--tolerance", "0.03,0.03"});
    EXPECT_EQ(compared.status, 0) << compared.errors;
}

}  // namespace
}  // namespace tengine::program
