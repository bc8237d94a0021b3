// SPDX-License-Identifier: Apache-2.0
// The room calibration: post-training quantisation from samples (tengine/calibration.h). It is a
// client of the C API: graphs are made, run and read through include/tengine, as a program does.
//
// Failures of this room. Those of the C API, which has logged them, are returned as they are.
#pragma once

#include "tengine/export.h"

namespace tengine::calibration {

// Records and logs a failure; returns `code`.
TENGINE_PRINTF(2, 3) int fail(int code, const char* format, ...);

}  // namespace tengine::calibration
