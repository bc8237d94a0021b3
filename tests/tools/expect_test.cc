// SPDX-License-Identifier: Apache-2.0
// `tengine run --expect`, `--labels` and `--top`, and the comparison itself.
#include <cmath>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "expectation.h"
#include "tengine/c_api.h"
#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"
#include "tools/program.h"

namespace tengine::program {
namespace {

using testing::HasSubstr;
using testing::Not;
using tools::Tensor;

Tensor floats(const std::vector<double>& values)
{
    Tensor tensor = tools::make_tensor(TENGINE_DT_FP32, {1, static_cast<int64_t>(values.size())});
    for (size_t i = 0; i < values.size(); ++i)
        tools::set_element(&tensor, i, values[i]);
    return tensor;
}

TEST(Comparison, TellsTheLargestDifferenceAndWhereItIs)
{
    const tools::Match close = compare(floats({1, 2.001, 3}), floats({1, 2, 3}), {1e-3, 0});
    EXPECT_TRUE(close.agrees);
    EXPECT_THAT(close.text, HasSubstr("at [0,1]: 2.001, expected 2"));
    const tools::Match far = compare(floats({1, 2.5, 4}), floats({1, 2, 3}), {1e-3, 0});
    EXPECT_FALSE(far.agrees);
    EXPECT_THAT(far.text,
                HasSubstr("2 of 3 numbers differ, the largest difference is 1 at [0,2]: 4, "
                          "expected 3"));
    EXPECT_EQ(compare(floats({1}), floats({1}), {}).text, "no difference");
}

TEST(Comparison, InfinityAndNanAgreeOnlyWithThemselves)
{
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_TRUE(compare(floats({infinity, NAN}), floats({infinity, NAN}), {}).agrees);
    for (const double other : {-infinity, 1.0, static_cast<double>(NAN)})
        EXPECT_FALSE(compare(floats({other}), floats({infinity}), {1, 1}).agrees) << other;
    EXPECT_FALSE(compare(floats({1}), floats({NAN}), {1, 1}).agrees);
    EXPECT_FALSE(compare(floats({infinity}), floats({1}), {1, 1}).agrees);
}

TEST(Comparison, IntegersAreExact)
{
    Tensor a = tools::make_tensor(TENGINE_DT_INT64, {1});
    Tensor b = a;
    const int64_t values[] = {(int64_t{1} << 60) + 1, int64_t{1} << 60};
    std::copy_n(reinterpret_cast<const std::byte*>(&values[0]), 8, a.bytes.begin());
    std::copy_n(reinterpret_cast<const std::byte*>(&values[1]), 8, b.bytes.begin());
    const tools::Tolerance none = tools::usual_tolerance(TENGINE_DT_INT64, TENGINE_MODE_FP32);
    EXPECT_TRUE(compare(a, a, none).agrees);
    EXPECT_FALSE(compare(a, b, none).agrees);
}

TEST(Comparison, ComplexNumbersDifferByTheirDistance)
{
    Tensor a = tools::make_tensor(TENGINE_DT_COMPLEX64, {2});
    const float parts[] = {0, 0, 3, 4};
    std::memcpy(a.bytes.data(), parts, sizeof parts);
    const Tensor b = tools::make_tensor(TENGINE_DT_COMPLEX128, {2});
    EXPECT_TRUE(compare(a, a, {}).agrees);
    EXPECT_TRUE(compare(a, b, {0, 5}).agrees);
    const tools::Match differing = compare(a, b, {0, 4});
    EXPECT_FALSE(differing.agrees);
    EXPECT_THAT(differing.text, HasSubstr("largest difference is 5 at [1]: 3+4i, expected 0+0i"));
    EXPECT_EQ(compare(a, tools::make_tensor(TENGINE_DT_FP32, {2}), {}).text,
              "its type is complex64, expected fp32");
    EXPECT_EQ(tools::usual_tolerance(TENGINE_DT_COMPLEX64, TENGINE_MODE_FP32).relative, 1e-3);
}

TEST(Comparison, TypeAndShapeCount)
{
    Tensor integers = tools::make_tensor(TENGINE_DT_INT32, {1, 1});
    EXPECT_EQ(compare(floats({1}), integers, {}).text, "its type is fp32, expected int32");
    EXPECT_EQ(compare(floats({1}), floats({1, 2}), {}).text, "its shape is 1x1, expected 1x2");
    Tensor wide = tools::make_tensor(TENGINE_DT_FP64, {1, 1});
    EXPECT_TRUE(compare(floats({0}), wide, {}).agrees);
}

TEST(Comparison, TolerancesAreNumbers)
{
    EXPECT_EQ(tools::parse_tolerance("0.5").absolute, 0.5);
    EXPECT_EQ(tools::parse_tolerance("0.5,0.25").relative, 0.5);
    EXPECT_EQ(tools::parse_tolerance("0.5,0.25").absolute, 0.25);
    for (const char* text : {"", "x", "-1", "1,", ",1", "nan", "inf", "1 2"})
        EXPECT_THROW(tools::parse_tolerance(text), tools::Failure) << text;
}

class Expect : public testing::Test
{
  protected:
    void SetUp() override
    {
        const Finished finished = run(with({"--output", folder_}));
        ASSERT_EQ(finished.status, 0) << finished.errors;
        output_ = tools::read_tensor(file_);
    }

