// SPDX-License-Identifier: Apache-2.0
// If, Loop and Scan in models from files: the bodies that run and their inputs, shapes that depend
// on this, placement of their nodes, saving, and refusals.
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>

#include "fixture.h"
#include "onnx_graph.h"
#include "support/allocation_count.h"
#include "support/test_device.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

using namespace onnx;

// ---- models ----

// y = -x if `positive` is false, two copies of x if it is true.
std::string make_if(const Names& constants = {})
{
    const std::string twice =
        graph({node("Concat", {"x", "x"}, {"both"}, {number_attribute("axis", 0)})}, {},
              {value("both", kFloat, {-1})});
    const std::string negative =
        graph({node("Neg", {"x"}, {"less"})}, {}, {value("less", kFloat, {-1})});
    Names inputs = {value("x", kFloat, {-1})};
    if (constants.empty()) inputs.push_back(value("positive", kBool));
    return graph(
        {node("If", {"positive"}, {"y"},
              {graph_attribute("then_branch", twice), graph_attribute("else_branch", negative)})},
        inputs, {value("y", kFloat, {-1})}, constants);
}

// From x [2] and the number of rounds: total = x * 2^rounds while its first element is below 100,
// and the totals of all rounds.
std::string make_loop()
{
    const std::string body = graph(
        {node("Add", {"sum", "sum"}, {"next"}), node("Identity", {"next"}, {"kept"}),
         node("Slice", {"next", "zero", "one"}, {"first"}),
         node("ReduceMax", {"first"}, {"largest"}, {number_attribute("keepdims", 0)}),
         node("Less", {"largest", "limit"}, {"goes_on"})},
        {value("i", kInt64), value("on", kBool), value("sum", kFloat, {2})},
        {value("goes_on", kBool), value("next", kFloat, {2}), value("kept", kFloat, {2})},
        {constant<int64_t>("zero", kInt64, {1}, {0}), constant<int64_t>("one", kInt64, {1}, {1})});
    return graph({node("Loop", {"rounds", "begin", "x"}, {"total", "totals"},
                       {graph_attribute("body", body)})},
                 {value("x", kFloat, {2}), value("rounds", kInt64), value("begin", kBool)},
                 {value("total", kFloat, {2}), value("totals", kFloat, {-1, 2})},
                 {constant<float>("limit", kFloat, {}, {100})});
}

// A loop without a condition: a and b are exchanged in each round.
std::string make_swap(int64_t rounds)
{
    const std::string body = graph(
        {node("Identity", {"on"}, {"goes_on"})},
        {value("i", kInt64), value("on", kBool), value("a", kFloat, {2}), value("b", kFloat, {2})},
        {value("goes_on", kBool), value("b", kFloat, {2}), value("a", kFloat, {2})});
    return graph(
        {node("Loop", {"rounds", "", "x", "z"}, {"p", "q"}, {graph_attribute("body", body)})},
        {value("x", kFloat, {2}), value("z", kFloat, {2})},
        {value("p", kFloat, {2}), value("q", kFloat, {2})},
        {constant<int64_t>("rounds", kInt64, {}, {rounds})});
}

class ControlFlowTest : public ApiTest
{
  protected:
    void TearDown() override
    {
        for (const graph_t graph : graphs_)
            destroy_graph(graph);
        ApiTest::TearDown();
    }

    graph_t own(graph_t graph)
    {
        EXPECT_NE(graph, nullptr) << get_tengine_error();
        if (graph) graphs_.push_back(graph);
        return graph;
    }

    template <class T>
    static void feed(graph_t graph, const char* name, const std::vector<int>& dims,
                     const std::vector<T>& values)
    {
        const tensor_t tensor = get_graph_tensor(graph, name);
        ASSERT_EQ(set_tensor_shape(tensor, dims.data(), static_cast<int>(dims.size())), 0);
        if (values.empty()) return;
        ASSERT_EQ(
            set_tensor_data(tensor, values.data(), static_cast<int>(values.size() * sizeof(T))), 0)
            << get_tengine_error();
    }

