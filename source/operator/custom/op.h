// SPDX-License-Identifier: Apache-2.0
// Custom operators (tengine/custom_op.h): their data, and the lists of registered ones. op_node.h
// has the nodes that they compute. Any thread.
#pragma once

#include <stdbool.h>

#include "tengine/custom_op.h"
#include "tengine/ir.h"

TENGINE_EXTERN_C_BEGIN

struct tengine_op
{
    char* domain;     // "" is ONNX's
    char* name;       // the part after the domain's dot in full_name
    char* full_name;  // "com.example.Atan", "Conv"
    int min_version;
    int max_version;
    char* device;  // its name; NULL: the default device
    tengine_op_init_t init;
    tengine_op_free_t free;
    tengine_op_prepare_t prepare;
    tengine_op_invoke_t invoke;
    tengine_op_invoke_async_t invoke_async;  // in place of invoke
    tengine_op_cancel_t cancel;              // (optional)
    int like_input;                          // whose type and shape all outputs have; -1: none
    void* user_data;
    void (*release)(void* user_data);
    // Under the lock of the lists.
    int holder_num;        // the maker, the lists, and nodes
    int registration_num;  // ever; after the first it must not change
    int node_num;          // that are computed by it
};

// The errors are those of tengine_op_create, whose name `function` is.
tengine_op_t* create_custom_op(const char* domain, const char* name, int min_version,
                               int max_version, const char* function);
int set_custom_op_device(tengine_op_t* op, const char* device, const char* function);
// The name of the device that it is for.
const char* get_custom_op_device(const tengine_op_t* op);
// Releases one hold. The last one destroys the operator.
void drop_custom_op(tengine_op_t* op);

// Register with `context`, or with NULL for the process; unregister.
int register_custom_op(struct context* context, tengine_op_t* op, const char* function);
int unregister_custom_op(struct context* context, tengine_op_t* op, const char* function);

// Gives each of these nodes of the source graph, and of their bodies, its registered operator, if
// there is one and the node has no custom kernel, and calls its init. Nodes that have one keep it.
// `only_unknown`: only nodes of operators that the library lacks. Fails as init does, or with
// TENGINE_ENOMEM.
int resolve_custom_ops(const struct graph* source, const int32_t nodes[], int node_num,
                       bool only_unknown);

// Counts the changes of all lists: after a change, a prepared graph may need other operators.
uint64_t get_custom_op_revision(void);

// The operators of the process, in the order of registration; NULL after the last.
tengine_op_t* find_custom_op_via_index(int index);
// Whether the operator computes a node.
bool is_custom_op_used(const tengine_op_t* op);
// Empties the list of the process.
void release_custom_ops(void);

// Whether an operator is registered for the process or `context`, which may be NULL. `version` 0:
// any.
bool has_custom_op(const struct context* context, const char* domain, const char* name,
                   int version);
// Steps through the operators of different devices, each of which is held for a node until
// release_custom_op(): the first one, or the one after `last`, which the node still holds. NULL: no
// more.
tengine_op_t* hold_custom_op(const struct context* context, const char* domain, const char* name,
                             int version, const tengine_op_t* last);
void release_custom_op(tengine_op_t* op);

TENGINE_EXTERN_C_END
