// SPDX-License-Identifier: Apache-2.0
// Products of a matrix and a vector with Highway, for matrix_product_highway_impl.cc.
#pragma once

#include "device/cpu/kernel/product/matrix_product.h"

namespace tengine::cpu {

// Whether multiply_vector() takes this product: one operand is a vector without gaps, and so is the
// result where columns of the matrix are added up.
bool is_vector_product(const Product& product);

// The product on the calling thread; no size is 0.
void multiply_vector(const Product& product);

}  // namespace tengine::cpu
