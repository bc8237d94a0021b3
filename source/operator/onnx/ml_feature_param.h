// SPDX-License-Identifier: Apache-2.0
// Parameters of the operators in ml_feature_ops.c.
#pragma once

#include "operator/operator.h"

// Parameters of Scaler: one value, or one for each feature.
struct ml_scaler_param
{
    struct op_floats offset;
    struct op_floats scale;
};

struct ml_normalizer_param
{
    char* norm;  // "MAX", "L1", "L2"
};

struct ml_binarizer_param
{
    float threshold;
};

// The parameters of Imputer: one value, or one for each feature.
struct ml_imputer_param
{
    struct op_floats imputed_value_floats;
    struct op_ints imputed_value_int64s;
    float replaced_value_float;
    int replaced_value_int64;
};

struct ml_vectorizer_param
{
    struct op_ints inputdimensions;
};

struct ml_one_hot_param
{
    struct op_ints cats_int64s;
    struct op_strings cats_strings;
    int zeros;
};

// Keys and values are one of their lists each; from opset 4 on they may be tensors.
struct ml_label_param
{
    struct op_strings classes_strings;
    struct op_strings keys_strings;
    struct op_ints keys_int64s;
    struct op_floats keys_floats;
    struct op_tensor keys_tensor;
    struct op_strings values_strings;
    struct op_ints values_int64s;
    struct op_floats values_floats;
    struct op_tensor values_tensor;
    char* default_string;
    int default_int64;
    float default_float;
    struct op_tensor default_tensor;
};

TENGINE_EXTERN_C_BEGIN

// A list of LabelEncoder's, from an attribute or a tensor: int64, float32, float64 or strings.
struct label_list
{
    int data_type;
    int64_t num;
    const void* values;
};

struct label_list get_label_keys(const struct ml_label_param* param);
struct label_list get_label_values(const struct ml_label_param* param);

TENGINE_EXTERN_C_END
