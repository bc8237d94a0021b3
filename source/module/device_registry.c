// SPDX-License-Identifier: Apache-2.0
// Devices known to the process, in the order of registration.
#include <string.h>

#include "module/module.h"

static struct vector* devices;  // of struct device*
static struct device* first_device;

int get_device_count(void)
{
    return devices ? get_vector_num(devices) : 0;
}

struct device* find_device_via_index(int index)
{
    struct device** entry = devices ? get_vector_data(devices, index) : NULL;
    return entry ? *entry : NULL;
}

struct device* find_device_via_name(const char* name)
{
    for (int i = 0; name && i < get_device_count(); ++i)
        if (strcmp(find_device_via_index(i)->name, name) == 0) return find_device_via_index(i);
    return NULL;
}

struct device* find_default_device(void)
{
    return find_device_via_name(TENGINE_DEFAULT_DEVICE);
}

static int check_device(const struct device* device)
{
    if (!device || !device->name || !*device->name)
        return tengine_error_set(TENGINE_EINVAL, "a device needs a name");
    const struct
    {
        const char* name;
        bool present;
    } needed[] = {
        {"interface", device->interface != NULL},
        {"interface.init", device->interface && device->interface->init},
        {"interface.pre_run", device->interface && device->interface->pre_run},
        {"interface.run", device->interface && device->interface->run},
        {"interface.post_run", device->interface && device->interface->post_run},
        {"interface.release_device", device->interface && device->interface->release_device},
        {"allocator", device->allocator != NULL},
        {"allocator.describe", device->allocator && device->allocator->describe},
    };
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); ++i)
        if (!needed[i].present)
            return tengine_error_set(TENGINE_EINVAL, "device '%s' lacks %s", device->name,
                                     needed[i].name);
    if (find_device_via_name(device->name))
        return tengine_error_set(TENGINE_EEXIST, "a device '%s' is already registered",
                                 device->name);
    return TENGINE_OK;
}

// The registry's entry of a device, NULL when it has none.
static struct device** find_entry(const struct device* device)
{
    for (int i = 0; i < get_device_count(); ++i) {
        struct device** entry = get_vector_data(devices, i);
        if (*entry == device) return entry;
    }
    return NULL;
}

int register_device(struct device* device)
{
    TENGINE_RETURN_IF_ERROR(check_device(device));
    if (!devices) devices = create_vector(sizeof(struct device*), NULL);
    if (!devices) return tengine_error_set(TENGINE_ENOMEM, "no memory for the device registry");
    tengine_error_clear();
    const int status = device->interface->init(device);
    if (status < 0) {
        if (tengine_error_code() == 0)
            tengine_error_set(TENGINE_EDEVICE, "device '%s': init returned %d", device->name,
                              status);
        return tengine_error_code();
    }
    if (push_vector_data(devices, &device) == 0) return TENGINE_OK;
    device->interface->release_device(device);
    return tengine_error_set(TENGINE_ENOMEM, "no memory to register device '%s'", device->name);
}

int unregister_device(struct device* device)
{
    if (remove_vector_via_pointer(devices, find_entry(device)) < 0)
        return tengine_error_set(TENGINE_ENOENT, "device '%s' is not registered",
                                 device && device->name ? device->name : "");
    if (first_device == device) first_device = NULL;
    if (get_vector_num(devices) == 0) {
        release_vector(devices);
        devices = NULL;
    }
    if (device->interface->release_device(device) < 0)
        return tengine_error_set(TENGINE_EDEVICE, "device '%s': release_device failed",
                                 device->name);
    return TENGINE_OK;
}

int set_first_device(const char* name)
{
    struct device* device = find_device_via_name(name);
    if (!device) return tengine_error_set(TENGINE_ENOENT, "unknown device '%s'", name ? name : "");
    first_device = device;
    return TENGINE_OK;
}

struct device* get_first_device(void)
{
    return first_device ? first_device : find_default_device();
}
