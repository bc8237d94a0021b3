// SPDX-License-Identifier: Apache-2.0
// SequenceProto and OptionalProto as files, which the suite has for inputs and outputs that are not
// tensors. Only the fields for sequences of tensors and optional values.
#pragma once

#include <string>
#include <vector>

#include "tensor_file/tensor.h"

namespace tengine::conformance {

struct Sequence
{
    std::vector<tools::Tensor> elements;
    bool is_absent = false;
};

// `is_optional`: an OptionalProto of a tensor or a sequence. Throws Failure.
Sequence read_sequence(const std::string& path, bool is_optional);

}  // namespace tengine::conformance
