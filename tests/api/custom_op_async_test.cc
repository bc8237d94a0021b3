// SPDX-License-Identifier: Apache-2.0
// Custom operators whose invoke starts work that another thread completes.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "op_model.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

// An operator like Relu. Each invoke starts a thread, which calls `end`.
struct AsyncOp
{
    using End = std::function<void(tengine_op_context_t*, tengine_op_completion_t)>;

    ~AsyncOp() { join(); }

    void join()
    {
        for (std::thread& thread : threads)
            thread.join();
        threads.clear();
    }

    int code = 0;  // what invoke_async returns
    End end;
    std::vector<std::thread> threads;
    std::vector<tengine_op_completion_t> completions;
};

AsyncOp& self(void* user_data)
{
    return *static_cast<AsyncOp*>(user_data);
}

int begin(void* user_data, tengine_op_context_t* context, tengine_op_completion_t completion)
{
    AsyncOp& op = self(user_data);
    op.completions.push_back(completion);
    if (op.code != 0) return tengine_op_report(context, op.code, "the queue is full");
    op.threads.emplace_back([&op, context, completion] { op.end(context, completion); });
    return 0;
}

void compute(tengine_op_context_t* context)
{
    const tengine_op_tensor_t* x = tengine_op_input(context, 0);
    const auto* from = static_cast<const float*>(tengine_op_tensor_data(x));
    auto* to = static_cast<float*>(tengine_op_tensor_mutable_data(tengine_op_output(context, 0)));
    std::transform(from, from + tengine_op_tensor_elements(x), to,
                   [](float value) { return std::max(value, 0.0f); });
}

void compute_and_complete(tengine_op_context_t* context, tengine_op_completion_t completion)
{
    compute(context);
    EXPECT_EQ(tengine_op_complete(completion, 0, nullptr), 0) << get_tengine_error();
}

// Counts, and lets others wait for a number.
class Counter
{
  public:
    void add()
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ++count_;
        changed_.notify_all();
    }

    bool wait_for(int count)
    {
        std::unique_lock<std::mutex> lock(mutex_);
        return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return count_ >= count; });
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int count_ = 0;
};

class CustomOpAsyncTest : public CustomOpTest
{
  protected:
    CustomOpAsyncTest() { op.end = compute_and_complete; }

    void TearDown() override
    {
        CustomOpTest::TearDown();
        op.join();
    }

    // Replaces the library's Relu, which reads the result of Shift.
    void register_async(tengine_op_cancel_t cancel = nullptr)
    {
        tengine_op_t* made = tengine_op_create("", "Relu", 1, 28);
        tengine_op_set_outputs_like(made, 0);
        tengine_op_set_invoke_async(made, begin);
        tengine_op_set_cancel(made, cancel);
        tengine_op_set_user_data(made, &op, nullptr);
        ASSERT_EQ(tengine_op_register(nullptr, made), 0) << get_tengine_error();
        tengine_op_destroy(made);
        ASSERT_TRUE(register_shift_op(&shift_op));
    }

    graph_t load_pipeline()
    {
        const context_t context = create_context("pipeline", 0);
        EXPECT_EQ(tengine_context_set_option(context, "scheduler", "pipeline"), 0);
        const graph_t graph = load({}, context);
        destroy_context(context);
        return graph;
    }

    static int count_parts(graph_t graph)
    {
        int number = 0;
        tengine_execution_node node;
        for (int i = 0; tengine_graph_get_execution_node(graph, i, &node) == 0; ++i)
            number = std::max(number, node.subgraph + 1);
        last_error();
        return number;
    }

    AsyncOp op;
};

TEST_F(CustomOpAsyncTest, TheSyncSchedulerWaits)
{
    register_async();
    const graph_t graph = load();
    for (const float first : {-1.0f, 3.0f}) {
        ASSERT_TRUE(prepare_and_run(graph, {first, 0, 1, -7})) << get_tengine_error();
        EXPECT_EQ(result(graph), (std::vector<float>{std::max(first + 0.5f, 0.0f), 0.5, 1.5, 0}));
    }
    EXPECT_EQ(count_parts(graph), 1);
}

