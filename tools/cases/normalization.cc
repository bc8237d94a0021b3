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

void add_of_images(std::vector<Case>* cases)
{
    for (const std::vector<int>& shape : list_images()) {
        const std::vector<int> channels = {shape[1]};
        cases->push_back(
            make("BatchNormalization", {fed(shape), constant(channels), constant(channels),
                                        constant(channels), positive(channels)}));
        cases->push_back(
            make("InstanceNormalization", {fed(shape), constant(channels), constant(channels)}));
        cases->push_back(
            make("GroupNormalization", {fed(shape), constant(channels), constant(channels)}));
        cases->back().ints = {{"num_groups", shape[1] % 2 == 0 ? 2 : 1}};
        for (const int size : {1, 3, 5}) {
            cases->push_back(make("LRN", {fed(shape)}));
            cases->back().ints = {{"size", size}};
            cases->back().floats = {{"alpha", 0.3F}, {"bias", 2.0F}};
        }
    }
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
    cases->push_back(
        make("com.microsoft.SkipLayerNormalization", {fed(shape), fed(repeated), constant(row)}));
    cases->push_back(make("com.microsoft.SkipSimplifiedLayerNormalization",
                          {fed(shape), fed(shape), constant(row)}));
    cases->back().outputs = {kCaseType, TENGINE_DT_FP32, TENGINE_DT_FP32, kCaseType};
}

void add_of_rows(std::vector<Case>* cases)
{
    for (const std::vector<int>& shape :
         Shapes{{1, 7}, {3, 33}, {2, 5, 64}, {1, 3, 5, 13}, {1, 128, 768}}) {
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
        for (const int length : {1, 7, 17, 1000})
            add({2, length}, -1);
        add({17}, 0);
        for (const int axis : {0, 1, 2, 3})
            add({2, 5, 7, 9}, axis);
        add({1, 64, 9, 9}, 1);
    }
}

}  // namespace

void add_normalization_cases(std::vector<Case>* cases)
{
    add_of_images(cases);
    add_of_rows(cases);
}

}  // namespace tengine::tools
