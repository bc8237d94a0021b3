// SPDX-License-Identifier: Apache-2.0
// Parameters of the operators in ml_linear_ops.c.
#pragma once

#include "operator/operator.h"

// LinearRegressor and LinearClassifier: coefficients are a row of features for each target or
// class.
struct ml_linear_param
{
    struct op_floats coefficients;
    struct op_floats intercepts;
    struct op_ints classlabels_ints;
    struct op_strings classlabels_strings;
    int targets;
    int multi_class;
    char* post_transform;
};

static inline int get_linear_label_num(const struct ml_linear_param* param)
{
    return param->classlabels_strings.num > 0 ? param->classlabels_strings.num
                                              : param->classlabels_ints.num;
}

// SVMRegressor and SVMClassifier. Without support vectors they are linear.
struct ml_svm_param
{
    struct op_floats coefficients;
    struct op_floats support_vectors;
    struct op_floats rho;
    struct op_floats kernel_params;  // gamma, coef0, degree
    struct op_floats prob_a;         // of the classifier
    struct op_floats prob_b;
    struct op_ints vectors_per_class;
    struct op_ints classlabels_ints;
    struct op_strings classlabels_strings;
    char* kernel_type;
    char* post_transform;
    int n_supports;  // of the regressor
    int one_class;
};

static inline int get_svm_label_num(const struct ml_svm_param* param)
{
    return param->classlabels_strings.num > 0 ? param->classlabels_strings.num
                                              : param->classlabels_ints.num;
}
