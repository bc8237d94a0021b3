// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy format, versions 1 to 3 (numpy.lib.format), row-major and little-endian. bf16, which
// NumPy lacks, is stored as the type <V2, as the ml_dtypes package does.
#pragma once

#include <string>

#include "tensor_file/tensor.h"

namespace tengine::tools {

// Throws Failure: damaged, another element type, big-endian, column-major with several dimensions.
Tensor decode_npy(const std::string& content);

// Version 1.0.
std::string encode_npy(const Tensor& tensor);

}  // namespace tengine::tools
