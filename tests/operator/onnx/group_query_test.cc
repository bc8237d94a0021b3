// SPDX-License-Identifier: Apache-2.0
// GroupQueryAttention: shapes, every error, types, and results that are known without arithmetic.
// Numbers are compared with ONNX Runtime in tests/integration/onnxruntime.
#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using cpu::BFloat16;
using cpu::Half;
using Dims = std::vector<int>;

// A node with 4 heads of 2 elements, each 2 of which share keys.
class Attention
{
  public:
    // Replaces the present input.
    template <class T = float>
    Attention& input(int index, const Dims& dims, std::vector<T> values = {})
    {
        size_t number = 1;
        for (const int dim : dims)
            number *= static_cast<size_t>(dim);
        values.resize(number, T(1));
        const std::string name = "i" + std::to_string(index);
        inputs_[static_cast<size_t>(index)] = name;
        fill_[name] = [=](ConstantGraph& graph) { graph.input(name, dims, values); };
        return *this;
    }
    Attention& leave(int index)
    {
        inputs_[static_cast<size_t>(index)] = "";
        return *this;
    }
    Attention& number(const char* name, int value)
    {
        numbers_.emplace_back(name, value);
        return *this;
    }
    Attention& text(const char* name, const std::string& value)
    {
        texts_.emplace_back(name, value);
        return *this;
    }
    Attention& outputs(const std::vector<std::string>& names)
    {
        outputs_ = names;
        return *this;
    }
    const tensor* evaluate(const std::string& name)
    {
        add();
        return graph_.evaluate(name);
    }
    void expect_failure(int code, const std::string& part)
    {
        add();
        graph_.expect_failure(code, part);
    }

  private:
    void add()
    {
        while (inputs_.back().empty())
            inputs_.pop_back();
        for (const std::string& name : inputs_)
            if (!name.empty()) fill_[name](graph_);
        node* node = graph_.add("com.microsoft.GroupQueryAttention", inputs_, outputs_);
        EXPECT_EQ(set_node_int(node, "num_heads", 4), TENGINE_OK);
        EXPECT_EQ(set_node_int(node, "kv_num_heads", 2), TENGINE_OK);
        for (const auto& [name, value] : numbers_)
            EXPECT_EQ(set_node_int(node, name, value), TENGINE_OK);
        for (const auto& [name, value] : texts_)
            EXPECT_EQ(set_node_text(node, name, value.data(), value.size()), TENGINE_OK);
    }

    ConstantGraph graph_;
    std::map<std::string, std::function<void(ConstantGraph&)>> fill_;
    std::vector<std::string> inputs_ = std::vector<std::string>(16);
    std::vector<std::string> outputs_ = {"y", "present_key", "present_value"};
    std::vector<std::pair<const char*, int>> numbers_;
    std::vector<std::pair<const char*, std::string>> texts_;
};

// One batch: a query with `tokens` tokens, keys and values, and their lengths.
template <class T = float>
void fill_lengths(Attention& attention, int tokens, int last_key, int total)
{
    attention.input<T>(0, {1, tokens, 8});
    for (const int index : {1, 2})
        attention.input<T>(index, {1, tokens, 4});
    attention.input<int32_t>(5, {1}, {last_key}).input<int32_t>(6, {1}, {total});
}

template <class T>
class GroupQueryOf : public testing::Test
{
};
using Types = testing::Types<float, Half, BFloat16, double>;
TYPED_TEST_SUITE(GroupQueryOf, Types);

