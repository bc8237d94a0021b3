// SPDX-License-Identifier: Apache-2.0
// Nodes of a source graph that stand for its inputs and constants. They compute nothing and never
// reach an execution graph.
#include "operator/operator.h"

static const ir_method_t rows[] = {
    {TENGINE_RECORD(33, 12, 0), .name = "InputOp", .max_output = 1, .traits = OP_LEGACY},
    {TENGINE_RECORD(14, 4, 0), .name = "Const", .max_output = 1, .traits = OP_LEGACY},
};

OPERATOR_TABLE(graph_ops, rows);
