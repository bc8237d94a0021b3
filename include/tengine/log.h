// SPDX-License-Identifier: Apache-2.0
// The log, for the library and for devices. Programs choose level and sink with set_log_level(),
// set_log_output() and tengine_log_set_sink() of c_api.h.
#pragma once

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

// The values of c_api.h's `enum log_level`. That enum is not used here because its member names
// collide with <syslog.h>.
#define TENGINE_LOG_EMERG 0
#define TENGINE_LOG_ALERT 1
#define TENGINE_LOG_CRIT 2
#define TENGINE_LOG_ERR 3
#define TENGINE_LOG_WARNING 4
#define TENGINE_LOG_NOTICE 5
#define TENGINE_LOG_INFO 6
#define TENGINE_LOG_DEBUG 7

// Logs one line if `level` is at or below the current level (TENGINE_LOG_NOTICE at start); else
// does nothing. On stderr the line ends with '\n', which is added when missing, and may have 1023
// characters before it; a sink set by the program gets the line as it is, at most 1023 characters,
// or 255 when it is one of set_log_output(). Longer lines are truncated and end with "...". Any
// thread; uses no heap; errno is preserved.
TENGINE_API void tengine_log(int level, const char* format, ...) TENGINE_PRINTF(2, 3);

#define TLOG_ERR(...) tengine_log(TENGINE_LOG_ERR, __VA_ARGS__)
#define TLOG_WARNING(...) tengine_log(TENGINE_LOG_WARNING, __VA_ARGS__)
#define TLOG_NOTICE(...) tengine_log(TENGINE_LOG_NOTICE, __VA_ARGS__)
#define TLOG_INFO(...) tengine_log(TENGINE_LOG_INFO, __VA_ARGS__)
#define TLOG_DEBUG(...) tengine_log(TENGINE_LOG_DEBUG, __VA_ARGS__)

TENGINE_EXTERN_C_END
