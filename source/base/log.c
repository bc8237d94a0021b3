// SPDX-License-Identifier: Apache-2.0
// The log: one formatted line to stderr or to the program's sink. The contract is in tengine/log.h
// and base/log.h.
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/visible_text.h"

enum
{
    WHOLE_LINE = 1023,  // characters before the '\n'
    SINK_LINE = 255     // what programs written for Tengine Lite have room for
};

typedef void (*line_sink_t)(const char* line);
typedef void (*level_sink_t)(int level, const char* line);

static atomic_int current_level = TENGINE_LOG_NOTICE;
// At most one of the two sinks is set: the one set last.
static _Atomic(line_sink_t) line_sink;
static _Atomic(level_sink_t) level_sink;

void set_log_sink_level(int level)
{
    if (level < TENGINE_LOG_EMERG) level = TENGINE_LOG_EMERG;
    if (level > TENGINE_LOG_DEBUG) level = TENGINE_LOG_DEBUG;
    atomic_store(&current_level, level);
}

int get_log_sink_level(void)
{
    return atomic_load(&current_level);
}

void set_log_sink(void (*print)(const char* line))
{
    atomic_store(&level_sink, NULL);
    atomic_store(&line_sink, print);
}

void set_log_level_sink(void (*print)(int level, const char* line))
{
    atomic_store(&line_sink, NULL);
    atomic_store(&level_sink, print);
}

// Formats at most `limit` characters plus a NUL and marks a cut with "...". Returns the length.
static size_t format_line(char* line, size_t limit, const char* format, va_list arguments)
{
    const int length = vsnprintf(line, limit + 1, format, arguments);
    if (length < 0) {
        line[0] = '\0';
        return 0;
    }
    if ((size_t)length <= limit) return (size_t)length;
    memcpy(line + limit - 3, "...", 3);
    return limit;
}

void tengine_log(int level, const char* format, ...)
{
    if (level > get_log_sink_level()) return;
    const int saved_errno = errno;
    const line_sink_t print_line = atomic_load(&line_sink);
    const level_sink_t print_level = atomic_load(&level_sink);
    char line[WHOLE_LINE + 2];
    va_list arguments;
    va_start(arguments, format);
    size_t length = format_line(line, print_line ? SINK_LINE : WHOLE_LINE, format, arguments);
    va_end(arguments);
    make_text_visible(line);
    if (print_line) {
        print_line(line);
    } else if (print_level) {
        print_level(level, line);
    } else {
        if (length == 0 || line[length - 1] != '\n') line[length++] = '\n';
        // The line is written by one call, so that lines of several threads do not mix.
        fwrite(line, 1, length, stderr);
    }
    errno = saved_errno;
}
