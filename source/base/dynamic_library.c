// SPDX-License-Identifier: Apache-2.0
// See dynamic_library.h. A library is what dlopen() returns. A minimal build, which may be linked
// into static programs, loads none.
#include "base/dynamic_library.h"

#include <stddef.h>

#include "tengine/error.h"

#ifdef TENGINE_MINIMAL

int open_dynamic_library(const char* file_name, dynamic_library_t** out_library)
{
    *out_library = NULL;
    return tengine_error_set(TENGINE_ENOTSUP,
                             "%s: this build cannot load libraries (CMake option TENGINE_MINIMAL)",
                             file_name);
}

void close_dynamic_library(dynamic_library_t* library)
{
    (void)library;
}

int find_dynamic_function(dynamic_library_t* library, const char* name,
                          dynamic_function_t* out_function)
{
    (void)library;
    *out_function = NULL;
    return tengine_error_set(TENGINE_ENOENT, "%s: this system has no dynamic libraries", name);
}

#else

#include <dlfcn.h>
#include <string.h>

static const char* explain(void)
{
    const char* sentence = dlerror();
    return sentence ? sentence : "unknown error of the loader";
}

int open_dynamic_library(const char* file_name, dynamic_library_t** out_library)
{
    dlerror();
    void* handle = dlopen(file_name, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return tengine_error_set(TENGINE_EIO, "%s", explain());
    *out_library = handle;
    return TENGINE_OK;
}

void close_dynamic_library(dynamic_library_t* library)
{
    if (library) dlclose(library);
}

int find_dynamic_function(dynamic_library_t* library, const char* name,
                          dynamic_function_t* out_function)
{
    dlerror();
    void* symbol = dlsym(library, name);
    if (!symbol) return tengine_error_set(TENGINE_ENOENT, "%s", explain());
    // ISO C has no conversion between the two kinds of pointers; POSIX promises equal ones.
    memcpy(out_function, &symbol, sizeof symbol);
    return TENGINE_OK;
}

#endif
