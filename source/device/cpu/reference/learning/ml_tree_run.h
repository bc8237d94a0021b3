// SPDX-License-Identifier: Apache-2.0
// The common part of the kernels of operator/onnx/ml_tree_ops.c: everything except the search for
// the leaves of a row. Features are compared, and scores added, in the type of the thresholds, tree
// after tree: scores that decide a label are rounded as in training.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/alloc.h"
#include "device/cpu/kernel_context.h"
#include "device/cpu/reference/learning/class_labels.h"
#include "device/cpu/reference/learning/ml_transform.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/ml_tree_param.h"

namespace tengine::cpu {

using FeatureTypes = TypeList<float, double, int64_t, int32_t>;

struct Trees
{
    tree_table table;
    tree_aggregate aggregate;
    ml_transform transform;
    bool has_one_class;   // two labels of a classifier have scores of one class
    bool is_nonnegative;  // whether all weights are
};

inline int fail_memory(const KernelContext& context)
{
    return fail_node(context.node, TENGINE_ENOMEM, "out of memory for the trees");
}

inline tree_aggregate find_aggregate(const char* name)
{
    if (std::strcmp(name, "AVERAGE") == 0) return TREE_AVERAGE;
    if (std::strcmp(name, "MIN") == 0) return TREE_MIN;
    return std::strcmp(name, "MAX") == 0 ? TREE_MAX : TREE_SUM;
}

// Read the trees of the context's node, for each operator. The caller releases the table, also
// after a failure.
inline int read_regressor(const KernelContext& context, Trees* trees)
{
    const auto& param = context.param<tree_param>();
    trees->aggregate = find_aggregate(param.aggregate_function);
    trees->transform = find_ml_transform(param.post_transform);
    return make_tree_table(context.node, feature_num(context), &trees->table);
}

inline int read_ensemble(const KernelContext& context, Trees* trees)
{
    const auto& param = context.param<tree_ensemble_param>();
    trees->aggregate = static_cast<tree_aggregate>(param.aggregate_function);
    trees->transform = static_cast<ml_transform>(param.post_transform);
    return make_tree_ensemble_table(context.node, feature_num(context), &trees->table);
}

inline int read_classifier(const KernelContext& context, Trees* trees)
{
    const auto& param = context.param<tree_param>();
    trees->aggregate = TREE_SUM;
    trees->transform = find_ml_transform(param.post_transform);
    TENGINE_RETURN_IF_ERROR(make_tree_table(context.node, feature_num(context), &trees->table));
    const tree_table& table = trees->table;
    trees->has_one_class = table.target_num == 2;
    trees->is_nonnegative = true;
    for (int i = 0; i < param.class_ids.num; ++i)
        if (param.class_ids.values[i] != param.class_ids.values[0]) trees->has_one_class = false;
    for (int i = 0; i < table.weight_num; ++i)
        if (table.weights[i].value < 0) trees->is_nonnegative = false;
    return TENGINE_OK;
}

template <class T>
bool takes_yes(const tree_table& table, const tree_node& branch, T value)
{
    const T threshold = static_cast<T>(branch.value);
    if (branch.missing_tracks_true && std::isnan(value)) return true;
    switch (branch.mode) {
        case TREE_LEQ:
            return value <= threshold;
        case TREE_LT:
            return value < threshold;
        case TREE_GTE:
            return value >= threshold;
        case TREE_GT:
            return value > threshold;
        case TREE_EQ:
            return value == threshold;
        case TREE_NEQ:
            return value != threshold;
        default:
            break;
    }
    for (int i = 0; i < branch.num; ++i)
        if (value == static_cast<T>(table.members[branch.first + i])) return true;
    return false;
}

// The row's scores, and which targets have any.
template <class T>
void add_up(const Trees& trees, const T* row, T* out_scores, T* out_marks)
{
    const tree_table& table = trees.table;
    std::fill_n(out_scores, table.target_num, T{0});
    std::fill_n(out_marks, table.target_num, T{0});
    for (int tree = 0; tree < table.root_num; ++tree) {
        const tree_node* place = &table.nodes[table.roots[tree]];
        while (place->mode != TREE_LEAF)
            place =
                &table
                     .nodes[takes_yes(table, *place, row[place->feature]) ? place->yes : place->no];
        for (int i = 0; i < place->num; ++i) {
            const tree_weight& weight = table.weights[place->first + i];
            const T value = static_cast<T>(weight.value);
            T& score = out_scores[weight.target];
            const bool is_first = out_marks[weight.target] == 0;
            if (trees.aggregate == TREE_MIN)
                score = is_first ? value : std::min(score, value);
            else if (trees.aggregate == TREE_MAX)
                score = is_first ? value : std::max(score, value);
            else
                score += value;
            out_marks[weight.target] = 1;
        }
    }
    if (trees.aggregate == TREE_AVERAGE)
        for (int i = 0; i < table.target_num; ++i)
            out_scores[i] /= static_cast<T>(table.root_num);
}

// Absent base values are 0; one value applies to all targets.
template <class T>
T base_value(const tree_param& param, int target)
{
    const op_tensor& values = param.base_values_as_tensor;
    if (values.dim_num >= 0) {
        const bool is_double = values.data_type == TENGINE_DT_FP64;
        const size_t num = values.size / (is_double ? sizeof(double) : sizeof(float));
        if (num == 0) return 0;
        const int place = num == 1 ? 0 : target;
        return is_double ? static_cast<T>(static_cast<const double*>(values.data)[place])
                         : static_cast<T>(static_cast<const float*>(values.data)[place]);
    }
    if (param.base_values.num == 0) return 0;
    return static_cast<T>(param.base_values.values[param.base_values.num == 1 ? 0 : target]);
}

// Only PROBIT transforms a single score, as in ONNX Runtime, the only implementation: ONNX's
// reference has none.
template <class T>
void transform_targets(const Trees& trees, T* scores)
{
    const int targets = trees.table.target_num;
    if (targets > 1 || trees.transform == ML_TRANSFORM_PROBIT)
        apply_ml_transform(trees.transform, scores, targets);
}

// The kernels: walk(context, trees, finish) calls finish(row, scores) for each row of features, on
// any thread, with the sums of the row's leaves.
template <class Walk>
int run_regressor(KernelContext& context, const Trees& trees, const Walk& walk)
{
    const auto& param = context.param<tree_param>();
    const int targets = trees.table.target_num;
    float* const output = context.output(0)->f32;
    return walk(context, trees, [&](int64_t row, auto* scores) {
        using T = std::remove_reference_t<decltype(*scores)>;
        for (int i = 0; i < targets; ++i)
            scores[i] += base_value<T>(param, i);
        transform_targets(trees, scores);
        std::transform(scores, scores + targets, output + row * targets,
                       [](T value) { return static_cast<float>(value); });
    });
}

template <class Walk>
int run_ensemble(KernelContext& context, const Trees& trees, const Walk& walk)
{
    const int targets = trees.table.target_num;
    const tensor* output = context.output(0);
    return walk(context, trees, [&](int64_t row, auto* scores) {
        transform_targets(trees, scores);
        for (int i = 0; i < targets; ++i) {
            if (output->data_type == TENGINE_DT_FP64)
                static_cast<double*>(output->data)[row * targets + i] = double{scores[i]};
            else
                output->f32[row * targets + i] = static_cast<float>(scores[i]);
        }
    });
}

// Two labels with weights for one class: the score is that of label 1, a probability unless there
// are negative weights. Returns the label's index.
template <class T>
int judge_one_class(const Trees& trees, const tree_param& param, T* scores)
{
    const T score = scores[0] + scores[1] + base_value<T>(param, 1);
    if (trees.transform == ML_TRANSFORM_LOGISTIC) {
        scores[0] = ml_logistic(-score);
        scores[1] = ml_logistic(score);
    } else {
        scores[0] = trees.is_nonnegative ? 1 - score : -score;
        scores[1] = score;
    }
    return score > (trees.is_nonnegative ? T(0.5) : T(0)) ? 1 : 0;
}

// The scores before the transform decide the label; with one class the score of label 1 decides.
template <class T>
int judge_all(const Trees& trees, const tree_param& param, T* scores)
{
    const int targets = trees.table.target_num;
    for (int i = 0; i < targets; ++i)
        scores[i] += base_value<T>(param, i);
    const int label = targets == 2
                          ? (scores[1] > 0 ? 1 : 0)
                          : static_cast<int>(std::max_element(scores, scores + targets) - scores);
    apply_ml_transform(trees.transform, scores, targets);
    return label;
}

template <class Walk>
int run_classifier(KernelContext& context, const Trees& trees, const Walk& walk)
{
    const auto& param = context.param<tree_param>();
    const int targets = trees.table.target_num;
    const ClassLabels labels(context, param.classlabels_int64s, param.classlabels_strings);
    float* const output = context.output(1)->f32;
    TENGINE_RETURN_IF_ERROR(walk(context, trees, [&](int64_t row, auto* scores) {
        using T = std::remove_reference_t<decltype(*scores)>;
        const int label = trees.has_one_class ? judge_one_class(trees, param, scores)
                                              : judge_all(trees, param, scores);
        labels.put(row, label);
        std::transform(scores, scores + targets, output + row * targets,
                       [](T value) { return static_cast<float>(value); });
    }));
    return labels.finish();
}

}  // namespace tengine::cpu
