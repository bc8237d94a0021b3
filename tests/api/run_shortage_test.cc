// SPDX-License-Identifier: Apache-2.0
// Memory is exhausted in a run of a prepared graph, or in its preparation for another shape: each
// allocation fails in turn. The call reports it, there is no leak, and the next call, with memory,
// has the right result. Graphs with shapes that depend on data, with bodies and sequences.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>

#include "fixture.h"
#include "onnx_graph.h"
#include "support/allocation_count.h"

namespace tengine {
namespace {

using namespace onnx;

// The elements of x that are not 0, twice.
std::string make_selection()
{
    return graph({node("NonZero", {"x"}, {"found"}), node("Transpose", {"found"}, {"places"}),
                  node("Concat", {"places", "places"}, {"twice"}, {number_attribute("axis", 0)}),
                  node("GatherND", {"x", "twice"}, {"y"})},
                 {value("x", kFloat, {-1})}, {value("y", kFloat, {-1})});
}

// Three rounds, each of which adds the elements of x that are not 0 to the carried value.
std::string make_growth()
{
    const std::string body = graph(
        {node("NonZero", {"x"}, {"found"}), node("Transpose", {"found"}, {"places"}),
         node("GatherND", {"x", "places"}, {"some"}),
         node("Concat", {"all", "some"}, {"more"}, {number_attribute("axis", 0)}),
         node("Identity", {"on"}, {"goes_on"}), node("Tanh", {"x"}, {"scanned"})},
        {value("i", kInt64), value("on", kBool), value("all", kFloat, {-1})},
        {value("goes_on", kBool), value("more", kFloat, {-1}), value("scanned", kFloat, {-1})});
    return graph(
        {node("Loop", {"rounds", "", "x"}, {"grown", "kept"}, {graph_attribute("body", body)}),
         node("ReduceSum", {"kept"}, {"sum"}, {number_attribute("keepdims", 0)}),
         node("Add", {"grown", "sum"}, {"y"})},
        {value("x", kFloat, {-1})}, {value("y", kFloat, {-1})},
        {constant<int64_t>("rounds", kInt64, {}, {3})});
}

// An If whose branches take the elements that are not 0, one of them through sequences.
std::string make_choice()
{
    const std::string joined =
        graph({node("SequenceConstruct", {"some", "x", "some"}, {"list"}),
               node("ConcatFromSequence", {"list"}, {"both"}, {number_attribute("axis", 0)})},
              {}, {value("both", kFloat, {-1})});
    const std::string negative =
        graph({node("Neg", {"some"}, {"less"})}, {}, {value("less", kFloat, {-1})});
    return graph(
        {node("NonZero", {"x"}, {"found"}), node("Transpose", {"found"}, {"places"}),
         node("GatherND", {"x", "places"}, {"some"}), node("Size", {"some"}, {"number"}),
         node("Greater", {"number", "limit"}, {"is_many"}),
         node("If", {"is_many"}, {"y"},
              {graph_attribute("then_branch", joined), graph_attribute("else_branch", negative)})},
        {value("x", kFloat, {-1})}, {value("y", kFloat, {-1})},
        {constant<int64_t>("limit", kInt64, {}, {2})});
}

struct Case
{
    const char* name;
    std::string (*make)();
    int threads;
    const char* scheduler;
    long step = 1;  // every `step`-th allocation fails
};

class RunShortageTest : public ApiTest, public testing::WithParamInterface<Case>
{
  protected:
    using Values = std::vector<float>;

    void SetUp() override
    {
        if (!can_count_allocations()) GTEST_SKIP() << "a sanitizer has its own allocator";
        ApiTest::SetUp();
        set_log_level(LOG_EMERG);  // the tests' own sink needs memory
        context_ = create_context("c", 1);
        ASSERT_EQ(tengine_context_set_option(context_, "scheduler", GetParam().scheduler), 0);
        ASSERT_EQ(tengine_context_set_option(context_, "run.shape_cache", "0"), 0);
        graph_ = load(GetParam().make(), context_);
        ASSERT_NE(graph_, nullptr) << get_tengine_error();
    }

    void TearDown() override
    {
        if (graph_) destroy_graph(graph_);
        destroy_context(context_);
        set_log_level(LOG_NOTICE);
        ApiTest::TearDown();
    }

    bool prepare(const Values& x)
    {
        x_ = &x;
        const int dims[] = {static_cast<int>(x.size())};
        return set_tensor_shape(tengine_graph_get_input(graph_, 0), dims, 1) == 0 &&
               prerun_graph_multithread(graph_, {GetParam().threads, TENGINE_CLUSTER_ALL, 0, 0}) ==
                   0;
    }

