// SPDX-License-Identifier: Apache-2.0
// The options of the command line that say how networks run.
#include "run_options.h"

#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "tengine/c_api.h"

void run_options_init(struct run_options* out_options)
{
    out_options->threads = 1;
    out_options->precision = TENGINE_MODE_FP32;
    out_options->devices = NULL;
}

int run_options_set(int letter, const char* value, struct run_options* options)
{
    char* end;
    if (letter == 'd') {
        options->devices = value;
        return 0;
    }
    const long threads = strtol(value, &end, 10);
    if (end == value || *end != '\0' || threads < 0 || threads > 1024)
        return fail("-t %s: expected a number of threads from 0 to 1024", value);
    options->threads = (int)threads;
    return 0;
}

int run_options_set_precision(const char* name, struct run_options* options)
{
    static const struct
    {
        const char* name;
        int mode;
    } precisions[] = {
        {"fp32", TENGINE_MODE_FP32}, {"fp16", TENGINE_MODE_FP16},   {"bf16", TENGINE_MODE_BF16},
        {"int8", TENGINE_MODE_INT8}, {"uint8", TENGINE_MODE_UINT8},
    };
    for (size_t i = 0; i < sizeof precisions / sizeof *precisions; ++i) {
        if (strcmp(name, precisions[i].name) != 0) continue;
        options->precision = precisions[i].mode;
        return 0;
    }
    return fail("-p %s: expected fp32, fp16, bf16, int8 or uint8", name);
}
