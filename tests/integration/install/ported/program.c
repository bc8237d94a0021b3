// SPDX-License-Identifier: Apache-2.0
// A program in the style of those written for Tengine Lite; see CMakeLists.txt.
#include <stdio.h>

#include "api/c_api.h"
#include "tengine/acl_device.h"
#include "tengine/c_api.h"
#include "tengine/timvx_device.h"

int main(void)
{
    struct acl_option option = {"ACL", TENGINE_MODE_FP16};
    context_t context;
    if (init_tengine() != 0) return 1;
    context = create_context("board", 1);
    if (set_context_device(context, "TIMVX", NULL, 0) == 0) return 2;
    printf("%s without TIMVX; %s is its own\n", get_tengine_version(), option.dev_name);
    destroy_context(context);
    release_tengine();
    return 0;
}
