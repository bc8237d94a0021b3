// SPDX-License-Identifier: Apache-2.0
// GroupQueryAttention whose total_sequence_length is set in each run: as an input of the model,
// from a node, in bodies of If and Loop. The present grows if the total needs another row.
#include <algorithm>
#include <random>

#include "fixture.h"
#include "onnx_graph.h"

namespace tengine {
namespace {

using namespace onnx;
using Floats = std::vector<float>;

constexpr int kHeads = 4, kKeyHeads = 2, kDepth = 8, kPast = 6;
const std::vector<int> kCache = {1, kKeyHeads, -1, kDepth};

// ---- models ----

std::string attention(const Names& inputs, const Names& outputs)
{
    return node(
        "com.microsoft.GroupQueryAttention", inputs, outputs,
        {number_attribute("num_heads", kHeads), number_attribute("kv_num_heads", kKeyHeads)});
}

std::string model(const Names& nodes, const Names& more_inputs = {}, const Names& constants = {})
{
    Names inputs = {value("query", kFloat, {1, 1, kHeads * kDepth}),
                    value("key", kFloat, {1, 1, kKeyHeads * kDepth}),
                    value("value", kFloat, {1, 1, kKeyHeads * kDepth}),
                    value("past_key", kFloat, kCache),
                    value("past_value", kFloat, kCache),
                    value("last", kInt32, {1}),
                    value("total", kInt32)};
    inputs.insert(inputs.end(), more_inputs.begin(), more_inputs.end());
    return graph(nodes, inputs,
                 {value("y", kFloat, {1, 1, kHeads * kDepth}), value("keys", kFloat, kCache),
                  value("values", kFloat, kCache)},
                 constants);
}

Names inputs_with(const std::string& total)
{
    return {"query", "key", "value", "past_key", "past_value", "last", total};
}

std::string make_plain()
{
    return model({attention(inputs_with("total"), {"y", "keys", "values"})});
}

std::string make_computed()
{
    return model({node("Add", {"total", "zero"}, {"sum"}),
                  attention(inputs_with("sum"), {"y", "keys", "values"})},
                 {}, {constant<int32_t>("zero", kInt32, {}, {0})});
}

// The total passes through a node that is removed.
std::string make_renamed()
{
    return model({node("Identity", {"total"}, {"same"}),
                  attention(inputs_with("same"), {"y", "keys", "values"})});
}

// Both branches of an If are equal; the total is captured or computed there.
std::string make_branch(const Names& nodes, const std::string& total)
{
    Names all = nodes;
    all.push_back(attention(inputs_with(total), {"a", "b", "c"}));
    return graph(
        all, {},
        {value("a", kFloat, {1, 1, -1}), value("b", kFloat, kCache), value("c", kFloat, kCache)});
}

std::string make_if(const std::string& branch)
{
    return model(
        {node("Less", {"total", "limit"}, {"is_short"}),
         node("If", {"is_short"}, {"y", "keys", "values"},
              {graph_attribute("then_branch", branch), graph_attribute("else_branch", branch)})},
        {},
        {constant<int32_t>("limit", kInt32, {}, {kPast + 1}),
         constant<int32_t>("zero", kInt32, {}, {0})});
}

std::string make_nested()
{
    const std::string inner = make_branch({}, "total");
    return make_if(graph(
        {node("If", {"is_short"}, {"d", "e", "f"},
              {graph_attribute("then_branch", inner), graph_attribute("else_branch", inner)})},
        {},
        {value("d", kFloat, {1, 1, -1}), value("e", kFloat, kCache), value("f", kFloat, kCache)}));
}

// A loop of one round that carries the total.
std::string make_loop()
{
    const std::string body =
        graph({attention({"q", "key", "value", "k", "v", "last", "t"}, {"a", "b", "c"}),
               node("Identity", {"t"}, {"u"}), node("Identity", {"on"}, {"goes_on"})},
              {value("i", kInt64), value("on", kBool), value("q", kFloat, {1, 1, kHeads * kDepth}),
               value("k", kFloat, kCache), value("v", kFloat, kCache), value("t", kInt32)},
              {value("goes_on", kBool), value("a", kFloat, {1, 1, kHeads * kDepth}),
               value("b", kFloat, kCache), value("c", kFloat, kCache), value("u", kInt32)});
    return model({node("Loop", {"once", "", "query", "past_key", "past_value", "total"},
                       {"y", "keys", "values", "unused"}, {graph_attribute("body", body)})},
                 {}, {constant<int64_t>("once", kInt64, {}, {1})});
}

// ---- runs ----

// A model whose runs may each have another total. The shapes of its inputs stay.
class Model
{
  public:
    Model(const std::string& contents, context_t context, int precision, int threads)
        : graph_(load(contents, context)), precision_(precision), threads_(threads)
    {
        EXPECT_NE(graph_, nullptr) << get_tengine_error();
        const int shape[] = {1, kKeyHeads, kPast, kDepth};
        std::mt19937 random(7);
        std::uniform_real_distribution<float> distribution(-1, 1);
        for (const char* name : {"past_key", "past_value"})
            EXPECT_EQ(set_tensor_shape(get_graph_tensor(graph_, name), shape, 4), 0);
        for (const auto& [name, size] : {std::pair{"query", kHeads * kDepth},
                                         {"key", kKeyHeads * kDepth},
                                         {"value", kKeyHeads * kDepth},
                                         {"past_key", kKeyHeads * kPast * kDepth},
                                         {"past_value", kKeyHeads * kPast * kDepth}}) {
            Floats numbers(static_cast<size_t>(size));
            std::generate(numbers.begin(), numbers.end(), [&] { return distribution(random); });
            EXPECT_TRUE(write_floats(get_graph_tensor(graph_, name), numbers));
        }
    }
    ~Model() { EXPECT_EQ(destroy_graph(graph_), 0); }
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;