TEST_F(CustomOpAsyncTest, ItMayEndBeforeItHasReturned)
{
    tengine_op_t* made = tengine_op_create("", "Tanh", 1, 28);
    tengine_op_set_outputs_like(made, 0);
    tengine_op_set_invoke_async(
        made, [](void*, tengine_op_context_t* context, tengine_op_completion_t completion) {
            compute(context);
            return tengine_op_complete(completion, 0, nullptr);
        });
    ASSERT_EQ(tengine_op_register(nullptr, made), 0);
    tengine_op_destroy(made);
    const graph_t graph = load({"", "Tanh", 13, {4}, false});
    ASSERT_TRUE(prepare_and_run(graph, {-1, 2, 3, 4})) << get_tengine_error();
    EXPECT_EQ(result(graph), (std::vector<float>{0, 2, 3, 4}));
}

// The first run's kernel ends only after the second run has been in the part before it, on the same
// device. Then the reverse: the last run is alone.
TEST_F(CustomOpAsyncTest, OtherWorkGoesOnInAPipeline)
{
    constexpr int kRuns = 8;
    static Counter shifts;
    shift_op.invoke = [](void*, tengine_op_context_t* context) {
        const int status = shift(context);
        shifts.add();
        return status;
    };
    int runs = 0;
    op.end = [&](tengine_op_context_t* context, tengine_op_completion_t completion) {
        compute(context);
        const bool overlaps = shifts.wait_for(std::min(++runs + 1, kRuns));
        EXPECT_EQ(tengine_op_complete(completion, overlaps ? 0 : TENGINE_EDEVICE,
                                      "no other run has come as far as this"),
                  0);
    };
    register_async();
    const graph_t graph = load_pipeline();
    const tensor_t x = get_graph_input_tensor(graph, 0, 0);
    ASSERT_TRUE(write_floats(x, {0, 0, 0, 0}));
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    EXPECT_EQ(count_parts(graph), 2);
    for (int i = 0; i <= kRuns; ++i) {
        if (i > 1) {
            ASSERT_EQ(wait_graph(graph, 0), 1) << get_tengine_error();
            EXPECT_EQ(result(graph), std::vector<float>(4, static_cast<float>(i - 2) + 0.5f));
        }
        if (i == kRuns) break;
        ASSERT_TRUE(write_floats(x, std::vector<float>(4, static_cast<float>(i))));
        ASSERT_EQ(run_graph(graph, 0), 0) << get_tengine_error();
    }
    ASSERT_EQ(wait_graph(graph, 0), 1) << get_tengine_error();
    EXPECT_EQ(result(graph), std::vector<float>(4, kRuns - 0.5f));
    EXPECT_EQ(destroy_graph(graph), 0);
}

TEST_F(CustomOpAsyncTest, FailuresAreThoseOfTheRun)
{
    register_async();
    const graph_t graph = load();
    op.end = [](tengine_op_context_t*, tengine_op_completion_t completion) {
        EXPECT_EQ(tengine_op_complete(completion, TENGINE_ELIMIT, "the chip is too hot"), 0);
    };
    EXPECT_FALSE(prepare_and_run(graph, {1, 2, 3, 4}));
    EXPECT_EQ(get_tengine_errno(), TENGINE_ELIMIT);
    EXPECT_NE(last_error().find("Relu 'relu': completion of invoke_async of custom operator "
                                "'Relu': the chip is too hot"),
              std::string::npos);
    op.end = [](tengine_op_context_t*, tengine_op_completion_t completion) {
        EXPECT_EQ(tengine_op_complete(completion, 3, nullptr), 0);
    };
    EXPECT_EQ(run_graph(graph, 1), -1);
    EXPECT_EQ(get_tengine_errno(), TENGINE_EDEVICE);
    EXPECT_NE(last_error().find("'Relu' returned 3"), std::string::npos);
    op.code = TENGINE_ELIMIT;
    EXPECT_EQ(run_graph(graph, 1), -1);
    EXPECT_EQ(get_tengine_errno(), TENGINE_ELIMIT);
    EXPECT_NE(
        last_error().find("'relu': invoke_async of custom operator 'Relu': the queue is full"),
        std::string::npos);
    op.code = 0;
    op.end = compute_and_complete;
    EXPECT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
    EXPECT_EQ(result(graph), (std::vector<float>{1.5, 2.5, 3.5, 4.5}));
}

TEST_F(CustomOpAsyncTest, FailuresInAPipelineEndTheirRunOnly)
{
    register_async();
    const graph_t graph = load_pipeline();
    op.end = [&](tengine_op_context_t* context, tengine_op_completion_t completion) {
        compute(context);
        const bool is_first = completion == op.completions[0];
        EXPECT_EQ(tengine_op_complete(completion, is_first ? TENGINE_ELIMIT : 0, "first"), 0);
    };
    EXPECT_FALSE(prepare_and_run(graph, {1, 2, 3, 4}));
    EXPECT_NE(last_error().find("first"), std::string::npos);
    op.join();
    EXPECT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
}

