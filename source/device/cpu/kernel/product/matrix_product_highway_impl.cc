// SPDX-License-Identifier: Apache-2.0
// Matrix products with Highway, for builds without OpenBLAS; see matrix_product.h.
#include "device/cpu/kernel/product/matrix_product_strip.h"
#include "device/cpu/kernel/product/pixels_f32.h"
#include "device/cpu/kernel/product/vector_product.h"

namespace tengine::cpu {

const char* get_product_library()
{
    return "";
}

void prepare_products() {}

bool fits_product(int64_t, int64_t, int64_t)
{
    return true;
}

StripUnit get_strip_unit()
{
    int64_t rows, lanes;
    describe_pixel_tile(&rows, &lanes);
    return {rows, 2 * lanes};
}

uint64_t find_product_workspace(const Product& product)
{
    const bool is_empty = product.m == 0 || product.n == 0 || product.k == 0;
    return is_empty || is_vector_product(product) ? 0 : find_packed_workspace(product);
}

void multiply_strip(const Product& product, float* workspace)
{
    if (is_vector_product(product)) return multiply_vector(product);
    multiply_packed(product, workspace);
}

}  // namespace tengine::cpu
