// SPDX-License-Identifier: Apache-2.0
// Sequences of tensors and optional values, as inputs and results of a graph: tensors whose data
// type is TENGINE_DT_SEQUENCE, TENGINE_DT_OPTIONAL or TENGINE_DT_OPTIONAL_SEQUENCE plus the type of
// the elements. Results, errors, ownership and threads are as c_api.h says. The elements of such a
// tensor are read and written by these functions only; set_tensor_shape, set_tensor_data and
// set_tensor_buffer fail for it with TENGINE_EDTYPE.
#pragma once

#include "tengine/c_api.h"

TENGINE_EXTERN_C_BEGIN

// A tensor in a sequence or in an optional value.
struct tengine_element
{
    int data_type;   // TENGINE_DT_* of a tensor
    int dim_number;  // of dims, 0: a scalar
    int dims[MAX_SHAPE_DIM_NUM];
    const void* data;  // dense, row-major, packed as in a tensor; may be NULL if there are no
                       // elements; strings: pointers to them, as in tengine/string.h
};

// Sets the elements of an input, which are copied; `number` -1: an absent optional value. A change
// of their total size is a change of the input's shape, which needs prerun_graph. Fails with
// TENGINE_EDTYPE (a tensor of another kind, an element of another type), TENGINE_EINVAL (not an
// input, NULL, a dimension below 0, -1 of a sequence, another number than 1 of an optional tensor),
// TENGINE_ERANGE (more dimensions than MAX_SHAPE_DIM_NUM, or more than 2 GiB), TENGINE_ESTATE
// (running), TENGINE_ENOMEM.
TENGINE_API int tengine_sequence_set(tensor_t tensor, const struct tengine_element* elements,
                                     int number);

// The number of elements, 0 for an absent optional value; and 1 for an absent optional value, else
// 0. Fail with TENGINE_EDTYPE, and TENGINE_ESTATE when the tensor has no data yet.
TENGINE_API int tengine_sequence_get_number(tensor_t tensor);
TENGINE_API int tengine_sequence_is_absent(tensor_t tensor);

// An element; its data belongs to the tensor and lives as long as the data of any result. Fails as
// the functions above, and with TENGINE_ERANGE and TENGINE_EINVAL (NULL).
TENGINE_API int tengine_sequence_get(tensor_t tensor, int index,
                                     struct tengine_element* out_element);

TENGINE_EXTERN_C_END
