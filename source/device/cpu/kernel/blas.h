// SPDX-License-Identifier: Apache-2.0
// Single-precision matrix products on OpenBLAS, spread over the graph's own thread pool; the code
// is in blas_impl.cc. Products are only there when the build found OpenBLAS (TENGINE_HAVE_OPENBLAS).
#pragma once

#include <cstdint>

#include "base/thread_pool.h"

namespace tengine::cpu {

// A row-major matrix within memory of row length `stride` (in elements). The matrix meant is the
// transpose of what is stored when `transposed`.
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
};

// The library and the processor it takes this one for ("OpenBLAS SkylakeX"); "" without OpenBLAS.
const char* get_blas_name();

// OpenBLAS counts in int: true when a product of these sizes can be handed to it. Strides must not
// exceed the larger of the sizes given.
bool fits_blas(int64_t m, int64_t n, int64_t k);

// Before the first multiply() of a process, from prepare(): keeps OpenBLAS from using threads of
// its own.
void prepare_blas();

// Any size, 0 included. Each element of c differs from the exact value by at most
// (k + 2) * eps * sum |a| |b| (alpha and beta 1); the order of summation depends on the processor.
void multiply(thread_pool_t* pool, const Product& product);

}  // namespace tengine::cpu
