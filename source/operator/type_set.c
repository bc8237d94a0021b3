// SPDX-License-Identifier: Apache-2.0
// See type_set.h.
#include "operator/type_set.h"

#include <stdio.h>

#include "operator/infer.h"

int require_type(const struct node* node, int index, uint32_t types)
{
    const struct tensor* tensor = get_ir_node_input(node, index);
    if (!tensor || (tensor->data_type < 32 && (types >> tensor->data_type & 1u))) return TENGINE_OK;

    char names[128] = "";
    size_t length = 0;
    for (int type = 0; type < 32 && length < sizeof(names); ++type)
        if (types >> type & 1u)
            length += (size_t)snprintf(names + length, sizeof(names) - length, " %s",
                                       get_data_type_name(type));
    return fail_node(node, TENGINE_EDTYPE, "input %d '%s' is %s, expected one of:%s", index,
                     tensor->name, get_data_type_name(tensor->data_type), names);
}
