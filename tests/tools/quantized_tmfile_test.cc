// SPDX-License-Identifier: Apache-2.0
// Quantised tmfiles of the shipped network, by `tengine quantize` and `tengine convert`, in the
// three schemes of Tengine Lite: their results for the held-out images, on the CPU and on the
// accelerator.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/accelerated_run.h"
#include "tools/heldout_images.h"
#include "tools/program.h"
#include "tools/quantize_model.h"

namespace tengine::program {
namespace {

using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;
using tools::Tensor;

// Activations and weights in uint8 in place of int8, per output channel or not.
struct Scheme
{
    const char* name;
    bool has_unsigned_activations;
    bool has_unsigned_weights;
    bool is_per_channel;
};

void PrintTo(const Scheme& scheme, std::ostream* stream)
{
    *stream << scheme.name;
}

TensorProto* find_initializer(ModelProto* model, const std::string& name)
{
    for (TensorProto& tensor : *model->mutable_graph()->mutable_initializer())
        if (tensor.name() == name) return &tensor;
    return nullptr;
}

// Keeps the real numbers: int8 and its zero point are both increased by 128.
void make_unsigned(TensorProto* tensor)
{
    ASSERT_EQ(tensor->data_type(), TensorProto::INT8);
    for (char& byte : *tensor->mutable_raw_data())
        byte = static_cast<char>(static_cast<unsigned char>(byte) ^ 0x80);
    tensor->set_data_type(TensorProto::UINT8);
}

void give_unsigned_zero_point(ModelProto* model, NodeProto* linear)
{
    TensorProto zero_point = *find_initializer(model, linear->input(2));
    make_unsigned(&zero_point);
    zero_point.set_name(linear->name() + "_unsigned");
    linear->set_input(2, zero_point.name());
    *model->mutable_graph()->add_initializer() = zero_point;
}

// Converts a model that `tengine quantize` wrote, all in int8, to `scheme`.
void apply(const Scheme& scheme, ModelProto* model)
{
    for (NodeProto& node : *model->mutable_graph()->mutable_node()) {
        if (node.op_type() != "QuantizeLinear" && node.op_type() != "DequantizeLinear") continue;
        TensorProto* weights = find_initializer(model, node.input(0));
        if (weights && weights->data_type() != TensorProto::INT8) continue;  // a bias
        if (weights ? scheme.has_unsigned_weights : scheme.has_unsigned_activations) {
            if (weights) make_unsigned(weights);
            give_unsigned_zero_point(model, &node);
        }
    }
}

class QuantizedTmfile : public testing::TestWithParam<Scheme>
{
  protected:
    QuantizedTmfile()
    {
        const std::string images = write_heldout_images(folder_, kCalibrationImages);
        std::vector<std::string> arguments = {
            "quantize", data_file("digits.onnx"), "--data", images, "-o",
            onnx_,      "--activations",          "int8"};
        arguments.push_back(GetParam().is_per_channel ? "--per-channel" : "--per-tensor");
        expect_success(arguments);
        ModelProto model = load_model(onnx_);
        step_ = scale_of(model, first_node(model));
        zero_point_ = zero_point_of(model, first_node(model));
        apply(GetParam(), &model);
        tools::write_file(onnx_, model.SerializeAsString());
        expect_success({"convert", onnx_, tmfile_, "--shape", "1x1x8x8", "--integer-io"});
        tools::write_tensor(bytes_, quantized_images());
    }

    static void expect_success(const std::vector<std::string>& arguments)
    {
        const Finished finished = run(arguments);
        EXPECT_EQ(finished.status, 0) << finished.errors;
        EXPECT_EQ(finished.errors, "");
    }

    static const NodeProto& first_node(const ModelProto& model)
    {
        EXPECT_EQ(model.graph().node(0).op_type(), "QuantizeLinear");
        EXPECT_EQ(model.graph().node(0).input(0), "image");
        return model.graph().node(0);
    }

    // Returns the images in integers, as a QuantizeLinear would compute them for the tmfile.
    Tensor quantized_images() const
    {
        const bool is_unsigned = GetParam().has_unsigned_activations;
        Tensor quantized = tools::make_tensor(
            is_unsigned ? TENGINE_DT_UINT8 : TENGINE_DT_INT8,
            {images_.shape[0], images_.shape[1], images_.shape[2], images_.shape[3]});
        for (size_t i = 0; i < images_.element_number(); ++i) {
            const auto value = static_cast<float>(tools::get_element(images_, i));
            const float step = std::nearbyint(value / step_) + static_cast<float>(zero_point_);
            tools::set_element(&quantized, i,
                               std::clamp(step, -128.0f, 127.0f) + (is_unsigned ? 128 : 0));
        }
        return quantized;
    }

    std::string precision() const { return GetParam().has_unsigned_activations ? "uint8" : "int8"; }

