// SPDX-License-Identifier: Apache-2.0
// The device and what it adds to the contract's struct: nothing.
#pragma once

#include "toynpu_define.h"

extern "C" {
#include "device/device.h"

struct toynpu_device
{
    struct device base;
};
}
