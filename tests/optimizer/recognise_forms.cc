// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

#include "optimizer/recognise_model.h"

namespace tengine::test {

const Form kGeluForm = {"Gelu",
                        "d = Div x root_2; e = Erf d; g = Add e one; p = Mul x g; y = Mul p half"};
const Form kLayerNormForm = {
    "LayerNormalization",
    "m = ReduceMean x; c = Sub x m; q = Pow c two; v = ReduceMean q; a = Add v epsilon; "
    "r = Sqrt a; n = Div c r; y = Mul n scale"};
const Form kBiasedLayerNormForm = {
    "LayerNormalization",
    "m = ReduceMean x; c = Sub x m; q = Pow c two; v = ReduceMean q; a = Add v epsilon; "
    "r = Sqrt a; n = Div c r; s = Mul n scale; y = Add s bias"};

namespace {

constexpr float kRoot2 = 1.41421356f, kRootHalf = 0.707106781f, kRoot2ByPi = 0.797884561f;
const Dims kDims = {2, 3, kColumns};

}  // namespace

std::vector<double> draw_numbers(int number, double low, double high, unsigned seed)
{
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> values(low, high);
    std::vector<double> made;
    for (int i = 0; i < number; ++i)
        made.push_back(values(random));
    return made;
}

NamedTensor make_input(const std::string& name, unsigned seed)
{
    return {name, kDims, draw_numbers(kRows * kColumns, -5, 5, seed)};
}

SmallModel make_model(const Form& form)
{
    SmallModel model;
    model.inputs = {make_input("x", 1)};
    model.add_nodes(form.nodes);
    const NamedTensor constants[] = {
        {"zero", {}, {0}},
        {"one", {}, {1}},
        {"two", {}, {2}},
        {"three", {}, {3}},
        {"six", {}, {6}},
        {"half", {}, {0.5}},
        {"sixth", {}, {1.0f / 6}},
        {"alpha", {}, {1.702}},
        {"root_2", {}, {kRoot2}},
        {"root_half", {}, {kRootHalf}},
        {"root_2_by_pi", {}, {kRoot2ByPi}},
        {"cubic", {}, {0.044715}},
        {"epsilon", {}, {1e-5}},
        {"scale", {kColumns}, draw_numbers(kColumns, 0.5, 2, 2)},
        {"bias", {kColumns}, draw_numbers(kColumns, -1, 1, 3)},
    };
    for (const NamedNode& node : model.nodes) {
        for (const NamedTensor& constant : constants)
            if (std::count(node.inputs.begin(), node.inputs.end(), constant.name) != 0 &&
                std::none_of(model.constants.begin(), model.constants.end(),
                             [&](const NamedTensor& known) { return known.name == constant.name; }))
                model.constants.push_back(constant);
        if (node.op == "ReduceMean") model.axes[node.output] = {-1};
    }
    return model;
}

void expect_values(const SmallModel& model, IrBuilder& builder)
{
    const std::vector<NamedTensor> expected = compute(model), found = run(model, builder);
    for (size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(found[i].dims, expected[i].dims);
        for (size_t k = 0; k < expected[i].values.size(); ++k) {
            const double value = expected[i].values[k];
            const double result = found[i].values[k];
            const bool is_near = std::fabs(result - value) <= 2e-5 * (1 + std::fabs(value));
            ASSERT_TRUE(is_near || result == value || (std::isnan(value) && std::isnan(result)))
                << result << " for " << value;
        }
    }
}

}  // namespace tengine::test