    Tensor images_ = tools::read_tensor(data_file("heldout_images.npy"));
    std::string folder_ = scratch_folder();
    std::string onnx_ = folder_ + "/quantized.onnx";
    std::string tmfile_ = folder_ + "/quantized.tmfile";
    std::string bytes_ = folder_ + "/bytes.npy";
    float step_ = 0;
    int zero_point_ = 0;
};

// The results equal those of the ONNX model for the images in the same integers.
TEST_P(QuantizedTmfile, EqualsTheOnnxModelInIntegers)
{
    const ModelResult expected = run_model(
        onnx_, folder_, {"--input", data_file("heldout_images.npy"), "--precision", precision()});
    const ModelResult result = run_model(tmfile_, folder_, {"--input", bytes_});
    EXPECT_EQ(result.output.shape, expected.output.shape);
    EXPECT_TRUE(result.output.bytes == expected.output.bytes) << "different bytes";
    EXPECT_EQ(count_right(result.output), count_right(expected.output));
    EXPECT_NEAR(count_right(result.output), 376, 2);
}

TEST_P(QuantizedTmfile, RealInputsAreQuantizedByTheProgram)
{
    const ModelResult expected = run_model(tmfile_, folder_, {"--input", bytes_});
    const ModelResult result =
        run_model(tmfile_, folder_, {"--input", data_file("heldout_images.npy")});
    EXPECT_TRUE(result.output.bytes == expected.output.bytes) << "different bytes";
}

TEST_P(QuantizedTmfile, GoesBackToAnOnnxModelThatGivesTheSame)
{
    const std::string back = folder_ + "/back.onnx";
    expect_success({"convert", tmfile_, back, "--shape", "image=382x1x8x8"});
    const ModelProto model = load_model(back);
    EXPECT_EQ(count_nodes(model, "Conv"), 5);
    EXPECT_GT(count_nodes(model, "DequantizeLinear"), 10);
    const ModelResult expected = run_model(tmfile_, folder_, {"--input", bytes_});
    const ModelResult result =
        run_model(back, folder_, {"--input", bytes_, "--precision", precision()});
    EXPECT_EQ(result.output.shape, expected.output.shape);
    EXPECT_TRUE(result.output.bytes == expected.output.bytes) << "different bytes";
}

TEST_P(QuantizedTmfile, GivesTheSameOnTheAccelerator)
{
    if (!has_accelerator()) GTEST_SKIP() << "this build has no device " << kAccelerator;
    run_both_ways(tmfile_, folder_, {"--input", bytes_});
}

std::string scheme_name(const testing::TestParamInfo<Scheme>& info)
{
    return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(As, QuantizedTmfile,
                         testing::Values(Scheme{"Int8", false, false, false},
                                         Scheme{"Int8PerChannel", false, false, true},
                                         Scheme{"Uint8", true, true, false},
                                         Scheme{"Uint8WithInt8PerChannel", true, false, true}),
                         scheme_name);

// `tengine quantize` on a float tmfile.
class QuantizeTmfile : public testing::Test
{
  protected:
    void SetUp() override
    {
        const Finished finished = run({"convert", data_file("digits.onnx"), float_});
        ASSERT_EQ(finished.status, 0) << finished.errors;
    }

    // Quantises `model` on 20 random samples.
    std::string quantize(const std::string& model, const std::string& name)
    {
        const std::string path = folder_ + "/" + name;
        const Finished finished =
            run({"quantize", model, "--shape", "image=1x1x8x8", "--random", "20", "-o", path});
        EXPECT_EQ(finished.status, 0) << finished.errors;
        EXPECT_THAT(finished.output, testing::HasSubstr("quantised   15 of 16 nodes\n"));
        return path;
    }

    Tensor read_digit(const std::string& model)
    {
        return run_model(model, folder_,
                         {"--input", data_file("digit_7_007.png"), "--precision", "int8"})
            .output;
    }

    std::string folder_ = scratch_folder();
    std::string float_ = folder_ + "/float.tmfile";
};

TEST_F(QuantizeTmfile, GivesTheSameAsTheOnnxModel)
{
    const std::string onnx = quantize(data_file("digits.onnx"), "of_onnx.onnx");
    const Tensor expected = read_digit(onnx);
    EXPECT_EQ(count_nodes(load_model(onnx), "QuantizeLinear"), 11);
    for (const std::string& quantized :
         {quantize(float_, "of_tmfile.tmfile"), quantize(float_, "of_tmfile.onnx"),
          quantize(data_file("digits.onnx"), "of_onnx.tmfile")}) {
        const Tensor result = read_digit(quantized);
        EXPECT_TRUE(result.bytes == expected.bytes) << quantized;
    }
}

TEST_F(QuantizeTmfile, WhatIsQuantisedAlreadyIsRefused)
{
    const std::string once = quantize(float_, "once.tmfile");
    const std::string twice = folder_ + "/twice.tmfile";
    const Finished finished = run({"quantize", once, "--random", "1", "-o", twice});
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.errors, testing::HasSubstr("the model is quantised already: "));
    EXPECT_FALSE(std::filesystem::exists(twice));
}

}  // namespace
}  // namespace tengine::program
