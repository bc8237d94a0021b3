// SPDX-License-Identifier: Apache-2.0
// For device folders written for Tengine Lite, which include it: what runs a graph.
#pragma once

#include "tengine/device.h"
