// SPDX-License-Identifier: Apache-2.0
// Pools over windows, for tensors of any type (pool.cc).
#pragma once

#include "device/acl/builder.h"

namespace tengine::acl {

// Input 0 and output 0 are taken as these infos say. False, and the node is refused, when ACL does
// not have the node's window.
bool add_window_pool(Builder& builder, arm_compute::PoolingType type, const TensorInfo& input,
                     const TensorInfo& output);

}  // namespace tengine::acl
