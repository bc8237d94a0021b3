// SPDX-License-Identifier: Apache-2.0
// Output of `tengine` is complete and consistent: related figures agree, and a command that cannot
// work names a remedy.
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tensor_file/tensor_file.h"
#include "tools/accelerated_run.h"
#include "tools/program.h"
#include "tools/quantize_model.h"

namespace tengine::program {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// With TG_DUMP=`pass` in the environment.
Finished run_dumping(const std::string& pass, const std::vector<std::string>& words)
{
    setenv("TG_DUMP", pass.c_str(), 1);
    Finished finished = run(words);
    unsetenv("TG_DUMP");
    return finished;
}

TEST(Hint, NodesAreCountedTheSameEverywhere)
{
    const std::string model = data_file("digits.onnx");
    EXPECT_THAT(run({"inspect", model}).output, HasSubstr("\n21 nodes by operator"));
    EXPECT_THAT(run({"inspect", model, "--affinity", "none*=CPU"}).errors,
                HasSubstr("none of the 21 nodes of 'digits' matches 'none*'"));
}

TEST(Hint, AnUnknownPassToDumpListsThoseThereAre)
{
    const std::vector<std::string> words = {"inspect", data_file("digits.onnx")};
    const Finished finished = run_dumping("splitt", words);
    EXPECT_EQ(finished.status, 0);
    EXPECT_THAT(finished.errors, HasSubstr("TG_DUMP: invalid pass 'splitt': expected one of "));
    EXPECT_THAT(finished.errors, HasSubstr(" split, "));
    EXPECT_EQ(std::count(finished.errors.begin(), finished.errors.end(), '\n'), 1);
    EXPECT_EQ(run(words).errors, "");
}

// The passes of a run are dumped in a run, those of a file in a conversion to its format, those of
// a quantised model there.
TEST(Hint, EveryListedPassCanBeDumped)
{
    const std::string model = data_file("digits.onnx");
    const std::string list = run_dumping("?", {"inspect", model}).errors;
    const std::string file = scratch_folder() + "/digits.tmfile";
    const std::string older = scratch_folder() + "/digits.onnx";
    const std::string tflite = scratch_folder() + "/digits.tflite";
    const std::vector<std::string> quantize = {"quantize", model, "--random", "1", "-o", file};
    std::istringstream names(list.substr(list.find("expected one of ") + 16));
    int number = 0;
    for (std::string name; std::getline(names, name, ',');) {
        name.erase(0, name.find_first_not_of(' '));
        if (name.compare(0, 3, "or ") == 0) break;
        const std::string shown = run_dumping(name, {"inspect", model}).errors +
                                  run_dumping(name, {"convert", model, file}).errors +
                                  run_dumping(name, {"convert", file, older}).errors +
                                  run_dumping(name, {"convert", model, tflite}).errors +
                                  run_dumping(name, quantize).errors;
        EXPECT_THAT(shown, HasSubstr("before pass '" + name + "'"));
        EXPECT_THAT(shown, Not(HasSubstr("invalid pass"))) << name;
        ++number;
    }
    EXPECT_GE(number, 15);
}

TEST(Hint, OneReasonForAllNodesIsToldOnce)
{
    const std::string text = run({"inspect", data_file("digits.onnx")}).output;
    EXPECT_THAT(text, HasSubstr("\nreason: first device in the list that takes it (all nodes)\n"));
    EXPECT_EQ(text.find("first device in the list"), text.rfind("first device in the list"));
}

// Computes x + x; numbers of fp16 end at 65504.
TEST(Hint, ResultsBeyondFp16SayWhatHasTheirRange)
{
    ModelMaker maker({2});
    maker.node("Add", {"x", "x"}, "y");
    const std::string folder = scratch_folder(), model = maker.write(folder);
    tools::Tensor x = tools::make_tensor(TENGINE_DT_FP32, {2});
    tools::set_element(&x, 0, 40000);
    const std::string input = folder + "/x.npy";
    tools::write_tensor(input, x);
    const Finished finished = run({"run", model, "--input", input, "--precision", "fp16"});
    EXPECT_EQ(finished.status, 0);
    EXPECT_THAT(finished.errors,
                AllOf(HasSubstr("output 'y' is not finite"), HasSubstr("--precision bf16"),
                      HasSubstr("precision.keep_float=")));
    for (const char* precision : {"fp32", "bf16"})
        EXPECT_EQ(run({"run", model, "--input", input, "--precision", precision}).errors, "");
    tools::set_element(&x, 0, 4);
    tools::write_tensor(input, x);
    EXPECT_EQ(run({"run", model, "--input", input, "--precision", "fp16"}).errors, "");
}

// Such as a sampling rate, which a model compares with those that it supports.
TEST(Hint, AFailureAfterRandomWholeNumbersSaysThatTheyWere)
{
    ModelMaker maker({2, 3});
    maker.add_input("shape", {1});
    auto* type = maker.model.mutable_graph()->mutable_input(1)->mutable_type();
    type->mutable_tensor_type()->set_elem_type(::onnx::TensorProto::INT64);
    maker.node("Reshape", {"x", "shape"}, "y");
    const std::string model = maker.write(scratch_folder());
    for (const char* command : {"run", "bench"}) {
        const Finished finished = run({command, model});
        EXPECT_EQ(finished.status, 1);
        EXPECT_THAT(finished.errors, HasSubstr("; 'shape' had random numbers: give real ones with "
                                               "--input NAME=FILE\n"));
    }
}

class AcceleratorHint : public testing::Test
{
  protected:
    void SetUp() override
    {
        if (!has_accelerator()) GTEST_SKIP() << "this build has no " << kAccelerator;
        const Finished made =
            run({"quantize", data_file("digits.onnx"), "--random", "4", "-o", model_});
        ASSERT_EQ(made.status, 0) << made.errors;
    }
    std::string model_ = scratch_folder() + "/digits_int8.onnx";
};

TEST_F(AcceleratorHint, AQuantisedModelWithoutThePrecision)
{
    const Finished plain = run({"run", model_, "--device", kAccelerator});
    EXPECT_EQ(plain.status, 0) << plain.errors;
    EXPECT_THAT(plain.errors, HasSubstr("is quantised, but runs in float, which TPU does not"));
    EXPECT_THAT(plain.errors, HasSubstr("`--precision int8`"));
    const Finished wanted = run({"run", model_, "--device", kAccelerator, "--precision", "int8"});
    EXPECT_THAT(wanted.errors, Not(HasSubstr("runs in float")));
    EXPECT_EQ(run({"run", model_, "--shape", "image=1x1x8x8"}).errors, "")
        << "no other device: nothing to hint at";
}

TEST_F(AcceleratorHint, ArenasAddUp)
{
    const json memory = json::parse(run({"inspect", model_, "--device", kAccelerator, "--precision",
                                         "int8", "--option", "split.prune=0", "--json", "-"})
                                        .output)["memory"];
    int64_t sum = memory["borders"];
    for (const json& device : memory["devices"])
        sum += device["arena"].get<int64_t>();
    EXPECT_EQ(memory["arena"], sum) << memory;
}

}  // namespace
}  // namespace tengine::program
