// SPDX-License-Identifier: Apache-2.0
// Kernels of programs on a node, one for each device: their life from one preparation to the next,
// and their calls. There are two kinds: kernels that set_custom_kernel sets on a single node
// (node_kernel.h), and operators that are registered (op_node.h). The optimizer and devices only
// see this header. The source node owns its kernels, the default device's first. Execution nodes
// refer to the first, which determines types and shapes; nodes of a part refer to that of the
// part's device. Devices call tengine_op_prepare_node() and tengine_op_run_node()
// (tengine/custom_op.h).
//
// Failures are the called function's own, after the names of operator, node, function and kernel.
#pragma once

#include <stdbool.h>

#include "operator/operator.h"
#include "tengine/device.h"

TENGINE_EXTERN_C_BEGIN

struct custom_kernel;

// The functions of a kind of kernel. Nodes are execution nodes.
typedef struct custom_kernel_table
{
    const char* kind;       // "custom kernel", for messages
    bool is_for_one_shape;  // that of set_custom_kernel(): prepared for one shape at a time
    const char* (*get_name)(const struct custom_kernel* kernel);
    // Whether `infer` gives the shapes; if not, the operator's own rule does.
    bool (*tells_shapes)(const struct custom_kernel* kernel);
    // Infers shapes of the outputs from those of the inputs; OP_SHAPE_LATER.
    int (*infer)(struct node* node);
    bool settles_types;      // infer also sets types, and is called when shapes are not known
    bool allocates_outputs;  // run gives the outputs of a dynamic node their memory
    int (*bind)(const struct node* node);  // (optional) sets `refused`
    // A plan begins to use the kernel, which may request scratch memory; the plan has ended.
    int (*attach)(const struct node* node, uint64_t* out_scratch);
    void (*detach)(struct custom_kernel* kernel);  // (optional)
    int (*run)(const struct node* node, void* scratch, uint64_t scratch_size);
    bool (*is_async)(const struct custom_kernel* kernel);       // (optional) run waits for others
    int (*find_in_place)(const struct node* node, int output);  // (optional)
    int (*finish)(struct custom_kernel* kernel);                // (optional)
    int (*release)(struct custom_kernel* kernel);
} custom_kernel_table_t;

// The first member of every kind of kernel.
typedef struct custom_kernel
{
    const custom_kernel_table_t* table;
    const struct node* node;     // in the source graph
    const char* device;          // that it is for, by name
    struct custom_kernel* next;  // the same node's kernel for another device
    bool refused;                // its bind has refused the node in the current prerun
} ir_custom_kernel_t;

const char* get_kernel_name(const ir_custom_kernel_t* kernel);
// The operator of a source node; a "Generic" node has its name as an attribute.
const char* get_source_op(const struct node* node);
// Whether the node stands for an operator that the library does not have ("Generic").
bool is_open_node(const struct node* node);

// The failure of a function whose error was cleared before its call: the code and message that it
// has recorded, or else its return value, followed by `consequence`.
int fail_kernel_call(const ir_custom_kernel_t* kernel, const char* function, int returned,
                     const char* consequence);

// ---- on execution nodes ----

// Infers the outputs' shapes by the kernel, which must give them.
int infer_custom_shapes(struct node* node);

// Calls bind. A kernel that refuses gets `refused`; that is a failure when it is forced, or when
// there is no other kernel.
int bind_custom_kernel(const struct node* node);

// The kernel of a source or execution node for the device of this name, or NULL.
ir_custom_kernel_t* find_custom_kernel(const struct node* node, const char* device);
// Whether a source node has a kernel of set_custom_kernel().
bool has_kernel_for_one_shape(const struct node* node);
// Whether a node of the part has a custom kernel.
bool has_custom_kernels(const struct subgraph* part);

// Ends the plan for which tengine_op_prepare_node() was called.
void detach_custom_kernel(ir_custom_kernel_t* kernel);
// Whether a run of the node mostly waits for work that its kernel has begun elsewhere.
bool is_async_node(const struct node* node);
// The input whose memory the output may use, or -1.
int find_custom_in_place(const struct node* node, int output);

// Undoes the preparations of a kernel that no plan uses.
int finish_custom_kernel(ir_custom_kernel_t* kernel);

// ---- on source nodes ----

// Adds a kernel; that of the default device comes first.
void add_custom_kernel(struct node* node, ir_custom_kernel_t* kernel);
// Removes the kernels of a node and ends their lives. Fails as finish does.
int remove_node_kernels(struct node* node);

TENGINE_EXTERN_C_END
