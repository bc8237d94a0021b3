// SPDX-License-Identifier: Apache-2.0
#include "device/tpu/compiler/layer.h"

namespace tengine::tpu {

Shape shape_of(const tensor& tensor)
{
    const int rank = tensor.dim_num;
    Shape shape;
    if (rank == 4) return {tensor.dims[0], tensor.dims[2], tensor.dims[3], tensor.dims[1]};
    if (rank >= 1) shape.c = tensor.dims[rank - 1];
    if (rank >= 2) shape.h = tensor.dims[rank - 2];
    for (int i = 0; i + 2 < rank; ++i)
        shape.n *= tensor.dims[i];
    return shape;
}

Box Layer::needs(int input, const Box& box) const
{
    const Shape& shape = inputs[static_cast<size_t>(input)].shape;
    Box needed = box;
    if (shape.n == 1) needed.n0 = 0, needed.n1 = 1;
    if (shape.h == 1) needed.y0 = 0, needed.y1 = 1;
    return needed;
}

// An input that is one vector for the whole result does not change.
void Layer::flatten()
{
    for (Ref& input : inputs)
        input.shape = input.shape.flattened();
    output.shape = output.shape.flattened();
}

}  // namespace tengine::tpu
