// SPDX-License-Identifier: Apache-2.0
// DFT, STFT, windows and MelWeightMatrix: cases the ONNX suite leaves out, and refusals.
#include <cmath>

#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using cpu::BFloat16;
using cpu::Half;
using Dims = std::vector<int>;
using Floats = std::vector<float>;

void expect_near(const Floats& values, const Floats& expected, float tolerance = 1e-5f)
{
    ASSERT_EQ(values.size(), expected.size());
    for (size_t i = 0; i < values.size(); ++i)
        EXPECT_NEAR(values[i], expected[i], tolerance) << "element " << i;
}

// ---- DFT ----

template <class T>
class Dft : public testing::Test
{
};
using FloatTypes = testing::Types<float, Half, BFloat16, double>;
TYPED_TEST_SUITE(Dft, FloatTypes);

// The transform of 1, 2, 3, 4 is 10, -2+2i, -2, -2-2i.
TYPED_TEST(Dft, RealInput)
{
    ConstantGraph graph;
    graph.input<TypeParam>("x", {1, 4, 1}, {1, 2, 3, 4});
    graph.add("DFT", {"x"});
    const tensor* result = graph.evaluate();
    EXPECT_EQ(dims_of(result), (Dims{1, 4, 2}));
    expect_near(numbers_of(result), {10, 0, -2, 2, -2, 0, -2, -2});
}

TYPED_TEST(Dft, InverseOfComplexInput)
{
    ConstantGraph graph;
    graph.input<TypeParam>("x", {1, 4, 2}, {10, 0, -2, 2, -2, 0, -2, -2});
    node* made = graph.add("DFT", {"x"});
    ASSERT_EQ(set_node_int(made, "inverse", 1), 0);
    expect_near(numbers_of(graph.evaluate()), {1, 0, 2, 0, 3, 0, 4, 0});
}

TYPED_TEST(Dft, OneSided)
{
    ConstantGraph graph;
    graph.input<TypeParam>("x", {4, 1}, {1, 2, 3, 4});
    node* made = graph.add("DFT", {"x"});
    ASSERT_EQ(set_node_int(made, "onesided", 1), 0);
    const tensor* result = graph.evaluate();
    EXPECT_EQ(dims_of(result), (Dims{3, 2}));
    expect_near(numbers_of(result), {10, 0, -2, 2, -2, 0});
}

TEST(DftOperator, LengthCutsAndPads)
{
    for (int length : {2, 4}) {
        ConstantGraph graph;
        graph.input<float>("x", {1, 3, 1}, {1, 2, 5});
        graph.input<int32_t>("length", {}, {length});
        graph.add("DFT", {"x", "length"});
        expect_near(numbers_of(graph.evaluate()),
                    length == 2 ? (Floats{3, 0, -1, 0}) : (Floats{8, 0, -4, -2, 4, 0, -4, 2}));
    }
}

// Columns 1, 2 and 3, 4; rows 1, 3 and 2, 4.
TEST(DftOperator, AxisWasAnAttribute)
{
    const Floats along_rows = {4, 0, 6, 0, -2, 0, -2, 0};
    const Floats along_columns = {3, 0, -1, 0, 7, 0, -1, 0};
    for (int axis : {1, -3, 2, -2}) {
        const Floats& expected = axis == 1 || axis == -3 ? along_rows : along_columns;
        ConstantGraph old;
        old.opset = 17;
        old.input<float>("x", {1, 2, 2, 1}, {1, 2, 3, 4});
        ASSERT_EQ(set_node_int(old.add("DFT", {"x"}), "axis", axis), 0);
        expect_near(numbers_of(old.evaluate()), expected);

        ConstantGraph graph;
        graph.input<float>("x", {1, 2, 2, 1}, {1, 2, 3, 4});
        graph.input<int64_t>("axis", {}, {axis});
        graph.add("DFT", {"x", "", "axis"});
        expect_near(numbers_of(graph.evaluate()), expected);
    }
}

// The default axis: 1 up to opset 19, the last dimension of the signal since then.
TEST(DftOperator, DefaultAxis)
{
    ConstantGraph old;
    old.opset = 19;
    old.input<float>("x", {1, 2, 2, 1}, {1, 2, 3, 4});
    old.add("DFT", {"x"});
    expect_near(numbers_of(old.evaluate()), {4, 0, 6, 0, -2, 0, -2, 0});

    ConstantGraph graph;
    graph.input<float>("x", {1, 2, 2, 1}, {1, 2, 3, 4});
    graph.add("DFT", {"x"});
    expect_near(numbers_of(graph.evaluate()), {3, 0, -1, 0, 7, 0, -1, 0});
}

