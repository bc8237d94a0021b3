// SPDX-License-Identifier: Apache-2.0
// Tengine's activations against their formulas, and ONNX's raised to them.
#include <cmath>
#include <functional>
#include <limits>

#include "tengine_case.h"

namespace tengine::test {
namespace {

using Function = std::function<double(double)>;

Array map(const Array& input, const Function& function)
{
    Array made = input;
    for (double& value : made.values)
        value = function(value);
    return made;
}

double clip(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

double sigmoid(double x)
{
    return 1 / (1 + std::exp(-x));
}

double softplus(double x)
{
    return std::log1p(std::exp(x));
}

// Values of both signs beyond every bound used here, and zero.
Array wide_input()
{
    Array input = make_array({1, 3, 5, 7}, 3, 9);
    input.values[4] = 0;
    return input;
}

struct Plain
{
    const char* tengine;
    const char* onnx;  // the operator that is raised to it; null: none
    Function function;
};

TEST(TengineActivation, WithoutParameters)
{
    const Plain operators[] = {
        {"Absval", nullptr, [](double x) { return std::fabs(x); }},
        {"Gelu", "Gelu", [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }},
        {"Hardswish", "HardSwish", [](double x) { return x * clip(x + 3, 0, 6) / 6; }},
        {"Logistic", nullptr, sigmoid},
        {"Mish", "Mish", [](double x) { return x * std::tanh(softplus(x)); }},
        {"ReLU", "Relu", [](double x) { return x > 0 ? x : 0; }},
        {"ReLU1", nullptr, [](double x) { return clip(x, -1, 1); }},
        {"ReLU6", nullptr, [](double x) { return clip(x, 0, 6); }},
        {"Sigmoid", "Sigmoid", sigmoid},
        {"Softplus", "Softplus", softplus},
        {"Tanh", "Tanh", [](double x) { return std::tanh(x); }},
    };
    for (const Plain& op : operators) {
        SCOPED_TRACE(op.tengine);
        const std::string name = std::string("tengine.") + op.tengine;
        for (const std::vector<int>& dims : std::vector<std::vector<int>>{{}, {13}, {1, 3, 5, 7}}) {
            Array input = make_array(dims, 2, 8);
            TengineCase plain(name);
            expect_close(plain.input(input).run_one(), map(input, op.function));
            if (!op.onnx) continue;
            TengineCase raised(op.onnx);
            expect_close(raised.input(input).expect_raised(name), map(input, op.function));
        }
    }
}

TEST(TengineActivation, KeepsTheTypeOfItsInput)
{
    Array input = wide_input();
    input.data_type = TENGINE_DT_FP16;
    TengineCase relu6("tengine.ReLU6");
    const Array result = relu6.input(input).run_one();
    EXPECT_EQ(result.data_type, TENGINE_DT_FP16);
    expect_close(result, map(input, [](double x) { return clip(x, 0, 6); }), 1e-2);
}

TEST(TengineActivation, ReluWithSlope)
{
    const Array input = wide_input();
    const Array expected = map(input, [](double x) { return x < 0 ? 0.25 * x : x; });
    TengineCase plain("tengine.ReLU");
    expect_close(plain.input(input).attr("negative_slope", 0.25).run_one(), expected);
    EXPECT_EQ(plain.ops(), "LeakyRelu");
    TengineCase leaky("LeakyRelu");
    leaky.input(input).attr("alpha", 0.25).expect_raised("tengine.ReLU");
    EXPECT_EQ(leaky.raised_attr("negative_slope"), 0.25);
    TengineCase usual("LeakyRelu");
    usual.input(input).expect_raised("tengine.ReLU");
    EXPECT_FLOAT_EQ(static_cast<float>(usual.raised_attr("negative_slope")), 0.01f);
}

TEST(TengineActivation, EluSeluHardSigmoid)
{
    const Array input = wide_input();
    TengineCase elu("tengine.Elu");
    expect_close(elu.input(input).attr("alpha", 1.5).run_one(),
                 map(input, [](double x) { return x < 0 ? 1.5 * std::expm1(x) : x; }));
    TengineCase selu("tengine.Selu");
    expect_close(selu.input(input).attr("alpha", 2.0).attr("lambda", 0.5).run_one(),
                 map(input, [](double x) { return 0.5 * (x < 0 ? 2 * std::expm1(x) : x); }));
    TengineCase hard("tengine.HardSigmoid");
    expect_close(hard.input(input).attr("alpha", 0.125).attr("beta", 0.25).run_one(),
                 map(input, [](double x) { return clip(0.125 * x + 0.25, 0, 1); }));
}

TEST(TengineActivation, EluSeluHardSigmoidRaised)
{
    const Array input = wide_input();
    TengineCase elu("Elu");
    elu.input(input).attr("alpha", 1.5).expect_raised("tengine.Elu");
    TengineCase selu("Selu");
    selu.input(input).attr("alpha", 2.0).attr("gamma", 0.5).expect_raised("tengine.Selu");
    EXPECT_EQ(selu.raised_attr("lambda"), 0.5);
    TengineCase hard("HardSigmoid");
    hard.input(input).expect_raised("tengine.HardSigmoid");
    EXPECT_FLOAT_EQ(static_cast<float>(hard.raised_attr("alpha")), 0.2f);
    EXPECT_EQ(hard.raised_attr("beta"), 0.5);
}

TEST(TengineActivation, Clip)
{
    const Array input = wide_input();
    TengineCase both("tengine.Clip");
    expect_close(both.input(input).attr("min", -2.5).attr("max", 4.0).run_one(),
                 map(input, [](double x) { return clip(x, -2.5, 4); }));
    TengineCase unbounded("tengine.Clip");
    expect_close(unbounded.input(input).run_one(), input);
}

Array number(double value)
{
    return {{}, {value}};
}

TEST(TengineActivation, ClipRaisedByItsBounds)
{
    const Array input = wide_input();
    const auto raise = [&](double low, double high, const char* op) {
        TengineCase clip("Clip");
        clip.input(input).constant(number(low)).constant(number(high)).expect_raised(op);
    };
    raise(0, 6, "tengine.ReLU6");
    raise(-1, 1, "tengine.ReLU1");
    raise(-1, 6, "tengine.Clip");
    raise(0, 1, "tengine.Clip");

    const double infinity = std::numeric_limits<double>::infinity();
    Array endless = input;
    endless.values[0] = infinity;
    TengineCase low_only("Clip");
    const std::vector<Array> results = low_only.input(endless).constant(number(-2)).run_raised();
    ASSERT_EQ(low_only.raised_ops(), "tengine.Clip");
    EXPECT_EQ(results.at(0).values[0], infinity);
    EXPECT_EQ(low_only.raised_attr("min"), -2);
    EXPECT_EQ(low_only.raised_attr("max"), infinity);

    TengineCase fed("Clip");
    fed.input(input).input(number(0)).expect_refusal("a bound is not a constant float");
}

TEST(TengineActivation, GeluByTanhIsNotRaised)
{
    TengineCase gelu("Gelu");
    gelu.input(wide_input()).attr("approximate", std::string("tanh"));
    gelu.expect_refusal("approximated by tanh, Tengine's Gelu uses erf");
}

TEST(TengineActivation, Threshold)
{
    Array input = wide_input();
    input.values[2] = 1.5;
    TengineCase above("tengine.Threshold");
    const Array result = above.input(input).attr("threshold", 1.5).run_one();
    expect_close(result, map(input, [](double x) { return x > 1.5 ? 1 : 0; }), 0);
    EXPECT_EQ(result.values[2], 0);
    EXPECT_EQ(result.data_type, TENGINE_DT_FP32);
}

Array prelu(const Array& input, const std::vector<double>& slopes)
{
    Array made = input;
    const size_t channels =
        static_cast<size_t>(input.dims.size() > 1 ? input.dims[1] : input.dims[0]);
    size_t plane = 1;
    for (size_t i = 2; i < input.dims.size(); ++i)
        plane *= static_cast<size_t>(input.dims[i]);
    for (size_t i = 0; i < made.values.size(); ++i) {
        const double slope = slopes.size() == 1 ? slopes[0] : slopes[i / plane % channels];
        if (made.values[i] < 0) made.values[i] *= slope;
    }
    return made;
}

TEST(TengineActivation, PReluPerChannel)
{
    const std::vector<double> slopes = {0.5, -0.25, 2};
    for (const std::vector<int>& dims :
         std::vector<std::vector<int>>{{3}, {7, 3}, {2, 3, 5}, {2, 3, 5, 3}, {1, 3, 2, 2, 5}}) {
        const Array input = make_array(dims, 1, 4);
        for (const std::vector<int>& shape :
             std::vector<std::vector<int>>{{3}, {1, 3}, {1, 3, 1, 1}}) {
            TengineCase plain("tengine.PReLU");
            expect_close(plain.input(input).constant({shape, slopes}).run_one(),
                         prelu(input, slopes));
        }
        TengineCase shared("tengine.PReLU");
        expect_close(shared.input(input).constant({{1}, {0.125}}).run_one(), prelu(input, {0.125}));
    }
}

TEST(TengineActivation, PReluWithSlopesOfHalfPrecision)
{
    const Array input = make_array({1, 2, 3, 3}, 1, 4);
    TengineCase half("tengine.PReLU");
    half.input(input).constant({{2}, {0.5, -0.25}, TENGINE_DT_FP16});
    expect_close(half.run_one(), prelu(input, {0.5, -0.25}));
}

TEST(TengineActivation, PReluWithTooManySlopes)
{
    TengineCase wrong("tengine.PReLU");
    wrong.input(make_array({1, 3, 2, 2})).constant(make_array({4}));
    wrong.expect_failure(TENGINE_EINVAL, "4 slopes for 3 channels");
}

TEST(TengineActivation, PReluRaised)
{
    const Array input = make_array({2, 3, 5, 4}, 1, 4);
    const auto raise = [&](std::vector<int> dims) {
        TengineCase op("PRelu");
        op.input(input).constant(make_array(std::move(dims), 7)).expect_raised("tengine.PReLU");
    };
    raise({3, 1, 1});
    raise({1, 3, 1, 1});
    raise({1});
    raise({});
    TengineCase rows("PRelu");
    rows.input(input).constant(make_array({4}));
    rows.expect_refusal("slopes of shape [4] are not one for each channel");
    TengineCase row("PRelu");
    row.input(make_array({5})).constant(make_array({5}));
    row.expect_refusal("its input has 1 dimensions, Tengine's PReLU takes 2 to 4");
}

}  // namespace
}  // namespace tengine::test