    static std::vector<float> run(graph_t graph, int output = 0)
    {
        EXPECT_EQ(prerun_graph(graph), 0) << get_tengine_error();
        EXPECT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
        return read_floats(tengine_graph_get_output(graph, output));
    }

    static std::vector<float> run_if(graph_t graph, bool condition, const std::vector<float>& x)
    {
        feed<float>(graph, "x", {static_cast<int>(x.size())}, x);
        feed<uint8_t>(graph, "positive", {}, {condition});
        return run(graph);
    }

    static std::vector<float> run_loop(graph_t graph, int64_t rounds, bool begin, int output)
    {
        feed<float>(graph, "x", {2}, {1, 3});
        feed<int64_t>(graph, "rounds", {}, {rounds});
        feed<uint8_t>(graph, "begin", {}, {begin});
        return run(graph, output);
    }

    static Names list_nodes(graph_t graph)
    {
        Names names;
        for (int i = 0; i < tengine_graph_get_execution_node_number(graph); ++i) {
            struct tengine_execution_node node;
            EXPECT_EQ(tengine_graph_get_execution_node(graph, i, &node), 0);
            names.push_back(std::string(node.device) + " " + node.name);
        }
        return names;
    }

    // Expects loading or preparing to fail with a message that contains `part`.
    void expect_refusal(const std::string& contents, const std::string& part)
    {
        const graph_t graph = load(contents);
        if (graph) {
            graphs_.push_back(graph);
            EXPECT_LT(prerun_graph(graph), 0) << part;
        }
        EXPECT_NE(std::string(get_tengine_error()).find(part), std::string::npos)
            << get_tengine_error();
        clr_tengine_errno();
        take_logged_failures();
    }

  private:
    std::vector<graph_t> graphs_;
};

TEST_F(ControlFlowTest, IfRunsTheBranchOfItsCondition)
{
    const graph_t graph = own(load(make_if()));
    EXPECT_EQ(run_if(graph, true, {1, 2}), (std::vector<float>{1, 2, 1, 2}));
    EXPECT_EQ(run_if(graph, false, {1, 2}), (std::vector<float>{-1, -2}));
    EXPECT_EQ(run_if(graph, true, {5}), (std::vector<float>{5, 5}));
    EXPECT_EQ(run_if(graph, false, {7, 8, 9}), (std::vector<float>{-7, -8, -9}));
}

TEST_F(ControlFlowTest, ConstantConditionLeavesOneBranch)
{
    const graph_t graph = own(load(make_if({constant<uint8_t>("positive", kBool, {}, {1})})));
    feed<float>(graph, "x", {2}, {3, 4});
    EXPECT_EQ(run(graph), (std::vector<float>{3, 4, 3, 4}));
    EXPECT_EQ(list_nodes(graph), Names{"CPU If_0/then_branch/Concat_0"});
}

TEST_F(ControlFlowTest, LoopCarriesGathersAndEnds)
{
    const graph_t graph = own(load(make_loop()));
    EXPECT_EQ(run_loop(graph, 3, true, 0), (std::vector<float>{8, 24}));
    EXPECT_EQ(run_loop(graph, 3, true, 1), (std::vector<float>{2, 6, 4, 12, 8, 24}));
    EXPECT_EQ(run_loop(graph, 1000, true, 0), (std::vector<float>{128, 384})) << "the condition";
    EXPECT_EQ(run_loop(graph, 1000, true, 1).size(), 14U);
}

TEST_F(ControlFlowTest, LoopWithoutARound)
{
    const graph_t graph = own(load(make_loop()));
    for (const auto& [rounds, begin] :
         {std::pair<int64_t, bool>{0, true}, {-4, true}, {3, false}}) {
        EXPECT_EQ(run_loop(graph, rounds, begin, 0), (std::vector<float>{1, 3}));
        int dims[8] = {};
        EXPECT_EQ(get_tensor_shape(tengine_graph_get_output(graph, 1), dims, 8), 2);
        EXPECT_EQ(dims[0], 0);
        EXPECT_EQ(dims[1], 2);
    }
}

