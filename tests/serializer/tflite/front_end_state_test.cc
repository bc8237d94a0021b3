// SPDX-License-Identifier: Apache-2.0
// The custom operators of tflite-micro's front end for audio that have states, which no file has.
#include <tuple>

#include "serializer/tflite/front_end_fixture.h"

namespace tengine::test {
namespace {

class TfliteFrontEndStateTest : public TfliteFrontEndTest
{
};

TEST_F(TfliteFrontEndStateTest, SpectralSubtraction)
{
    const Words input = {322, 308, 210, 212, 181, 251, 403, 259, 65, 48, 76, 48, 50, 46,  53,  52,
                         112, 191, 136, 59,  70,  51,  39,  64,  33, 44, 41, 49, 74, 107, 262, 479};
    const TfliteModel model = make_model("SignalFilterBankSpectralSubtraction",
                                         {{"num_channels", 32},
                                          {"smoothing", 655},
                                          {"one_minus_smoothing", 15729},
                                          {"alternate_smoothing", 300},
                                          {"alternate_one_minus_smoothing", 16084},
                                          {"min_signal_remaining", 819},
                                          {"smoothing_bits", 10},
                                          {"spectral_subtraction_bits", 14},
                                          {"clamping", 0}},
                                         {words("x", {32})}, {words("y", {32}), words("n", {32})});
    begin(model);
    Words noise(32);
    for (int run = 0; run < 3; ++run) {
        Words expected;
        for (size_t i = 0; i < input.size(); ++i) {
            const uint64_t weight = i % 2 == 0 ? 655 : 300, rest = i % 2 == 0 ? 15729 : 16084;
            const uint32_t raised = input[i] << 10;
            noise[i] = static_cast<uint32_t>((raised * weight + noise[i] * rest) >> 14);
            const uint32_t left = (raised - std::min(raised, noise[i])) >> 10;
            expected.push_back(
                std::max(left, static_cast<uint32_t>(uint64_t{input[i]} * 819 >> 14)));
        }
        const auto results = step(bytes_of(input));
        EXPECT_EQ(values_of<uint32_t>(results[0]), expected) << run;
        EXPECT_EQ(values_of<uint32_t>(results[1]), noise) << run;
    }
    expect_written(model);
    TfliteModel other = model;
    other.tensors[0].shape = {31};
    expect_refusal(other, TENGINE_EINVAL, "31 elements of uint32, expected num_channels, 32");
}

TfliteModel make_framer(int size, int step, int prefill, int given)
{
    return make_model(
        "SignalFramer", {{"frame_size", size}, {"frame_step", step}, {"prefill", prefill}},
        {shorts("x", {given})}, {shorts("y", {given / step, size}), {"valid", {}, kTfliteBool}});
}

TEST_F(TfliteFrontEndStateTest, Framer)
{
    const auto expect = [&](const Shorts& input, const Shorts& frames, bool is_valid) {
        const auto results = step(bytes_of(input));
        EXPECT_EQ(results[1], std::string(1, is_valid ? '\1' : '\0'));
        if (is_valid) {
            EXPECT_EQ(values_of<int16_t>(results[0]), frames);
        }
    };
    begin(make_framer(3, 1, 0, 1));
    expect({0x1234}, {}, false);
    expect({0x5678}, {}, false);
    expect({0x4321}, {0x1234, 0x5678, 0x4321}, true);
    expect({0x7777}, {0x5678, 0x4321, 0x7777}, true);
    begin(make_framer(5, 2, 1, 2));
    expect({0x1010, 0x0202}, {0, 0, 0, 0x1010, 0x0202}, true);
    expect({0x7070, 0x0606}, {0, 0x1010, 0x0202, 0x7070, 0x0606}, true);
    begin(make_framer(5, 2, 1, 4));
    expect({0x1010, 0x0202, 0x7070, 0x0606},
           {0, 0, 0, 0x1010, 0x0202, 0, 0x1010, 0x0202, 0x7070, 0x0606}, true);
    // A frame of two and a half steps waits for three, and begins with the oldest sample.
    begin(make_framer(5, 2, 0, 2));
    expect({1, 2}, {}, false);
    expect({3, 4}, {}, false);
    expect({5, 6}, {1, 2, 3, 4, 5}, true);
    expect({7, 8}, {3, 4, 5, 6, 7}, true);
    begin(make_framer(2, 3, 0, 3));
    expect({1, 2, 3}, {1, 2}, true);
    begin(make_framer(3, 3, 1, 3));
    expect({1, 2, 3}, {1, 2, 3}, true);
    for (const auto& [size, step, prefill] :
         {std::tuple(5, 2, 0), std::tuple(5, 2, 1), std::tuple(3, 3, 1)})
        expect_written(make_framer(size, step, prefill, 2 * step));
    expect_refusal(make_framer(2, 3, 1, 3), TENGINE_EINVAL, "frame_size 2, frame_step 3");
    TfliteModel model = make_framer(5, 2, 1, 4);
    model.tensors[0].shape = {5};
    expect_refusal(model, TENGINE_EINVAL, "5 samples, frame_size 5, frame_step 2");
    model = make_framer(5, 2, 1, 4);
    model.operators[0].inputs = {0, 0};
    expect_refusal(model, TENGINE_EGRAPH, "it has 2 inputs and 2 outputs, expected 1 and 2");
}

TEST_F(TfliteFrontEndStateTest, FramerOfSeveralLines)
{
    TfliteModel model = make_framer(3, 2, 1, 2);
    model.tensors[0].shape = {2, 2};
    model.tensors[1].shape = {2, 1, 3};
    begin(model);
    EXPECT_EQ(step_shorts({1, 2, 3, 4}), (Shorts{0, 1, 2, 0, 3, 4}));
    EXPECT_EQ(step_shorts({5, 6, 7, 8}), (Shorts{2, 5, 6, 4, 7, 8}));
}

TEST_F(TfliteFrontEndStateTest, OverlapAdd)
{
    const auto make = [](int8_t type, int frames, int size, int step) {
        return make_model("SignalOverlapAdd", {{"T", type}, {"frame_step", step}},
                          {{"x", {frames, size}, type}}, {{"y", {frames * step}, type}});
    };
    begin(make(kTfliteInt16, 1, 3, 1));
    EXPECT_EQ(step_shorts({125, -12, -895}), Shorts{125});
    EXPECT_EQ(step_shorts({1000, 65, -212}), Shorts{988});
    EXPECT_EQ(step_shorts({63, 71, 52}), Shorts{-767});
    EXPECT_EQ(step_shorts({1, -17, 32}), Shorts{-140});
    begin(make(kTfliteInt16, 4, 3, 1));
    EXPECT_EQ(step_shorts({125, -12, -895, 1000, 65, -212, 63, 71, 52, 1, -17, 32}),
              (Shorts{125, 988, -767, -140}));
    // Sums stop at the ends, in each step.
    begin(make(kTfliteInt16, 3, 3, 1));
    EXPECT_EQ(step_shorts({0, 0, 30000, 0, 30000, 0, -30000, 0, 0}), (Shorts{0, 0, 2767}));
    begin(make(kTfliteFloat, 1, 3, 1));
    const std::vector<std::vector<float>> steps = {
        {12.5f, -1.2f, -89.5f}, {100, 6.5f, -21.2f}, {6.3f, 7.1f, 5.2f}, {0.1f, -1.7f, 3.2f}};
    const float expected[] = {12.5f, 98.8f, -76.7f, -14};
    for (size_t i = 0; i < steps.size(); ++i)
        EXPECT_FLOAT_EQ(values_of<float>(step(bytes_of(steps[i]))[0])[0], expected[i]);
    begin(make(kTfliteInt16, 2, 2, 2));
    EXPECT_EQ(step_shorts({1, 2, 3, 4}), (Shorts{1, 2, 3, 4}));
    expect_written(make(kTfliteInt16, 2, 3, 1));
    expect_refusal(make(kTfliteInt16, 1, 2, 3), TENGINE_EINVAL, "and frame_step 3 do not fit");
    TfliteModel model = make(kTfliteInt16, 2, 2, 1);
    model.tensors[0].shape = {4};
    expect_refusal(model, TENGINE_EINVAL, "its input has rank 1");
}

TEST_F(TfliteFrontEndStateTest, Stacker)
{
    const auto make = [](int channels, int left, int right, int step) {
        return make_model("SignalStacker",
                          {{"num_channels", channels},
                           {"stacker_left_context", left},
                           {"stacker_right_context", right},
                           {"stacker_step", step}},
                          {shorts("x", {channels})},
                          {shorts("y", {channels * (left + right + 1)}), {"v", {}, kTfliteBool}});
    };
    const auto expect = [&](const Shorts& input, const Shorts& stack) {
        const auto results = step(bytes_of(input));
        EXPECT_EQ(results[1], std::string(1, stack.empty() ? '\0' : '\1'));
        if (!stack.empty()) {
            EXPECT_EQ(values_of<int16_t>(results[0]), stack);
        }
    };
    begin(make(3, 1, 0, 1));
    expect({0x1234, 0x5678, 0x4321}, {0x1234, 0x5678, 0x4321, 0x1234, 0x5678, 0x4321});
    expect({1, 2, 3}, {0x1234, 0x5678, 0x4321, 1, 2, 3});
    begin(make(1, 1, 1, 2));
    expect({1}, {});
    expect({2}, {1, 1, 2});
    expect({3}, {});
    expect({4}, {2, 3, 4});
    begin(make(1, 0, 1, 2));
    expect({1}, {});
    expect({2}, {1, 2});
    expect({3}, {});
    expect({4}, {3, 4});
    begin(make(2, 0, 0, 1));
    expect({1, 2}, {1, 2});
    expect_written(make(1, 1, 1, 2));
    expect_refusal(make(1, 1, 1, 4), TENGINE_EINVAL, "stacker_step is 4");
}

TEST_F(TfliteFrontEndStateTest, Delay)
{
    const auto make = [](std::vector<int32_t> shape, int length) {
        return make_model("SignalDelay", {{"delay_length", length}}, {shorts("x", shape)},
                          {shorts("y", shape)});
    };
    begin(make({8}, 3));
    EXPECT_EQ(step_shorts({1, 2, 3, 4, 5, 6, 7, 8}), (Shorts{0, 0, 0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(step_shorts(Shorts(8)), (Shorts{6, 7, 8, 0, 0, 0, 0, 0}));
    begin(make({3}, 5));
    EXPECT_EQ(step_shorts({1, 2, 3}), (Shorts{0, 0, 0}));
    EXPECT_EQ(step_shorts({4, 0, 0}), (Shorts{0, 0, 1}));
    EXPECT_EQ(step_shorts({0, 0, 0}), (Shorts{2, 3, 4}));
    begin(make({2, 2}, 1));
    EXPECT_EQ(step_shorts({1, 2, 3, 4}), (Shorts{0, 1, 0, 3}));
    EXPECT_EQ(step_shorts({5, 6, 7, 8}), (Shorts{2, 5, 4, 7}));
    begin(make({2}, 0));
    EXPECT_EQ(step_shorts({1, 2}), (Shorts{1, 2}));
    expect_written(make({2, 2}, 1));
    EXPECT_FALSE(prepare(make({2}, -1)));
}

// A new shape of the input needs states of another shape.
TEST_F(TfliteFrontEndStateTest, StatesHaveTheShapeOfTheFile)
{
    begin(make_framer(3, 2, 1, 2));
    const int dims[] = {2, 2};
    EXPECT_EQ(set_tensor_shape(tengine_graph_get_input(graph_, 0), dims, 2), 0);
    EXPECT_LT(prerun_graph(graph_), 0);
    EXPECT_THAT(get_tengine_error(), testing::HasSubstr("its state, input 1"));
}

TEST_F(TfliteFrontEndStateTest, DamagedFiles)
{
    expect_bounds(make_framer(5, 2, 0, 4));
}

}  // namespace
}  // namespace tengine::test
