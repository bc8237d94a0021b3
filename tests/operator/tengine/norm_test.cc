// SPDX-License-Identifier: Apache-2.0
// Tengine's normalisations against loops over their definition.
#include <algorithm>
#include <cmath>

#include "operator/param.h"
#include "tengine_case.h"

namespace tengine::test {
namespace {

using Dims = std::vector<int>;
using Ints = std::vector<int64_t>;

int channel_of(const Dims& dims, size_t element)
{
    const Dims rest(dims.begin() + 2, dims.end());
    return static_cast<int>(element / static_cast<size_t>(count_elements(rest)) %
                            static_cast<size_t>(dims[1]));
}

// Calls body(value, channel) for every element.
template <class Body>
Array map_channels(Array x, const Body& body)
{
    for (size_t i = 0; i < x.values.size(); ++i)
        x.values[i] = body(x.values[i], static_cast<size_t>(channel_of(x.dims, i)));
    return x;
}

Array make_positive(Dims dims, int seed)
{
    Array made = make_array(std::move(dims), seed);
    for (double& value : made.values)
        value = static_cast<float>(0.1 + value * value);
    return made;
}

// ---- BatchNormalize ----

struct BatchNormCase
{
    Dims dims;
    double rescale, eps;
    int caffe;
};

class BatchNormalize : public testing::TestWithParam<BatchNormCase>
{
};

TEST_P(BatchNormalize, IsWhatTheLoopsGive)
{
    const BatchNormCase& param = GetParam();
    const int channels = param.dims[1];
    const Array x = make_array(param.dims, 1);
    const Array gamma = make_array({channels}, 2), beta = make_array({channels}, 3);
    const Array mean = make_array({channels}, 4), variance = make_positive({channels}, 5);
    const double factor = param.rescale == 0 ? 0 : 1 / param.rescale;
    const Array expected = map_channels(x, [&](double value, size_t c) {
        const double unit =
            (value - mean.values[c] * factor) / std::sqrt(variance.values[c] * factor + param.eps);
        return param.caffe ? unit : unit * gamma.values[c] + beta.values[c];
    });
    TengineCase test("tengine.BatchNormalize");
    test.input(x).constant(gamma).constant(beta).constant(mean);
    test.constant({{1, channels, 1, 1}, variance.values});
    test.attr("rescale_factor", param.rescale).attr("eps", param.eps);
    test.attr("caffe_flavor", param.caffe);
    expect_close(test.run_one(), expected, 1e-4);
    EXPECT_EQ(test.ops(), "BatchNormalization");
}

INSTANTIATE_TEST_SUITE_P(Modes, BatchNormalize,
                         testing::Values(BatchNormCase{{2, 7, 5, 3}, 1, 1e-5, 0},
                                         BatchNormCase{{1, 1, 1, 1}, 1, 0.5, 0},
                                         BatchNormCase{{1, 13, 3}, 999.5, 1e-3, 0},
                                         BatchNormCase{{3, 5}, 1, 1e-5, 0},
                                         BatchNormCase{{1, 3, 2, 2}, 0, 1e-2, 0},
                                         BatchNormCase{{1, 3, 7, 2}, 2, 1e-5, 1}));

TEST(BatchNormalize, IsMergedIntoTheConvolutionBefore)
{
    IrBuilder builder;
    builder.input("x", {1, 2, 3, 3});
    builder.floats("w", {2, 2, 1, 1}, {1, 2, 3, 4});
    for (const char* name : {"gamma", "beta", "mean", "variance"})
        builder.floats(name, {2}, {1, 2});
    node* conv = builder.add("tengine.Convolution", {"x", "w"}, {"c"});
    builder.add("tengine.BatchNormalize", {"c", "gamma", "beta", "mean", "variance"}, {"n"});
    builder.add("tengine.Scale", {"n", "gamma", "beta"}, {"y"});
    builder.outputs({"y"});
    ASSERT_EQ(set_node_int(conv, "output_channel", 2), TENGINE_OK);
    graph* execution = make_execution_graph(builder.get());
    ASSERT_NE(execution, nullptr) << tengine_error_message();
    EXPECT_EQ(execution->node_num, 1);
    destroy_ir_graph(execution);
}

TEST(BatchNormalizeErrors, NameWhatIsWrong)
{
    for (const int wrong : {1, 2, 3, 4}) {
        TengineCase test("tengine.BatchNormalize");
        test.input(make_array({1, 3, 2, 2}));
        for (int i = 1; i <= 4; ++i)
            test.constant(make_positive({i == wrong ? 4 : 3}, i));
        test.expect_failure(TENGINE_EINVAL, "has 4 elements, expected 3");
    }
    TengineCase rank("tengine.BatchNormalize");
    rank.input(make_array({3}));
    for (int i = 1; i <= 4; ++i)
        rank.constant(make_positive({3}, i));
    rank.expect_failure(TENGINE_EINVAL, "rank 1, expected 2 to 8");
}

TEST(BatchNormalizeRaised, KeepsTheNumbers)
{
    const auto build = [](TengineCase& test, Dims dims) {
        const int channels = dims[1];
        test.input(make_array(std::move(dims), 1));
        for (int i = 1; i <= 4; ++i)
            test.constant(make_positive({channels}, i));
    };
    TengineCase test("BatchNormalization");
    build(test, {2, 3, 5, 1});
    test.attr("epsilon", 0.25).expect_raised("tengine.BatchNormalize");
    EXPECT_FLOAT_EQ(static_cast<float>(test.raised_attr("eps")), 0.25f);
    EXPECT_EQ(test.raised_attr("rescale_factor"), 1);
    for (const Dims& dims : {Dims{2, 3}, Dims{2, 3, 7}, Dims{2, 3, 2, 2, 2}}) {
        TengineCase other("BatchNormalization");
        build(other, dims);
        other.expect_raised("tengine.Reshape tengine.BatchNormalize tengine.Reshape");
    }
    TengineCase empty("BatchNormalization");
    build(empty, {0, 3});
    empty.expect_refusal("of rank 2 and with 0 elements, is not a batch of planes");
    TengineCase training("BatchNormalization");
    build(training, {2, 3, 5});
    training.attr("training_mode", 1).expect_refusal("has no training_mode");
}

// ---- Fused.BNScaleReLu, Scale, Bias ----

TEST(FusedBatchNormScaleRelu, TakesItsFactorsReady)
{
    const Array x = make_array({2, 7, 3, 5}, 1);
    const Array gamma = make_array({7}, 2), beta = make_array({7}, 3);
    const Array summand = make_array({7}, 4), factor = make_positive({7}, 5);
    TengineCase test("tengine.Fused.BNScaleReLu");
    test.input(x).constant(gamma).constant(beta).constant(summand).constant(factor);
    expect_close(test.run_one(), map_channels(x, [&](double value, size_t c) {
                     const double unit = value * factor.values[c] + summand.values[c];
                     return std::max(0.0, unit * gamma.values[c] + beta.values[c]);
                 }));
    EXPECT_EQ(test.ops(), "BatchNormalization Relu");
    TengineCase wrong("tengine.Fused.BNScaleReLu");
    wrong.input(x).constant(gamma).constant(beta).constant(summand).constant(make_array({6}));
    wrong.expect_failure(TENGINE_EINVAL, "has 6 elements, expected 7");
}

TEST(Scale, MultipliesTheAxesItNames)
{
    const Array x = make_array({2, 3, 4, 5}, 1);
    struct Case
    {
        int axis, num_axes;
        Dims gamma;      // the file's
        Dims broadcast;  // by the axes
    };
    for (const Case& item : {Case{1, 1, {3}, {1, 3, 1, 1}}, Case{-3, 1, {1, 3, 1, 1}, {1, 3, 1, 1}},
                             Case{1, 2, {3, 4}, {1, 3, 4, 1}}, Case{2, -1, {20}, {1, 1, 4, 5}},
                             Case{0, 1, {2}, {2, 1, 1, 1}}, Case{0, 0, {1}, {1, 1, 1, 1}},
                             Case{0, 4, {2, 3, 4, 5}, {2, 3, 4, 5}}})
        for (const bool shifted : {true, false}) {
            const Array gamma = make_array(item.gamma, 2), beta = make_array(item.gamma, 3);
            Array expected = x;
            for (size_t i = 0; i < x.values.size(); ++i) {
                size_t at = 0, rest = i, step = x.values.size();
                for (size_t d = 0; d < 4; ++d) {
                    step /= static_cast<size_t>(x.dims[d]);
                    const size_t place = rest / step;
                    rest %= step;
                    at = at * static_cast<size_t>(item.broadcast[d]) +
                         (item.broadcast[d] == 1 ? 0 : place);
                }
                expected.values[i] =
                    x.values[i] * gamma.values[at] + (shifted ? beta.values[at] : 0);
            }
            TengineCase test("tengine.Scale");
            test.input(x).constant(gamma).attr("axis", item.axis).attr("num_axes", item.num_axes);
            if (shifted) test.constant(beta);
            expect_close(test.run_one(), expected);
        }
}

TEST(ScaleErrors, NameWhatIsWrong)
{
    const auto fail = [](int axis, int num_axes, Dims gamma, int code, const char* sentence) {
        TengineCase test("tengine.Scale");
        test.input(make_array({2, 3, 4, 5})).constant(make_array(std::move(gamma)));
        test.attr("axis", axis).attr("num_axes", num_axes).expect_failure(code, sentence);
    };
    fail(1, 1, {4}, TENGINE_EINVAL, "gamma 'c1' has 4 elements, expected 3");
    fail(2, 1, {3}, TENGINE_EINVAL, "gamma 'c1' has 3 elements, expected 1 x 1 x 4 x 1");
    fail(4, 1, {3}, TENGINE_ERANGE, "4");
    fail(2, 3, {3}, TENGINE_EINVAL, "num_axes is 3, from axis 2 on there are 2");
    fail(2, -2, {3}, TENGINE_EINVAL, "num_axes is -2");
    fail(2, 2147483647, {3}, TENGINE_EINVAL, "num_axes is 2147483647");
}

TEST(Bias, IsAddedPerChannel)
{
    for (const Dims& dims : {Dims{2, 7, 3, 5}, Dims{1, 13, 3}, Dims{3, 1}}) {
        const Array x = make_array(dims, 1), bias = make_array({dims[1]}, 2);
        TengineCase test("tengine.Bias");
        test.input(x).constant(bias).attr("bias_size", 99);
        expect_close(test.run_one(), map_channels(x, [&](double value, size_t c) {
                         return value + bias.values[c];
                     }));
        EXPECT_EQ(test.ops(), "Add");
    }
    TengineCase wrong("tengine.Bias");
    wrong.input(make_array({1, 3, 2})).constant(make_array({2}));
    wrong.expect_failure(TENGINE_EINVAL, "bias 'c1' has 2 elements, expected 1 x 3 x 1");
}

// ---- InstanceNorm, LayerNorm ----

// Makes rows of `length` elements with mean 0 and variance 1, then calls body(unit, row, place).
template <class Body>
Array normalize_rows(Array x, size_t length, double eps, const Body& body)
{
    for (size_t start = 0; start < x.values.size(); start += length) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < length; ++i)
            sum += x.values[start + i];
        const double mean = sum / static_cast<double>(length);
        for (size_t i = 0; i < length; ++i)
            squares += (x.values[start + i] - mean) * (x.values[start + i] - mean);
        const double deviation = std::sqrt(squares / static_cast<double>(length) + eps);
        for (size_t i = 0; i < length; ++i)
            x.values[start + i] = body((x.values[start + i] - mean) / deviation, start / length, i);
    }
    return x;
}

