// SPDX-License-Identifier: Apache-2.0
// The saved part of a vendor's device (source/adapter): byte code, and its entry point for the
// part.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tengine/error.h"

TENGINE_EXTERN_C_BEGIN

// The head, followed by the entry point, the SDK's version, and as strings that end with a NUL the
// maker and the model of the chip (zeros in older files); the module lies at SAVED_CALL_MODULE.
typedef struct saved_call_head
{
    char magic[8];
    uint64_t entry_size;
    uint64_t sdk_size;
    uint64_t module_size;
    uint64_t is_shared;  // 0 or 1: the module has entry points of several parts
} saved_call_head_t;

#define SAVED_CALL_MAGIC "TVENDOR2"
#define SAVED_CALL_MODULE 4096

typedef struct saved_call
{
    saved_call_head_t head;
    const char* entry_point;  // head.entry_size bytes, without a NUL
    const char* sdk_version;  // head.sdk_size bytes
    const char* maker;        // "": not known
    const char* chip;
    const void* module;  // head.module_size bytes
} saved_call_t;

// Whether the bytes are such a part; the pointers lie in them.
bool read_saved_call(const void* data, size_t size, saved_call_t* out_call);

TENGINE_EXTERN_C_END
