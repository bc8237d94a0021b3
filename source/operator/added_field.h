// SPDX-License-Identifier: Apache-2.0
// Parameters that one node has and its operator's row does not, for operators whose meaning is the
// program's own (trait OP_OPEN). The node then has a row of its own, so that everything that goes
// by field lists (param.h) treats them like the others.
#pragma once

#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

// Adds a parameter, not set yet. The name is copied. TENGINE_ENOTSUP: the operator is not open;
// TENGINE_EEXIST: there is one of this name; TENGINE_ELIMIT: too many for one node.
int add_node_field(struct node* node, const char* name, op_field_kind_t kind);

// Gives `target`, a node of the same operator, the parameters that were added to `origin`, without
// their values.
int copy_added_fields(struct node* target, const struct node* origin);

// Where the attributes begin among the fields of the node's row: for an open operator, behind those
// that every node of it has.
int get_first_attribute(const struct node* node);

TENGINE_EXTERN_C_END