TEST(InstanceNorm, NormalizesEachPlane)
{
    for (const Dims& dims : {Dims{2, 3, 7, 5}, Dims{1, 7, 1, 13}, Dims{2, 3, 4}}) {
        const size_t channels = static_cast<size_t>(dims[1]);
        const Array x = make_array(dims, 1);
        const Array gamma = make_array({dims[1]}, 2), beta = make_array({dims[1]}, 3);
        const size_t length = x.values.size() / channels / static_cast<size_t>(dims[0]);
        const Array expected =
            normalize_rows(x, length, 0.01, [&](double unit, size_t row, size_t) {
                return unit * gamma.values[row % channels] + beta.values[row % channels];
            });
        TengineCase test("tengine.InstanceNorm");
        test.input(x).constant(gamma).constant(beta).attr("eps", 0.01);
        expect_close(test.run_one(), expected, 1e-4);
        EXPECT_EQ(test.ops(), "InstanceNormalization");
    }
    TengineCase wrong("tengine.InstanceNorm");
    wrong.input(make_array({1, 3, 2, 2})).constant(make_array({3})).constant(make_array({5}));
    wrong.expect_failure(TENGINE_EINVAL, "beta 'c2' has 5 elements, expected 3");
}

TEST(InstanceNormRaised, KeepsTheNumbers)
{
    const auto build = [](TengineCase& test, Dims dims) {
        test.input(make_array(std::move(dims), 1));
        test.constant(make_array({3}, 2)).constant(make_array({3}, 3)).attr("epsilon", 0.125);
    };
    TengineCase test("InstanceNormalization");
    build(test, {2, 3, 7, 5});
    test.expect_raised("tengine.InstanceNorm");
    EXPECT_EQ(test.raised_attr("eps"), 0.125);
    TengineCase line("InstanceNormalization");
    build(line, {2, 3, 7});
    line.expect_raised("tengine.Reshape tengine.InstanceNorm tengine.Reshape");
}