TEST(DftOperator, EmptyBatchAndEmptyAxis)
{
    ConstantGraph batch;
    batch.input<float>("x", {0, 4, 1}, {});
    batch.add("DFT", {"x"});
    EXPECT_EQ(dims_of(batch.evaluate()), (Dims{0, 4, 2}));

    ConstantGraph axis;
    axis.input<float>("x", {1, 0, 1}, {});
    axis.add("DFT", {"x"});
    axis.expect_failure(TENGINE_EINVAL, "no element");

    ConstantGraph padded;
    padded.input<float>("x", {1, 0, 1}, {});
    padded.builder().ints("length", {2});
    padded.add("DFT", {"x", "length"});
    EXPECT_EQ(numbers_of(padded.evaluate()), Floats(4));
}

TEST(DftOperator, RefusesShapes)
{
    const auto refuse = [](Dims dims, int code, const char* part) {
        size_t num = 1;
        for (int dim : dims)
            num *= static_cast<size_t>(dim);
        ConstantGraph graph;
        graph.input<float>("x", dims, Floats(num));
        graph.add("DFT", {"x"});
        graph.expect_failure(code, part);
    };
    refuse({2}, TENGINE_EINVAL, "at least 2");
    refuse({1, 4, 3}, TENGINE_EINVAL, "the last dimension of the input is 3");
    refuse({}, TENGINE_EINVAL, "at least 2");
}

TEST(DftOperator, RefusesAxisAndLength)
{
    const auto refuse = [](int64_t length, int64_t axis, const char* part) {
        ConstantGraph graph;
        graph.input<float>("x", {1, 4, 1}, Floats(4));
        graph.builder().ints("length", {length});
        graph.builder().ints("axis", {axis});
        graph.add("DFT", {"x", "length", "axis"});
        graph.expect_failure(TENGINE_ERANGE, part);
    };
    refuse(0, 1, "dft_length is 0");
    refuse(-4, 1, "dft_length is -4");
    refuse(INT64_MAX, 1, "dft_length is");
    refuse(4, 3, "axis 3");
    refuse(4, -4, "axis -4");
    refuse(4, INT64_MIN, "axis is");
    refuse(4, 2, "last dimension");
    refuse(4, -1, "last dimension");

    ConstantGraph list;
    list.input<float>("x", {1, 4, 1}, Floats(4));
    list.builder().ints("length", {4, 4});
    list.add("DFT", {"x", "length"});
    list.expect_failure(TENGINE_EINVAL, "scalar");
}

TEST(DftOperator, OneSidedNeedsARealSignalOrItsSpectrum)
{
    for (int inverse : {0, 1}) {
        const int wrong = inverse ? 1 : 2;
        ConstantGraph graph;
        graph.input<float>("x", {1, 4, wrong}, Floats(4 * static_cast<size_t>(wrong)));
        node* made = graph.add("DFT", {"x"});
        ASSERT_EQ(set_node_int(made, "onesided", 1), 0);
        ASSERT_EQ(set_node_int(made, "inverse", inverse), 0);
        graph.expect_failure(TENGINE_EINVAL, inverse ? "this one is real" : "this one is complex");
    }
}

// Returns the inverse DFT of half a spectrum along `axis`; length 0: none is given.
template <class T>
void add_real_inverse(ConstantGraph& graph, std::vector<int> dims, const Floats& values,
                      int64_t length, int64_t axis)
{
    graph.input<T>("x", std::move(dims), {values.begin(), values.end()});
    graph.builder().ints("axis", {axis});
    if (length > 0) graph.builder().ints("length", {length});
    node* made = graph.add("DFT", {"x", length > 0 ? "length" : "", "axis"});
    EXPECT_EQ(set_node_int(made, "onesided", 1), 0);
    EXPECT_EQ(set_node_int(made, "inverse", 1), 0);
}

