// SPDX-License-Identifier: Apache-2.0
// Constants that the library holds in another form than the file: sparse ones, integers of less
// than a byte, scales of blocks, biases of 64 bits, strings.
#include "serializer/tflite/model_test.h"
#include "tengine/ir.h"

namespace tengine::test {
namespace {

constexpr int kAdd = 0, kDequantize = 6, kFullyConnected = 9, kDensify = 124;

class TfliteConstantTest : public TfliteModelTest
{
  protected:
    // The values of a constant of floats, which DENSIFY gives.
    std::vector<float> densify(const TfliteTensor& constant)
    {
        const auto results = run(make_dense(constant), {});
        return results.empty() ? std::vector<float>() : values_of<float>(results[0]);
    }

    static TfliteModel make_dense(const TfliteTensor& constant)
    {
        TfliteModel model;
        model.tensors = {constant, {"y", constant.shape}};
        model.operators = {{kDensify, {0}, {1}}};
        model.outputs = {1};
        return model;
    }

    // The real values of a constant of integers, which DEQUANTIZE gives.
    std::vector<float> dequantise(const TfliteTensor& constant)
    {
        TfliteModel model;
        model.tensors = {constant, {"y", constant.shape}};
        model.operators = {{kDequantize, {0}, {1}}};
        model.outputs = {1};
        const auto results = run(model, {});
        return results.empty() ? std::vector<float>() : values_of<float>(results[0]);
    }
};

// 1 0 0
// 0 0 2
TfliteTensor make_rows(uint8_t width)
{
    TfliteTensor tensor = {"w", {2, 3}, kTfliteFloat, bytes_of<float>({1, 2})};
    tensor.sparsity = {{0, 1}, {}, {{2}, {3, {0, 1, 2}, {0, 2}, width}}};
    return tensor;
}

TEST_F(TfliteConstantTest, CompressedRows)
{
    for (const uint8_t width : {1, 2, 3})
        EXPECT_THAT(densify(make_rows(width)), testing::ElementsAre(1, 0, 0, 0, 0, 2));
}

TEST_F(TfliteConstantTest, CompressedColumns)
{
    TfliteTensor tensor = {"w", {2, 3}, kTfliteFloat, bytes_of<float>({1, 2, 3})};
    tensor.sparsity = {{1, 0}, {}, {{3}, {2, {0, 1, 1, 3}, {0, 0, 1}, 1}}};
    EXPECT_THAT(densify(tensor), testing::ElementsAre(1, 0, 2, 0, 0, 3));
}

// Blocks of 2 x 2; of the two of the first row the second one is there, of the next row the first.
TEST_F(TfliteConstantTest, Blocks)
{
    TfliteTensor tensor = {"w", {4, 4}, kTfliteFloat, bytes_of<float>({1, 2, 3, 4, 5, 6, 7, 8})};
    tensor.sparsity = {{0, 1, 2, 3}, {0, 1}, {{2}, {2, {0, 1, 2}, {1, 0}, 1}, {2}, {2}}};
    EXPECT_THAT(densify(tensor),
                testing::ElementsAre(0, 0, 1, 2, 0, 0, 3, 4, 5, 6, 0, 0, 7, 8, 0, 0));
}

TEST_F(TfliteConstantTest, RefusedSparsity)
{
    const std::vector<std::pair<TfliteSparsity, const char*>> cases = {
        {{{0}, {}, {{2}}}, "an order of 1"},
        {{{0, 0}, {}, {{2}, {3}}}, "level 1 is axis 0"},
        {{{0, 5}, {}, {{2}, {3}}}, "level 1 is axis 5"},
        {{{0, -1}, {}, {{2}, {3}}}, "level 1 is axis -1"},
        {{{0, 1}, {}, {{2}, {4}}}, "a level has 4 elements, expected 3"},
        {{{0, 1}, {}, {{2}, {3}}}, "do not fit its 6 places"},
        {{{0, 1}, {}, {{2}, {3, {0, 1, 2}, {0, 3}, 1}}}, "index 3 of a level of 3"},
        {{{0, 1}, {}, {{2}, {3, {0, 1, 2}, {0, -1}, 1}}}, "index -1"},
        {{{0, 1}, {}, {{2}, {3, {0, 2}, {0, 2}, 1}}}, "2 segments"},
        {{{0, 1}, {}, {{2}, {3, {1, 1, 2}, {0, 2}, 1}}}, "segments"},
        {{{0, 1}, {}, {{2}, {3, {0, 3, 2}, {0, 2}, 1}}}, "segment 1 ends before it begins"},
        {{{0, 1}, {}, {{2}, {3, {0, 1, 9}, {0, 2}, 1}}}, "segments"},
        {{{0, 1}, {}, {{2}, {3, {0, 1, 2}, {0, 2}, 7}}}, "not inside the file"},
        {{{0, 1, 2}, {1}, {{2}, {3}, {2}}}, "blocks of 2 do not divide the 3"},
        {{{0, 1, 2}, {1}, {{2}, {3}, {0}}}, "blocks of 0"},
        {{{0, 1, 2}, {7}, {{2}, {3}, {1}}}, "block 0 is of axis 7"},
        {{{2, 0, 1}, {1}, {{1}, {2}, {3}}}, "level 0 is axis 2"}};
    for (const auto& [sparsity, text] : cases) {
        SCOPED_TRACE(text);
        TfliteTensor tensor = make_rows(1);
        tensor.sparsity = sparsity;
        expect_refusal(make_dense(tensor), TENGINE_EFORMAT, text);
    }
}

// A small file must not become large memory.
TEST_F(TfliteConstantTest, SparseConstantOfAHugeShape)
{
    TfliteTensor tensor = {"w", {1 << 13, 1 << 13}, kTfliteFloat, bytes_of<float>({1})};
    tensor.sparsity = {{0, 1}, {}, {{1 << 13}, {1 << 13}}};
    expect_refusal(make_dense(tensor), TENGINE_ELIMIT, "many times its own size");
}

TEST_F(TfliteConstantTest, PackedIntegers)
{
    // The first element is in the lowest bits.
    EXPECT_THAT(dequantise({"w", {3}, kTfliteInt4, std::string("\x1f\x08", 2), {0.5f}, {0}}),
                testing::ElementsAre(-0.5f, 0.5f, -4));
    EXPECT_THAT(dequantise({"w", {3}, kTfliteUint4, std::string("\x1f\x08", 2), {0.5f}, {8}}),
                testing::ElementsAre(3.5f, -3.5f, 0));
    EXPECT_THAT(dequantise({"w", {5}, kTfliteInt2, std::string("\xe4\x01", 2), {2}, {0}}),
                testing::ElementsAre(0, 2, -4, -2, 2));
    EXPECT_THAT(dequantise({"w", {2, 2}, kTfliteInt4, std::string("\x21\x43", 2), {1, 10}, {0, 0}}),
                testing::ElementsAre(1, 2, 30, 40));
}

// Kernels add the integers of a bias to the sum, whatever its scale says: one that two operators of
// other scales share, and one whose scale is that of neither operand.
TEST_F(TfliteConstantTest, BiasesOfOtherScales)
{
    TfliteModel model;
    const std::string one = bytes_of<int8_t>({1});
    const auto bias = [](const char* name, float scale) {
        return TfliteTensor{name, {1}, kTfliteInt32, bytes_of<int32_t>({10}), {scale}, {0}};
    };
    model.tensors = {{"x", {1, 1}, kTfliteInt8, {}, {0.5f}, {0}},
                     {"v", {1, 1}, kTfliteInt8, one, {1}, {0}},
                     {"w", {1, 1}, kTfliteInt8, one, {2}, {0}},
                     bias("shared", 0.5f),
                     bias("other", 4),
                     {"a", {1, 1}, kTfliteInt8, {}, {0.5f}, {0}},
                     {"b", {1, 1}, kTfliteInt8, {}, {1}, {0}},
                     {"c", {1, 1}, kTfliteInt8, {}, {1}, {0}}};
    model.operators = {{kFullyConnected, {0, 1, 3}, {5}},
                       {kFullyConnected, {0, 2, 3}, {6}},
                       {kFullyConnected, {0, 2, 4}, {7}}};
    model.inputs = {0};
    model.outputs = {5, 6, 7};
    const std::string sum = bytes_of<int8_t>({13});
    EXPECT_THAT(run(model, {bytes_of<int8_t>({3})}), testing::ElementsAre(sum, sum, sum));
}

// A row for each output, and a scale for two of its inputs: 1 and 10, 0.5 and 2.
TfliteModel make_blocks()
{
    TfliteModel model;
    model.tensors = {
        {"x", {1, 4}},
        {"w", {2, 4}, kTfliteInt4, std::string("\x21\x43\xff\x11", 4)},
        {"scales", {2, 2}, kTfliteHalf, bytes_of<uint16_t>({0x3c00, 0x4900, 0x3800, 0x4000})},
        {"y", {1, 2}}};
    model.tensors[1].blocks = {2, 0, 2};
    model.operators = {{kFullyConnected, {0, 1}, {3}}};
    model.inputs = {0};
    model.outputs = {3};
    return model;
}

TEST_F(TfliteConstantTest, ScalesOfBlocks)
{
    const auto results = run(make_blocks(), {bytes_of<float>({1, 1, 1, 1})});
    ASSERT_EQ(results.size(), 1U);
    EXPECT_THAT(values_of<float>(results[0]), testing::ElementsAre(1 + 2 + 30 + 40, -1 + 4));
}

TEST_F(TfliteConstantTest, RefusedBlocks)
{
    const std::vector<std::pair<TfliteBlocks, const char*>> cases = {
        {{2, 0, 3}, "blocks of 3"},         {{2, 0, -1}, "blocks of -1"},
        {{99, 0, 2}, "in tensor 99"},       {{-1, 0, 2}, "in tensor -1"},
        {{2, 0, 1}, "has 8 blocks"},        {{2, 77, 2}, "in tensor 77"},
        {{2, 2, 2}, "zero points of int32"}};
    for (const auto& [blocks, text] : cases) {
        SCOPED_TRACE(text);
        TfliteModel model = make_blocks();
        model.tensors[1].blocks = blocks;
        expect_refusal(model, TENGINE_EFORMAT, text);
    }
}

// 3 x 0.5 x 2 x 0.25, and a bias of 4 x 0.125; results have the scale 0.25.
TEST_F(TfliteConstantTest, BiasOf64Bits)
{
    TfliteModel model;
    model.tensors = {{"x", {1, 1}, kTfliteInt16, {}, {0.5f}, {0}},
                     {"w", {1, 1}, kTfliteInt8, std::string("\x02", 1), {0.25f}, {0}},
                     {"b", {1}, kTfliteInt64, bytes_of<int64_t>({4}), {0.125f}, {0}},
                     {"y", {1, 1}, kTfliteInt16, {}, {0.25f}, {0}}};
    model.operators = {{kFullyConnected, {0, 1, 2}, {3}}};
    model.inputs = {0};
    model.outputs = {3};
    const auto results = run(model, {bytes_of<int16_t>({3})});
    ASSERT_EQ(results.size(), 1U);
    EXPECT_THAT(values_of<int16_t>(results[0]), testing::ElementsAre(5));
}

// Other constants of 64 bits stay integers, whatever scale a converter gave them.
TEST_F(TfliteConstantTest, NumbersOf64BitsStayIntegers)
{
    TfliteModel model;
    model.tensors = {{"x", {1}, kTfliteInt64},
                     {"c", {1}, kTfliteInt64, bytes_of<int64_t>({4}), {0.125f}, {0}},
                     {"y", {1}, kTfliteInt64}};
    model.operators = {{kAdd, {0, 1}, {2}}};
    model.inputs = {0};
    model.outputs = {2};
    const auto results = run(model, {bytes_of<int64_t>({3})});
    ASSERT_EQ(results.size(), 1U);
    EXPECT_THAT(values_of<int64_t>(results[0]), testing::ElementsAre(7));
}

// ---- strings ----

TfliteModel make_strings(const std::vector<int32_t>& head, const std::string& text)
{
    constexpr int kGather = 36;
    TfliteModel model;
    model.tensors = {{"words", {2}, kTfliteString, bytes_of<int32_t>(head) + text},
                     {"i", {1}, kTfliteInt32},
                     {"y", {1}, kTfliteString}};
    model.operators = {{kGather, {0, 1}, {2}}};
    model.inputs = {1};
    model.outputs = {2};
    return model;
}

TEST_F(TfliteConstantTest, Strings)
{
    ASSERT_TRUE(load(make_strings({2, 16, 18, 21}, "hithe"))) << get_tengine_error();
    const auto* source = static_cast<struct graph*>(graph_);
    const auto* words = static_cast<const char* const*>(get_ir_graph_tensor(source, 0)->data);
    EXPECT_STREQ(words[0], "hi");
    EXPECT_STREQ(words[1], "the");
    EXPECT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
}

TEST_F(TfliteConstantTest, RefusedStrings)
{
    const std::vector<std::vector<int32_t>> heads = {
        {3, 16, 18, 21}, {-2, 16, 18, 21}, {2, 16, 18, 99},        {2, 16, 18, 17},
        {2, 4, 18, 21},  {2, -1, 18, 21},  {2, 16, 0x7fffffff, 21}};
    for (const auto& head : heads) {
        EXPECT_FALSE(load(make_strings(head, "hithe")));
        EXPECT_EQ(get_tengine_errno(), TENGINE_EFORMAT) << get_tengine_error();
    }
    EXPECT_FALSE(load(make_strings({2, 16}, "")));
    EXPECT_EQ(get_tengine_errno(), TENGINE_EFORMAT) << get_tengine_error();
}

TEST_F(TfliteConstantTest, DamagedFiles)
{
    expect_bounds(make_dense(make_rows(2)));
    expect_bounds(make_blocks());
    expect_bounds(make_strings({2, 16, 18, 21}, "hithe"));
}

}  // namespace
}  // namespace tengine::test
