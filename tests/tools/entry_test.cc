// SPDX-License-Identifier: Apache-2.0
// Entries on the command line: two models become one file, whose entries share a state.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tensor_file/tensor_file.h"
#include "tools/program.h"
#include "tools/quantize_model.h"

namespace tengine::program {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using tools::Tensor;

// y = -(now = before op x), of one number.
std::string write_step(const std::string& folder, const std::string& op)
{
    fs::create_directories(folder + "/" + op);
    ModelMaker maker({1, 1});
    maker.add_input("before", {1, 1});
    maker.node(op, {"before", "x"}, "now");
    maker.node("Neg", {"now"}, "y");
    auto* now = maker.model.mutable_graph()->add_output();
    *now = maker.model.graph().output(0);
    now->set_name("now");
    return maker.write(folder + "/" + op);
}

std::string read_bytes(const std::string& path)
{
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

class Entries : public testing::Test
{
  protected:
    void SetUp() override
    {
        folder_ = scratch_folder();
        add_ = write_step(folder_, "Add");
        multiply_ = write_step(folder_, "Mul");
        model_ = folder_ + "/both.tmfile";
    }

    void join()
    {
        const Finished finished =
            run({"convert", "--entry", "add=" + add_, "--entry", "multiply=" + multiply_, model_,
                 "--keep-state", "before=now"});
        ASSERT_EQ(finished.status, 0) << finished.errors;
        EXPECT_THAT(finished.output, HasSubstr("entry  add\ninput  x  1x1\nentry  multiply\n"));
    }

    // The value that a run with x leaves in the folder.
    double step(const std::string& entry, float x)
    {
        Tensor input = tools::make_tensor(TENGINE_DT_FP32, {1, 1});
        tools::set_element(&input, 0, x);
        tools::write_tensor(folder_ + "/x.npy", input);
        const Finished finished = run({"run", model_, "--entry", entry, "--input",
                                       folder_ + "/x.npy", "--state", folder_ + "/kept"});
        EXPECT_EQ(finished.status, 0) << finished.errors;
        return tools::get_element(tools::read_tensor(folder_ + "/kept/before.npy"), 0);
    }

    std::string folder_, add_, multiply_, model_;
};

TEST_F(Entries, RunOverAFolderOfStates)
{
    join();
    EXPECT_EQ(step("add", 3), 3);
    EXPECT_EQ(step("multiply", 4), 12);
    EXPECT_EQ(step("add", 1), 13);
    EXPECT_EQ(step("multiply", 2), 26);
}

TEST_F(Entries, AreShownAndConverted)
{
    join();
    const Finished shown = run({"inspect", model_, "--entry", "multiply"});
    EXPECT_THAT(shown.output, HasSubstr("entries     add, multiply*\n"));
    const nlohmann::json report =
        nlohmann::json::parse(run({"inspect", model_, "--json", "-"}).output);
    EXPECT_EQ(report["entry"], "add");
    EXPECT_EQ(report["entries"], (nlohmann::json{"add", "multiply"}));
    EXPECT_EQ(report["nodes"][0]["op"], "Add");

    const std::string copy = folder_ + "/copy.tmfile";
    ASSERT_EQ(run({"convert", model_, copy}).status, 0);
    EXPECT_EQ(read_bytes(copy), read_bytes(model_));
    // One entry alone, and back again.
    const std::string alone = folder_ + "/alone.onnx";
    Finished finished = run({"convert", model_, alone});
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.errors,
                HasSubstr("only a .tmfile or a .tflite can have several entries, here "
                          "add, multiply; --entry NAME chooses one"));
    finished = run({"convert", model_, alone, "--entry", "multiply"});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.errors, Not(HasSubstr("alone")));
    EXPECT_THAT(run({"inspect", alone}).output, Not(HasSubstr("entries")));
    finished = run({"convert", "--entry", "add=" + model_, "--entry", "multiply=" + alone, copy});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(run({"inspect", copy}).output, HasSubstr("entries     add*, multiply\n"));
}

TEST_F(Entries, AreSignaturesOfATflite)
{
    const std::string tmfile = model_;
    join();
    model_ = folder_ + "/both.tflite";
    join();
    EXPECT_EQ(step("add", 3), 3);
    EXPECT_EQ(step("multiply", 4), 12);
    EXPECT_THAT(run({"inspect", model_}).output, HasSubstr("entries     add*, multiply\n"));
    // From a tmfile, and from the file itself.
    const std::string copy = folder_ + "/copy.tflite", again = folder_ + "/again.tflite";
    ASSERT_EQ(run({"convert", tmfile, copy}).status, 0);
    EXPECT_EQ(read_bytes(copy), read_bytes(model_));
    ASSERT_EQ(run({"convert", copy, again}).status, 0);
    model_ = again;
    EXPECT_EQ(step("add", 1), 13);
    EXPECT_EQ(step("multiply", 2), 26);
    // Shapes are those of the command line.
    Finished finished = run({"convert", again, copy, "--shape", "x=2x1"});
    EXPECT_THAT(finished.output, HasSubstr("entry  multiply\ninput  x  2x1\n")) << finished.errors;
    // One of them alone keeps its name.
    ASSERT_EQ(run({"convert", again, copy, "--entry", "multiply"}).status, 0);
    EXPECT_EQ(run({"inspect", copy, "--entry", "multiply"}).status, 0);
    EXPECT_EQ(run({"inspect", copy, "--entry", "add"}).status, 1);
    finished = run({"compile", again, "-o", copy, "--allow-empty"});
    EXPECT_THAT(finished.output, HasSubstr("DISPATCH_OPs: 0")) << finished.errors;
    EXPECT_THAT(run({"inspect", copy}).output, HasSubstr("entries     add*, multiply\n"));
}

