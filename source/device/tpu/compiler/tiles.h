// SPDX-License-Identifier: Apache-2.0
// The tiles of a part's products and the sums of their weights. They do not depend on the size of
// an image, so the preparations of a graph share them through its pool.
#pragma once

#include <vector>

#include "device/tpu/compiler/product_layer.h"
#include "device/tpu/program/program.h"
#include "tengine/device.h"

namespace tengine::tpu {

// `products` of a part of `graph` in the order in which their tiles lie. TENGINE_ENOMEM.
int make_tiles(const graph& graph, const Config& config, const std::vector<ProductLayer*>& products,
               WeightMemory* out_weights);

// Bytes of the memory, or of this program's share where several have it; 0 of what is borrowed.
size_t count_tiles(const WeightMemory& weights);

}  // namespace tengine::tpu
