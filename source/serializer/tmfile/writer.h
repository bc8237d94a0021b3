// SPDX-License-Identifier: Apache-2.0
// Writes a graph in source form as the bytes of a tmfile. The contract is in tmfile.h; operators'
// records are made in parameters.cc and extension.cc.
#pragma once

#include "base/containers.hpp"
#include "tengine/ir.h"

namespace tengine::tmfile {

// Several graphs are the entries of one model. `names`: NULL for one graph.
TENGINE_MUST_USE int write_model(const Vector<const struct graph*>& graphs,
                                 const char* const names[], Vector<char>* out_bytes);

// Writes the nodes and tensors of an execution graph, and their buffers, except for constants with
// the data of the source graph's.
struct SubgraphRecord;
class FileBuilder;
TENGINE_MUST_USE int write_execution(const struct graph& execution, FileBuilder& builder,
                                     SubgraphRecord* out_subgraph);

}  // namespace tengine::tmfile
