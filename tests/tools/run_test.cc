// SPDX-License-Identifier: Apache-2.0
// `tengine run` on the shipped network of digits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensor_file/tensor_file.h"
#include "tools/program.h"

namespace tengine::program {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

tools::Tensor only_output(const std::string& folder)
{
    return tools::read_tensor(folder + "/probabilities.npy");
}

size_t best_class(const tools::Tensor& probabilities)
{
    size_t best = 0;
    for (size_t i = 0; i < probabilities.element_number(); ++i) {
        if (tools::get_element(probabilities, i) > tools::get_element(probabilities, best))
            best = i;
    }
    return best;
}

TEST(RunCommand, PrintsInputsAndOutputs)
{
    const Finished finished = run({"run", data_file("digits.onnx"), "--shape", "1x1x8x8"});
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_EQ(finished.errors, "");
    EXPECT_THAT(finished.output, StartsWith("input   image  1x1x8x8  fp32\n  first "));
    EXPECT_THAT(finished.output, HasSubstr("output  probabilities  1x10  fp32\n  0."));
    EXPECT_THAT(finished.output, HasSubstr("  mean 0.1\n"));
}

TEST(RunCommand, TheSeedDeterminesTheInput)
{
    const std::string model = data_file("digits.onnx");
    const std::string first = run({"run", model, "--seed", "7"}).output;
    EXPECT_EQ(run({"run", model, "--seed", "7"}).output, first);
    EXPECT_NE(run({"run", model, "--seed", "8"}).output, first);
}

TEST(RunCommand, TakesAPictureAndWritesTheOutput)
{
    const std::string folder = scratch_folder() + "/made/here";
    const Finished finished = run({"run", "--input", "image=" + data_file("digit_3_003.png"),
                                   data_file("digits.onnx"), "--output", folder});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    const tools::Tensor probabilities = only_output(folder);
    EXPECT_EQ(probabilities.shape, (std::vector<int>{1, 10}));
    EXPECT_EQ(best_class(probabilities), 3u);
}

TEST(RunCommand, NpyAndPbInputsGiveTheSame)
{
    const std::string folder = scratch_folder();
    tools::Tensor image = tools::read_tensor(data_file("heldout_images.npy"));
    image.shape[0] = 1;
    image.bytes.resize(image.element_number() * sizeof(float));
    std::vector<tools::Tensor> outputs;
    for (const char* ending : {"npy", "pb"}) {
        const std::string file = folder + "/image." + ending;
        tools::write_tensor(file, image);
        const Finished finished = run({"run", data_file("digits.onnx"), "--input", "image=" + file,
                                       "--output", folder + "/" + ending});
        ASSERT_EQ(finished.status, 0) << finished.errors;
        outputs.push_back(only_output(folder + "/" + ending));
    }
    EXPECT_EQ(outputs[0].bytes, outputs[1].bytes);
}

TEST(RunCommand, AFileOfManyImagesIsABatch)
{
    const Finished finished = run(
        {"run", data_file("digits.onnx"), "--input", "image=" + data_file("heldout_images.npy")});
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.output, HasSubstr("output  probabilities  382x10  fp32\n"));
}

TEST(RunCommand, TheShapeOptionSetsTheBatch)
{
    const Finished finished =
        run({"run", data_file("digits.onnx"), "--shape", "image=5x1x8x8", "--threads", "2"});
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.output, HasSubstr("output  probabilities  5x10  fp32\n"));
}

}  // namespace
}  // namespace tengine::program
