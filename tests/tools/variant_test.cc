// SPDX-License-Identifier: Apache-2.0
// Targets of `tengine compile` that make variants, and their places in `inspect`. The model is a
// quantised one, whose bytes all devices compute alike.
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tensor_file/tensor_file.h"
#include "tools/program.h"

namespace tengine::program {
namespace {

using nlohmann::json;
using testing::EndsWith;
using testing::HasSubstr;

class Variants : public testing::Test
{
  protected:
    void SetUp() override
    {
        const Finished finished =
            run({"quantize", data_file("digits.onnx"), "--random", "4", "-o", quantised_});
        ASSERT_EQ(finished.status, 0) << finished.errors;
    }

    Finished compile(const std::string& model, const std::vector<std::string>& targets,
                     std::vector<std::string> more = {}) const
    {
        std::vector<std::string> words = {"compile", model,      "-o",
                                          file_,     "--option", "split.prune=0"};
        for (const std::string& target : targets)
            words.insert(words.end(), {"--target", target});
        words.insert(words.end(), more.begin(), more.end());
        return run(words);
    }

    json inspect(std::vector<std::string> more = {}) const
    {
        more.insert(more.begin(), {"inspect", file_, "--json", "-"});
        const Finished finished = run(more);
        EXPECT_EQ(finished.status, 0) << finished.errors;
        return json::parse(finished.output);
    }

    static std::string taken(const json& report)
    {
        std::string names;
        for (const json& variant : report["variants"])
            if (variant["taken"]) names += variant["name"].get<std::string>();
        return names;
    }

    static std::string origin(const json& report, const std::string& device)
    {
        for (const json& part : report["parts"])
            if (part["device"] == device) return part["origin"];
        return "no part";
    }

    static std::string results(const std::string& model, const std::string& folder,
                               std::vector<std::string> more = {})
    {
        more.insert(more.begin(), {"run", model, "--seed", "3", "--output", folder});
        const Finished finished = run(more);
        EXPECT_EQ(finished.status, 0) << finished.errors;
        return tools::read_file(folder + "/probabilities.npy");
    }

