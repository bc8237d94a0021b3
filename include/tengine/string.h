// SPDX-License-Identifier: Apache-2.0
// Strings: the elements of tensors whose data type is TENGINE_DT_STRING. Results, errors, ownership
// and threads are as c_api.h says. A string is valid UTF-8 without a NUL in it. The elements of
// such a tensor are read and written by these functions only: set_tensor_data, set_tensor_buffer,
// get_tensor_data and get_tensor_buffer fail for it with TENGINE_EDTYPE.
#pragma once

#include "tengine/c_api.h"

TENGINE_EXTERN_C_BEGIN

// Sets the strings of an input or a constant, row-major, which are copied; `number` is the number
// of the tensor's elements. For an input it may be called when set_tensor_data may. Fails with
// TENGINE_EDTYPE (the tensor has other elements), TENGINE_EINVAL (neither an input nor a constant,
// a shape that is not known yet, another number, NULL, not UTF-8), TENGINE_ERANGE (a string of more
// than 1 GiB), TENGINE_ESTATE (running), TENGINE_ENOMEM, TENGINE_ENOTSUP (a minimal build).
TENGINE_API int tengine_string_set(tensor_t tensor, const char* const strings[], int number);

// Element `index`, row-major. The string belongs to the graph: that of a constant lasts as long as
// the graph, any other until the next run of the graph begins. NULL on failure: TENGINE_EDTYPE,
// TENGINE_ERANGE (the index), TENGINE_ESTATE (it has no strings yet, or the strings of an earlier
// run have been freed).
TENGINE_API const char* tengine_string_get(tensor_t tensor, int index);

TENGINE_EXTERN_C_END
