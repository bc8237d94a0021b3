// SPDX-License-Identifier: Apache-2.0
// Writing a graph as a tmfile. Loading goes through the serializer.
#pragma once

#include "base/containers.hpp"
#include "tengine/ir.h"

namespace tengine {

// A graph in source form: inputs and constants are outputs of InputOp and Const nodes. Tengine's
// operators become the format's own records, all others extension records (format.h). Equal graphs
// give equal bytes. Fail with TENGINE_EOPERATOR (an operator of Tengine without a number in files),
// TENGINE_EGRAPH (no outputs), TENGINE_ENOTSUP (several scales that are not along dimension 0),
// TENGINE_ELIMIT (more than 4 GiB), TENGINE_EIO (the file is as it was before).
TENGINE_MUST_USE int encode_tmfile(const struct graph* graph, Vector<char>* out_bytes);
TENGINE_MUST_USE int save_tmfile(const struct graph* graph, const char* path);

}  // namespace tengine
