// SPDX-License-Identifier: Apache-2.0
// The ordered device list of a context.
#include "graph/context.h"

#include <string.h>

#include "base/alloc.h"
#include "tengine/device.h"

static void release_entry(void* data)
{
    free_memory(((ir_context_device_t*)data)->options);
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
    tengine_error_set(TENGINE_ENOMEM, "no memory for a context");
    return NULL;
}

void destroy_ir_context(ir_context_t* context)
{
    if (!context) return;
    if (context->devices) release_vector(context->devices);
    free_memory(context->name);
    free_memory(context);
}

ir_context_device_t* find_ir_context_device(const ir_context_t* context,
                                            const struct device* device)
{
    for (int i = 0; i < get_vector_num(context->devices); i++) {
        ir_context_device_t* entry = get_vector_data(context->devices, i);
        if (entry->device == device) return entry;
    }
    return NULL;
}

int add_ir_context_device(ir_context_t* context, struct device* device, const void* options,
                          size_t option_size)
{
    if (find_ir_context_device(context, device))
        return tengine_error_set(TENGINE_EEXIST, "context '%s' has device '%s' already",
                                 context->name, device->name);
    ir_context_device_t entry = {device, NULL, 0};
    if (options && option_size > 0) {
        entry.options = alloc_memory(option_size);
        if (!entry.options) goto out_of_memory;
        memcpy(entry.options, options, option_size);
        entry.option_size = option_size;
    }
    if (push_vector_data(context->devices, &entry) == 0) return TENGINE_OK;
    free_memory(entry.options);

out_of_memory:
    return tengine_error_set(TENGINE_ENOMEM, "context '%s': no memory for the options of '%s'",
                             context->name, device->name);
}

int remove_ir_context_device(ir_context_t* context, const struct device* device)
{
    for (int i = 0; i < get_vector_num(context->devices); i++) {
        const ir_context_device_t* entry = get_vector_data(context->devices, i);
        if (entry->device != device) continue;
        remove_vector_via_index(context->devices, i);
        return TENGINE_OK;
    }
    return tengine_error_set(TENGINE_ENOENT, "context '%s' does not have device '%s'",
                             context->name, device->name);
}
