// SPDX-License-Identifier: Apache-2.0
// A plug-in with the custom operator com.example.Double: y = 2x, for floats.
#include "tengine/custom_op.h"
#include "tengine/plugin.h"

static int invoke(void* user_data, tengine_op_context_t* context)
{
    const tengine_op_tensor_t* input = tengine_op_input(context, 0);
    const float* x = tengine_op_tensor_data(input);
    float* y = tengine_op_tensor_mutable_data(tengine_op_output(context, 0));
    (void)user_data;
    for (int64_t i = 0; i < tengine_op_tensor_elements(input); ++i)
        y[i] = 2 * x[i];
    return 0;
}

static int init(void)
{
    tengine_op_t* op = tengine_op_create("com.example", "Double", 1, 1);
    if (!op || tengine_op_set_outputs_like(op, 0) < 0 || tengine_op_set_invoke(op, invoke) < 0)
        return -1;
    const int status = tengine_op_register(NULL, op);
    tengine_op_destroy(op);
    return status;
}

TENGINE_PLUGIN("operator", "1.0", init, NULL);
