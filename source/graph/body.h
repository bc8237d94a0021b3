// SPDX-License-Identifier: Apache-2.0
// Bodies: the graphs that a node of control flow has, such as the two branches of an If. Each is a
// graph in source form, prepared and run like a model of its own, so that its nodes are placed,
// split and reported like any others.
//
// The tensors of the graphs around it that a body reads (it captures them) are further inputs of
// the node, after those that its operator has, and further inputs of the body. So nothing but the
// node's inputs decides about order, lifetimes and parts.
#pragma once

#include <stdbool.h>

#include "graph/core.h"

TENGINE_EXTERN_C_BEGIN

// The maximum depth of nested bodies.
#define IR_MOST_NESTED_BODIES 8

// The work of the scheduler room on bodies.
typedef struct ir_body_entries
{
    // For the shapes that the inputs have. `options` are those of the graph around, as in run().
    int (*prepare)(struct graph* body, const ir_run_options_t* options);
    // With the values fed to the inputs. A body that is not prepared for their shapes is prepared
    // first.
    int (*run)(struct graph* body, const ir_run_options_t* options);
    int (*close)(struct graph* body);
} ir_body_entries_t;

typedef struct ir_body
{
    struct graph* graph;
    int32_t* inputs;  // tensors of `graph`: those that the operator has, then the captures
    int32_t input_num;
    int32_t capture_num;               // captures among these
    int32_t first_capture;             // the node's input that is the first captured one
    const ir_body_entries_t* entries;  // NULL until the graph around is prepared
} ir_body_t;

// The bodies of a node. Nodes share them: that of an execution graph, and those of the parts made
// of it.
typedef struct ir_bodies
{
    int32_t holder_num;
    int32_t num;
    ir_body_t* list;
} ir_bodies_t;

// A list of `num` bodies without graphs, with one holder. NULL when out of memory.
ir_bodies_t* create_ir_bodies(int num);
ir_bodies_t* hold_ir_bodies(ir_bodies_t* bodies);  // NULL is allowed
// The last holder destroys the graphs, which must not be prepared then. NULL is allowed.
void release_ir_bodies(ir_bodies_t* bodies);

// Calls visit() for the graph and then for the bodies in it, whatever their depth, until it returns
// false. Whether it never did.
typedef bool (*ir_graph_visit_t)(const struct graph* graph, void* data);
bool visit_ir_graphs(const struct graph* graph, ir_graph_visit_t visit, void* data);

// Whether a body failed with `status` because shapes or types of its values are wrong, which is not
// an error in a branch that no run takes.
static inline bool is_ir_misfit(int status)
{
    return status == TENGINE_EINVAL || status == TENGINE_ERANGE || status == TENGINE_EDTYPE;
}

// The number of inputs that the node's operator has: those before the captures of bodies.
int count_ir_own_inputs(const struct node* node);

// Appends an input to the body; `captured` after all others.
TENGINE_MUST_USE int add_ir_body_input(ir_body_t* body, const struct tensor* tensor, bool captured);

// Sets type, shape and data, which is borrowed, of the body's input with this index. An input that
// the body has as a constant stays.
TENGINE_MUST_USE int feed_ir_body(ir_body_t* body, int index, const struct tensor* value,
                                  void* data);

// A result of the last run, whose data lasts until the next one.
const struct tensor* get_ir_body_output(const ir_body_t* body, int index);

TENGINE_EXTERN_C_END
