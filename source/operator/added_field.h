// SPDX-License-Identifier: Apache-2.0
// Parameters that one node has and its operator's row lacks, for operators whose meaning belongs to
// the program (trait OP_OPEN). The node then has its own row, so that all code for field lists
// (param.h) treats these parameters like others.
#pragma once

#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

// Adds a parameter, not set yet. The name is copied. TENGINE_ENOTSUP: the operator is not open;
// TENGINE_EEXIST: the name is taken; TENGINE_ELIMIT: too many for one node.
int add_node_field(struct node* node, const char* name, op_field_kind_t kind);

// Gives `target`, a node of the same operator, the parameters that were added to `origin`, without
// their values.
int copy_added_fields(struct node* target, const struct node* origin);

// The index of the first attribute in the node's row: for an open operator it follows the fields
// that all its nodes have.
int get_first_attribute(const struct node* node);

TENGINE_EXTERN_C_END
