// SPDX-License-Identifier: Apache-2.0
// Models with free dimensions of their inputs: the commands that need sizes for them.
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

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr char kMissing[] = "set it with --shape x=1x3x?x?, with a number for each ?";

class FreeShape : public testing::Test
{
  protected:
    // Writes a pooling by two and a Relu. The dimensions have these names, "" for a fixed one.
    std::string write_model(const std::vector<std::string>& names) const
    {
        ModelMaker maker({1, 3, 8, 8});
        maker.node("Relu", {"x"}, "r");
        ::onnx::NodeProto* pool = maker.node("MaxPool", {"r"}, "y");
        set_ints(pool, "kernel_shape", {2, 2});
        set_ints(pool, "strides", {2, 2});
        auto* type = maker.model.mutable_graph()->mutable_input(0)->mutable_type();
        auto* shape = type->mutable_tensor_type()->mutable_shape();
        for (size_t i = 0; i < names.size(); ++i)
            if (!names[i].empty()) shape->mutable_dim(static_cast<int>(i))->set_dim_param(names[i]);
        return maker.write(folder_);
    }

    std::string write_convolution() const
    {
        ModelMaker maker({1, 3, 8, 8});
        maker.constant("w", {2, 3, 1, 1}, {1.0f, -0.5f, 0.25f, 0.5f, 1.0f, -1.0f});
        maker.node("Conv", {"x", "w"}, "y");
        auto* type = maker.model.mutable_graph()->mutable_input(0)->mutable_type();
        auto* shape = type->mutable_tensor_type()->mutable_shape();
        shape->mutable_dim(0)->set_dim_param("batch");
        shape->mutable_dim(2)->set_dim_param("height");
        shape->mutable_dim(3)->set_dim_param("width");
        return maker.write(folder_);
    }

    std::string write_without_shape() const
    {
        ModelMaker maker({1, 3, 8, 8});
        maker.node("Relu", {"x"}, "y");
        auto* type = maker.model.mutable_graph()->mutable_input(0)->mutable_type();
        type->mutable_tensor_type()->clear_shape();
        return maker.write(folder_);
    }

    static void expect_refusal(const std::vector<std::string>& arguments, const std::string& words)
    {
        const Finished finished = run(arguments);
        EXPECT_EQ(finished.status, 1) << arguments[0];
        EXPECT_THAT(finished.errors, AllOf(StartsWith("tengine: "), HasSubstr(words)));
    }

    std::string folder_ = scratch_folder();
};

TEST_F(FreeShape, EveryCommandThatNeedsTheShapeSaysHowToGiveIt)
{
    const std::string model = write_model({"", "", "height", "width"});
    const std::string words =
        std::string("input 'x' is declared as 1 x 3 x height x width; ") + kMissing;
    expect_refusal({"run", model}, words);
    expect_refusal({"bench", model, "--runs", "1"}, words);
    expect_refusal({"convert", model, folder_ + "/net.tmfile"}, words);
    expect_refusal({"quantize", model, "--random", "1", "-o", folder_ + "/q.onnx"}, words);
    EXPECT_EQ(run({"run", model, "--shape", "x=1x3x8x6"}).status, 0);
}

// A program may set any size, also after a conversion.
TEST_F(FreeShape, AnOnnxFileKeepsIt)
{
    const std::string model = write_model({"batch", "", "height", "width"});
    const std::string out = folder_ + "/converted.onnx";
    for (const std::string opset : {"13", "21"}) {
        const Finished finished = run({"convert", model, out, "--opset", opset});
        ASSERT_EQ(finished.status, 0) << finished.errors;
        EXPECT_EQ(finished.output, "input  x  batch x 3 x height x width\n" + out + " written\n");
        EXPECT_THAT(run({"inspect", out}).output, HasSubstr("x  batch x 3 x height x width  fp32"));
        for (const char* shape : {"1x3x8x6", "2x3x4x4"}) {
            const std::vector<std::string> words = {"--shape", shape, "--seed", "3"};
            std::vector<std::string> before = {"run", model}, after = {"run", out};
            before.insert(before.end(), words.begin(), words.end());
            after.insert(after.end(), words.begin(), words.end());
            EXPECT_EQ(run(after).output, run(before).output) << shape;
        }
    }
    ASSERT_EQ(run({"convert", model, out, "--shape", "2x3x8x6"}).status, 0);
    EXPECT_THAT(run({"inspect", out}).output, HasSubstr("x  2x3x8x6  fp32"));
}

