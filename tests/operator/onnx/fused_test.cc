// SPDX-License-Identifier: Apache-2.0
// Operators of ONNX Runtime that become ONNX's: numbers are those of ONNX Runtime 1.30 for the same
// inputs (node_case.h), unless a test says otherwise. Sums of up to 6 products of magnitudes up to
// 2 differ by a few roundings of 2^-22, functions of them by about as much.
#include "node_case.h"

namespace tengine::test {
namespace {

using Dims = std::vector<int>;
using Floats = std::vector<float>;
constexpr float kTolerance = 2e-6f;

NodeCase make(const std::string& op)
{
    return NodeCase("com.microsoft." + op);
}

TEST(FusedConv, AddsBeforeItActivates)
{
    NodeCase made = make("FusedConv");
    made.pattern({1, 1, 3}, 1).pattern({2, 1, 2}, 2).pattern({2}, 3).pattern({1, 2, 2}, 4);
    made.text("activation", "LeakyRelu").reals("activation_params", {0.5f});
    made.expect({-0.25f, -1.523438f, 1.578125f, 2.65625f}, kTolerance);
}

TEST(FusedConv, HasBounds)
{
    NodeCase made = make("FusedConv");
    made.pattern({1, 1, 3}, 1).pattern({2, 1, 2}, 2);
    made.text("activation", "Clip").reals("activation_params", {-0.5f, 0.75f});
    made.expect({0.125f, -0.5f, -0.171875f, 0.75f}, kTolerance);
}

TEST(FusedConv, RefusesActivations)
{
    const auto expect = [](const char* activation, int code, const char* part) {
        NodeCase made = make("FusedConv");
        made.pattern({1, 1, 3}, 1).pattern({2, 1, 2}, 2).text("activation", activation);
        made.expect_failure(code, part);
    };
    expect("Cos", TENGINE_ENOTSUP, "activation Cos is not supported");
    expect("Clip", TENGINE_EINVAL, "activation_params has 0 values, Clip needs 2");
    expect("LeakyRelu", TENGINE_EINVAL, "activation_params has 0 values, LeakyRelu needs 1");
}

TEST(FusedMatMul, TurnsMatricesAndBatches)
{
    NodeCase batches = make("FusedMatMul");
    batches.pattern({2, 3, 2}, 1).pattern({3, 2, 2}, 2).real("alpha", 0.5f);
    batches.number("transBatchA", 1).number("transB", 1);
    batches.expect({0.0625f, -0.0859375f, -0.609375f, 0.953125f, -0.515625f, 0.4453125f, 0.796875f,
                    -0.6640625f, 0.2890625f, 0.5625f, 0.3515625f, 0},
                   kTolerance);
    for (const char* op : {"FusedMatMul", "TransposeMatMul"}) {
        NodeCase matrices = make(op);
        matrices.pattern({3, 2}, 1).pattern({2, 3}, 2).number("transA", 1).number("transB", 1);
        matrices.expect({-1.6875f, 0.625f, -0.84375f, -0.078125f}, kTolerance);
    }
}

TEST(FusedGemm, Activates)
{
    NodeCase made = make("FusedGemm");
    made.pattern({2, 3}, 1).pattern({3, 2}, 2).pattern({2}, 3).real("alpha", 0.5f).real("beta", 2);
    made.text("activation", "HardSigmoid").real("activation_alpha", 0.25f);
    made.real("activation_beta", 0.5f);
    made.expect({0.2363281f, 0.9277344f, 0, 0.9921875f}, kTolerance);
}

TEST(FusedGemm, RefusesActivations)
{
    NodeCase missing = make("FusedGemm");
    missing.pattern({2, 3}, 1)
        .pattern({3, 2}, 2)
        .text("activation", "Elu")
        .expect_failure(TENGINE_EINVAL, "activation_alpha is missing, Elu needs it");
    NodeCase other = make("FusedGemm");
    other.pattern({2, 3}, 1)
        .pattern({3, 2}, 2)
        .text("activation", "Cos")
        .expect_failure(TENGINE_ENOTSUP, "activation Cos is not supported");
}

// ONNX Runtime supports this on GPUs only.
TEST(BiasAdd, AddsBoth)
{
    NodeCase made = make("BiasAdd");
    made.values<float>({1, 2}, {1, 2}).values<float>({2}, {10, 20});
    made.values<float>({1, 2}, {100, 200}).expect({111, 222}, 0);
}

NodeCase make_embed(bool has_segments)
{
    NodeCase made = make("EmbedLayerNormalization");
    made.values<int32_t>({1, 2}, {2, 0});
    has_segments ? made.values<int32_t>({1, 2}, {1, 0}) : made.absent();
    made.pattern({3, 2}, 1).pattern({2, 2}, 2);
    has_segments ? made.pattern({2, 2}, 3) : made.absent();
    made.pattern({2}, 4).pattern({2}, 5).real("epsilon", 0.5f).outputs({"y", "index", "sum"});
    return made;
}

TEST(EmbedLayerNormalization, HasThreeOutputs)
{
    NodeCase made = make_embed(true);
    made.values<int32_t>({1, 2}, {1, 0});
    made.expect({1.605576f, 1.057015f, 1.160198f, -0.5018085f}, kTolerance);
    EXPECT_EQ(values_of<int32_t>(made.evaluate("index")), (std::vector<int32_t>{1}));
    made.expect({1.625f, -1.75f, -2.5f, -0.125f}, 0, "sum");
    NodeCase plain = make_embed(false);
    plain.absent().values<int32_t>({1, 2}, {1, 1});
    plain.expect({1.273944f, -0.1036978f, 1.273944f, -0.1036978f}, kTolerance);
    EXPECT_EQ(values_of<int32_t>(plain.evaluate("index")), (std::vector<int32_t>{0}));
}

TEST(EmbedLayerNormalization, RefusesWhatDoesNotFit)
{
    NodeCase flat = make("EmbedLayerNormalization");
    flat.values<int32_t>({2}, {0, 0}).absent().pattern({3, 2}, 1).pattern({2, 2}, 2).absent();
    flat.pattern({2}, 1).pattern({2}, 2);
    flat.expect_failure(TENGINE_EINVAL, "input_ids 'i0' have rank 1, expected 2");
    NodeCase many = make("EmbedLayerNormalization");
    many.values<int32_t>({1, 3}, {0, 0, 0}).absent().pattern({3, 2}, 1).pattern({2, 2}, 2).absent();
    many.pattern({2}, 1).pattern({2}, 2);
    many.expect_failure(TENGINE_ERANGE, "there are 3 tokens, the position table has 2 rows");
    NodeCase half = make("EmbedLayerNormalization");
    half.values<int32_t>({1, 1}, {0}).absent().pattern({3, 2}, 1).pattern({2, 2}, 2);
    half.pattern({2, 2}, 2).pattern({2}, 1).pattern({2}, 2);
    half.expect_failure(TENGINE_EINVAL, "segment_embedding: one of them is missing");
    NodeCase less = make("EmbedLayerNormalization");
    less.values<int32_t>({1, 1}, {0}).absent().pattern({3, 2}, 1).pattern({2, 2}, 2);
    less.expect_failure(TENGINE_EINVAL, "input 5 is missing");
}

// With one group for each channel a plane is normalised alone: x is -1 and 1, or 0. Swish of 1 is
// 0.731059. ONNX Runtime supports this on GPUs only.
TEST(GroupNorm, HasItsChannelsLast)
{
    NodeCase made = make("GroupNorm");
    made.values<float>({1, 1, 2, 2}, {1, 5, 3, 5}).values<float>({2}, {1, 1});
    made.values<float>({2}, {0, 1}).number("groups", 2).number("activation", 1);
    made.real("epsilon", 1e-12f);
    made.expect({-0.268941f, 0.731059f, 0.731059f, 0.731059f}, kTolerance);
    NodeCase flat = make("GroupNorm");
    flat.pattern({1, 2}, 1).pattern({2}, 1).pattern({2}, 1).number("groups", 2);
    flat.number("activation", 0);
    flat.expect_failure(TENGINE_EINVAL, "input 'i0' has rank 2, expected at least 3");
}

TEST(SkipGroupNorm, HasTheSum)
{
    NodeCase made = make("SkipGroupNorm");
    made.values<float>({1, 1, 2, 2}, {0, 1, 2, 1}).values<float>({2}, {1, 1});
    made.values<float>({2}, {0, 1}).values<float>({1, 2}, {1, 3}).values<float>({2}, {0, 1});
    made.number("groups", 2).number("activation", 0).outputs({"y", "sum"});
    made.real("epsilon", 1e-12f).expect({-1, 1, 1, 1}, kTolerance);
    made.expect({1, 5, 3, 5}, 0, "sum");
}

TEST(NhwcMaxPool, HasItsChannelsLast)
{
    NodeCase made = make("NhwcMaxPool");
    made.values<int8_t>({1, 2, 2, 2}, {1, -2, 3, 4, -5, 6, 7, -8}).list("kernel_shape", {2, 1});
    const tensor* result = made.evaluate();
    EXPECT_EQ(dims_of(result), (Dims{1, 1, 2, 2}));
    EXPECT_EQ(values_of<int8_t>(result), (std::vector<int8_t>{1, 6, 7, 4}));
    NodeCase long_list = make("NhwcMaxPool");
    long_list.values<int8_t>({1}, {1}).list("kernel_shape", {1, 1, 1, 1, 1, 1, 1});
    long_list.expect_failure(TENGINE_EINVAL, "the rank is 9, expected 3 to 8");
}

NodeCase& add_bytes(NodeCase& made)
{
    made.values<uint8_t>({1, 2, 2, 2}, {10, 20, 30, 40, 50, 60, 70, 80});
    made.values<float>({}, {0.5f}).values<uint8_t>({}, {40}).number("channels_last", 1);
    return made;
}

TEST(QLinearConv, HasItsChannelsLast)
{
    NodeCase made = make("QLinearConv");
    add_bytes(made).values<int8_t>({1, 2, 2, 1}, {1, -2, 3, 4}).values<float>({}, {0.25f});
    made.values<int8_t>({}, {0}).values<float>({}, {0.5f}).values<uint8_t>({}, {100});
    made.values<int32_t>({1}, {10});
    const tensor* result = made.evaluate();
    EXPECT_EQ(dims_of(result), (Dims{1, 1, 2, 1}));
    EXPECT_EQ(values_of<uint8_t>(result), (std::vector<uint8_t>{95, 125}));
}

TEST(QLinearPools, HaveTheirChannelsLast)
{
    const auto expect = [](const char* op, const Dims& dims, const std::vector<uint8_t>& wanted) {
        NodeCase made = make(op);
        add_bytes(made).values<float>({}, {0.25f}).values<uint8_t>({}, {30});
        if (dims[2] > 1) made.list("kernel_shape", {2, 1});
        const tensor* result = made.evaluate();
        EXPECT_EQ(dims_of(result), dims);
        EXPECT_EQ(values_of<uint8_t>(result), wanted);
    };
    expect("QLinearAveragePool", {1, 1, 2, 2}, {10, 30, 50, 70});
    expect("QLinearGlobalAveragePool", {1, 1, 1, 2}, {30, 50});
}

TEST(MicrosoftQuantizeLinear, HasScalesAlongAnAxis)
{
    NodeCase quantize = make("QuantizeLinear");
    quantize.pattern({2, 2}, 1).values<float>({2}, {0.125f, 0.25f});
    quantize.values<uint8_t>({2}, {10, 100}).number("axis", 0);
    EXPECT_EQ(values_of<uint8_t>(quantize.evaluate()), (std::vector<uint8_t>{8, 0, 102, 97}));
    NodeCase dequantize = make("DequantizeLinear");
    dequantize.values<uint8_t>({2, 2}, {0, 40, 80, 120}).values<float>({}, {0.5f});
    dequantize.values<uint8_t>({}, {10}).expect({-5, 15, 35, 55}, 0);
}

// ONNX Runtime specifies both, and supports neither on a CPU.
TEST(MulInteger, SubtractsZeroPoints)
{
    NodeCase made = make("MulInteger");
    made.values<uint8_t>({2}, {0, 255}).values<uint8_t>({}, {10}).values<int8_t>({2}, {-128, 127});
    EXPECT_EQ(values_of<int32_t>(made.evaluate()), (std::vector<int32_t>{1280, 31115}));
    NodeCase missing = make("MulInteger");
    missing.values<uint8_t>({1}, {1}).expect_failure(TENGINE_EINVAL, "input 2, B, is missing");
    NodeCase other = make("MulInteger");
    other.values<int32_t>({1}, {1}).absent().values<uint8_t>({1}, {1}).expect_failure(
        TENGINE_EDTYPE, "input 0 'i0' is int32");
}

TEST(ReduceSumInteger, KeepsTheSign)
{
    NodeCase bytes = make("ReduceSumInteger");
    bytes.values<int8_t>({2, 2}, {-128, -128, 1, 2}).list("axes", {1}).number("keepdims", 0);
    EXPECT_EQ(values_of<int32_t>(bytes.evaluate()), (std::vector<int32_t>{-256, 3}));
    NodeCase unsigned_bytes = make("ReduceSumInteger");
    unsigned_bytes.values<uint8_t>({2}, {255, 255}).list("axes", {0}).number("keepdims", 1);
    EXPECT_EQ(values_of<uint32_t>(unsigned_bytes.evaluate()), (std::vector<uint32_t>{510}));
}

NodeCase make_gather(int bits, const std::vector<int64_t>& indices)
{
    const int columns = bits == 4 ? 9 : 17;
    std::vector<uint8_t> data;
    for (int i = 0; i < 2 * columns; ++i)
        data.push_back(static_cast<uint8_t>(i * 53));
    NodeCase made = make("GatherBlockQuantized");
    made.values({2, columns}, data).values({static_cast<int>(indices.size())}, indices);
    made.values<float>({2, 2}, {0.5f, 1, 0.25f, 2}).number("bits", bits).number("block_size", 16);
    return made;
}

// As in ONNX Runtime, blocks have 16 elements of 18, then 2.
TEST(GatherBlockQuantized, RowsOfBlocks)
{
    make_gather(4, {-1})
        .values<uint8_t>({2, 1}, {0x21, 0x93})
        .expect({2.5f, 2.5f, -0.25f, -0.5f, 1, 0.25f, 2.25f, 1, -0.5f, 2, 0.75f, 2.75f, 2, -0.5f,
                 -0.75f, 0.5f, -8, -2},
                0);
    make_gather(8, {0}).expect({-64, -37.5f, -11, 15.5f, 42, -59.5f, -33, -6.5f, 20, 46.5f, -55,
                                -28.5f, -2, 24.5f, 51, -50.5f, -48},
                               0);
}

TEST(GatherBlockQuantized, RefusesWhatDoesNotFit)
{
    make_gather(4, {2}).expect_failure(TENGINE_ERANGE, "index 2 at position 0 is out of range");
    make_gather(4, {0}).number("bits", 3).expect_failure(TENGINE_ENOTSUP, "bits is 3, expected 4");
    make_gather(4, {0})
        .number("block_size", 24)
        .expect_failure(TENGINE_EINVAL, "block_size is 24, expected a power of two");
    make_gather(4, {0})
        .number("gather_axis", 1)
        .expect_failure(TENGINE_ENOTSUP, "gather_axis 1 and quantize_axis 1 of data of rank 2");
    make_gather(4, {0})
        .number("block_size", 32)
        .expect_failure(
            TENGINE_EINVAL,
            "input 2 'i2' has rank 2 and 4 values, expected the axes of the data, and 1");
    make_gather(4, {0})
        .values<uint8_t>({2, 2}, {0, 0, 0, 0})
        .expect_failure(
            TENGINE_EINVAL,
            "input 3 'i3' has rank 2 and 4 values, expected the axes of the data, and 1");
}

}  // namespace
}  // namespace tengine::test