TEST(LayerNorm, NormalizesTheLastAxis)
{
    for (const Dims& dims : {Dims{13}, Dims{2, 7}, Dims{2, 1, 3, 5}}) {
        const Array x = make_array(dims, 1);
        const int length = dims.back();
        const Array gamma = make_array({length}, 2), beta = make_array({length}, 3);
        const Array expected = normalize_rows(
            x, static_cast<size_t>(length), 1e-3, [&](double unit, size_t, size_t place) {
                return unit * gamma.values[place] + beta.values[place];
            });
        TengineCase test("tengine.LayerNorm");
        test.input(x).constant(gamma).constant(beta).attr("eps", 1e-3);
        expect_close(test.run_one(), expected, 1e-4);
        EXPECT_EQ(test.ops(), "LayerNormalization");
    }
    TengineCase wrong("tengine.LayerNorm");
    wrong.input(make_array({2, 3})).constant(make_array({2})).constant(make_array({3}));
    wrong.expect_failure(TENGINE_EINVAL, "gamma 'c1' has 2 elements, expected 3");
}

TEST(LayerNormRaised, KeepsTheNumbers)
{
    for (const bool shifted : {true, false}) {
        TengineCase test("LayerNormalization");
        test.input(make_array({2, 7, 5}, 1)).constant(make_array({5}, 2)).attr("epsilon", 0.125);
        if (shifted) test.constant(make_array({5}, 3));
        test.expect_raised("tengine.LayerNorm");
        EXPECT_EQ(test.raised_attr("eps"), 0.125);
    }
    TengineCase axis("LayerNormalization");
    axis.input(make_array({2, 7, 5})).constant(make_array({7, 5})).attr("axis", 1);
    axis.expect_refusal("normalises only the last axis, this is axis 1");
    TengineCase statistics("LayerNormalization", 0, 2);
    statistics.input(make_array({2, 5})).constant(make_array({5}));
    statistics.expect_refusal("does not output mean and deviation");
    TengineCase shared("LayerNormalization");
    shared.input(make_array({2, 5})).constant(make_array({1}));
    shared.expect_refusal("scale and bias of 5 elements");
}

