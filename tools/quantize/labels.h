// SPDX-License-Identifier: Apache-2.0
// The correct classes of the samples, with which `tengine quantize` computes the accuracy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tengine::tools {

using Labels = std::vector<int64_t>;

// One class, counted from 0, for each row of scores, in the order of the samples: an array of
// integers (.npy), or a text file with one number per line. Throws Failure: a line that is not a
// number, and a label count that is not a multiple of the sample count.
Labels read_labels(const std::string& path, size_t samples);

}  // namespace tengine::tools
