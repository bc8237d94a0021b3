// SPDX-License-Identifier: Apache-2.0
// Copies between two strided views of the same shape, by which Concat, Split, Slice, Pad, Tile,
// Expand, Transpose and others are computed. See strided_copy.cc for how.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"
#include "tengine/ir.h"

namespace tengine::cpu {

class StridedCopy
{
  public:
    // Adds a dimension inside those added before. Strides are in elements; that of the source may
    // be 0 (the element is repeated) or negative (the dimension is walked backwards). Dimensions
    // that continue each other in both views become one.
    void add(int64_t dim, int64_t source_stride, int64_t target_stride);

    // Copies from the view that starts at `source` to the view that starts at `target`. They do not
    // overlap. `element_size` is 1, 2, 4, 8 or 16.
    void run(thread_pool_t* pool, int element_size, const void* source, void* target) const;

    struct Dimension
    {
        int64_t size, source_stride, target_stride;
    };

  private:
    // Twice the rank of a tensor: Tile splits every dimension in two.
    static constexpr int kMaxRank = 2 * MAX_SHAPE_DIM_NUM;

    bool empty_ = false;
    int rank_ = 0;
    Dimension dims_[kMaxRank];
};

// Row-major strides of a dense shape, in elements.
void fill_dense_strides(const int dims[], int rank, int64_t* out_strides);

}  // namespace tengine::cpu
