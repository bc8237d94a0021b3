// SPDX-License-Identifier: Apache-2.0
// Calls of code that the library was not built with and that may throw: constructors of a shared
// library, functions of a plug-in. foreign_call.cc is the one C++ file of this room.
#pragma once

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

// dlopen() of `file_name`; *out_library is its result, NULL when it failed. TENGINE_EDEVICE
// when a constructor of the library, or of one that it needs, threw: it then stays in the process,
// half made.
int open_foreign_library(const char* file_name, int flags, void** out_library);

// Returns the result of the function; TENGINE_EDEVICE when it threw. `what` names the function in
// the message.
int call_foreign_entry(int (*entry)(void), const char* what, int* out_returned);
int call_foreign_getter(const void* (*getter)(void), const char* what, const void** out_returned);

TENGINE_EXTERN_C_END
