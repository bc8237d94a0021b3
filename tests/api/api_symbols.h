// SPDX-License-Identifier: Apache-2.0
// The functions of the public headers c_api.h and inspect.h, see api_symbols.c.
#pragma once

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

struct api_symbol
{
    const char* name;
    void (*address)(void);
};

extern const struct api_symbol api_symbols[];
extern const int api_symbol_num;

TENGINE_EXTERN_C_END
