// SPDX-License-Identifier: Apache-2.0
// C API, group Context, and the default device. The list itself is in graph/context.h.
#include "graph/context.h"

#include "api/check.h"
#include "module/module.h"

context_t create_context(const char* context_name, int empty_context)
{
    if (check_initialised(__func__) < 0) return NULL;
    ir_context_t* context = create_ir_context(context_name);
    if (context == NULL) return NULL;
    if ((!empty_context && add_ir_context_device(context, get_first_device(), NULL, 0) < 0) ||
        add_handle(context, HANDLE_CONTEXT, NULL) < 0) {
        destroy_ir_context(context);
        return NULL;
    }
    return context;
}

void destroy_context(context_t context)
{
    if (context == NULL) return;
    ir_context_t* target = find_context(context, __func__);
    if (target != NULL && remove_context_handle(target)) destroy_ir_context(target);
}

int get_context_device_number(context_t context)
{
    const ir_context_t* target = find_context(context, __func__);
    return target == NULL ? -1 : get_vector_num(target->devices);
}

static int find_device(const char* name, const char* function, struct device** out_device)
{
    TENGINE_RETURN_IF_ERROR(check_name(name, function, "the device name"));
    *out_device = find_device_via_name(name);
    if (*out_device != NULL) return TENGINE_OK;
    return tengine_error_set(TENGINE_ENOENT, "%s: there is no device '%s'", function, name);
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
    if (target == NULL || find_device(dev_name, __func__, &device) < 0) return -1;
    if ((dev_option == NULL) != (dev_opt_size == 0))
        return api_result(tengine_error_set(
            TENGINE_EINVAL, "%s: device '%s': option is %s, but its size is %zu", __func__,
            dev_name, dev_option == NULL ? "NULL" : "given", dev_opt_size));
    return api_result(add_ir_context_device(target, device, dev_option, dev_opt_size));
}

int remove_context_device(context_t context, const char* dev_name)
{
    ir_context_t* target = find_context(context, __func__);
    if (target == NULL) return -1;
    if (dev_name == NULL) return 0;
    struct device* device = NULL;
    if (find_device(dev_name, __func__, &device) < 0) return -1;
    return api_result(remove_ir_context_device(target, device));
}

int set_context_attr(context_t context, const char* attr_name, const void* val, int val_size)
{
    (void)val, (void)val_size;
    if (find_context(context, __func__) == NULL || check_name(attr_name, __func__, "attr_name") < 0)
        return -1;
    return api_result(fail_not_supported(__func__, "attributes of a context are"));
}

int get_context_attr(context_t context, const char* attr_name, void* val, int val_size)
{
    (void)val, (void)val_size;
    if (find_context(context, __func__) == NULL || check_name(attr_name, __func__, "attr_name") < 0)
        return -1;
    return api_result(fail_not_supported(__func__, "attributes of a context are"));
}

int set_default_device(const char* device)
{
    if (check_initialised(__func__) < 0 || check_name(device, __func__, "device") < 0) return -1;
    return api_result(set_first_device(device));
}

const char* get_default_device(void)
{
    return check_initialised(__func__) < 0 ? NULL : get_first_device()->name;
}
