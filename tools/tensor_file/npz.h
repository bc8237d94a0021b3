// SPDX-License-Identifier: Apache-2.0
// NumPy's .npz files as numpy.savez and savez_compressed write them: a zip file of .npy files,
// compressed or not (PKWARE APPNOTE 6.3). The arrays' own format is in tensor_file/npy.h.
#pragma once

#include <string>
#include <vector>

#include "tensor_file/tensor.h"

namespace tengine::tools {

// The arrays of the file, named as in savez(NAME=array). Throws Failure, which names the file: it
// cannot be read, is damaged, compressed by another method than deflate or in a build without stb,
// encrypted, or larger than 4 GB (zip64), or an array is one that decode_npy() does not take.
std::vector<Tensor> read_npz(const std::string& path);

// The same of a file's content.
std::vector<Tensor> decode_npz(const std::string& content);

}  // namespace tengine::tools
