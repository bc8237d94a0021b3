// SPDX-License-Identifier: Apache-2.0
// C API, group Log.
#include "base/log.h"

#include "tengine/c_api.h"

void set_log_level(enum log_level level)
{
    set_log_sink_level((int)level);
}

void set_log_output(log_print_t func)
{
    set_log_sink(func);
}

void tengine_log_set_sink(tengine_log_sink_t func)
{
    set_log_level_sink(func);
}
