// SPDX-License-Identifier: Apache-2.0
// The devices that a program has chosen, best first, each with its own copy of the option struct.
#pragma once

#include "tengine/ir.h"

TENGINE_EXTERN_C_BEGIN

// An option by key; both strings are the list's own.
typedef struct key_value
{
    char* key;
    char* value;
} ir_key_value_t;

typedef struct context_device
{
    struct device* device;
    void* options;  // copy of the option struct, or NULL
    size_t option_size;
    struct vector* key_values;  // ir_key_value_t; NULL: none are set
} ir_context_device_t;

typedef struct context
{
    char* name;
    struct vector* devices;     // ir_context_device_t, best first
    struct vector* key_values;  // ir_key_value_t, see option.h; NULL: none are set
    uint64_t revision;          // counts the changes of devices and options
    // Custom operators of graphs of this context, see operator/custom/op.h; NULL: none. Another
    // room fills the list; its entries have functions that free them.
    struct vector* custom_ops;
    bool borrows_custom_ops;  // they are another context's
} ir_context_t;

// `name` may be NULL. NULL when out of memory.
ir_context_t* create_ir_context(const char* name);
// A context with the same devices and options, but without custom operators. NULL when out of
// memory.
ir_context_t* copy_ir_context(const ir_context_t* context);
void destroy_ir_context(ir_context_t* context);

// Appends a device. EEXIST when it is in the list already.
int add_ir_context_device(ir_context_t* context, struct device* device, const void* options,
                          size_t option_size);
// ENOENT when it is not in the list.
int remove_ir_context_device(ir_context_t* context, const struct device* device);
// The entry of a device, NULL when the context does not have the device.
ir_context_device_t* find_ir_context_device(const ir_context_t* context,
                                            const struct device* device);

// Sets a key of a list of ir_key_value_t, which the first entry creates. Key and value are copied.
// ENOMEM: the key keeps its old value.
int set_ir_key_value(struct vector** list, const char* key, const char* value);
// NULL when the key is not in the list, which may be NULL.
const char* find_ir_key_value(const struct vector* list, const char* key);

TENGINE_EXTERN_C_END