// ---- LRN ----

double element(const Array& x, int n, int c, int h, int w)
{
    const bool inside =
        c >= 0 && c < x.dims[1] && h >= 0 && h < x.dims[2] && w >= 0 && w < x.dims[3];
    if (!inside) return 0;
    return x.values[static_cast<size_t>(((n * x.dims[1] + c) * x.dims[2] + h) * x.dims[3] + w)];
}

// y = x / (k + alpha / count * sum of squares of the neighbours) ^ beta.
Array respond(const Array& x, int size, bool within, double alpha, double beta, double k)
{
    const int reach = size / 2;
    const double count = within ? size * size : size;
    Array y{x.dims, {}};
    for (int n = 0; n < x.dims[0]; ++n)
        for (int c = 0; c < x.dims[1]; ++c)
            for (int h = 0; h < x.dims[2]; ++h)
                for (int w = 0; w < x.dims[3]; ++w) {
                    double squares = 0;
                    for (int i = -reach; i <= reach; ++i)
                        for (int j = within ? -reach : 0; j <= (within ? reach : 0); ++j) {
                            const double near = within ? element(x, n, c, h + i, w + j)
                                                       : element(x, n, c + i, h, w);
                            squares += near * near;
                        }
                    y.values.push_back(element(x, n, c, h, w) *
                                       std::pow(k + alpha / count * squares, -beta));
                }
    return y;
}

