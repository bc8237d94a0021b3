// SPDX-License-Identifier: Apache-2.0
// Trees of ai.onnx.ml: TreeEnsembleRegressor and TreeEnsembleClassifier, and TreeEnsemble, which
// replaced them. Parameters and the table that they become are in ml_tree_param.h.
#include "operator/infer.h"
#include "operator/onnx/ml_tree_param.h"
#include "operator/onnx/other_domains.h"
#include "operator/type_set.h"

#define TYPES_FEATURE (TYPE_BIT(FP32) | TYPE_BIT(FP64) | TYPE_BIT(INT64) | TYPE_BIT(INT32))

typedef int (*make_table_t)(const struct node* node, int feature_num, struct tree_table* out_table);

// Checks the input and the trees, and finds the number of rows.
static int check_trees(const struct node* node, make_table_t make_table, int* out_rows)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    struct tree_table table;
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_FEATURE));
    if (input->dim_num != 1 && input->dim_num != 2)
        return fail_node(node, TENGINE_EINVAL, "the input has %d dimensions, expected 1 or 2",
                         input->dim_num);
    *out_rows = input->dim_num == 1 ? 1 : input->dims[0];
    TENGINE_RETURN_IF_ERROR(make_table(node, input->dims[input->dim_num - 1], &table));
    release_tree_table(&table);
    return TENGINE_OK;
}

static int check_base_values(const struct node* node, int targets)
{
    const struct tree_param* param = node->op.param_mem;
    const struct op_tensor* tensor = &param->base_values_as_tensor;
    int num = param->base_values.num;
    if (tensor->dim_num >= 0) {
        if (tensor->data_type != TENGINE_DT_FP32 && tensor->data_type != TENGINE_DT_FP64)
            return fail_node(node, TENGINE_EDTYPE,
                             "base_values_as_tensor is %s, expected fp32 or fp64",
                             get_data_type_name(tensor->data_type));
        num = (int)(tensor->size / (size_t)get_data_type_size(tensor->data_type));
    }
    if (num == 0 || num == targets || (num == 1 && targets == 2)) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "base_values has %d values, expected %d", num, targets);
}

static int infer_regressor(struct node* node)
{
    const struct tree_param* param = node->op.param_mem;
    int rows = 0;
    TENGINE_RETURN_IF_ERROR(check_trees(node, make_tree_table, &rows));
    TENGINE_RETURN_IF_ERROR(check_base_values(node, param->n_targets));
    const int64_t dims[] = {rows, param->n_targets};
    return set_node_output(node, 0, TENGINE_DT_FP32, dims, 2);
}

static int infer_classifier(struct node* node)
{
    const struct tree_param* param = node->op.param_mem;
    int rows = 0;
    const bool has_texts = param->classlabels_strings.num > 0;
    const int labels = get_tree_label_num(param);
    if (labels < 1) return fail_node(node, TENGINE_EINVAL, "classlabels_int64s is empty");
    TENGINE_RETURN_IF_ERROR(check_trees(node, make_tree_table, &rows));
    TENGINE_RETURN_IF_ERROR(check_base_values(node, labels));
    const int64_t dims[] = {rows, labels};
    TENGINE_RETURN_IF_ERROR(
        set_node_output(node, 0, has_texts ? TENGINE_DT_STRING : TENGINE_DT_INT64, dims, 1));
    return set_node_output(node, 1, TENGINE_DT_FP32, dims, 2);
}

static int infer_ensemble(struct node* node)
{
    const struct tree_ensemble_param* param = node->op.param_mem;
    int rows = 0;
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPE_BIT(FP32) | TYPE_BIT(FP64)));
    TENGINE_RETURN_IF_ERROR(check_trees(node, make_tree_ensemble_table, &rows));
    const int64_t dims[] = {rows, param->n_targets};
    return set_node_output(node, 0, get_ir_node_input(node, 0)->data_type, dims, 2);
}

#define TREE_FIELD(kind, member, ...) OP_FIELD(struct tree_param, kind, member, __VA_ARGS__)
#define TREE_NODE_FIELDS                                                                        \
    TREE_FIELD(INTS, nodes_treeids, .number = 0), TREE_FIELD(INTS, nodes_nodeids, .number = 0), \
        TREE_FIELD(INTS, nodes_featureids, .number = 0),                                        \
        TREE_FIELD(STRINGS, nodes_modes, .number = 0),                                          \
        TREE_FIELD(FLOATS, nodes_values, .number = 0),                                          \
        TREE_FIELD(TENSOR, nodes_values_as_tensor, .since = 3),                                 \
        TREE_FIELD(INTS, nodes_truenodeids, .number = 0),                                       \
        TREE_FIELD(INTS, nodes_falsenodeids, .number = 0),                                      \
        TREE_FIELD(INTS, nodes_missing_value_tracks_true, .number = 0),                         \
        TREE_FIELD(FLOATS, nodes_hitrates, .number = 0),                                        \
        TREE_FIELD(TENSOR, nodes_hitrates_as_tensor, .since = 3),                               \
        TREE_FIELD(FLOATS, base_values, .number = 0),                                           \
        TREE_FIELD(TENSOR, base_values_as_tensor, .since = 3),                                  \
        TREE_FIELD(STRING, post_transform, .text = "NONE", .choices = ML_TRANSFORMS)

