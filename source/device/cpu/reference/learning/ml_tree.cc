// SPDX-License-Identifier: Apache-2.0
// The operators of operator/onnx/ml_tree_ops.c: a row at a time, from the root of each tree to a
// leaf.
#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/learning/ml_tree_run.h"

namespace tengine::cpu {
namespace {

void free_trees(void* state)
{
    release_tree_table(&static_cast<Trees*>(state)->table);
    free_memory(state);
}

// The scratch: a row of features, then one of scores and one of marks, in the widest type.
template <int (*read)(const KernelContext& context, Trees* trees)>
int prepare(KernelContext& context)
{
    void* memory = alloc_memory(sizeof(Trees));
    if (!memory) return fail_memory(context);
    auto* trees = new (memory) Trees();
    context.state = trees;
    context.free_state = free_trees;
    TENGINE_RETURN_IF_ERROR(read(context, trees));
    context.scratch_size = (static_cast<uint64_t>(feature_num(context)) +
                            2 * static_cast<uint64_t>(trees->table.target_num)) *
                           sizeof(double);
    return TENGINE_OK;
}

// Calls finish(row, scores) for each row of features. T: the type of the thresholds.
template <class T, class Finish>
int for_each_row(const KernelContext& context, const Trees& trees, const Finish& finish)
{
    const tensor* input = context.input(0);
    const int features = feature_num(context);
    const int64_t rows = input->dim_num == 1 ? 1 : input->dims[0];
    T* const row = static_cast<T*>(context.scratch);
    T* const scores = row + features;
    return dispatch_type(FeatureTypes{}, input->data_type, [&](auto type) {
        using Feature = typename decltype(type)::type;
        const Feature* from = static_cast<const Feature*>(input->data);
        for (int64_t i = 0; i < rows; ++i, from += features) {
            std::transform(from, from + features, row,
                           [](Feature value) { return static_cast<T>(value); });
            add_up(trees, row, scores, scores + trees.table.target_num);
            finish(i, scores);
        }
        return TENGINE_OK;
    });
}

constexpr auto walk = [](const KernelContext& context, const Trees& trees, const auto& finish) {
    return trees.table.is_double ? for_each_row<double>(context, trees, finish)
                                 : for_each_row<float>(context, trees, finish);
};

int run_regressor_rows(KernelContext& context)
{
    return run_regressor(context, *static_cast<const Trees*>(context.state), walk);
}

int run_ensemble_rows(KernelContext& context)
{
    return run_ensemble(context, *static_cast<const Trees*>(context.state), walk);
}

int run_classifier_rows(KernelContext& context)
{
    return run_classifier(context, *static_cast<const Trees*>(context.state), walk);
}

constexpr Kernel ml_tree_rows[] = {
    {"ai.onnx.ml.TreeEnsembleRegressor", "reference", nullptr, run_regressor_rows,
     prepare<read_regressor>},
    {"ai.onnx.ml.TreeEnsembleClassifier", "reference", nullptr, run_classifier_rows,
     prepare<read_classifier>},
    {"ai.onnx.ml.TreeEnsemble", "reference", nullptr, run_ensemble_rows, prepare<read_ensemble>},
};

}  // namespace

extern const KernelTable ml_tree_reference;
const KernelTable ml_tree_reference = make_table<ml_tree_rows>();

}  // namespace tengine::cpu
