// SPDX-License-Identifier: Apache-2.0
#include "optimizer/dialect/kept_nodes.h"

#include "operator/operator.h"
#include "tengine/log.h"

namespace tengine {

String* KeptNodes::add(const node& node)
{
    Kept& kept = by_op_[get_ir_node_op(&node)];
    return ++kept.number == 1 ? &kept.why : nullptr;
}

void KeptNodes::warn() const
{
    for (const auto& [op, kept] : by_op_) {
        if (kept.number == 1)
            TLOG_WARNING("Tengine Lite cannot load the file, it contains an ONNX node: %s",
                         kept.why.c_str());
        else
            TLOG_WARNING(
                "Tengine Lite cannot load the file, it contains %d ONNX nodes %s; the first: %s",
                kept.number, op.c_str(), kept.why.c_str());
    }
}

}  // namespace tengine
