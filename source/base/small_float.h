// SPDX-License-Identifier: Apache-2.0
// Floats of 4 and 8 bits, kept as codes in bytes: ONNX's FLOAT8E4M3FN, FLOAT8E4M3FNUZ, FLOAT8E5M2,
// FLOAT8E5M2FNUZ (Micikevicius et al., "FP8 Formats for Deep Learning"; Noune et al., "8-bit
// Numerical Formats for Deep Neural Networks"), FLOAT4E2M1 and FLOAT8E8M0 (OCP Microscaling
// Formats). One table describes them all. Codes of 4 bits are packed by packed_bits.h.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

// The codes that stand for infinities and NaN.
enum small_float_kind
{
    SMALL_FLOAT_FINITE,    // no code does
    SMALL_FLOAT_NO_INF,    // NaN: all bits but the sign are set
    SMALL_FLOAT_IEEE,      // the greatest exponent: infinity with mantissa 0, else NaN
    SMALL_FLOAT_NO_MINUS,  // NaN: the code of -0, which does not exist
    SMALL_FLOAT_POWER      // powers of two, no sign, no zero; NaN: all bits are set
};

typedef struct small_float
{
    uint8_t kind;  // enum small_float_kind
    uint8_t exponent_bits;
    uint8_t mantissa_bits;
    uint8_t bias;      // the exponent's
    uint8_t sign;      // the bit of the sign; 0: there is none
    uint8_t greatest;  // code of the greatest finite number
    uint8_t nan;       // code that NaN becomes; FLOAT4E2M1, which has none, has that of -0
} small_float_t;

// The rounding of numbers between two powers of two (FLOAT8E8M0).
enum power_rounding
{
    POWER_UP,
    POWER_DOWN,
    POWER_NEAREST  // half way: up
};

// Returns the description of a TENGINE_DT_*; NULL for all others. Never freed.
const small_float_t* find_small_float(int data_type);

// The result is exact; NaN for the codes of NaN.
double small_float_to_double(const small_float_t* format, uint8_t code);

// Rounds to nearest, ties to even, in one step; a float converts to a double without loss. An
// infinity, and a value that rounds to more than the greatest number, becomes the greatest if
// `saturate`, else infinity or, in a format without it, NaN; FLOAT4E2M1 always has the greatest.
// NaN stays NaN. Signs are kept, those of NaN and zero only in formats that have them. Not for
// SMALL_FLOAT_POWER.
uint8_t double_to_small_float(const small_float_t* format, double value, bool saturate);

// Rounds to FLOAT8E8M0. A value that rounds to more than 2^127 or to less than 2^-127, infinity and
// zero included, becomes the nearest of these if `saturate`, else NaN. Negative numbers, for which
// ONNX defines nothing, become NaN.
uint8_t double_to_power(double value, bool saturate, enum power_rounding rounding);

TENGINE_EXTERN_C_END
