// SPDX-License-Identifier: Apache-2.0
// Programs that comparison.cc runs: they stand in for networks whose shapes are published but whose
// layers are not, and for single layers. They are complete programs; weights, inputs and parameters
// are zero until they are filled in.
#pragma once

#include <cstdint>
#include <vector>

#include "device/tpu/machine/config.h"
#include "device/tpu/program/program.h"
#include "device/tpu/simulator/array.h"

namespace tengine::tpu {

// Fully connected layers one after the other: `widths` are the numbers of values before, between
// and after them. Each layer: for each `columns` outputs, the tiles of all inputs, each with one
// product of `batch` vectors, and an activate. The input is read before, the output written after.
struct DenseNetwork
{
    std::vector<int> widths;
    int batch = 1;
};
Program build_dense_program(const DenseNetwork& network, const Config& config);

// Square convolutions with padding, all with the same channels in and out, on square images. Each
// layer: for each `columns` outputs, a tile for each tap and `rows` channels; the images share each
// tile.
struct ConvolutionNetwork
{
    int layers = 1;
    int channels = 1;
    int size = 1;  // the image's
    int taps = 3;  // in each direction, odd
    int batch = 1;
};
Program build_convolution_program(const ConvolutionNetwork& network, const Config& config);

// Only the products of a layer, with a fetch of the same tile for each fold; no transfers. Needs
// layer.vectors accumulator rows; they are a product of two numbers of 16 bits.
Program build_product_program(const ArrayLayer& layer, const Config& config);

// Tiles of both kinds of networks in the order in which they are fetched: for each layer, block of
// `columns` outputs, then tap, then block of `rows` inputs. Parameters of all layers lie at the
// beginning of host memory, then the input, then the output; images are row by row with their
// channels last.

}  // namespace tengine::tpu