static const op_field_t regressor_fields[] = {
    TREE_NODE_FIELDS,
    TREE_FIELD(INTS, target_treeids, .number = 0),
    TREE_FIELD(INTS, target_nodeids, .number = 0),
    TREE_FIELD(INTS, target_ids, .number = 0),
    TREE_FIELD(FLOATS, target_weights, .number = 0),
    TREE_FIELD(TENSOR, target_weights_as_tensor, .since = 3),
    TREE_FIELD(STRING, aggregate_function, .text = "SUM", .choices = "AVERAGE|SUM|MIN|MAX"),
    TREE_FIELD(INT, n_targets, .number = 1, .minimum = 1, .maximum = 1 << 30),
};

static const op_field_t classifier_fields[] = {
    TREE_NODE_FIELDS,
    TREE_FIELD(INTS, class_treeids, .number = 0),
    TREE_FIELD(INTS, class_nodeids, .number = 0),
    TREE_FIELD(INTS, class_ids, .number = 0),
    TREE_FIELD(FLOATS, class_weights, .number = 0),
    TREE_FIELD(TENSOR, class_weights_as_tensor, .since = 3),
    TREE_FIELD(INTS, classlabels_int64s, .number = 0),
    TREE_FIELD(STRINGS, classlabels_strings, .number = 0),
};

#define ENSEMBLE_FIELD(kind, member, ...) \
    OP_FIELD(struct tree_ensemble_param, kind, member, __VA_ARGS__)

static const op_field_t ensemble_fields[] = {
    ENSEMBLE_FIELD(INTS, nodes_featureids, .required = 1),
    ENSEMBLE_FIELD(TENSOR, nodes_splits, .required = 1),
    ENSEMBLE_FIELD(TENSOR, nodes_modes, .required = 1),
    ENSEMBLE_FIELD(INTS, nodes_truenodeids, .required = 1),
    ENSEMBLE_FIELD(INTS, nodes_falsenodeids, .required = 1),
    ENSEMBLE_FIELD(INTS, nodes_trueleafs, .required = 1),
    ENSEMBLE_FIELD(INTS, nodes_falseleafs, .required = 1),
    ENSEMBLE_FIELD(INTS, nodes_missing_value_tracks_true, .number = 0),
    ENSEMBLE_FIELD(TENSOR, nodes_hitrates, .number = 0),
    ENSEMBLE_FIELD(INTS, leaf_targetids, .required = 1),
    ENSEMBLE_FIELD(TENSOR, leaf_weights, .required = 1),
    ENSEMBLE_FIELD(INTS, tree_roots, .required = 1),
    ENSEMBLE_FIELD(TENSOR, membership_values, .number = 0),
    ENSEMBLE_FIELD(INT, aggregate_function, .number = TREE_SUM, .minimum = 0, .maximum = TREE_MAX),
    ENSEMBLE_FIELD(INT, post_transform, .number = 0, .minimum = 0, .maximum = ML_TRANSFORM_PROBIT),
    ENSEMBLE_FIELD(INT, n_targets, .number = 1, .minimum = 1, .maximum = 1 << 30),
};

#define TREE_ROW(outputs, table, infer)                                               \
    .version = 1, .until = 5, .min_input = 1, .max_input = 1, .min_output = outputs,  \
    .max_output = outputs, OP_FIELDS(table), .param_size = sizeof(struct tree_param), \
    .infer_shape = infer

static const ir_method_t* const rows[] = {
    ML_ROW(TreeEnsembleRegressor, TREE_ROW(1, regressor_fields, infer_regressor), .types = "fp32"),
    ML_ROW(TreeEnsembleClassifier, TREE_ROW(2, classifier_fields, infer_classifier),
           .traits = OP_TAKES_STRINGS, .types = "int64 fp32"),
    ML_ROW(TreeEnsemble, .version = 5, .until = 5, .min_input = 1, .max_input = 1, .min_output = 1,
           .max_output = 1, OP_FIELDS(ensemble_fields),
           .param_size = sizeof(struct tree_ensemble_param), .infer_shape = infer_ensemble),
};

OPERATOR_TABLE(ml_tree_ops, rows);
