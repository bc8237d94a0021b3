// SPDX-License-Identifier: Apache-2.0
// Tengine's Convolution and Deconvolution against loops over their definition.
#include <algorithm>
#include <cmath>

#include "tengine_case.h"

namespace tengine::test {
namespace {

using Dims = std::vector<int>;

// One axis: window `position` begins at position * stride - pad.
struct Axis
{
    int kernel, stride, pad, dilation, output;
};

struct Plane
{
    Axis h, w;
};

double at(const Array& a, int n, int c, int h, int w)
{
    if (h < 0 || w < 0 || h >= a.dims[2] || w >= a.dims[3]) return 0;
    return a.values[static_cast<size_t>(((n * a.dims[1] + c) * a.dims[2] + h) * a.dims[3] + w)];
}

// The weight has the dims [out, in / group, kernel_h, kernel_w].
Array convolve(const Array& x, const Array& weight, const Array* bias, const Plane& plane,
               int group)
{
    const int out_channels = weight.dims[0], in_group = weight.dims[1];
    Array y{{x.dims[0], out_channels, plane.h.output, plane.w.output}, {}};
    for (int n = 0; n < x.dims[0]; ++n)
        for (int m = 0; m < out_channels; ++m)
            for (int h = 0; h < plane.h.output; ++h)
                for (int w = 0; w < plane.w.output; ++w) {
                    double sum = bias ? bias->values[static_cast<size_t>(m)] : 0;
                    for (int c = 0; c < in_group; ++c)
                        for (int i = 0; i < plane.h.kernel; ++i)
                            for (int j = 0; j < plane.w.kernel; ++j)
                                sum += at(weight, m, c, i, j) *
                                       at(x, n, m / (out_channels / group) * in_group + c,
                                          h * plane.h.stride - plane.h.pad + i * plane.h.dilation,
                                          w * plane.w.stride - plane.w.pad + j * plane.w.dilation);
                    y.values.push_back(sum);
                }
    return y;
}

Array clamped(Array a, double low, double high)
{
    for (double& value : a.values)
        value = std::clamp(value, low, high);
    return a;
}

void set_plane(TengineCase& test, const Plane& plane, int pad_h1, int pad_w1)
{
    test.attr("kernel_h", plane.h.kernel).attr("kernel_w", plane.w.kernel);
    test.attr("stride_h", plane.h.stride).attr("stride_w", plane.w.stride);
    test.attr("dilation_h", plane.h.dilation).attr("dilation_w", plane.w.dilation);
    test.attr("pad_h0", plane.h.pad).attr("pad_w0", plane.w.pad);
    test.attr("pad_h1", pad_h1).attr("pad_w1", pad_w1);
}

struct ConvCase
{
    Dims input;
    int output_channels;
    Plane plane;
    int pad_h1, pad_w1;
    int group;
    bool biased;
};

class Convolution : public testing::TestWithParam<ConvCase>
{
};

TEST_P(Convolution, IsWhatTheLoopsGive)
{
    const ConvCase& param = GetParam();
    const Array x = make_array(param.input, 1);
    const Array weight = make_array({param.output_channels, param.input[1] / param.group,
                                     param.plane.h.kernel, param.plane.w.kernel},
                                    2);
    const Array bias = make_array({param.output_channels}, 3);
    TengineCase test("tengine.Convolution");
    test.input(x).constant(weight).attr("output_channel", param.output_channels);
    if (param.biased) test.constant(bias);
    set_plane(test, param.plane, param.pad_h1, param.pad_w1);
    // Files have this attribute, which is not read.
    test.attr("group", param.group).attr("input_channel", 77);
    expect_close(test.run_one(),
                 convolve(x, weight, param.biased ? &bias : nullptr, param.plane, param.group));
    EXPECT_EQ(test.ops(), "Conv");
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, Convolution,
    testing::Values(ConvCase{{1, 1, 1, 1}, 1, {{1, 1, 0, 1, 1}, {1, 1, 0, 1, 1}}, 0, 0, 1, false},
                    ConvCase{{2, 3, 7, 13}, 5, {{3, 1, 1, 1, 7}, {3, 1, 1, 1, 13}}, 1, 1, 1, true},
                    ConvCase{{1, 4, 13, 7}, 6, {{3, 2, 0, 1, 7}, {2, 3, 2, 1, 3}}, 2, 1, 2, true},
                    ConvCase{{1, 7, 7, 7}, 7, {{3, 1, 2, 2, 7}, {3, 1, 2, 2, 7}}, 2, 2, 7, false},
                    ConvCase{{1, 2, 5, 6}, 3, {{1, 2, 0, 1, 3}, {5, 1, 0, 1, 2}}, 0, 0, 1, true},
                    // A kernel of 4 over 3 rows: one output, zeros below.
                    ConvCase{{1, 2, 3, 3}, 3, {{4, 2, 0, 1, 1}, {3, 1, 0, 1, 1}}, 0, 0, 1, true}));

struct SameCase
{
    int input, kernel, stride, dilation;
    int pad;       // of mode -1
    int pad_more;  // of mode -2
};

class ConvolutionSame : public testing::TestWithParam<SameCase>
{
};

TEST_P(ConvolutionSame, PadsBothModes)
{
    const SameCase& param = GetParam();
    const int output = (param.input - 1) / param.stride + 1;
    const Array x = make_array({1, 2, param.input, 3}, 4);
    const Array weight = make_array({2, 2, param.kernel, 1}, 5);
    for (const int mode : {-1, -2}) {
        const int pad = mode == -1 ? param.pad : param.pad_more;
        const Plane plane = {{param.kernel, param.stride, pad, param.dilation, output},
                             {1, 1, 0, 1, 3}};
        TengineCase test("tengine.Convolution");
        test.input(x).constant(weight);
        set_plane(test, plane, 9, 0);  // the other side is not read
        test.attr("output_channel", 2).attr("pad_h0", mode);
        expect_close(test.run_one(), convolve(x, weight, nullptr, plane, 1));
    }
}

// The total of padding is (output - 1) * stride + kernel - input, without dilation; a total below 0
// is halved towards 0, and mode -2 then skips elements.
INSTANTIATE_TEST_SUITE_P(Sizes, ConvolutionSame,
                         testing::Values(SameCase{7, 3, 1, 1, 1, 1}, SameCase{8, 3, 2, 1, 0, 1},
                                         SameCase{13, 2, 1, 1, 0, 1}, SameCase{13, 5, 3, 1, 2, 2},
                                         SameCase{13, 3, 1, 2, 1, 1}, SameCase{8, 1, 2, 1, 0, -1},
                                         SameCase{8, 1, 4, 1, -1, -2}, SameCase{1, 1, 1, 1, 0, 0}));

TEST(ConvolutionActivation, IsAppliedAfterTheBias)
{
    const Array x = make_array({1, 3, 5, 5}, 1, 4);
    const Array weight = make_array({4, 3, 1, 1}, 2, 4);
    const Array bias = make_array({4}, 3, 2);
    const Array y = convolve(x, weight, &bias, {{1, 1, 0, 1, 5}, {1, 1, 0, 1, 5}}, 1);
    struct Activation
    {
        int number;
        double low, high;
        const char* ops;
    };
    for (const Activation& activation :
         {Activation{-1, -1e9, 1e9, "Conv"}, Activation{0, 0, 1e9, "Conv Relu"},
          Activation{1, -1, 1, "Conv Clip"}, Activation{6, 0, 6, "Conv Clip"},
          Activation{3, 0, 1e9, "Conv Relu"}}) {
        TengineCase test("tengine.Convolution");
        test.input(x).constant(weight).constant(bias).attr("output_channel", 4);
        test.attr("activation", activation.number);
        expect_close(test.run_one(), clamped(y, activation.low, activation.high));
        EXPECT_EQ(test.ops(), activation.ops) << activation.number;
    }
}

TEST(ConvolutionOperands, MayHaveOtherShapesAndTypes)
{
    const Array x = make_array({1, 3, 7, 7}, 1);
    const Array weight = make_array({4, 3, 3, 3}, 2);
    const Array bias = make_array({4}, 3);
    const Array expected = convolve(x, weight, &bias, {{3, 1, 0, 1, 5}, {3, 1, 0, 1, 5}}, 1);
    TengineCase test("tengine.Convolution");
    test.input(x).constant({{4, 27}, weight.values});
    test.constant({{1, 4, 1, 1}, bias.values, TENGINE_DT_FP16});
    test.attr("output_channel", 4).attr("kernel_h", 3).attr("kernel_w", 3);
    expect_close(test.run_one(), expected, 1e-3);  // the bias is rounded to fp16
    EXPECT_EQ(test.ops(), "Conv");
}

TEST(ConvolutionOfOneAxis, GivesRankFour)
{
    const Array x = make_array({2, 3, 13}, 1);
    const Array weight = make_array({4, 3, 3}, 2);
    TengineCase test("tengine.Convolution");
    test.input(x).constant(weight).attr("output_channel", 4).attr("kernel_h", 3);
    test.attr("kernel_w", 0).attr("stride_w", 0).attr("pad_w0", 5).attr("pad_h0", 1);
    const Array plane_x{{2, 3, 13, 1}, x.values};
    const Array plane_weight{{4, 3, 3, 1}, weight.values};
    expect_close(test.run_one(),
                 convolve(plane_x, plane_weight, nullptr, {{3, 1, 1, 1, 12}, {1, 1, 0, 1, 1}}, 1));
}

// Builds a valid convolution, for tests that break one thing.
TengineCase& build_valid(TengineCase& test)
{
    return test.input(make_array({1, 4, 7, 7}))
        .constant(make_array({6, 4, 3, 3}))
        .constant(make_array({6}))
        .attr("output_channel", 6)
        .attr("kernel_h", 3)
        .attr("kernel_w", 3);
}

TEST(ConvolutionErrors, NameWhatIsWrong)
{
    struct Wrong
    {
        const char* field;
        int value;
        const char* sentence;
    };
    for (const Wrong& wrong :
         {Wrong{"group", 0, "do not divide into 0 groups"},
          Wrong{"group", -1, "do not divide into -1 groups"},
          Wrong{"group", 3, "4 input and 6 output channels do not divide into 3 groups"},
          Wrong{"group", 2, "weight 'c1' has 216 elements, expected 6 x 2 x 3 x 3"},
          Wrong{"output_channel", 0, "0 output channels, expected at least 1"},
          Wrong{"output_channel", 5, "weight 'c1' has 216 elements, expected 5 x 4 x 3 x 3"},
          Wrong{"output_channel", 2147483647, "expected 2147483647 x 4 x 3 x 3"},
          Wrong{"kernel_h", -3, "kernel_h is -3, expected at least 1"},
          Wrong{"kernel_h", 2, "weight 'c1' has 216 elements, expected 6 x 4 x 2 x 3"},
          Wrong{"stride_h", -1, "stride_h is -1, expected at least 1"},
          Wrong{"dilation_w", 0, "dilation_w is 0, expected at least 1"},
          Wrong{"dilation_w", 2147483647, "does not fit an input of 7"},
          Wrong{"dilation_w", 5, "a kernel of extent 11 does not fit an input of 7"},
          Wrong{"pad_h0", -3, "pads of axis h are -3 and 0, expected 0 or more, -1 or -2"},
          Wrong{"pad_w1", -1, "pads of axis w are 0 and -1"}}) {
        TengineCase test("tengine.Convolution");
        build_valid(test).attr(wrong.field, wrong.value);
        test.expect_failure(TENGINE_EINVAL, wrong.sentence);
    }
    TengineCase bias("tengine.Convolution");
    bias.input(make_array({1, 4, 7, 7})).constant(make_array({6, 4, 1, 1}));
    bias.constant(make_array({5})).attr("output_channel", 6);
    bias.expect_failure(TENGINE_EINVAL, "bias 'c2' has 5 elements, expected 6");
    TengineCase rank("tengine.Convolution");
    rank.input(make_array({4, 7})).constant(make_array({6, 4, 1, 1}));
    rank.expect_failure(TENGINE_EINVAL, "rank 2, expected 3 to 4");
    TengineCase empty("tengine.Convolution");
    empty.input(make_array({1, 4, 0, 7})).constant(make_array({6, 4, 1, 1}));
    empty.attr("output_channel", 6).attr("pad_h0", -1);
    empty.expect_failure(TENGINE_EINVAL, "no elements along axis h");
}

TEST(ConvolutionRaised, KeepsTheNumbers)
{
    const Array x = make_array({1, 4, 13, 7});
    TengineCase test("Conv");
    test.input(x).constant(make_array({6, 2, 3, 3}, 1)).constant(make_array({6}, 2));
    test.attr("group", 2).attr("strides", std::vector<int64_t>{2, 1});
    test.attr("pads", std::vector<int64_t>{0, 1, 2, 3});
    test.expect_raised("tengine.Convolution");
    EXPECT_EQ(test.raised_attr("pad_w0"), 1);
    EXPECT_EQ(test.raised_attr("pad_h1"), 2);
    EXPECT_EQ(test.raised_attr("pad_w1"), 3);
    EXPECT_EQ(test.raised_attr("stride_h"), 2);
    EXPECT_EQ(test.raised_attr("kernel_w"), 3);
    EXPECT_EQ(test.raised_attr("input_channel"), 4);
    EXPECT_EQ(test.raised_attr("output_channel"), 6);
    EXPECT_EQ(test.raised_attr("group"), 2);
    EXPECT_EQ(test.raised_attr("activation"), -1);

    TengineCase same("Conv");
    same.input(x).constant(make_array({6, 4, 2, 3}, 1));
    same.attr("auto_pad", std::string("SAME_LOWER"));
    same.attr("dilations", std::vector<int64_t>{3, 1});
    same.expect_raised("tengine.Convolution");
    EXPECT_EQ(same.raised_attr("pad_h0"), 2);
    EXPECT_EQ(same.raised_attr("pad_h1"), 1);

    TengineCase line("Conv");
    line.input(make_array({2, 3, 9})).constant(make_array({2, 3, 3}, 1));
    line.attr("pads", std::vector<int64_t>{1, 2}).attr("strides", std::vector<int64_t>{2});
    line.expect_raised("tengine.Reshape tengine.Convolution tengine.Reshape");
    TengineCase volume("Conv");
    volume.input(make_array({1, 1, 3, 3, 3})).constant(make_array({1, 1, 1, 1, 1}));
    volume.expect_refusal("have 2 spatial axes, this one has 3");
}

// ---- Deconvolution ----

struct DeconvCase
{
    Dims input;
    int output_channels;
    Plane plane;  // outputs are computed here
    int pad_h1, pad_w1, output_pad_h, output_pad_w;
    int group;
    bool biased;
};

int deconv_output(int input, const Axis& axis, int pad_end, int output_pad)
{
    return (input - 1) * axis.stride + axis.dilation * (axis.kernel - 1) + 1 - axis.pad - pad_end +
           output_pad;
}

// Scatters every input element; the weight has, for each group, [in / group, out / group, kernel].
Array deconvolve(const Array& x, const Array& weight, const Array* bias, const DeconvCase& param)
{
    const Plane& plane = param.plane;
    const int out_h = deconv_output(x.dims[2], plane.h, param.pad_h1, param.output_pad_h);
    const int out_w = deconv_output(x.dims[3], plane.w, param.pad_w1, param.output_pad_w);
    const int in_group = x.dims[1] / param.group, out_group = param.output_channels / param.group;
    Array y{{x.dims[0], param.output_channels, out_h, out_w}, {}};
    y.values.assign(static_cast<size_t>(count_elements(y.dims)), 0);
    const auto element = [&](int n, int m, int h, int w) -> double& {
        return y
            .values[static_cast<size_t>(((n * param.output_channels + m) * out_h + h) * out_w + w)];
    };
    for (int n = 0; n < x.dims[0]; ++n)
        for (int c = 0; c < x.dims[1]; ++c)
            for (int m = 0; m < out_group; ++m)
                for (int h = 0; h < x.dims[2]; ++h)
                    for (int w = 0; w < x.dims[3]; ++w)
                        for (int i = 0; i < plane.h.kernel; ++i)
                            for (int j = 0; j < plane.w.kernel; ++j) {
                                const int oh =
                                    h * plane.h.stride - plane.h.pad + i * plane.h.dilation;
                                const int ow =
                                    w * plane.w.stride - plane.w.pad + j * plane.w.dilation;
                                if (oh < 0 || ow < 0 || oh >= out_h || ow >= out_w) continue;
                                element(n, c / in_group * out_group + m, oh, ow) +=
                                    at(x, n, c, h, w) * at(weight, c, m, i, j);
                            }
    for (int n = 0; bias && n < x.dims[0]; ++n)
        for (int m = 0; m < param.output_channels; ++m)
            for (int h = 0; h < out_h; ++h)
                for (int w = 0; w < out_w; ++w)
                    element(n, m, h, w) += bias->values[static_cast<size_t>(m)];
    return y;
}

class Deconvolution : public testing::TestWithParam<DeconvCase>
{
};

TEST_P(Deconvolution, IsWhatTheLoopsGive)
{
    const DeconvCase& param = GetParam();
    const Array x = make_array(param.input, 1);
    const Array weight = make_array({param.input[1], param.output_channels / param.group,
                                     param.plane.h.kernel, param.plane.w.kernel},
                                    2);
    const Array bias = make_array({param.output_channels}, 3);
    TengineCase test("tengine.Deconvolution");
    test.input(x).constant({{static_cast<int>(weight.values.size())}, weight.values});
    if (param.biased) test.constant(bias);
    set_plane(test, param.plane, param.pad_h1, param.pad_w1);
    test.attr("num_output", param.output_channels).attr("group", param.group);
    test.attr("output_pad_h0", param.output_pad_h).attr("output_pad_w0", param.output_pad_w);
    expect_close(test.run_one(), deconvolve(x, weight, param.biased ? &bias : nullptr, param));
    EXPECT_EQ(test.ops(), "ConvTranspose");
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, Deconvolution,
    testing::Values(
        DeconvCase{{1, 1, 1, 1}, 1, {{1, 1, 0, 1, 0}, {1, 1, 0, 1, 0}}, 0, 0, 0, 0, 1, false},
        DeconvCase{{2, 3, 7, 5}, 4, {{4, 2, 1, 1, 0}, {3, 1, 1, 1, 0}}, 1, 1, 0, 0, 1, true},
        DeconvCase{{1, 4, 7, 7}, 6, {{3, 2, 0, 1, 0}, {3, 3, 2, 2, 0}}, 1, 0, 1, 2, 2, true},
        DeconvCase{{1, 7, 3, 13}, 7, {{4, 2, 1, 1, 0}, {4, 2, 1, 1, 0}}, 1, 1, 0, 0, 7, false}));

TEST(DeconvolutionActivation, HasItsOwnNumbers)
{
    const DeconvCase param{{1, 2, 3, 3}, 2, {{3, 2, 1, 1, 0}, {3, 2, 1, 1, 0}}, 1, 1, 0, 0, 1,
                           true};
    const Array x = make_array(param.input, 1, 5);
    const Array weight = make_array({2, 2, 3, 3}, 2, 3);
    const Array bias = make_array({2}, 3);
    const Array y = deconvolve(x, weight, &bias, param);
    const double high[] = {1e9, 1, 6, 1e9, 1e9, 1e9, 6};
    for (int activation = 0; activation <= 6; ++activation) {
        TengineCase test("tengine.Deconvolution");
        test.input(x).constant(weight).constant(bias).attr("num_output", 2);
        set_plane(test, param.plane, 1, 1);
        test.attr("activation", activation);
        expect_close(test.run_one(), clamped(y, 0, high[activation]));
    }
}

TEST(DeconvolutionErrors, NameWhatIsWrong)
{
    struct Wrong
    {
        const char* field;
        int value;
        const char* sentence;
    };
    for (const Wrong& wrong :
         {Wrong{"group", 0, "do not divide into 0 groups"},
          Wrong{"num_output", 6, "weight 'c1' has 96 elements, expected 4 x 6 x 2 x 3"},
          Wrong{"kernel_w", 0, "kernel_w is 0, expected at least 1"},
          Wrong{"stride_w", 0, "stride_w is 0, expected at least 1"},
          Wrong{"dilation_h", -2147483647 - 1, "dilation_h is -2147483648, expected at least 1"},
          Wrong{"pad_w1", -1, "pads is -1, expected 0 or more"},
          Wrong{"output_pad_h0", -7, "pads is -7, expected 0 or more"},
          Wrong{"pad_h0", 2147483647, "padding 2147483647 + 0 leaves nothing"}}) {
        TengineCase test("tengine.Deconvolution");
        test.input(make_array({1, 4, 3, 3})).constant(make_array({4, 4, 2, 3}));
        test.attr("num_output", 4).attr("kernel_h", 2).attr("kernel_w", 3);
        test.attr(wrong.field, wrong.value).expect_failure(TENGINE_EINVAL, wrong.sentence);
    }
}

TEST(DeconvolutionRaised, KeepsTheNumbers)
{
    TengineCase test("ConvTranspose");
    test.input(make_array({1, 4, 7, 5})).constant(make_array({4, 3, 3, 2}, 1));
    test.constant(make_array({6}, 2)).attr("group", 2);
    test.attr("strides", std::vector<int64_t>{2, 3}).attr("pads", std::vector<int64_t>{0, 1, 2, 0});
    test.attr("output_padding", std::vector<int64_t>{1, 2});
    test.expect_raised("tengine.Deconvolution");
    EXPECT_EQ(test.raised_attr("num_output"), 6);
    EXPECT_EQ(test.raised_attr("pad_w0"), 1);
    EXPECT_EQ(test.raised_attr("pad_h1"), 2);
    EXPECT_EQ(test.raised_attr("output_pad_h0"), 1);
    EXPECT_EQ(test.raised_attr("output_pad_w0"), 2);

    TengineCase shaped("ConvTranspose");
    shaped.input(make_array({1, 2, 3, 3})).constant(make_array({2, 1, 3, 3}, 1));
    shaped.attr("strides", std::vector<int64_t>{3, 2});
    shaped.attr("output_shape", std::vector<int64_t>{10, 8});
    shaped.expect_raised("tengine.Deconvolution");

    TengineCase line("ConvTranspose");
    line.input(make_array({2, 3, 9})).constant(make_array({3, 2, 3}, 1));
    line.attr("strides", std::vector<int64_t>{2}).attr("output_padding", std::vector<int64_t>{1});
    line.expect_raised("tengine.Reshape tengine.Deconvolution tengine.Reshape");
    TengineCase volume("ConvTranspose");
    volume.input(make_array({1, 1, 3, 3, 3})).constant(make_array({1, 1, 1, 1, 1}));
    volume.expect_refusal("have 2 spatial axes, this one has 3");
}

}  // namespace
}  // namespace tengine::test
