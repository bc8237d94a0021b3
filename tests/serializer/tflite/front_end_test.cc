// SPDX-License-Identifier: Apache-2.0
// The custom operators of tflite-micro's front end for audio that have no states.
#include <cmath>

#include "serializer/tflite/front_end_fixture.h"

namespace tengine::test {
namespace {

// ---- Fourier transforms ----

uint32_t hash(const std::string& bytes)
{
    uint32_t value = 2166136261U;  // FNV-1a
    for (const char byte : bytes)
        value = (value ^ static_cast<uint8_t>(byte)) * 16777619U;
    return value;
}

template <class Value>
std::string random_bytes(int number)
{
    std::vector<Value> values(static_cast<size_t>(number));
    uint32_t seed = 7;
    for (Value& value : values) {
        seed = seed * 1664525U + 1013904223U;
        value = static_cast<Value>(static_cast<int32_t>(seed) >> (sizeof(Value) == 2 ? 16 : 0));
    }
    return bytes_of(values);
}

TfliteModel make_transform(bool inverse, int8_t type, int length)
{
    const int from = inverse ? length + 2 : length, to = inverse ? length : length + 2;
    return make_model(inverse ? "SignalIrfft" : "SignalRfft", {{"T", type}, {"fft_length", length}},
                      {{"x", {from}, type}}, {{"y", {to}, type}});
}

TEST_F(TfliteFrontEndTest, TransformsAreKissfftsInFixedPoint)
{
    const struct
    {
        int bits, length;
        uint32_t forward, backward;
    } known[] = {
        {16, 2, 0x24619e5d, 0xfad69544},   {16, 6, 0xa094caae, 0x8f4c7cfa},
        {16, 10, 0x68ab4b91, 0xfd5034d2},  {16, 14, 0x911ea034, 0x7ae9e3d7},
        {16, 20, 0x041c1c7c, 0x89a1a3ef},  {16, 24, 0x6e60b513, 0xc6065e17},
        {16, 30, 0x0315684d, 0x05bfadc8},  {16, 60, 0x84540c71, 0xaf126bb3},
        {16, 64, 0x8313905d, 0xb9b0ea2d},  {16, 98, 0xeba26287, 0x694c666f},
        {16, 120, 0xb1c8ae78, 0xe0606c79}, {16, 242, 0xb2957be3, 0x6b98f546},
        {16, 512, 0x2cfd2ef2, 0x9cf735be}, {32, 2, 0xe7368921, 0x3b5840d1},
        {32, 6, 0xd2709b7b, 0x5b678f8d},   {32, 10, 0x7b2f045e, 0x9d17015e},
        {32, 14, 0xb7660186, 0x4cb1dd64},  {32, 20, 0x9028abc9, 0x849805db},
        {32, 24, 0xc7efaf03, 0xe3801838},  {32, 30, 0x493e7903, 0xc32479c1},
        {32, 60, 0xfde7d25d, 0xd484ae5a},  {32, 64, 0x6db9c5dc, 0xdbfba24b},
        {32, 98, 0x8a7c0080, 0xda5d42e5},  {32, 120, 0x7ac772cc, 0xcce7d893},
        {32, 242, 0x8fdd743e, 0xe89e0e36}, {32, 512, 0x19a160d3, 0x22a93e14},
    };
    for (const auto& [bits, length, forward, backward] : known)
        for (const bool inverse : {false, true}) {
            const int number = inverse ? length + 2 : length;
            const std::string input =
                bits == 16 ? random_bytes<int16_t>(number) : random_bytes<int32_t>(number);
            begin(make_transform(inverse, bits == 16 ? kTfliteInt16 : kTfliteInt32, length));
            EXPECT_EQ(hash(step(input)[0]), inverse ? backward : forward)
                << bits << " bits, length " << length << (inverse ? ", inverse" : "");
        }
}

// Lines along the last axis, which zeros complete.
TEST_F(TfliteFrontEndTest, ShortLinesEndWithZeros)
{
    begin(make_model("SignalRfft", {{"T", kTfliteInt16}, {"fft_length", 64}},
                     {shorts("x", {2, 2, 3})}, {shorts("y", {2, 2, 66})}));
    const Shorts result = step_shorts({16384, 0, 0, 16384, 0, 0, 16384, 0, 0, 16384, 0, 0});
    ASSERT_EQ(result.size(), 264U);
    for (size_t i = 0; i < result.size(); ++i)
        EXPECT_EQ(result[i], i % 2 == 0 ? 256 : 0) << i;
}

TEST_F(TfliteFrontEndTest, FloatTransformsAreThoseOfTheDefinition)
{
    constexpr int kLength = 12;
    std::vector<float> samples(kLength), expected(kLength + 2);
    for (int i = 0; i < kLength; ++i)
        samples[static_cast<size_t>(i)] = static_cast<float>((i * 5 + 3) % 7) - 3;
    for (int k = 0; k <= kLength / 2; ++k)
        for (int i = 0; i < kLength; ++i) {
            const double angle = -2 * 3.14159265358979323846 * k * i / kLength;
            const auto place = static_cast<size_t>(2 * k), sample = static_cast<size_t>(i);
            expected[place] += samples[sample] * static_cast<float>(std::cos(angle));
            expected[place + 1] += samples[sample] * static_cast<float>(std::sin(angle));
        }
    begin(make_transform(false, kTfliteFloat, kLength));
    const std::string spectrum = step(bytes_of(samples))[0];
    EXPECT_THAT(values_of<float>(spectrum),
                testing::Pointwise(testing::FloatNear(1e-4f), expected));
    begin(make_transform(true, kTfliteFloat, kLength));
    EXPECT_THAT(values_of<float>(step(spectrum)[0]),
                testing::Pointwise(testing::FloatNear(1e-5f), samples));
}

TEST_F(TfliteFrontEndTest, RefusesOtherLengths)
{
    TfliteModel model = make_transform(false, kTfliteInt16, 16);
    model.operators[0].custom_options = encode_map({{"T", kTfliteInt16}, {"fft_length", 15}});
    expect_refusal(model, TENGINE_ERANGE, "fft_length is 15, expected an even number");
    model.operators[0].custom_options = encode_map({{"T", kTfliteInt16}, {"fft_length", 8}});
    expect_refusal(model, TENGINE_EINVAL, "16 elements along its last axis, expected at most 8");
    model.operators[0].custom_options = encode_map({{"T", kTfliteInt16}});
    expect_refusal(model, TENGINE_EFORMAT, "it has no option 'fft_length'");
    for (const int length : {0, -2, 1 << 30}) {
        model.operators[0].custom_options =
            encode_map({{"T", kTfliteInt16}, {"fft_length", length}});
        EXPECT_FALSE(prepare(model)) << length;
    }
    model = make_transform(true, kTfliteInt32, 16);
    model.tensors[0].shape = {16};
    expect_refusal(model, TENGINE_EINVAL, "expected exactly 18");
    model = make_transform(true, kTfliteFloat, 16);
    model.tensors[0].shape = {16};
    expect_refusal(model, TENGINE_EINVAL, "expected an even number, and exactly 18");
    model = make_transform(false, kTfliteInt8, 16);
    EXPECT_FALSE(prepare(model));
}

// ---- operators without states ----

TEST_F(TfliteFrontEndTest, Window)
{
    const auto make = [](int size, int shift, const Shorts& weights) {
        return make_model("SignalWindow", {{"shift", shift}},
                          {shorts("x", {2, size}), shorts("w", {size}, weights)},
                          {shorts("y", {2, size})});
    };
    begin(make(5, 12, {0xF00, 0xE00, 0xD00, 0xC00, 0xB00}));
    EXPECT_EQ(step_shorts({0x000, 0x100, 0x200, 0x300, 0x400, 0, 256, 512, 768, 1024}),
              (Shorts{0, 224, 416, 576, 704, 0, 224, 416, 576, 704}));
    // Shifts round down, and results stop at the ends.
    for (const int shift : {0, 1, 8, 15, 30, 31}) {
        const Shorts weights = {-32768, 32767, -1, 3, 9100};
        const Shorts input = {-32768, -32768, 1, -3, 9531, 32767, 32767, -5, 7, -9531};
        begin(make(5, shift, weights));
        Shorts expected;
        for (size_t i = 0; i < input.size(); ++i) {
            const double product = double{static_cast<double>(input[i])} * weights[i % 5];
            const double shifted = std::floor(std::ldexp(product, -shift));
            expected.push_back(
                static_cast<int16_t>(std::max(-32768.0, std::min(32767.0, shifted))));
        }
        EXPECT_EQ(step_shorts(input), expected) << shift;
    }
    TfliteModel model = make(5, 32, {1, 2, 3, 4, 5});
    EXPECT_FALSE(prepare(model));
    model = make(5, 12, {1, 2, 3, 4, 5});
    model.tensors[0].shape = {2, 4};
    expect_refusal(model, TENGINE_EINVAL, "4 elements along the last axis and its weights have 5");
}

TEST_F(TfliteFrontEndTest, AutoScale)
{
    const TfliteModel model = make_model("SignalFftAutoScale", {}, {shorts("x", {4})},
                                         {shorts("y", {4}), {"s", {}, kTfliteInt32}});
    const auto expect = [&](const Shorts& input, const Shorts& output, int32_t bits) {
        begin(model);
        const auto results = step(bytes_of(input));
        EXPECT_EQ(values_of<int16_t>(results[0]), output);
        EXPECT_EQ(values_of<int32_t>(results[1])[0], bits);
    };
    expect({0, 0, 0, 0}, {0, 0, 0, 0}, 15);
    expect({1, -1, 0, 0}, {16384, -16384, 0, 0}, 14);
    expect({100, -255, 3, 7}, {12800, -32640, 384, 896}, 7);
    expect({16383, 0, -1, 2}, {32766, 0, -2, 4}, 1);
    expect({16384, 0, -1, 2}, {16384, 0, -1, 2}, 0);
    expect({1, 2, 3, -32768}, {1, 2, 3, -32768}, 0);
    // The magnitude of -32768 is not in int16: a sample after it counts alone.
    expect({1, 2, -32768, 3}, {8192, 16384, 0, 24576}, 13);
}

TEST_F(TfliteFrontEndTest, Energy)
{
    const auto make = [](int begin, int end) {
        return make_model("SignalEnergy", {{"start_index", begin}, {"end_index", end}},
                          {shorts("x", {10})}, {words("y", {5})});
    };
    begin(make(1, 4));
    EXPECT_EQ(
        values_of<uint32_t>(step(bytes_of(Shorts{9, 9, 3, -4, -32768, -32768, 32767, 0, 1, 1}))[0]),
        (Words{0, 25, 2147483648U, 1073676289U, 0}));
    for (const auto& [from, to] : {std::pair(4, 4), std::pair(3, 6), std::pair(-1, 3)})
        EXPECT_FALSE(prepare(make(from, to)));
    expect_refusal(make(3, 6), TENGINE_EINVAL, "its range is 3 to 6 and its input has 5 pairs");
}

TfliteModel make_filter_bank(const Shorts& starts, const Shorts& weight_starts,
                             const Shorts& widths)
{
    return make_model(
        "SignalFilterBank", {{"num_channels", 2}},
        {words("x", {6}), shorts("w", {4}, {2, -3, 4, 5}), shorts("u", {4}, {10, 20, 30, 40}),
         shorts("s", {3}, starts), shorts("p", {3}, weight_starts), shorts("n", {3}, widths)},
        {{"y", {2}, kTfliteUint64}});
}

TEST_F(TfliteFrontEndTest, FilterBank)
{
    begin(make_filter_bank({1, 2, 4}, {0, 1, 3}, {1, 2, 1}));
    const Words input = {9, 4294967295U, 2, 3, 5, 9};
    // The first channel is given what the one before it leaves.
    const uint64_t first = 10ULL * 4294967295U + 4 * 3 - 3 * 2;
    EXPECT_EQ(values_of<uint64_t>(step(bytes_of(input))[0]),
              (std::vector<uint64_t>{first, 20 * 2 + 30 * 3 + 5 * 5}));
    for (const Shorts& starts : {Shorts{1, 5, 4}, Shorts{1, -1, 4}, Shorts{1, 2, 6}}) {
        TfliteModel model = make_filter_bank(starts, {0, 1, 3}, {1, 2, 1});
        ASSERT_TRUE(prepare(model)) << get_tengine_error();
        Words fed = input;
        EXPECT_EQ(set_tensor_buffer(tengine_graph_get_input(graph_, 0), fed.data(), 24), 0);
        EXPECT_LT(run_graph(graph_, 1), 0);
        EXPECT_THAT(get_tengine_error(), testing::HasSubstr("there are 6 energies and 4 weights"));
    }
    TfliteModel model = make_filter_bank({1, 2, 4}, {0, 1, 3}, {1, 2, 1});
    model.operators[0].custom_options = encode_map({{"num_channels", 32}});
    expect_refusal(model, TENGINE_EINVAL, "has 3 elements, expected num_channels + 1, 33");
}

// A result r stands for (r - 1/2)^2 to (r + 1/2)^2.
TEST_F(TfliteFrontEndTest, SquareRoot)
{
    const std::vector<uint64_t> input = {0,
                                         1,
                                         2,
                                         3,
                                         6,
                                         7,
                                         4294836225,
                                         4294901760,
                                         4294901761,
                                         4294967295,
                                         4294967296,
                                         5645104312,
                                         uint64_t{1} << 53,
                                         (uint64_t{1} << 62) + 12345,
                                         UINT64_MAX};
    const auto number = static_cast<int32_t>(input.size());
    const auto make = [&](int32_t shift) {
        return make_model("SignalFilterBankSquareRoot", {},
                          {{"x", {number}, kTfliteUint64},
                           {"s", {}, kTfliteInt32, bytes_of(std::vector<int32_t>{shift})}},
                          {words("y", {number})});
    };
    begin(make(0));
    const Words roots = values_of<uint32_t>(step(bytes_of(input))[0]);
    for (size_t i = 0; i < input.size(); ++i) {
        const uint64_t root = roots[i];
        const bool is_largest = root == (input[i] >> 32 == 0 ? 0xffffU : 0xffffffffU);
        EXPECT_GE(input[i], root * root - root + (root > 0)) << input[i];
        EXPECT_TRUE(input[i] <= root * root + root || is_largest) << input[i];
    }
    begin(make(7));
    const Words shifted = values_of<uint32_t>(step(bytes_of(input))[0]);
    for (size_t i = 0; i < input.size(); ++i)
        EXPECT_EQ(shifted[i], roots[i] >> 7);
    for (const int32_t shift : {-1, 32}) {
        ASSERT_TRUE(prepare(make(shift))) << get_tengine_error();
        std::vector<uint64_t> fed = input;
        EXPECT_EQ(set_tensor_buffer(tengine_graph_get_input(graph_, 0), fed.data(), 8 * number), 0);
        EXPECT_LT(run_graph(graph_, 1), 0);
        EXPECT_THAT(get_tengine_error(), testing::HasSubstr("expected 0 to 31"));
    }
}

TEST_F(TfliteFrontEndTest, GainControl)
{
    const Shorts gains = {
        32636, 32633,  32630, -6,    0,    -21589, 32624, -12,   0,    -21589, 32612, -23,
        -2,    -21589, 32587, -48,   0,    -21589, 32539, -96,   0,    -21589, 32443, -190,
        0,     -21589, 32253, -378,  4,    -21589, 31879, -739,  18,   -21589, 31158, -1409,
        62,    -21589, 29811, -2567, 202,  -21589, 27446, -4301, 562,  -21589, 23707, -6265,
        1230,  -21589, 18672, -7458, 1952, -21589, 13166, -7030, 2212, -21589, 8348,  -5342,
        1868,  -21589, 4874,  -3459, 1282, -21589, 2697,  -2025, 774,  -21589, 1446,  -1120,
        436,   -21589, 762,   -596,  232,  -21589, 398,   -313,  122,  -21589, 207,   -164,
        64,    -21589, 107,   -85,   34,   -21589, 56,    -45,   18,   -21589, 29,    -22,
        8,     -21589, 15,    -13,   6,    -21589, 8,     -8,    4,    -21589, 4,     -2,
        0,     -21589, 2,     -3,    2,    -21589, 1,     0,     0,    -21589, 1,     -3,
        2,     -21589, 0,     0,     0};
    const Words signal = {286, 298, 305, 291, 290, 279, 273, 257, 250, 240, 240, 233, 234, 230,
                          221, 205, 183, 159, 156, 188, 239, 298, 345, 374, 380, 369, 359, 364,
                          372, 354, 302, 243, 194, 135, 64,  72,  171, 245, 277, 304};
    const Words noise = {7310, 18308, 7796, 17878, 7413, 17141, 6978, 15789, 6390, 14745,
                         6135, 14314, 5981, 14130, 5649, 12594, 4677, 9768,  3987, 11550,
                         6109, 18308, 8819, 22977, 9713, 22670, 9176, 22363, 9509, 21748,
                         7719, 14929, 4959, 8294,  1636, 4423,  4371, 15052, 7080, 18677};
    const Words expected = {1301, 836, 1354, 827, 1312, 811, 1263, 779, 1192, 753,
                            1160, 743, 1140, 738, 1096, 698, 956,  607, 845,  667,
                            1157, 836, 1461, 912, 1546, 908, 1496, 904, 1527, 895,
                            1346, 758, 999,  548, 378,  344, 908,  761, 1274, 843};
    ASSERT_EQ(gains.size(), 125U);
    TfliteModel model = make_model(
        "SignalPCAN", {{"snr_shift", 6}},
        {words("x", {40}), {"n", {40}, kTfliteUint32, bytes_of(noise)}, shorts("g", {125}, gains)},
        {words("y", {40})});
    begin(model);
    EXPECT_EQ(values_of<uint32_t>(step(bytes_of(signal))[0]), expected);
    model.tensors[2] = shorts("g", {124}, Shorts(gains.begin(), gains.end() - 1));
    expect_refusal(model, TENGINE_EINVAL, "the table 124 gains");
}

// Tables that are not of gains: any number is a result.
TEST_F(TfliteFrontEndTest, GainControlOfAnyTable)
{
    Words noise;
    for (uint32_t i = 0; i < 32; ++i)
        noise.insert(noise.end(), {(1U << i) - 1, 1U << i, (1U << i) + (1U << i) / 3});
    const auto number = static_cast<int32_t>(noise.size());
    for (const int16_t gain : {INT16_MIN, INT16_MAX}) {
        begin(make_model("SignalPCAN", {{"snr_shift", 0}},
                         {words("x", {number}),
                          {"n", {number}, kTfliteUint32, bytes_of(noise)},
                          shorts("g", {125}, Shorts(125, gain))},
                         {words("y", {number})}));
        step(bytes_of(Words(noise.size(), UINT32_MAX)));
    }
}

TEST_F(TfliteFrontEndTest, Log)
{
    const Words input = {29, 21, 29, 40, 19, 11, 13, 23, 13, 11, 25, 17, 5,  4,  46, 14,
                         17, 14, 20, 14, 10, 10, 15, 11, 17, 12, 15, 16, 19, 18, 6,  2};
    begin(make_model("SignalFilterBankLog", {{"output_scale", 1600}, {"input_correction_bits", 3}},
                     {words("x", {32})}, {shorts("y", {32})}));
    EXPECT_EQ(values_of<int16_t>(step(bytes_of(input))[0]),
              (Shorts{8715, 8198, 8715, 9229, 8038, 7164, 7431, 8344, 7431, 7164, 8477,
                      7860, 5902, 5545, 9453, 7550, 7860, 7550, 8120, 7550, 7011, 7011,
                      7660, 7164, 7860, 7303, 7660, 7763, 8038, 7952, 6194, 4436}));
    begin(make_model("SignalFilterBankLog", {{"output_scale", 32768}, {"input_correction_bits", 5}},
                     {words("x", {16})}, {shorts("y", {16})}));
    EXPECT_EQ(values_of<int16_t>(step(bytes_of(
                  Words{48, 20, 19, 24, 35, 47, 23, 30, 31, 10, 48, 21, 46, 14, 18, 27}))[0]),
              (Shorts{32767, 15121, 13440, 21095, 32767, 32767, 19701, 28407, 29482, 32767, 32767,
                      16720, 32767, 3434, 11669, 24955}));
    begin(make_model("SignalFilterBankLog", {{"output_scale", 100}, {"input_correction_bits", 0}},
                     {words("x", {4})}, {shorts("y", {4})}));
    EXPECT_EQ(values_of<int16_t>(step(bytes_of(Words{0, 1, UINT32_MAX, 65536}))[0]),
              (Shorts{0, 0, 2218, 1109}));
}

TEST_F(TfliteFrontEndTest, DamagedFiles)
{
    expect_bounds(make_filter_bank({1, 2, 4}, {0, 1, 3}, {1, 2, 1}));
}

}  // namespace
}  // namespace tengine::test
