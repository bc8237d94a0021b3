// SPDX-License-Identifier: Apache-2.0
// The ordered device list of a context, and lists of keys with values. The keys and their allowed
// values are in option.c.
#include "graph/context.h"

#include <string.h>

#include "base/alloc.h"
#include "graph/use.h"
#include "tengine/device.h"

static void release_entry(void* data)
{
    ir_context_device_t* entry = data;
    end_ir_use(entry->device, IR_USER_CONTEXT);
    free_memory(entry->options);
    release_vector(entry->key_values);
}

static void release_key_value(void* data)
{
    ir_key_value_t* entry = data;
    free_memory(entry->key);
    free_memory(entry->value);
}

ir_context_t* create_ir_context(const char* name)
{
    ir_context_t* context = alloc_memory(sizeof(*context));
    if (!context) goto out_of_memory;
    context->name = duplicate_string(name ? name : "");
    context->devices = create_vector(sizeof(ir_context_device_t), release_entry);
    if (context->name && context->devices) return context;
    destroy_ir_context(context);

out_of_memory:
    tengine_error_set(TENGINE_ENOMEM, "out of memory for a context");
    return NULL;
}

static int copy_key_values(struct vector** to, const struct vector* from)
{
    for (int i = 0; i < get_vector_num(from); ++i) {
        const ir_key_value_t* entry = get_vector_data(from, i);
        TENGINE_RETURN_IF_ERROR(set_ir_key_value(to, entry->key, entry->value));
    }
    return TENGINE_OK;
}

static int fill_copy(ir_context_t* to, const ir_context_t* from)
{
    for (int i = 0; i < get_vector_num(from->devices); ++i) {
        const ir_context_device_t* entry = get_vector_data(from->devices, i);
        TENGINE_RETURN_IF_ERROR(
            add_ir_context_device(to, entry->device, entry->options, entry->option_size));
        ir_context_device_t* copy = find_ir_context_device(to, entry->device);
        TENGINE_RETURN_IF_ERROR(copy_key_values(&copy->key_values, entry->key_values));
    }
    return copy_key_values(&to->key_values, from->key_values);
}

ir_context_t* copy_ir_context(const ir_context_t* context)
{
    ir_context_t* copy = create_ir_context(context->name);
    if (!copy || fill_copy(copy, context) == TENGINE_OK) return copy;
    destroy_ir_context(copy);
    return NULL;
}

void destroy_ir_context(ir_context_t* context)
{
    if (!context) return;
    release_vector(context->devices);
    release_vector(context->key_values);
    if (!context->borrows_custom_ops) release_vector(context->custom_ops);
    free_memory(context->name);
    free_memory(context);
}

ir_context_device_t* find_ir_context_device(const ir_context_t* context,
                                            const struct device* device)
{
    for (int i = 0; i < get_vector_num(context->devices); ++i) {
        ir_context_device_t* entry = get_vector_data(context->devices, i);
        if (entry->device == device) return entry;
    }
    return NULL;
}

int add_ir_context_device(ir_context_t* context, struct device* device, const void* options,
                          size_t option_size)
{
    if (find_ir_context_device(context, device))
        return tengine_error_set(TENGINE_EEXIST, "context '%s' already has device '%s'",
                                 context->name, device->name);
    TENGINE_RETURN_IF_ERROR(begin_ir_use(device, device->name, IR_USER_CONTEXT));
    ir_context_device_t entry = {.device = device};
    if (options && option_size > 0) {
        entry.options = alloc_memory(option_size);
        if (!entry.options) goto out_of_memory;
        memcpy(entry.options, options, option_size);
        entry.option_size = option_size;
    }
    ++context->revision;
    if (push_vector_data(context->devices, &entry) == 0) return TENGINE_OK;

out_of_memory:
    release_entry(&entry);
    return tengine_error_set(TENGINE_ENOMEM, "context '%s': out of memory for the options of '%s'",
                             context->name, device->name);
}

int remove_ir_context_device(ir_context_t* context, const struct device* device)
{
    for (int i = 0; i < get_vector_num(context->devices); ++i) {
        const ir_context_device_t* entry = get_vector_data(context->devices, i);
        if (entry->device != device) continue;
        remove_vector_via_index(context->devices, i);
        ++context->revision;
        return TENGINE_OK;
    }
    return tengine_error_set(TENGINE_ENOENT, "context '%s' does not have device '%s'",
                             context->name, device->name);
}

static ir_key_value_t* find_entry(const struct vector* list, const char* key)
{
    for (int i = 0; i < get_vector_num(list); ++i) {
        ir_key_value_t* entry = get_vector_data(list, i);
        if (strcmp(entry->key, key) == 0) return entry;
    }
    return NULL;
}

const char* find_ir_key_value(const struct vector* list, const char* key)
{
    const ir_key_value_t* entry = find_entry(list, key);
    return entry ? entry->value : NULL;
}

static int append_key_value(struct vector** list, const char* key, char* value)
{
    if (!*list) *list = create_vector(sizeof(ir_key_value_t), release_key_value);
    const ir_key_value_t entry = {duplicate_string(key), value};
    if (*list && entry.key && push_vector_data(*list, &entry) == 0) return TENGINE_OK;
    free_memory(entry.key);
    return TENGINE_ENOMEM;
}

int set_ir_key_value(struct vector** list, const char* key, const char* value)
{
    // The value is copied before the old one is freed: it may be the same string.
    char* copy = duplicate_string(value);
    ir_key_value_t* entry = find_entry(*list, key);
    if (copy && entry) {
        free_memory(entry->value);
        entry->value = copy;
        return TENGINE_OK;
    }
    if (copy && append_key_value(list, key, copy) == TENGINE_OK) return TENGINE_OK;
    free_memory(copy);
    return tengine_error_set(TENGINE_ENOMEM, "option '%s': out of memory", key);
}
