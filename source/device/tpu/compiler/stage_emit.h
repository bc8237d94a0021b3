// SPDX-License-Identifier: Apache-2.0
// The instructions of one stage: constants, then for each chunk bands, layers, and the result's way
// to host memory. The next chunk's bands are prefetched before this one's work begins.
#pragma once

#include "device/tpu/compiler/emitter.h"
#include "device/tpu/compiler/plan.h"

namespace tengine::tpu {

// `blobs`: where each layer's constants are in host memory, as Layer::pack() said.
void emit_stage(const Network& network, const Plan& plan, size_t index,
                const std::vector<std::vector<uint64_t>>& blobs, Emitter* emitter);

}  // namespace tengine::tpu
