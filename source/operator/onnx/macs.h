// SPDX-License-Identifier: Apache-2.0
// Multiply-accumulates of a node. Shapes may come from a hostile file, so products saturate, at a
// value far above any real node and low enough that the sum over a graph fits int64.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define MOST_MACS (INT64_C(1) << 46)

// Returns a * b for factors that are not negative, at most MOST_MACS.
static inline int64_t multiply_macs(int64_t a, int64_t b)
{
    int64_t product;
    const bool fits = !__builtin_mul_overflow(a, b, &product) && product <= MOST_MACS;
    return fits ? product : MOST_MACS;
}
