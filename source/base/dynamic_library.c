// SPDX-License-Identifier: Apache-2.0
// See dynamic_library.h. A library is the handle of dlopen().
#define _GNU_SOURCE  // dladdr(), dl_iterate_phdr()
#include "base/dynamic_library.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <sys/stat.h>

#include "base/elf_file.h"
#include "base/foreign_call.h"
#include "tengine/error.h"

static const char* explain(void)
{
    const char* sentence = dlerror();
    return sentence ? sentence : "unknown error of the loader";
}

// dlopen() of a pipe would wait for a program that writes into it.
static bool is_pipe_or_device(const char* file_name)
{
    struct stat info;
    return strchr(file_name, '/') && stat(file_name, &info) == 0 && !S_ISREG(info.st_mode) &&
           !S_ISDIR(info.st_mode);
}

// Makes the functions of this library visible to the libraries that it loads. They are not when
// this library was itself loaded with RTLD_LOCAL, as a module of Python or a provider of another
// runtime is. The effect lasts as long as this library is loaded.
static void lend_own_functions(void)
{
    Dl_info own;
    if (!dladdr((void*)(uintptr_t)open_dynamic_library, &own) || !own.dli_fname) return;
    void* handle = dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
    if (handle) dlclose(handle);
    dlerror();  // the program itself, which lends what it exports
}

// Failures of libraries that a constructor of this library loads are not this library's: they do
// not count here.
static int fail_to_construct(const char* file_name)
{
    char cause[512];
    snprintf(cause, sizeof cause, "%s", tengine_error_message());
    return tengine_error_set(TENGINE_EDEVICE, "%s: %s", file_name, cause);
}

int open_dynamic_library(const char* file_name, dynamic_library_t** out_library)
{
    void* handle = NULL;
    if (is_pipe_or_device(file_name))
        return tengine_error_set(TENGINE_EIO, "%s: it is not a regular file", file_name);
    if (strchr(file_name, '/')) TENGINE_RETURN_IF_ERROR(check_elf_file(file_name));
    lend_own_functions();
    dlerror();
    if (open_foreign_library(file_name, RTLD_NOW | RTLD_LOCAL, &handle) < 0)
        return fail_to_construct(file_name);
    if (!handle) return tengine_error_set(TENGINE_EIO, "%s", explain());
    *out_library = handle;
    return TENGINE_OK;
}

void close_dynamic_library(dynamic_library_t* library)
{
    if (library) dlclose(library);
}

// Whether the segment that holds an address can be executed.
typedef struct searched_segment
{
    uintptr_t address;
    bool is_executable;
} searched_segment_t;

static int visit_library(struct dl_phdr_info* info, size_t size, void* argument)
{
    searched_segment_t* searched = argument;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)* segment = &info->dlpi_phdr[i];
        const uintptr_t begin = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD || searched->address < begin ||
            searched->address - begin >= segment->p_memsz)
            continue;
        searched->is_executable = (segment->p_flags & PF_X) != 0;
        return 1;
    }
    return 0;
}

// Constants may lie in an executable segment beside functions; only the symbol table of the library
// tells them apart.
static bool is_function(const void* symbol)
{
    searched_segment_t searched = {.address = (uintptr_t)symbol};
    dl_iterate_phdr(visit_library, &searched);
#ifdef RTLD_DL_SYMENT
    Dl_info info;
    const ElfW(Sym)* entry = NULL;
    if (dladdr1(symbol, &info, (void**)&entry, RTLD_DL_SYMENT) && entry &&
        (entry->st_info & 0xf) == STT_OBJECT)
        return false;
#endif
    return searched.is_executable;
}

int find_dynamic_function(dynamic_library_t* library, const char* name,
                          dynamic_function_t* out_function)
{
    dlerror();
    void* symbol = dlsym(library, name);
    if (!symbol) return tengine_error_set(TENGINE_ENOENT, "%s", explain());
    if (!is_function(symbol))
        return tengine_error_set(TENGINE_EINVAL, "its '%s' is data, expected a function", name);
    // ISO C has no conversion between the two kinds of pointers; POSIX promises equal ones.
    memcpy(out_function, &symbol, sizeof symbol);
    return TENGINE_OK;
}
