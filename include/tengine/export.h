// SPDX-License-Identifier: Apache-2.0
// Visibility and compiler-check attributes of the public headers.
#pragma once

#if defined(_MSC_VER)
#define TENGINE_API __declspec(dllexport)
#define TENGINE_PRINTF(format_index, first_argument)
#define TENGINE_MUST_USE
#elif defined(__GNUC__)
#define TENGINE_API __attribute__((visibility("default")))
#define TENGINE_PRINTF(format_index, first_argument) \
    __attribute__((format(printf, format_index, first_argument)))
#define TENGINE_MUST_USE __attribute__((warn_unused_result))
#else
#define TENGINE_API
#define TENGINE_PRINTF(format_index, first_argument)
#define TENGINE_MUST_USE
#endif

// A function that C calls by its name, defined in C or C++; and declarations of such functions in a
// header.
#if defined(__cplusplus)
#define TENGINE_C_LINKAGE extern "C"
#define TENGINE_EXTERN_C_BEGIN extern "C" {
#define TENGINE_EXTERN_C_END }
#else
#define TENGINE_C_LINKAGE
#define TENGINE_EXTERN_C_BEGIN
#define TENGINE_EXTERN_C_END
#endif

// C99 has no unnamed unions; compilers that support them as an extension do not warn here.
#if defined(__GNUC__)
#define TENGINE_EXTENSION __extension__
#else
#define TENGINE_EXTENSION
#endif
