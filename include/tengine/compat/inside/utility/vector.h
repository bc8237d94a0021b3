// SPDX-License-Identifier: Apache-2.0
// For device folders written for Tengine Lite, which include it: the array of the contract.
#pragma once

#include "tengine/vector.h"
