// SPDX-License-Identifier: Apache-2.0
// The common part of functions on attributes: attribute.c sets and gets values, attribute_pointer.c
// pointers to them.
#pragma once

#include "api/handle.h"
#include "operator/param.h"

TENGINE_EXTERN_C_BEGIN

// Finds the node's parameter `attr_name`; TENGINE_ENOENT lists those of the node.
int find_attribute(const struct node* node, const char* function, const char* attr_name,
                   const op_field_t** out_field);

// The address of the node's parameter.
const void* get_attribute_member(const struct node* node, const op_field_t* field);

// The name of the field's type; "int[]" for a list of integers.
const char* get_attribute_type_name(const op_field_t* field);

// Sets a list of integers. Tengine's operators may have a field with the length of the list: it is
// set, too.
int set_attribute_ints(struct node* node, const op_field_t* field, const int32_t* values,
                       int number);
int set_attribute_floats(struct node* node, const op_field_t* field, const float* values,
                         int number);

// Frees the lists that get_node_attr_pointer() has returned.
void release_lent_memory(api_graph_t* graph);

TENGINE_EXTERN_C_END
