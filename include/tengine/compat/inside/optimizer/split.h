// SPDX-License-Identifier: Apache-2.0
// For device folders written for Tengine Lite, which include it: how a graph is split.
#pragma once

#include "tengine/device.h"
