// SPDX-License-Identifier: Apache-2.0
// Gaussian elimination with partial pivoting, in double; for Det and Inverse.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tengine::cpu {

// Dense rows of equal length; the columns that are eliminated come first.
struct EliminationRows
{
    double* values;
    int64_t num, width;

    double* operator[](int64_t row) const { return values + row * width; }

    // Swaps row k with the row at or below it that has the largest magnitude in column k. Whether
    // these differ.
    bool bring_pivot(int64_t k) const
    {
        const EliminationRows& rows = *this;
        int64_t pivot = k;
        for (int64_t i = k + 1; i < num; ++i)
            if (std::fabs(rows[i][k]) > std::fabs(rows[pivot][k])) pivot = i;
        if (pivot == k) return false;
        std::swap_ranges(rows[k], rows[k] + width, rows[pivot]);
        return true;
    }

    // Subtracts `factor` times row k from row i, from column `begin` on.
    void subtract(int64_t i, int64_t k, double factor, int64_t begin) const
    {
        double* row = values + i * width;
        const double* top = values + k * width;
        for (int64_t j = begin; j < width; ++j)
            row[j] -= factor * top[j];
    }
};

}  // namespace tengine::cpu
