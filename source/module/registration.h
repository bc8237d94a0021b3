// SPDX-License-Identifier: Apache-2.0
// The entries that init_tengine registers: constant arrays that CMake generates
// (cmake/registry.cmake) from the folders of source/device and source/serializer and the files
// source/operator/*_ops.c.
#pragma once

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

// `enter` and `leave` return 0 or a negative TENGINE_E... code. `leave` is only called after a
// successful `enter`.
struct tengine_registration
{
    const char* name;  // the folder's name, for messages
    int (*enter)(void);
    int (*leave)(void);
};

// Sorted by name, the default device last. An empty row follows the last.
extern const struct tengine_registration tengine_device_registrations[];
extern const int tengine_device_registration_num;
extern const struct tengine_registration tengine_serializer_registrations[];
extern const int tengine_serializer_registration_num;

// The constant tables of operator/operator.h, one per file, sorted by name.
struct operator_table;
extern const struct operator_table* const tengine_operator_tables[];
extern const int tengine_operator_table_num;

TENGINE_EXTERN_C_END
