// SPDX-License-Identifier: Apache-2.0
// The transform of 3x3 filters for Winograd's minimal filtering.
#pragma once

#include <cstdint>

namespace tengine::cpu {

// Rows of G of F(4x4, 3x3) and F(6x6, 3x3), for the points of conv_winograd.cc.
inline constexpr double kHalfRoot = 0.70710678118654752440, kRoot = 1.41421356237309504880;
inline constexpr double kFilterOfFour[][3] = {{1, 0, 0},
                                              {-2.0 / 3, -2.0 / 3 * kHalfRoot, -1.0 / 3},
                                              {-2.0 / 3, 2.0 / 3 * kHalfRoot, -1.0 / 3},
                                              {1.0 / 6, kRoot / 6, 1.0 / 3},
                                              {1.0 / 6, -kRoot / 6, 1.0 / 3},
                                              {0, 0, 1}};
inline constexpr double kFilterOfSix[][3] = {{1, 0, 0},
                                             {-2.0 / 9, -2.0 / 9, -2.0 / 9},
                                             {-2.0 / 9, 2.0 / 9, -2.0 / 9},
                                             {1.0 / 90, 1.0 / 45, 2.0 / 45},
                                             {1.0 / 90, -1.0 / 45, 2.0 / 45},
                                             {32.0 / 45, 16.0 / 45, 8.0 / 45},
                                             {32.0 / 45, -16.0 / 45, 8.0 / 45},
                                             {0, 0, 1}};

// Writes G g G' of one filter.
inline void transform_filter(const double (*g)[3], int64_t patch, const float* filter, float* to,
                             int64_t step)
{
    for (int64_t i = 0; i < patch; ++i) {
        double half[3];
        for (int j = 0; j < 3; ++j)
            half[j] = g[i][0] * filter[j] + g[i][1] * filter[3 + j] + g[i][2] * filter[6 + j];
        for (int64_t j = 0; j < patch; ++j)
            to[(i * patch + j) * step] =
                static_cast<float>(half[0] * g[j][0] + half[1] * g[j][1] + half[2] * g[j][2]);
    }
}

}  // namespace tengine::cpu
