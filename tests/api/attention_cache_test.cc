// SPDX-License-Identifier: Apache-2.0
// The cache of a decoder in place: one buffer for an input and an output of the graph.
#include <cstring>
#include <random>

#include "fixture.h"
#include "support/allocation_count.h"

namespace tengine {
namespace {

using Floats = std::vector<float>;

constexpr int kHeads = 6, kKeyHeads = 2, kDepth = 8, kRoom = 40;
constexpr int kColumns = kKeyHeads * kDepth;
constexpr size_t kCacheFloats = size_t{kRoom} * kColumns;
constexpr float kUntouched = 77;

// A graph of one GroupQueryAttention whose inputs are those of the graph.
class Decoder
{
  public:
    explicit Decoder(bool in_place, context_t context = nullptr)
        : graph_(create_graph(context, nullptr, nullptr)), in_place_(in_place)
    {
        const std::vector<int> past = {1, kKeyHeads, kRoom, kDepth};
        const tensor_t inputs[] = {add_input(graph_, "query", {1, 1, kHeads * kDepth}),
                                   add_input(graph_, "key", {1, 1, kColumns}),
                                   add_input(graph_, "value", {1, 1, kColumns}),
                                   add_input(graph_, "past_key", past),
                                   add_input(graph_, "past_value", past),
                                   add_input(graph_, "last", {1}, TENGINE_DT_INT32),
                                   add_input(graph_, "total", {1}, TENGINE_DT_INT32)};
        const node_t node = create_graph_node(graph_, "y", "com.microsoft.GroupQueryAttention");
        for (int i = 0; i < 7; ++i)
            EXPECT_EQ(set_node_input_tensor(node, i, inputs[i]), 0);
        for (int i = 0; i < 3; ++i) {
            const char* const names[] = {"y", "present_key", "present_value"};
            const tensor_t output = create_graph_tensor(graph_, names[i], TENGINE_DT_FP32);
            EXPECT_EQ(set_node_output_tensor(node, i, output, TENSOR_TYPE_VAR), 0);
        }
        EXPECT_EQ(set_node_attr_int(node, "num_heads", &kHeads), 0);
        EXPECT_EQ(set_node_attr_int(node, "kv_num_heads", &kKeyHeads), 0);
        EXPECT_TRUE(set_borders(
            graph_, {"query", "key", "value", "past_key", "past_value", "last", "total"}, {"y"}));
        for (Floats* each : {&keys_, &values_})
            each->assign(kCacheFloats, kUntouched);
        lend("past_key", keys_), lend("past_value", values_);
        lend("last", &last_, sizeof last_), lend("total", &total_, sizeof total_);
    }
    ~Decoder() { EXPECT_EQ(destroy_graph(graph_), 0); }
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;

    // Reads this many tokens, whose values follow from `seed`.
    Floats read(int tokens, unsigned seed)
    {
        fill(tokens, seed);
        prepare(tokens);
        EXPECT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
        if (!in_place_) take_back();
        return read_floats(get_graph_tensor(graph_, "y"));
    }

    void fill(int tokens, unsigned seed)
    {
        std::mt19937 random(seed);
        std::uniform_real_distribution<float> distribution(-1, 1);
        for (Floats* each : {&query_, &key_, &value_}) {
            const int columns = each == &query_ ? kHeads * kDepth : kColumns;
            each->resize(static_cast<size_t>(tokens) * static_cast<size_t>(columns));
            for (float& number : *each)
                number = distribution(random);
        }
        total_ += tokens, last_ = total_ - 1;
    }

    // Calls the functions that a program calls in each step.
    void prepare(int tokens)
    {
        for (const auto& [name, columns, data] : {std::tuple{"query", kHeads * kDepth, &query_},
                                                  {"key", kColumns, &key_},
                                                  {"value", kColumns, &value_}}) {
            const int shape[] = {1, tokens, columns};
            EXPECT_EQ(set_tensor_shape(get_graph_tensor(graph_, name), shape, 3), 0);
            lend(name, *data);
        }
        EXPECT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
        if (in_place_) lend("present_key", keys_), lend("present_value", values_);
    }

    graph_t graph() const { return graph_; }
    const Floats& keys() const { return keys_; }
    const Floats& values() const { return values_; }
    int total_ = 0;

