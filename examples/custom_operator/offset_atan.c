// SPDX-License-Identifier: Apache-2.0
#include "offset_atan.h"

#include <math.h>
#include <stdlib.h>

// The data that init keeps for a node: its attribute.
struct offset_atan
{
    float offset;
};

static int init(void* user_data, tengine_op_context_t* context, void** out_state)
{
    struct offset_atan* state = malloc(sizeof *state);
    (void)user_data;
    if (!state) return tengine_op_report(context, TENGINE_ENOMEM, "out of memory for the state");
    state->offset = tengine_op_float(context, "offset", 0.0f);
    *out_state = state;
    return 0;
}

static void release(void* user_data, void* state)
{
    (void)user_data;
    free(state);
}

static int prepare(void* user_data, tengine_op_context_t* context)
{
    const tengine_op_tensor_t* x = tengine_op_input(context, 0);
    (void)user_data;
    TENGINE_OP_ENSURE_EQ(context, tengine_op_input_number(context), 1);
    TENGINE_OP_ENSURE_EQ(context, tengine_op_output_number(context), 1);
    TENGINE_OP_ENSURE_TYPE(context, x, TENGINE_DT_FP32);
    return tengine_op_set_output_like(context, 0, x);
}

static int invoke(void* user_data, tengine_op_context_t* context)
{
    const struct offset_atan* state = tengine_op_state(context);
    const tengine_op_tensor_t* input = tengine_op_input(context, 0);
    const float* x = tengine_op_tensor_data(input);
    float* y = tengine_op_tensor_mutable_data(tengine_op_output(context, 0));
    const int64_t number = tengine_op_tensor_elements(input);
    (void)user_data;
    for (int64_t i = 0; i < number; ++i)
        y[i] = atanf(x[i] + state->offset);
    return 0;
}

int register_offset_atan(void)
{
    tengine_op_t* op = tengine_op_create("com.example", "OffsetAtan", 1, 1);
    if (!op) return -1;
    tengine_op_set_init(op, init);
    tengine_op_set_free(op, release);
    tengine_op_set_prepare(op, prepare);
    tengine_op_set_invoke(op, invoke);
    const int status = tengine_op_register(NULL, op);
    tengine_op_destroy(op);  // the library has its own copy
    return status;
}
