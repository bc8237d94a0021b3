// SPDX-License-Identifier: Apache-2.0
// Model formats known to the process.
#include <string.h>

#include "module/module.h"
#include "serializer/serializer.h"

static struct vector* serializers;  // struct serializer*

int get_serializer_count(void)
{
    return serializers ? get_vector_num(serializers) : 0;
}

struct serializer* find_serializer_via_index(int index)
{
    struct serializer** entry = serializers ? get_vector_data(serializers, index) : NULL;
    return entry ? *entry : NULL;
}

struct serializer* find_serializer_via_name(const char* name)
{
    for (int i = 0; name && i < get_serializer_count(); ++i) {
        struct serializer* serializer = find_serializer_via_index(i);
        if (strcmp(serializer->get_name(serializer), name) == 0) return serializer;
    }
    return NULL;
}

// The registry's entry of a serializer, NULL when it has none.
static struct serializer** find_entry(const struct serializer* serializer)
{
    for (int i = 0; i < get_serializer_count(); ++i) {
        struct serializer** entry = get_vector_data(serializers, i);
        if (*entry == serializer) return entry;
    }
    return NULL;
}

int register_serializer(struct serializer* serializer)
{
    if (!serializer || !serializer->get_name)
        return tengine_error_set(TENGINE_EINVAL, "a serializer needs a name");
    const char* name = serializer->get_name(serializer);
    if (find_serializer_via_name(name))
        return tengine_error_set(TENGINE_EEXIST, "a serializer '%s' is already registered", name);
    if (!serializers) serializers = create_vector(sizeof(struct serializer*), NULL);
    if (!serializers || push_vector_data(serializers, &serializer) < 0)
        return tengine_error_set(TENGINE_ENOMEM,
                                 "serializer '%s': out of memory while registering it", name);
    const int status = serializer->init ? serializer->init(serializer) : TENGINE_OK;
    if (status < 0) remove_vector_via_pointer(serializers, find_entry(serializer));
    return status;
}

int unregister_serializer(struct serializer* serializer)
{
    if (remove_vector_via_pointer(serializers, find_entry(serializer)) < 0)
        return tengine_error_set(TENGINE_ENOENT, "that serializer is not registered");
    if (get_vector_num(serializers) == 0) {
        release_vector(serializers);
        serializers = NULL;
    }
    return serializer->release ? serializer->release(serializer) : TENGINE_OK;
}
