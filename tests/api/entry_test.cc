// SPDX-License-Identifier: Apache-2.0
// entry.h: graphs of the program that become the entries of one model, and share states. The values
// are sums of small numbers, which all precisions represent. Files are in serializer/ and
// integration/.
#include "tengine/entry.h"

#include <string>
#include <vector>

#include "fixture.h"
#include "tengine/graph.h"
#include "tengine/state.h"

namespace tengine {
namespace {

using Floats = std::vector<float>;

class EntryTest : public ApiTest
{
  protected:
    void TearDown() override
    {
        destroy_all();
        if (context_) destroy_context(context_);
        ApiTest::TearDown();
    }

    void destroy_all()
    {
        for (const graph_t graph : graphs_)
            EXPECT_EQ(destroy_graph(graph), 0);
        graphs_.clear();
    }

    // now = before op x, y = -now; `before` is a state with `size` elements.
    graph_t create_step(const char* op, int size = 2, const char* state = "before")
    {
        const graph_t graph = create_graph(context_, nullptr, nullptr);
        const tensor_t x = add_input(graph, "x", {size});
        const tensor_t before = add_input(graph, state, {size});
        const tensor_t now = add_node(graph, "now", op, {before, x});
        add_node(graph, "y", "Neg", {now});
        EXPECT_TRUE(set_borders(graph, {"x", state}, {"now", "y"}));
        EXPECT_EQ(tengine_graph_keep_state(graph, state, "now"), 0) << get_tengine_error();
        graphs_.push_back(graph);
        return graph;
    }

    int join()
    {
        static const char* const names[] = {"add", "subtract", "third"};
        return tengine_graph_join_entries(graphs_.data(), names, static_cast<int>(graphs_.size()));
    }

    void make_pair()
    {
        add_ = create_step("Add");
        subtract_ = create_step("Sub");
        ASSERT_EQ(join(), 0) << get_tengine_error();
    }

    static void feed(graph_t graph, float value)
    {
        ASSERT_TRUE(write_floats(tengine_graph_get_input(graph, 0), Floats(2, value)));
    }

    static void prepare(graph_t graph, float value, int precision = TENGINE_MODE_FP32)
    {
        feed(graph, value);
        const options how = {1, TENGINE_CLUSTER_BIG, precision, 0};
        ASSERT_EQ(prerun_graph_multithread(graph, how), 0) << get_tengine_error();
    }

    // The value after a run with x.
    static float step(graph_t graph, float x)
    {
        feed(graph, x);
        EXPECT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
        return -read_floats(tengine_graph_get_output(graph, 0))[1];
    }

    void expect_failure(int result, int code, const std::string& part)
    {
        const std::string message = get_tengine_error();
        EXPECT_EQ(result, -1);
        EXPECT_TRUE(failed_with(code));
        EXPECT_NE(message.find(part), std::string::npos) << message;
    }

    context_t context_ = nullptr;
    std::vector<graph_t> graphs_;
    graph_t add_ = nullptr;
    graph_t subtract_ = nullptr;
};

TEST_F(EntryTest, DevicesSchedulersAndPrecisions)
{
    for (const char* device : {"CPU", "TPU"})
        for (const char* scheduler : {"sync", "pipeline"})
            for (const int precision : {TENGINE_MODE_FP32, TENGINE_MODE_FP16, TENGINE_MODE_BF16}) {
                SCOPED_TRACE(std::string(device) + " " + scheduler + " " +
                             std::to_string(precision));
                context_ = create_context("entries", 1);
                ASSERT_EQ(tengine_context_set_option(context_, "scheduler", scheduler), 0);
                ASSERT_EQ(set_context_device(context_, device, nullptr, 0), 0);
                make_pair();
                prepare(add_, 0, precision);
                prepare(subtract_, 0, precision);
                EXPECT_EQ(step(add_, 5), 5);
                EXPECT_EQ(step(subtract_, 2), 3);
                EXPECT_EQ(step(subtract_, 2), 1);
                EXPECT_EQ(step(add_, 4), 5);
                destroy_all();
                destroy_context(context_);
                context_ = nullptr;
            }
}

TEST_F(EntryTest, HaveNames)
{
    make_pair();
    EXPECT_EQ(tengine_graph_get_entry_number(subtract_), 2);
    EXPECT_EQ(tengine_graph_get_entry_index(add_), 0);
    EXPECT_EQ(tengine_graph_get_entry_index(subtract_), 1);
    EXPECT_STREQ(tengine_graph_get_entry_name(add_, 1), "subtract");
    EXPECT_EQ(tengine_graph_get_entry_name(add_, 2), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    EXPECT_EQ(tengine_graph_open_entry(add_, "third"), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ENOENT));
    EXPECT_EQ(tengine_graph_open_entry(add_, "subtract"), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ENOTSUP));
    const graph_t alone = create_step("Add");
    EXPECT_EQ(tengine_graph_get_entry_number(alone), 0);
    expect_failure(tengine_graph_get_entry_index(alone), TENGINE_ENOENT, "has no entries");
    EXPECT_EQ(tengine_graph_open_entry(alone, "add"), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ENOENT));
}

