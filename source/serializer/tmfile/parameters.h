// SPDX-License-Identifier: Apache-2.0
// Reading and writing of the parameter records of Tengine's operators, by the fields of their rows.
#pragma once

#include "operator/operator.h"
#include "serializer/tmfile/file_builder.h"
#include "serializer/tmfile/reader.h"

namespace tengine::tmfile {

// The present number of the operator: three numbers meant other operators for some time, which
// differ in whether they have parameters.
uint32_t todays_number(const OperatorRecord& record);
// The row of a Tengine operator by that number. NULL: there is none.
const ir_method_t* find_method(uint32_t operator_number);

// Sets the node's parameters. A record ends where its operator's record begins; fields after that
// were added to the format later and keep their default.
TENGINE_MUST_USE int read_parameters(Reading& reading, struct node* node,
                                     const OperatorRecord& record, uint32_t operator_offset);

// Writes the data that the record refers to and then the record; *out_offset is 0 when the operator
// has none.
TENGINE_MUST_USE int write_parameters(FileBuilder& builder, const struct node& node, bool is_nhwc,
                                      uint32_t* out_offset);

}  // namespace tengine::tmfile