TEST_F(Entries, AreCompiledAndMeasured)
{
    join();
    const std::string compiled = folder_ + "/compiled.tmfile";
    Finished finished =
        run({"compile", model_, "-o", compiled, "--device", "TPU", "--precision", "bf16"});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.output, HasSubstr("compiled parts: 2, new: 2"));
    model_ = compiled;
    EXPECT_EQ(step("multiply", 4), 0);
    EXPECT_EQ(step("add", 4), 4);
    EXPECT_EQ(step("multiply", 4), 16);
    finished = run({"bench", model_, "--entry", "multiply", "--runs", "2"});
    EXPECT_EQ(finished.status, 0) << finished.errors;
}

// A graph inside of a node, with one output.
void add_body(::onnx::NodeProto* node, const std::string& name, const std::string& op,
              const std::vector<std::string>& inputs)
{
    auto* attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(::onnx::AttributeProto::GRAPH);
    ::onnx::GraphProto* graph = attribute->mutable_g();
    graph->set_name(name);
    ::onnx::NodeProto* inner = graph->add_node();
    inner->set_op_type(op);
    inner->set_name(name);
    for (const std::string& input : inputs)
        inner->add_input(input);
    inner->add_output(name + "_now");
    auto* output = graph->add_output();
    output->set_name(name + "_now");
    auto* type = output->mutable_type()->mutable_tensor_type();
    type->set_elem_type(::onnx::TensorProto::FLOAT);
    for (int i = 0; i < 2; ++i)
        type->mutable_shape()->add_dim()->set_dim_value(1);
}

// y = -(now = before + x if x > 0, else before * x).
std::string write_choice(const std::string& folder)
{
    fs::create_directories(folder + "/choice");
    ModelMaker maker({1, 1});
    maker.add_input("before", {1, 1});
    maker.constant("zero", {1, 1}, {0});
    maker.node("Greater", {"x", "zero"}, "is_more");
    maker.node("Squeeze", {"is_more"}, "condition");
    ::onnx::NodeProto* choice = maker.node("If", {"condition"}, "now");
    add_body(choice, "then_branch", "Add", {"before", "x"});
    add_body(choice, "else_branch", "Mul", {"before", "x"});
    maker.node("Neg", {"now"}, "y");
    auto* now = maker.model.mutable_graph()->add_output();
    *now = maker.model.graph().output(0);
    now->set_name("now");
    return maker.write(folder + "/choice");
}

// The branches of an If read the state that the other entry has written, in both formats.
TEST_F(Entries, BodiesReadTheState)
{
    const std::string choice = write_choice(folder_);
    for (const char* ending : {".tmfile", ".tflite"}) {
        model_ = folder_ + "/bodies" + ending;
        fs::remove_all(folder_ + "/kept");
        const Finished finished =
            run({"convert", "--entry", "choice=" + choice, "--entry", "multiply=" + multiply_,
                 model_, "--keep-state", "before=now"});
        ASSERT_EQ(finished.status, 0) << finished.errors;
        EXPECT_EQ(step("choice", 3), 3);
        EXPECT_EQ(step("multiply", 4), 12);
        EXPECT_EQ(step("choice", -2), -24);
        EXPECT_EQ(step("choice", 1), -23);
    }
}

// y = x W and y = -(before + x W), whose W is the same.
std::string write_product(const std::string& folder, const std::string& name, int64_t rows)
{
    constexpr int64_t kSize = 64;
    fs::create_directories(folder + "/" + name);
    ModelMaker maker({rows, kSize});
    std::vector<float> weights(kSize * kSize);
    for (size_t i = 0; i < weights.size(); ++i)
        weights[i] = static_cast<float>(static_cast<int>(i * 7919 % 255) - 127) / 640;
    maker.constant("w", {kSize, kSize}, weights);
    maker.node("MatMul", {"x", "w"}, "product");
    if (rows > 1) {
        maker.node("Relu", {"product"}, "y");
    } else {
        maker.add_input("before", {1, kSize});
        maker.node("Add", {"before", "product"}, "now");
        maker.node("Neg", {"now"}, "y");
        auto* now = maker.model.mutable_graph()->add_output();
        *now = maker.model.graph().output(0);
        now->set_name("now");
    }
    return maker.write(folder + "/" + name);
}

