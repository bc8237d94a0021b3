// SPDX-License-Identifier: Apache-2.0
// Operators that models have in several nodes (optimizer/recognise), in the commands that write
// files: compiled ahead of time, kept in a folder, converted.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tools/accelerated_run.h"
#include "tools/program.h"
#include "tools/recognised_model.h"

namespace tengine::program {
namespace {

using Words = std::vector<std::string>;

const Words kOnWhole = {"--plugin", WHOLE_DEVICE, "--device", "WHOLE", "--option", "split.prune=0"};

// The bound of an error is 16 units of the precision, relative to the largest value: values are
// rounded in up to a dozen nodes, and then summed over eight products.
struct Precision
{
    const char* name;
    double bound;
};

const Precision kPrecisions[] = {
    {"fp32", 16 * 0x1p-24}, {"fp16", 16 * 0x1p-11}, {"bf16", 16 * 0x1p-8}};

class Recognised : public testing::TestWithParam<RecognisedModel>
{
  protected:
    Recognised() { setenv("WHOLE_PARTS", parts_.c_str(), 1); }
    ~Recognised() override { unsetenv("WHOLE_PARTS"); }

    std::string path(const std::string& name) const { return folder_ + "/" + name; }

    // The CPU computes the nodes of an attention.
    bool is_of_cpu() const { return std::string(GetParam().op) != "Attention"; }

    static Words join(Words words, const Words& more)
    {
        words.insert(words.end(), more.begin(), more.end());
        return words;
    }

    static void do_or_fail(const Words& words)
    {
        const Finished finished = run(words);
        ASSERT_EQ(finished.status, 0) << finished.errors;
    }

    ModelResult compute(const std::string& model, const Words& more) const
    {
        return run_model(model, folder_, join(more, {"--seed", "7"}));
    }

    // The device of the operator, which stands for the node z; "" where there is none.
    static std::string place(const ModelResult& result)
    {
        for (const auto& node : result.report["nodes"])
            if (node["op"] == GetParam().op && node["name"] == "z") return node["device"];
        return "";
    }

    static std::string origin(const ModelResult& result, const std::string& device)
    {
        for (const auto& part : result.report["parts"])
            if (part["device"] == device) return part["origin"];
        return "no part";
    }

    // The lines that WHOLE has written since the last call.
    std::string read_parts() const
    {
        const std::string text =
            std::filesystem::exists(parts_) ? tools::read_file(parts_) : std::string();
        std::filesystem::remove(parts_);
        return text;
    }

    static void expect_near(const ModelResult& found, const ModelResult& expected, double bound)
    {
        ASSERT_EQ(found.output.shape, expected.output.shape);
        double largest = 0;
        for (size_t i = 0; i < expected.output.element_number(); ++i)
            largest = std::max(largest, std::fabs(get_element(expected.output, i)));
        for (size_t i = 0; i < expected.output.element_number(); ++i)
            ASSERT_NEAR(get_element(found.output, i), get_element(expected.output, i),
                        bound * largest);
    }

    // The results of the nodes, for which nothing stands where the user gives one of them a device.
    ModelResult compute_nodes(const Words& more) const
    {
        const ModelResult nodes =
            compute(onnx_, join(more, {"--affinity", GetParam().inner + std::string("=CPU")}));
        EXPECT_EQ(place(nodes), "");
        return nodes;
    }

    const std::string folder_ = scratch_folder(), parts_ = folder_ + "/parts";
    const std::string onnx_ = write_recognised(GetParam(), folder_);
};

TEST_P(Recognised, InAFileThatIsCompiledForTheCpu)
{
    do_or_fail({"convert", onnx_, path("plain.tmfile")});
    for (const Precision& precision : kPrecisions) {
        const Words words = {"--precision", precision.name};
        do_or_fail(join({"compile", onnx_, "-o", path("net.tmfile"), "--allow-empty"}, words));
        const ModelResult compiled = compute(path("net.tmfile"), words);
        EXPECT_EQ(place(compiled), is_of_cpu() ? "CPU" : "");
        const ModelResult plain = compute(path("plain.tmfile"), words);
        EXPECT_TRUE(compiled.output.bytes == plain.output.bytes) << precision.name;
        expect_near(compiled, compute_nodes({}), precision.bound);
    }
}

TEST_P(Recognised, InAFileThatIsCompiledForADevice)
{
    for (const Precision& precision : kPrecisions) {
        const Words words = join(kOnWhole, {"--precision", precision.name});
        do_or_fail(join({"compile", onnx_, "-o", path("net.tmfile")}, words));
        EXPECT_EQ(read_parts(), "compiled " + std::string(GetParam().op) + "\n");
        const ModelResult compiled = compute(path("net.tmfile"), words);
        EXPECT_EQ(place(compiled), "WHOLE");
        EXPECT_EQ(origin(compiled, "WHOLE"), "model");
        EXPECT_EQ(read_parts(), "loaded " + std::string(GetParam().op) + "\n");
        expect_near(compiled, compute_nodes({}), precision.bound);
        // Without its device the file is one like any other.
        const ModelResult alone = compute(path("net.tmfile"), {"--precision", precision.name});
        expect_near(alone, compute_nodes({}), precision.bound);
    }
}

TEST_P(Recognised, InAFolderOfCompiledParts)
{
    const Words words = join(kOnWhole, {"--option", "cache.dir=" + path("cache")});
    for (const std::string& model : {onnx_, path("net.tmfile")}) {
        if (model != onnx_) do_or_fail({"convert", onnx_, model});
        const ModelResult first = compute(model, words), second = compute(model, words);
        EXPECT_EQ(origin(first, "WHOLE"), model == onnx_ ? "compiled" : "cache");
        EXPECT_EQ(origin(second, "WHOLE"), "cache");
        EXPECT_TRUE(first.output.bytes == second.output.bytes);
        expect_near(second, compute_nodes({}), kPrecisions[0].bound);
    }
}

// Saved files have the nodes of the model.
TEST_P(Recognised, InNoConvertedFile)
{
    const auto list = [](const std::string& model) {
        const Finished finished = run({"inspect", model, "--json", "-"});
        return nlohmann::json::parse(finished.output)["operators"];
    };
    const ModelResult expected = compute(onnx_, {});
    for (const char* opset : {"13", "21", "24"}) {
        do_or_fail({"convert", onnx_, path("net.onnx"), "--opset", opset});
        EXPECT_EQ(list(path("net.onnx")), list(onnx_)) << opset;
        EXPECT_TRUE(compute(path("net.onnx"), {}).output.bytes == expected.output.bytes) << opset;
    }
    do_or_fail({"convert", onnx_, path("net.tmfile")});
    do_or_fail({"convert", path("net.tmfile"), path("back.onnx")});
    for (const char* file : {"net.tmfile", "back.onnx"}) {
        EXPECT_EQ(list(path(file)).count(GetParam().op), 0u) << file;
        const ModelResult result = compute(path(file), kOnWhole);
        EXPECT_EQ(place(result), "WHOLE") << file;
        expect_near(result, compute_nodes({}), kPrecisions[0].bound);
    }
}

INSTANTIATE_TEST_SUITE_P(Models, Recognised, testing::ValuesIn(kRecognisedModels),
                         [](const testing::TestParamInfo<RecognisedModel>& each) {
                             return each.param.name;
                         });

}  // namespace
}  // namespace tengine::program
