// SPDX-License-Identifier: Apache-2.0
// Level and sink of the log, which the C API sets. Writing to it: tengine/log.h.
#pragma once

#include "tengine/log.h"

TENGINE_EXTERN_C_BEGIN

// Process-wide; any thread at any time. Values outside 0..7 are taken as the nearest of these.
void set_log_sink_level(int level);
int get_log_sink_level(void);

// `print` gets each line instead of stderr, up to 255 characters of it; the other one gets its
// level too, and up to 1023. NULL means stderr again, and the last one set counts. It runs on the
// thread that logs, on several at once and without a lock held, so it may itself log or change the
// sink. A line that is on its way while the sink changes may still reach the old one.
void set_log_sink(void (*print)(const char* line));
void set_log_level_sink(void (*print)(int level, const char* line));

TENGINE_EXTERN_C_END
