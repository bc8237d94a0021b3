// SPDX-License-Identifier: Apache-2.0
// See type_set.h.
#include "operator/type_set.h"

#include <stdbool.h>
#include <stdio.h>

#include "base/minimal.h"
#include "operator/fail.h"

int require_type(const struct node* node, int index, uint32_t types)
{
    const struct tensor* tensor = get_ir_node_input(node, index);
    if (!tensor || (tensor->data_type < 32 && (types >> tensor->data_type & 1u))) return TENGINE_OK;

    char names[256] = "";
    size_t length = 0;
    for (int type = 0; type < 32 && length < sizeof(names); ++type)
        if (types >> type & 1u)
            length += (size_t)snprintf(names + length, sizeof(names) - length, " %s",
                                       get_data_type_name(type));
    return fail_node(node, TENGINE_EDTYPE, "input %d '%s' is %s, expected one of:%s", index,
                     tensor->name, get_data_type_name(tensor->data_type), names);
}

// Bit 31: sequences and optional values.
#define TYPE_BIT_VALUES (UINT32_C(1) << 31)

static uint32_t get_type_bit(int data_type)
{
    if (data_type == TENGINE_DT_UNKNOWN) return 0;
    return data_type < TENGINE_DT_SEQUENCE ? UINT32_C(1) << data_type : TYPE_BIT_VALUES;
}

static int refuse_types(const struct node* node, uint32_t types)
{
    for (int i = 0; i < node->input_num + node->output_num; ++i) {
        const bool is_input = i < node->input_num;
        const int index = is_input ? i : i - node->input_num;
        const struct tensor* tensor =
            is_input ? get_ir_node_input(node, index) : get_ir_node_output(node, index);
        if (tensor && (types & get_type_bit(tensor->data_type)))
            return fail_node(node, TENGINE_EDTYPE, "%s %d '%s' is %s, which it does not take",
                             is_input ? "input" : "output", index, tensor->name,
                             get_data_type_name(tensor->data_type));
    }
    return TENGINE_OK;
}

int check_small_types(const struct node* node)
{
    const uint32_t traits = node->op.method->traits;
    const uint32_t values = traits & OP_TAKES_VALUES ? 0 : TYPE_BIT_VALUES;
    const uint32_t taken = IS_MINIMAL ? 0 : traits;
    return refuse_types(node, values | (taken & OP_TAKES_SMALL ? 0 : TYPES_SMALL) |
                                  (taken & OP_TAKES_STRINGS ? 0 : TYPE_BIT(STRING)) |
                                  (taken & OP_TAKES_COMPLEX ? 0 : TYPES_COMPLEX));
}

int refuse_small_types(const struct node* node)
{
    return refuse_types(node, TYPES_SMALL | TYPE_BIT(STRING) | TYPES_COMPLEX);
}
