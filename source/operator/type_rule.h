// SPDX-License-Identifier: Apache-2.0
// The types of a node's outputs where its shapes are not known.
#pragma once

#include "operator/operator.h"

#ifdef __cplusplus
extern "C" {
#endif

// Settles the types by method.types of operator.h, as far as those of the inputs are known.
int infer_node_types(struct node* node);

#ifdef __cplusplus
}
#endif
