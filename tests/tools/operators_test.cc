// SPDX-License-Identifier: Apache-2.0
// `tengine inspect --operators`: the operators that a library for one model needs.
// tests/integration/minimal tests that such a library suffices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

#include "tools/program.h"

namespace tengine::program {
namespace {

std::vector<std::string> lines(const std::string& text)
{
    std::vector<std::string> found;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        found.push_back(line);
    return found;
}

TEST(OperatorList, HasWhatTheModelAndItsPreparationHave)
{
    const Finished finished = run({"inspect", "--operators", data_file("digits.onnx")});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    // Batch normalisations are merged into convolutions; nevertheless the library needs them.
    EXPECT_THAT(lines(finished.output),
                testing::UnorderedElementsAre("Add", "BatchNormalization", "Conv", "Flatten",
                                              "Gemm", "GlobalAveragePool", "MaxPool", "Relu",
                                              "Softmax", "tengine.InputOp"));
}

TEST(OperatorList, HasBothDialectsOfATmfile)
{
    const std::string model = scratch_folder() + "/digits.tmfile";
    ASSERT_EQ(run({"convert", data_file("digits.onnx"), model}).status, 0);
    const Finished finished = run({"inspect", "--operators", model});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(lines(finished.output),
                testing::IsSupersetOf({"tengine.Convolution", "Conv", "tengine.Pooling", "MaxPool",
                                       "tengine.Const", "tengine.InputOp"}));
}

}  // namespace
}  // namespace tengine::program
