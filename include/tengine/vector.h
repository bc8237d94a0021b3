// SPDX-License-Identifier: Apache-2.0
// The container of the device contract: a growing array of elements that are copied by value.
// device.h passes lists of operators, precisions, tensors and nodes in it.
#pragma once

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

// Members may be read; only the functions below may change a vector.
// One thread at a time may change a vector; many threads may read a vector that does not change.
typedef struct vector
{
    int elem_size;   // bytes of an element
    int elem_num;    // elements in use
    int entry_size;  // bytes from one element to the next: always elem_size, `mem` is a plain array
    int space_num;   // capacity in elements
    int ahead_num;   // least number of elements to grow by
    void* real_mem;  // the allocated memory
    void* mem;       // the first element, 64-byte aligned

    void (*free_func)(void*);  // (optional) gets the address of an element that is removed
} vector_t;

// An empty vector; NULL when elem_size < 1 or when out of memory. `free_func` may be NULL; it is
// called for every element that release, remove or a shrinking resize removes, not for one that
// set_vector_data() overwrites, and must not touch the vector. Release with release_vector().
TENGINE_API vector_t* create_vector(int elem_size, void (*free_func)(void*));

// Releases the elements, then the vector. NULL is allowed.
TENGINE_API void release_vector(vector_t* v);

// Number of elements; 0 for NULL.
TENGINE_API int get_vector_num(const vector_t* v);

// Makes the vector hold exactly `new_size` elements: drops the last ones or appends elements whose
// bytes are all zero (a free_func must accept these). 0, or -1 (v NULL, new_size < 0, out of
// memory); the vector is then as before.
TENGINE_API int resize_vector(vector_t* v, int new_size);

// Appends a copy of the element at `data`, which may be an element of `v` itself.
// 0, or -1 (v or data NULL, out of memory); the vector is then as before.
TENGINE_API int push_vector_data(vector_t* v, const void* data);

// Overwrites an element that exists. 0, or -1 (v or data NULL, index out of range).
TENGINE_API int set_vector_data(vector_t* v, int index, const void* data);

// The address of an element, valid until the next push, resize or remove.
// NULL when v is NULL or index is out of range.
TENGINE_API void* get_vector_data(const vector_t* v, int index);

// Removes the element at `data`, an address that get_vector_data() gave; later elements move down.
// 0, or -1 when `data` is not the address of an element.
TENGINE_API int remove_vector_via_pointer(vector_t* v, const void* data);

// Removes an element; later elements move down. Does nothing when index is out of range.
TENGINE_API void remove_vector_via_index(vector_t* v, int index);

TENGINE_EXTERN_C_END
