// SPDX-License-Identifier: Apache-2.0
// For device folders written for Tengine Lite, which include it: the log.
#pragma once

#include "tengine/log.h"
