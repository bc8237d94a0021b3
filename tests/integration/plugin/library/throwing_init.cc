// SPDX-License-Identifier: Apache-2.0
// A plug-in whose init throws, and so does its release.
#include <stdexcept>

#include "tengine/plugin.h"

#define EXPORT __attribute__((visibility("default")))

extern "C" {
EXPORT int throw_nothing(void);
EXPORT int throw_number(void);
}

static int init()
{
    throw std::runtime_error("the board is not there");
}

int throw_nothing(void)
{
    return 0;
}

int throw_number(void)
{
    throw 7;
}

TENGINE_PLUGIN("throwing init", "1.0", init, nullptr);
