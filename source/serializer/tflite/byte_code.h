// SPDX-License-Identifier: Apache-2.0
// Byte code of a vendor's compiler in a .tflite (DISPATCH_OP).
#pragma once

#include "serializer/tflite/reading.h"

namespace tengine::tflite {

// Whether the node runs byte code.
bool is_dispatch(const struct node* node);

// Sets the attributes of such a node, and its byte code as the input behind those of the record.
// The options are a map with the entry point and the place of the byte code in the file, or in
// older files the names of the entry point and of the metadata that state the place.
TENGINE_MUST_USE int read_byte_code(Reading& reading, struct node* node,
                                    const file::Operator& record, const uint8_t* options,
                                    size_t option_size);

}  // namespace tengine::tflite