    graph_t graph() const { return graph_; }

    void feed(int total)
    {
        const int32_t last = total - 1;
        EXPECT_EQ(set_tensor_data(get_graph_tensor(graph_, "total"), &total, sizeof total), 0);
        EXPECT_EQ(set_tensor_data(get_graph_tensor(graph_, "last"), &last, sizeof last), 0);
    }

    void prepare(int total)
    {
        feed(total);
        const options_t options = {threads_, TENGINE_CLUSTER_ALL, precision_, 0};
        EXPECT_EQ(prerun_graph_multithread(graph_, options), 0) << get_tengine_error();
        is_prepared_ = true;
    }

    // Result, keys and values.
    std::vector<Floats> run(int total)
    {
        is_prepared_ ? feed(total) : prepare(total);
        EXPECT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
        std::vector<Floats> results;
        for (int i = 0; i < 3; ++i)
            results.push_back(read_floats(tengine_graph_get_output(graph_, i)));
        return results;
    }

    int count_rows() const
    {
        int dims[4] = {};
        EXPECT_EQ(get_tensor_shape(tengine_graph_get_output(graph_, 1), dims, 4), 4);
        return dims[2];
    }

  private:
    graph_t graph_;
    const int precision_, threads_;
    bool is_prepared_ = false;
};

// The present is in buffers of the program, which have no room for another row.
void expect_lent_cache(const std::string& contents)
{
    Model model(contents, nullptr, TENGINE_MODE_FP32, 1);
    Floats cache[2];
    model.prepare(kPast - 1);
    for (int i = 0; i < 2; ++i) {
        cache[i].resize(kKeyHeads * kPast * kDepth);
        const tensor_t present = tengine_graph_get_output(model.graph(), i + 1);
        ASSERT_EQ(set_tensor_buffer(present, cache[i].data(),
                                    static_cast<int>(cache[i].size() * sizeof(float))),
                  0)
            << get_tengine_error();
    }
    Model fresh(make_plain(), nullptr, TENGINE_MODE_FP32, 1);
    const std::vector<Floats> wanted = fresh.run(kPast - 1);
    EXPECT_EQ(model.run(kPast - 1), wanted);
    EXPECT_EQ(cache[0], wanted[1]);
    EXPECT_EQ(cache[1], wanted[2]);
    model.feed(kPast + 1);
    EXPECT_LT(run_graph(model.graph(), 1), 0);
    EXPECT_EQ(model.count_rows(), kPast);
    EXPECT_EQ(model.run(kPast - 1), wanted);
}

class AttentionTotalTest : public ApiTest
{
  protected:
    // Grows, shrinks, repeats: the results are those of a model prepared for this total alone, up
    // to the order of summation in another kernel.
    static void expect_growth(const std::string& contents)
    {
        for (const auto& [precision, tolerance] : {std::pair{TENGINE_MODE_FP32, 1e-6f},
                                                   {TENGINE_MODE_FP16, 4e-3f},
                                                   {TENGINE_MODE_BF16, 3e-2f}})
            for (const char* scheduler : {"sync", "pipeline"})
                for (const int threads : {1, 2}) {
                    SCOPED_TRACE(testing::Message() << precision << scheduler << threads);
                    const context_t context = create_context("totals", 0);
                    ASSERT_EQ(tengine_context_set_option(context, "scheduler", scheduler), 0);
                    expect_rows(contents, context, precision, threads, tolerance);
                    destroy_context(context);
                }
    }

