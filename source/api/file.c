// SPDX-License-Identifier: Apache-2.0
// C API, group File.
#include "tengine/file.h"

#include "api/check.h"
#include "base/replace_file.h"

static int replace(const char* path, const void* bytes, size_t size, const char* function)
{
    TENGINE_RETURN_IF_ERROR(check_name(path, function, "path"));
    if (size > 0) TENGINE_RETURN_IF_ERROR(check_pointer(bytes, function, "bytes"));
    return replace_file(path, bytes, size);
}

int tengine_file_replace(const char* path, const void* bytes, size_t size)
{
    return api_result(replace(path, bytes, size, __func__));
}

static int put(const char* folder, const char* name, const void* bytes, size_t size,
               const char* function)
{
    TENGINE_RETURN_IF_ERROR(check_name(folder, function, "folder"));
    TENGINE_RETURN_IF_ERROR(check_name(name, function, "name"));
    if (size > 0) TENGINE_RETURN_IF_ERROR(check_pointer(bytes, function, "bytes"));
    return put_file(folder, name, bytes, size);
}

int tengine_file_put(const char* folder, const char* name, const void* bytes, size_t size)
{
    return api_result(put(folder, name, bytes, size, __func__));
}
