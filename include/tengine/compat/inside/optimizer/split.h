// SPDX-License-Identifier: Apache-2.0
// For device folders written for Tengine Lite, which include it: the split of a graph.
#pragma once

#include "tengine/device.h"
