// SPDX-License-Identifier: Apache-2.0
// The fingerprint of a part: the key by which bytes that a device saved are found again.
#pragma once

#include <stdint.h>

#include "base/sha256.h"
#include "tengine/device.h"

TENGINE_EXTERN_C_BEGIN

// Computes the SHA-256 of everything that decides the compiled form of a part of an execution
// graph: operators, parameters, connections, shapes, types, scales and the values of constants; the
// device with the string of its compatibility(), and its options by key; `version`, the library's
// major one. Names of nodes and tensors are left out. Constants of the model, and those that passes
// have made of them and preparations share, are hashed once until the graph is changed, by the
// workers of the pool, which may be NULL. TENGINE_ENOENT: the part has a custom operator, so that
// it never equals another. The device's error when it fails; TENGINE_ENOMEM.
TENGINE_MUST_USE int find_ir_fingerprint(const struct subgraph* part, struct device* device,
                                         int version, thread_pool_t* pool,
                                         uint8_t out_fingerprint[SHA256_BYTES]);

// Returns the string of the device's compatibility(), "" if the device has no such entry. Fails as
// the device does.
TENGINE_MUST_USE int find_ir_compatibility(const struct subgraph* part, struct device* device,
                                           char out_text[IR_COMPATIBILITY_SIZE]);

TENGINE_EXTERN_C_END
