// SPDX-License-Identifier: Apache-2.0
// RotaryEmbedding of ONNX and of ONNX Runtime: layouts, positions, refusals.
#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using cpu::BFloat16;
using cpu::Half;
using Floats = std::vector<float>;
using Positions = std::vector<int64_t>;

constexpr const char* kMicrosoft = "com.microsoft.RotaryEmbedding";

// Row p rotates the first pair by p quarters, the second by p half turns.
template <class T>
void add_table(ConstantGraph& graph, int rows = 4)
{
    constexpr float kCosines[] = {1, 0, -1, 0};
    constexpr float kSines[] = {0, 1, 0, -1};
    std::vector<T> cosines, sines;
    for (int row = 0; row < rows; ++row)
        for (const int turn : {row % 4, row * 2 % 4}) {
            cosines.push_back(kCosines[turn]);
            sines.push_back(kSines[turn]);
        }
    graph.input("cos", {rows, 2}, cosines);
    graph.input("sin", {rows, 2}, sines);
}

template <class T>
class Rotary : public testing::Test
{
};
using FloatTypes = testing::Types<float, Half, BFloat16, double>;
TYPED_TEST_SUITE(Rotary, FloatTypes);

TYPED_TEST(Rotary, HalvesAndNeighbours)
{
    for (const bool interleaved : {false, true}) {
        ConstantGraph graph;
        add_table<TypeParam>(graph);
        graph.input<TypeParam>("x", {1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
        graph.input<int64_t>("positions", {1, 2}, {1, 3});
        node* node = graph.add("RotaryEmbedding", {"x", "cos", "sin", "positions"});
        set_node_int(node, "interleaved", interleaved);
        // The rotations are one quarter, and a half; three quarters, and one and a half.
        EXPECT_EQ(numbers_of(graph.evaluate()), interleaved
                                                    ? (Floats{-2, 1, -3, -4, 6, -5, -7, -8})
                                                    : (Floats{-3, -2, 1, -4, 7, -6, -5, -8}));
    }
}

// Two heads of two tokens: (batch, sequence, heads, size) and (batch, heads, sequence, size).
TEST(Rotary, HeadsFirstOrTokensFirst)
{
    const auto rotate = [](std::vector<int> dims, int heads) {
        ConstantGraph graph;
        graph.input<float>("x", std::move(dims), {1, 2, 3, 4, 5, 6, 7, 8});
        graph.input<float>("cos", {1, 2, 1}, {1, 0});
        graph.input<float>("sin", {1, 2, 1}, {0, 1});
        set_node_int(graph.add("RotaryEmbedding", {"x", "cos", "sin"}), "num_heads", heads);
        return numbers_of(graph.evaluate());
    };
    EXPECT_EQ(rotate({1, 2, 4}, 2), (Floats{1, 2, 3, 4, -6, 5, -8, 7}));
    EXPECT_EQ(rotate({1, 2, 2, 2}, 0), (Floats{1, 2, -4, 3, 5, 6, -8, 7}));
    EXPECT_EQ(rotate({1, 2, 2, 2}, 2), (Floats{1, 2, -4, 3, 5, 6, -8, 7}));
}

TEST(Rotary, ElementsBeyondThoseRotatedStay)
{
    ConstantGraph graph;
    graph.input<float>("x", {1, 1, 1, 6}, {1, 2, 3, 4, 5, 6});
    graph.input<float>("cos", {1, 1, 1}, {0});
    graph.input<float>("sin", {1, 1, 1}, {1});
    set_node_int(graph.add("RotaryEmbedding", {"x", "cos", "sin"}), "rotary_embedding_dim", 2);
    EXPECT_EQ(numbers_of(graph.evaluate()), (Floats{-2, 1, 3, 4, 5, 6}));
}

// Without num_heads a head is twice as wide as the cosines. A single position is that of the first
// token of each sequence.
TEST(Rotary, OfONNXRuntimeHasItsInputsInAnotherOrder)
{
    const auto rotate = [](const Positions& positions, std::vector<int> dims) {
        ConstantGraph graph;
        add_table<float>(graph);
        graph.input<float>("x", {1, 2, 8}, {1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8});
        graph.input("positions", std::move(dims), positions);
        graph.add(kMicrosoft, {"x", "positions", "cos", "sin"});
        return numbers_of(graph.evaluate());
    };
    const Floats wanted = {-3, -2, 1, -4, -7, -6, 5, -8, -1, 2, -3, 4, -5, 6, -7, 8};
    EXPECT_EQ(rotate({1, 2}, {1, 2}), wanted);
    EXPECT_EQ(rotate({1}, {1}), wanted);
}

TEST(Rotary, OfONNXRuntimeRotatesAPart)
{
    ConstantGraph graph;
    add_table<float>(graph);
    graph.input<float>("x", {1, 1, 10}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
    graph.input<int64_t>("positions", {1, 1}, {2});
    node* node = graph.add(kMicrosoft, {"x", "positions", "cos", "sin"});
    set_node_int(node, "num_heads", 2);
    set_node_int(node, "rotary_embedding_dim", 4);
    EXPECT_EQ(numbers_of(graph.evaluate()), (Floats{-1, 2, -3, 4, 5, -6, 7, -8, 9, 10}));
    set_node_float(node, "scale", 0.5f);
    graph.expect_failure(TENGINE_ENOTSUP, "scale is 0.5, expected 1");
    set_node_float(node, "scale", 1);
    set_node_int(node, "is_packed_batching", 1);
    graph.expect_failure(TENGINE_ENOTSUP, "is_packed_batching is 1, expected 0");
    set_node_int(node, "is_packed_batching", 0);
    set_node_int(node, "num_heads", 0);
    graph.expect_failure(TENGINE_EINVAL,
                         "10 elements of a token do not divide into heads (num_heads 0)");
}

TEST(Rotary, PositionsHaveARow)
{
    const auto expect = [](const char* op, const Positions& positions, const char* part) {
        ConstantGraph graph;
        add_table<float>(graph);
        graph.input("x", {1, 1, 2, 4}, Floats(8, 1));
        const int number = static_cast<int>(positions.size());
        graph.input("positions", number == 1 ? std::vector{1} : std::vector{1, number}, positions);
        if (std::string(op) == kMicrosoft)
            graph.add(op, {"x", "positions", "cos", "sin"});
        else
            graph.add(op, {"x", "cos", "sin", "positions"});
        graph.expect_failure(TENGINE_ERANGE, part);
    };
    expect("RotaryEmbedding", {0, 4}, "position 4 at 1 is out of range: expected 0 to 3");
    expect("RotaryEmbedding", {-1, 0}, "position -1 at 0 is out of range: expected 0 to 3");
    expect(kMicrosoft, {3}, "position 3 at 0 is out of range: expected 0 to 2");
    expect(kMicrosoft, {INT64_MAX}, "is out of range: expected 0 to 2");
}

Floats zeros(const std::vector<int>& dims)
{
    int number = 1;
    for (const int dim : dims)
        number *= dim;
    return Floats(static_cast<size_t>(number), 0);
}

// Shapes of x, cosines, sines and, if there are any, positions.
void expect_refusal(const std::vector<std::vector<int>>& shapes, const char* part,
                    const char* attribute = nullptr, int value = 0)
{
    ConstantGraph graph;
    std::vector<std::string> inputs = {"x", "cos", "sin"};
    for (size_t i = 0; i < 3; ++i)
        graph.input(inputs[i], shapes[i], zeros(shapes[i]));
    if (shapes.size() > 3) {
        inputs.push_back("positions");
        graph.input("positions", shapes[3], Positions(zeros(shapes[3]).size(), 0));
    }
    node* node = graph.add("RotaryEmbedding", inputs);
    if (attribute) set_node_int(node, attribute, value);
    graph.expect_failure(TENGINE_EINVAL, part);
}

TEST(Rotary, RefusesHeadsThatDoNotFit)
{
    expect_refusal({{2, 4}, {3, 2}, {3, 2}}, "input 'x' has rank 2, expected 3 or 4");
    expect_refusal({{1, 2, 12}, {1, 2, 2}, {1, 2, 2}},
                   "12 elements of a token do not divide into heads (num_heads 0)");
    expect_refusal({{1, 2, 12}, {1, 2, 2}, {1, 2, 2}},
                   "12 elements of a token do not divide into heads (num_heads 5)", "num_heads", 5);
    expect_refusal({{1, 3, 2, 4}, {1, 2, 2}, {1, 2, 2}},
                   "num_heads is 2, but input 'x' has 3 heads", "num_heads", 2);
    expect_refusal({{1, 3, 2, 4}, {1, 2, 2}, {1, 2, 2}}, "3 elements of heads of 4",
                   "rotary_embedding_dim", 3);
    expect_refusal({{1, 3, 2, 4}, {1, 2, 3}, {1, 2, 3}}, "6 elements of heads of 4",
                   "rotary_embedding_dim", 6);
}

TEST(Rotary, RefusesTablesThatDoNotFit)
{
    const std::vector<int> x = {1, 3, 2, 4};
    expect_refusal({x, {1, 2, 1}, {1, 2, 1}},
                   "input 1 'cos' has rank 3 and 2 values, expected 1 x 2 x 2");
    expect_refusal({x, {1, 2, 2}, {2, 2}},
                   "input 2 'sin' has rank 2 and 4 values, expected 1 x 2 x 2");
    expect_refusal({x, {5, 2}, {4, 2}, {1, 2}},
                   "input 2 'sin' has rank 2 and 8 values, expected rows of 2");
    expect_refusal({x, {5, 2}, {5, 2}, {1, 3}},
                   "positions 'positions' have rank 2 and 3 values, expected 1 x 2");
    expect_refusal({{1, 3, 1, 4}, {5, 2}, {5, 2}, {1}},
                   "positions 'positions' have rank 1 and 1 values, expected 1 x 1");
}

TEST(Rotary, RefusesOtherTypes)
{
    ConstantGraph mixed;
    mixed.input<float>("x", {1, 1, 1, 2}, {1, 2});
    mixed.input<Half>("table", {1, 1, 1}, {1});
    mixed.add("RotaryEmbedding", {"x", "table", "table"});
    mixed.expect_failure(TENGINE_EDTYPE, "'x' is fp32 but 'table' is fp16");
    ConstantGraph narrow;
    narrow.input<float>("x", {1, 1, 1, 2}, {1, 2});
    narrow.input<float>("table", {1, 1}, {1});
    narrow.input<int32_t>("positions", {1, 1}, {0});
    narrow.add("RotaryEmbedding", {"x", "table", "table", "positions"});
    narrow.expect_failure(TENGINE_EDTYPE, "input 3 'positions' is int32");
}

}  // namespace
}  // namespace tengine::test
