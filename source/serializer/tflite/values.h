// SPDX-License-Identifier: Apache-2.0
// The values of constants: their place in the file, and the forms that the library does not have,
// which become others when a model is read.
#pragma once

#include "serializer/tflite/reading.h"

namespace tengine::tflite {

String label(const struct tensor* tensor);

// The number of a type in files; -1: they do not have it.
int find_file_type(int data_type);
constexpr int kWideInteger = 4;  // int64

// The form of a tensor's values in the file.
struct ValueForm
{
    int file_type;  // TENGINE_DT_*; UNKNOWN: not read
    int data_type;  // what the tensor has
};

// Scaled integers of less than a byte become bytes; scaled biases of 64 bits and constants with a
// scale for each block become floats.
ValueForm choose_form(const file::Tensor& record, bool is_written, bool is_bias);

// *out_bytes is NULL where the tensor has no values.
TENGINE_MUST_USE int find_values(const Reading& reading, const struct tensor* tensor,
                                 const file::Tensor& record, const uint8_t** out_bytes,
                                 uint64_t* out_size);

// Gives a constant, whose type, shape and quantisation are set, its values.
TENGINE_MUST_USE int set_values(Reading& reading, struct tensor* tensor, const file::Tensor& record,
                                const ValueForm& form, const uint8_t* bytes, uint64_t size);

// sparse.cc: allocates the tensor and writes the values to their places; the others are 0.
TENGINE_MUST_USE int expand_sparse(Reading& reading, struct tensor* tensor,
                                   const file::Sparsity& sparsity, const uint8_t* values,
                                   uint64_t size);

}  // namespace tengine::tflite
