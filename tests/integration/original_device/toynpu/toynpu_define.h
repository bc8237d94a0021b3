// SPDX-License-Identifier: Apache-2.0
// The name of the device, for programs.
#pragma once

#define TOYNPU_DEV_NAME "TOYNPU"
