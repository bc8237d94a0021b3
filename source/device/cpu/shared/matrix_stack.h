// SPDX-License-Identifier: Apache-2.0
// The positions of the matrices of two batches that broadcast.
#pragma once

#include <cstdint>

#include "operator/onnx/gemm_param.h"

namespace tengine::cpu {

// The matrices of a and b for matrix `index` of the output's batch.
struct StackPosition
{
    int64_t a = 0, b = 0;

    StackPosition(const matmul_shape& shape, int64_t index)
    {
        for (int i = shape.batch_rank - 1; i >= 0; --i) {
            a += index % shape.batch_dims[i] * shape.a_strides[i];
            b += index % shape.batch_dims[i] * shape.b_strides[i];
            index /= shape.batch_dims[i];
        }
    }
};

}  // namespace tengine::cpu
