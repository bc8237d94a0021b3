// SPDX-License-Identifier: Apache-2.0
// Models compiled ahead of time by ACME's compiler alone and run by its dispatch alone: all parts
// of a model are found again, also equal ones, those in bodies of control flow, or of several
// targets.
#include <unistd.h>

#include <filesystem>

#include "fixture.h"
#include "onnx_graph.h"
#include "tengine/inspect.h"
#include "tengine/placement.h"

namespace tengine {
namespace {

using namespace onnx;

using OptionValues = std::vector<std::pair<std::string, std::string>>;

constexpr int kWidth = 8;

// ---- models ----

// Returns a node with a name, which other nodes may have, too.
std::string named(const std::string& op, const Names& inputs, const std::string& output,
                  const std::string& name)
{
    return node(op, inputs, {output}) + Message().bytes(3, name).text();
}

std::string factor(const std::string& name, float first)
{
    std::vector<float> values;
    for (int i = 0; i < kWidth; ++i)
        values.push_back(first + 0.125f * static_cast<float>(i));
    return constant<float>(name, kFloat, {1, kWidth}, values);
}

std::string row(const std::string& name)
{
    return value(name, kFloat, {1, kWidth});
}

// Adds `from` times a factor and its tangent, `rounds` times; the last is `to`. Names of values
// begin with `prefix`. ACME takes the products, each of which is a part.
Names make_chain(const std::string& from, const std::string& to, int rounds,
                 const std::string& prefix, const std::string& factor_name)
{
    Names nodes;
    std::string last = from;
    for (int i = 0; i < rounds; ++i) {
        const std::string number = prefix + std::to_string(i);
        const std::string result = i + 1 == rounds ? to : number + "t";
        nodes.push_back(node("Mul", {last, factor_name}, {number}));
        nodes.push_back(node("Tanh", {number}, {result}));
        last = result;
    }
    return nodes;
}

std::string make_repeats()
{
    return graph(make_chain("x", "y", 6, "p", "f"), {row("x")}, {row("y")}, {factor("f", 0.5f)});
}

// Blocks that differ only in their constants, all with one name.
std::string make_blocks()
{
    Names nodes, constants;
    std::string last = "x";
    for (int i = 0; i < 4; ++i) {
        const std::string number = std::to_string(i), result = i == 3 ? "y" : "t" + number;
        constants.push_back(factor("f" + number, static_cast<float>(i) - 1.25f));
        nodes.push_back(named("Mul", {last, "f" + number}, "p" + number, "block"));
        nodes.push_back(named("Tanh", {"p" + number}, result, "block"));
        last = result;
    }
    return graph(nodes, {row("x")}, {row("y")}, constants);
}

std::string make_if(const std::string& condition, const std::string& output,
                    const std::string& then_branch, const std::string& else_branch)
{
    return node(
        "If", {condition}, {output},
        {graph_attribute("then_branch", then_branch), graph_attribute("else_branch", else_branch)});
}

std::string make_branch(int rounds, const std::string& prefix)
{
    return graph(make_chain("x", prefix + "y", rounds, prefix, "f"), {}, {row(prefix + "y")});
}

std::string make_branches()
{
    return graph({make_if("c", "y", make_branch(2, "a"), make_branch(3, "b"))},
                 {row("x"), value("c", kBool)}, {row("y")}, {factor("f", 0.5f)});
}

// The graph itself gets the nodes of the chosen branch.
std::string make_decided()
{
    const Names nodes = {node("Mul", {"x", "f"}, {"a"}), node("Add", {"a", "f"}, {"b"}),
                         node("Tanh", {"b"}, {"c"}),     node("Mul", {"c", "f"}, {"d"}),
                         node("Add", {"d", "f"}, {"e"}), node("Tanh", {"e"}, {"g"})};
    return graph({make_if("on", "y", graph(nodes, {}, {row("g")}), make_branch(1, "h"))},
                 {row("x")}, {row("y")},
                 {factor("f", 0.5f), constant<uint8_t>("on", kBool, {}, {1})});
}

// A loop with equal parts, in a branch of an If, whose other branch has them, too.
std::string make_nested()
{
    Names body = make_chain("sum", "next", 3, "l", "f");
    body.push_back(node("Identity", {"on"}, {"goes_on"}));
    const std::string loop = node(
        "Loop", {"rounds", "", "x"}, {"total"},
        {graph_attribute("body", graph(body, {value("i", kInt64), value("on", kBool), row("sum")},
                                       {value("goes_on", kBool), row("next")}))});
    const std::string branch = graph({loop}, {}, {row("total")});
    Names nodes = make_chain("x", "z", 2, "o", "f");
    nodes.push_back(make_if("c", "w", branch, make_branch(2, "b")));
    nodes.push_back(node("Add", {"z", "w"}, {"y"}));
    return graph(nodes, {row("x"), value("c", kBool)}, {row("y")},
                 {factor("f", 0.5f), constant<int64_t>("rounds", kInt64, {}, {2})});
}

// ---- the test ----

struct Case
{
    const char* name;
    std::string (*make)();
    int parts;  // parts that ACME compiles
};

class CompiledAheadTest : public ApiTest
{
  protected:
    void SetUp() override
    {
        ApiTest::SetUp();
        folder_ = testing::TempDir() + "compiled_ahead_" + std::to_string(getpid());
        std::filesystem::create_directory(folder_);
    }
    void TearDown() override
    {
        ApiTest::TearDown();
        std::filesystem::remove_all(folder_);
    }

