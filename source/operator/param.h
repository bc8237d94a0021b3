// SPDX-License-Identifier: Apache-2.0
// Generic code on the field lists of operator.h: default values, setting and reading parameters by
// name with validation, copying, freeing, printing.
#pragma once

#include "base/sha256.h"
#include "base/text.h"
#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

// Allocates param_mem with defaults / frees it.
int init_op_param(ir_op_t* op, const ir_method_t* method);
void release_op_param(ir_op_t* op);
// Deep copies of the parameters that both operators have under the same name and kind.
int copy_op_param(ir_op_t* target, const ir_op_t* origin);

// Whether both are the same operator, of the same opset, with the same parameters. Operators with
// parameters of a node's own (added_field.h) are never the same.
bool has_same_op_param(const ir_op_t* a, const ir_op_t* b);

// Adds an operator, its opset and all its parameters to a hash.
void digest_op(sha256_t* hash, const ir_op_t* op);

// Bytes of the tensors among a node's parameters.
size_t get_node_tensor_bytes(const struct node* node);

// Field `name` valid in opset `version`, NULL when there is none.
const op_field_t* find_op_field(const ir_method_t* method, const char* name, int version);

// Set one parameter. Errors name node and attribute: ENOENT unknown attribute, EINVAL wrong kind,
// ERANGE value outside the allowed range or choices.
int set_node_int(struct node* node, const char* name, int64_t value);
int set_node_float(struct node* node, const char* name, float value);
int set_node_text(struct node* node, const char* name, const char* value, size_t length);
int set_node_ints(struct node* node, const char* name, const int64_t* values, int num);
int set_node_floats(struct node* node, const char* name, const float* values, int num);
int set_node_texts(struct node* node, const char* name, const char* const* values, int num);
// Copies the tensor's bytes.
int set_node_tensor(struct node* node, const char* name, const struct op_tensor* value);

// Whether a parameter, at `memory`, has the value it starts with.
bool is_default_param(const op_field_t* field, const void* memory);
// Whether a file must have the parameter: it differs from its first value or, where the meaning
// of the operator is not known here, it has a value at all.
bool is_given_param(const ir_method_t* method, const op_field_t* field, const void* memory);

// All required parameters are set and input/output counts are in the row's range.
int check_node(const struct node* node);
// They state only how many inputs and outputs there are.
int check_node_counts(const struct node* node);

// "kernel_shape=[3,3] group=1": parameters that differ from their default.
void print_node_params(const struct node* node, text_t* out_text);

TENGINE_EXTERN_C_END
