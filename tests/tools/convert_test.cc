// SPDX-License-Identifier: Apache-2.0
// `tengine convert`, and other commands on the tmfiles that it writes.
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tensor_file/npy.h"
#include "tensor_file/tensor_file.h"
#include "tools/program.h"
#include "tools/quantize_model.h"

namespace tengine::program {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class Convert : public testing::Test
{
  protected:
    std::string path(const std::string& name) const { return folder_ + "/" + name; }

    static Finished expect_success(const std::vector<std::string>& arguments)
    {
        Finished finished = run(arguments);
        EXPECT_EQ(finished.status, 0) << finished.errors;
        return finished;
    }

    // Returns the bytes of output `name` for the input in `more`.
    std::string result(const std::string& model, const std::string& name,
                       std::vector<std::string> more) const
    {
        std::vector<std::string> arguments = {"run", model, "--output", path("results")};
        arguments.insert(arguments.end(), more.begin(), more.end());
        expect_success(arguments);
        return tools::read_file(path("results/" + name + ".npy"));
    }

    // Writes a convolution and a Relu, with Erfs between them, which Tengine does not have. The
    // input's shape may be unknown.
    std::string write_network(int erf_num, bool is_dynamic) const
    {
        ModelMaker maker({1, 2, 5, 5});
        if (is_dynamic) {
            auto* type = maker.model.mutable_graph()->mutable_input(0)->mutable_type();
            auto* shape = type->mutable_tensor_type()->mutable_shape();
            for (const int axis : {0, 2, 3})
                shape->mutable_dim(axis)->set_dim_param("d" + std::to_string(axis));
        }
        std::vector<float> weights(2 * 2 * 3 * 3);
        for (size_t i = 0; i < weights.size(); ++i)
            weights[i] = static_cast<float>(i % 7) / 4 - 0.75f;
        maker.constant("w", {2, 2, 3, 3}, weights);
        maker.node("Conv", {"x", "w"}, "c");
        std::string last = "c";
        for (int i = 0; i < erf_num; ++i) {
            const std::string name = "erf" + std::to_string(i);
            maker.node("Erf", {last}, name);
            last = name;
        }
        maker.node("Relu", {last}, "y");
        return maker.write(folder_);
    }