    std::string path(const std::string& name) const { return folder_ + "/" + name; }

    static void load_plugin(const std::string& name)
    {
        ASSERT_EQ(tengine_plugin_load((TENGINE_PLUGIN_DIR "/" + name + ".so").c_str()), 1)
            << get_tengine_error();
    }
    static void unload_plugin(const std::string& name)
    {
        ASSERT_EQ(unload_tengine_plugin(name.c_str(), nullptr), 0) << get_tengine_error();
    }

    // Returns a prepared graph, on ACME.
    graph_t prepare(const std::string& file, const OptionValues& options = {})
    {
        const context_t context = create_context("c", 1);
        EXPECT_EQ(add_context_device(context, "ACME"), 0) << get_tengine_error();
        for (const auto& [key, text] : options)
            EXPECT_EQ(tengine_context_set_option(context, key.c_str(), text.c_str()), 0)
                << get_tengine_error();
        const graph_t graph = create_graph(context, "tengine", path(file).c_str());
        EXPECT_NE(graph, nullptr) << get_tengine_error();
        destroy_context(context);
        EXPECT_EQ(prerun_graph(graph), 0) << get_tengine_error();
        return graph;
    }

    // Saves `contents` as a tmfile, with the compiler's bytes for each of the targets.
    void compile(const std::string& contents, const std::vector<OptionValues>& targets)
    {
        contents_ = contents;
        graph_t graph = load(contents);
        ASSERT_NE(graph, nullptr) << get_tengine_error();
        ASSERT_EQ(save_graph(graph, "tengine", path("compiled.tmfile").c_str()), 0);
        destroy_graph(graph);
        load_plugin("acme_compiler");
        for (OptionValues options : targets) {
            options.emplace_back("model.keep_parts", "1");
            graph = prepare("compiled.tmfile", options);
            ASSERT_EQ(save_graph(graph, "tengine", path("compiled.tmfile").c_str()), 0)
                << get_tengine_error();
            destroy_graph(graph);
        }
        unload_plugin("acme_compiler");
    }

    // Returns the number of ACME's parts, and of those that came with the model.
    static std::pair<int, int> count_parts(graph_t graph)
    {
        std::pair<int, int> numbers;
        tengine_subgraph part;
        for (int i = 0; tengine_graph_get_subgraph(graph, i, &part) == 0; ++i) {
            int origin = -1;
            if (std::string(part.device) != "ACME") continue;
            EXPECT_EQ(tengine_graph_get_subgraph_origin(graph, i, &origin), 0);
            ++numbers.first;
            numbers.second += origin == TENGINE_PART_FROM_MODEL;
        }
        take_logged_failures();
        return numbers;
    }

