// SPDX-License-Identifier: Apache-2.0
// Elements of 2 and 4 bits as tensors have them: one after the other without gaps, the first in the
// low bits of the first byte; rows do not begin at a byte. The rest of the last byte is 0.
// Unpacked, every element has the low bits of a byte of its own, whose other bits are 0.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

// Returns the bytes that `number` elements of up to 64 bits take. For numbers of elements that have
// been checked: the result must fit.
static inline size_t count_packed_bytes(int64_t number, int bits)
{
    return (size_t)(((uint64_t)number * (unsigned)bits + 7) / 8);
}

// Unpacks elements `begin` to `begin` + `number` - 1.
static inline void unpack_bits(const void* packed, int64_t begin, int64_t number, int bits,
                               uint8_t* out_elements)
{
    const uint8_t* bytes = (const uint8_t*)packed;
    const unsigned mask = (1u << bits) - 1;
    for (int64_t i = 0; i < number; ++i) {
        const uint64_t place = (uint64_t)(begin + i) * (unsigned)bits;
        out_elements[i] = (uint8_t)(bytes[place / 8] >> place % 8 & mask);
    }
}

// Packs elements. `begin` must be the first element of a byte. The last byte is written as a whole:
// the elements after the last become 0.
static inline void pack_bits(const uint8_t* elements, int64_t begin, int64_t number, int bits,
                             void* out_packed)
{
    uint8_t* bytes = (uint8_t*)out_packed + begin * bits / 8;
    const int64_t in_byte = 8 / bits;
    for (int64_t i = 0; i < number; i += in_byte) {
        unsigned byte = 0;
        for (int64_t k = 0; k < in_byte && i + k < number; ++k)
            byte |= (unsigned)elements[i + k] << k * bits;
        bytes[i / in_byte] = (uint8_t)byte;
    }
}

// Returns the element as a signed number in two's complement.
static inline int extend_sign(uint8_t element, int bits)
{
    const int half = 1 << (bits - 1);
    return (element ^ half) - half;
}

TENGINE_EXTERN_C_END
