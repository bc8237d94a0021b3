// SPDX-License-Identifier: Apache-2.0
// Models of ai.onnx.ml that are sums of products: LinearRegressor, LinearClassifier, SVMRegressor,
// SVMClassifier. Parameters are in ml_linear_param.h.
#include <stdbool.h>

#include "operator/infer.h"
#include "operator/onnx/ml_linear_param.h"
#include "operator/onnx/ml_tree_param.h"
#include "operator/onnx/other_domains.h"
#include "operator/type_set.h"

#define TYPES_FEATURE (TYPE_BIT(FP32) | TYPE_BIT(FP64) | TYPE_BIT(INT64) | TYPE_BIT(INT32))

// Reads the rows and features of an input [N, C] or [C].
static int read_form(const struct node* node, int* out_rows, int* out_features)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_FEATURE));
    if (input->dim_num != 1 && input->dim_num != 2)
        return fail_node(node, TENGINE_EINVAL, "the input has %d dimensions, expected 1 or 2",
                         input->dim_num);
    *out_rows = input->dim_num == 1 ? 1 : input->dims[0];
    *out_features = input->dims[input->dim_num - 1];
    return TENGINE_OK;
}

static int require_num(const struct node* node, const char* name, int num, int64_t expected)
{
    if (num == expected) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "%s has %d values, expected %lld", name, num,
                     (long long)expected);
}

static int check_label_num(const struct node* node, int labels)
{
    if (labels >= 2) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "classlabels_ints has %d values, expected 2 or more",
                     labels);
}

static int infer_linear_regressor(struct node* node)
{
    const struct ml_linear_param* param = node->op.param_mem;
    int rows = 0, features = 0;
    TENGINE_RETURN_IF_ERROR(read_form(node, &rows, &features));
    TENGINE_RETURN_IF_ERROR(require_num(node, "coefficients", param->coefficients.num,
                                        (int64_t)param->targets * features));
    if (param->intercepts.num > 0)
        TENGINE_RETURN_IF_ERROR(
            require_num(node, "intercepts", param->intercepts.num, param->targets));
    const int64_t dims[] = {rows, param->targets};
    return set_node_output(node, 0, TENGINE_DT_FP32, dims, 2);
}

static int set_class_outputs(struct node* node, int rows, int labels, int label_type)
{
    const int64_t dims[] = {rows, labels};
    TENGINE_RETURN_IF_ERROR(set_node_output(node, 0, label_type, dims, 1));
    return set_node_output(node, 1, TENGINE_DT_FP32, dims, 2);
}

// Two classes may have one row of coefficients, that of the second.
static int infer_linear_classifier(struct node* node)
{
    const struct ml_linear_param* param = node->op.param_mem;
    int rows = 0, features = 0;
    TENGINE_RETURN_IF_ERROR(read_form(node, &rows, &features));
    const bool has_texts = param->classlabels_strings.num > 0;
    const int labels = get_linear_label_num(param);
    TENGINE_RETURN_IF_ERROR(check_label_num(node, labels));
    const bool is_single = labels == 2 && param->coefficients.num == features;
    const int scores = is_single ? 1 : labels;
    TENGINE_RETURN_IF_ERROR(
        require_num(node, "coefficients", param->coefficients.num, (int64_t)scores * features));
    if (param->intercepts.num > 0)
        TENGINE_RETURN_IF_ERROR(require_num(node, "intercepts", param->intercepts.num, scores));
    return set_class_outputs(node, rows, labels, has_texts ? TENGINE_DT_STRING : TENGINE_DT_INT64);
}

// ---- support vectors ----

static int check_kernel(const struct node* node)
{
    const struct ml_svm_param* param = node->op.param_mem;
    if (param->kernel_params.num > 0)
        TENGINE_RETURN_IF_ERROR(require_num(node, "kernel_params", param->kernel_params.num, 3));
    return TENGINE_OK;
}

static int infer_svm_regressor(struct node* node)
{
    const struct ml_svm_param* param = node->op.param_mem;
    const int supports = param->n_supports;
    int rows = 0, features = 0;
    TENGINE_RETURN_IF_ERROR(read_form(node, &rows, &features));
    TENGINE_RETURN_IF_ERROR(check_kernel(node));
    TENGINE_RETURN_IF_ERROR(require_num(node, "rho", param->rho.num, 1));
    TENGINE_RETURN_IF_ERROR(require_num(node, "coefficients", param->coefficients.num,
                                        supports > 0 ? supports : features));
    TENGINE_RETURN_IF_ERROR(require_num(node, "support_vectors", param->support_vectors.num,
                                        (int64_t)supports * features));
    const int64_t dims[] = {rows, 1};
    return set_node_output(node, 0, TENGINE_DT_FP32, dims, 2);
}

static int count_vectors(const struct node* node, int64_t* out_num)
{
    const struct op_ints* list =
        &((const struct ml_svm_param*)node->op.param_mem)->vectors_per_class;
    *out_num = 0;
    for (int i = 0; i < list->num; ++i) {
        if (list->values[i] < 0 || list->values[i] > INT32_MAX)
            return fail_node(node, TENGINE_ERANGE, "vectors_per_class[%d] is %lld", i,
                             (long long)list->values[i]);
        *out_num += list->values[i];
    }
    return TENGINE_OK;
}

