// SPDX-License-Identifier: Apache-2.0
// C API, group Context, and the default device. The list itself is in graph/context.h, the table of
// options in graph/option.h.
#include "graph/context.h"

#include <string.h>

#include "api/check.h"
#include "graph/option.h"
#include "module/module.h"
#include "scheduler/scheduler.h"

context_t create_context(const char* context_name, int empty_context)
{
    if (check_initialised(__func__) < 0) return api_pointer(NULL);
    ir_context_t* context = create_ir_context(context_name);
    if (!context) return api_pointer(NULL);
    if ((!empty_context && add_ir_context_device(context, get_first_device(), NULL, 0) < 0) ||
        add_handle(context, HANDLE_CONTEXT, NULL) < 0) {
        destroy_ir_context(context);
        return api_pointer(NULL);
    }
    return context;
}

void destroy_context(context_t context)
{
    if (!context) return;
    ir_context_t* target = find_context(context, __func__);
    if (!target)
        api_failure();
    else if (remove_context_handle(target))
        destroy_ir_context(target);
}

int get_context_device_number(context_t context)
{
    const ir_context_t* target = find_context(context, __func__);
    return !target ? api_failure() : get_vector_num(target->devices);
}

int add_context_device(context_t context, const char* dev_name)
{
    return set_context_device(context, dev_name, NULL, 0);
}

int set_context_device(context_t context, const char* dev_name, const void* dev_option,
                       size_t dev_opt_size)
{
    ir_context_t* target = find_context(context, __func__);
    struct device* device = NULL;
    if (!target || require_device(dev_name, __func__, "the device name", &device) < 0)
        return api_failure();
    if ((!dev_option) != (dev_opt_size == 0))
        return api_result(
            tengine_error_set(TENGINE_EINVAL, "%s: device '%s': option is %s, but its size is %zu",
                              __func__, dev_name, !dev_option ? "NULL" : "given", dev_opt_size));
    return api_result(add_ir_context_device(target, device, dev_option, dev_opt_size));
}

int remove_context_device(context_t context, const char* dev_name)
{
    ir_context_t* target = find_context(context, __func__);
    if (!target) return api_failure();
    if (!dev_name) return 0;
    struct device* device = NULL;
    if (require_device(dev_name, __func__, "the device name", &device) < 0) return api_failure();
    return api_result(remove_ir_context_device(target, device));
}

// The table of options does not have the names of schedulers; an unknown one is an error here, not
// in prerun_graph.
static int check_scheduler(const char* name)
{
    struct scheduler* unused;
    return *name ? require_ir_scheduler(name, &unused) : TENGINE_OK;
}

// Lets the device check the value.
static int check_device_option(struct device* device, const char* key, const char* value,
                               const char* function)
{
    if (!device->interface->check_option)
        return tengine_error_set(TENGINE_ENOENT,
                                 "%s: device '%s' has no option '%.100s': it has no options by key",
                                 function, device->name, key);
    if (key[0] == '\0')
        return tengine_error_set(TENGINE_ENOENT,
                                 "%s: key '%s.' is incomplete: expected %s.<option>", function,
                                 device->name, device->name);
    tengine_error_clear();
    const int status = device->interface->check_option(device, key, value);
    if (status == TENGINE_OK || (status < 0 && tengine_error_code() == status)) return status;
    return tengine_error_set(status < 0 ? status : TENGINE_EDEVICE,
                             "%s: device '%s': option '%.100s': value '%.100s' rejected (%d)",
                             function, device->name, key, value, status);
}

static int set_option(ir_context_t* context, const char* key, const char* value,
                      const char* function)
{
    const char* device_key;
    TENGINE_RETURN_IF_ERROR(check_name(key, function, "key"));
    TENGINE_RETURN_IF_ERROR(check_pointer(value, function, "value"));
    if (strcmp(key, "scheduler") == 0) TENGINE_RETURN_IF_ERROR(check_scheduler(value));
    ir_context_device_t* entry =
        !find_ir_option(key) ? find_ir_option_device(context, key, &device_key) : NULL;
    if (!entry) return set_ir_context_option(context, key, value);
    TENGINE_RETURN_IF_ERROR(check_device_option(entry->device, device_key, value, function));
    return set_ir_context_device_option(context, entry->device, device_key, value);
}

int tengine_context_set_option(context_t context, const char* key, const char* value)
{
    ir_context_t* target = find_context(context, __func__);
    return !target ? api_failure() : api_result(set_option(target, key, value, __func__));
}

const char* tengine_context_get_option(context_t context, const char* key)
{
    const ir_context_t* target = find_context(context, __func__);
    const char* device_key;
    if (!target || check_name(key, __func__, "key") < 0) return api_pointer(NULL);
    if (find_ir_option(key)) return get_ir_context_option(target, key);
    const ir_context_device_t* entry = find_ir_option_device(target, key, &device_key);
    if (!entry) {
        fail_ir_option(target, key);
        return api_pointer(NULL);
    }
    const char* value = find_ir_key_value(entry->key_values, device_key);
    if (!value)  // "not set" is a result, not an error to log
        tengine_error_set(TENGINE_ENOENT, "%s: device '%s': option '%.100s' is not set", __func__,
                          entry->device->name, device_key);
    return value;
}

static int fail_no_attributes(const char* function)
{
    return tengine_error_set(
        TENGINE_ENOTSUP,
        "%s: a context has no attributes; set its options with tengine_context_set_option",
        function);
}

int set_context_attr(context_t context, const char* attr_name, const void* val, int val_size)
{
    (void)val, (void)val_size;
    if (!find_context(context, __func__) || check_name(attr_name, __func__, "attr_name") < 0)
        return api_failure();
    return api_result(fail_no_attributes(__func__));
}

int get_context_attr(context_t context, const char* attr_name, void* val, int val_size)
{
    (void)val, (void)val_size;
    if (!find_context(context, __func__) || check_name(attr_name, __func__, "attr_name") < 0)
        return api_failure();
    return api_result(fail_no_attributes(__func__));
}

int set_default_device(const char* device)
{
    if (check_initialised(__func__) < 0 || check_name(device, __func__, "device") < 0)
        return api_failure();
    return api_result(set_first_device(device));
}

const char* get_default_device(void)
{
    return check_initialised(__func__) < 0 ? api_pointer(NULL) : get_first_device()->name;
}
