// SPDX-License-Identifier: Apache-2.0
// The image that a region of interest is in.
#pragma once

#include <cstdint>

#include "device/cpu/kernel_context.h"

namespace tengine::cpu {

// ERANGE, with the node's name, for a region outside the batch. The index may be a float.
inline int check_roi_image(const KernelContext& context, int64_t region, double image)
{
    const int images = context.input(0)->dims[0];
    if (image >= 0 && image < images) return TENGINE_OK;
    return fail_node(context.node, TENGINE_ERANGE,
                     "region %lld is in image %g, expected an index below %d",
                     static_cast<long long>(region), image, images);
}

}  // namespace tengine::cpu
