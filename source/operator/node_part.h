// SPDX-License-Identifier: Apache-2.0
// Keys of nodes in the compiled parts of a model, see graph/model_part.h.
#pragma once

#include <stdint.h>

#include "tengine/ir.h"

TENGINE_EXTERN_C_BEGIN

// The key of a node of an execution graph: the same whenever the same model is prepared, and unique
// in the graph.
uint64_t find_ir_node_key(const struct node* node);

TENGINE_EXTERN_C_END
