// SPDX-License-Identifier: Apache-2.0
// The answers of devices' describe(), kept for programs that ask for one element after the other.
#pragma once

#include "tengine/device.h"

TENGINE_EXTERN_C_BEGIN

typedef enum device_ability
{
    DEVICE_OPERATOR,  // ids of operators, less those that are blocked
    DEVICE_DATA_TYPE  // TENGINE_DT_*
} device_ability_t;

// The device may be used on several threads at once. ENOMEM; EDEVICE when describe() fails.
//
// Asks the device, and keeps its answer in the place of an older one: returns how many there are.
TENGINE_MUST_USE int count_device_abilities(struct device* device, device_ability_t ability);
// The one at `index` of the answer that is kept; without one the device is asked. Returns how many
// there are; *out_value is left as it is when there is none at `index`.
TENGINE_MUST_USE int read_device_ability(struct device* device, device_ability_t ability, int index,
                                         int* out_value);

// The device is about to leave the registry.
void forget_device_description(const struct device* device);

TENGINE_EXTERN_C_END
