// SPDX-License-Identifier: Apache-2.0
// Writes a graph in source form as the bytes of a tmfile. The contract is in tmfile.h; operators'
// records are made in parameters.cc and extension.cc.
#pragma once

#include "base/containers.hpp"
#include "tengine/ir.h"

namespace tengine::tmfile {

TENGINE_MUST_USE int write_model(const struct graph& graph, Vector<char>* out_bytes);

// Writes the nodes and tensors of an execution graph, and their buffers, except for constants with
// the data of the source graph's.
struct SubgraphRecord;
class FileBuilder;
TENGINE_MUST_USE int write_execution(const struct graph& execution, FileBuilder& builder,
                                     SubgraphRecord* out_subgraph);

}  // namespace tengine::tmfile
