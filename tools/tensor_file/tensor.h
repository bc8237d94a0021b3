// SPDX-License-Identifier: Apache-2.0
// A tensor outside the library, which files contain and programs print and compare. npy.h and
// tensor_proto.h read and write it, and tensor_file.h chooses between them.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tengine/defines.h"

namespace tengine::tools {

struct Tensor
{
    std::string name;  // "" if the file has none
    int data_type = TENGINE_DT_FP32;
    std::vector<int> shape;
    // Dense, the last dimension fastest, in the machine's byte order; elements of 4 and 2 bits as
    // tengine/defines.h has them.
    std::vector<std::byte> bytes;
    std::vector<std::string> texts;  // the strings, which have no bytes

    size_t element_number() const;
};

// A tensor of zeros. Throws Failure if a dimension is negative, there are more than
// MAX_SHAPE_DIM_NUM, or more bytes than an int can count, the limit of the C API's buffers.
Tensor make_tensor(int data_type, const std::vector<int64_t>& shape);

// The number of bytes of that tensor; throws as make_tensor(), and takes no memory.
size_t count_tensor_bytes(int data_type, const std::vector<int64_t>& shape);

// A tensor with these elements. Throws Failure also if the shape needs fewer or more bytes, before
// it allocates memory for them: a small file may have the shape of a large tensor.
Tensor make_tensor(int data_type, const std::vector<int64_t>& shape, std::string_view elements);

bool is_complex(int data_type);
// Element `index` of numbers of any type.
std::complex<double> get_complex(const Tensor& tensor, size_t index);

// Element `index`, not of strings or complex numbers. Integers of 64 bits beyond 2^53 are rounded,
// as doubles are.
double get_element(const Tensor& tensor, size_t index);

// Converts as a C cast, to floats of up to 16 bits with rounding to nearest even. The value must be
// representable when the tensor holds integers; for a complex number it is the real part, and the
// other is 0.
void set_element(Tensor* tensor, size_t index, double value);

bool is_floating(int data_type);

// Floats and parts of complex numbers from 0 to 1, integers 0 or 1, strings that are empty, the
// same on every machine.
void fill_random(std::mt19937_64* engine, Tensor* tensor);

// "1x3x224x224", "scalar" without dimensions, and "?" for a dimension that is negative: unknown.
std::string shape_text(const std::vector<int>& shape);

}  // namespace tengine::tools
