// SPDX-License-Identifier: Apache-2.0
// Custom operators that are implemented for some devices only.
#include <cstdio>
#include <cstring>

#include "graph/core.h"
#include "module/module.h"
#include "operator/custom/custom_kernel.h"
#include "optimizer/pass.h"

namespace tengine {

int fail_without_kernel(const node& node, const device& device)
{
    char devices[96] = "";
    for (const ir_custom_kernel_t* kernel = node.core->custom_kernel; kernel;
         kernel = kernel->next) {
        const size_t length = std::strlen(devices);
        std::snprintf(devices + length, sizeof devices - length, "%s%s%s", length == 0 ? "" : ", ",
                      kernel->device,
                      find_device_via_name(kernel->device) ? "" : " (not registered)");
    }
    return tengine_error_set(TENGINE_EOPERATOR, "%s is implemented for %s, not for %s",
                             get_kernel_name(node.core->custom_kernel), devices, device.name);
}

}  // namespace tengine
