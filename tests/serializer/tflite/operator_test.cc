// SPDX-License-Identifier: Apache-2.0
// Single operators of TensorFlow Lite that the shared data have no file of, or no file with these
// operands, and operands that must be refused. Results are calculated by hand.
#include <cfloat>
#include <climits>
#include <cstring>

#include "serializer/tflite/model_test.h"

namespace tengine::test {
namespace {

using Option = TfliteOperator::Option;

struct OperatorCase
{
    const char* name;
    int code;
    std::vector<TfliteTensor> inputs;  // those with values are constants
    std::vector<TfliteTensor> outputs;
    std::vector<Option> options;
    std::vector<std::string> fed;      // inputs
    std::vector<std::string> results;  // outputs
};

TfliteModel make_model(int code, const std::vector<TfliteTensor>& inputs,
                       const std::vector<TfliteTensor>& outputs, const std::vector<Option>& options)
{
    TfliteModel model;
    TfliteOperator op;
    op.code = code;
    op.options = options;
    for (const TfliteTensor& tensor : inputs) {
        const auto index = static_cast<int32_t>(model.tensors.size());
        op.inputs.push_back(index);
        if (tensor.values.empty()) model.inputs.push_back(index);
        model.tensors.push_back(tensor);
    }
    for (const TfliteTensor& tensor : outputs) {
        const auto index = static_cast<int32_t>(model.tensors.size());
        op.outputs.push_back(index);
        model.outputs.push_back(index);
        model.tensors.push_back(tensor);
    }
    model.operators = {op};
    return model;
}

std::string floats(const std::vector<float>& values)
{
    return bytes_of<float>(values);
}

// The word of an option.
int32_t word_of(float value)
{
    int32_t word = 0;
    std::memcpy(&word, &value, sizeof word);
    return word;
}

std::string ints(const std::vector<int32_t>& values)
{
    return bytes_of<int32_t>(values);
}

TfliteTensor constant(const char* name, std::vector<int32_t> shape,
                      const std::vector<int32_t>& values)
{
    return {name, std::move(shape), kTfliteInt32, ints(values)};
}

TfliteTensor number(const char* name, float value)
{
    return {name, {}, kTfliteFloat, floats({value})};
}

constexpr int kGather = 36, kTransposeConv = 67, kSparseToDense = 68, kFakeQuant = 80,
              kMatrixDiag = 113, kQuantize = 114, kMatrixSetDiag = 115, kSuppression4 = 120,
              kSuppression5 = 121, kLeakyRelu = 98, kHardSwish = 117, kSegmentSum = 125,
              kRfft = 131, kReal = 134, kConv3dTranspose = 141, kBroadcastArgs = 145, kNormal = 146,
              kBucketize = 147, kMultinomial = 149, kUpdateSlice = 151, kSegmentProd = 153,
              kSegmentMax = 154, kSegmentMin = 157, kBitcast = 159, kDilate = 203;

const TfliteTensor kBoxes = {"boxes", {3, 4}}, kScores = {"scores", {3}};

// The results are those of LiteRT 2.5.3, whose integers differ from the rounded real values.
const std::vector<OperatorCase> kFunctionsOfBytes = {
    {"leaky relu",
     kLeakyRelu,
     {{"x", {6}, kTfliteInt8, {}, {0.05463477596640587f}, {-10}}},
     {{"y", {6}, kTfliteInt8, {}, {0.03435983136296272f}, {-90}}},
     {{0, 4, word_of(0.2f)}},
     {bytes_of<int8_t>({-128, -100, -62, -10, 40, 79})},
     {bytes_of<int8_t>({-127, -118, -106, -90, -11, 51})}},
    {"leaky relu whose factor is too large for XNNPACK",
     kLeakyRelu,
     {{"x", {4}, kTfliteInt8, {}, {1.0f}, {0}}},
     {{"y", {4}, kTfliteInt8, {}, {0.0078125f}, {0}}},
     {{0, 4, word_of(-2.0f)}},
     {bytes_of<int8_t>({-128, 0, 1, 127})},
     {bytes_of<int8_t>({127, 0, 127, 127})}},
    {"hard swish",
     kHardSwish,
     {{"x", {4}, kTfliteInt8, {}, {0.1884274184703827f}, {5}}},
     {{"y", {4}, kTfliteInt8, {}, {0.09164731204509735f}, {-124}}},
     {},
     {bytes_of<int8_t>({-128, 2, 5, 32})},
     {bytes_of<int8_t>({-124, -126, -124, -69})}},
};

const std::vector<OperatorCase> kScattered = {
    {"segment_sum",
     kSegmentSum,
     {{"x", {4, 2}}, constant("ids", {4}, {0, 0, 1, 3})},
     {{"y", {4, 2}}},
     {},
     {floats({1, 2, 3, 4, 5, 6, 7, 8})},
     {floats({4, 6, 5, 6, 0, 0, 7, 8})}},
    {"segment_sum of ids that are fed",
     kSegmentSum,
     {{"x", {3}}, {"ids", {3}, kTfliteInt32}},
     {{"y", {2}}},
     {},
     {floats({1, 2, 4}), ints({0, 1, 1})},
     {floats({1, 6})}},
    {"largest, without that of a negative id",
     kSegmentMax,
     {{"x", {4}}, constant("ids", {4}, {1, -1, 1, 0}), constant("n", {}, {3})},
     {{"y", {3}}},
     {},
     {floats({1, 9, 3, 4})},
     {floats({4, 3, -FLT_MAX})}},
    {"smallest integer",
     kSegmentMin,
     {{"x", {3}, kTfliteInt32}, constant("ids", {3}, {0, 0, 2}), constant("n", {}, {3})},
     {{"y", {3}, kTfliteInt32}},
     {},
     {ints({5, -7, 2})},
     {ints({-7, INT_MAX, 2})}},
    {"product of pairs",
     kSegmentProd,
     {{"x", {2, 2}}, constant("ids", {2, 2}, {0, 1, 0, 1}), constant("n", {1}, {2})},
     {{"y", {2}}},
     {},
     {floats({2, 3, 5, 7})},
     {floats({10, 21})}},
    {"integers of 32 bits with a scale, as integers of 16 bits with another",
     kQuantize,
     {{"x", {4}, kTfliteInt32, {}, {0.25f}, {0}}},
     {{"y", {4}, kTfliteInt16, {}, {0.5f}, {0}}},
     {},
     {ints({4, -6, 3, 1000000})},
     {bytes_of<int16_t>({2, -3, 2, 32767})}},
    {"diagonal",
     kMatrixDiag,
     {{"x", {2}}},
     {{"y", {2, 2}}},
     {},
     {floats({3, 4})},
     {floats({3, 0, 0, 4})}},
    {"diagonal of a wide matrix",
     kMatrixSetDiag,
     {{"x", {2, 3}}, {"d", {2}}},
     {{"y", {2, 3}}},
     {},
     {floats({1, 2, 3, 4, 5, 6}), floats({8, 9})},
     {floats({8, 2, 3, 4, 9, 6})}},
    {"update that is moved into the input",
     kUpdateSlice,
     {{"x", {3, 3}}, {"u", {2, 1}}, {"start", {2}, kTfliteInt32}},
     {{"y", {3, 3}}},
     {},
     {floats({0, 0, 0, 0, 0, 0, 0, 0, 0}), floats({1, 2}), ints({5, -2})},
     {floats({0, 0, 0, 1, 0, 0, 2, 0, 0})}},
    {"update of the whole input",
     kUpdateSlice,
     {{"x", {2}}, {"u", {2}}, {"start", {1}, kTfliteInt32}},
     {{"y", {2}}},
     {},
     {floats({1, 2}), floats({3, 4}), ints({1})},
     {floats({3, 4})}},
    {"places in a matrix with one value",
     kSparseToDense,
     {constant("i", {2, 2}, {0, 1, 1, 0}),
      constant("shape", {2}, {2, 2}),
      {"v", {}},
      number("other", -1)},
     {{"y", {2, 2}}},
     {},
     {floats({5})},
     {floats({-1, 5, 5, -1})}},
    {"dilation",
     kDilate,
     {{"x", {2, 2}}, constant("d", {2}, {2, 3}), number("gap", 9)},
     {{"y", {3, 4}}},
     {},
     {floats({1, 2, 3, 4})},
     {floats({1, 9, 9, 2, 9, 9, 9, 9, 3, 9, 9, 4})}},
};

const std::vector<OperatorCase> kOthers = {
    // Three steps of 2 / 3 from -1 become those from -4 / 3.
    {"fake quantisation",
     kFakeQuant,
     {{"x", {4}}},
     {{"y", {4}}},
     {{0, 4, word_of(-1.0f), {}}, {1, 4, word_of(1.0f), {}}, {2, 4, 2, {}}},
     {floats({-9, -0.5f, 0.2f, 9})},
     {floats({-4 / 3.0f, -2 / 3.0f, 0, 2 / 3.0f})}},
    {"buckets",
     kBucketize,
     {{"x", {4}}},
     {{"y", {4}, kTfliteInt32}},
     {{0, 0, 0, {word_of(0.0f), word_of(10.0f)}}},
     {floats({-1, 0, 9, 10})},
     {ints({0, 1, 1, 2})}},
    {"bits of another size",
     kBitcast,
     {{"x", {2}}},
     {{"y", {2, 2}, kTfliteInt16}},
     {},
     {floats({1, -2})},
     {bytes_of<uint16_t>({0, 0x3f80, 0, 0xc000})}},
    {"shapes",
     kBroadcastArgs,
     {{"a", {3}, kTfliteInt32}, {"b", {2}, kTfliteInt32}},
     {{"y", {3}, kTfliteInt32}},
     {},
     {ints({2, 1, 5}), ints({4, 1})},
     {ints({2, 4, 5})}},
    {"gather behind the batch",
     kGather,
     {{"x", {2, 1, 2}}, {"i", {2, 2}, kTfliteInt32}},
     {{"y", {2, 1, 2}}},
     {{0, 4, 2, {}}, {1, 4, 1, {}}},
     {floats({1, 2, 3, 4}), ints({1, 0, 1, 1})},
     {floats({2, 1, 4, 4})}},
    {"boxes",
     kSuppression4,
     {kBoxes, kScores, constant("most", {}, {4}), number("overlap", 0.5f), number("least", 0.1f)},
     {{"i", {4}, kTfliteInt32}, {"n", {}, kTfliteInt32}},
     {},
     {floats({0, 0, 1, 1, 0, 0.1f, 1, 1.1f, 0, 5, 1, 6}), floats({0.5f, 0.9f, 0.2f})},
     {ints({1, 2, 0, 0}), ints({2})}},
    {"boxes with scores",
     kSuppression5,
     {kBoxes, kScores, constant("most", {}, {2}), number("overlap", 0.5f), number("least", 0.3f),
      number("sigma", 0)},
     {{"i", {2}, kTfliteInt32}, {"s", {2}}, {"n", {}, kTfliteInt32}},
     {},
     {floats({0, 0, 1, 1, 0, 0.1f, 1, 1.1f, 0, 5, 1, 6}), floats({0.5f, 0.75f, 0.2f})},
     {ints({1, 0}), floats({0.75f, 0}), ints({1})}},
    {"volumes",
     kConv3dTranspose,
     {constant("shape", {5}, {1, 1, 1, 4, 1}),
      {"w", {1, 1, 2, 1, 1}, kTfliteFloat, floats({10, 1})},
      {"x", {1, 1, 1, 2, 1}}},
     {{"y", {1, 1, 1, 4, 1}}},
     {{0, 1, 1, {}}, {1, 4, 1, {}}, {2, 4, 2, {}}, {3, 4, 1, {}}},
     {floats({1, 2})},
     {floats({10, 1, 20, 2})}},
    {"transposed window of a shape that is fed",
     kTransposeConv,
     {{"shape", {4}, kTfliteInt32},
      {"w", {1, 1, 3, 1}, kTfliteFloat, floats({1, 10, 100})},
      {"x", {1, 1, 2, 1}}},
     {{"y", {1, 1, 5, 1}}},
     {{0, 1, 1, {}}, {1, 4, 2, {}}, {2, 4, 1, {}}},
     {ints({1, 1, 5, 1}), floats({1, 2})},
     {floats({1, 10, 102, 20, 200})}},
};

class TfliteOperatorTest : public TfliteModelTest
{
};

TEST_F(TfliteOperatorTest, Results)
{
    std::vector<OperatorCase> cases = kScattered;
    cases.insert(cases.end(), kFunctionsOfBytes.begin(), kFunctionsOfBytes.end());
    cases.insert(cases.end(), kOthers.begin(), kOthers.end());
    for (const OperatorCase& entry : cases) {
        SCOPED_TRACE(entry.name);
        const auto model = make_model(entry.code, entry.inputs, entry.outputs, entry.options);
        const std::vector<std::string> results = run(model, entry.fed);
        ASSERT_EQ(results.size(), entry.results.size());
        for (size_t i = 0; i < results.size(); ++i) {
            if (entry.outputs[i].type == kTfliteFloat)
                EXPECT_THAT(values_of<float>(results[i]),
                            testing::Pointwise(testing::FloatNear(1e-5f),
                                               values_of<float>(entry.results[i])));
            else
                EXPECT_EQ(results[i], entry.results[i]);
        }
    }
}

// x = 0 1 0 0: the spectrum is 1, -i, -1.
TEST_F(TfliteOperatorTest, PartsOfASpectrum)
{
    TfliteModel model;
    model.tensors = {{"x", {1, 4}},
                     {"lengths", {2}, kTfliteInt32, ints({1, 4})},
                     {"spectrum", {1, 3}, kTfliteComplex},
                     {"squeezed", {3}, kTfliteComplex},
                     {"real", {3}},
                     {"imaginary", {3}},
                     {"size", {3}}};
    constexpr int kSqueeze = 43, kImag = 133, kAbs = 135;
    model.operators = {{kRfft, {0, 1}, {2}},
                       {kSqueeze, {2}, {3}, {{0, 0, 0, {-2}}}},
                       {kReal, {3}, {4}},
                       {kImag, {3}, {5}},
                       {kAbs, {3}, {6}}};
    model.inputs = {0};
    model.outputs = {2, 4, 5, 6};
    const auto results = run(model, {floats({0, 1, 0, 0})});
    ASSERT_EQ(results.size(), 4U);
    const auto is = [](std::vector<float> expected) {
        return testing::Pointwise(testing::FloatNear(1e-6f), expected);
    };
    EXPECT_THAT(values_of<float>(results[0]), is({1, 0, 0, -1, -1, 0}));
    EXPECT_THAT(values_of<float>(results[1]), is({1, 0, -1}));
    EXPECT_THAT(values_of<float>(results[2]), is({0, -1, 0}));
    EXPECT_THAT(values_of<float>(results[3]), is({1, 1, 1}));
}

// The elements of x above 2, doubled; their number is that of the run.
TEST_F(TfliteOperatorTest, SizesThatDependOnData)
{
    constexpr int kAdd = 0, kGreater = 61, kGatherNd = 107, kWhere = 109;
    TfliteModel model;
    model.tensors = {{"x", {4}},
                     {"two", {}, kTfliteFloat, floats({2})},
                     {"above", {4}, kTfliteBool},
                     {"places", {1, 1}, kTfliteInt64},
                     {"taken", {1}},
                     {"y", {1}}};
    model.operators = {
        {kGreater, {0, 1}, {2}}, {kWhere, {2}, {3}}, {kGatherNd, {0, 3}, {4}}, {kAdd, {4, 4}, {5}}};
    model.inputs = {0};
    model.outputs = {5};
    auto results = run(model, {floats({3, 1, 5, 2})});
    ASSERT_EQ(results.size(), 1U);
    EXPECT_THAT(values_of<float>(results[0]), testing::ElementsAre(6, 10));
    results = run(model, {floats({0, 0, 0, 3})});
    ASSERT_EQ(results.size(), 1U);
    EXPECT_THAT(values_of<float>(results[0]), testing::ElementsAre(6));
}

// The chosen boxes themselves.
TEST_F(TfliteOperatorTest, BoxesByTheirIndices)
{
    TfliteModel model = make_model(kSuppression4,
                                   {kBoxes, kScores, constant("most", {}, {2}),
                                    number("overlap", 0.5f), number("least", 0.1f)},
                                   {{"i", {2}, kTfliteInt32}, {"n", {}, kTfliteInt32}}, {});
    model.tensors.push_back({"chosen", {2, 4}});
    model.operators.push_back({kGather, {0, 5}, {7}});
    model.outputs = {7, 6};
    const auto results = run(
        model, {floats({0, 0, 1, 1, 0, 0.1f, 1, 1.1f, 0, 5, 1, 6}), floats({0.5f, 0.9f, 0.2f})});
    ASSERT_EQ(results.size(), 2U);
    EXPECT_THAT(values_of<float>(results[0]), testing::ElementsAre(0, 0.1f, 1, 1.1f, 0, 5, 1, 6));
}

TEST_F(TfliteOperatorTest, RandomNumbersHaveTheShape)
{
    const auto model =
        make_model(kNormal, {constant("shape", {2}, {100, 100})}, {{"y", {100, 100}}}, {});
    const auto results = run(model, {});
    ASSERT_EQ(results.size(), 1U);
    const auto numbers = values_of<float>(results[0]);
    ASSERT_EQ(numbers.size(), 10000U);
    double sum = 0, squares = 0;
    for (const float value : numbers) {
        sum += static_cast<double>(value);
        squares += static_cast<double>(value) * static_cast<double>(value);
    }
    EXPECT_NEAR(sum / 10000, 0, 0.06);
    EXPECT_NEAR(squares / 10000, 1, 0.1);
}

struct RefusedCase
{
    int code;
    std::vector<TfliteTensor> inputs;
    std::vector<TfliteTensor> outputs;
    std::vector<Option> options;
    int status;
    const char* text;
};

const TfliteTensor kResult = {"y", {1}};

const std::vector<RefusedCase> kRefused = {
    {kGather,
     {{"x", {2, 3}}, {"i", {2, 2}, kTfliteInt32}},
     {kResult},
     {{0, 4, 0, {}}, {1, 4, 2, {}}},
     TENGINE_EINVAL,
     "batch_dims is 2"},
    {kGather,
     {{"x", {2, 3}}, {"i", {2}, kTfliteInt32}},
     {kResult},
     {{0, 4, 1, {}}, {1, 4, -9, {}}},
     TENGINE_EINVAL,
     "batch_dims is -8"},
    {kFakeQuant, {{"x", {2}}}, {kResult}, {{2, 4, 40, {}}}, TENGINE_ERANGE, "num_bits"},
    {kFakeQuant,
     {{"x", {2}}},
     {kResult},
     {{0, 4, word_of(1.0f), {}}, {1, 4, word_of(2.0f), {}}},
     TENGINE_ERANGE,
     "its range is 1 to 2"},
    {kDilate,
     {{"x", {2}}, constant("d", {1}, {0}), number("v", 0)},
     {kResult},
     {},
     TENGINE_ERANGE,
     "its dilation of axis 0"},
    {kDilate,
     {{"x", {2}}, constant("d", {1}, {INT_MAX}), number("v", 0)},
     {kResult},
     {},
     TENGINE_ERANGE,
     "its dilation of axis 0"},
    {kDilate,
     {{"x", {2}}, constant("d", {2}, {1, 1}), number("v", 0)},
     {kResult},
     {},
     TENGINE_EINVAL,
     "it has 2 dilations"},
    {kMatrixDiag, {{"x", {}}}, {kResult}, {}, TENGINE_EINVAL, "a scalar"},
    {kMatrixSetDiag,
     {{"x", {2, 2}}, {"d", {3}}},
     {kResult},
     {},
     TENGINE_EINVAL,
     "its diagonal rank 1 with 3"},
    {kMatrixSetDiag,
     {{"x", {2}}, {"d", {}}},
     {kResult},
     {},
     TENGINE_EINVAL,
     "its input has rank 1"},
    {kUpdateSlice,
     {{"x", {2}}, {"u", {3}}, {"s", {1}, kTfliteInt32}},
     {kResult},
     {},
     TENGINE_EINVAL,
     "axis 0 of its update has 3"},
    {kUpdateSlice,
     {{"x", {2}}, {"u", {1}}, {"s", {2}, kTfliteInt32}},
     {kResult},
     {},
     TENGINE_EINVAL,
     "and 2 starts"},
    {kSegmentSum,
     {{"x", {2}}, {"ids", {}, kTfliteInt32}},
     {kResult},
     {},
     TENGINE_EINVAL,
     "its ids have rank 0"},
    {kSegmentMax,
     {{"x", {2}, kTfliteInt16}, constant("ids", {2}, {0, 0}), constant("n", {}, {1})},
     {kResult},
     {},
     TENGINE_EDTYPE,
     "its data are int16"},
};

const std::vector<RefusedCase> kRefusedShapes = {
    {kSparseToDense,
     {{"i", {1, 1, 1}, kTfliteInt32}, constant("s", {1}, {2}), {"v", {1}}, number("d", 0)},
     {kResult},
     {},
     TENGINE_EINVAL,
     "its indices have rank 3"},
    {kSuppression4,
     {{"b", {3, 3}}, {"s", {3}}, constant("n", {}, {1}), number("o", 0), number("t", 0)},
     {kResult, {"n", {}, kTfliteInt32}},
     {},
     TENGINE_EINVAL,
     "expected [boxes, 4]"},
    {kMultinomial,
     {{"x", {1, 2}}, constant("n", {}, {0})},
     {{"y", {1, 1}, kTfliteInt32}},
     {},
     TENGINE_ERANGE,
     "its number of samples is 0"},
    {kRfft,
     {{"x", {4}}, constant("l", {2}, {1, 4})},
     {{"y", {3}, kTfliteComplex}},
     {},
     TENGINE_EINVAL,
     "its input has rank 1"},
    {kRfft,
     {{"x", {1, 4}}, constant("l", {2}, {1, -4})},
     {{"y", {3}, kTfliteComplex}},
     {},
     TENGINE_ERANGE,
     "dft_length is -4"},
    {kReal, {{"x", {4}}}, {{"y", {4}}}, {}, TENGINE_EDTYPE, "expected complex numbers"},
    {kBitcast,
     {{"x", {3}, kTfliteInt8}},
     {{"y", {1}, kTfliteInt32}},
     {},
     TENGINE_EINVAL,
     "a last axis of 4"},
    {kTransposeConv,
     {constant("s", {3}, {1, 1, 5}),
      {"w", {1, 1, 3, 1}, kTfliteFloat, floats({1, 1, 1})},
      {"x", {1, 1, 2, 1}}},
     {kResult},
     {{1, 4, 1, {}}, {2, 4, 1, {}}},
     TENGINE_EINVAL,
     "its output shape has 3"},
    {kConv3dTranspose,
     {constant("s", {5}, {1, 1, 1, 1, 7}),
      {"w", {1, 1, 1, 1, 1}, kTfliteFloat, floats({1})},
      {"x", {1, 1, 1, 1, 1}}},
     {kResult},
     {{1, 4, 1, {}}, {2, 4, 1, {}}, {3, 4, 1, {}}},
     TENGINE_EINVAL,
     "7 channels"},
    {kConv3dTranspose,
     {constant("s", {5}, {1, INT_MIN, 1, 1, 1}),
      {"w", {1, 1, 1, 1, 1}, kTfliteFloat, floats({1})},
      {"x", {1, 1, 1, 1, 1}}},
     {kResult},
     {{1, 4, 1, {}}, {2, 4, 1, {}}, {3, 4, 1, {}}},
     TENGINE_EINVAL,
     ""},
    {204,
     {{"x", {1}}},
     {kResult},
     {},
     TENGINE_EOPERATOR,
     "operator 0 is STABLEHLO_RNG_BIT_GENERATOR (code 204), version 1, which is not supported"},
    {5000, {{"x", {1}}}, {kResult}, {}, TENGINE_EOPERATOR, "newer than the library (code 5000)"},
};

TEST_F(TfliteOperatorTest, RefusedOperands)
{
    std::vector<RefusedCase> cases = kRefused;
    cases.insert(cases.end(), kRefusedShapes.begin(), kRefusedShapes.end());
    for (const RefusedCase& entry : cases) {
        SCOPED_TRACE(std::to_string(entry.code) + " " + entry.text);
        expect_refusal(make_model(entry.code, entry.inputs, entry.outputs, entry.options),
                       entry.status, entry.text);
    }
}

}  // namespace
}  // namespace tengine::test
