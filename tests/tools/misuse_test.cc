// SPDX-License-Identifier: Apache-2.0
// `tengine` reports every error in one line on standard error and ends with a status that is not 0:
// 2 for the command line, 1 for everything else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensor_file/tensor_file.h"
#include "tools/program.h"

namespace tengine::program {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

void expect_error(const std::vector<std::string>& arguments, int status, const std::string& words)
{
    const Finished finished = run(arguments);
    const std::string trace = testing::PrintToString(arguments);
    EXPECT_EQ(finished.status, status) << trace;
    EXPECT_THAT(finished.errors, StartsWith("tengine: ")) << trace;
    EXPECT_THAT(finished.errors, HasSubstr(words)) << trace;
    EXPECT_EQ(finished.errors.find('\n') + 1, finished.errors.size()) << trace;
    EXPECT_LT(finished.errors.size(), 300u) << trace;
}

TEST(Misuse, TheCommandLineIsWrong)
{
    const std::string model = data_file("digits.onnx");
    expect_error({}, 2,
                 "missing command: expected run, bench, inspect, devices, quantize, compile, "
                 "convert or verify");
    expect_error({"frobnicate"}, 2,
                 "unknown command 'frobnicate'; expected run, bench, inspect, devices, quantize, "
                 "compile, convert");
    expect_error({"bnech", model}, 2, "unknown command 'bnech'; did you mean bench?");
    expect_error({"run", model, "--trheads", "2"}, 2,
                 "unknown option '--trheads'; did you mean --threads?");
    expect_error({"run", model, "--presision=int8"}, 2, "did you mean --precision?");
    expect_error({"run"}, 2, "MODEL is required");
    expect_error({"run", model, "--frobnicate"}, 2, "--frobnicate");
    expect_error({"run", model, model}, 2, model);
    expect_error({"run", model, "--threads"}, 2, "--threads");
    expect_error({"run", model, "--threads", "many"}, 2, "many");
    expect_error({"run", model, "--threads", "-1"}, 2, "-1");
    for (const std::string precision : {"fp8", "int4"})
        expect_error(
            {"run", model, "--precision", precision}, 2,
            "'" + precision + "': expected one of bf16, fp16, fp32, hybrid_int8, int8, uint8");
    expect_error({"bench", model, "--runs", "0"}, 2, "0 not in range");
    expect_error({"bench", model, "--threads", "1,x"}, 2, "x not in range");
}

TEST(Misuse, TheModelIsWrong)
{
    expect_error({"run", "no.onnx"}, 1, "no.onnx");
    expect_error({"bench", "no.onnx"}, 1, "no.onnx");
    expect_error({"inspect", data_file("digits.json")}, 1,
                 "digits.json' has an unknown model format: expected .onnx, .tflite or .tmfile; "
                 "read as ONNX: ");
}

TEST(Misuse, AnOptionDoesNotFitTheModel)
{
    const std::string model = data_file("digits.onnx");
    expect_error({"run", model, "--device", "NOPE"}, 1, "'NOPE'");
    expect_error({"run", model, "--input", "picture=a.npy"}, 1,
                 "--input 'picture=a.npy' names no input of the model: expected 'image'");
    expect_error({"run", model, "--shape", "picture=1x1x8x8"}, 1, "names no input");
    expect_error({"run", model, "--shape", "image"}, 1,
                 "invalid shape 'image': expected e.g. 1x3x224x224 or scalar");
    expect_error({"run", model, "--shape", "1x1x8x8", "--shape", "image=2x1x8x8"}, 1,
                 "--shape is given twice for the input 'image': '1x1x8x8' and '2x1x8x8'");
    expect_error({"run", model, "--shape", "image=1x-1"}, 1, "invalid shape '1x-1'");
    expect_error({"run", model, "--shape", "image=1x1x8x"}, 1, "invalid shape '1x1x8x'");
    expect_error({"run", model, "--shape", "image=99999x99999x9x9"}, 1, "bytes");
    expect_error({"run", model, "--shape", "image=2000000000x1x8x8"}, 1,
                 "the shape 2000000000x1x8x8 is too large: a tensor has at most 2147483647 bytes");
    expect_error({"run", model, "--shape", "image=99999999999x1x8x8"}, 1,
                 "invalid shape '99999999999x1x8x8': a dimension is at most 2147483647");
    expect_error({"run", model, "--shape", "image=1x2x8x8"}, 1, "Conv");
}

TEST(Misuse, AFileIsWrong)
{
    const std::string model = data_file("digits.onnx");
    const std::string folder = scratch_folder();
    expect_error({"run", model, "--input", "image=no.npy"}, 1, "'no.npy': cannot be opened");
    expect_error({"run", model, "--input", "image=no.png"}, 1, "'no.png': cannot be opened");
    expect_error({"run", model, "--input", "image=" + data_file("digits.json")}, 1, "digits.json");
    expect_error({"run", model, "--input", "image=" + data_file("heldout_labels.npy")}, 1,
                 "the model takes fp32");
    const std::string image = "image=" + data_file("digit_0_000.png");
    expect_error({"run", model, "--input", image, "--output", "/proc/none"}, 1,
                 "'/proc/none' cannot be created");
    expect_error({"bench", model, "--input", image, "--runs", "1", "--json", folder}, 1,
                 "' cannot be written: it is a folder, expected a file");
    expect_error(
        {"run", model, "--mean", "1,2", "--input", "image=" + data_file("digit_0_000.png")}, 1,
        "--mean has 2 numbers");
}

TEST(Misuse, HelpIsNoError)
{
    for (const char* command : {"run", "bench", "inspect", "devices"}) {
        const Finished finished = run({command, "--help"});
        EXPECT_EQ(finished.status, 0) << command;
        EXPECT_EQ(finished.errors, "") << command;
        EXPECT_THAT(finished.output, HasSubstr(std::string("tengine ") + command)) << command;
    }
    EXPECT_THAT(run({"--help"}).output, HasSubstr("devices"));
}

}  // namespace
}  // namespace tengine::program
