// SPDX-License-Identifier: Apache-2.0
// The calling thread's last error. The contract is in tengine/error.h.
#include "tengine/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/visible_text.h"

enum
{
    MESSAGE_SIZE = 1024,
    SHORTAGE_SIZE = 200
};

#define SHORTAGE_START ": the arena has "

static _Thread_local int last_code;
static _Thread_local char last_message[MESSAGE_SIZE];

// Appends the memory that the arena has left, unless a wrapped message contains it already. Long
// messages are cut to make room.
static void append_shortage(char* message)
{
    char numbers[SHORTAGE_SIZE];
    if (strstr(message, SHORTAGE_START) || !describe_memory_shortage(numbers, sizeof numbers))
        return;
    size_t length = strlen(message);
    const size_t room = MESSAGE_SIZE - strlen(numbers) - sizeof ": ";
    if (length > room) length = room;
    snprintf(message + length, MESSAGE_SIZE - length, ": %s", numbers);
}

int tengine_error_set(int code, const char* format, ...)
{
    // The message is formatted into a buffer of its own, because the last message may be among the
    // arguments.
    char message[MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (length < 0) message[0] = '\0';
    make_text_visible(message);
    if (code == TENGINE_ENOMEM) append_shortage(message);
    memcpy(last_message, message, strlen(message) + 1);
    // A failure must never look like success.
    last_code = code < 0 ? code : TENGINE_EINTERNAL;
    return last_code;
}

int tengine_error_code(void)
{
    return last_code;
}

const char* tengine_error_message(void)
{
    return last_message;
}

void tengine_error_clear(void)
{
    last_code = TENGINE_OK;
    last_message[0] = '\0';
}

const char* tengine_error_text(int code)
{
    switch (code) {
        case TENGINE_OK:
            return "no error";
#define ERROR_TEXT(name, value, text) \
    case name:                        \
        return text;
            TENGINE_ERROR_LIST(ERROR_TEXT)
#undef ERROR_TEXT
        default:
            return "unknown error code";
    }
}

const char* tengine_error_name(int code)
{
    switch (code) {
        case TENGINE_OK:
            return "TENGINE_OK";
#define ERROR_NAME(name, value, text) \
    case name:                        \
        return #name;
            TENGINE_ERROR_LIST(ERROR_NAME)
#undef ERROR_NAME
        default:
            return "";
    }
}
