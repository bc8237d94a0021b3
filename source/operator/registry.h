// SPDX-License-Identifier: Apache-2.0
// The operators known to the process: rows of the operator tables by (domain, name, opset), and
// the ids devices use for (domain, name).
#pragma once

#include "operator/operator.h"
#include "tengine/device.h"  // get_op_type(), find_op_name(), push_op_names()

TENGINE_EXTERN_C_BEGIN

// Ids below are Tengine's own operators (OP_CONV ...); ids from here on are given in the order of
// registration.
#define OP_BUILTIN_LAST 104

// Registers a row. `type` < 0 stands for the id of the same domain and name, or the next free one.
// TENGINE_EEXIST when the row's opset range overlaps that of a registered row, TENGINE_EINVAL for a
// row that contradicts itself.
int register_op(int type, const char* name, const struct method* method);
int release_op_registry(void);

// Returns the id of an operator by its full name: "Conv" (or "ai.onnx.Conv") is ONNX's, others have
// their domain before them, "com.microsoft.QGemm". -1 when there is none.
int get_op_type_by_name(const char* full_name);

// Returns the row that is valid for opset `version`; 0: the newest. NULL when there is none.
const struct method* find_op_method(int type, int version);
const struct method* find_op_method_via_index(int index);
int get_op_method_count(void);
// Iterates over the operators: returns the first row of each, by the order of registration, in
// constant time. NULL after the last.
const struct method* find_op_via_index(int index);
int get_op_count(void);

// create_ir_node() by name (as of get_op_type_by_name()), newest opset. `origin` is the name of the
// node that needs it: when the operator is left out of this build, the error has both.
struct node* create_op_node(struct graph* graph, const char* node_name, const char* full_name,
                            const char* origin);

// Turns `node` into the operator `full_name` (as of get_op_type_by_name(), newest opset), and keeps
// the parameters that both have under the same name and kind; for lower functions.
int change_node_method(struct node* node, const char* full_name);
// Gives the node the row that its operator has in another opset, and keeps the parameters that both
// have.
int change_node_opset(struct node* node, int version);

// set_ir_graph_input_node() for a program, which feeds the tensors of an input node whatever the
// node would compute itself. A node that was such an input before, and is not an InputOp, computes
// again.
int replace_ir_graph_input_nodes(struct graph* graph, const int32_t nodes[], int number);

TENGINE_EXTERN_C_END
