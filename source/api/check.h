// SPDX-License-Identifier: Apache-2.0
// The room api: the C API. A function checks its arguments, translates them, and calls a room
// below; logic is there.
//
// This header has the checks that most functions of the C API begin with, and the translation from
// status codes to 0 and -1, which logs failures. Handles are checked in handle.h. `function` is the
// name of the API function for the message.
#pragma once

#include "api/handle.h"
#include "graph/declaration.h"

// The end of a function of the C API that fails, when code and message have been set. Logs the
// message once, so a function that calls another returns that one's failure as it is. api_failure()
// returns -1; the others do the same for a status below 0 and for NULL, and else return their
// argument.
int api_failure(void);
int api_result(int status);
void* api_pointer(const void* pointer);

// TENGINE_EINVAL when `pointer` is NULL, or when a name is NULL or empty.
TENGINE_MUST_USE int check_pointer(const void* pointer, const char* function,
                                   const char* parameter);
TENGINE_MUST_USE int check_name(const char* name, const char* function, const char* parameter);

// Structs that later versions extend: a program may know fewer members than the library, or more.
// TENGINE_EINVAL when the struct is NULL or `size`, the program's sizeof, is 0. The second function
// copies the members that both know.
TENGINE_MUST_USE int check_struct(const void* out_struct, size_t size, const char* function,
                                  const char* parameter);
void give_struct(const void* made, size_t made_size, void* out_struct, size_t size);

// Finds the device whose name is the first `length` characters of `name`. TENGINE_ENOENT lists the
// devices.
TENGINE_MUST_USE int find_named_device(const char* name, size_t length, const char* function,
                                       struct device** out_device);
// Fails as check_name() and find_named_device().
TENGINE_MUST_USE int require_device(const char* name, const char* function, const char* parameter,
                                    struct device** out_device);

// TENGINE_ERANGE when `index` is not in 0..number-1; `what` names the items ("input nodes").
TENGINE_MUST_USE int check_index(int index, int number, const char* function, const char* what);

// TENGINE_EINVAL when `layout` is not a TENGINE_LAYOUT_*.
TENGINE_MUST_USE int check_layout(int layout, const char* function);

// TENGINE_EINVAL unless the shape is complete.
TENGINE_MUST_USE int check_shape_known(const struct tensor* tensor, const char* function);
int append_declared_shape(const struct tensor* tensor, int status);  // of add_declared_shape()
// After a failure, whose status is also returned: extends the message by the shape that the model
// declares for the tensor, if any, and the shape that the program has set.
static inline int add_declared_shape(const struct tensor* tensor, int status)
{
    return is_ir_shape_declared(tensor) ? append_declared_shape(tensor, status) : status;
}

// TENGINE_ESTATE in a hook and while runs are in flight.
TENGINE_MUST_USE int check_idle(const api_graph_t* graph, const char* function);

// The same for new data or another buffer of `tensor`, which inputs and outputs may get while runs
// in flight do not use it.
TENGINE_MUST_USE int check_data_idle(const api_graph_t* graph, const struct tensor* tensor,
                                     const char* function);

// The result of a function that changes the graph: after a success, the preparation is out of date.
int end_change(api_graph_t* graph, int status);
// The same for a new shape of an input: the preparation for the old shape may be used again.
int end_reshape(api_graph_t* graph, int status);

// "<what> not supported in this version" with TENGINE_ENOTSUP.
int fail_not_supported(const char* function, const char* what);