// An ended completion stays ended, regardless of run, graph and node.
TEST_F(CustomOpAsyncTest, ACompletionEndsOnce)
{
    register_async();
    const graph_t graph = load();
    ASSERT_TRUE(prepare_and_run(graph, {1, 2, 3, 4})) << get_tengine_error();
    op.code = TENGINE_ELIMIT;
    EXPECT_EQ(run_graph(graph, 1), -1);
    last_error();
    op.code = 0;
    const auto expect_over = [&](tengine_op_completion_t completion) {
        EXPECT_EQ(tengine_op_complete(completion, 0, nullptr), TENGINE_ENOENT);
        EXPECT_EQ(last_error(), "tengine_op_complete: completion " + std::to_string(completion) +
                                    " is over, or never began");
    };
    ASSERT_EQ(op.completions.size(), 2u);
    expect_over(op.completions[0]);  // the operation has ended
    expect_over(op.completions[1]);  // the operation has failed to begin
    expect_over(op.completions[1] + 1);
    expect_over(0);
    op.end = [&](tengine_op_context_t* context, tengine_op_completion_t completion) {
        EXPECT_EQ(tengine_op_complete(op.completions[0], TENGINE_ELIMIT, "late"), TENGINE_ENOENT);
        compute_and_complete(context, completion);
    };
    ASSERT_EQ(run_graph(graph, 1), 0) << "a late completion is not this run's";
    EXPECT_EQ(destroy_graph(graph), 0);
    expect_over(op.completions[2]);
}

// Cancels a run whose work waits for `is_told`, and then runs the graph without that.
template <class IsTold>
void expect_cancel_ends_work(AsyncOp* op, graph_t graph, const IsTold& is_told)
{
    std::atomic<bool> waits{true};
    Counter begun;
    op->end = [&](tengine_op_context_t* context, tengine_op_completion_t completion) {
        begun.add();
        while (waits && !is_told(context))
            std::this_thread::yield();
        if (!waits) return compute_and_complete(context, completion);
        tengine_op_complete(completion, TENGINE_EDEVICE, "given up");
    };
    const tensor_t x = get_graph_input_tensor(graph, 0, 0);
    ASSERT_TRUE(write_floats(x, {-1, 0, 1, 2}));
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(graph, 0), 0) << get_tengine_error();
    ASSERT_TRUE(begun.wait_for(1));
    ASSERT_EQ(tengine_graph_cancel(graph), 0);
    EXPECT_EQ(wait_graph(graph, 0), -1);
    EXPECT_EQ(get_tengine_errno(), TENGINE_ECANCELED) << get_tengine_error();
    waits = false;
    EXPECT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
    EXPECT_EQ(read_floats(get_graph_output_tensor(graph, 0, 0)),
              (std::vector<float>{0, 0.5, 1.5, 2.5}));
    EXPECT_EQ(destroy_graph(graph), 0);
    op->join();
}

TEST_F(CustomOpAsyncTest, ACancelledRunTellsTheOperator)
{
    static std::atomic<int> told;
    told = 0;
    register_async([](void* user_data, tengine_op_context_t*) {
        EXPECT_TRUE(self(user_data).end);
        ++told;
    });
    expect_cancel_ends_work(&op, load_pipeline(),
                            [](const tengine_op_context_t*) { return told > 0; });
    EXPECT_EQ(told, 1);
}

TEST_F(CustomOpAsyncTest, TheOperatorMayAsk)
{
    register_async();
    EXPECT_EQ(tengine_op_is_cancelled(nullptr), 0);
    expect_cancel_ends_work(&op, load_pipeline(), [](const tengine_op_context_t* context) {
        return tengine_op_is_cancelled(context) != 0;
    });
}

TEST_F(CustomOpAsyncTest, AnOperatorHasOneKindOfInvoke)
{
    tengine_op_t* made = create_shift_op(&shift_op);
    EXPECT_EQ(tengine_op_set_invoke_async(made, begin), 0);
    EXPECT_EQ(tengine_op_register(nullptr, made), -1);
    EXPECT_EQ(last_error(),
              "tengine_op_register: operator 'com.example.Shift' has invoke and "
              "invoke_async, expected one");
    tengine_op_destroy(made);
}

}  // namespace
}  // namespace tengine
