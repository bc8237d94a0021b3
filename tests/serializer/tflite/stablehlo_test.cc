// SPDX-License-Identifier: Apache-2.0
// StableHLO's operators. Results are calculated by hand.
#include <cmath>
#include <limits>

#include "serializer/tflite/model_test.h"

namespace tengine::test {
namespace {

using Option = TfliteOperator::Option;

Option longs(int field, std::vector<int32_t> list)
{
    return {field, -8, 0, std::move(list)};
}

Option number(int field, int32_t value)
{
    return {field, 8, value};
}

Option word(int field, int32_t value)
{
    return {field, 4, value};
}

std::string floats(const std::vector<float>& values)
{
    return bytes_of<float>(values);
}

std::string ints(const std::vector<int32_t>& values)
{
    return bytes_of<int32_t>(values);
}

TfliteTensor x(std::vector<int32_t> shape, std::string values = {}, int8_t type = kTfliteFloat)
{
    return {"", std::move(shape), type, std::move(values)};
}

// A subgraph of one operator of both inputs; none: its result is the second.
TfliteModel make_body(int code, const std::vector<Option>& options = {})
{
    TfliteModel body;
    body.tensors = {{"a", {}}, {"b", {}}, {"c", {}}};
    body.inputs = {0, 1};
    body.outputs = {code < 0 ? 1 : 2};
    TfliteOperator op;
    op.code = code;
    op.inputs = {0, 1};
    op.outputs = {2};
    op.options = options;
    if (code >= 0) body.operators = {op};
    return body;
}

class StablehloTest : public TfliteModelTest
{
  protected:
    TfliteModel make(int code, std::vector<TfliteTensor> inputs, TfliteTensor output,
                     const std::vector<Option>& options = {})
    {
        TfliteModel model;
        TfliteOperator op;
        op.code = code;
        op.options = options;
        for (TfliteTensor& tensor : inputs) {
            const auto index = static_cast<int32_t>(model.tensors.size());
            tensor.name = "input" + std::to_string(index);
            op.inputs.push_back(index);
            if (tensor.values.empty()) model.inputs.push_back(index);
            model.tensors.push_back(tensor);
        }
        output.name = "output";
        op.outputs = model.outputs = {static_cast<int32_t>(model.tensors.size())};
        model.tensors.push_back(std::move(output));
        model.operators = {op};
        return model;
    }

