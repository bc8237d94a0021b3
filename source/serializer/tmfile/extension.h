// SPDX-License-Identifier: Apache-2.0
// Reading and writing of extension records: nodes whose operators the format has no number for. The
// layout is in format.h.
#pragma once

#include "base/containers.hpp"
#include "serializer/tmfile/file_builder.h"
#include "serializer/tmfile/reader.h"

namespace tengine::tmfile {

// Type and opset of the operator that an extension's operator record names. TENGINE_EOPERATOR.
TENGINE_MUST_USE int find_extension(const Reading& reading, const OperatorRecord& record,
                                    const String& node_name, const String& what, int* out_type);
TENGINE_MUST_USE int read_attributes(Reading& reading, struct node* node, uint32_t attributes);

// `without_record`: one of Tengine's operators has no parameter record, but attributes alone.
// Write the string with the operator's name, an attribute that is a body, whose record is at
// `body`, and the vector of attributes, which begins with `offsets`. They return the offset; 0:
// none.
uint32_t write_operator_name(FileBuilder& builder, const struct node& node);
uint32_t write_body_attribute(FileBuilder& builder, std::string_view name, uint32_t body);
uint32_t write_attributes(FileBuilder& builder, const struct node& node, bool without_record,
                          Vector<uint32_t> offsets);

}  // namespace tengine::tmfile
