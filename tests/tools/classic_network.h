// SPDX-License-Identifier: Apache-2.0
// The architectures of two commonly measured networks, with random weights: for tests that depend
// on layers and sizes, not on trained weights.
#pragma once

#include <cstdint>
#include <string>

namespace tengine::program {

// Write <folder>/model.onnx and return its path: x, fp32 [1,3,extent,extent] -> y, fp32 [1,1000],
// with reproducible weights and merged batch normalisation. K. He et al., Deep Residual Learning
// for Image Recognition, CVPR 2016, with the stride in the 3x3 convolution, the usual variant now.
std::string make_resnet50(const std::string& folder, int64_t extent);
// M. Sandler et al., MobileNetV2: Inverted Residuals and Linear Bottlenecks, CVPR 2018.
std::string make_mobilenet_v2(const std::string& folder, int64_t extent);

}  // namespace tengine::program
