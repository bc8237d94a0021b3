// SPDX-License-Identifier: Apache-2.0
// The calibration table that `tengine quantize --table` writes: how the tensors of a model are
// quantised, as text.
//
//     # tengine calibration table 1
//     0.0235294122 -128 input
//     keep /head/Softmax
//
// A line is a scale, the zero point of int8, and the tensor's name, which goes to the end of the
// line; or `keep` and the name of a node that stays in float.
#pragma once

#include "base/containers.hpp"

namespace tengine {

struct CalibratedTensor
{
    String name;
    float scale;
    int zero_point;  // for int8
    int line;
};

struct KeptNode
{
    String name;
    int line;
};

struct CalibrationTable
{
    Vector<CalibratedTensor> tensors;
    Vector<KeptNode> nodes;
};

// TENGINE_EIO: the file cannot be read. TENGINE_EFORMAT, with file and line: it is not a table, a
// line has neither form, a scale is not positive and finite, a zero point is not in -128 to 127, or
// a tensor occurs twice.
int read_calibration_table(const char* path, CalibrationTable* out_table);

}  // namespace tengine