    // Returns the result for x, rising from -1, with this value of the condition, if there is one.
    static std::vector<float> run(graph_t graph, bool condition)
    {
        std::vector<float> x;
        for (int i = 0; i < kWidth; ++i)
            x.push_back(0.25f * static_cast<float>(i) - 1);
        EXPECT_TRUE(write_floats(tengine_graph_get_input(graph, 0), x));
        uint8_t flag = condition;
        const tensor_t input =
            tengine_graph_get_input_number(graph) > 1 ? tengine_graph_get_input(graph, 1) : nullptr;
        EXPECT_TRUE(!input || set_tensor_buffer(input, &flag, 1) == 0);
        EXPECT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
        return read_floats(tengine_graph_get_output(graph, 0));
    }

    void expect_the_same(graph_t graph)
    {
        const graph_t plain = load(contents_);
        ASSERT_EQ(prerun_graph(plain), 0) << get_tengine_error();
        for (const bool condition : {true, false}) {
            const std::vector<float> wanted = run(plain, condition), found = run(graph, condition);
            ASSERT_EQ(found.size(), wanted.size());
            for (size_t i = 0; i < wanted.size(); ++i)
                EXPECT_NEAR(found[i], wanted[i], 1e-6) << i;
        }
        destroy_graph(plain);
    }

    std::string folder_, contents_;
};

class EveryModel : public CompiledAheadTest, public testing::WithParamInterface<Case>
{
};

TEST_P(EveryModel, RunsAllItsPartsOnTheDispatch)
{
    compile(GetParam().make(), {{}});
    load_plugin("acme_dispatch");
    const graph_t graph = prepare("compiled.tmfile");
    EXPECT_EQ(tengine_graph_get_compiled_part_number(graph), GetParam().parts);
    EXPECT_EQ(count_parts(graph), std::make_pair(GetParam().parts, GetParam().parts));
    expect_the_same(graph);
    destroy_graph(graph);
    unload_plugin("acme_dispatch");
}

// The options of a target select its own parts.
TEST_P(EveryModel, OfSeveralTargetsRunsThoseOfTheChip)
{
    const std::vector<OptionValues> targets = {{{"ACME.soc", "A1"}}, {{"ACME.soc", "A2"}}};
    compile(GetParam().make(), targets);
    load_plugin("acme_dispatch");
    for (const OptionValues& target : targets) {
        const graph_t graph = prepare("compiled.tmfile", target);
        EXPECT_EQ(tengine_graph_get_compiled_part_number(graph), 2 * GetParam().parts);
        EXPECT_EQ(count_parts(graph), std::make_pair(GetParam().parts, GetParam().parts));
        expect_the_same(graph);
        destroy_graph(graph);
    }
    unload_plugin("acme_dispatch");
}

// The options of the variant that is taken apply in bodies, too: they select the parts.
TEST_P(EveryModel, OfVariantsRunsThoseOfTheOneThatIsTaken)
{
    compile(GetParam().make(), {{{"ACME.soc", "A1"}, {"model.keep_variant", "name=one"}},
                                {{"ACME.soc", "A2"}, {"model.keep_variant", "name=two"}}});
    load_plugin("acme_dispatch");
    const OptionValues none, forced = {{"model.variant", "two"}}, set = {{"ACME.soc", "A2"}};
    for (const OptionValues* options : {&none, &forced, &set}) {
        const graph_t graph = prepare("compiled.tmfile", *options);
        EXPECT_EQ(count_parts(graph), std::make_pair(GetParam().parts, GetParam().parts));
        expect_the_same(graph);
        tengine_variant variant;
        for (const int i : {0, 1}) {
            ASSERT_EQ(tengine_graph_get_variant(graph, i, &variant, sizeof variant), 0);
            EXPECT_EQ(variant.part_number, GetParam().parts);
            EXPECT_EQ(variant.is_taken, i == (options != &none)) << variant.reason;
        }
        destroy_graph(graph);
    }
    unload_plugin("acme_dispatch");
}

INSTANTIATE_TEST_SUITE_P(Models, EveryModel,
                         testing::Values(Case{"Repeats", make_repeats, 6},
                                         Case{"Blocks", make_blocks, 4},
                                         Case{"Branches", make_branches, 5},
                                         Case{"Decided", make_decided, 2},
                                         Case{"Nested", make_nested, 8}),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace tengine
