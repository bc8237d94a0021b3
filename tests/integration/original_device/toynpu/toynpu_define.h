// SPDX-License-Identifier: Apache-2.0
// What programs see of the device.
#pragma once

#define TOYNPU_DEV_NAME "TOYNPU"
