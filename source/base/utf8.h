// SPDX-License-Identifier: Apache-2.0
// Characters in UTF-8. The program `tengine` and the provider for ONNX Runtime compile this source,
// too.
#pragma once

#include <stddef.h>

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

// Returns the number of bytes of the well-formed character (RFC 3629) at `text`, which has `length`
// bytes, at least one; 0 if there is none.
size_t measure_utf8_character(const char* text, size_t length);

TENGINE_EXTERN_C_END