TEST(Lrn, LooksAcrossChannelsOrWithinOne)
{
    const Array x = make_array({2, 7, 5, 3}, 1, 3);
    for (const int region : {0, 1})
        for (const int size : {1, 3, 5, 4, 13}) {
            if (region == 1 && size % 2 == 0) continue;
            TengineCase test("tengine.Lrn");
            test.input(x).attr("local_size", size).attr("norm_region", region);
            test.attr("alpha", 0.5).attr("beta", 0.6).attr("k", 1.5);
            test.attr("bias", 7.0).attr("is_onnx", 1);  // ignored
            expect_close(test.run_one(), respond(x, size, region == 1, 0.5, 0.6, 1.5));
            EXPECT_EQ(test.ops(), region == 0 ? "LRN" : "Mul AveragePool Mul Add Pow Div");
        }
    TengineCase plain("tengine.Lrn");
    plain.input(x);
    expect_close(plain.run_one(), respond(x, 5, false, 1, 0.75, 1));
}

TEST(LrnErrors, NameWhatIsWrong)
{
    const auto fail = [](int size, int region, const char* sentence) {
        TengineCase test("tengine.Lrn");
        test.input(make_array({1, 2, 3, 3})).attr("local_size", size).attr("norm_region", region);
        test.expect_failure(TENGINE_EINVAL, sentence);
    };
    fail(0, 0, "local_size is 0, expected at least 1");
    fail(-5, 1, "local_size is -5, expected at least 1");
    fail(4, 1, "local_size within a channel is 4, expected an odd number");
    fail(5, 2, "norm_region is 2, expected 0 (across channels) or 1 (within a channel)");
    TengineCase huge("tengine.Lrn");
    huge.input(make_array({1, 2, 3, 3}, 1)).attr("local_size", 2147483647);
    expect_close(huge.run_one(), make_array({1, 2, 3, 3}, 1), 1e-3);
}

TEST(LrnRaised, KeepsTheNumbers)
{
    TengineCase test("LRN");
    test.input(make_array({2, 7, 3, 3}, 1)).attr("size", 5).attr("alpha", 0.5);
    test.attr("beta", 0.25).attr("bias", 2.0);
    test.expect_raised("tengine.Lrn");
    EXPECT_EQ(test.raised_attr("local_size"), 5);
    EXPECT_EQ(test.raised_attr("k"), 2);
    TengineCase even("LRN");
    even.input(make_array({2, 7, 3, 3}, 1)).attr("size", 4);
    even.expect_refusal("size 4 is even");
    TengineCase rank("LRN");
    rank.input(make_array({2, 7, 3}, 1)).attr("size", 3);
    rank.expect_raised("tengine.Reshape tengine.Lrn tengine.Reshape");
}

// ---- Normalize, L2Normalization ----

Array divide_by_length(const Array& x, bool across, const std::vector<double>& scale)
{
    Array y{x.dims, {}};
    for (int n = 0; n < x.dims[0]; ++n)
        for (int c = 0; c < x.dims[1]; ++c)
            for (int h = 0; h < x.dims[2]; ++h)
                for (int w = 0; w < x.dims[3]; ++w) {
                    double squares = 0;
                    for (int i = 0; i < x.dims[1]; ++i)
                        for (int j = 0; j < x.dims[2]; ++j)
                            for (int k = 0; k < x.dims[3]; ++k) {
                                if (!across && (j != h || k != w)) continue;
                                squares += element(x, n, i, j, k) * element(x, n, i, j, k);
                            }
                    const size_t place = scale.size() == 1 ? 0 : static_cast<size_t>(c);
                    y.values.push_back(element(x, n, c, h, w) / std::sqrt(squares) * scale[place]);
                }
    return y;
}

TEST(Normalize, DividesByTheLengthOfChannels)
{
    const Array x = make_array({2, 7, 3, 5}, 1);
    for (const int across : {0, 1})
        for (const int shared : {0, 1}) {
            const Array scale = make_array({shared ? 1 : 7}, 3);
            TengineCase test("tengine.Normalize");
            test.input(x).constant(scale);
            test.attr("across_spatial", across).attr("channel_shared", shared);
            expect_close(test.run_one(), divide_by_length(x, across == 1, scale.values));
            EXPECT_EQ(test.ops(), across ? "ReduceL2 Div Mul" : "LpNormalization Mul");
        }
    TengineCase wrong("tengine.Normalize");
    wrong.input(x).constant(make_array({7})).attr("channel_shared", 1);
    wrong.expect_failure(TENGINE_EINVAL, "scale 'c1' has 7 elements, expected 1 x 1 x 1 x 1");
    TengineCase rank("tengine.Normalize");
    rank.input(make_array({2, 7})).constant(make_array({7}));
    rank.expect_failure(TENGINE_EINVAL, "rank 2, expected 4");
}