TEST_F(EntryTest, OneOfThemRuns)
{
    context_ = create_context("entries", 1);
    ASSERT_EQ(tengine_context_set_option(context_, "scheduler", "pipeline"), 0);
    make_pair();
    prepare(add_, 3);
    prepare(subtract_, 1);
    for (int i = 1; i < 4; ++i) {
        ASSERT_EQ(run_graph(add_, 0), 0) << get_tengine_error();
        expect_failure(run_graph(subtract_, 0), TENGINE_ELIMIT,
                       "entry 'subtract' shares states with entry 'add', of which a run is in "
                       "flight");
        expect_failure(run_graph(subtract_, 1), TENGINE_ESTATE, "entry 'add'");
        expect_failure(tengine_graph_reset_states(subtract_), TENGINE_ESTATE, "entry 'add'");
        const float value = 0;
        expect_failure(set_tensor_data(tengine_graph_get_state(subtract_, 0), &value, 4),
                       TENGINE_ESTATE, "entry 'add'");
        ASSERT_EQ(wait_graph(add_, 0), 1) << get_tengine_error();
        ASSERT_EQ(run_graph(subtract_, 1), 0) << get_tengine_error();
        EXPECT_EQ(read_floats(tengine_graph_get_state(add_, 0)),
                  Floats(2, 2 * static_cast<float>(i)));
    }
}

TEST_F(EntryTest, JoiningKeepsTheFirstValueThatThereIs)
{
    add_ = create_step("Add");
    subtract_ = create_step("Sub");
    prepare(add_, 0);
    prepare(subtract_, 0);
    EXPECT_EQ(step(add_, 5), 5);
    EXPECT_EQ(step(subtract_, 2), -2);
    ASSERT_EQ(join(), 0) << get_tengine_error();
    EXPECT_EQ(run_graph(add_, 1), -1);  // states have other memory: prerun_graph is due
    prepare(add_, 0);
    prepare(subtract_, 0);
    EXPECT_EQ(step(subtract_, 2), 3);
    EXPECT_EQ(step(add_, 1), 4);
    // The second graph alone has one.
    graphs_ = {create_step("Add"), create_step("Sub")};
    add_ = graphs_[0], subtract_ = graphs_[1];
    prepare(subtract_, 0);
    EXPECT_EQ(step(subtract_, 2), -2);
    ASSERT_EQ(join(), 0) << get_tengine_error();
    prepare(add_, 0);
    EXPECT_EQ(step(add_, 1), -1);
    destroy_all();
}