TEST_F(ControlFlowTest, ValuesChangePlaces)
{
    for (const int rounds : {1, 2, 5}) {
        const graph_t graph = own(load(make_swap(rounds)));
        feed<float>(graph, "x", {2}, {1, 2});
        feed<float>(graph, "z", {2}, {3, 4});
        EXPECT_EQ(run(graph), rounds % 2 ? (std::vector<float>{3, 4}) : (std::vector<float>{1, 2}));
        EXPECT_EQ(run(graph, 1),
                  rounds % 2 ? (std::vector<float>{1, 2}) : (std::vector<float>{3, 4}));
    }
}

// The value of round i is x[0..i]: its shape differs in each round.
TEST_F(ControlFlowTest, CarriedValueGrows)
{
    const std::string body =
        graph({node("Concat", {"all", "x"}, {"more"}, {number_attribute("axis", 0)}),
               node("Identity", {"on"}, {"goes_on"})},
              {value("i", kInt64), value("on", kBool), value("all", kFloat, {-1})},
              {value("goes_on", kBool), value("more", kFloat, {-1})});
    const graph_t grown = own(load(
        graph({node("Loop", {"rounds", "", "x"}, {"y"}, {graph_attribute("body", body)}),
               node("Neg", {"y"}, {"less"})},
              {value("x", kFloat, {1}), value("rounds", kInt64)}, {value("less", kFloat, {-1})})));
    for (const int64_t rounds : {4, 0, 7, 4}) {
        feed<float>(grown, "x", {1}, {2});
        feed<int64_t>(grown, "rounds", {}, {rounds});
        EXPECT_EQ(run(grown), std::vector<float>(static_cast<size_t>(rounds) + 1, -2));
    }
}

// Elements of 4 bits, with rows that do not begin at a byte: x is such a tensor between two casts.
std::string make_packed(const std::string& middle, const std::vector<int>& result)
{
    const auto cast = [](const char* from, const char* to, int type) {
        return node("Cast", {from}, {to}, {number_attribute("to", type)});
    };
    return graph({cast("x", "few", kInt4), middle, cast("made", "y", kFloat)},
                 {value("x", kFloat, {3, 3}), value("positive", kBool)},
                 {value("y", kFloat, result)}, {constant<int64_t>("rounds", kInt64, {}, {3})});
}

TEST_F(ControlFlowTest, ScanTakesPackedElements)
{
    const std::string body = graph({node("Identity", {"column"}, {"same"})},
                                   {value("column", kInt4, {3})}, {value("same", kInt4, {3})});
    const auto ints = [](const char* name, uint64_t number) {
        return Message().bytes(1, name).number(8, number).number(20, 7).text();
    };
    const std::string scan =
        node("Scan", {"few"}, {"made"},
             {graph_attribute("body", body), number_attribute("num_scan_inputs", 1),
              ints("scan_input_axes", 1), ints("scan_output_axes", 1),
              ints("scan_output_directions", 1)});
    const graph_t graph = own(load(make_packed(scan, {3, 3}), nullptr, 21));
    feed<float>(graph, "x", {3, 3}, {1, 2, 3, -4, -5, -6, 7, 0, -8});
    feed<uint8_t>(graph, "positive", {}, {1});
    EXPECT_EQ(run(graph), (std::vector<float>{3, 2, 1, -6, -5, -4, -8, 0, 7}));
}