// All keys are equal, so that a result is the mean of the values so far.
TYPED_TEST(GroupQueryOf, IsTheMeanOfValuesWithEqualKeys)
{
    const auto fill = [](Attention& attention) {
        fill_lengths<TypeParam>(attention, 1, 2, 3);
        attention.input<TypeParam>(2, {1, 1, 4}, {6, 3, 12, 9});
        attention.input<TypeParam>(3, {1, 2, 4, 2});
        attention.input<TypeParam>(4, {1, 2, 4, 2},
                                   {0, 3, 3, 6, 7, 7, 7, 7, 6, 6, 3, 3, 7, 7, 7, 7});
    };
    Attention results, values;
    fill(results);
    EXPECT_EQ(numbers_of(results.evaluate("y")), (std::vector<float>{3, 4, 3, 4, 7, 6, 7, 6}));
    fill(values);
    // The rows after the new one are 0 in a copy.
    EXPECT_EQ(numbers_of(values.evaluate("present_value")),
              (std::vector<float>{0, 3, 3, 6, 6, 3, 0, 0, 6, 6, 3, 3, 12, 9, 0, 0}));
}

TEST(GroupQuery, HasRoomForTheTotalOrThePast)
{
    for (const auto& [past, total, rows] : {std::tuple{0, 2, 2}, {1, 3, 3}, {7, 3, 7}, {2, 2, 2}}) {
        Attention attention;
        fill_lengths(attention, 2, total - 1, total);
        if (past > 0) attention.input(3, {1, 2, past, 2}).input(4, {1, 2, past, 2});
        EXPECT_EQ(dims_of(attention.evaluate("present_key")), (Dims{1, 2, rows, 2}));
    }
}

TEST(GroupQuery, TakesQueryKeyAndValueInOne)
{
    Attention attention;
    fill_lengths(attention, 2, 1, 2);
    attention.input(0, {1, 2, 16}).leave(1).leave(2);
    const tensor* result = attention.evaluate("y");
    EXPECT_EQ(dims_of(result), (Dims{1, 2, 8}));
    EXPECT_EQ(numbers_of(result), std::vector<float>(16, 1));
}

TEST(GroupQuery, GivesScores)
{
    for (const int kind : {1, 2}) {
        Attention attention;
        fill_lengths(attention, 2, 1, 2);
        attention.number("qk_output", kind).outputs({"y", "k", "v", "scores"});
        const tensor* scores = attention.evaluate("scores");
        ASSERT_EQ(dims_of(scores), (Dims{1, 4, 2, 2}));
        const std::vector<float> values = numbers_of(scores);
        const float score = std::sqrt(2.0f);  // 1 * 1 + 1 * 1, by sqrt(2)
        const std::vector<float> expected = kind == 1 ? std::vector<float>{score, 0, score, score}
                                                      : std::vector<float>{1, 0, 0.5f, 0.5f};
        for (size_t i = 0; i < expected.size(); ++i)
            EXPECT_FLOAT_EQ(values[i], expected[i]);
    }
}

// Rotated by a quarter, (1, 0) is (0, 1) and (0, 1) is (-1, 0).
TEST(GroupQuery, TurnsKeysByTheirPositions)
{
    const auto keys_of = [](std::optional<std::vector<int64_t>> positions, int last, int past) {
        Attention attention;
        fill_lengths(attention, 2, last, last + 1);
        attention.input(1, {1, 2, 4}, {1, 0, 2, 0, 0, 1, 3, 0}).number("do_rotary", 1);
        if (past > 0) attention.input(3, {1, 2, past, 2}).input(4, {1, 2, past, 2});
        attention.input(7, {4, 1}, {1.f, 0.f, -1.f, 0.f}).input(8, {4, 1}, {0.f, 1.f, 0.f, -1.f});
        if (positions) attention.input<int64_t>(9, {1, 2}, *positions);
        return numbers_of(attention.evaluate("present_key"));
    };
    using Keys = std::vector<float>;
    EXPECT_EQ(keys_of({}, 1, 0), (Keys{1, 0, -1, 0, 2, 0, 0, 3}));
    // Only the first position of a prompt counts.
    EXPECT_EQ(keys_of(std::vector<int64_t>{1, 3}, 1, 0), (Keys{0, 1, 0, -1, 0, 2, -3, 0}));
    EXPECT_EQ(keys_of({}, 2, 1), (Keys{1, 1, 0, 1, 0, -1, 1, 1, 0, 2, -3, 0}));
    EXPECT_EQ(keys_of(std::vector<int64_t>{2, 0}, 2, 1),
              (Keys{1, 1, -1, 0, 0, 1, 1, 1, -2, 0, 3, 0}));
}

