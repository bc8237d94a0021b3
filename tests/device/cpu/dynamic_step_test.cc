// SPDX-License-Identifier: Apache-2.0
// Steps with shapes that depend on data: they are prepared in runs, and their weights are packed in
// the first.
#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

#include "device/cpu/kernel/vector/vector_target.h"
#include "graph/graph.h"
#include "graph/option.h"
#include "operator/param.h"
#include "scheduler/scheduler.h"
#include "support/ir_builder.h"

namespace tengine::test {
namespace {

constexpr int kColumns = 20;
// More rows than kernels read the weights for where they are.
constexpr size_t kCommonRows = 40;

// Multiplies the positions of nonzero numbers by the weights: a row for each.
std::vector<float> multiply_places(const std::vector<float>& x, const std::vector<float>& weights)
{
    std::vector<float> products;
    for (size_t i = 0; i < x.size(); ++i)
        for (const float weight : weights)
            if (x[i] != 0) products.push_back(static_cast<float>(i) * weight);
    return products;
}

// Weights that change after the first run show whether they are packed again: with as many rows as
// before, with another number, with none, and with the first number again.
TEST(DynamicStep, PacksItsWeightsOnce)
{
    if (cpu::get_vector_target_num() == 0) GTEST_SKIP() << "the build packs nothing";
    std::vector<float> weights(kColumns);
    for (size_t i = 0; i < weights.size(); ++i)
        weights[i] = static_cast<float>(i) + 1;
    IrBuilder source;
    source.input("x", {static_cast<int>(kCommonRows) + 8});
    tensor* constant = source.floats("w", {1, kColumns}, weights);
    source.add("NonZero", {"x"}, {"where"});
    node* cast = source.add("Cast", {"where"}, {"places"});
    ASSERT_EQ(set_node_int(cast, "to", 1), TENGINE_OK) << tengine_error_message();
    source.add("Transpose", {"places"}, {"rows"});
    source.add("MatMul", {"rows", "w"}, {"y"});
    source.outputs({"y"});
    constexpr ir_run_options_t options = {1, 0, 0, 0, 0, 0, 0};
    ASSERT_EQ(prerun_ir_graph(source.get(), &options), TENGINE_OK) << tengine_error_message();
    for (const std::vector<float>& last : {std::vector<float>{0, 1, 1, 0, 0, 0, 0, 1},
                                           {1, 1, 1, 0, 0, 0, 0, 0},
                                           {1, 1, 1, 1, 0, 1, 0, 0},
                                           {0, 0, 0, 0, 0, 0, 0, 0},
                                           {0, 0, 0, 0, 0, 1, 1, 1}}) {
        const bool has_rows = std::count(last.begin(), last.end(), 1.0f) > 0;
        std::vector<float> x(kCommonRows, has_rows ? 1.0f : 0.0f);
        x.insert(x.end(), last.begin(), last.end());
        set_ir_tensor_data(source.find("x"), x.data(), false);
        ASSERT_EQ(run_ir_graph(source.get(), 1), TENGINE_OK) << tengine_error_message();
        const tensor* y = source.find("y");
        EXPECT_EQ(std::vector<float>(y->f32, y->f32 + y->elem_num), multiply_places(x, weights));
        std::fill_n(constant->f32, kColumns, -1.0f);
    }
}

}  // namespace
}  // namespace tengine::test
