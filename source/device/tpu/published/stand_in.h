// SPDX-License-Identifier: Apache-2.0
// Programs that comparison.cc runs: substitutes for networks whose shapes are published but whose
// layers are not, and single layers. They are complete programs; weights, inputs and parameters are
// zero until they are set.
#pragma once

#include <cstdint>
#include <vector>

#include "device/tpu/machine/config.h"
#include "device/tpu/program/program.h"
#include "device/tpu/simulator/array.h"

namespace tengine::tpu {

// Consecutive fully connected layers: `widths` are the numbers of values before, between and after
// them. Each layer: for each `columns` outputs, the tiles of all inputs, each with one product of
// `batch` vectors, and an activate. The input is read at the beginning, the output written at the
// end.
struct DenseNetwork
{
    std::vector<int> widths;
    int batch = 1;
};
Program build_dense_program(const DenseNetwork& network, const Config& config);

// Square convolutions with padding on square images, all with the same numbers of input and output
// channels. Each layer: for each `columns` outputs, a tile for each tap and `rows` channels; the
// images share each tile.
struct ConvolutionNetwork
{
    int layers = 1;
    int channels = 1;
    int size = 1;  // of the image
    int taps = 3;  // in each direction, odd
    int batch = 1;
};
Program build_convolution_program(const ConvolutionNetwork& network, const Config& config);

// Builds a program with only the products of a layer, with a fetch of the same tile for each fold;
// no transfers. Needs layer.vectors accumulator rows, a product of two numbers of 16 bits.
Program build_product_program(const ArrayLayer& layer, const Config& config);

// The order in which tiles of both kinds of networks are fetched: layer, block of `columns`
// outputs, tap, block of `rows` inputs. Parameters of all layers are at the beginning of host
// memory, then the input, then the output; images are row by row, channels-last.

}  // namespace tengine::tpu
