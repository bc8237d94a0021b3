// SPDX-License-Identifier: Apache-2.0
// The tensors of a tmfile: shape, type, quantisation, and the values of constants.
#pragma once

#include "serializer/tmfile/reader.h"

namespace tengine::tmfile {

// Adds the tensors in the file's order. Constants lie in the image, unless they must be copied:
// when they are not plain data or not aligned for their elements, or have to be brought from NHWC
// to NCHW.
TENGINE_MUST_USE int add_tensors(Reading& reading);

}  // namespace tengine::tmfile
