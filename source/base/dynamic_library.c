// SPDX-License-Identifier: Apache-2.0
// See dynamic_library.h. A library is what dlopen() returns.
#define _GNU_SOURCE  // dladdr()
#include "base/dynamic_library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <sys/stat.h>

#include "tengine/error.h"

static const char* explain(void)
{
    const char* sentence = dlerror();
    return sentence ? sentence : "unknown error of the loader";
}

// The loader would wait for somebody who writes into a pipe.
static bool is_pipe_or_device(const char* file_name)
{
    struct stat info;
    return strchr(file_name, '/') && stat(file_name, &info) == 0 && !S_ISREG(info.st_mode) &&
           !S_ISDIR(info.st_mode);
}

// A library finds the functions of this one in the process. They are not seen there when this one
// came with a library that was opened for itself alone: a module of Python, a provider of another
// runtime. This stays as long as this library is loaded.
static void lend_own_functions(void)
{
    Dl_info own;
    if (!dladdr((void*)(uintptr_t)open_dynamic_library, &own) || !own.dli_fname) return;
    void* handle = dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
    if (handle) dlclose(handle);
    dlerror();  // the program itself, which lends what it exports
}

int open_dynamic_library(const char* file_name, dynamic_library_t** out_library)
{
    if (is_pipe_or_device(file_name))
        return tengine_error_set(TENGINE_EIO, "%s: it is not a regular file", file_name);
    lend_own_functions();
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
