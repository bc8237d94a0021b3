// SPDX-License-Identifier: Apache-2.0
// The strips that matrix_product_impl.cc cuts a product into and hands to the library that
// matrix_product.h stands for.
#pragma once

#include "device/cpu/kernel/product/matrix_product.h"

namespace tengine::cpu {

// Strips begin at multiples of these, so that only the last ends within a tile of registers.
struct StripUnit
{
    int64_t rows, columns;
};

StripUnit get_strip_unit();

// The product on the calling thread; no size is 0. `workspace` is that of one worker.
void multiply_strip(const Product& product, float* workspace);

// A strip with Highway, where the build has it: neither operand need be a vector.
uint64_t find_packed_workspace(const Product& product);
void multiply_packed(const Product& product, float* workspace);

// Distance of consecutive elements of a row, and of a column, of the matrix that is multiplied.
inline int64_t get_row_step(const MatrixView& view)
{
    return view.transposed ? view.stride : 1;
}

inline int64_t get_column_step(const MatrixView& view)
{
    return view.transposed ? 1 : view.stride;
}

}  // namespace tengine::cpu
