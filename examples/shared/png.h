// SPDX-License-Identifier: Apache-2.0
// Writes a picture as a PNG file, without compression.
#pragma once

#include "picture.h"

// Returns 0, or -1 after a message.
int png_write(const char* path, const struct picture* picture);
