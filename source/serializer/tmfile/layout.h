// SPDX-License-Identifier: Apache-2.0
// Models in NHWC, from TensorFlow and TFLite: the conversion to NCHW when Tengine loads them, and
// the way back for the writer. Concat looks at graph->model_layout when its shape is inferred.
#pragma once

#include <cstdint>

#include "tengine/ir.h"

namespace tengine::tmfile {

// Four dims {n, h, w, c} to {n, c, h, w} and back.
void dims_from_nhwc(int dims[4]);
void dims_to_nhwc(int dims[4]);

// The values of a constant of 4 dims, which the tensor has in NCHW already, in the tensor's order
// and in the file's. With one channel the file has them with dimension 0 innermost, as the weights
// of a depthwise convolution in TensorFlow.
void values_from_nhwc(const struct tensor* tensor, const char* from, char* to);
void values_to_nhwc(const struct tensor* tensor, const char* from, char* to);

// The words of an operator's parameter record, in place. Records without axes stay as they are.
void words_from_nhwc(uint32_t operator_number, int32_t* words, int number);
void words_to_nhwc(uint32_t operator_number, int32_t* words, int number);

// The shape a Reshape asks for. TENGINE_ENOTSUP for more than 4 dims, which have no layout.
TENGINE_MUST_USE int reshape_from_nhwc(const struct node* node, int64_t* dims, int number);
TENGINE_MUST_USE int reshape_to_nhwc(const struct node* node, int64_t* dims, int number);

}  // namespace tengine::tmfile