// Half of the spectrum of 1, 2, 3, 4 in two columns, the second of 2, 4, 6, 8.
TYPED_TEST(Dft, InverseOfHalfASpectrumIsReal)
{
    ConstantGraph graph;
    add_real_inverse<TypeParam>(graph, {1, 3, 2, 2}, {10, 0, 20, 0, -2, 2, -4, 4, -2, 0, -4, 0}, 0,
                                1);
    const tensor* result = graph.evaluate();
    EXPECT_EQ(dims_of(result), (Dims{1, 4, 2, 1}));
    expect_near(numbers_of(result), {1, 2, 2, 4, 3, 6, 4, 8});
}

// An odd length, a spectrum that is cropped and one that is padded with zeros.
TEST(DftOperator, InverseOfHalfASpectrumHasALength)
{
    const auto expect = [](std::vector<int> dims, const Floats& values, int64_t length,
                           const Floats& expected) {
        ConstantGraph graph;
        add_real_inverse<float>(graph, std::move(dims), values, length, 0);
        expect_near(numbers_of(graph.evaluate()), expected);
    };
    expect({2, 2}, {6, 0, -1.5f, std::sqrt(3.0f) / 2}, 3, {1, 2, 3});
    expect({3, 2}, {3, 0, -1, 0, 7, 7}, 2, {1, 2});
    expect({1, 2}, {8, 0}, 4, {2, 2, 2, 2});

    ConstantGraph none;
    add_real_inverse<float>(none, {1, 2}, {8, 0}, 0, 0);
    none.expect_failure(TENGINE_EINVAL, "axis 0 of 1 leaves no element");
}

// ---- STFT ----

// Frames 1, 2 and 3, 4 of two signals, the second with an imaginary part; the last sample is left.
TEST(Stft, ComplexFramesAndBatches)
{
    ConstantGraph graph;
    graph.input<double>("x", {2, 5, 2}, {1, 0, 2, 0, 3, 0, 4, 0, 9, 9,  //
                                         0, 1, 0, 2, 0, 3, 0, 4, 9, 9});
    graph.builder().ints("step", {2});
    graph.builder().ints("length", {2});
    node* made = graph.add("STFT", {"x", "step", "", "length"});
    ASSERT_EQ(set_node_int(made, "onesided", 0), 0);
    const tensor* result = graph.evaluate();
    EXPECT_EQ(dims_of(result), (Dims{2, 2, 2, 2}));
    expect_near(numbers_of(result), {3, 0, -1, 0, 7, 0, -1, 0, 0, 3, 0, -1, 0, 7, 0, -1});
}

TEST(Stft, WindowInHalfPrecision)
{
    ConstantGraph graph;
    graph.input<Half>("x", {1, 3, 1}, {1, 2, 3});
    graph.input<Half>("window", {2}, {1, 0.5f});
    graph.builder().ints("step", {1});
    graph.add("STFT", {"x", "step", "window"});
    const tensor* result = graph.evaluate();
    EXPECT_EQ(dims_of(result), (Dims{1, 2, 2, 2}));
    expect_near(numbers_of(result), {2, 0, 0, 0, 3.5f, 0, 0.5f, 0});
}

// As in PyTorch: [batch, length] is [batch, length, 1].
TEST(Stft, RealSignalsMayHaveTwoDimensions)
{
    for (const int onesided : {0, 1}) {
        const Floats samples = {1, 2, 3, 4, 9, 5, 6, 7, 8, 9};
        Floats results[2];
        for (const int rank : {2, 3}) {
            ConstantGraph graph;
            graph.input<float>("x", rank == 2 ? Dims{2, 5} : Dims{2, 5, 1}, samples);
            graph.builder().ints("step", {2});
            graph.builder().ints("length", {2});
            node* made = graph.add("STFT", {"x", "step", "", "length"});
            ASSERT_EQ(set_node_int(made, "onesided", onesided), 0);
            const tensor* result = graph.evaluate();
            EXPECT_EQ(dims_of(result), (Dims{2, 2, 2, 2}));
            results[rank - 2] = numbers_of(result);
        }
        expect_near(results[0], {3, 0, -1, 0, 7, 0, -1, 0, 11, 0, -1, 0, 15, 0, -1, 0});
        EXPECT_EQ(results[0], results[1]);
    }
}

TEST(Stft, EmptyBatch)
{
    ConstantGraph graph;
    graph.input<float>("x", {0, 4, 1}, {});
    graph.builder().ints("step", {1});
    graph.builder().ints("length", {4});
    graph.add("STFT", {"x", "step", "", "length"});
    EXPECT_EQ(dims_of(graph.evaluate()), (Dims{0, 1, 3, 2}));
}

