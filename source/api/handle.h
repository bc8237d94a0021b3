// SPDX-License-Identifier: Apache-2.0
// The table of live handles, with which the C API distinguishes a valid handle from a NULL, stale
// or wrong one without reading its target. Handles are the addresses of contexts, graphs, nodes and
// tensors; nodes and tensors enter the table when they are first returned to the program.
#pragma once

#include <stdbool.h>

#include "scheduler/failure.h"
#include "tengine/c_api.h"
#include "tengine/ir.h"

struct context;

typedef enum handle_kind
{
    HANDLE_CONTEXT,
    HANDLE_GRAPH,
    HANDLE_NODE,
    HANDLE_TENSOR
} handle_kind_t;

enum
{
    GRAPH_EVENT_NUMBER = GRAPH_EXEC_DONE + 1
};

// The state that the API has for a graph.
typedef struct api_graph
{
    struct graph* graph;
    struct context* context;  // the program's own or, when it gave none, of this graph alone
    bool changed;             // since prerun_graph: the preparation is out of date
    bool running;             // in run_graph or wait_graph, which call hooks
    bool has_run;             // since prerun_graph
    ir_failure_t failure;     // that of the run that ended last
    options_t thread;         // used by prerun_graph
    struct
    {
        event_handler_t function;
        void* argument;
    } hooks[GRAPH_EVENT_NUMBER];
    int kernel_num;       // nodes with a kernel of set_custom_kernel()
    struct vector* lent;  // returned by get_node_attr_pointer, see attribute_pointer.c
} api_graph_t;

// All functions: any thread. `function` is the name of the calling API function, for the message.
// Functions that return a status or a pointer set the error when they fail.

// TENGINE_ESTATE before init_tengine.
TENGINE_MUST_USE int check_initialised(const char* function);

// Adds an object; `owner` is the graph that it is destroyed with, NULL for a context. Does nothing
// when the object is in the table. TENGINE_ENOMEM.
TENGINE_MUST_USE int add_handle(void* object, handle_kind_t kind, api_graph_t* owner);

// Remove a context; or a graph with its nodes and tensors. True when neither the program nor a
// graph uses the context any more; the caller must then destroy it.
TENGINE_MUST_USE bool remove_context_handle(const struct context* context);
TENGINE_MUST_USE bool remove_graph_handles(const api_graph_t* graph);

// Any graph or context of the table, NULL when there is none.
void* find_any_handle(handle_kind_t kind);

// Whether the table has an object for which `fits` is true. `owner` is the graph that the object is
// destroyed with, NULL for a context. `fits` must not use handles.
typedef bool (*handle_test_t)(const void* object, const api_graph_t* owner, const void* argument);
bool has_handle(handle_kind_t kind, handle_test_t fits, const void* argument);

// The live objects that handles refer to, NULL when TENGINE_EHANDLE or TENGINE_ESTATE was set. The
// owner of a node or tensor comes out through `out_owner`, which may be NULL.
struct context* find_context(context_t handle, const char* function);
api_graph_t* find_graph(graph_t handle, const char* function);
struct node* find_node(node_t handle, const char* function, api_graph_t** out_owner);
struct tensor* find_tensor(tensor_t handle, const char* function, api_graph_t** out_owner);

// Return an object to the program: add it to the table and return its handle, NULL when that fails
// or `object` is NULL.
node_t give_node(struct node* node, api_graph_t* owner);
tensor_t give_tensor(struct tensor* tensor, api_graph_t* owner);