    static std::vector<std::string> with(std::vector<std::string> more)
    {
        more.insert(more.begin(),
                    {"run", data_file("digits.onnx"), "--input", data_file("digit_3_003.png")});
        return more;
    }

    // Writes the output with its largest number, which is element 3, changed by `difference`.
    std::string write_changed(double difference) const
    {
        Tensor changed = output_;
        tools::set_element(&changed, 3, tools::get_element(changed, 3) + difference);
        const std::string file = folder_ + "/changed.npy";
        tools::write_tensor(file, changed);
        return file;
    }

    std::string folder_ = scratch_folder();
    std::string file_ = folder_ + "/probabilities.npy";
    Tensor output_;
};

TEST_F(Expect, WhatAgreesIsSaid)
{
    const Finished same = run(with({"--expect", "probabilities=" + file_}));
    EXPECT_EQ(same.status, 0) << same.errors;
    EXPECT_THAT(same.output, HasSubstr("agrees  probabilities  no difference\n"));
    const Finished close = run(with({"--expect", write_changed(std::ldexp(1, -17))}));
    EXPECT_EQ(close.status, 0) << close.errors;
    EXPECT_THAT(close.output,
                HasSubstr("agrees  probabilities  largest difference 7.62939e-06 at [0,3]"));
}

TEST_F(Expect, WhatDiffersEndsWithStatusOne)
{
    const std::string changed = write_changed(std::ldexp(1, -7));
    for (const char* json : {"", "-"}) {
        std::vector<std::string> words = with({"--expect", changed});
        if (json[0] != '\0') words.insert(words.end(), {"--json", json});
        const Finished finished = run(words);
        EXPECT_EQ(finished.status, 1);
        EXPECT_THAT(finished.errors, HasSubstr("output 'probabilities' differs from '" + changed));
        EXPECT_THAT(
            finished.errors,
            HasSubstr("1 of 10 numbers differ, the largest difference is 0.0078125 at [0,3]"));
        EXPECT_THAT(finished.output, Not(HasSubstr("agrees")));
    }
    EXPECT_EQ(run(with({"--expect", changed, "--tolerance", "0.1"})).status, 0);
    EXPECT_EQ(run(with({"--expect", changed, "--tolerance", "0,0.02"})).status, 0);
    EXPECT_EQ(run(with({"--expect", changed, "--tolerance", "0.001"})).status, 1);
}

TEST_F(Expect, WhatIsWrongIsSaid)
{
    EXPECT_THAT(run(with({"--expect", "y=" + file_})).errors,
                HasSubstr("--expect 'y=" + file_ +
                          "' names no output of the model: expected 'probabilities'"));
    EXPECT_THAT(run(with({"--expect", file_, "--tolerance", "little"})).errors,
                HasSubstr("invalid --tolerance 'little': expected RELATIVE[,ABSOLUTE]"));
    EXPECT_THAT(run(with({"--tolerance", "0.1"})).errors,
                HasSubstr("--tolerance requires --expect"));
}

TEST_F(Expect, TheLargestHaveLabels)
{
    const std::string labels = folder_ + "/labels.txt";
    tools::write_file(labels, "zero\none\ntwo\nthree\r\nfour\nfive\nsix\nseven\neight\nnine\n");
    const Finished finished = run(with({"--labels", labels, "--top", "2"}));
    EXPECT_EQ(finished.status, 0) << finished.errors;
    const size_t begin = finished.output.find("  top ");
    ASSERT_NE(begin, std::string::npos);
    const std::string table = finished.output.substr(begin);
    EXPECT_THAT(table, testing::ContainsRegex("^  top +value  label\n    3 +0\\.9[0-9]+  three\n"));
    EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 3);

    tools::write_file(labels, "zero\none\n");
    EXPECT_THAT(run(with({"--labels", labels})).errors,
                HasSubstr("has 2 labels, the output 'probabilities' has 10 numbers"));
    EXPECT_THAT(run({"run", data_file("digits.onnx"), "--shape", "2x1x8x8", "--top", "2"}).errors,
                HasSubstr("--labels and --top need an output that is one row"));
}

}  // namespace
}  // namespace tengine::program