    std::vector<float> run_floats(const TfliteModel& model, const std::vector<std::string>& inputs)
    {
        const std::vector<std::string> results = run(model, inputs);
        return results.size() == 1 ? values_of<float>(results[0]) : std::vector<float>();
    }
};

struct Function
{
    int code;
    std::vector<float> results;  // of 1, -2.5 and of 2, 4
};

TEST_F(StablehloTest, FunctionsOfElements)
{
    const float e = std::exp(1.0f);
    const Function one[] = {{175, {1, 2.5f}},
                            {177, {std::cos(1.0f), std::cos(2.5f)}},
                            {178, {e, std::exp(-2.5f)}},
                            {179, {1, -3}},
                            {182, {-1, 2.5f}},
                            {189, {std::tanh(1.0f), std::tanh(-2.5f)}},
                            {162, {1 / (1 + 1 / e), 1 / (1 + std::exp(2.5f))}},
                            {208, {1, -std::cbrt(2.5f)}}};
    for (const Function& each : one) {
        SCOPED_TRACE(each.code);
        const auto result = run_floats(make(each.code, {x({2})}, x({2})), {floats({1, -2.5f})});
        ASSERT_EQ(result.size(), 2u);
        for (size_t i = 0; i < 2; ++i)
            EXPECT_NEAR(result[i], each.results[i], 1e-6);
    }
    const Function two[] = {{163, {3, 1.5f}},  {164, {0.5f, -0.625f}}, {165, {2, -10}},
                            {166, {2, 4}},     {181, {1, -2.5f}},      {184, {1, 39.0625f}},
                            {185, {1, -2.5f}}, {188, {-1, -6.5f}}};
    for (const Function& each : two) {
        SCOPED_TRACE(each.code);
        const auto result = run_floats(make(each.code, {x({2}), x({2})}, x({2})),
                                       {floats({1, -2.5f}), floats({2, 4})});
        EXPECT_EQ(result, each.results);
    }
}

TEST_F(StablehloTest, FunctionsOfIntegersAndBits)
{
    const auto take = [&](int code, int8_t type) {
        return make(code, {x({2}, "", type), x({2}, "", type)}, x({2}, "", type));
    };
    EXPECT_EQ(run(take(176, kTfliteInt32), {ints({12, 7}), ints({10, 8})})[0], ints({8, 0}));
    EXPECT_EQ(run(take(183, kTfliteInt32), {ints({12, 7}), ints({10, 8})})[0], ints({14, 15}));
    EXPECT_EQ(run(take(207, kTfliteInt32), {ints({3, -1}), ints({4, 31})})[0],
              ints({48, INT32_MIN}));
    EXPECT_EQ(run(take(185, kTfliteInt32), {ints({-7, 7}), ints({3, -3})})[0], ints({-1, 1}));
    const std::string a{0, 1}, b{1, 1};
    EXPECT_EQ(run(take(163, kTfliteBool), {a, b})[0], (std::string{1, 1}));
    EXPECT_EQ(run(take(165, kTfliteBool), {a, b})[0], a);
}

TEST_F(StablehloTest, ClampCompareSelectConvert)
{
    EXPECT_EQ(run_floats(make(168, {x({}, floats({-1})), x({3}), x({}, floats({2}))}, x({3})),
                         {floats({-3, 1, 5})}),
              (std::vector<float>{-1, 1, 2}));
    const char* expected[] = {"\0\1\0", "\1\0\1", "\0\1\1", "\0\0\1", "\1\1\0", "\1\0\0"};
    for (int direction = 0; direction < 6; ++direction)
        EXPECT_EQ(run(make(191, {x({3}), x({3})}, x({3}, "", kTfliteBool), {word(0, direction)}),
                      {floats({1, 2, 3}), floats({2, 2, 2})})[0],
                  std::string(expected[direction], 3));
    EXPECT_EQ(run(make(192, {x({3})}, x({3}, "", kTfliteInt32)), {floats({-1.5f, 0.9f, 7})})[0],
              ints({-1, 0, 7}));
    EXPECT_EQ(run_floats(make(187, {x({2}, "", kTfliteBool), x({2}), x({2})}, x({2})),
                         {std::string("\1\0", 2), floats({1, 2}), floats({3, 4})}),
              (std::vector<float>{1, 4}));
}

TEST_F(StablehloTest, ElementsThatMove)
{
    const std::string six = floats({1, 2, 3, 4, 5, 6});
    EXPECT_EQ(run_floats(make(170, {x({2})}, x({2, 3}), {longs(0, {0})}), {floats({1, 2})}),
              (std::vector<float>{1, 1, 1, 2, 2, 2}));
    EXPECT_EQ(run_floats(make(202, {x({2, 3})}, x({3, 2}), {longs(0, {1, 0})}), {six}),
              (std::vector<float>{1, 4, 2, 5, 3, 6}));
    EXPECT_EQ(run_floats(make(167, {x({2, 3})}, x({6})), {six}),
              (std::vector<float>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(run_floats(make(169, {x({1, 2}), x({1, 1})}, x({1, 3}), {number(0, 1)}),
                         {floats({1, 2}), floats({3})}),
              (std::vector<float>{1, 2, 3}));
    EXPECT_EQ(run_floats(make(172, {x({2, 3})}, x({1, 2}),
                              {longs(0, {1, 0}), longs(1, {2, 3}), longs(2, {1, 2})}),
                         {six}),
              (std::vector<float>{4, 6}));
    const auto start = [](int32_t value) { return x({}, ints({value}), kTfliteInt32); };
    // The second start, 7, is moved to 1.
    EXPECT_EQ(run_floats(make(193, {x({2, 3}), start(1), start(7)}, x({1, 2}), {longs(0, {1, 2})}),
                         {six}),
              (std::vector<float>{5, 6}));
    EXPECT_EQ(run_floats(make(194, {x({2, 3}), x({1, 2}), start(0), start(1)}, x({2, 3})),
                         {six, floats({8, 9})}),
              (std::vector<float>{1, 8, 9, 4, 5, 6}));
    EXPECT_EQ(run(make(196, {}, x({2, 2}, "", kTfliteInt32), {number(0, 0)}), {})[0],
              ints({0, 0, 1, 1}));
    // 1 between elements, one less at the begin, two more at the end.
    EXPECT_EQ(run_floats(make(195, {x({3}), x({}, floats({7}))}, x({6}),
                              {longs(0, {-1}), longs(1, {2}), longs(2, {1})}),
                         {floats({1, 2, 3})}),
              (std::vector<float>{7, 2, 7, 3, 7, 7}));
}

TEST_F(StablehloTest, Products)
{
    // Matrices of one row and two columns, and of two columns, for two places of the batch.
    EXPECT_EQ(run_floats(make(197, {x({1, 2, 2}), x({2, 2, 1})}, x({2, 2, 2}),
                              {longs(0, {1}), longs(1, {0}), longs(2, {0}), longs(3, {2})}),
                         {floats({1, 2, 3, 4}), floats({5, 6, 7, 8})}),
              (std::vector<float>{5, 6, 10, 12, 21, 24, 28, 32}));
    // NWC, a filter WIO of 1, 10, input with gaps of one and padding of one before.
    const std::vector<Option> options = {
        longs(0, {1}),   longs(1, {1, 0}), longs(2, {2}),  longs(3, {1}),
        {4, -1, 0, {0}}, number(5, 0),     number(6, 2),   longs(7, {1}),
        number(8, 1),    number(9, 2),     longs(10, {0}), number(11, 0),
        number(12, 2),   longs(13, {1}),   number(14, 1),  number(15, 1)};
    EXPECT_EQ(run_floats(make(171, {x({1, 2, 1}), x({2, 1, 1})}, x({1, 3, 1}), options),
                         {floats({3, 4}), floats({1, 10})}),
              (std::vector<float>{30, 3, 40}));
}

TEST_F(StablehloTest, Reductions)
{
    const std::string six = floats({1, 2, 3, 4, 5, 6});
    const std::pair<int, std::vector<float>> bodies[] = {
        {163, {106, 115}}, {0, {106, 115}}, {166, {100, 100}}, {57, {1, 4}}, {165, {600, 12000}}};
    for (const auto& [code, expected] : bodies) {
        TfliteModel model =
            make(174, {x({2, 3}), x({}, floats({100}))}, x({2}), {longs(0, {1}), word(1, 1)});
        model.called = {make_body(code)};
        EXPECT_EQ(run_floats(model, {six}), expected) << code;
    }
    const float lowest = -std::numeric_limits<float>::infinity();
    const std::vector<Option> windows = {longs(0, {1, 2}), longs(1, {1, 2}), longs(4, {0, 0, 1, 0}),
                                         word(5, 1)};
    TfliteModel largest = make(198, {x({2, 3}), x({}, floats({lowest}))}, x({2, 2}), windows);
    largest.called = {make_body(166)};
    EXPECT_EQ(run_floats(largest, {six}), (std::vector<float>{1, 3, 4, 6}));
    TfliteModel sum = make(198, {x({2, 3}), x({}, floats({0}))}, x({2, 2}), windows);
    sum.called = {make_body(163)};
    EXPECT_EQ(run_floats(sum, {six}), (std::vector<float>{1, 5, 4, 11}));
}

// TensorFlow Lite's own: the lists are operands, there is no padding.
TEST_F(StablehloTest, ListedWindows)
{
    const auto list = [](std::vector<int64_t> values) {
        const auto number = static_cast<int32_t>(values.size());
        return x({number}, bytes_of<int64_t>(values), kTfliteInt64);
    };
    const auto make_windows = [&](int32_t function, const TfliteTensor& input,
                                  const TfliteTensor& first, const TfliteTensor& output) {
        TfliteModel model =
            make(205, {input, first, list({1, 2}), list({1, 1}), list({1, 1}), list({1, 2})},
                 output, {word(0, function)});
        return model;
    };
    const std::string eight = floats({1, 2, 3, 4, 5, 6, 7, 8});
    const std::pair<int32_t, std::vector<float>> functions[] = {
        {1, {14, 16, 22, 24}}, {3, {1, 2, 5, 6}}, {4, {10, 10, 10, 10}}};
    for (const auto& [function, expected] : functions)
        EXPECT_EQ(
            run_floats(make_windows(function, x({2, 4}), x({}, floats({10})), x({2, 2})), {eight}),
            expected)
            << function;
    const auto bits = [](const char* text, int32_t size, bool is_scalar = false) {
        return x(is_scalar ? std::vector<int32_t>{} : std::vector<int32_t>{1, size},
                 std::string(text, static_cast<size_t>(size)), kTfliteBool);
    };
    TfliteTensor input = bits("", 0);
    input.shape = {1, 4};
    const TfliteTensor output = x({1, 2}, "", kTfliteBool);
    EXPECT_EQ(
        run(make_windows(5, input, bits("\1", 1, true), output), {std::string("\1\1\1\0", 4)})[0],
        std::string("\1\0", 2));
    EXPECT_EQ(
        run(make_windows(6, input, bits("\0", 1, true), output), {std::string("\0\1\0\0", 4)})[0],
        std::string("\0\1", 2));
    expect_refusal(make_windows(2, x({2, 4}), x({}, floats({10})), x({2, 2})), TENGINE_ENOTSUP,
                   "its body is not a sum, maximum or minimum");
    expect_refusal(
        make_windows(1, x({2, 4}, "", kTfliteInt32), x({}, ints({10}), kTfliteInt32), x({2, 2})),
        TENGINE_ENOTSUP, "its input is int32, expected fp32 or bool");
    TfliteModel model = make_windows(1, x({2, 4}), x({}, floats({10})), x({2, 2}));
    model.tensors[2] = model.tensors[3];
    model.tensors[2].shape = {1};
    model.tensors[2].values.resize(8);
    expect_refusal(model, TENGINE_EINVAL, "its list of sizes has 1 elements, its input rank 2");
}

TEST_F(StablehloTest, Sorting)
{
    for (const int direction : {3, 5}) {
        TfliteModel model = make(199, {x({4})}, x({4}), {number(0, 0), {1, 1, 1}, word(2, 1)});
        model.called = {make_body(191, {word(0, direction)})};
        EXPECT_EQ(
            run_floats(model, {floats({2, 4, 1, 3})}),
            direction == 3 ? (std::vector<float>{4, 3, 2, 1}) : (std::vector<float>{1, 2, 3, 4}));
    }
}

TEST_F(StablehloTest, GatheringAndScattering)
{
    const std::string six = floats({1, 2, 3, 4, 5, 6});
    const TfliteTensor indices = x({2, 1}, ints({1, 9}), kTfliteInt32);
    // Columns 1 and, moved inside, 2, along the last axis of the result.
    EXPECT_EQ(run_floats(make(201, {x({2, 3}), indices}, x({2, 2}),
                              {longs(0, {0}), longs(1, {1}), longs(2, {1}), number(3, 1),
                               longs(4, {2, 1})}),
                         {six}),
              (std::vector<float>{2, 3, 5, 6}));
    const std::pair<int, std::vector<float>> bodies[] = {
        {163, {1, 2, 3, 44, 45, 46}}, {-1, {1, 2, 3, 40, 40, 40}}, {181, {1, 2, 3, 4, 5, 6}}};
    for (const auto& [code, expected] : bodies) {
        TfliteModel model =
            make(190, {x({2, 3}), x({1, 1}, ints({1}), kTfliteInt32), x({1, 3})}, x({2, 3}),
                 {longs(1, {1}), longs(2, {0}), longs(3, {0}), number(4, 1), word(6, 1)});
        model.called = {make_body(code)};
        EXPECT_EQ(run_floats(model, {six, floats({40, 40, 40})}), expected) << code;
    }
}

// Adds x to itself while it is below 100.
TEST_F(StablehloTest, While)
{
    TfliteModel model = make(200, {x({})}, x({}), {word(0, 1), word(1, 2)});
    TfliteModel condition = make_body(191, {word(0, 5)}), work = make_body(163);
    condition.tensors[1].values = floats({100});
    condition.tensors[2].type = kTfliteBool;
    condition.inputs = work.inputs = {0};
    work.operators[0].inputs = {0, 0};
    model.called = {condition, work};
    EXPECT_EQ(run_floats(model, {floats({3})}), (std::vector<float>{192}));
    EXPECT_EQ(run_floats(model, {floats({100})}), (std::vector<float>{100}));
}

TEST_F(StablehloTest, WhatIsRefused)
{
    TfliteModel model =
        make(174, {x({2, 3}), x({}, floats({0}))}, x({2}), {longs(0, {1}), word(1, 1)});
    expect_refusal(model, TENGINE_EFORMAT, "its body is subgraph 1, the model has 1");
    model.called = {make_body(188)};
    expect_refusal(model, TENGINE_ENOTSUP, "is not one operator of both values");
    model.called = {make_body(163)};
    model.called[0].operators[0].inputs = {0, 0};
    expect_refusal(model, TENGINE_ENOTSUP, "is not one operator of both values");
    model.called = {make_body(61)};
    expect_refusal(model, TENGINE_ENOTSUP, "its body is not a sum");
    model.called = {make_body(163)};
    model.operators[0].options[0] = longs(0, {2});
    expect_refusal(model, TENGINE_EINVAL, "its list of axes has the axis 2");
    expect_refusal(make(202, {x({2, 3})}, x({3, 2}), {longs(0, {0, 0})}), TENGINE_EINVAL,
                   "its permutation has the axis 0");
    expect_refusal(make(197, {x({2}), x({3})}, x({}), {longs(2, {0}), longs(3, {0})}),
                   TENGINE_EINVAL, "2 and 3 elements in a sum");
    expect_refusal(make(195, {x({2}), x({}, floats({0}))}, x({}), {longs(0, {-3})}), TENGINE_ERANGE,
                   "its padding of axis 0");
    expect_bounds(model);
}

}  // namespace
}  // namespace tengine::test
