// SPDX-License-Identifier: Apache-2.0
// Nodes of a source graph that represent its inputs and constants. They compute nothing and never
// reach an execution graph.
#include "operator/operator.h"
#include "operator/row.h"

static const ir_method_t* const rows[] = {
    TENGINE_ROW(InputOp, 33, 12, 0, .max_output = 1, .traits = OP_LEGACY),
    TENGINE_ROW(Const, 14, 4, 0, .max_output = 1, .traits = OP_LEGACY),
};

OPERATOR_TABLE(graph_ops, rows);