// ---- errors ----

using Change = std::function<void(Attention&)>;

// The node has a past with room for four rows, two of which are used.
void expect_refusal(int code, const std::string& part, const Change& change)
{
    SCOPED_TRACE(part);
    Attention attention;
    fill_lengths(attention, 1, 2, 3);
    attention.input(3, {1, 2, 4, 2}).input(4, {1, 2, 4, 2});
    change(attention);
    attention.expect_failure(code, part);
}

TEST(GroupQuery, RefusesOtherShapes)
{
    const auto refuse = [](const std::string& part, const Change& change) {
        expect_refusal(TENGINE_EINVAL, part, change);
    };
    refuse("query 'i0' has shape [1x8], expected three", [](Attention& a) { a.input(0, {1, 8}); });
    refuse("6 columns of the query do not divide into 4 heads", [](Attention& a) {
        a.input(0, {1, 1, 6});
    });
    refuse("6 columns of the query do not divide into 8 heads", [](Attention& a) {
        a.input(0, {1, 1, 6}).leave(1).leave(2);
    });
    refuse("4 heads of the query do not divide into 3 of the keys",
           [](Attention& a) { a.number("kv_num_heads", 3); });
    refuse("key 'i1' has shape [1x2x4]", [](Attention& a) { a.input(1, {1, 2, 4}); });
    refuse("value 'i2' has shape [1x1x6]", [](Attention& a) { a.input(2, {1, 1, 6}); });
    refuse("input 2, value, is missing beside key", [](Attention& a) { a.leave(2); });
    refuse("input 3, past_key, is missing beside past_value", [](Attention& a) { a.leave(3); });
    refuse("past_key 'i3' has shape [1x2x4]", [](Attention& a) { a.input(3, {1, 2, 4}); });
    refuse("past_value 'i4' has shape [1x2x5x2]", [](Attention& a) { a.input(4, {1, 2, 5, 2}); });
    refuse("input 5, seqlens_k, is missing", [](Attention& a) { a.leave(5); });
    refuse("input 6, total_sequence_length, is missing", [](Attention& a) { a.leave(6); });
    refuse("seqlens_k 'i5' has shape [2], expected one number for each batch",
           [](Attention& a) { a.input<int32_t>(5, {2}); });
    refuse("total_sequence_length 'i6' has shape [2], expected one number",
           [](Attention& a) { a.input<int32_t>(6, {2}); });
    refuse("input 7, cos_cache, is missing", [](Attention& a) { a.number("do_rotary", 1); });
    refuse("input 8, sin_cache, is missing beside cos_cache", [](Attention& a) {
        a.input(7, {4, 1});
    });
    refuse("cos_cache 'i7' has shape [4x2]", [](Attention& a) {
        a.input(7, {4, 2}).input(8, {4, 2});
    });
    refuse("sin_cache 'i8' has shape [5x1], expected that of cos_cache", [](Attention& a) {
        a.input(7, {4, 1}).input(8, {5, 1});
    });
    refuse("position_ids 'i9' has shape [1x2]", [](Attention& a) { a.input<int64_t>(9, {1, 2}); });
    refuse("attention_bias 'i10' has shape [1x3x1x3]", [](Attention& a) {
        a.input(10, {1, 3, 1, 3});
    });
    refuse("head_sink 'i11' has shape [2]", [](Attention& a) { a.input(11, {2}); });
    refuse("output 3 exists only with qk_output 1 or 2", [](Attention& a) {
        a.outputs({"y", "k", "v", "scores"});
    });
    refuse("total_sequence_length is 0, expected at least the 1 tokens",
           [](Attention& a) { a.input<int32_t>(6, {1}, {0}); });
}

