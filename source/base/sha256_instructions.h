// SPDX-License-Identifier: Apache-2.0
// The processor's own instructions for SHA-256, three to eight times as fast as C.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

typedef struct sha256_instructions
{
    // Adds whole blocks of 64 bytes to a state.
    void (*add_blocks)(uint32_t state[8], const uint8_t* bytes, size_t block_num);
    // Adds blocks to two states, as many to each. The instructions of one state depend on each
    // other; those of the other fill the time.
    void (*add_block_pairs)(uint32_t states[2][8], const uint8_t* const bytes[2], size_t block_num);
} sha256_instructions_t;

// Returns the functions for this processor; NULL when it has no such instructions, or the compiler
// lacks them.
const sha256_instructions_t* find_sha256_instructions(void);

// K of FIPS 180-4 §4.2.2.
extern const uint32_t sha256_round_constants[64];

TENGINE_EXTERN_C_END
