// SPDX-License-Identifier: Apache-2.0
// Prints the devices. The library is linked statically: for a program with the rights of another
// user the loader does not search its folder.
#include <stdio.h>

#include "tengine/c_api.h"
#include "tengine/inspect.h"

int main(void)
{
    if (init_tengine() != 0) return 1;
    for (int i = 0; i < tengine_device_get_number(); ++i)
        printf("device %s\n", tengine_device_get_name(i));
    release_tengine();
    return 0;
}
