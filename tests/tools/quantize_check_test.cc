// SPDX-License-Identifier: Apache-2.0
// The checks of `tengine quantize` before its work, and the accuracy by labels.
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tensor_file/tensor_file.h"
#include "tools/heldout_images.h"
#include "tools/program.h"

namespace tengine::program {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class QuantizeCheck : public testing::Test
{
  protected:
    // Expects one line, and no written file.
    void expect_refusal(std::vector<std::string> words, const std::string& message)
    {
        words.insert(words.begin(), "quantize");
        const Finished finished = run(words);
        EXPECT_NE(finished.status, 0);
        EXPECT_THAT(finished.errors, HasSubstr(message));
        EXPECT_FALSE(std::filesystem::exists(out_));
    }
    double accuracy(const std::string& model)
    {
        const Finished finished =
            run({"run", model, "--input", data_file("heldout_images.npy"), "--output", folder_});
        EXPECT_EQ(finished.status, 0) << finished.errors;
        return 100.0 * count_right(tools::read_tensor(folder_ + "/probabilities.npy")) /
               kHeldoutImages;
    }
    std::string write_text(const std::string& name, const std::string& text)
    {
        std::ofstream(folder_ + "/" + name) << text;
        return folder_ + "/" + name;
    }

    std::string model_ = data_file("digits.onnx");
    std::string folder_ = scratch_folder();
    std::string out_ = folder_ + "/quantized.onnx";
};

// The model does not exist: nothing has been read when these errors are reported.
TEST_F(QuantizeCheck, EveryOutputIsCheckedBeforeTheWork)
{
    for (const char* option : {"--output", "--table", "--json"}) {
        std::vector<std::string> words = {"no.onnx", "--random", "1", option};
        if (option != std::string("--output")) words.insert(words.end() - 1, {"-o", out_});
        words.push_back("/nowhere/file");
        expect_refusal(words,
                       std::string(option) +
                           " '/nowhere/file' cannot be written: folder '/nowhere' does not exist");
        words.back() = folder_;
        expect_refusal(words, "it is a folder");
        words.back() = "/dev/null";
        expect_refusal(words, "it is a pipe or a device");
    }
}

TEST_F(QuantizeCheck, WhatMayNotBeWrittenIsTold)
{
    if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
    const std::string file = write_text("old.table", "");
    std::filesystem::permissions(file, std::filesystem::perms::owner_read);
    expect_refusal({"no.onnx", "--random", "1", "--table", file},
                   "no permission to write to folder");
}

TEST_F(QuantizeCheck, SamplesComeFromOnePlace)
{
    expect_refusal({model_, "-o", out_}, "--data or --random is required");
    expect_refusal({model_, "-o", out_, "--data", folder_, "--random", "2"},
                   "--data excludes --random");
}

TEST_F(QuantizeCheck, AQuantisedModelIsRefused)
{
    const std::string once = folder_ + "/once.onnx";
    ASSERT_EQ(run({"quantize", model_, "--random", "2", "-o", once}).status, 0);
    expect_refusal({once, "--random", "2", "-o", out_}, "the model is quantised already: ");
    expect_refusal({once, "--random", "2", "-o", out_}, "give the float model it was made from");
}

TEST_F(QuantizeCheck, LabelsGiveTheAccuracyOfBothModels)
{
    const std::string images = write_heldout_images(folder_, kHeldoutImages);
    const Finished finished =
        run({"quantize", model_, "--data", images, "--labels", data_file("heldout_labels.npy"),
             "-o", out_, "--json", folder_ + "/report.json"});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.output, HasSubstr(" % in int8, of 382 labels\n"));
    const json report = json::parse(tools::read_file(folder_ + "/report.json"))["accuracy"];
    EXPECT_EQ(report["labels"], kHeldoutImages);
    EXPECT_NEAR(report["float_percent"].get<double>(), accuracy(model_), 1e-9);
    // The file computes in float between its pairs, as the comparison did.
    EXPECT_NEAR(report["int8_percent"].get<double>(), accuracy(out_), 1e-9);
}

TEST_F(QuantizeCheck, LabelsThatFitNoSampleAreRefused)
{
    const std::string images = write_heldout_images(folder_, 4);
    const std::vector<std::string> common = {model_, "--data", images, "-o", out_, "--labels"};
    const auto refusal = [&](const std::string& labels, const std::string& message) {
        std::vector<std::string> words = common;
        words.push_back(labels);
        expect_refusal(words, message);
    };
    refusal(data_file("heldout_labels.npy"), "382 labels for 4 samples");
    refusal(write_text("words.txt", "1\ntwo\n3\n4\n"),
            "line 2: invalid label 'two': expected one number");
    refusal(write_text("empty.txt", ""), "0 labels for 4 samples");
    refusal(write_text("eight.txt", "1\n2\n3\n4\n5\n6\n7\n8\n"), "8 labels for 4 rows of scores");
    refusal(folder_ + "/none.txt", "none.txt");
    expect_refusal({model_, "--random", "4", "-o", out_, "--labels", "x"},
                   "--labels cannot be combined with --random");
}

}  // namespace
}  // namespace tengine::program