TEST(Stft, RefusesStepAndLength)
{
    const auto refuse = [](int64_t step, int64_t length, const char* part) {
        ConstantGraph graph;
        graph.input<float>("x", {1, 4, 1}, Floats(4));
        graph.builder().ints("step", {step});
        graph.builder().ints("length", {length});
        graph.add("STFT", {"x", "step", "", "length"});
        graph.expect_failure(TENGINE_ERANGE, part);
    };
    refuse(0, 2, "frame_step is 0");
    refuse(-1, 2, "frame_step is -1");
    refuse(1, 0, "frame_length is 0");
    refuse(1, 5, "the signal only 4");
}

TEST(Stft, RefusesWindows)
{
    const auto refuse = [](Dims dims, int code, const char* part) {
        size_t num = 1;
        for (int dim : dims)
            num *= static_cast<size_t>(dim);
        ConstantGraph graph;
        graph.input<float>("x", {1, 4, 1}, Floats(4));
        graph.input<float>("window", dims, Floats(num));
        graph.builder().ints("step", {1});
        graph.builder().ints("length", {3});
        graph.add("STFT", {"x", "step", "window", "length"});
        graph.expect_failure(code, part);
    };
    refuse({2}, TENGINE_EINVAL, "the window has 2 samples, frame_length is 3");
    refuse({1, 3}, TENGINE_EINVAL, "2 dimensions");

    ConstantGraph empty;
    empty.input<float>("x", {1, 4, 1}, Floats(4));
    empty.input<float>("window", {0}, {});
    empty.builder().ints("step", {1});
    empty.add("STFT", {"x", "step", "window"});
    empty.expect_failure(TENGINE_EINVAL, "empty");

    ConstantGraph none;
    none.input<float>("x", {1, 4, 1}, Floats(4));
    none.builder().ints("step", {1});
    none.add("STFT", {"x", "step"});
    none.expect_failure(TENGINE_EINVAL, "required");

    ConstantGraph type;
    type.input<float>("x", {1, 4, 1}, Floats(4));
    type.input<double>("window", {2}, {1, 1});
    type.builder().ints("step", {1});
    type.add("STFT", {"x", "step", "window"});
    type.expect_failure(TENGINE_EDTYPE, "window");
}

TEST(Stft, RefusesSignals)
{
    const auto refuse = [](Dims dims, const char* part) {
        ConstantGraph graph;
        graph.input<float>("x", dims, Floats(8));
        graph.builder().ints("step", {1});
        graph.builder().ints("length", {2});
        graph.add("STFT", {"x", "step", "", "length"});
        graph.expect_failure(TENGINE_EINVAL, part);
    };
    refuse({8}, "1 dimensions");
    refuse({1, 4, 2}, "onesided");
    refuse({1, 2, 4}, "the last dimension of the input is 4");
}

// ---- windows ----

enum OnnxType
{
    kOnnxUint8 = 2,
    kOnnxString = 8,
    kOnnxBool = 9,
    kOnnxHalf = 10,
    kOnnxDouble = 11
};

TEST(WindowFunction, TypesOfTheOutput)
{
    const auto make = [](ConstantGraph& graph, int onnx_type) {
        graph.input<int64_t>("size", {}, {4});
        node* made = graph.add("HannWindow", {"size"});
        ASSERT_EQ(set_node_int(made, "output_datatype", onnx_type), 0);
    };
    for (int type : std::vector<int>{kOnnxHalf, kOnnxDouble}) {
        ConstantGraph graph;
        make(graph, type);
        expect_near(numbers_of(graph.evaluate()), {0, 0.5f, 1, 0.5f});
    }
    ConstantGraph bytes;
    make(bytes, kOnnxUint8);
    EXPECT_EQ(values_of<uint8_t>(bytes.evaluate()), (std::vector<uint8_t>{0, 0, 1, 0}));
    for (int type : std::vector<int>{kOnnxString, kOnnxBool, 0, -1}) {
        ConstantGraph graph;
        make(graph, type);
        graph.expect_failure(TENGINE_EDTYPE, "output_datatype");
    }
}

