// SPDX-License-Identifier: Apache-2.0
#include "graph/late_constant.h"

static void copy_values(void* memory, void* values)
{
    *(ir_late_values_t*)memory = *(const ir_late_values_t*)values;
}

int make_ir_constant_late(struct graph* graph, struct tensor* constant, const ir_pack_key_t* key,
                          const ir_late_values_t* values)
{
    struct graph_pool* shared = graph->core->pool;
    ir_late_values_t copied = *values;
    void* pack = hold_graph_pack(shared, key, sizeof copied, copy_values, &copied);
    if (!pack)
        return tengine_error_set(TENGINE_ENOMEM, "constant '%s': out of memory", constant->name);
    set_ir_tensor_pack(constant, shared, pack);
    constant->data = NULL;
    constant->tensor_type = TENSOR_TYPE_CONST;
    return TENGINE_OK;
}

void share_ir_late_constant(struct tensor* of_part, const struct tensor* constant)
{
    of_part->core->pack = constant->core->pack;
}