    std::string folder_ = scratch_folder();
};

TEST_F(Convert, ThereAndBackGivesTheSameBytes)
{
    const std::string digits = data_file("digits.onnx");
    const Finished there =
        expect_success({"convert", digits, path("digits.tmfile"), "--shape", "image=1x1x8x8"});
    EXPECT_EQ(there.errors, "");
    EXPECT_EQ(there.output, "input  image  1x1x8x8\n" + path("digits.tmfile") + " written\n");
    // The file accepts whole batches, not just its shape.
    const std::vector<std::string> images = {"--input", data_file("heldout_images.npy")};
    const std::string expected = result(digits, "probabilities", images);
    EXPECT_EQ(result(path("digits.tmfile"), "probabilities", images), expected);

    const Finished back = expect_success(
        {"convert", path("digits.tmfile"), path("back.onnx"), "--shape", "image=382x1x8x8"});
    EXPECT_EQ(back.errors, "");
    EXPECT_EQ(result(path("back.onnx"), "probabilities", images), expected);
    const Finished again = expect_success({"convert", path("back.onnx"), path("again.tmfile")});
    EXPECT_EQ(again.errors, "");
    EXPECT_EQ(result(path("again.tmfile"), "probabilities", images), expected);
}

TEST_F(Convert, ATfliteComputesTheSame)
{
    const std::string digits = data_file("digits.onnx");
    const std::vector<std::string> images = {"--input", data_file("heldout_images.npy")};
    const std::string tflite = path("digits.tflite");
    const Finished written =
        expect_success({"convert", digits, tflite, "--shape", "image=382x1x8x8"});
    EXPECT_EQ(written.errors, "");
    EXPECT_EQ(written.output, "input  image  382x1x8x8\n" + tflite + " written\n");
    EXPECT_THAT(expect_success({"inspect", tflite}).output, HasSubstr("FULLY_CONNECTED"));
    const tools::Tensor expected = tools::decode_npy(result(digits, "probabilities", images));
    const auto expect_same = [&](const std::string& model) {
        const tools::Tensor actual = tools::decode_npy(result(model, "probabilities", images));
        ASSERT_EQ(actual.bytes.size(), expected.bytes.size());
        const auto* a = reinterpret_cast<const float*>(actual.bytes.data());
        const auto* b = reinterpret_cast<const float*>(expected.bytes.data());
        for (size_t i = 0; i < actual.bytes.size() / sizeof *a; ++i)
            ASSERT_NEAR(a[i], b[i], 1e-5f) << i;
    };
    expect_same(tflite);
    expect_success({"convert", tflite, path("again.tflite")});
    expect_same(path("again.tflite"));
    for (const char* format : {"onnx", "tmfile"}) {
        const std::string other = path(std::string("other.") + format);
        expect_success({"convert", tflite, other});
        expect_same(other);
        expect_success({"convert", other, path("back.tflite")});
        expect_same(path("back.tflite"));
    }
}

TEST_F(Convert, AnOnnxFileIsForTheOpsetAsked)
{
    const std::string digits = data_file("digits.onnx");
    const std::vector<std::string> images = {"--input", data_file("heldout_images.npy")};
    const std::string expected = result(digits, "probabilities", images);
    expect_success({"convert", digits, path("digits.tmfile"), "--shape", "image=1x1x8x8"});
    for (const std::string& model : {digits, path("digits.tmfile")}) {
        for (const int opset : {0, 7, 11, 13, 18, 28}) {
            std::vector<std::string> command = {"convert", model, path("asked.onnx"), "--shape",
                                                "image=382x1x8x8"};
            if (opset > 0) command.insert(command.end(), {"--opset", std::to_string(opset)});
            EXPECT_EQ(expect_success(command).errors, "");
            EXPECT_EQ(load_model(path("asked.onnx")).opset_import(0).version(),
                      opset > 0 ? opset : 21);
            EXPECT_EQ(result(path("asked.onnx"), "probabilities", images), expected) << opset;
        }
    }
}

TEST_F(Convert, ALaterOpsetThanTheUsualOneIsReported)
{
    ModelMaker maker({2, 3}, 24);
    maker.node("Swish", {"x"}, "y");
    const std::string model = maker.write(folder_);
    const Finished finished = run({"convert", model, path("later.onnx")});
    EXPECT_EQ(finished.status, 0);
    EXPECT_THAT(finished.errors, HasSubstr("is written for opset 24: Swish 'y': the operator in "
                                           "this form came with opset 24"));
    EXPECT_EQ(load_model(path("later.onnx")).opset_import(0).version(), 24);
    const Finished refused = run({"convert", model, path("older.onnx"), "--opset", "23"});
    EXPECT_EQ(refused.status, 1);
    EXPECT_THAT(refused.errors, HasSubstr("older.onnx: Swish 'y': the operator in this form came "
                                          "with opset 24, the file is for opset 23"));
    EXPECT_FALSE(std::filesystem::exists(path("older.onnx")));
}

TEST_F(Convert, OperatorsAreTengines)
{
    expect_success({"convert", write_network(0, false), path("net.tmfile")});
    const Finished finished = expect_success({"inspect", path("net.tmfile")});
    EXPECT_THAT(finished.output, AllOf(HasSubstr("2 nodes by operator\n"),
                                       HasSubstr("Convolution:1"), HasSubstr("ReLU:1")));
    expect_success({"convert", path("net.tmfile"), path("back.onnx")});
    const ::onnx::ModelProto back = load_model(path("back.onnx"));
    EXPECT_EQ(count_nodes(back, "Conv"), 1);
    EXPECT_EQ(count_nodes(back, "Relu"), 1);
    EXPECT_EQ(back.graph().node_size(), 2);
}

TEST_F(Convert, ANodeThatTengineDoesNotHaveIsNamed)
{
    const std::string model = write_network(1, false);
    const Finished finished = run({"convert", model, path("net.tmfile")});
    EXPECT_EQ(finished.status, 0);
    EXPECT_THAT(finished.errors,
                AllOf(HasSubstr("Tengine Lite cannot load the file"), HasSubstr("Erf"),
                      HasSubstr("'erf0'"), HasSubstr("Tengine has no equivalent operator")));
    EXPECT_EQ(finished.errors.find('\n') + 1, finished.errors.size()) << finished.errors;
    EXPECT_THAT(finished.output, EndsWith("net.tmfile written\n"));
    const std::string expected = result(model, "y", {"--seed", "3"});
    EXPECT_EQ(result(path("net.tmfile"), "y", {"--seed", "3"}), expected);

    expect_success({"convert", path("net.tmfile"), path("back.onnx")});
    EXPECT_EQ(count_nodes(load_model(path("back.onnx")), "Erf"), 1);
    EXPECT_EQ(result(path("back.onnx"), "y", {"--seed", "3"}), expected);
}

TEST_F(Convert, NodesThatTengineDoesNotHaveAreALineForEachOperator)
{
    const Finished finished = run({"convert", write_network(3, false), path("net.tmfile")});
    EXPECT_EQ(finished.status, 0);
    EXPECT_EQ(finished.errors,
              "Tengine Lite cannot load the file, it contains 3 ONNX nodes Erf; the first: "
              "Erf 'erf0': Tengine has no equivalent operator\n");
}

TEST_F(Convert, UnknownDimensionsAreGivenByShape)
{
    const std::string model = write_network(0, true);
    const Finished finished =
        expect_success({"convert", model, path("net.tmfile"), "--shape", "x=2x2x7x6"});
    EXPECT_EQ(finished.output, "input  x  2x2x7x6\n" + path("net.tmfile") + " written\n");
    EXPECT_THAT(expect_success({"inspect", path("net.tmfile")}).output,
                StartsWith("input       x  2x2x7x6  fp32\noutput      y  2x2x5x4  fp32\n"));
    EXPECT_EQ(result(path("net.tmfile"), "y", {}), result(model, "y", {"--shape", "x=2x2x7x6"}));
}

TEST_F(Convert, BenchTakesATmfile)
{
    expect_success({"convert", data_file("digits.onnx"), path("digits.tmfile")});
    const Finished finished = expect_success(
        {"bench", path("digits.tmfile"), "--runs", "1", "--warmup", "0", "--json", "-"});
    EXPECT_THAT(finished.output, HasSubstr("digits.tmfile"));
    EXPECT_TRUE(nlohmann::json::accept(finished.output)) << finished.output;
}

class ConvertMisuse : public Convert
{
  protected:
    // Expects a failure with one line that contains `words`, and no file in the output's folder.
    void expect_error(const std::vector<std::string>& more, int status, const std::string& words)
    {
        std::vector<std::string> arguments = {"convert"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Finished finished = run(arguments);
        EXPECT_EQ(finished.status, status) << words;
        EXPECT_THAT(finished.errors, AllOf(StartsWith("tengine: "), HasSubstr(words)));
        EXPECT_EQ(finished.errors.find('\n') + 1, finished.errors.size()) << finished.errors;
        EXPECT_EQ(finished.output, "") << words;
        for (const auto& entry : std::filesystem::directory_iterator(out_))
            ADD_FAILURE() << entry.path() << " is left: " << words;
    }

    void SetUp() override { std::filesystem::create_directory(out_); }

    std::string out_ = path("out");
    std::string digits_ = data_file("digits.onnx");
};

TEST_F(ConvertMisuse, TheCommandLineIsWrong)
{
    expect_error({}, 2, "IN is required");
    expect_error({digits_}, 2, "OUT is required");
    expect_error({digits_, out_ + "/a.tmfile", "--shape", "picture=1x1x8x8"}, 1,
                 "--shape 'picture=1x1x8x8' names no input of the model: expected 'image'");
    expect_error({digits_, out_ + "/a.tmfile", "--shape", "image=1x1x9x9x9"}, 1, "/stem/Conv");
    expect_error({digits_, out_ + "/a.bin"}, 1,
                 "/a.bin': the file name must end in .onnx, .tflite or .tmfile");
    expect_error({digits_, out_ + "/a.tmfile", "--opset", "13"}, 1,
                 "/a.tmfile': the file name must end in .onnx");
    for (const char* opset : {"6", "29", "1.5"})
        expect_error({digits_, out_ + "/a.onnx", "--opset", opset}, 2, "--opset");
}

TEST_F(ConvertMisuse, TheModelIsWrong)
{
    expect_error({path("none.onnx"), out_ + "/a.tmfile"}, 1, "none.onnx");
    expect_error({path("none.tmfile"), out_ + "/a.onnx"}, 1, "none.tmfile");
    tools::write_file(path("short.tmfile"), "TM");
    expect_error({path("short.tmfile"), out_ + "/a.onnx"}, 1, "short.tmfile");
}

TEST_F(ConvertMisuse, TheFileCannotBeWritten)
{
    expect_error({digits_, out_ + "/none/a.tmfile", "--shape", "1x1x8x8"}, 1,
                 "No such file or directory");
    expect_error({digits_, out_ + "/none/a.onnx", "--shape", "1x1x8x8"}, 1,
                 "No such file or directory");
    // A folder has the output's name: detected after everything is written.
    const std::string folder = path("folder.tmfile");
    std::filesystem::create_directory(folder);
    expect_error({digits_, folder, "--shape", "1x1x8x8"}, 1, "folder.tmfile");
    EXPECT_TRUE(std::filesystem::is_empty(folder));
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
        EXPECT_THAT(entry.path().string(), testing::Not(HasSubstr("unfinished")));
}

}  // namespace
}  // namespace tengine::program
