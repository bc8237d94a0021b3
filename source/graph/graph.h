// SPDX-License-Identifier: Apache-2.0
// The room graph: graphs, nodes, tensors, parts, contexts and options, as data with invariants. It
// does not know the meaning of operators; algorithms on models are passes of the optimizer.
//
// Functions of the core that change a graph beyond the public ir.h: removing, renumbering,
// ordering.
// A removed node or tensor leaves a NULL in its list until compact_ir_graph().
#pragma once

#include "base/minimal.h"
#include "graph/core.h"

TENGINE_EXTERN_C_BEGIN

struct ir_verdict;

// A shape of the source graph's tensor `source_index` that was known before passes could drop the
// tensor from the execution graph.
typedef struct ir_settled_shape
{
    int32_t source_index;
    int32_t dim_num;
    int dims[MAX_SHAPE_DIM_NUM];
} ir_settled_shape_t;

// Copies `name`. ENOMEM leaves the old one.
int set_ir_graph_name(struct graph* graph, const char* name);
// Makes the device the graph's first; NULL: none. The graph is a user of it (graph/use.h). ENOMEM
// leaves the old one.
TENGINE_MUST_USE int set_ir_graph_device(struct graph* graph, struct device* device);

// Appends a node without operator; create_ir_node() of the operator room completes it.
struct node* append_ir_node(struct graph* graph, const char* name);

// Disconnects and frees a node (a tensor that nothing uses any more); its list entry becomes NULL.
void destroy_ir_node(struct graph* ir_graph, struct node* ir_node);
// Disconnects a node from its tensors, whose indices it keeps.
void disconnect_ir_node(const struct node* node);
// Removes all inputs but the first `number` from the node, which may have fewer.
void keep_ir_node_inputs(struct node* node, int number);
void destroy_ir_tensor(struct graph* ir_graph, struct tensor* ir_tensor);

// Appends a gap in place of a tensor that is left out. ENOMEM.
TENGINE_MUST_USE int leave_ir_tensor_out(struct graph* graph);

// Copies `name`. ENOMEM leaves the old one.
TENGINE_MUST_USE int set_ir_tensor_name(struct graph* graph, struct tensor* tensor,
                                        const char* name);
// Gives `to` the declaration of `from`, which may have none. ENOMEM.
TENGINE_MUST_USE int copy_ir_declaration(const struct tensor* from, struct tensor* to);
// Exchanges the names of two tensors.
void exchange_ir_tensor_names(struct graph* graph, struct tensor* one, struct tensor* other);

// Every consumer of `from`, and the graph's outputs, read `to` instead.
int replace_ir_tensor_uses(struct graph* graph, struct tensor* from, struct tensor* to);

// Closes the gaps and renumbers nodes and tensors everywhere.
int compact_ir_graph(struct graph* graph);

// Orders node_list so that producers come before consumers, in the present order where possible
// (Kahn's algorithm with the smallest index first). Renumbers. EGRAPH names the nodes of a cycle.
// The graph must be compact.
int sort_ir_graph(struct graph* graph);

// The first input or output of the node whose shape is not known, NULL when all are.
const struct tensor* find_ir_unknown_input(const struct node* node);
const struct tensor* find_ir_unknown_output(const struct node* node);

// Records the reason why a device does not run the node (node->refusal_list).
int add_ir_node_refusal(struct node* node, struct device* device, const struct ir_verdict* verdict);

// The type is TENGINE_DT_UNKNOWN from here on, until set_ir_tensor_data_type().
void forget_ir_tensor_type(struct tensor* tensor);
// The same for the shape.
void forget_ir_tensor_shape(struct tensor* tensor);

// Gives the tensor these bytes without copying: `owned` says whether it frees them.
void set_ir_tensor_data(struct tensor* tensor, void* data, bool owned);

// The same for a constant in a mapped file, which may begin at any address: see
// align_ir_constant().
void set_ir_tensor_file_data(struct tensor* tensor, void* data);

// A constant of the graph that is not aligned becomes a copy. ENOMEM.
TENGINE_MUST_USE int align_ir_constant(struct graph* graph, struct tensor* constant);
// Aligns all constants of a graph so.
TENGINE_MUST_USE int align_ir_constants(struct graph* graph);

// A constant of the model in an execution graph, which is in one place for all preparations.
bool is_ir_model_constant(const struct tensor* tensor);

// The tensor of the source graph whose values a constant of a graph made of it has, if these cannot
// change without a call; else NULL.
const struct tensor* find_ir_origin(const struct graph* graph, const struct tensor* constant);

// Copies the bytes of a constant; the pages of a file are released as they have been copied.
void copy_ir_constant(const struct graph* graph, const struct tensor* constant, void* out_bytes);

// A constant in a file leaves memory until it is read again, for something else was made of it. Not
// in minimal builds.
void drop_ir_mapped_constant(const struct graph* graph, const struct tensor* constant);
static inline void drop_ir_constant(const struct graph* graph, const struct tensor* constant)
{
    if (!IS_MINIMAL) drop_ir_mapped_constant(graph, constant);
}

// Sets the tensor's data to this pack, which it holds from then on.
void set_ir_tensor_pack(struct tensor* tensor, struct graph_pool* shared, void* pack);

// The device's survey of the execution graph (set_ir_device_survey()) becomes that of `part`, too,
// which may outlive `whole`; it is released with the last of them, by any thread. ENOMEM.
int share_ir_survey(struct graph* part, const struct graph* whole, const struct device* device);

bool is_ir_graph_output(const struct graph* graph, int tensor_index);
// Replaces entry `place` of the graph's outputs by `tensor`.
void replace_ir_graph_output(struct graph* graph, int place, struct tensor* tensor);

// set_ir_tensor_consumer() by the node that reads the tensor as its input `input`.
TENGINE_MUST_USE int add_ir_consumer(struct tensor* tensor, int node_index, int input);

// Counts the nodes of a source graph that compute; those that only stand for an input or a constant
// do not.
int count_ir_computing_nodes(const struct graph* graph);

TENGINE_EXTERN_C_END