TEST_F(EntryTest, GraphsThatCannotBeJoinedStayAsTheyAre)
{
    add_ = create_step("Add");
    subtract_ = create_step("Sub");
    create_step("Add", 3);
    expect_failure(join(), TENGINE_EGRAPH,
                   "state 'before' of entry 'third' is fp32 3, but fp32 2 in entry 'add'");
    EXPECT_EQ(tengine_graph_get_entry_number(add_), 0);
    prepare(add_, 0);
    prepare(subtract_, 0);
    EXPECT_EQ(step(add_, 5), 5);
    EXPECT_EQ(step(subtract_, 2), -2);

    const char* const names[] = {"a", "a", ""};
    const graph_t twice[] = {add_, add_};
    expect_failure(tengine_graph_join_entries(twice, names, 2), TENGINE_EINVAL, "is there twice");
    expect_failure(tengine_graph_join_entries(graphs_.data(), names, 2), TENGINE_EINVAL,
                   "two entries have the name 'a'");
    expect_failure(tengine_graph_join_entries(graphs_.data(), names + 1, 2), TENGINE_EINVAL,
                   "a name");
    expect_failure(tengine_graph_join_entries(graphs_.data(), names, 0), TENGINE_EINVAL,
                   "0 graphs, expected 1 to 1024");
    expect_failure(tengine_graph_join_entries(nullptr, names, 1), TENGINE_EINVAL, "graphs");
    expect_failure(tengine_graph_join_entries(graphs_.data(), nullptr, 1), TENGINE_EINVAL, "names");
    const std::string long_name(256, 'n');
    const char* const long_names[] = {long_name.c_str()};
    expect_failure(tengine_graph_join_entries(graphs_.data(), long_names, 1), TENGINE_EINVAL,
                   "256 bytes, expected 1 to 255");
    graphs_.resize(2);
    ASSERT_EQ(join(), 0) << get_tengine_error();
    expect_failure(join(), TENGINE_EEXIST, "is entry 'add' of a model, and others of it are open");
    graphs_ = {add_, subtract_};
}

TEST_F(EntryTest, StatesOfOtherNamesAreNotShared)
{
    add_ = create_step("Add");
    subtract_ = create_step("Sub", 3, "other");
    ASSERT_EQ(join(), 0) << get_tengine_error();
    prepare(add_, 0);
    EXPECT_EQ(step(add_, 5), 5);
    // A state that is made later is shared, too.
    const graph_t late = create_graph(nullptr, nullptr, nullptr);
    const tensor_t x = add_input(late, "x", {2});
    const tensor_t before = add_input(late, "before", {2});
    const tensor_t now = add_node(late, "now", "Add", {before, x});
    add_node(late, "y", "Neg", {now});
    ASSERT_TRUE(set_borders(late, {"x", "before"}, {"now", "y"}));
    graphs_ = {add_, late, subtract_};
    expect_failure(join(), TENGINE_EEXIST, "entry 'add'");
    ASSERT_EQ(destroy_graph(subtract_), 0);
    ASSERT_EQ(destroy_graph(add_), 0);
    graphs_ = {create_step("Add"), late};
    add_ = graphs_[0];
    ASSERT_EQ(join(), 0) << get_tengine_error();
    prepare(add_, 0);
    EXPECT_EQ(step(add_, 5), 5);
    ASSERT_EQ(tengine_graph_keep_state(late, "before", "now"), 0) << get_tengine_error();
    prepare(late, 0);
    EXPECT_EQ(step(late, 1), 6);
    EXPECT_EQ(step(add_, 1), 7);
}

TEST_F(EntryTest, SizesChangeWhileTheOtherIsNotPrepared)
{
    make_pair();
    prepare(add_, 0);
    prepare(subtract_, 0);
    EXPECT_EQ(step(add_, 5), 5);
    const int dims[] = {3};
    const auto widen = [&](graph_t graph) {
        for (const tensor_t tensor :
             {tengine_graph_get_input(graph, 0), tengine_graph_get_state(graph, 0)})
            ASSERT_EQ(set_tensor_shape(tensor, dims, 1), 0) << get_tengine_error();
        ASSERT_TRUE(write_floats(tengine_graph_get_input(graph, 0), Floats(3, 1)));
    };
    widen(add_);
    expect_failure(prerun_graph(add_), TENGINE_EGRAPH,
                   "state 'before' is 3 in entry 'add', but 2 in entry 'subtract', which is "
                   "prepared");
    ASSERT_EQ(postrun_graph(subtract_), 0);
    ASSERT_EQ(prerun_graph(add_), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(add_, 1), 0) << get_tengine_error();
    EXPECT_EQ(read_floats(tengine_graph_get_state(add_, 0)), Floats(3, 1));
    widen(subtract_);
    ASSERT_EQ(prerun_graph(subtract_), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(subtract_, 1), 0) << get_tengine_error();
    EXPECT_EQ(read_floats(tengine_graph_get_state(add_, 0)), Floats(3, 0));
}

}  // namespace
}  // namespace tengine