TEST_F(ControlFlowTest, LoopAndIfTakePackedElements)
{
    const std::string same = graph({node("Identity", {"next"}, {"a"})}, {}, {value("a", kInt4)});
    const std::string turned = graph({node("Transpose", {"next"}, {"b"})}, {}, {value("b", kInt4)});
    const std::string body =
        graph({node("Cast", {"few"}, {"number"}, {number_attribute("to", kFloat)}),
               node("Add", {"number", "one"}, {"more"}),
               node("Cast", {"more"}, {"next"}, {number_attribute("to", kInt4)}),
               node("If", {"positive"}, {"kept"},
                    {graph_attribute("then_branch", same), graph_attribute("else_branch", turned)}),
               node("Identity", {"on"}, {"goes_on"})},
              {value("i", kInt64), value("on", kBool), value("few", kInt4, {3, 3})},
              {value("goes_on", kBool), value("next", kInt4, {3, 3}), value("kept", kInt4, {3, 3})},
              {constant<float>("one", kFloat, {}, {1})});
    const std::string loop =
        node("Loop", {"rounds", "", "few"}, {"last", "made"}, {graph_attribute("body", body)});
    const graph_t graph = own(load(make_packed(loop, {3, 3, 3}), nullptr, 21));
    const std::vector<float> x = {1, 2, 3, -4, -5, -6, 0, -1, -8};
    feed<float>(graph, "x", {3, 3}, x);
    for (const bool positive : {true, false}) {
        feed<uint8_t>(graph, "positive", {}, {positive});
        std::vector<float> expected;
        for (int round = 1; round <= 3; ++round)
            for (size_t i = 0; i < 9; ++i)
                expected.push_back(x[positive ? i : i % 3 * 3 + i / 3] + static_cast<float>(round));
        EXPECT_EQ(run(graph), expected) << positive;
    }
}

// An If in a Loop reads the number of the round, a constant of its own, and a constant and an input
// of the outer graph.
std::string make_nested()
{
    const std::string shifted =
        graph({node("Add", {"sum", "shift"}, {"more"}), node("Add", {"more", "x"}, {"result"})}, {},
              {value("result", kFloat, {2})}, {constant<float>("shift", kFloat, {}, {0.5F})});
    const std::string scaled =
        graph({node("Mul", {"sum", "factor"}, {"result"})}, {}, {value("result", kFloat, {2})});
    const std::string body = graph(
        {node("Equal", {"i", "two"}, {"is_second"}),
         node("If", {"is_second"}, {"next"},
              {graph_attribute("then_branch", shifted), graph_attribute("else_branch", scaled)}),
         node("Identity", {"on"}, {"goes_on"})},
        {value("i", kInt64), value("on", kBool), value("sum", kFloat, {2})},
        {value("goes_on", kBool), value("next", kFloat, {2})},
        {constant<int64_t>("two", kInt64, {}, {2})});
    return graph({node("Loop", {"rounds", "", "x"}, {"y"}, {graph_attribute("body", body)})},
                 {value("x", kFloat, {2}), value("rounds", kInt64)}, {value("y", kFloat, {2})},
                 {constant<float>("factor", kFloat, {}, {2})});
}

std::vector<float> expect_nested(std::vector<float> x, int64_t rounds)
{
    std::vector<float> y = x;
    for (int64_t i = 0; i < rounds; ++i)
        for (size_t k = 0; k < y.size(); ++k)
            y[k] = i == 2 ? y[k] + 0.5F + x[k] : y[k] * 2;
    return y;
}

TEST_F(ControlFlowTest, BodiesReadWhatIsAroundThem)
{
    const graph_t nested = own(load(make_nested()));
    for (const int64_t rounds : {1, 3, 5}) {
        feed<float>(nested, "x", {2}, {1, -3});
        feed<int64_t>(nested, "rounds", {}, {rounds});
        EXPECT_EQ(run(nested), expect_nested({1, -3}, rounds));
    }
}

TEST_F(ControlFlowTest, SavedFilesHaveTheBodies)
{
    const graph_t given = own(load(make_nested()));
    feed<float>(given, "x", {2}, {1, -3});
    feed<int64_t>(given, "rounds", {}, {4});
    const auto folder = std::filesystem::temp_directory_path();
    for (const char* format : {"onnx", "tengine"}) {
        const std::string file =
            (folder / ("control_flow_" + std::to_string(getpid()) + "." + format)).string();
        ASSERT_EQ(save_graph(given, format, file.c_str()), 0) << get_tengine_error();
        const graph_t read = own(create_graph(nullptr, format, file.c_str()));
        std::filesystem::remove(file);
        ASSERT_NE(read, nullptr);
        feed<float>(read, "x", {2}, {1, -3});
        feed<int64_t>(read, "rounds", {}, {4});
        EXPECT_EQ(run(read), expect_nested({1, -3}, 4)) << format;
    }
}

