// SPDX-License-Identifier: Apache-2.0
// Models in NHWC, from TensorFlow and TFLite: the conversion to NCHW when Tengine loads them, and
// the way back for the writer. Concat reads graph->model_layout when its shape is inferred.
#pragma once

#include <cstdint>

#include "tengine/ir.h"

namespace tengine::tmfile {

// Four dims {n, h, w, c} to {n, c, h, w} and back.
void dims_from_nhwc(int dims[4]);
void dims_to_nhwc(int dims[4]);

// Convert the values of a constant with 4 dims, whose tensor has its NCHW shape, from the file's
// order and to it. With one channel the file has dimension 0 innermost, as TensorFlow has the
// weights of a depthwise convolution.
void values_from_nhwc(const struct tensor* tensor, const char* from, char* to);
void values_to_nhwc(const struct tensor* tensor, const char* from, char* to);

// Convert the words of an operator's parameter record in place. Records without axes do not change.
void words_from_nhwc(uint32_t operator_number, int32_t* words, int number);
void words_to_nhwc(uint32_t operator_number, int32_t* words, int number);

// The shape that a Reshape requests. TENGINE_ENOTSUP for more than 4 dims, which have no layout.
TENGINE_MUST_USE int reshape_from_nhwc(const struct node* node, int64_t* dims, int number);
TENGINE_MUST_USE int reshape_to_nhwc(const struct node* node, int64_t* dims, int number);

}  // namespace tengine::tmfile
