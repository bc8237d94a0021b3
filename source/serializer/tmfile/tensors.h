// SPDX-License-Identifier: Apache-2.0
// The tensors of a tmfile: shape, type, quantisation, and the values of constants.
#pragma once

#include "serializer/tmfile/reader.h"

namespace tengine::tmfile {

// Adds the tensors in the file's order. Constants lie in the image, except those that must be
// copied: strings, values that are not aligned for their elements, and values that are converted
// from NHWC to NCHW.
TENGINE_MUST_USE int add_tensors(Reading& reading);

}  // namespace tengine::tmfile
