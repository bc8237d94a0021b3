// SPDX-License-Identifier: Apache-2.0
// The constants of convolutions, and changes of them that lose less in 8 bits.
#pragma once

#include "calibration/float_graph.h"

namespace tengine::calibration {

// The mean of each channel (axis 1) of a tensor over all samples and positions.
struct ChannelMean
{
    Vector<double> sums;
    double number = 0;  // of values in each sum

    void add(const float* values, const Vector<int>& shape);
    double mean(size_t channel) const { return sums[channel] / number; }
};

// Names of the tensors that the convolutions of a graph read.
Set<String> list_convolved(graph_t graph);

// Cross-layer equalisation: where only a convolution, directly or behind a Relu, reads the result
// of another one, each channel between them is scaled so that the weights on both sides have equal
// ranges. The graph's results stay the same. M. Nagel et al., "Data-Free Quantization through
// Weight Equalization and Bias Correction", ICCV 2019, section 4.1.
TENGINE_MUST_USE int equalize(graph_t graph);

// Bias correction: adds the mean of (weight - quantised weight) x input to the bias of each
// convolution of `graph` that `quantized` has in 8 bits; section 4.2 of the same paper, with means
// of samples. Padding counts as the mean.
TENGINE_MUST_USE int correct_biases(graph_t graph, const QuantizedGraph& quantized,
                                    const Map<String, ChannelMean>& means);

}  // namespace tengine::calibration
