// SPDX-License-Identifier: Apache-2.0
// Sequences of tensors, and optional values, as one block of memory: the data of a tensor of such a
// type, whose only dimension is its number of bytes. They are copied and passed on like any other
// tensor whose shape depends on data.
//
// The block begins with a head and an entry for each element; the elements' values follow at
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

// The kind of container of a data type, TENGINE_DT_SEQUENCE and so on, 0: a tensor; and the type of
// its elements.
int get_ir_container(int data_type);
int get_ir_element_type(int data_type);

ir_element_t get_ir_element_of(const struct tensor* tensor);
// The bytes of an element; SIZE_MAX: more than a size_t holds.
size_t get_ir_element_bytes(const ir_element_t* element);

// The bytes of a sequence of these elements; TENGINE_ERANGE when they exceed the limit of a tensor.
TENGINE_MUST_USE int measure_ir_sequence(const ir_element_t* elements, int num, int* out_bytes);
// Writes a sequence of that many bytes. `is_absent`: an optional value without a value, which has
// no elements.
void write_ir_sequence(const ir_element_t* elements, int num, bool is_absent, void* memory);

bool is_ir_sequence_absent(const void* memory);
int count_ir_sequence(const void* memory);
ir_element_t get_ir_sequence_element(const void* memory, int index);

TENGINE_EXTERN_C_END
