// SPDX-License-Identifier: Apache-2.0
// See raise.h.
#include "operator/tengine/raise.h"

#include "operator/infer.h"

static bool is_constant(const struct tensor* tensor)
{
    return tensor && tensor->tensor_type == TENSOR_TYPE_CONST;
}

bool read_raised_float(const struct node* node, int index, float* out_value)
{
    int num = 0;
    const struct tensor* tensor = get_ir_node_input(node, index);
    return is_constant(tensor) && tensor->elem_num == 1 &&
           read_float_input(node, index, out_value, 1, &num) == TENGINE_OK && num == 1;
}

int read_raised_ints(const struct node* node, int index, int64_t* out_values, int capacity)
{
    int num = 0;
    const struct tensor* tensor = get_ir_node_input(node, index);
    if (!is_constant(tensor) || tensor->elem_num > capacity) return -1;
    return read_int_input(node, index, out_values, capacity, &num) == TENGINE_OK ? num : -1;
}