TEST(L2Normalization, DividesByTheLengthAlongAxisOne)
{
    for (const Dims& dims : {Dims{1, 13, 1, 1}, Dims{3, 7, 1, 1}, Dims{2, 5, 3, 2}}) {
        const Array x = make_array(dims, 1);
        const Array expected = divide_by_length(x, false, {1});
        TengineCase test("tengine.L2Normalization");
        test.input(x);
        expect_close(test.run_one(), expected);
        EXPECT_EQ(test.ops(), "LpNormalization");
        TengineCase matrix("tengine.L2Normalization");
        if (dims[2] == 1) {
            matrix.input({{dims[0], dims[1]}, x.values});
            expect_close(matrix.run_one(), {{dims[0], dims[1]}, expected.values});
        }
    }
    TengineCase rank("tengine.L2Normalization");
    rank.input(make_array({3}));
    rank.expect_failure(TENGINE_EINVAL, "rank 1, expected 2 to 8");
}

TEST(NormalizeRaised, KeepsTheNumbers)
{
    TengineCase vector("LpNormalization");
    vector.input(make_array({1, 7}, 1));
    vector.expect_raised("tengine.L2Normalization");
    TengineCase planes("LpNormalization");
    planes.input(make_array({2, 7, 3, 5}, 1)).attr("axis", 1);
    planes.expect_raised("tengine.Normalize");
    TengineCase rows("LpNormalization");
    rows.input(make_array({3, 7}, 1));
    rows.expect_refusal("this is rank 2, p 2, axis -1");
    TengineCase sums("LpNormalization");
    sums.input(make_array({2, 7, 3, 5}, 1)).attr("axis", 1).attr("p", 1);
    sums.expect_refusal("this is rank 4, p 1, axis 1");
}

// ---- MVN ----

// (x - mean) / (root of the mean of squares + eps) over each image or each plane.
Array normalize_images(Array x, bool across, bool divides, double eps)
{
    const size_t images = static_cast<size_t>(x.dims[0] * (across ? 1 : x.dims[1]));
    const size_t length = x.values.size() / images;
    for (size_t start = 0; start < x.values.size(); start += length) {
        double sum = 0, squares = 0;
        for (size_t i = start; i < start + length; ++i) {
            sum += x.values[i];
            squares += x.values[i] * x.values[i];
        }
        const double count = static_cast<double>(length);
        for (size_t i = start; i < start + length; ++i) {
            x.values[i] -= sum / count;
            if (divides) x.values[i] /= std::sqrt(squares / count) + eps;
        }
    }
    return x;
}

TEST(Mvn, DividesByTheRootOfTheMeanSquare)
{
    Array x = make_array({2, 7, 3, 5}, 1);
    for (double& value : x.values)
        value = static_cast<float>(value + 1);  // so that a deviation would differ
    for (const int across : {0, 1})
        for (const int divides : {0, 1}) {
            TengineCase test("tengine.Mvn");
            test.input(x).attr("across_channels", across).attr("normalize_variance", divides);
            test.attr("eps", 0.01);
            expect_close(test.run_one(), normalize_images(x, across == 1, divides == 1, 0.01));
        }
    TengineCase rank("tengine.Mvn");
    rank.input(make_array({2, 7}));
    rank.expect_failure(TENGINE_EINVAL, "rank 2, expected 4");
}

TEST(MvnRaised, TakesTwoForOne)
{
    Array x = make_array({1, 3, 5, 7}, 1);
    for (double& value : x.values)
        value = static_cast<float>(value * 2 + 3);
    for (const Ints& axes : {Ints{}, Ints{2, 3}, Ints{-1, -2, 1}, Ints{0, 1, 2, 3}}) {
        TengineCase test("MeanVarianceNormalization");
        test.input(x);
        if (!axes.empty()) test.attr("axes", axes);
        test.expect_raised("tengine.Mvn tengine.Mvn");
        EXPECT_EQ(test.raised_attr("across_channels"), axes.size() > 2);
    }
    TengineCase batch("MeanVarianceNormalization");
    batch.input(make_array({2, 3, 5, 7}, 1));
    batch.expect_refusal("a batch of 2, rank 4");
    TengineCase one_axis("MeanVarianceNormalization");
    one_axis.input(x).attr("axes", Ints{2});
    one_axis.expect_refusal("one by one");
}

}  // namespace
}  // namespace tengine::test
