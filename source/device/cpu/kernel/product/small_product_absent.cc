// SPDX-License-Identifier: Apache-2.0
// See small_product.h, for a build without vectors.
#include "device/cpu/kernel/product/small_product.h"

namespace tengine::cpu {

bool is_small_product(const Product&)
{
    return false;
}

void multiply_small(const Product&) {}

}  // namespace tengine::cpu
