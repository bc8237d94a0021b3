// SPDX-License-Identifier: Apache-2.0
// The time of commands is proportional to the size of a model in any respect, not quadratic.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

#include "onnx_graph.h"
#include "process.h"

namespace tengine {
namespace {

using namespace onnx;

std::string row(const std::string& name)
{
    return value(name, kFloat, {1});
}

std::string name_of(const char* prefix, int index)
{
    return prefix + std::to_string(index);
}

std::string floats_attribute(const std::string& name, const std::vector<float>& numbers)
{
    const std::string bytes(reinterpret_cast<const char*>(numbers.data()),
                            numbers.size() * sizeof numbers[0]);
    return Message().bytes(1, name).bytes(7, bytes).number(20, 6).text();
}

std::string string_constant(const std::string& name, const Names& texts)
{
    Message message;
    message.number(1, static_cast<int>(texts.size())).number(2, 8).bytes(8, name);
    for (const std::string& text : texts)
        message.bytes(6, text);
    return message.text();
}

// ---- models with `number` of something ----

std::string make_nodes(int number)
{
    Names nodes = {node("Relu", {"x"}, {"v0"})};
    for (int i = 1; i < number; ++i)
        nodes.push_back(node(i % 2 == 0 ? "Abs" : "Neg", {name_of("v", i - 1)}, {name_of("v", i)}));
    return graph(nodes, {row("x")}, {row(name_of("v", number - 1))});
}

std::string make_inputs(int number)
{
    Names nodes, inputs, outputs;
    for (int i = 0; i < number; ++i) {
        inputs.push_back(row(name_of("x", i)));
        outputs.push_back(row(name_of("y", i)));
        nodes.push_back(node("Neg", {name_of("x", i)}, {name_of("y", i)}));
    }
    return graph(nodes, inputs, outputs);
}

std::string make_constants(int number)
{
    Names nodes, constants;
    std::string last = "x";
    for (int i = 0; i < number; ++i) {
        constants.push_back(constant<float>(name_of("c", i), kFloat, {1}, {0.5f}));
        nodes.push_back(node("Add", {last, name_of("c", i)}, {name_of("v", i)}));
        last = name_of("v", i);
    }
    return graph(nodes, {row("x")}, {row(last)}, constants);
}

std::string make_bodies(int number)
{
    Names nodes;
    std::string last = "x";
    for (int i = 0; i < number; ++i) {
        const auto branch = [&](const char* op, const char* prefix) {
            return graph({node(op, {last}, {name_of(prefix, i)})}, {}, {row(name_of(prefix, i))});
        };
        nodes.push_back(node("If", {"c"}, {name_of("v", i)},
                             {graph_attribute("then_branch", branch("Neg", "t")),
                              graph_attribute("else_branch", branch("Abs", "e"))}));
        last = name_of("v", i);
    }
    return graph(nodes, {row("x"), value("c", kBool)}, {row(last)});
}

std::string make_loops(int number)
{
    Names nodes;
    std::string last = "x";
    for (int i = 0; i < number; ++i) {
        const std::string sum = name_of("s", i), less = name_of("l", i), on = name_of("on", i),
                          still = name_of("still", i);
        const std::string body =
            graph({node("Neg", {sum}, {less}), node("Identity", {on}, {still})},
                  {value(name_of("i", i), kInt64), value(on, kBool), row(sum)},
                  {value(still, kBool), row(less)});
        nodes.push_back(
            node("Loop", {"rounds", "", last}, {name_of("v", i)}, {graph_attribute("body", body)}));
        last = name_of("v", i);
    }
    return graph(nodes, {row("x")}, {row(last)}, {constant<int64_t>("rounds", kInt64, {}, {2})});
}

std::string make_outputs(int number)
{
    Names nodes, outputs;
    for (int i = 0; i < number; ++i) {
        outputs.push_back(row(name_of("y", i)));
        nodes.push_back(node(i % 2 == 0 ? "Abs" : "Neg", {"x"}, {name_of("y", i)}));
    }
    return graph(nodes, {row("x")}, outputs);
}

// Nodes with an attribute each, and one with a list of them.
std::string make_attributes(int number)
{
    std::vector<float> values(static_cast<size_t>(number), 1);
    Names nodes = {
        node("Constant", {}, {"list"}, {floats_attribute("value_floats", values)}),
        node("ReduceMax", {"list"}, {"most"}, {number_attribute("keepdims", 1)}),
        node("Add", {"x", "most"}, {"v0"}),
    };
    for (int i = 1; i < number; ++i)
        nodes.push_back(node("LogSoftmax", {name_of("v", i - 1)}, {name_of("v", i)},
                             {number_attribute("axis", 0)}));
    return graph(nodes, {row("x")}, {row(name_of("v", number - 1))});
}

// Names of that length.
std::string make_names(int number)
{
    const std::string stem(static_cast<size_t>(number), 'n');
    Names nodes;
    std::string last = "x";
    for (int i = 0; i < 16; ++i) {
        const std::string next = stem + std::to_string(i);
        nodes.push_back(node(i % 2 == 0 ? "Abs" : "Neg", {last}, {next}));
        last = next;
    }
    return graph(nodes, {row("x")}, {row(last)});
}

// That many strings, one of which has that length.
std::string make_strings(int number)
{
    Names texts = {std::string(static_cast<size_t>(number), 's')};
    for (int i = 1; i < number; ++i)
        texts.push_back(name_of("s", i));
    return graph({node("Equal", {"c", "c"}, {"e"}),
                  node("Cast", {"e"}, {"f"}, {number_attribute("to", kFloat)}),
                  node("Add", {"f", "x"}, {"y"})},
                 {row("x")}, {value("y", kFloat, {number})}, {string_constant("c", texts)});
}

// A node with that many inputs, which are the outputs of another.
std::string make_wide(int number)
{
    Names parts;
    for (int i = 0; i < number; ++i)
        parts.push_back(name_of("p", i));
    return graph({node("Split", {"x"}, parts,
                       {number_attribute("axis", 0), number_attribute("num_outputs", number)}),
                  node("Concat", parts, {"y"}, {number_attribute("axis", 0)})},
                 {value("x", kFloat, {number})}, {value("y", kFloat, {number})});
}

// Shapes that all depend on the values of the first one.
std::string make_unknown(int number)
{
    Names nodes = {node("NonZero", {"x"}, {"n"}),
                   node("Cast", {"n"}, {"v0"}, {number_attribute("to", kFloat)})};
    for (int i = 1; i < number; ++i)
        nodes.push_back(node(i % 2 == 0 ? "Abs" : "Neg", {name_of("v", i - 1)}, {name_of("v", i)}));
    return graph(nodes, {row("x")}, {value(name_of("v", number - 1), kFloat)});
}

// A constant that is merged with another into that many.
std::string make_batch_norms(int number)
{
    Names nodes;
    std::string last = "x";
    for (int i = 0; i < number; ++i) {
        const std::string product = name_of("p", i);
        nodes.push_back(node("Conv", {last, "w"}, {product}));
        last = name_of("v", i);
        nodes.push_back(
            node("BatchNormalization", {product, "one", "none", "none", "one"}, {last}));
    }
    return graph(
        nodes, {value("x", kFloat, {1, 1, 1, 1})}, {value(last, kFloat, {1, 1, 1, 1})},
        {constant<float>("w", kFloat, {1, 1, 1, 1}, {1}), constant<float>("one", kFloat, {1}, {1}),
         constant<float>("none", kFloat, {1}, {0})});
}

// ---- the test ----

struct Growing
{
    const char* name;
    std::string (*make)(int number);
    int number;
};

struct Command
{
    const char* name;
    std::vector<std::string> words;  // MODEL and OUTPUT are placeholders for files
    int share = 1;                   // of the counts, for commands that take long with each node
};

const Growing kModels[] = {{"nodes", make_nodes, 4000},
                           {"inputs", make_inputs, 2500},
                           {"outputs", make_outputs, 3000},
                           {"constants", make_constants, 3000},
                           {"attributes", make_attributes, 2500},
                           {"bodies", make_bodies, 300},
                           {"names", make_names, 100000},
                           {"strings", make_strings, 50000},
                           {"wide", make_wide, 500}};
const Command kProfile = {
    "profile", {"bench", "MODEL", "--runs", "1", "--warmup", "0", "--profile", "--quiet"}};
const Command kCommands[] = {
    {"inspect", {"inspect", "MODEL", "--json", "OUTPUT.json"}},
    {"run", {"run", "MODEL"}},
    {"run_bf16", {"run", "MODEL", "--precision", "bf16"}},
    {"bench", {"bench", "MODEL", "--runs", "1", "--warmup", "0"}},
    kProfile,
    {"convert", {"convert", "MODEL", "OUTPUT.tmfile"}},
    {"rewrite", {"convert", "MODEL", "OUTPUT.onnx"}},
    {"compile", {"compile", "MODEL", "-o", "OUTPUT.tmfile", "--allow-empty", "--quiet"}},
    {"quantize", {"quantize", "MODEL", "--random", "1", "-o", "OUTPUT.onnx", "--quiet"}, 4},
    {"verify", {"verify", "--device", "CPU", "--model", "MODEL", "--quiet"}, 16}};
const Growing kConverted[] = {{"unknown", make_unknown, 4000},
                              {"batch_norms", make_batch_norms, 1000}};
const Command kConvert = {"convert", {"convert", "MODEL", "OUTPUT.tmfile"}};
// Each layer is prepared several times, independently of the others.
const Command kVerifyLong = {
    "verify_long", {"verify", "--device", "CPU", "--model", "MODEL", "--quiet"}, 2};

class Growth : public testing::TestWithParam<std::tuple<Growing, Command>>
{
  protected:
    void SetUp() override
    {
        folder_ = testing::TempDir() + "growth_" + std::to_string(getpid());
        std::filesystem::create_directory(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    void write_model(const std::string& contents) const
    {
        const std::string opset = Message().bytes(1, "").number(2, 18).text();
        std::ofstream(folder_ + "/model.onnx", std::ios::binary)
            << Message().number(1, 8).bytes(8, opset).bytes(7, contents).text();
    }

    double find_seconds(const Growing& model, const Command& command, int number)
    {
        write_model(model.make(number));
        std::vector<std::string> words = {TENGINE_TOOL};
        for (const std::string& word : command.words)
            words.push_back(word == "MODEL"                ? folder_ + "/model.onnx"
                            : word.rfind("OUTPUT", 0) == 0 ? folder_ + "/" + word
                                                           : word);
        const Finished finished = run_process(words, folder_ + "/output");
        EXPECT_TRUE(finished.status == 0 || std::string(command.name) == "quantize")
            << finished.output.substr(0, 1000);
        return finished.seconds;
    }

    std::string folder_;
};

// Twice the time, and a half more for other programs' use of the processor's caches.
TEST_P(Growth, IsLinear)
{
    const auto& [model, command] = GetParam();
    double once = 0, twice = 0;
    const int number = model.number / command.share;
    for (int attempt = 0; attempt < 5; ++attempt) {
        once = find_seconds(model, command, number);
        twice = find_seconds(model, command, 2 * number);
        if (HasFailure() || twice < 2.5 * once + 0.03) break;
    }
    RecordProperty("milliseconds", static_cast<int>(twice * 1e3));
    EXPECT_LT(twice, 2.5 * once + 0.03);
}

std::string name_growth(const testing::TestParamInfo<Growth::ParamType>& tested)
{
    return std::string(std::get<0>(tested.param).name) + "_" + std::get<1>(tested.param).name;
}

INSTANTIATE_TEST_SUITE_P(Models, Growth,
                         testing::Combine(testing::ValuesIn(kModels), testing::ValuesIn(kCommands)),
                         name_growth);
INSTANTIATE_TEST_SUITE_P(Layers, Growth,
                         testing::Combine(testing::Values(kModels[0]),
                                          testing::Values(kVerifyLong)),
                         name_growth);
INSTANTIATE_TEST_SUITE_P(Loops, Growth,
                         testing::Combine(testing::Values(Growing{"loops", make_loops, 800}),
                                          testing::Values(kProfile)),
                         name_growth);
INSTANTIATE_TEST_SUITE_P(Conversions, Growth,
                         testing::Combine(testing::ValuesIn(kConverted), testing::Values(kConvert)),
                         name_growth);

}  // namespace
}  // namespace tengine
