// SPDX-License-Identifier: Apache-2.0
// The shipped network in integers and in bf16 on the accelerator, as a user runs it: the number of
// held-out images that it still reads, the device of each node, and that the CPU gives the same
// bytes.
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/accelerated_run.h"
#include "tools/heldout_images.h"
#include "tools/program.h"

namespace tengine::program {
namespace {

using testing::HasSubstr;

class PrecisionDigits : public testing::Test
{
  protected:
    void SetUp() override
    {
        if (!has_accelerator()) GTEST_SKIP() << "this build has no device " << kAccelerator;
    }

    ModelResult run_in_float() { return run_model(model_, folder_, {"--input", images_}); }

    ModelResult run_accelerated(const std::string& model, std::vector<std::string> more)
    {
        more.insert(more.end(), {"--input", images_});
        return run_both_ways(model, folder_, more);
    }

    // Returns the percentage of held-out images that are read correctly.
    static double accuracy(const ModelResult& result)
    {
        return 100.0 * count_right(result.output) / kHeldoutImages;
    }

    static double probability(const ModelResult& result, size_t i)
    {
        return tools::get_element(result.output, i);
    }

    std::string model_ = data_file("digits.onnx");
    std::string images_ = data_file("heldout_images.npy");
    std::string folder_ = scratch_folder();
};

class PrecisionDigitsInteger : public PrecisionDigits,
                               public testing::WithParamInterface<const char*>
{
};

TEST_P(PrecisionDigitsInteger, TheShippedTableKeepsTheAccuracy)
{
    const std::string table = "precision.table=" + data_file("digits.table");
    const ModelResult result =
        run_accelerated(model_, {"--precision", GetParam(), "--option", table});
    EXPECT_NEAR(accuracy(result), accuracy(run_in_float()), 0.5);
}

TEST_P(PrecisionDigitsInteger, AQuantisedModelKeepsTheAccuracy)
{
    const std::string quantized = folder_ + "/quantized.onnx";
    const Finished finished = run({"quantize", model_, "--random", "50", "-o", quantized});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    const ModelResult result = run_accelerated(quantized, {"--precision", GetParam()});
    EXPECT_NEAR(accuracy(result), accuracy(run_in_float()), 0.5);
}

INSTANTIATE_TEST_SUITE_P(Types, PrecisionDigitsInteger, testing::Values("int8", "uint8"));

// Weights and results are rounded, in seven layers and the sum in the block: sixteen consecutive
// roundings, each by at most 2^-8 of the value. The roundings are independent, so that together
// they amount to sqrt(16) * 2^-8 of the logits, which span about 8: 1/8, as much in the logarithm
// of a probability. The softmax is rounded once more. The accelerator has the bits of the CPU's
// plain kernels; its fast ones sum in another order.
TEST_F(PrecisionDigits, Bf16StaysWithinItsRoundings)
{
    const ModelResult exact = run_in_float();
    const ModelResult accelerated = run_accelerated(
        model_,
        {"--precision", "bf16", "--option", "CPU.kernels=reference", "--option", "split.prune=0"});
    const ModelResult fast =
        run_model(model_, folder_, {"--input", images_, "--precision", "bf16"});
    const double bound = 1.0 / 8 + 1.0 / 256;
    for (const ModelResult* rounded : {&accelerated, &fast}) {
        EXPECT_NEAR(accuracy(*rounded), accuracy(exact), 0.5);
        for (size_t i = 0; i < exact.output.element_number(); ++i)
            ASSERT_NEAR(std::log(probability(*rounded, i)), std::log(probability(exact, i)), bound)
                << i;
    }
}

// The first attempt of a new user.
TEST_F(PrecisionDigits, WithoutATableTheErrorSaysWhatToDo)
{
    std::vector<std::string> words = {"run",   model_,     "--input",
                                      images_, "--device", std::string(kAccelerator) + ",CPU"};
    words.insert(words.end(), {"--precision", "int8"});
    const Finished refused = run(words);
    EXPECT_EQ(refused.status, 1);
    EXPECT_THAT(refused.errors, HasSubstr("cannot run in int8: nothing that it computes has a"));
    EXPECT_THAT(refused.errors, HasSubstr("precision.table"));
    words.insert(words.end(), {"--option", "precision.float=allow"});
    const Finished allowed = run(words);
    EXPECT_EQ(allowed.status, 0);
    EXPECT_THAT(allowed.errors, HasSubstr("runs in float, not int8"));
}

}  // namespace
}  // namespace tengine::program
