// SPDX-License-Identifier: Apache-2.0
// A checksum of large data, which detects altered bytes as fast as memory is read. Whoever writes
// the data can also choose them for their checksum: see sha256.h otherwise.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

typedef struct checksum
{
    uint64_t words[2];
} checksum_t;

// The same on all processors of one byte order, for any alignment. Eight lanes take 8 bytes each of
// every 64, with rounds of one multiplication, by the constants of XXH64 (Y. Collet, "xxHash fast
// digest algorithm", 0.1.1). A round maps a lane's states one to one, so that a change within 8
// bytes is always detected, and any other except one in 2^64.
checksum_t find_checksum(const void* data, size_t size);

TENGINE_EXTERN_C_END
