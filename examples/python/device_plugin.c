// SPDX-License-Identifier: Apache-2.0
// A plug-in with an interpreter of Python, whose modules register devices (docs/python.md). It is
// compiled with two macros: PYTHON is the file of the interpreter's library, and PROGRAM is the
// Python code that registers the devices.
#define _GNU_SOURCE  // dladdr

#include <dlfcn.h>
#include <stdlib.h>

#include "tengine/plugin.h"

static struct
{
    int (*is_initialized)(void);
    void (*initialize)(int);
    void* (*save_thread)(void);
    int (*ensure)(void);
    void (*release)(int);
    int (*run_string)(const char*, void*);
} python;

static int open_python(void)
{
    // Python's own modules find the interpreter's functions among those of the process.
    void* library = dlopen(PYTHON, RTLD_NOW | RTLD_GLOBAL);
    if (!library) return tengine_error_set(TENGINE_EIO, "%s", dlerror());
    const struct
    {
        void* function;
        const char* name;
    } rows[] = {
        {&python.is_initialized, "Py_IsInitialized"},
        {&python.initialize, "Py_InitializeEx"},
        {&python.save_thread, "PyEval_SaveThread"},
        {&python.ensure, "PyGILState_Ensure"},
        {&python.release, "PyGILState_Release"},
        {&python.run_string, "PyRun_SimpleStringFlags"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        void* found = dlsym(library, rows[i].name);
        if (!found) return tengine_error_set(TENGINE_EIO, "%s", dlerror());
        *(void**)rows[i].function = found;
    }
    return 0;
}

// Makes the package use the library of the program that loads the plug-in.
static int choose_library(void)
{
    static int (*const function)(struct device*, const ir_abi_t*) = register_ir_device;
    Dl_info library;
    if (!dladdr(*(void* const*)&function, &library))
        return tengine_error_set(TENGINE_EIO, "the file of the library is not known");
    return setenv("TENGINE_LIBRARY", library.dli_fname, 1);
}

static int init(void)
{
    if (choose_library() < 0 || open_python() < 0) return -1;
    if (!python.is_initialized()) {
        python.initialize(0);
        // All threads of the program may run the devices, and take the interpreter's lock for it.
        python.save_thread();
    }
    const int state = python.ensure();
    const int status = python.run_string(PROGRAM, NULL);
    python.release(state);
    if (status < 0) return tengine_error_set(TENGINE_EINVAL, "the program in Python failed");
    return 0;
}

TENGINE_PLUGIN("python", "1", init, NULL);
