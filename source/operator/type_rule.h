// SPDX-License-Identifier: Apache-2.0
// The types of a node's outputs where its shapes are not known.
#pragma once

#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

// Sets the types by method.types of operator.h, as far as those of the inputs are known.
int infer_node_types(struct node* node);

TENGINE_EXTERN_C_END