TEST_F(FreeShape, AnOnnxFileThatNeedsItSaysHowToGiveIt)
{
    ModelMaker maker({1, 3, 8, 8}, 18);
    ::onnx::NodeProto* split = maker.node("Split", {"x"}, "y");
    split->add_output("z");
    set_int(split, "axis", 3);
    set_int(split, "num_outputs", 2);
    auto* type = maker.model.mutable_graph()->mutable_input(0)->mutable_type();
    auto* shape = type->mutable_tensor_type()->mutable_shape();
    shape->mutable_dim(2)->set_dim_param("height");
    shape->mutable_dim(3)->set_dim_param("width");
    const std::string model = maker.write(folder_), out = folder_ + "/older.onnx";
    expect_refusal({"convert", model, out, "--opset", "13"},
                   "with --shape x=1x3x?x? it could be written: Split 'y': ");
    EXPECT_EQ(run({"convert", model, out, "--opset", "13", "--shape", "x=1x3x8x8"}).status, 0);
}

// Random numbers and pictures have the shape of --shape; arrays have their own.
TEST_F(FreeShape, SamplesSettleIt)
{
    const std::string model = write_convolution();
    const std::string data = folder_ + "/data", out = folder_ + "/q.onnx";
    std::filesystem::create_directories(data);
    for (const int width : {6, 8})
        tools::write_tensor(data + "/" + std::to_string(width) + ".npy",
                            tools::make_tensor(TENGINE_DT_FP32, {1, 3, 4, width}));
    const Finished finished = run({"quantize", model, "-o", out, "--data", data});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(run({"inspect", out}).output, HasSubstr("x  batch x 3 x height x width  fp32"));
    EXPECT_EQ(run({"quantize", model, "-o", folder_ + "/q.tmfile", "--data", data}).status, 0);
    EXPECT_THAT(run({"inspect", folder_ + "/q.tmfile"}).output, HasSubstr("x  1x3x4x6  fp32"));
    const std::string arrays = folder_ + "/samples.npz";
    tools::Tensor five = tools::make_tensor(TENGINE_DT_FP32, {5, 3, 4, 6});
    five.name = "x";
    tools::write_file(arrays, encode_npz({five}));
    EXPECT_THAT(run({"quantize", model, "-o", out, "--data", arrays}).output,
                HasSubstr("samples     5\n"));
    five.shape = {5, 1, 3, 4, 6};
    tools::write_file(arrays, encode_npz({five}));
    EXPECT_THAT(run({"quantize", model, "-o", out, "--data", arrays}).output,
                HasSubstr("samples     5\n"));
    // A sample that does not match has no effect.
    tools::write_tensor(data + "/1.npy", tools::make_tensor(TENGINE_DT_FP32, {1, 5, 4, 4}));
    expect_refusal({"quantize", model, "-o", out, "--data", data}, kMissing);
}

// Ranges are found in each run.
TEST_F(FreeShape, DynamicQuantisationNeedsNone)
{
    ModelMaker maker({2, 4});
    maker.constant("w", {4, 3}, std::vector<float>(12, 0.5f));
    maker.node("MatMul", {"x", "w"}, "y");
    auto* type = maker.model.mutable_graph()->mutable_input(0)->mutable_type();
    auto* shape = type->mutable_tensor_type()->mutable_shape();
    shape->mutable_dim(0)->set_dim_param("rows");
    shape->add_dim()->set_dim_value(4);
    shape->mutable_dim(1)->set_dim_param("columns");
    const std::string out = folder_ + "/dynamic.onnx";
    const Finished finished = run({"quantize", maker.write(folder_), "--dynamic", "-o", out});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(run({"inspect", out}).output, HasSubstr("x  rows x columns x 4  fp32"));
}