  private:
    void lend(const char* name, void* data, size_t bytes)
    {
        EXPECT_EQ(set_tensor_buffer(get_graph_tensor(graph_, name), data, static_cast<int>(bytes)),
                  0)
            << get_tengine_error();
    }
    void lend(const char* name, Floats& data)
    {
        lend(name, data.data(), data.size() * sizeof(float));
    }
    void take_back()
    {
        keys_ = read_floats(get_graph_tensor(graph_, "present_key"));
        values_ = read_floats(get_graph_tensor(graph_, "present_value"));
        lend("past_key", keys_), lend("past_value", values_);
    }

    graph_t graph_;
    const bool in_place_;
    Floats query_, key_, value_, keys_, values_;
    int32_t last_ = 0;
};

using AttentionCacheTest = ApiTest;

// Returns the rows of each head so far.
Floats used_rows(const Floats& cache, int rows)
{
    Floats used;
    for (size_t head = 0; head < kKeyHeads; ++head) {
        const auto begin = cache.begin() + static_cast<long>(head * kRoom * kDepth);
        used.insert(used.end(), begin, begin + rows * kDepth);
    }
    return used;
}

TEST_F(AttentionCacheTest, GivesTheBytesOfCopies)
{
    Decoder copied(false), in_place(true);
    unsigned seed = 0;
    for (const int tokens : {7, 1, 1, 3, 1, 1, 5, 1}) {
        ++seed;
        ASSERT_EQ(in_place.read(tokens, seed), copied.read(tokens, seed)) << "step " << seed;
        const int total = in_place.total_;
        EXPECT_EQ(used_rows(in_place.keys(), total), used_rows(copied.keys(), total));
        EXPECT_EQ(used_rows(in_place.values(), total), used_rows(copied.values(), total));
        // Only new rows are written.
        for (size_t i = 0; i < kCacheFloats; ++i)
            if (i / kDepth % kRoom >= static_cast<size_t>(total)) {
                ASSERT_EQ(in_place.keys()[i], kUntouched) << i;
            }
    }
}

// The library copies if results are stored apart from those that the program sees.
TEST_F(AttentionCacheTest, GivesTheSameUnderOtherSchedulers)
{
    const context_t context = create_context("pipeline", 0);
    ASSERT_EQ(tengine_context_set_option(context, "scheduler", "pipeline"), 0);
    {
        Decoder copied(false), in_place(true, context);
        unsigned seed = 0;
        for (const int tokens : {7, 1, 2, 1}) {
            ++seed;
            ASSERT_EQ(in_place.read(tokens, seed), copied.read(tokens, seed)) << "step " << seed;
        }
    }
    destroy_context(context);
}

// A prompt and single tokens alternate: their shapes are known, so that a token needs only its run.
TEST_F(AttentionCacheTest, KnownShapesAllocateNothing)
{
    if (!can_count_allocations()) GTEST_SKIP() << "a sanitizer has its own allocator";
    Decoder decoder(true);
    for (const int tokens : {7, 1, 7, 1})
        decoder.read(tokens, 1);
    for (const int tokens : {7, 1}) {
        decoder.fill(tokens, 2);
        const long before = count_allocations();
        decoder.prepare(tokens);
        const int status = run_graph(decoder.graph(), 1);
        EXPECT_EQ(count_allocations(), before) << tokens << " tokens";
        EXPECT_EQ(status, 0);
    }
}

constexpr int kPast = 6;

// Gives a decoder a past of this many rows, the first ones of another decoder's cache.
class ShortPast
{
  public:
    ShortPast(const Decoder& full, const Decoder& growing)
    {
        const int shape[] = {1, kKeyHeads, kPast, kDepth};
        for (int i = 0; i < 2; ++i) {
            const Floats& cache = i == 0 ? full.keys() : full.values();
            for (int head = 0; head < kKeyHeads; ++head) {
                const auto begin = cache.begin() + head * kRoom * kDepth;
                rows_[i].insert(rows_[i].end(), begin, begin + kPast * kDepth);
            }
            const tensor_t input =
                get_graph_tensor(growing.graph(), i == 0 ? "past_key" : "past_value");
            EXPECT_EQ(set_tensor_shape(input, shape, 4), 0);
            EXPECT_EQ(set_tensor_buffer(input, rows_[i].data(),
                                        static_cast<int>(rows_[i].size() * sizeof(float))),
                      0);
        }
    }

