// SPDX-License-Identifier: Apache-2.0
// For device folders written for Tengine Lite, which include it: the contract of a device.
#pragma once

#include "tengine/device.h"
