// SPDX-License-Identifier: Apache-2.0
// Nodes that the default device cannot compute: custom operators that are implemented for some
// devices only, and byte code for a vendor's chip.
#include <cstdio>
#include <cstring>

#include "graph/core.h"
#include "module/module.h"
#include "operator/custom/custom_kernel.h"
#include "optimizer/pass.h"
#include "tengine/device.h"

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

bool describe_byte_code(const node& node, ir_verdict_t* out_verdict)
{
    if (std::strcmp(get_ir_node_op(&node), "DISPATCH_OP") != 0) return false;
    const char* maker = get_ir_node_text(&node, "manufacturer", "");
    const char* model = get_ir_node_text(&node, "soc_model", "");
    refuse_ir_node(out_verdict, IR_REASON_COMPILER, "manufacturer", maker,
                   "it is byte code for %s%s%s: load the plug-in with the dispatch of its maker, "
                   "and add that device",
                   *maker ? maker : "a chip of a maker that the file does not name",
                   *model ? " " : "", model);
    return true;
}

}  // namespace tengine
