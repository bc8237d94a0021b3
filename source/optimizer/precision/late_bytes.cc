// SPDX-License-Identifier: Apache-2.0
#include "optimizer/precision/late_bytes.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/mapped_file.h"
#include "optimizer/precision/weights.h"

namespace tengine {
namespace {

// The layout of a matrix.
struct Matrix
{
    const void* floats;
    int64_t columns, depth;
    int64_t column_step, depth_step;    // in the float matrix
    int64_t column_place, depth_place;  // in the int8 matrix
};

Matrix find_matrix(const ir_late_values_t& late)
{
    const int64_t columns = late.sizes[0], depth = late.elem_num / columns;
    const bool is_transposed = (late.sizes[1] & 1) != 0, has_columns_last = late.sizes[1] >> 1 != 0;
    Matrix matrix = {late.data, columns, depth, 1, columns, 1, columns};
    if (is_transposed) {
        matrix.column_step = depth;
        matrix.depth_step = 1;
    }
    if (!has_columns_last) {
        matrix.column_place = matrix.column_step;
        matrix.depth_place = matrix.depth_step;
    }
    return matrix;
}

// Columns that are read together: a cache line has this many floats.
constexpr int64_t kColumns = 16;

float read_float(const void* floats, int64_t index)
{
    float value;
    std::memcpy(&value, static_cast<const char*>(floats) + index * int64_t{sizeof value},
                sizeof value);
    return value;
}

// Calls body(column less `first`, index of the float, index of the int8) for all elements of
// `number` columns.
template <class Body>
void for_each(const Matrix& matrix, int64_t first, int64_t number, const Body& body)
{
    for (int64_t k = 0; k < matrix.depth; ++k)
        for (int64_t i = 0; i < number; ++i)
            body(i, (first + i) * matrix.column_step + k * matrix.depth_step,
                 (first + i) * matrix.column_place + k * matrix.depth_place);
}

// The scales of `number` columns, kColumns at most.
void find_some_scales(const Matrix& matrix, int64_t first, int64_t number, float* out_scales)
{
    std::fill_n(out_scales, number, 0.0f);
    for_each(matrix, first, number, [&](int64_t column, int64_t from, int64_t) {
        out_scales[column] =
            std::max(out_scales[column], std::fabs(read_float(matrix.floats, from)));
    });
    for (int64_t i = 0; i < number; ++i)
        out_scales[i] = choose_weight_scale(out_scales[i]);
}

}  // namespace

bool is_finite(const tensor& constant)
{
    for (int64_t i = 0; i < constant.elem_num; ++i)
        if (!std::isfinite(read_float(constant.data, i))) return false;
    return true;
}

ir_late_values_t describe_bytes(const tensor& weight, int axis, bool has_columns_last)
{
    return {weight.core->source_index,
            weight.data,
            weight.elem_num,
            {weight.dims[axis], int64_t{has_columns_last} << 1 | int64_t{axis == 0}},
            make_bytes};
}

void find_scales(const ir_late_values_t& late, float* out_scales)
{
    const Matrix matrix = find_matrix(late);
    for (int64_t first = 0; first < matrix.columns; first += kColumns)
        find_some_scales(matrix, first, std::min(kColumns, matrix.columns - first),
                         out_scales + first);
}

void make_bytes(const ir_late_values_t* late, const tensor*, bool is_file, void* out_values)
{
    const Matrix matrix = find_matrix(*late);
    auto* bytes = static_cast<int8_t*>(out_values);
    for (int64_t first = 0; first < matrix.columns; first += kColumns) {
        const int64_t number = std::min(kColumns, matrix.columns - first);
        float scales[kColumns];
        find_some_scales(matrix, first, number, scales);
        for_each(matrix, first, number, [&](int64_t column, int64_t from, int64_t to) {
            bytes[to] = quantize_weight_value(read_float(matrix.floats, from), scales[column]);
        });
    }
    if (is_file)
        drop_mapped_bytes(static_cast<const char*>(late->data),
                          static_cast<size_t>(late->elem_num) * sizeof(float));
}

}  // namespace tengine
