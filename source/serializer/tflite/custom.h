// SPDX-License-Identifier: Apache-2.0
// The options of custom operators: a FlexBuffer, or bytes that only the operator knows.
#pragma once

#include "serializer/tflite/reading.h"

namespace tengine::tflite {

// An operator that a file names: a custom one, STABLEHLO_CUSTOM_CALL or STABLEHLO_COMPOSITE, whose
// names and versions are options.
struct NamedCall
{
    std::string_view name;
    int32_t version = 1;
    const uint8_t* options = nullptr;  // of the operator with this name
    size_t option_size = 0;
    int32_t subgraph = -1;  // of a composite: its decomposition
};
TENGINE_MUST_USE int read_named_call(const Reading& reading, uint32_t index,
                                     const file::Operator& record, NamedCall* out_call);

// Makes a node Generic the operator "tflite.<name>": the attribute custom_options has the bytes,
// and where they are a map, each scalar, text and list of one kind in it is an attribute, too.
TENGINE_MUST_USE int describe_custom(Reading& reading, struct node* node, const NamedCall& call,
                                     const file::Operator& record);

// Sets the fields of a row for a custom operator: those with a place in the file are words of the
// bytes, the others are entries of the map.
TENGINE_MUST_USE int read_custom_options(Reading& reading, struct node* node,
                                         const file::Operator& record);

}  // namespace tengine::tflite