TEST(WindowFunction, NoneAndOnePoint)
{
    for (const char* op : {"HannWindow", "HammingWindow", "BlackmanWindow"}) {
        for (int periodic : {0, 1}) {
            ConstantGraph none;
            none.input<int32_t>("size", {}, {0});
            ASSERT_EQ(set_node_int(none.add(op, {"size"}), "periodic", periodic), 0);
            EXPECT_EQ(dims_of(none.evaluate()), (Dims{0}));
        }
        ConstantGraph one;
        one.input<int32_t>("size", {}, {1});
        ASSERT_EQ(set_node_int(one.add(op, {"size"}), "periodic", 0), 0);
        EXPECT_EQ(numbers_of(one.evaluate()), (Floats{1}));
    }
}

TEST(WindowFunction, RefusesSizes)
{
    ConstantGraph negative;
    negative.input<int32_t>("size", {}, {-1});
    negative.add("HannWindow", {"size"});
    negative.expect_failure(TENGINE_ERANGE, "size is -1");

    for (int num : {0, 2}) {
        ConstantGraph graph;
        graph.input<int32_t>("size", {num}, std::vector<int32_t>(static_cast<size_t>(num), 4));
        graph.add("HammingWindow", {"size"});
        graph.expect_failure(TENGINE_EINVAL, "scalar");
    }
    ConstantGraph type;
    type.input<float>("size", {}, {4});
    type.add("BlackmanWindow", {"size"});
    type.expect_failure(TENGINE_EDTYPE, "fp32");
}

// ---- MelWeightMatrix ----

struct MelInputs
{
    int32_t bins = 1;
    int32_t length = 8;
    int32_t rate = 8000;
    float low = 0;
    float high = 4000;
};

void add_mel(ConstantGraph& graph, const MelInputs& inputs)
{
    graph.input<int32_t>("bins", {}, {inputs.bins});
    graph.input<int32_t>("length", {}, {inputs.length});
    graph.input<int32_t>("rate", {}, {inputs.rate});
    graph.input<float>("low", {}, {inputs.low});
    graph.input<float>("high", {}, {inputs.high});
    graph.add("MelWeightMatrix", {"bins", "length", "rate", "low", "high"});
}

// Corners at a third and two thirds of 2146 mel: 620.6 and 1791.4 Hz; a row is 100 Hz wide.
TEST(MelWeightMatrix, OneTriangle)
{
    MelInputs inputs;
    inputs.length = 79;
    ConstantGraph graph;
    add_mel(graph, inputs);
    const tensor* result = graph.evaluate();
    EXPECT_EQ(dims_of(result), (Dims{40, 1}));
    const Floats weights = numbers_of(result);
    for (int row = 0; row < 40; ++row) {
        const float expected = row <= 6 ? row / 6.0f : row < 17 ? (17 - row) / 11.0f : 0.0f;
        EXPECT_NEAR(weights[static_cast<size_t>(row)], expected, 1e-6f) << row;
    }
}

TEST(MelWeightMatrix, NoBandsAndAnEmptyRange)
{
    MelInputs inputs;
    inputs.bins = 0;
    ConstantGraph none;
    add_mel(none, inputs);
    EXPECT_EQ(dims_of(none.evaluate()), (Dims{5, 0}));

    inputs.bins = 2;
    inputs.low = inputs.high = 1000;  // every corner in row 9 * 1000 / 8000
    ConstantGraph narrow;
    add_mel(narrow, inputs);
    EXPECT_EQ(numbers_of(narrow.evaluate()), (Floats{0, 0, 1, 1, 0, 0, 0, 0, 0, 0}));
}

TEST(MelWeightMatrix, RefusesValues)
{
    const auto refuse = [](const MelInputs& inputs, const char* part) {
        ConstantGraph graph;
        add_mel(graph, inputs);
        graph.expect_failure(TENGINE_ERANGE, part);
    };
    refuse({-1, 8, 8000, 0, 4000}, "num_mel_bins is -1");
    refuse({1, 0, 8000, 0, 4000}, "dft_length is 0");
    refuse({1, 8, 0, 0, 4000}, "sample_rate is 0");
    refuse({1, 8, 8000, -1, 4000}, "edges");
    refuse({1, 8, 8000, 5000, 4000}, "edges");
    refuse({1, 8, 8000, NAN, 4000}, "edges");
    refuse({1, 8, 8000, 0, INFINITY}, "edges");
    refuse({1, 8, 8000, 0, 40000}, "half the sample rate");
    refuse({1, 8, 1, 0, 3e38f}, "half the sample rate");
}

}  // namespace
}  // namespace tengine::test
