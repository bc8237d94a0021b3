// SPDX-License-Identifier: Apache-2.0
// Tengine's Pooling and L2Pool: sizes, pads and divisors of every flavour, against loops.
#include <algorithm>
#include <cmath>

#include "tengine_case.h"

namespace tengine::test {
namespace {

using Dims = std::vector<int>;
using Ints = std::vector<int64_t>;

// One axis with its sizes, written by hand for each case.
struct Axis
{
    int kernel, stride, pad_field;
    int before, output;  // the results of the rules
};

struct PoolCase
{
    int input_h, input_w;
    Axis h, w;
    int flavor;
};

double at(const Array& x, int plane, int h, int w)
{
    return x.values[static_cast<size_t>((plane * x.dims[2] + h) * x.dims[3] + w)];
}

// The average divides by the elements on the input (flavour 0), else by the window clipped at input
// + pad.
Array pool(const Array& x, const Axis& h, const Axis& w, bool average, bool counting)
{
    const int in_h = x.dims[2], in_w = x.dims[3];
    Array y{{x.dims[0], x.dims[1], h.output, w.output}, {}};
    for (int plane = 0; plane < x.dims[0] * x.dims[1]; ++plane)
        for (int oh = 0; oh < h.output; ++oh)
            for (int ow = 0; ow < w.output; ++ow) {
                const int top = oh * h.stride - h.before, left = ow * w.stride - w.before;
                double sum = 0, maximum = -1e30;
                int met = 0;
                for (int i = std::max(top, 0); i < std::min(top + h.kernel, in_h); ++i)
                    for (int j = std::max(left, 0); j < std::min(left + w.kernel, in_w); ++j) {
                        sum += at(x, plane, i, j);
                        maximum = std::max(maximum, at(x, plane, i, j));
                        ++met;
                    }
                const int counted = (std::min(top + h.kernel, in_h + h.before) - top) *
                                    (std::min(left + w.kernel, in_w + w.before) - left);
                y.values.push_back(average ? sum / (counting ? counted : met) : maximum);
            }
    return y;
}

void set_fields(TengineCase& test, const PoolCase& param)
{
    test.attr("kernel_h", param.h.kernel).attr("kernel_w", param.w.kernel);
    test.attr("stride_h", param.h.stride).attr("stride_w", param.w.stride);
    test.attr("pad_h0", param.h.pad_field).attr("pad_w0", param.w.pad_field);
    test.attr("pad_h1", 5).attr("pad_w1", 6);  // not read
    test.attr("caffe_flavor", param.flavor);
}

class Pooling : public testing::TestWithParam<PoolCase>
{
};

TEST_P(Pooling, IsWhatTheLoopsGive)
{
    const PoolCase& param = GetParam();
    const Array x = make_array({2, 3, param.input_h, param.input_w}, 1);
    for (const int method : {0, 1}) {
        TengineCase test("tengine.Pooling");
        test.input(x).attr("pool_method", method);
        set_fields(test, param);
        expect_close(test.run_one(), pool(x, param.h, param.w, method == 1, param.flavor != 0));
    }
}

INSTANTIATE_TEST_SUITE_P(Floor, Pooling,
                         testing::Values(PoolCase{7, 13, {2, 2, 0, 0, 3}, {3, 2, 0, 0, 6}, 0},
                                         PoolCase{7, 13, {3, 2, 1, 1, 4}, {3, 1, 1, 1, 13}, 0},
                                         PoolCase{13, 7, {3, 3, 2, 2, 5}, {5, 2, 2, 2, 4}, 0},
                                         PoolCase{1, 5, {1, 1, 0, 0, 1}, {2, 2, 0, 0, 2}, 0},
                                         // A kernel of 4 over 3 rows, cut towards 0: one output.
                                         PoolCase{3, 5, {4, 2, 0, 0, 1}, {2, 1, 0, 0, 4}, 0}));
INSTANTIATE_TEST_SUITE_P(
    Ceil, Pooling,
    testing::Values(PoolCase{8, 13, {3, 2, 0, 0, 4}, {2, 2, 0, 0, 7}, 1},
                    // Padded: 2 + (8 - 3 + 2 - 1) / 2 = 5 windows, the last begins at 7 < 8.
                    PoolCase{8, 8, {3, 2, 1, 1, 5}, {3, 2, 1, 1, 5}, 1},
                    // 2 + (7 - 2 + 2 - 1) / 3 = 4; window 3 would begin at 9 - 1 >= 7: dropped.
                    PoolCase{7, 7, {2, 3, 1, 1, 3}, {3, 3, 1, 1, 3}, 1},
                    PoolCase{13, 7, {3, 1, 1, 1, 13}, {4, 3, 2, 2, 3}, 1}));
INSTANTIATE_TEST_SUITE_P(Darknet, Pooling,
                         // The field is the total; the smaller part is in front.
                         testing::Values(PoolCase{13, 13, {2, 1, 1, 0, 13}, {2, 1, 1, 0, 13}, 2},
                                         PoolCase{13, 7, {3, 2, 3, 1, 7}, {2, 2, 1, 0, 4}, 2},
                                         PoolCase{7, 7, {3, 1, 2, 1, 7}, {5, 1, 4, 2, 7}, 2},
                                         // SAME with this flavour has no padding in front.
                                         PoolCase{7, 8, {3, 2, -1, 0, 4}, {3, 2, 0, 0, 3}, 2}));
INSTANTIATE_TEST_SUITE_P(
    CountPadding, Pooling,
    testing::Values(PoolCase{7, 13, {3, 2, 1, 1, 4}, {3, 1, 1, 1, 13}, 0x10},
                    PoolCase{7, 7, {2, 2, 1, 1, 4}, {3, 3, 2, 2, 3}, 0x10},
                    // 0x11 and 0x12 floor with the pad on both sides; 0x12 halves it before.
                    PoolCase{8, 13, {3, 2, 0, 0, 3}, {2, 2, 1, 1, 7}, 0x11},
                    PoolCase{8, 13, {3, 2, 2, 1, 5}, {2, 2, 1, 0, 7}, 0x12}));
INSTANTIATE_TEST_SUITE_P(Same, Pooling,
                         testing::Values(PoolCase{7, 8, {3, 2, -1, 1, 4}, {3, 2, -1, 0, 4}, 0},
                                         PoolCase{13, 7, {2, 1, -1, 0, 13}, {5, 3, -1, 2, 3}, 0},
                                         PoolCase{13, 7, {1, 2, -1, 0, 7}, {3, 1, 1, 1, 7}, 0},
                                         PoolCase{8, 8, {3, 2, -1, 0, 4}, {4, 1, -1, 1, 8}, 0x10},
                                         PoolCase{8, 8, {4, 1, -1, 1, 8}, {3, 2, -1, 0, 4}, 1}));

TEST(PoolingPlane, IsPooledWhenGlobalOrAsLargeAsTheKernel)
{
    const Array x = make_array({2, 3, 7, 5}, 1);
    for (const int method : {0, 1})
        for (const bool global : {true, false}) {
            TengineCase test("tengine.Pooling");
            test.input(x).attr("pool_method", method).attr("caffe_flavor", 0x10);
            if (global)
                test.attr("global", 1).attr("kernel_h", 0).attr("stride_h", 0);
            else
                test.attr("kernel_h", 7).attr("kernel_w", 5).attr("pad_h0", 2);
            expect_close(test.run_one(),
                         pool(x, {7, 1, 0, 0, 1}, {5, 1, 0, 0, 1}, method == 1, false));
            EXPECT_EQ(test.ops(), method == 1 ? "GlobalAveragePool" : "GlobalMaxPool");
        }
}

TEST(PoolingNodes, ArePlainOnes)
{
    const auto ops = [](int method, int flavor, int pad) {
        TengineCase test("tengine.Pooling");
        test.input(make_array({1, 2, 8, 8})).attr("pool_method", method);
        set_fields(test, {8, 8, {3, 2, pad, 0, 0}, {3, 2, pad, 0, 0}, flavor});
        test.run();
        return test.ops();
    };
    EXPECT_EQ(ops(0, 1, 1), "MaxPool");
    EXPECT_EQ(ops(1, 0, 1), "AveragePool");
    EXPECT_EQ(ops(1, 0x10, 1), "AveragePool");
    EXPECT_EQ(ops(1, 1, 0), "AveragePool");
    EXPECT_EQ(ops(1, 1, 1), "Pad AveragePool");  // the last window goes beyond the padding
}

TEST(PoolingErrors, NameWhatIsWrong)
{
    struct Wrong
    {
        const char* field;
        int value;
        const char* sentence;
    };
    for (const Wrong& wrong :
         {Wrong{"pool_method", 2, "pool_method is 2, expected 0 (max) or 1 (average)"},
          Wrong{"kernel_h", 0, "kernel_h is 0, expected at least 1"},
          Wrong{"kernel_w", -1, "kernel_w is -1, expected at least 1"},
          Wrong{"stride_h", 0, "stride_h is 0, expected at least 1"},
          Wrong{"stride_w", -2147483647 - 1, "stride_w is -2147483648, expected at least 1"},
          Wrong{"kernel_w", 2147483647, "a kernel of 2147483647 does not fit an input of 7"},
          Wrong{"kernel_h", 11, "axis h: a kernel of 11 does not fit an input of 7"},
          Wrong{"pad_h0", 2,
                "a window meets no element of the input (kernel 2, stride 2, padding 2"},
          Wrong{"pad_w0", 2147483647, "a window meets no element"},
          Wrong{"stride_w", 2147483647, nullptr}}) {
        TengineCase test("tengine.Pooling");
        test.input(make_array({1, 2, 7, 7})).attr(wrong.field, wrong.value);
        if (wrong.sentence)
            test.expect_failure(TENGINE_EINVAL, wrong.sentence);
        else
            EXPECT_EQ(test.run_one().dims, (Dims{1, 2, 3, 1}));
    }
    TengineCase darknet("tengine.Pooling");
    darknet.input(make_array({1, 2, 7, 7})).attr("caffe_flavor", 2).attr("pad_h0", -9);
    darknet.expect_failure(TENGINE_EINVAL, "padding -4");
    TengineCase empty("tengine.Pooling");
    empty.input(make_array({1, 2, 0, 7}));
    empty.expect_failure(TENGINE_EINVAL, "no elements along axis h");
    TengineCase rank("tengine.Pooling");
    rank.input(make_array({2, 7, 7}));
    rank.expect_failure(TENGINE_EINVAL, "rank 3, expected 4");
}

// ---- raising ----

// Every window, pad, mode and divisor over small inputs: raised operators give the same numbers.
TEST(PoolingRaised, KeepsTheNumbersOfAllSmallWindows)
{
    int raised = 0, refused = 0;
    for (const char* op : {"MaxPool", "AveragePool"})
        for (int kernel = 1; kernel <= 4; ++kernel)
            for (int stride = 1; stride <= 3; ++stride)
                for (int before = 0; before < kernel; ++before)
                    for (int after = 0; after < kernel; ++after)
                        for (const int flags : {0, 1, 2, 3}) {
                            if (op[0] == 'M' && (flags & 2)) continue;
                            TengineCase test(op);
                            test.input(make_array({1, 2, 6, 5}, kernel));
                            test.attr("kernel_shape", Ints{kernel, kernel});
                            test.attr("strides", Ints{stride, stride});
                            test.attr("pads", Ints{before, before, after, after});
                            test.attr("ceil_mode", flags & 1);
                            if (flags & 2) test.attr("count_include_pad", 1);
                            const std::vector<Array> plain = test.run();
                            const std::vector<Array> again = test.run_raised();
                            ASSERT_EQ(again.size(), 1u);
                            expect_close(again[0], plain[0]);
                            (test.raised_ops() == op ? refused : raised)++;
                        }
    // Most can be expressed, also with different pads on the two sides.
    EXPECT_GT(raised, refused);
    EXPECT_GT(refused, 0);
}

TEST(PoolingRaised, ChoosesFlavourAndPads)
{
    struct Case
    {
        const char* op;
        Ints kernel, strides, pads;
        int ceil, count;
        int flavor, pad_h, pad_w;
    };
    for (const Case& item : {Case{"MaxPool", {3, 3}, {2, 2}, {1, 1, 1, 1}, 0, 0, 0, 1, 1},
                             Case{"MaxPool", {3, 3}, {2, 2}, {0, 0, 0, 0}, 1, 0, 1, 0, 0},
                             Case{"MaxPool", {2, 2}, {1, 1}, {0, 0, 1, 1}, 0, 0, 2, 1, 1},
                             Case{"AveragePool", {3, 3}, {1, 2}, {1, 0, 1, 0}, 0, 1, 0x10, 1, 0},
                             Case{"AveragePool", {3, 2}, {2, 2}, {0, 0, 0, 0}, 1, 0, 1, 0, 0}}) {
        TengineCase test(item.op);
        test.input(make_array({1, 2, 8, 8})).attr("kernel_shape", item.kernel);
        test.attr("strides", item.strides).attr("pads", item.pads).attr("ceil_mode", item.ceil);
        if (item.count) test.attr("count_include_pad", 1);
        test.expect_raised("tengine.Pooling");
        EXPECT_EQ(test.raised_attr("caffe_flavor"), item.flavor);
        EXPECT_EQ(test.raised_attr("pad_h0"), item.pad_h);
        EXPECT_EQ(test.raised_attr("pad_h1"), item.pad_h);
        EXPECT_EQ(test.raised_attr("pad_w0"), item.pad_w);
        EXPECT_EQ(test.raised_attr("global"), 0);
    }
}

TEST(PoolingRaised, SaysSame)
{
    TengineCase test("MaxPool");
    test.input(make_array({1, 2, 8, 7})).attr("kernel_shape", Ints{3, 3});
    test.attr("strides", Ints{2, 2}).attr("auto_pad", std::string("SAME_UPPER"));
    test.expect_raised("tengine.Pooling");
    EXPECT_EQ(test.raised_attr("pad_h0"), -1);
    EXPECT_EQ(test.raised_attr("caffe_flavor"), 0);
}

TEST(PoolingRaised, TakesWholePlanes)
{
    for (const char* op : {"GlobalAveragePool", "GlobalMaxPool"}) {
        TengineCase test(op);
        test.input(make_array({2, 3, 7, 5}));
        test.expect_raised("tengine.Pooling");
        EXPECT_EQ(test.raised_attr("global"), 1);
        EXPECT_EQ(test.raised_attr("kernel_w"), 5);
    }
    for (const Dims& dims : {Dims{2, 3, 7}, Dims{2, 3, 4, 5, 2}}) {
        TengineCase test("GlobalAveragePool");
        test.input(make_array(dims));
        test.expect_raised("tengine.Reshape tengine.Pooling tengine.Reshape");
    }
    TengineCase line("AveragePool");
    line.input(make_array({2, 3, 7})).attr("kernel_shape", Ints{3}).attr("pads", Ints{1, 1});
    line.expect_raised("tengine.Reshape tengine.Pooling tengine.Reshape");
    TengineCase plane("AveragePool");
    plane.input(make_array({2, 3, 7, 5})).attr("kernel_shape", Ints{7, 5});
    plane.expect_raised("tengine.Pooling");
}

TEST(PoolingRaised, IsRefusedWithAReason)
{
    const auto refuse = [](const std::string& op, const std::string& reason, Dims dims, Ints kernel,
                           const std::string& list, Ints values, int outputs) {
        TengineCase test(op, 0, outputs);
        test.input(make_array(std::move(dims)));
        if (!kernel.empty()) test.attr("kernel_shape", std::move(kernel));
        if (!list.empty()) test.attr(list, std::move(values));
        test.expect_refusal(reason);
    };
    refuse("MaxPool", "has 2 spatial axes, this one has 3", {1, 2, 3, 3, 3}, {1, 1, 1}, "", {}, 1);
    refuse("GlobalMaxPool", "is not a batch of planes", {1, 0, 3}, {}, "", {}, 1);
    refuse("MaxPool", "does not give indices", {1, 2, 7, 7}, {3, 3}, "", {}, 2);
    refuse("MaxPool", "no dilation, this one has 2", {1, 2, 7, 7}, {3, 3}, "dilations", {1, 2}, 1);
    refuse("MaxPool", "pools the whole plane where the kernel is as large as the input, 3 x 3",
           {1, 2, 3, 3}, {3, 3}, "pads", {1, 1, 1, 1}, 1);
    refuse("MaxPool", "no caffe_flavor of Tengine's Pooling has these windows (input 7 x 7",
           {1, 2, 7, 7}, {3, 3}, "pads", {2, 2, 0, 0}, 1);
}

// ---- L2Pool ----

TEST(L2Pool, IsTheRootOfTheMeanOfSquares)
{
    const Array x = make_array({2, 3, 7, 8}, 1);
    Array squares = x;
    for (double& value : squares.values)
        value *= value;
    struct Case
    {
        int padding;
        Axis h, w;
    };
    for (const Case& item :
         {Case{0, {3, 2, 0, 0, 3}, {2, 3, 0, 0, 3}}, Case{2, {3, 1, 0, 0, 5}, {8, 1, 0, 0, 1}},
          Case{1, {3, 2, 0, 1, 4}, {3, 2, 0, 0, 4}}, Case{1, {1, 3, 0, 0, 3}, {4, 1, 0, 1, 8}}}) {
        Array expected = pool(squares, item.h, item.w, true, false);
        for (double& value : expected.values)
            value = std::sqrt(value);
        TengineCase test("tengine.L2Pool");
        test.input(x).attr("paddingType", item.padding);
        test.attr("kernel_h", item.h.kernel).attr("kernel_w", item.w.kernel);
        test.attr("stride_h", item.h.stride).attr("stride_w", item.w.stride);
        expect_close(test.run_one(), expected);
    }
}

TEST(L2PoolErrors, NameWhatIsWrong)
{
    const auto fail = [](const char* field, int value, const char* sentence) {
        TengineCase test("tengine.L2Pool");
        test.input(make_array({1, 2, 7, 7})).attr("kernel_h", 3).attr("kernel_w", 3);
        test.attr("stride_h", 2).attr("stride_w", 2).attr(field, value);
        test.expect_failure(TENGINE_EINVAL, sentence);
    };
    fail("stride_h", 0, "stride_h is 0, expected at least 1");
    fail("kernel_w", 0, "kernel_w is 0, expected at least 1");
    fail("kernel_w", 9, "axis w: a kernel of 9 does not fit an input of 7");
    fail("paddingType", 3, "paddingType is 3, expected 0 (none), 1 (same) or 2 (valid)");
    TengineCase rank("tengine.L2Pool");
    rank.input(make_array({2, 7, 7}));
    rank.expect_failure(TENGINE_EINVAL, "rank 3, expected 4");
}

}  // namespace
}  // namespace tengine::test