    const std::string folder_ = scratch_folder();
    const std::string quantised_ = folder_ + "/digits_int8.onnx";
    const std::string file_ = folder_ + "/net.tmfile";
};

const char* const kEdge = "name=edge,device=TPU,chip=edge,precision=int8,TPU.config=edge";
const char* const kScale = "name=scale,device=TPU,precision=int8,TPU.config=scale32";
const char* const kHost = "device=CPU,precision=int8";

TEST_F(Variants, EachProcessTakesItsOwn)
{
    const Finished finished = compile(quantised_, {kEdge, kScale, kHost});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    const std::string wanted = results(quantised_, folder_);

    json report = inspect();
    EXPECT_EQ(taken(report), "CPU-int8");
    EXPECT_EQ(report["variants"][0]["reason"], "device TPU is not in the context");
    EXPECT_EQ(results(file_, folder_), wanted);

    report = inspect({"--device", "TPU"});
    EXPECT_EQ(taken(report), "edge");
    EXPECT_EQ(origin(report, "TPU"), "model");
    EXPECT_EQ(report["variants"][1]["reason"],
              "its options are for chip 'scale32', TPU has 'edge'");
    EXPECT_EQ(report["variants"][2]["reason"], "it fits, variant 'edge' comes first");
    EXPECT_EQ(results(file_, folder_, {"--device", "TPU"}), wanted);

    const std::vector<std::string> scale = {"--device", "TPU", "--option", "TPU.config=scale32"};
    report = inspect(scale);
    EXPECT_EQ(taken(report), "scale");
    EXPECT_EQ(origin(report, "TPU"), "model");
    EXPECT_EQ(results(file_, folder_, scale), wanted);

    report = inspect({"--device", "TPU", "--precision", "bf16"});
    EXPECT_EQ(taken(report), "");
    EXPECT_EQ(report["variants"][0]["reason"], "precision int8, the run has bf16");
    EXPECT_THAT(run({"inspect", file_, "--device", "TPU"}).output,
                HasSubstr("taken: the best one that fits"));
}

TEST_F(Variants, EachHasThePartsOfAllBuckets)
{
    const Finished finished = compile(quantised_, {kEdge, kHost},
                                      {"--bucket", "image=4x1x8x8", "--bucket", "image=2x1x8x8"});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    for (const char* shape : {"1x1x8x8", "2x1x8x8", "3x1x8x8", "4x1x8x8"}) {
        SCOPED_TRACE(shape);
        const std::string wanted = results(quantised_, folder_, {"--shape", shape});
        for (const std::string device : {"CPU", "TPU"}) {
            const std::vector<std::string> process = {"--device", device, "--shape", shape};
            const json report = inspect(process);
            EXPECT_EQ(taken(report), device == "CPU" ? "CPU-int8" : "edge");
            EXPECT_EQ(origin(report, device), "model");
            EXPECT_EQ(report["buckets"]["used"], *shape > '2' ? 0 : 1);
            EXPECT_EQ(results(file_, folder_, process), wanted);
        }
    }
}

TEST_F(Variants, FilesAreCompiledAgain)
{
    ASSERT_EQ(compile(quantised_, {kEdge}).status, 0);
    // The same for another shape.
    Finished finished = compile(file_, {kEdge}, {"--shape", "image=2x1x8x8"});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.output, EndsWith("written: compiled parts: 2, new: 1\n"));
    for (const char* shape : {"image=1x1x8x8", "image=2x1x8x8"})
        EXPECT_EQ(origin(inspect({"--device", "TPU", "--shape", shape}), "TPU"), "model");
    EXPECT_EQ(inspect()["variants"][0]["parts"], 2);
    // Another one of its name.
    finished = compile(file_, {"name=edge,device=TPU,precision=int8,TPU.config=scale32"});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    json report = inspect();
    ASSERT_EQ(report["variants"].size(), 1u);
    EXPECT_EQ(report["variants"][0]["options"], "TPU.config=scale32,split.prune=0");
    EXPECT_EQ(report["variants"][0]["parts"], 1);
    EXPECT_EQ(report["compiled_parts"].size(), 1u);
    // Another one.
    ASSERT_EQ(compile(file_, {kHost}).status, 0);
    EXPECT_EQ(inspect()["variants"].size(), 2u);
    ASSERT_EQ(run({"convert", file_, folder_ + "/copy.tmfile"}).status, 0);
    const Finished copy = run({"inspect", folder_ + "/copy.tmfile", "--json", "-"});
    EXPECT_EQ(json::parse(copy.output)["variants"].size(), 2u);
}

// Options that write files are the program's, whatever the file says.
TEST_F(Variants, AFileSetsNoPaths)
{
    const std::string programs = folder_ + "/programs";
    std::filesystem::create_directory(programs);
    ASSERT_EQ(compile(quantised_, {kHost}).status, 0);
    const Finished finished =
        compile(file_, {"name=writer,device=TPU,precision=int8,TPU.save_program=" + programs});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_FALSE(std::filesystem::is_empty(programs));
    std::filesystem::remove_all(programs);
    std::filesystem::create_directory(programs);
    const json report = inspect({"--device", "TPU"});
    EXPECT_EQ(taken(report), "CPU-int8");
    EXPECT_EQ(report["variants"][1]["reason"],
              "option TPU.save_program: a file may not set it to '" + programs.substr(0, 60) +
                  "', the program has to");
    EXPECT_TRUE(std::filesystem::is_empty(programs));
}

TEST_F(Variants, WrongTargets)
{
    Finished finished = compile(quantised_, {"device=TPU,soc=A1"});
    EXPECT_NE(finished.status, 0);
    EXPECT_THAT(finished.errors,
                HasSubstr("unknown key 'soc': expected an option, or name, device, chip"));
    finished = compile(quantised_, {"device="});
    EXPECT_THAT(finished.errors, HasSubstr("'device' has no value"));
    finished = compile(quantised_, {"edge"});
    EXPECT_THAT(finished.errors, HasSubstr("expected KEY=VALUE"));
    finished = compile(quantised_, {"device=CPU,precision=int7"});
    EXPECT_THAT(finished.errors, HasSubstr("invalid --precision 'int7'"));
    finished = compile(quantised_, {"device=NONE,precision=int8"});
    EXPECT_THAT(finished.errors, HasSubstr("--device NONE"));
    ASSERT_EQ(compile(quantised_, {kHost}).status, 0);
    finished = run({"run", file_, "--option", "model.variant=edge"});
    EXPECT_THAT(finished.errors, HasSubstr("the model has no variant 'edge': expected CPU-int8"));
}

}  // namespace
}  // namespace tengine::program
