// SPDX-License-Identifier: Apache-2.0
// Single-precision matrix products, spread over the graph's own thread pool, on one of two
// libraries: OpenBLAS where the build has it (matrix_product_openblas_impl.cc), else its own, made
// with Highway (matrix_product_highway_impl.cc). A build with neither has no kernel that is made of
// products (matrix_product_absent.cc).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/thread_pool.h"

namespace tengine::cpu {

// A row-major matrix within memory of row length `stride` (in elements). When `transposed`, the
// matrix is the transpose of the stored one.
struct MatrixView
{
    const float* data;
    int64_t stride;
    bool transposed = false;
};

// c = alpha * a * b + beta * c with a m x k, b k x n, c m x n. With beta 0, c is only written.
struct Product
{
    int64_t m, n, k;
    MatrixView a, b;
    float* c;
    int64_t c_stride;
    float alpha = 1;
    float beta = 0;
    // Each row of c has the bits that it would have alone; `a` is then not transposed.
    bool has_vectors = false;
};

// OpenBLAS and the processor it takes this one for ("OpenBLAS SkylakeX"); "" without it.
const char* get_product_library();

// Whether a product may have these sizes; OpenBLAS counts in int. Strides must not
// exceed the larger of the sizes given.
bool fits_product(int64_t m, int64_t n, int64_t k);

// Before the first multiply() of a process, from prepare(): keeps OpenBLAS from using threads of
// its own.
void prepare_products();

// Floats of workspace that each worker needs in multiply() of this product, whose pointers are not
// read; a multiple of 16. Enough for products of fewer rows or columns that are otherwise the
// same.
uint64_t find_product_workspace(const Product& product);

// Any size, 0 included. Each element of c differs from the exact value by at most
// (k + 2) * eps * sum |a| |b| (alpha and beta 1); the order of summation depends on the processor.
// `workspace` has find_product_workspace() floats for each worker of the pool.
void multiply(thread_pool_t* pool, const Product& product, float* workspace);

}  // namespace tengine::cpu
