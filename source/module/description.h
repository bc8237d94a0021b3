// SPDX-License-Identifier: Apache-2.0
// Devices' answers to describe(), stored for programs that read one element after the other.
#pragma once

#include "tengine/device.h"

TENGINE_EXTERN_C_BEGIN

typedef enum device_ability
{
    DEVICE_OPERATOR,  // ids of operators, less those that are blocked
    DEVICE_DATA_TYPE  // TENGINE_DT_*
} device_ability_t;

// Asks the device, and stores its answer in place of an older one. Returns the number of elements.
// The device may be in use on several threads. ENOMEM; EDEVICE when describe() fails.
TENGINE_MUST_USE int count_device_abilities(struct device* device, device_ability_t ability);
// Reads the element at `index` of the stored answer, for which the device is asked if there is
// none. Returns the number of elements; *out_value is left as it is when there is none at `index`.
TENGINE_MUST_USE int read_device_ability(struct device* device, device_ability_t ability, int index,
                                         int* out_value);

// Drops the answer of a device that leaves the registry.
void forget_device_description(const struct device* device);

TENGINE_EXTERN_C_END
