// SPDX-License-Identifier: Apache-2.0
// Pools over windows, for tensors of any type (pool.cc).
#pragma once

#include "device/acl/builder.h"

namespace tengine::acl {

// Adds a pool over input 0 and output 0 as these infos describe them. False, and the node is
// refused, when ACL does not support the node's window.
bool add_window_pool(Builder& builder, arm_compute::PoolingType type, const TensorInfo& input,
                     const TensorInfo& output);

}  // namespace tengine::acl