  private:
    Floats rows_[2];
};

int present_rows(const Decoder& decoder)
{
    int dims[4] = {};
    EXPECT_EQ(get_tensor_shape(get_graph_tensor(decoder.graph(), "present_key"), dims, 4), 4);
    return dims[2];
}

// A past with as many rows as there are tokens grows by the query's tokens, if the total has its
// value before the preparation.
TEST_F(AttentionCacheTest, GrowsToTheTotalThatItIsPreparedWith)
{
    Decoder full(false), growing(false);
    full.read(kPast, 1);
    const ShortPast past(full, growing);
    growing.total_ = kPast;
    growing.fill(1, 2);
    growing.prepare(1);
    ASSERT_EQ(run_graph(growing.graph(), 1), 0) << get_tengine_error();
    EXPECT_EQ(present_rows(growing), kPast + 1);
    EXPECT_EQ(read_floats(get_graph_tensor(growing.graph(), "y")), full.read(1, 2));
    const Floats present = read_floats(get_graph_tensor(growing.graph(), "present_value"));
    for (int head = 0; head < kKeyHeads; ++head)
        for (int i = 0; i < (kPast + 1) * kDepth; ++i)
            ASSERT_EQ(present[static_cast<size_t>(head * (kPast + 1) * kDepth + i)],
                      full.values()[static_cast<size_t>(head * kRoom * kDepth + i)])
                << head << ", " << i;
}

// Totals that are set after the preparation, with the same shapes of inputs: one that needs another
// row, one that does not, and again one that does.
void expect_growth_with_each_run(const context_t context)
{
    Decoder full(false), growing(false, context);
    full.read(kPast, 1);
    const ShortPast past(full, growing);
    growing.fill(1, 2);
    growing.total_ = 0;
    growing.prepare(1);
    unsigned seed = 2;
    for (const int before : {kPast, kPast - 1, kPast}) {
        growing.total_ = before;
        growing.fill(1, ++seed);
        ASSERT_EQ(run_graph(growing.graph(), 1), 0) << get_tengine_error();
        EXPECT_EQ(present_rows(growing), std::max(kPast, before + 1));
        Decoder expected(false);
        expected.read(kPast, 1);
        expected.total_ = before;
        EXPECT_EQ(read_floats(get_graph_tensor(growing.graph(), "y")), expected.read(1, seed));
    }
    // More than one row for the token.
    growing.total_ = kPast + 1;
    growing.fill(1, 9);
    EXPECT_LT(run_graph(growing.graph(), 1), 0);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
}

TEST_F(AttentionCacheTest, GrowsToTheTotalOfEachRun)
{
    expect_growth_with_each_run(nullptr);
}

TEST_F(AttentionCacheTest, GrowsToTheTotalOfEachRunOfAPipeline)
{
    const context_t context = create_context("pipeline", 0);
    ASSERT_EQ(tengine_context_set_option(context, "scheduler", "pipeline"), 0);
    expect_growth_with_each_run(context);
    destroy_context(context);
}

// The preparation for a total is not taken for another one.
TEST_F(AttentionCacheTest, IsPreparedAgainForAnotherTotal)
{
    Decoder full(false), growing(false);
    full.read(kPast, 1);
    const ShortPast past(full, growing);
    for (const int before : {kPast - 1, kPast, kPast - 1}) {
        growing.total_ = before;
        growing.fill(1, 2);
        growing.prepare(1);
        EXPECT_EQ(present_rows(growing), std::max(kPast, before + 1));
        ASSERT_EQ(run_graph(growing.graph(), 1), 0) << get_tengine_error();
    }
}

// The present in a buffer of the program's has the shape of the past, for any total.
TEST_F(AttentionCacheTest, SaysThatTheCacheIsFull)
{
    Decoder decoder(true);
    decoder.read(kRoom - 1, 1);
    decoder.read(1, 2);
    decoder.fill(1, 3);
    decoder.prepare(1);
    EXPECT_LT(run_graph(decoder.graph(), 1), 0);
    const std::string sentence = get_tengine_error();
    EXPECT_NE(sentence.find("total_sequence_length is 41, expected 1, which are the query's "
                            "tokens, to 40, for which present_key has room"),
              std::string::npos)
        << sentence;
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
}

}  // namespace
}  // namespace tengine
