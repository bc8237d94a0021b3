// SPDX-License-Identifier: Apache-2.0
// See small_float.h. The conversions use integer arithmetic alone: the same on every machine and
// rounding mode.
#include "base/small_float.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "tengine/defines.h"

enum
{
    DOUBLE_BIAS = 1023,
    DOUBLE_MANTISSA = 52,
    DOUBLE_EXPONENTS = 0x7ff,
    POWER_BIAS = 127,
    POWER_GREATEST = 0xfe,
    POWER_NAN = 0xff
};

const small_float_t* find_small_float(int data_type)
{
    static const small_float_t formats[] = {
        {SMALL_FLOAT_NO_INF, 4, 3, 7, 0x80, 0x7e, 0x7f},
        {SMALL_FLOAT_NO_MINUS, 4, 3, 8, 0x80, 0x7f, 0x80},
        {SMALL_FLOAT_IEEE, 5, 2, 15, 0x80, 0x7b, 0x7e},
        {SMALL_FLOAT_NO_MINUS, 5, 2, 16, 0x80, 0x7f, 0x80},
        {SMALL_FLOAT_FINITE, 2, 1, 1, 0x08, 0x07, 0x08},
        {SMALL_FLOAT_POWER, 8, 0, POWER_BIAS, 0, POWER_GREATEST, POWER_NAN},
    };
    const int index = data_type - TENGINE_DT_FLOAT8E4M3FN;
    return index >= 0 && index < (int)(sizeof(formats) / sizeof(formats[0])) ? &formats[index]
                                                                             : NULL;
}

// ---- to double ----

static bool is_nan(const small_float_t* format, uint8_t code)
{
    const uint8_t magnitude = (uint8_t)(code & ~format->sign);
    switch ((enum small_float_kind)format->kind) {
        case SMALL_FLOAT_FINITE:
            return false;
        case SMALL_FLOAT_NO_MINUS:
            return code == format->nan;
        case SMALL_FLOAT_IEEE:
            return magnitude > format->greatest + 1;
        default:
            return magnitude > format->greatest;
    }
}

double small_float_to_double(const small_float_t* format, uint8_t code)
{
    if (is_nan(format, code)) return NAN;
    if (format->kind == SMALL_FLOAT_POWER) return ldexp(1, code - POWER_BIAS);
    const int magnitude = code & (format->sign - 1);
    const int exponent = magnitude >> format->mantissa_bits;
    const int hidden = exponent > 0 ? 1 << format->mantissa_bits : 0;
    const int mantissa = (magnitude & ((1 << format->mantissa_bits) - 1)) + hidden;
    const int unit = (exponent > 0 ? exponent : 1) - format->bias - format->mantissa_bits;
    const double value = magnitude > format->greatest ? HUGE_VAL : ldexp(mantissa, unit);
    return code & format->sign ? -value : value;
}

// ---- from double ----

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

// Returns `value` in multiples of 2^-shift, ties to even.
static int round_shifted(uint64_t value, int shift)
{
    if (shift > DOUBLE_MANTISSA + 1) return 0;  // less than half
    const uint64_t below_half = (UINT64_C(1) << (shift - 1)) - 1;
    const uint64_t odd = value >> shift & 1;
    return (int)((value + below_half + odd) >> shift);
}

// Returns the code without sign of a positive number, as if there were no greatest exponent. A
// mantissa that is rounded up to the next power of two carries into the exponent by itself.
static int round_magnitude(const small_float_t* format, uint64_t bits)
{
    const int biased = (int)(bits >> DOUBLE_MANTISSA) & DOUBLE_EXPONENTS;
    if (biased == 0) return 0;  // less than every format's least number
    const uint64_t mantissa =
        (bits & ((UINT64_C(1) << DOUBLE_MANTISSA) - 1)) | UINT64_C(1) << DOUBLE_MANTISSA;
    const int exponent = biased - DOUBLE_BIAS + format->bias;  // 1: the least of normal numbers
    const int normal = exponent > 1 ? exponent : 1;
    const int shift = DOUBLE_MANTISSA - format->mantissa_bits + normal - exponent;
    return ((normal - 1) << format->mantissa_bits) + round_shifted(mantissa, shift);
}

static uint8_t code_beyond(const small_float_t* format, bool saturate)
{
    if (saturate || format->kind == SMALL_FLOAT_FINITE) return format->greatest;
    return format->kind == SMALL_FLOAT_IEEE ? format->greatest + 1 : format->nan;
}

uint8_t double_to_small_float(const small_float_t* format, double value, bool saturate)
{
    const uint64_t bits = bits_of(value);
    const uint8_t sign = bits >> 63 ? format->sign : 0;
    if (isnan(value)) return format->nan | sign;
    const int magnitude = round_magnitude(format, bits);
    const bool is_beyond = magnitude > format->greatest;
    const uint8_t code = is_beyond ? code_beyond(format, saturate) : (uint8_t)magnitude;
    if (code == 0 && format->kind == SMALL_FLOAT_NO_MINUS) return 0;
    return code | sign;
}

static bool is_rounded_up(uint64_t mantissa, enum power_rounding rounding)
{
    switch (rounding) {
        case POWER_UP:
            return mantissa != 0;
        case POWER_NEAREST:
            return mantissa >> (DOUBLE_MANTISSA - 1) != 0;
        default:
            return false;
    }
}

uint8_t double_to_power(double value, bool saturate, enum power_rounding rounding)
{
    if (isnan(value) || value < 0) return POWER_NAN;
    const uint64_t bits = bits_of(value) & INT64_MAX;
    const uint64_t mantissa = bits & ((UINT64_C(1) << DOUBLE_MANTISSA) - 1);
    const int power = (int)(bits >> DOUBLE_MANTISSA) - DOUBLE_BIAS + POWER_BIAS +
                      is_rounded_up(mantissa, rounding);
    if (power >= 0 && power <= POWER_GREATEST) return (uint8_t)power;
    if (!saturate) return POWER_NAN;
    return power < 0 ? 0 : POWER_GREATEST;
}
