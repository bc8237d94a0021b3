// SPDX-License-Identifier: Apache-2.0
// Parameters of the operators in ml_tree_ops.c, and the common table that they all become
// (ml_tree_table.c).
#pragma once

#include <stdbool.h>

#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

// TreeEnsembleRegressor (target_*) and TreeEnsembleClassifier (class_*). A node's key is its tree
// and its number in it; the first node of a tree is its root.
struct tree_param
{
    struct op_ints nodes_treeids;
    struct op_ints nodes_nodeids;
    struct op_ints nodes_featureids;
    struct op_strings nodes_modes;
    struct op_floats nodes_values;
    struct op_tensor nodes_values_as_tensor;
    struct op_ints nodes_truenodeids;
    struct op_ints nodes_falsenodeids;
    struct op_ints nodes_missing_value_tracks_true;
    struct op_floats nodes_hitrates;
    struct op_tensor nodes_hitrates_as_tensor;
    struct op_ints target_treeids;
    struct op_ints target_nodeids;
    struct op_ints target_ids;
    struct op_floats target_weights;
    struct op_tensor target_weights_as_tensor;
    struct op_ints class_treeids;
    struct op_ints class_nodeids;
    struct op_ints class_ids;
    struct op_floats class_weights;
    struct op_tensor class_weights_as_tensor;
    struct op_floats base_values;
    struct op_tensor base_values_as_tensor;
    struct op_ints classlabels_int64s;
    struct op_strings classlabels_strings;  // or these
    char* aggregate_function;
    char* post_transform;
    int n_targets;
};

static inline int get_tree_label_num(const struct tree_param* param)
{
    return param->classlabels_strings.num > 0 ? param->classlabels_strings.num
                                              : param->classlabels_int64s.num;
}

// Parameters of TreeEnsemble. Ids are indices in nodes_*, or in leaf_* if the flag beside them is
// 1.
struct tree_ensemble_param
{
    struct op_ints nodes_featureids;
    struct op_tensor nodes_splits;
    struct op_tensor nodes_modes;
    struct op_ints nodes_truenodeids;
    struct op_ints nodes_falsenodeids;
    struct op_ints nodes_trueleafs;
    struct op_ints nodes_falseleafs;
    struct op_ints nodes_missing_value_tracks_true;
    struct op_tensor nodes_hitrates;
    struct op_ints leaf_targetids;
    struct op_tensor leaf_weights;
    struct op_ints tree_roots;
    struct op_tensor membership_values;
    int aggregate_function;
    int post_transform;
    int n_targets;
};

enum tree_mode
{
    TREE_LEQ,
    TREE_LT,
    TREE_GTE,
    TREE_GT,
    TREE_EQ,
    TREE_NEQ,
    TREE_MEMBER,
    TREE_LEAF
};

enum tree_aggregate
{
    TREE_AVERAGE,
    TREE_SUM,
    TREE_MIN,
    TREE_MAX
};

// The transforms in the order of TreeEnsemble's numbers; ml_transform.h computes them.
enum ml_transform
{
    ML_TRANSFORM_NONE,
    ML_TRANSFORM_SOFTMAX,
    ML_TRANSFORM_LOGISTIC,
    ML_TRANSFORM_SOFTMAX_ZERO,
    ML_TRANSFORM_PROBIT
};
#define ML_TRANSFORMS "NONE|SOFTMAX|LOGISTIC|SOFTMAX_ZERO|PROBIT"

// Returns the number of a name in ML_TRANSFORMS.
enum ml_transform find_ml_transform(const char* name);

struct tree_node
{
    double value;
    int feature;
    int yes;  // next node if the test is true: an index in nodes
    int no;
    int first;  // index of a leaf's weights, or of the set of TREE_MEMBER, in their lists
    int num;
    int mode;  // enum tree_mode
    bool missing_tracks_true;
};

struct tree_weight
{
    int target;
    double value;
};

struct tree_table
{
    struct tree_node* nodes;
    int node_num;
    int* roots;
    int root_num;
    struct tree_weight* weights;
    int weight_num;
    double* members;
    int target_num;
    bool is_double;  // thresholds, and therefore sums, are fp64
};

// Makes the table from the parameters of a node of any of the three operators whose input has
// `feature_num` features. Checks everything: lengths, ids, features, targets, and that no path is a
// cycle. The caller frees it with release_tree_table().
TENGINE_MUST_USE int make_tree_table(const struct node* node, int feature_num,
                                     struct tree_table* out_table);
TENGINE_MUST_USE int make_tree_ensemble_table(const struct node* node, int feature_num,
                                              struct tree_table* out_table);
void release_tree_table(struct tree_table* table);

TENGINE_EXTERN_C_END
