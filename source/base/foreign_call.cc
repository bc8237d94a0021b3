// SPDX-License-Identifier: Apache-2.0
#include "base/foreign_call.h"

#include <dlfcn.h>

#include <exception>

#include "tengine/error.h"

namespace {

template <class Work>
int guard_foreign(const char* what, const Work& work)
{
    try {
        work();
        return TENGINE_OK;
    } catch (const std::exception& failure) {
        return tengine_error_set(TENGINE_EDEVICE, "%s threw: %s", what, failure.what());
    } catch (...) {
        return tengine_error_set(TENGINE_EDEVICE, "%s threw what is not a std::exception", what);
    }
}

}  // namespace

int open_foreign_library(const char* file_name, int flags, void** out_library)
{
    // The header declares dlopen() as not throwing: the compiler would drop the handler around a
    // direct call.
    void* (*const volatile open)(const char*, int) = dlopen;
    *out_library = nullptr;
    return guard_foreign("a constructor of the library",
                         [&] { *out_library = open(file_name, flags); });
}

int call_foreign_entry(int (*entry)(void), const char* what, int* out_returned)
{
    return guard_foreign(what, [&] { *out_returned = entry(); });
}

int call_foreign_getter(const void* (*getter)(void), const char* what, const void** out_returned)
{
    return guard_foreign(what, [&] { *out_returned = getter(); });
}
