// SPDX-License-Identifier: Apache-2.0
// The processor's own instructions for SHA-256, three to eight times as fast as C.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Adds whole blocks of 64 bytes to a state.
typedef void (*add_sha256_blocks_t)(uint32_t state[8], const uint8_t* bytes, size_t block_num);

// With the instructions of this processor; NULL when it has none, or the compiler lacks them.
add_sha256_blocks_t find_sha256_instructions(void);

// K of FIPS 180-4 §4.2.2.
extern const uint32_t sha256_round_constants[64];

#ifdef __cplusplus
}
#endif
