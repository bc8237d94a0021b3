// SPDX-License-Identifier: Apache-2.0
// Elements of 2 and 4 bits and floats of 4 and 8 bits of a Tensor: their codes, and the numbers
// that these encode.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor_file/tensor.h"

namespace tengine::tools {

// Whether it is one of TENGINE_DT_UINT4 to TENGINE_DT_FLOAT8E8M0.
bool is_small(int data_type);
bool is_small_float(int data_type);

// The bits of element `index`, in the lowest bits.
uint8_t get_code(const Tensor& tensor, size_t index);
void set_code(Tensor* tensor, size_t index, uint8_t code);

double code_to_double(int data_type, uint8_t code);
// The nearest number, or of two the one with the even code; the greatest for larger ones. NaN if
// the type has it.
uint8_t double_to_code(int data_type, double value);

// Formats without these types have a byte for each element: values of integers, codes of floats.
// Makes such a tensor of a small one, and the other way round; that throws Failure if `data_type`
// is not small, the bytes are not of its kind, or one is out of its range.
Tensor widen_small(const Tensor& tensor);
Tensor narrow_to_small(const Tensor& bytes, int data_type);
// Whether narrow_to_small() may be called.
bool has_small_form(const Tensor& bytes, int data_type);

}  // namespace tengine::tools