TEST(GroupQuery, RefusesOtherTypes)
{
    const auto refuse = [](const std::string& part, const Change& change) {
        expect_refusal(TENGINE_EDTYPE, part, change);
    };
    refuse("input 0 'i0' is int8", [](Attention& a) {
        a.input<int8_t>(0, {1, 1, 8}).leave(3).leave(4);
    });
    refuse("'i0' is fp32 but 'i1' is fp16", [](Attention& a) { a.input<Half>(1, {1, 1, 4}); });
    refuse("input 5 'i5' is int64", [](Attention& a) { a.input<int64_t>(5, {1}, {2}); });
    refuse("input 6 'i6' is int64", [](Attention& a) { a.input<int64_t>(6, {1}, {3}); });
    refuse("input 7 'i7' is fp64", [](Attention& a) {
        a.input<double>(7, {4, 1}).input(8, {4, 1});
    });
    refuse("input 9 'i9' is int32", [](Attention& a) { a.input<int32_t>(9, {1, 1}); });
    refuse("input 10 'i10' is fp64", [](Attention& a) { a.input<double>(10, {1, 1, 1, 3}); });
}

TEST(GroupQuery, SaysWhatIsNotSupported)
{
    const auto refuse = [](const std::string& part, const Change& change) {
        expect_refusal(TENGINE_ENOTSUP, part, change);
    };
    refuse("a cache of int8 beside a query of fp32", [](Attention& a) {
        a.input<int8_t>(3, {1, 2, 4, 2});
    });
    refuse("k_quant_type PER_TENSOR, v_quant_type NONE, kv_cache_bit_width 0",
           [](Attention& a) { a.text("k_quant_type", "PER_TENSOR"); });
    refuse("v_quant_type PER_CHANNEL", [](Attention& a) { a.text("v_quant_type", "PER_CHANNEL"); });
    refuse("kv_cache_bit_width 8", [](Attention& a) { a.number("kv_cache_bit_width", 8); });
    refuse("sliding_window_cache 1 is not supported",
           [](Attention& a) { a.number("sliding_window_cache", 1); });
    refuse("local_window_size 3 without causal",
           [](Attention& a) { a.number("local_window_size", 3).number("causal", 0); });
    refuse("input 12, k_scale, is not supported", [](Attention& a) { a.input(12, {1}); });
    refuse("input 14, q_norm_weight, is not supported", [](Attention& a) { a.input(14, {2}); });
    refuse("output 2, present_value, is missing", [](Attention& a) { a.outputs({"y", "k"}); });
}

// Lengths beyond the cache, or beyond the angles.
TEST(GroupQuery, ChecksLengthsThatComeAsData)
{
    const auto refuse = [](const std::string& part, const Change& change) {
        expect_refusal(TENGINE_ERANGE, part, change);
    };
    const auto last = [](int32_t key) {
        return [key](Attention& a) { a.input<int32_t>(5, {1}, {key}); };
    };
    refuse("seqlens_k of batch 0 is -1, expected 0 to 2", last(-1));
    refuse("seqlens_k of batch 0 is 3, expected 0 to 2", last(3));
    refuse("seqlens_k of batch 0 is -2147483648", last(INT32_MIN));
    refuse("seqlens_k of batch 0 is 2147483647", last(INT32_MAX));
    refuse("there would be 5 keys before the 1 tokens, but past_key has room for 4",
           [](Attention& a) { a.input<int32_t>(5, {1}, {5}).input<int32_t>(6, {1}, {6}); });
    const auto turn = [](Attention& a) {
        a.number("do_rotary", 1).input(7, {2, 1}).input(8, {2, 1});
    };
    refuse("token 0 of batch 0 has position 2, but cos_cache has 2 rows", turn);
    refuse("has position -1, but", [&](Attention& a) {
        turn(a);
        a.input<int64_t>(9, {1, 1}, {-1});
    });
    expect_refusal(TENGINE_EINVAL, "attention_bias has 2 columns, expected the 3 keys",
                   [](Attention& a) {
                       a.input(10, {1, 1, 1, 2});
                   });
}

}  // namespace
}  // namespace tengine::test
