// SPDX-License-Identifier: Apache-2.0
// Small matrix products with Highway, for matrix_product_openblas_impl.cc.
#pragma once

#include "device/cpu/kernel/product/matrix_product.h"

namespace tengine::cpu {

// Whether multiply_small() takes this product: neither operand transposed, few enough
// multiply-accumulates that reading b from cache again and again costs nothing. False for all in a
// build without Highway.
bool is_small_product(const Product& product);

// multiply() of matrix_product.h on the calling thread, without packing.
void multiply_small(const Product& product);

}  // namespace tengine::cpu
