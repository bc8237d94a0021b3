// SPDX-License-Identifier: Apache-2.0
// Generic code on the field lists of operator.h: default values, setting and reading parameters by
// name with validation, copying, freeing, printing.
#pragma once

#include "base/sha256.h"
#include "base/text.h"
#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

// init_op_param() allocates param_mem with default values, release_op_param() frees it.
int init_op_param(ir_op_t* op, const ir_method_t* method);
void release_op_param(ir_op_t* op);
// Gives an attribute of numbers, or a list of them, its default again.
void reset_op_number(ir_op_t* op, const op_field_t* field);
// Makes deep copies of the parameters that both operators have under the same name and kind.
int copy_op_param(ir_op_t* target, const ir_op_t* origin);

// Whether both are the same operator, of the same opset, with the same parameters. Operators with
// parameters of a node's own (added_field.h) are never the same.
bool has_same_op_param(const ir_op_t* a, const ir_op_t* b);

// Adds an operator, its opset and all its parameters to a hash.
void digest_op(sha256_t* hash, const ir_op_t* op);

// Returns the bytes of the tensors among a node's parameters.
size_t get_node_tensor_bytes(const struct node* node);

// Returns the field `name` that is valid in opset `version`, NULL when there is none.
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

// Whether a parameter, at `memory`, has its default value.
bool is_default_param(const op_field_t* field, const void* memory);
// Whether a file must have the parameter: its value is not the default or, when the meaning of the
// operator is not known here, it has a value at all.
bool is_given_param(const ir_method_t* method, const op_field_t* field, const void* memory);

// Checks that all required parameters are set and the numbers of inputs and outputs are in the
// row's range.
int check_node(const struct node* node);
// Checks the numbers of inputs and outputs alone.
int check_node_counts(const struct node* node);

// Returns the parameter with this index among those that differ from their default; NULL after the
// last.
const op_field_t* find_given_param(const struct node* node, int index);
// Prints the value of a parameter: "[3,3]".
void print_param(const struct node* node, const op_field_t* field, text_t* out_text);
// Prints the parameters that differ from their default, as in "kernel_shape=[3,3] group=1".
void print_node_params(const struct node* node, text_t* out_text);

TENGINE_EXTERN_C_END