TEST_F(FreeShape, InspectWorksWithoutIt)
{
    const std::string model = write_model({"batch", "", "height", "width"});
    const Finished finished = run({"inspect", model});
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_EQ(finished.errors, "");
    EXPECT_THAT(
        finished.output,
        AllOf(StartsWith("input       x  batch x 3 x height x width  fp32\noutput      y\n"),
              HasSubstr("MACs        ?\n"), HasSubstr("\n2 nodes by operator\n"),
              HasSubstr("MaxPool   y\n"), HasSubstr("--shape x=1x3x?x?\n")));
    const Finished shaped = run({"inspect", model, "--shape", "x=2x3x4x4"});
    EXPECT_THAT(shaped.output,
                AllOf(StartsWith("input       x  2x3x4x4  fp32  (batch x 3 x height x width)\n"),
                      HasSubstr("reason"), Not(HasSubstr("--shape"))));
    expect_refusal({"inspect", model, "--operators"}, "--shape x=1x3x?x?");
    expect_refusal({"inspect", model, "--dot", "-"}, "--shape x=1x3x?x?");
}

TEST_F(FreeShape, JsonHasTheNames)
{
    const std::string model = write_model({"batch", "", "height", "width"});
    const Finished finished = run({"inspect", model, "--json", "-"});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    const json report = json::parse(finished.output);
    EXPECT_EQ(report["placed"], false);
    EXPECT_EQ(report["inputs"][0]["shape"], (std::vector<int>{-1, 3, -1, -1}));
    EXPECT_EQ(report["inputs"][0]["names"],
              (std::vector<std::string>{"batch", "", "height", "width"}));
    EXPECT_EQ(report["outputs"], json::parse(R"([{"name": "y", "declared": null, "names": []}])"));
    ASSERT_EQ(report["nodes"].size(), 2u);
    EXPECT_EQ(report["nodes"][1]["op"], "MaxPool");
}

TEST_F(FreeShape, AFirstDimensionAloneIsOneAndThatIsSaid)
{
    const std::string model = write_model({"batch", "", "", ""});
    const std::string words =
        "input 'x' is declared as batch x 3 x 8 x 8, run as 1x3x8x8; set it with --shape\n";
    const Finished finished = run({"run", model});
    EXPECT_EQ(finished.status, 0);
    EXPECT_EQ(finished.errors, "tengine: " + model + ": " + words);
    EXPECT_THAT(finished.output, HasSubstr("output  y  1x3x4x4"));
    // The warning is printed once, although the model is loaded twice.
    EXPECT_EQ(run({"bench", model, "--runs", "1", "--threads", "1,2"}).errors, finished.errors);
    EXPECT_EQ(run({"run", model, "--shape", "x=1x3x8x8"}).errors, "");
}

TEST_F(FreeShape, AFileSettlesIt)
{
    const std::string model = write_model({"batch", "", "height", "width"});
    const std::string file = folder_ + "/x.npy";
    tools::write_tensor(file, tools::make_tensor(TENGINE_DT_FP32, {2, 3, 6, 4}));
    const Finished finished = run({"run", model, "--input", file});
    EXPECT_EQ(finished.errors, "");
    EXPECT_THAT(finished.output, HasSubstr("output  y  2x3x3x2"));
    // A picture is a batch of one and has its own size.
    const Finished picture = run({"run", model, "--input", data_file("digit_3_003.png")});
    EXPECT_EQ(picture.errors, "");
    EXPECT_THAT(picture.output, HasSubstr("output  y  1x3x32x32"));
}

TEST_F(FreeShape, DimensionsWithoutNames)
{
    const std::string model = write_model({"batch", "", "?", "width"});
    EXPECT_THAT(run({"run", model}).errors, HasSubstr("is declared as batch x 3 x ? x width"));
}

TEST_F(FreeShape, AnInputOfNoRank)
{
    const std::string model = write_without_shape();
    expect_refusal(
        {"run", model},
        "input 'x' is declared as any shape; set it with --shape x=1x3x224x224, for example");
    EXPECT_THAT(run({"inspect", model}).output, StartsWith("input       x  any shape  fp32\n"));
    EXPECT_EQ(run({"run", model, "--shape", "5"}).status, 0);
}

