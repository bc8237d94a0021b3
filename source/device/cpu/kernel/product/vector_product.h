// SPDX-License-Identifier: Apache-2.0
// Products of a matrix and a vector, or a few, with Highway, for matrix_product_highway_impl.cc.
#pragma once

#include "device/cpu/kernel/product/matrix_product.h"

namespace tengine::cpu {

// Vectors to multiply, and their results, with distances in elements.
struct Vectors
{
    const float* x;
    int64_t num, x_step;
    float* y;
    int64_t y_step;
    int64_t element_step;  // between elements of a result
};

// Whether multiply_vector() takes this product: one operand is a vector without gaps, and so is the
// result where columns of the matrix are added up.
bool is_vector_product(const Product& product);

// The product on the calling thread; no size is 0.
void multiply_vector(const Product& product);

}  // namespace tengine::cpu
