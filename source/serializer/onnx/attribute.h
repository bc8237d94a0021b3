// SPDX-License-Identifier: Apache-2.0
// AttributeProto to the node's parameters, through the field list of its operator
// (operator/param.h).
#pragma once

#include "onnx/onnx.pb.h"
#include "serializer/onnx/external_data.h"
#include "tengine/ir.h"

namespace tengine {

// Sets every attribute of `proto` on `node`. One that the operator does not have, has twice or has
// with another type or range is an error that names node, operator and attribute.
TENGINE_MUST_USE int set_attributes(struct node* node, const ::onnx::NodeProto& proto,
                                    ExternalData* external);

}  // namespace tengine