// With support vectors the output is a score for each pair of classes; or a probability for each
// class, computed from the scores with prob_a and prob_b.
static int infer_svm_classifier(struct node* node)
{
    const struct ml_svm_param* param = node->op.param_mem;
    const int type = param->classlabels_strings.num > 0 ? TENGINE_DT_STRING : TENGINE_DT_INT64;
    const int labels = get_svm_label_num(param);
    int64_t vectors = 0;
    int rows = 0, features = 0;
    TENGINE_RETURN_IF_ERROR(read_form(node, &rows, &features));
    TENGINE_RETURN_IF_ERROR(check_label_num(node, labels));
    if (labels > 1 << 15)
        return fail_node(node, TENGINE_ELIMIT, "%d classes, expected at most %d", labels, 1 << 15);
    TENGINE_RETURN_IF_ERROR(check_kernel(node));
    if (param->vectors_per_class.num == 0) {
        TENGINE_RETURN_IF_ERROR(
            require_num(node, "coefficients", param->coefficients.num, (int64_t)labels * features));
        if (param->rho.num < 1) return fail_node(node, TENGINE_EINVAL, "rho is empty");
        return set_class_outputs(node, rows, labels, type);
    }
    const int pairs = labels * (labels - 1) / 2;
    TENGINE_RETURN_IF_ERROR(
        require_num(node, "vectors_per_class", param->vectors_per_class.num, labels));
    TENGINE_RETURN_IF_ERROR(count_vectors(node, &vectors));
    TENGINE_RETURN_IF_ERROR(
        require_num(node, "support_vectors", param->support_vectors.num, vectors * features));
    TENGINE_RETURN_IF_ERROR(
        require_num(node, "coefficients", param->coefficients.num, vectors * (labels - 1)));
    TENGINE_RETURN_IF_ERROR(require_num(node, "rho", param->rho.num, pairs));
    const bool has_probabilities = param->prob_a.num > 0 || param->prob_b.num > 0;
    if (!has_probabilities)
        return set_class_outputs(node, rows, labels == 2 ? labels : pairs, type);
    TENGINE_RETURN_IF_ERROR(require_num(node, "prob_a", param->prob_a.num, pairs));
    TENGINE_RETURN_IF_ERROR(require_num(node, "prob_b", param->prob_b.num, pairs));
    return set_class_outputs(node, rows, labels, type);
}

#define LINEAR_FIELD(kind, member, ...) OP_FIELD(struct ml_linear_param, kind, member, __VA_ARGS__)
#define SVM_FIELD(kind, member, ...) OP_FIELD(struct ml_svm_param, kind, member, __VA_ARGS__)

static const op_field_t linear_regressor_fields[] = {
    LINEAR_FIELD(FLOATS, coefficients, .required = 1),
    LINEAR_FIELD(FLOATS, intercepts, .number = 0),
    LINEAR_FIELD(INT, targets, .number = 1, .minimum = 1, .maximum = 1 << 30),
    LINEAR_FIELD(STRING, post_transform, .text = "NONE", .choices = ML_TRANSFORMS),
};

static const op_field_t linear_classifier_fields[] = {
    LINEAR_FIELD(FLOATS, coefficients, .required = 1),
    LINEAR_FIELD(FLOATS, intercepts, .number = 0),
    LINEAR_FIELD(INTS, classlabels_ints, .number = 0),
    LINEAR_FIELD(STRINGS, classlabels_strings, .number = 0),
    LINEAR_FIELD(INT, multi_class, .number = 0),
    LINEAR_FIELD(STRING, post_transform, .text = "NONE", .choices = ML_TRANSFORMS),
};

#define SVM_FIELDS                                                                              \
    SVM_FIELD(FLOATS, coefficients, .required = 1),                                             \
        SVM_FIELD(FLOATS, support_vectors, .number = 0), SVM_FIELD(FLOATS, rho, .required = 1), \
        SVM_FIELD(FLOATS, kernel_params, .number = 0),                                          \
        SVM_FIELD(STRING, kernel_type, .text = "LINEAR", .choices = "LINEAR|POLY|RBF|SIGMOID"), \
        SVM_FIELD(STRING, post_transform, .text = "NONE", .choices = ML_TRANSFORMS)

static const op_field_t svm_regressor_fields[] = {
    SVM_FIELDS,
    SVM_FIELD(INT, n_supports, .number = 0, .minimum = 0, .maximum = 1 << 30),
    SVM_FIELD(INT, one_class, .number = 0),
};

static const op_field_t svm_classifier_fields[] = {
    SVM_FIELDS,
    SVM_FIELD(FLOATS, prob_a, .number = 0),
    SVM_FIELD(FLOATS, prob_b, .number = 0),
    SVM_FIELD(INTS, vectors_per_class, .number = 0),
    SVM_FIELD(INTS, classlabels_ints, .number = 0),
    SVM_FIELD(STRINGS, classlabels_strings, .number = 0),
};

#define MODEL_ROW(outputs, param, table, infer)                                      \
    .version = 1, .until = 5, .min_input = 1, .max_input = 1, .min_output = outputs, \
    .max_output = outputs, OP_FIELDS(table), .param_size = sizeof(struct param),     \
    .infer_shape = infer

static const ir_method_t* const rows[] = {
    ML_ROW(LinearRegressor,
           MODEL_ROW(1, ml_linear_param, linear_regressor_fields, infer_linear_regressor),
           .types = "fp32"),
    ML_ROW(LinearClassifier,
           MODEL_ROW(2, ml_linear_param, linear_classifier_fields, infer_linear_classifier),
           .traits = OP_TAKES_STRINGS, .types = "int64 fp32"),
    ML_ROW(SVMRegressor, MODEL_ROW(1, ml_svm_param, svm_regressor_fields, infer_svm_regressor),
           .types = "fp32"),
    ML_ROW(SVMClassifier, MODEL_ROW(2, ml_svm_param, svm_classifier_fields, infer_svm_classifier),
           .traits = OP_TAKES_STRINGS, .types = "int64 fp32"),
};

OPERATOR_TABLE(ml_linear_ops, rows);