TEST_F(ControlFlowTest, NodesOfBodiesGoToTheDevicesThatTakeThem)
{
    test::TestDevice device("A", {"Neg"});
    const context_t context = create_context("c", 1);
    ASSERT_EQ(add_context_device(context, "A"), 0);
    const graph_t graph = load(make_if(), context);
    ASSERT_NE(graph, nullptr) << get_tengine_error();
    EXPECT_EQ(run_if(graph, false, {1, 2}), (std::vector<float>{-1, -2}));
    EXPECT_EQ(list_nodes(graph),
              (Names{"CPU If_0", "CPU If_0/then_branch/Concat_0", "A If_0/else_branch/Neg_0"}));
    EXPECT_EQ(device.runs, 1);
    destroy_graph(graph);
    destroy_context(context);
}

TEST_F(ControlFlowTest, RoundsAllocateNothing)
{
    if (!can_count_allocations()) GTEST_SKIP() << "allocations cannot be counted here";
    const graph_t graph = own(load(make_loop()));
    const auto count = [&](int64_t rounds) {
        run_loop(graph, rounds, true, 0);
        feed<int64_t>(graph, "rounds", {}, {rounds});
        const long before = count_allocations();
        EXPECT_EQ(run_graph(graph, 1), 0);
        return count_allocations() - before;
    };
    count(6);
    EXPECT_EQ(count(6), count(2));
}

// The positions where x is not 0, negated in each round.
std::string make_loop_of_places()
{
    const std::string body =
        graph({node("Neg", {"v"}, {"w"}), node("Identity", {"c"}, {"d"})},
              {value("i", kInt64), value("c", kBool), value("v", kInt64, {1, -1})},
              {value("d", kBool), value("w", kInt64, {1, -1})});
    return graph({node("NonZero", {"x"}, {"places"}),
                  node("Loop", {"rounds", "", "places"}, {"y"}, {graph_attribute("body", body)})},
                 {value("x", kFloat, {4}), value("rounds", kInt64)}, {value("y", kInt64, {1, -1})});
}

// A body is prepared for a shape that depends on data once, and not in every round or run.
TEST_F(ControlFlowTest, RoundsOfAFoundSizeAllocateNothing)
{
    if (!can_count_allocations()) GTEST_SKIP() << "allocations cannot be counted here";
    const graph_t graph = own(load(make_loop_of_places()));
    feed<float>(graph, "x", {4}, {});
    feed<int64_t>(graph, "rounds", {}, {});
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    const auto count = [&](int64_t rounds, const std::vector<float>& x) {
        feed<float>(graph, "x", {4}, x);
        feed<int64_t>(graph, "rounds", {}, {rounds});
        const long before = count_allocations();
        EXPECT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
        return count_allocations() - before;
    };
    count(6, {1, 0, 1, 1});
    const long same = count(6, {1, 1, 0, 1});
    EXPECT_EQ(count(2, {0, 1, 1, 1}), same);
    EXPECT_LT(same, 10);
    EXPECT_GT(count(2, {0, 1, 0, 1}), same + 10) << "another size is prepared";
}

// The exponential of x, which lies in the arena while the bodies of a Loop and an If run, and their
// result for x.
std::string make_deep()
{
    const std::string body = graph(
        {node("Abs", {"v"}, {"a"}), node("Neg", {"a"}, {"w"}), node("Identity", {"c"}, {"d"})},
        {value("i", kInt64), value("c", kBool), value("v", kFloat, {300})},
        {value("d", kBool), value("w", kFloat, {300})});
    const auto branch = [](const std::string& first, const std::string& second) {
        return graph({node(first, {"l"}, {"f"}), node(second, {"f"}, {"s"})}, {},
                     {value("s", kFloat, {300})});
    };
    return graph({node("Exp", {"x"}, {"kept"}),
                  node("Loop", {"rounds", "", "x"}, {"l"}, {graph_attribute("body", body)}),
                  node("If", {"positive"}, {"b"},
                       {graph_attribute("then_branch", branch("Neg", "Sqrt")),
                        graph_attribute("else_branch", branch("Abs", "Exp"))}),
                  node("Add", {"kept", "b"}, {"y"})},
                 {value("x", kFloat, {300}), value("rounds", kInt64), value("positive", kBool)},
                 {value("y", kFloat, {300})});
}

