// SPDX-License-Identifier: Apache-2.0
// Random walks over the functions of a graph's life against a model of its states: each call must
// succeed or fail with TENGINE_ESTATE exactly as c_api.h says. Also: repeated preparation does not
// grow memory.

#include <random>
#include <vector>

#include "fixture.h"
#include "support/allocation_count.h"

namespace tengine {
namespace {

using StateTest = ApiTest;

// The promises of c_api.h.
struct Model
{
    bool prepared = false;
    bool changed = false;
    bool has_data = false;
    int size = 4;

    bool can_run() const { return prepared && !changed && has_data; }
};

class Walk
{
  public:
    explicit Walk(unsigned seed) : random_(seed)
    {
        graph_ = create_relu_graph();
        x_ = get_graph_tensor(graph_, "x");
        y_ = get_graph_tensor(graph_, "y");
    }
    ~Walk() { EXPECT_EQ(destroy_graph(graph_), 0); }

    void step()
    {
        switch (pick(7)) {
            case 0:
                return reshape(1 + pick(3));
            case 1:
                return feed();
            case 2:
            case 3:
                return prepare();
            case 4:
            case 5:
                return run();
            default:
                return release();
        }
    }

  private:
    int pick(int number) { return static_cast<int>(random_() % static_cast<unsigned>(number)); }

    void reshape(int size)
    {
        ASSERT_EQ(set_tensor_shape(x_, &size, 1), 0);
        if (size == model_.size) return;
        model_.size = size;
        model_.has_data = false;
        model_.changed = true;
    }

    void feed()
    {
        values_.assign(static_cast<size_t>(model_.size), 0.f);
        for (float& value : values_)
            value = static_cast<float>(pick(9) - 4);
        ASSERT_TRUE(write_floats(x_, values_));
        model_.has_data = true;
    }

    void prepare()
    {
        ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
        EXPECT_EQ(get_graph_exec_status(graph_), GRAPH_STAT_READY);
        model_.prepared = true;
        model_.changed = false;
    }

    void run()
    {
        if (!model_.can_run()) {
            EXPECT_EQ(run_graph(graph_, 1), -1);
            const bool only_data = model_.prepared && !model_.changed;
            EXPECT_TRUE(failed_with(only_data ? TENGINE_EINVAL : TENGINE_ESTATE));
            return;
        }
        ASSERT_EQ(run_graph(graph_, pick(2)), 0) << get_tengine_error();
        ASSERT_EQ(wait_graph(graph_, 0), 1);
        std::vector<float> expected = values_;
        for (float& value : expected)
            value = value > 0 ? value : 0;
        EXPECT_EQ(read_floats(y_), expected);
    }

    void release()
    {
        EXPECT_EQ(postrun_graph(graph_), 0) << get_tengine_error();
        model_.prepared = false;
        EXPECT_EQ(get_tensor_buffer(y_), nullptr);
        EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    }

    std::mt19937 random_;
    Model model_;
    std::vector<float> values_;
    graph_t graph_ = nullptr;
    tensor_t x_ = nullptr;
    tensor_t y_ = nullptr;
};

TEST_F(StateTest, EveryOrderIsLegalOrAClearError)
{
    for (unsigned seed = 0; seed < 20; ++seed) {
        Walk walk(seed);
        for (int i = 0; i < 60 && !HasFatalFailure(); ++i)
            walk.step();
    }
}

TEST_F(StateTest, ReshapeAndPrerunDoNotGrow)
{
    if (!can_count_allocations()) GTEST_SKIP() << "a sanitizer has its own allocator";
    const graph_t graph = create_relu_graph();
    const tensor_t x = get_graph_tensor(graph, "x");
    const auto round = [&](int size) {
        ASSERT_EQ(set_tensor_shape(x, &size, 1), 0);
        ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
        ASSERT_TRUE(write_floats(x, std::vector<float>(static_cast<size_t>(size), 1.f)));
        ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
    };
    for (int i = 0; i < 4; ++i)
        round(i % 2 ? 1000 : 10);
    const LiveMemory before = measure_live_memory();
    for (int i = 0; i < 100; ++i)
        round(i % 2 ? 1000 : 10);
    const LiveMemory after = measure_live_memory();
    EXPECT_EQ(after.blocks, before.blocks);
    EXPECT_LE(after.bytes, before.bytes + 4096);  // a block may be a little larger than requested
    EXPECT_EQ(destroy_graph(graph), 0);
}

}  // namespace
}  // namespace tengine
