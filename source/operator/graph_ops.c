// SPDX-License-Identifier: Apache-2.0
// Nodes of a source graph that stand for its inputs and constants. They compute nothing and never
// reach an execution graph.
#include "operator/operator.h"

static const ir_method_t rows[] = {
    {.domain = "tengine", .name = "InputOp", .version = 1, .max_output = 1, .traits = OP_LEGACY},
    {.domain = "tengine", .name = "Const", .version = 1, .max_output = 1, .traits = OP_LEGACY},
};

OPERATOR_TABLE(graph_ops, rows);