    bool run(const Values& x)
    {
        return set_tensor_buffer(tengine_graph_get_input(graph_, 0), const_cast<float*>(x.data()),
                                 static_cast<int>(x.size() * sizeof(float))) == 0 &&
               run_graph(graph_, 1) == 0;
    }

    Values result() const { return read_floats(tengine_graph_get_output(graph_, 0)); }

    Values expect_of(const Values& x)
    {
        EXPECT_TRUE(prepare(x) && run(x)) << get_tengine_error();
        return result();
    }

    // Each allocation of `work` fails in turn, until there are no more; `begin` comes before and
    // `recover` after.
    void expect_recovery(const std::function<void()>& begin, const std::function<bool()>& work,
                         const std::function<void()>& recover)
    {
        int failures = 0;
        for (long number = 1; !HasFailure(); number += GetParam().step) {
            SCOPED_TRACE("allocation " + std::to_string(number));
            begin();
            clr_tengine_errno();
            const long before = count_allocations();
            fail_allocation(number);
            const bool worked = work();
            fail_allocation(0);
            const bool has_failed = count_allocations() - before >= number;
            if (!worked) {
                ++failures;
                EXPECT_EQ(get_tengine_errno(), TENGINE_ENOMEM) << get_tengine_error();
                EXPECT_NE(std::strstr(get_tengine_error(), "memory"), nullptr)
                    << get_tengine_error();
            }
            recover();
            if (!has_failed) break;
        }
        std::printf("%d allocations failed\n", failures);
        EXPECT_GT(failures, 2) << "the allocator does not fail";
    }

    const Values few_ = {0, 3, 0, 0, 5, 0}, many_ = {1, 0, 2, 7, 0, 4};
    const Values longer_ = {2, 0, 4, 0, 6, 0, 8, 0};
    context_t context_ = nullptr;
    graph_t graph_ = nullptr;
    const Values* x_ = nullptr;
};

// Each run has other sizes, so that each plans again.
TEST_P(RunShortageTest, TheNextRunIsRight)
{
    const Values of_few = expect_of(few_), of_many = expect_of(many_);
    ASSERT_NE(of_few.size(), of_many.size());
    expect_recovery([&] { EXPECT_TRUE(run(few_)) << get_tengine_error(); },
                    [&] { return run(many_); },
                    [&] {
                        EXPECT_TRUE(run(many_)) << get_tengine_error();
                        EXPECT_EQ(result(), of_many);
                        EXPECT_TRUE(run(few_)) << get_tengine_error();
                        EXPECT_EQ(result(), of_few);
                    });
}

TEST_P(RunShortageTest, TheNextPreparationIsRight)
{
    const Values of_many = expect_of(many_), of_longer = expect_of(longer_);
    expect_recovery([&] { EXPECT_TRUE(prepare(many_) && run(many_)) << get_tengine_error(); },
                    [&] { return prepare(longer_) && run(longer_); },
                    [&] {
                        EXPECT_TRUE(prepare(longer_) && run(longer_)) << get_tengine_error();
                        EXPECT_EQ(result(), of_longer);
                    });
}

TEST_P(RunShortageTest, NothingLeaks)
{
    ASSERT_TRUE(prepare(few_) && run(few_)) << get_tengine_error();
    const auto restart = [&] {
        EXPECT_EQ(postrun_graph(graph_), 0);
        clr_tengine_errno();
        return measure_live_memory().blocks;
    };
    restart();
    ASSERT_TRUE(prepare(few_) && run(few_) && run(many_)) << get_tengine_error();
    const long before = restart();
    expect_recovery([] {}, [&] { return prepare(few_) && run(few_) && run(many_); },
                    [&] { EXPECT_EQ(restart(), before) << "blocks are left"; });
}

INSTANTIATE_TEST_SUITE_P(
    Dynamic, RunShortageTest,
    testing::Values(Case{"Selection", make_selection, 1, "sync"},
                    Case{"SelectionOfTwoThreads", make_selection, 2, "pipeline"},
                    Case{"Growth", make_growth, 1, "sync", 3},
                    Case{"GrowthOfTwoThreads", make_growth, 2, "pipeline", 17},
                    Case{"Choice", make_choice, 1, "sync"},
                    Case{"ChoiceOfTwoThreads", make_choice, 2, "pipeline"}),
    [](const testing::TestParamInfo<Case>& tested) { return tested.param.name; });

}  // namespace
}  // namespace tengine