// Bodies that never run at the same time share memory, and not with the part around them.
TEST_F(ControlFlowTest, BodiesShareTheirMemory)
{
    const graph_t graph = own(load(make_deep()));
    std::vector<float> x(300);
    for (size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<float>(i % 9) / 4 - 1;
    for (const bool positive : {true, false, true}) {
        feed<float>(graph, "x", {300}, x);
        feed<int64_t>(graph, "rounds", {}, {3});
        feed<uint8_t>(graph, "positive", {}, {positive});
        const std::vector<float> y = run(graph);
        for (size_t i = 0; i < x.size(); ++i) {
            const float result = std::abs(x[i]);
            ASSERT_NEAR(y[i], std::exp(x[i]) + (positive ? std::sqrt(result) : std::exp(result)),
                        1e-5);
        }
    }
    std::map<int, int> parts;  // with an arena, by memory
    int64_t planned = 0;
    for (int i = 0; i < tengine_graph_get_plan_arena_number(graph); ++i) {
        tengine_plan_arena arena;
        ASSERT_EQ(tengine_graph_get_plan_arena(graph, i, &arena, sizeof arena), 0);
        if (*arena.device && arena.bytes > 0) ++parts[arena.memory];
        if (*arena.device && arena.memory == i) planned += arena.bytes;
    }
    ASSERT_EQ(parts.size(), 2u);
    EXPECT_EQ(parts.begin()->second, 1) << "the graph's";
    EXPECT_EQ(parts.rbegin()->second, 3) << "those of bodies";
    tengine_device_memory device;
    ASSERT_EQ(tengine_graph_get_device_memory(graph, 0, &device, sizeof device), 0);
    EXPECT_EQ(device.arena_bytes, planned) << "the arenas are of one size here";
}

TEST_F(ControlFlowTest, ThreadsGiveTheSame)
{
    const graph_t graph = own(load(make_nested()));
    feed<float>(graph, "x", {2}, {1, -3});
    feed<int64_t>(graph, "rounds", {}, {5});
    struct options options = {};
    options.num_thread = 2;
    ASSERT_EQ(prerun_graph_multithread(graph, options), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
    EXPECT_EQ(read_floats(tengine_graph_get_output(graph, 0)), expect_nested({1, -3}, 5));
}

TEST_F(ControlFlowTest, ScanWalksAndStacksBackwards)
{
    const std::string body =
        graph({node("Add", {"sum", "element"}, {"next"}), node("Identity", {"next"}, {"kept"})},
              {value("sum"), value("element")}, {value("next"), value("kept")});
    const auto list = [](const char* name, uint64_t number) {
        return Message().bytes(1, name).number(8, number).number(20, 7).text();
    };
    const graph_t graph_of_scan = own(
        load(graph({node("Scan", {"start", "x"}, {"total", "sums"},
                         {graph_attribute("body", body), number_attribute("num_scan_inputs", 1),
                          list("scan_input_directions", 1), list("scan_output_directions", 1)})},
                   {value("start"), value("x", kFloat, {-1})},
                   {value("total"), value("sums", kFloat, {-1})})));
    feed<float>(graph_of_scan, "start", {}, {10});
    feed<float>(graph_of_scan, "x", {3}, {1, 2, 4});
    EXPECT_EQ(run(graph_of_scan), std::vector<float>{17});
    EXPECT_EQ(run(graph_of_scan, 1), (std::vector<float>{17, 16, 14}));
    feed<float>(graph_of_scan, "x", {0}, {});
    EXPECT_EQ(run(graph_of_scan), std::vector<float>{10});
    int dims[8] = {-1};
    EXPECT_EQ(get_tensor_shape(tengine_graph_get_output(graph_of_scan, 1), dims, 8), 1);
    EXPECT_EQ(dims[0], 0);
}

TEST_F(ControlFlowTest, WrongBodiesAreRefused)
{
    const std::string one = graph({node("Neg", {"x"}, {"a"})}, {}, {value("a", kFloat, {2})});
    const std::string bools = graph({node("IsNaN", {"x"}, {"b"})}, {}, {value("b", kBool, {2})});
    const auto make = [&](const Names& attributes) {
        return graph({node("If", {"c"}, {"y"}, attributes)},
                     {value("x", kFloat, {2}), value("c", kBool)}, {value("y", kFloat, {2})});
    };
    expect_refusal(make({graph_attribute("then_branch", one)}),
                   "attribute 'else_branch', a graph, is required");
    expect_refusal(
        make({graph_attribute("then_branch", one), graph_attribute("else_branch", bools)}),
        "output 0 of its body is bool, expected fp32");
    expect_refusal(make({graph_attribute("then_branch", one),
                         graph_attribute("else_branch", graph({}, {}, {value("a"), value("x")}))}),
                   "not a graph input, an initializer or the output of a node");
    expect_refusal(
        make({graph_attribute("then_branch", one),
              graph_attribute("else_branch", graph({}, {value("extra")}, {value("x")}))}),
        "its body has 1 inputs, expected 0");
    expect_refusal(make({graph_attribute("then_branch", one),
                         graph_attribute("else_branch", graph({}, {}, {}))}),
                   "graph 'If_0/else_branch' has no outputs");
}

// The number of rounds and the condition have the types that kernels read, and carried values
// exist.
TEST_F(ControlFlowTest, WrongInputsOfLoopsAreRefused)
{
    const std::string body =
        graph({node("Identity", {"on"}, {"goes_on"}), node("Neg", {"v"}, {"w"})},
              {value("i", kInt64), value("on", kBool), value("v", kFloat, {2})},
              {value("goes_on", kBool), value("w", kFloat, {2})});
    const auto make = [&](const Names& inputs) {
        return graph({node("Loop", inputs, {"y"}, {graph_attribute("body", body)})},
                     {value("x", kFloat, {2}), value("n", kInt64), value("c", kBool)},
                     {value("y", kFloat, {2})});
    };
    expect_refusal(make({"x", "", "x"}), "input 0, 'x', is fp32, expected int64");
    expect_refusal(make({"n", "n", "x"}), "input 1, 'n', is int64, expected bool");
    expect_refusal(make({"n", "c", ""}), "input 2 is missing");
    expect_refusal(make({"n", "c"}), "its body has 3 inputs, expected 2");
}

TEST_F(ControlFlowTest, NestingIsBounded)
{
    const std::string other = graph({}, {}, {value("x", kFloat, {2})});
    const auto nest = [&](int depth) {
        std::string inner = graph({node("Neg", {"x"}, {"y"})}, {}, {value("y", kFloat, {2})});
        for (int i = 0; i < depth; ++i)
            inner =
                graph({node("If", {"c"}, {"y"},
                            {graph_attribute("then_branch", inner),
                             graph_attribute("else_branch", other)})},
                      i + 1 < depth ? Names{} : Names{value("x", kFloat, {2}), value("c", kBool)},
                      {value("y", kFloat, {2})});
        return inner;
    };
    const graph_t deep = own(load(nest(8)));
    feed<float>(deep, "x", {2}, {1, 2});
    feed<uint8_t>(deep, "c", {}, {1});
    EXPECT_EQ(run(deep), (std::vector<float>{-1, -2}));
    expect_refusal(nest(9), "is nested in more than 8 others");
}

TEST_F(ControlFlowTest, NodesWithoutBodiesCannotBeMadeByHand)
{
    const graph_t graph = own(create_graph(nullptr, nullptr, nullptr));
    const tensor_t condition = add_input(graph, "c", {1}, TENGINE_DT_BOOL);
    add_node(graph, "y", "If", {condition});
    ASSERT_TRUE(set_borders(graph, {"c"}, {"y"}));
    EXPECT_LT(prerun_graph(graph), 0);
    EXPECT_NE(std::string(get_tengine_error()).find("it has no graphs"), std::string::npos)
        << get_tengine_error();
    clr_tengine_errno();
    take_logged_failures();
}

}  // namespace
}  // namespace tengine
