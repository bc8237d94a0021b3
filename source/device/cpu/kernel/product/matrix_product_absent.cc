// SPDX-License-Identifier: Apache-2.0
// See matrix_product.h, for a build without a library of products.
#include "device/cpu/kernel/product/matrix_product.h"

namespace tengine::cpu {

const char* get_product_library()
{
    return "";
}

}  // namespace tengine::cpu