// Writes a NonZero, whose result has as many columns as there are nonzero values.
std::string write_unknown_result(const std::string& folder)
{
    ModelMaker maker({2, 3});
    maker.node("NonZero", {"x"}, "y");
    auto* type = maker.model.mutable_graph()->mutable_output(0)->mutable_type();
    type->mutable_tensor_type()->set_elem_type(::onnx::TensorProto::INT64);
    return maker.write(folder);
}

TEST_F(FreeShape, AnOutputOfWhichOnlyTheRunTells)
{
    const std::string model = write_unknown_result(folder_);
    EXPECT_THAT(run({"inspect", model}).output, HasSubstr("\noutput      y  ?  int64\n"));
    EXPECT_THAT(run({"inspect", model, "--dot", "-"}).output, HasSubstr("<b>y</b><br/>?>"));
    const json before = json::parse(run({"inspect", model, "--json", "-"}).output);
    EXPECT_EQ(before["outputs"][0]["shape"], nullptr);
    EXPECT_EQ(before["outputs"][0]["depends_on_data"], true);
    const json after = json::parse(run({"run", model, "--json", "-"}).output);
    EXPECT_EQ(after["outputs"][0]["shape"], (std::vector<int>{2, 6}));
    EXPECT_EQ(after["outputs"][0]["depends_on_data"], true) << "a run does not fix the shape";
}

TEST_F(FreeShape, AFileOfTengineSaysWhatDecidesAnUnknownShape)
{
    const std::string model = write_unknown_result(folder_);
    EXPECT_THAT(run({"convert", model, folder_ + "/net.tmfile"}).errors,
                HasSubstr("NonZero 'y': the shape of 'y' is known only at run time (NonZero 'y' "
                          "decides by the values of input 'x')\n"));
}

TEST_F(FreeShape, AShapeThatDoesNotFitIsToldBesideTheDeclared)
{
    const std::string model = write_model({"batch", "", "height", "width"});
    expect_refusal({"run", model, "--shape", "x=8"},
                   "; input 'x' is declared as batch x 3 x height x width, given 8\n");
    expect_refusal({"run", model, "--shape", "x=1x3x8x1"},
                   "; with batch = 1, height = 8, width = 1\n");
}

TEST_F(FreeShape, NoRateIsMadeOfBytesThatOnlyTheRunTells)
{
    const std::string model = write_unknown_result(folder_);
    const Finished finished = run({"bench", model, "--profile", "--runs", "3", "--json", "-"});
    const json node = json::parse(finished.output)["results"][0]["profile"]["nodes"][0];
    EXPECT_EQ(node["bytes"], 24);
    EXPECT_EQ(node["gbps"], 0);
}

// The form of Tengine's converters: the tensors of the file have no list of dimensions.
TEST_F(FreeShape, ATmfileWithoutShapes)
{
    ModelMaker maker({1, 3, 8, 8});
    maker.node("Relu", {"x"}, "y");
    const std::string model = folder_ + "/net.tmfile";
    ASSERT_EQ(run({"convert", maker.write(folder_), model}).status, 0);
    std::string bytes = tools::read_file(model);
    const int32_t list[] = {4, 1, 3, 8, 8};
    const std::string_view dims(reinterpret_cast<const char*>(list), sizeof list);
    int cleared = 0;
    for (size_t at = 0; (at = bytes.find(dims, at)) != std::string::npos; ++at) {
        const auto offset = static_cast<uint32_t>(at);
        const std::string_view field(reinterpret_cast<const char*>(&offset), sizeof offset);
        const size_t reference = bytes.find(field);
        ASSERT_NE(reference, std::string::npos);
        bytes.replace(reference, sizeof offset, sizeof offset, '\0');
        ++cleared;
    }
    EXPECT_EQ(cleared, 2);
    tools::write_file(model, bytes);
    expect_refusal({"run", model},
                   "input 'x' is declared as any shape; set it with --shape x=1x3x224x224");
    EXPECT_THAT(run({"inspect", model}).output, StartsWith("input       x  any shape  fp32\n"));
    EXPECT_EQ(run({"run", model, "--shape", "1x3x2x2"}).status, 0);
}

}  // namespace
}  // namespace tengine::program
