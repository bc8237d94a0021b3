// SPDX-License-Identifier: Apache-2.0
// Prints the operators of the device SHOUT (tests/integration/plugin/library/shout_device.c), one a
// line.
#include <stdio.h>

#include "tengine/c_api.h"
#include "tengine/inspect.h"

int shout_init(void);

int main(void)
{
    if (init_tengine() < 0 || shout_init() < 0)
        return fprintf(stderr, "%s\n", get_tengine_error()), 1;
    const int number = tengine_device_get_operator_number("SHOUT");
    if (number < 0) return fprintf(stderr, "%s\n", get_tengine_error()), 1;
    for (int i = 0; i < number; ++i)
        puts(tengine_device_get_operator("SHOUT", i));
    release_tengine();
    return 0;
}
