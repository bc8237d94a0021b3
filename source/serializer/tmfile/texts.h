// SPDX-License-Identifier: Apache-2.0
// Strings in the buffer of a constant or of an attribute. Each has the number of its bytes, in four
// bytes, and the bytes, without a NUL.
#pragma once

#include "base/containers.hpp"
#include "graph/string_pool.h"
#include "serializer/tmfile/reader.h"

namespace tengine::tmfile {

// Fails with the message of a build without IR_HAS_STRINGS.
TENGINE_MUST_USE int refuse_texts(const String& what);

String encode_texts(const char* const* texts, size_t number);

// Reads exactly `number` strings in `size` bytes into the graph. `what` names them in messages.
TENGINE_MUST_USE int decode_texts(Reading& reading, const char* bytes, size_t size, size_t number,
                                  const String& what, const char** out_texts);

}  // namespace tengine::tmfile
