// SPDX-License-Identifier: Apache-2.0
// Uses of registered objects, which are devices and schedulers: a registry keeps an object while it
// has a user. Objects are known by their addresses.
#pragma once

#include "tengine/ir.h"

TENGINE_EXTERN_C_BEGIN

typedef enum ir_user
{
    IR_USER_GRAPH,    // a prepared graph, or one whose device it is (set_graph_device)
    IR_USER_CALL,     // a compiled part: without a graph one whose call has not returned
    IR_USER_CONTEXT,  // a list of devices
    IR_USER_NUMBER
} ir_user_t;

// Any thread. begin: `name` is the object's, for the message of ENOMEM.
TENGINE_MUST_USE int begin_ir_use(const void* object, const char* name, ir_user_t user);
// Ends one use that was begun; the object is not read.
void end_ir_use(const void* object, ir_user_t user);

// ESTATE while there is a user. The message has the kind ("device") and the name of the object, its
// user, and how that use ends. Any thread.
TENGINE_MUST_USE int check_ir_unused(const void* object, const char* kind, const char* name);

TENGINE_EXTERN_C_END
