// SPDX-License-Identifier: Apache-2.0
// Sequences of tensors, and optional values, as one piece of memory: the data of a tensor of such a
// type, whose only dimension is its bytes. So they are copied, handed on and carried
// round like any other tensor whose shape depends on data.
//
// In front are a head and an entry for each element; the elements' values lie after them, at
// multiples of 64 bytes. An optional value is a sequence of one element, or absent.
#pragma once

#include "tengine/ir.h"

TENGINE_EXTERN_C_BEGIN

typedef struct ir_element
{
    int data_type;
    int dim_num;
    int dims[MAX_SHAPE_DIM_NUM];
    const void* data;  // dense, or packed as in a tensor
} ir_element_t;

// The kind of value that a data type is, TENGINE_DT_SEQUENCE and so on, 0: a tensor; and the type
// of its elements.
int get_ir_container(int data_type);
int get_ir_element_type(int data_type);

ir_element_t get_ir_element_of(const struct tensor* tensor);
// SIZE_MAX: more than a size_t holds.
size_t get_ir_element_bytes(const ir_element_t* element);

// Bytes of a sequence of these elements; TENGINE_ERANGE when they are more than a tensor has.
TENGINE_MUST_USE int measure_ir_sequence(const ir_element_t* elements, int num, int* out_bytes);
// Writes that many bytes. `is_absent`: an optional value that is not there, of no elements.
void write_ir_sequence(const ir_element_t* elements, int num, bool is_absent, void* memory);

bool is_ir_sequence_absent(const void* memory);
int count_ir_sequence(const void* memory);
ir_element_t get_ir_sequence_element(const void* memory, int index);

TENGINE_EXTERN_C_END
