// SPDX-License-Identifier: Apache-2.0
// Error codes and the message of each thread's last failure. Programs read them through
// get_tengine_errno() and get_tengine_error() of c_api.h; devices set them with
// tengine_error_set().
#pragma once

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

// X(name, value, string), grouped by cause. Values are part of the ABI and never reused.
#define TENGINE_ERROR_LIST(X)                                            \
    /* the caller's mistake */                                           \
    X(TENGINE_EINVAL, -1, "invalid argument")                            \
    X(TENGINE_EHANDLE, -2, "handle is NULL, stale or of another kind")   \
    X(TENGINE_ENOENT, -3, "no such object")                              \
    X(TENGINE_EEXIST, -4, "name is already taken")                       \
    X(TENGINE_ESTATE, -5, "not allowed in the present state")            \
    X(TENGINE_ERANGE, -6, "value out of range")                          \
    X(TENGINE_EGRAPH, -7, "the graph is malformed")                      \
    X(TENGINE_ECANCELED, -8, "cancelled by the program")                 \
    /* a bad file */                                                     \
    X(TENGINE_EIO, -20, "cannot read or write the file")                 \
    X(TENGINE_EFORMAT, -21, "the file is damaged or not of this format") \
    /* not supported */                                                  \
    X(TENGINE_ENOTSUP, -40, "not supported by this version")             \
    X(TENGINE_EOPERATOR, -41, "operator is not supported")               \
    X(TENGINE_EDTYPE, -42, "data type is not supported")                 \
    X(TENGINE_EFALLBACK, -43, "fallback exceeds what is allowed")        \
    X(TENGINE_EVERSION, -44, "compiled for another version")             \
    /* out of resources */                                               \
    X(TENGINE_ENOMEM, -60, "out of memory")                              \
    X(TENGINE_ELIMIT, -61, "a limit is exceeded")                        \
    /* a device */                                                       \
    X(TENGINE_EDEVICE, -80, "device reported a failure")                 \
    /* a mistake of the library */                                       \
    X(TENGINE_EINTERNAL, -100, "internal error, please report it")

enum tengine_error
{
    TENGINE_OK = 0,
#define TENGINE_ERROR_ENUM(name, value, text) name = value,
    TENGINE_ERROR_LIST(TENGINE_ERROR_ENUM)
#undef TENGINE_ERROR_ENUM
};

// Records `code` and the formatted message for the calling thread and returns `code`, so that a
// function fails with `return tengine_error_set(...)`. Messages are cut at 1023 bytes. The message
// states the object, the fault, the values, and the values that are expected.
TENGINE_API int tengine_error_set(int code, const char* format, ...) TENGINE_PRINTF(2, 3);

// Code and message of the calling thread's last failure; 0 and "" when there was none.
// The string stays valid until this thread's next failure or clear.
TENGINE_API int tengine_error_code(void);
TENGINE_API const char* tengine_error_message(void);
TENGINE_API void tengine_error_clear(void);

// The constant string of a code ("invalid argument"), never NULL.
TENGINE_API const char* tengine_error_text(int code);
// The name of a code ("TENGINE_EINVAL", "TENGINE_OK"), "" for other numbers.
TENGINE_API const char* tengine_error_name(int code);

// Propagates a failure whose message has been recorded already.
#define TENGINE_RETURN_IF_ERROR(expression)              \
    do {                                                 \
        const int tengine_status_ = (expression);        \
        if (tengine_status_ < 0) return tengine_status_; \
    } while (0)

TENGINE_EXTERN_C_END
