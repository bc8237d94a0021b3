// SPDX-License-Identifier: Apache-2.0
// The options of custom operators: a FlexBuffer, or bytes that only the operator knows.
#pragma once

#include "serializer/tflite/reading.h"

namespace tengine::tflite {

// Makes a node Generic the operator "tflite.<name>": the attribute custom_options has the bytes,
// and where they are a map, each scalar, text and list of one kind in it is an attribute, too.
TENGINE_MUST_USE int describe_custom(Reading& reading, struct node* node,
                                     const file::OperatorCode& code, const file::Operator& record);

// Sets the fields of a row for a custom operator: those with a place in the file are words of the
// bytes, the others are entries of the map.
TENGINE_MUST_USE int read_custom_options(Reading& reading, struct node* node,
                                         const file::Operator& record);

}  // namespace tengine::tflite
