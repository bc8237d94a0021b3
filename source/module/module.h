// SPDX-License-Identifier: Apache-2.0
// The room module: the registries of devices and serializers and the order in which everything is
// brought up. It names no device, format or operator; generated lists do (registration.h).
// Operators are registered in operator/registry.h, which this header includes.
#pragma once

#include "operator/registry.h"
#include "tengine/device.h"

TENGINE_EXTERN_C_BEGIN

struct serializer;

// Operators, then serializers, then devices, from the lists CMake generated. A failing entry is
// reported with its name, registrations are undone, and its code is returned. Idempotent.
int init_modules(void);
// Releases everything in reverse order; a no-op when not initialised.
void release_modules(void);
bool are_modules_initialised(void);

int register_serializer(struct serializer* serializer);
int unregister_serializer(struct serializer* serializer);
// Defines register_<name>_serializer() and unregister_<name>_serializer(), as TENGINE_DEFINE_DEVICE
// does.
#define TENGINE_DEFINE_SERIALIZER(name, pointer) \
    TENGINE_DEFINE_REGISTRATION(name, serializer, pointer)
struct serializer* find_serializer_via_name(const char* name);
struct serializer* find_serializer_via_index(int index);
int get_serializer_count(void);

// Sets the first device of a new, non-empty context; until then find_default_device(), which takes
// every node and comes last. ENOENT for an unknown name.
int set_first_device(const char* name);
struct device* get_first_device(void);

TENGINE_EXTERN_C_END
