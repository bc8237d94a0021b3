// SPDX-License-Identifier: Apache-2.0
// For device folders written for Tengine Lite, which include it: parts of a graph.
#pragma once

#include "tengine/ir.h"