  private:
    static void expect_rows(const std::string& contents, context_t context, int precision,
                            int threads, float tolerance)
    {
        Model growing(contents, context, precision, threads);
        for (const int total : {kPast + 1, kPast - 1, kPast + 1, kPast, kPast + 1, kPast + 1, 3}) {
            SCOPED_TRACE(total);
            Model fresh(make_plain(), nullptr, TENGINE_MODE_FP32, 1);
            const std::vector<Floats> wanted = fresh.run(total);
            const std::vector<Floats> numbers = growing.run(total);
            EXPECT_EQ(growing.count_rows(), std::max(total, kPast));
            for (size_t i = 0; i < wanted.size(); ++i) {
                ASSERT_EQ(numbers[i].size(), wanted[i].size()) << "output " << i;
                for (size_t k = 0; k < wanted[i].size(); ++k)
                    ASSERT_NEAR(numbers[i][k], wanted[i][k], tolerance) << i << ", " << k;
            }
        }
    }
};

TEST_F(AttentionTotalTest, IsAnInput)
{
    expect_growth(make_plain());
}

TEST_F(AttentionTotalTest, IsComputed)
{
    expect_growth(make_computed());
}

TEST_F(AttentionTotalTest, IsAnInputByAnotherName)
{
    expect_growth(make_renamed());
}

TEST_F(AttentionTotalTest, IsCapturedByABranch)
{
    expect_growth(make_if(make_branch({}, "total")));
}

TEST_F(AttentionTotalTest, IsComputedInABranch)
{
    expect_growth(make_if(make_branch({node("Add", {"total", "zero"}, {"sum"})}, "sum")));
}

TEST_F(AttentionTotalTest, IsCapturedByABranchOfABranch)
{
    expect_growth(make_nested());
}

TEST_F(AttentionTotalTest, IsCarriedByALoop)
{
    expect_growth(make_loop());
}

// The node's other results do not matter.
TEST_F(AttentionTotalTest, IsComputedBesideScores)
{
    expect_growth(model(
        {node("Add", {"total", "zero"}, {"sum"}),
         node("com.microsoft.GroupQueryAttention", inputs_with("sum"),
              {"y", "keys", "values", "scores"},
              {number_attribute("num_heads", kHeads), number_attribute("kv_num_heads", kKeyHeads),
               number_attribute("qk_output", 1)})},
        {}, {constant<int32_t>("zero", kInt32, {}, {0})}));
}

TEST_F(AttentionTotalTest, LeavesACacheOfTheProgramsAsItIs)
{
    expect_lent_cache(make_plain());
    expect_lent_cache(make_computed());
    expect_lent_cache(make_if(make_branch({}, "total")));
}

}  // namespace
}  // namespace tengine
