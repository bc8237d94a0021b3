// SPDX-License-Identifier: Apache-2.0
#include "cases/case.h"

namespace tengine::tools {
namespace {

using Shapes = std::vector<std::vector<int>>;

const Shapes& list_images()
{
    static const Shapes shapes = {{1, 2, 1, 1},  {2, 3, 7, 9}, {1, 17, 13, 5},
                                  {1, 64, 9, 9}, {2, 5, 31},   {1, 3, 2, 5, 7}};
    return shapes;
}

Operand positive(const std::vector<int>& dims)
{
    Operand made = constant(dims);
    made.low = 0.1;
    made.high = 2;
    return made;
}

Case make(const char* op, std::vector<Operand> inputs)
{
    Case made = {op, std::move(inputs)};
    made.types = float_types();
    return made;
}

void add_response(const std::vector<int>& shape, const Types& types, std::vector<Case>* cases)
{
    for (const int size : {1, 3, 5}) {
        cases->push_back(make("LRN", {fed(shape)}));
        cases->back().ints = {{"size", size}};
        cases->back().floats = {{"alpha", 0.3F}, {"bias", 2.0F}};
        cases->back().types = types;
    }
}

// One channel, and channels without an image.
void add_of_few_axes(std::vector<Case>* cases)
{
    const Types types = few_types(float_types());
    const Operand one = constant({1});
    const std::vector<int> channel = {1, 1, 1, 7};
    cases->push_back(make("BatchNormalization", {fed(channel), one, one, one, positive({1})}));
    cases->back().types = types;
    cases->push_back(make("InstanceNormalization", {fed(channel), one, one}));
    cases->back().types = types;
    add_response(channel, types, cases);
    add_response({2, 17}, types, cases);
}

void add_of_images(std::vector<Case>* cases)
{
    Shapes shapes = list_images();
    shapes.insert(shapes.end(), {{3, 9}, {2, 67, 40}});
    for (const std::vector<int>& shape : shapes) {
        const Operand each = constant({shape[1]});
        cases->push_back(
            make("BatchNormalization", {fed(shape), each, each, each, positive({shape[1]})}));
    }
    for (const std::vector<int>& shape : list_images()) {
        const std::vector<int> channels = {shape[1]};
        cases->push_back(
            make("InstanceNormalization", {fed(shape), constant(channels), constant(channels)}));
        cases->push_back(
            make("GroupNormalization", {fed(shape), constant(channels), constant(channels)}));
        cases->back().ints = {{"num_groups", shape[1] % 2 == 0 ? 2 : 1}};
        add_response(shape, float_types(), cases);
    }
    const Operand pair = constant({2}), four = constant({4});
    cases->push_back(make("InstanceNormalization", {fed({1, 2, 9001}), pair, pair}));
    cases->push_back(make("GroupNormalization", {fed({1, 4, 50, 90}), four, four}));
    cases->back().ints = {{"num_groups", 1}};
    cases->push_back(make("GroupNormalization", {fed({2, 6, 5, 7}), constant({6}), constant({6})}));
    cases->back().ints = {{"num_groups", 3}};
    for (const std::vector<int>& shape : Shapes{{2, 3, 7, 9}, {1, 17, 13, 5}})
        cases->push_back(make("MeanVarianceNormalization", {fed(shape)}));
}

// With all four outputs, and with one.
void add_of_sums(const std::vector<int>& shape, std::vector<Case>* cases)
{
    const std::vector<int> row = {shape.back()};
    const std::vector<int> repeated(shape.begin() + 1, shape.end());
    cases->push_back(make("com.microsoft.SkipLayerNormalization",
                          {fed(shape), fed(shape), constant(row), constant(row), constant(row)}));
    cases->back().outputs = {kCaseType, TENGINE_DT_FP32, TENGINE_DT_FP32, kCaseType};
    for (const char* op :
         {"com.microsoft.SkipLayerNormalization", "com.microsoft.SkipSimplifiedLayerNormalization"})
        cases->push_back(make(op, {fed(shape), fed(repeated), constant(row)}));
    cases->push_back(make("com.microsoft.SkipSimplifiedLayerNormalization",
                          {fed(shape), fed(shape), constant(row)}));
    cases->back().outputs = {kCaseType, TENGINE_DT_FP32, TENGINE_DT_FP32, kCaseType};
}

// Rows of several axes.
void add_of_planes(std::vector<Case>* cases)
{
    for (const char* op : {"LayerNormalization", "RMSNormalization"}) {
        cases->push_back(make(op, {fed({5, 3, 4, 7}), constant({4, 7})}));
        cases->back().ints = {{"axis", 2}};
    }
    const Operand row = constant({3, 10});
    cases->push_back(make("LayerNormalization", {fed({4, 3, 10}), row, row}));
    cases->back().ints = {{"axis", 1}};
}

void add_of_rows(std::vector<Case>* cases)
{
    for (const std::vector<int>& shape : Shapes{{3, 1},
                                                {1, 7},
                                                {3, 13},
                                                {3, 16},
                                                {3, 17},
                                                {3, 33},
                                                {2, 5, 64},
                                                {3, 65},
                                                {3, 129},
                                                {2, 1500},
                                                {1, 3, 5, 13},
                                                {1, 128, 768},
                                                {0, 4}}) {
        const std::vector<int> row = {shape.back()};
        cases->push_back(make("LayerNormalization", {fed(shape), constant(row), constant(row)}));
        cases->push_back(make("LayerNormalization", {fed(shape), constant(row)}));
        cases->push_back(make("RMSNormalization", {fed(shape), constant(row)}));
        cases->push_back(make("SimplifiedLayerNormalization", {fed(shape), constant(row)}));
        cases->back().outputs = {kCaseType, TENGINE_DT_FP32};
        add_of_sums(shape, cases);
    }
    for (const char* op : {"Softmax", "LogSoftmax", "Hardmax", "LpNormalization"}) {
        const auto add = [&](const std::vector<int>& shape, int axis) {
            Case made = make(op, {fed(shape)});
            made.ints = {{"axis", axis}};
            made.low = -5;
            made.high = 5;
            cases->push_back(made);
        };
        for (const int length : {1, 7, 17, 1500})
            add({2, length}, -1);
        add({17}, 0);
        add({1, 3, 13}, 1);
        add({3, 40, 37}, -1);
        for (const int axis : {0, 1, 2, 3})
            add({2, 5, 7, 9}, axis);
        add({1, 64, 9, 9}, 1);
    }
}

}  // namespace

void add_normalization_cases(std::vector<Case>* cases)
{
    add_of_images(cases);
    add_of_few_axes(cases);
    add_of_planes(cases);
    add_of_rows(cases);
}

}  // namespace tengine::tools