void write_samples(const std::string& folder, int rows, float scale)
{
    fs::create_directories(folder);
    for (int i = 0; i < 4; ++i) {
        Tensor sample = tools::make_tensor(TENGINE_DT_FP32, {rows, 64});
        for (int k = 0; k < rows * 64; ++k)
            tools::set_element(&sample, static_cast<size_t>(k),
                               scale * static_cast<float>((k * 31 + i * 17) % 101 - 50) / 50);
        tools::write_tensor(folder + "/" + std::to_string(i) + ".npy", sample);
    }
}

// The ranges of each entry are those of its samples, and W is in the file once.
TEST_F(Entries, AreQuantised)
{
    const std::string many = write_product(folder_, "many", 8);
    const std::string one = write_product(folder_, "one", 1);
    Finished finished = run({"convert", "--entry", "many=" + many, "--entry", "one=" + one, model_,
                             "--keep-state", "before=now"});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    write_samples(folder_ + "/data/many", 8, 1);
    write_samples(folder_ + "/data/one", 1, 100);
    const std::string made = folder_ + "/int8.tmfile", json = folder_ + "/report.json";
    finished = run({"quantize", model_, "-o", made, "--data", folder_ + "/data", "--json", json});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.output, HasSubstr("entry       many\n"));
    EXPECT_THAT(finished.output, HasSubstr("entry       one\n"));
    const nlohmann::json report = nlohmann::json::parse(read_bytes(json));
    EXPECT_EQ(report["entries"][1]["entry"], "one");
    const auto scale_of = [&](size_t entry) {
        for (const auto& layer : report["entries"][entry]["report"]["layers"])
            if (layer["tensor"] == "y") return layer["scale"].get<double>();
        return 0.0;
    };
    EXPECT_GT(scale_of(0), 0);
    EXPECT_GT(scale_of(1), 50 * scale_of(0));
    // The 4096 bytes of W are not there twice, and nothing is left of the work.
    size_t apart = 0;
    for (const char* entry : {"many", "one"}) {
        const std::string alone = folder_ + "/" + entry + ".tmfile";
        ASSERT_EQ(run({"convert", made, alone, "--entry", entry}).status, 0);
        apart += fs::file_size(alone);
    }
    EXPECT_LT(fs::file_size(made), apart - 4000);
    for (const auto& file : fs::directory_iterator(folder_))
        EXPECT_THAT(file.path().string(), Not(HasSubstr("unfinished")));
    EXPECT_THAT(run({"inspect", made}).output, HasSubstr("entries     many*, one\n"));
    for (const char* entry : {"many", "one"}) {
        const std::string input = folder_ + "/data/" + entry + "/0.npy";
        const std::string expected = folder_ + "/expected_" + entry;
        ASSERT_EQ(
            run({"run", model_, "--entry", entry, "--input", input, "--output", expected}).status,
            0);
        finished = run({"run", made, "--entry", entry, "--precision", "int8", "--input", input,
                        "--expect", "y=" + expected + "/y.npy", "--tolerance",
                        entry == std::string("one") ? "8" : "0.08"});
        EXPECT_EQ(finished.status, 0) << finished.output << finished.errors;
    }
}

TEST_F(Entries, Mistakes)
{
    join();
    const auto expect = [](const std::vector<std::string>& words, int status,
                           const std::string& text) {
        const Finished finished = run(words);
        EXPECT_EQ(finished.status, status);
        EXPECT_THAT(finished.errors, HasSubstr(text));
    };
    expect({"run", model_, "--entry", "third"}, 1,
           "the model has no entry 'third', expected 'add', 'multiply'");
    expect({"run", add_, "--entry", "third"}, 1, "has no entry 'third', expected none");
    expect({"convert", model_}, 2, "OUT is required");
    expect({"convert", "--entry", "a=" + add_, model_, folder_ + "/more.tmfile"}, 2,
           "takes the place of IN");
    expect({"convert", "--entry", "a=" + add_, "--entry", "b", model_}, 2, "the form NAME=FILE");
    expect({"convert", "--entry", "a=" + add_, "--entry", "a=" + multiply_, model_}, 1,
           "two entries have the name 'a'");
    expect({"convert", "--entry", "a=" + add_, "--entry", "b=" + multiply_, folder_ + "/x.onnx"}, 1,
           "only a .tmfile or a .tflite can have several entries");
    expect({"convert", "--entry", "third=" + model_, folder_ + "/x.tmfile"}, 1,
           "none of this name");
    expect({"convert", model_, folder_ + "/x.tmfile", "--shape", "z=1"}, 1,
           "no entry of the model has an input 'z'");
    expect({"quantize", model_, "-o", folder_ + "/x.onnx", "--random", "2"}, 2,
           "must end in .tmfile");
    expect({"quantize", model_, "--dynamic", "-o", folder_ + "/x.onnx"}, 2, "has several entries");
    expect({"quantize", model_, "-o", folder_ + "/x.tmfile", "--table", folder_ + "/x", "--random",
            "2"},
           2, "are for a model of one graph");
    expect({"compile", model_, "-o", folder_ + "/x.tflite"}, 1, "there is nothing to keep");
}

}  // namespace
}  // namespace tengine::program
