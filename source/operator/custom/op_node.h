// SPDX-License-Identifier: Apache-2.0
// A node that is computed by a custom operator (op.h): the arguments of its callbacks, and their
// calls. It is a kernel of custom_kernel.h.
#pragma once

#include "operator/custom/custom_kernel.h"
#include "operator/custom/op.h"

TENGINE_EXTERN_C_BEGIN

// The callback that is being called.
typedef enum op_call
{
    OP_CALL_NONE,
    OP_CALL_INIT,
    OP_CALL_PREPARE,
    OP_CALL_INVOKE
} op_call_t;

// An input or output; `tensor` is NULL if it is absent.
struct tengine_op_tensor
{
    struct tensor* tensor;
    const struct tengine_op_context* context;
    bool is_output;
    bool is_sized;    // outputs: prepare, or the present invoke, has set the size
    bool is_dynamic;  // outputs: invoke sets their size
    // Inputs: the type, shape and data of the last call of prepare.
    int prepared_type;
    int prepared_rank;
    int prepared_dims[MAX_SHAPE_DIM_NUM];
    const void* prepared_constant;
};

// Bytes of a run's scratch memory.
typedef struct op_temporary
{
    uint64_t offset;
} op_temporary_t;

struct tengine_op_context
{
    ir_custom_kernel_t kernel;  // the first member: node.core->custom_kernel points to it
    tengine_op_t* op;
    void* state;
    op_call_t call;
    const struct node* node;  // that the call is for
    bool is_settled;          // prepare is called for types and sizes that must not change
    bool is_running;          // prepare is called in a run: types must not change
    struct tengine_op_tensor* tensors;  // inputs, then outputs
    int tensor_num;
    struct vector* temporaries;  // op_temporary_t
    uint64_t temporary_bytes;
    char* scratch;           // in invoke: where the temporaries are
    uint8_t* attribute_map;  // for tengine_op_attributes(); NULL: not requested yet
    size_t attribute_map_size;
};

// resolve_custom_ops() for programs that register operators.
int give_custom_ops(const struct graph* source, const int32_t nodes[], int node_num,
                    bool only_unknown);

TENGINE_EXTERN_C_END
