// SPDX-License-Identifier: Apache-2.0
#include "graph/body.h"

#include "base/alloc.h"
#include "graph/graph.h"
#include "graph/index_list.h"

ir_bodies_t* create_ir_bodies(int num)
{
    ir_bodies_t* created = alloc_memory(sizeof *created + sizeof(ir_body_t) * (size_t)num);
    if (!created) return NULL;
    created->holder_num = 1;
    created->num = num;
    created->list = (ir_body_t*)(created + 1);
    return created;
}

ir_bodies_t* hold_ir_bodies(ir_bodies_t* bodies)
{
    if (bodies) ++bodies->holder_num;
    return bodies;
}

int count_ir_own_inputs(const struct node* node)
{
    const ir_bodies_t* bodies = node->core->bodies;
    return bodies ? bodies->list[0].first_capture : node->input_num;
}

int add_ir_body_input(ir_body_t* body, const struct tensor* tensor, bool captured)
{
    if (!push_ir_index(&body->inputs, body->input_num, tensor->index))
        return tengine_error_set(TENGINE_ENOMEM, "input '%s' of graph '%s': out of memory",
                                 tensor->name, body->graph->name);
    ++body->input_num;
    if (captured) ++body->capture_num;
    return TENGINE_OK;
}

int feed_ir_body(ir_body_t* body, int index, const struct tensor* value, void* data)
{
    struct tensor* input = body->graph->tensor_list[body->inputs[index]];
    if (input->tensor_type == TENSOR_TYPE_CONST) return TENGINE_OK;
    if (input->data_type != value->data_type)
        TENGINE_RETURN_IF_ERROR(set_ir_tensor_data_type(input, value->data_type));
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(input, value->dims, value->dim_num));
    set_ir_tensor_data(input, data, false);
    return TENGINE_OK;
}

const struct tensor* get_ir_body_output(const ir_body_t* body, int index)
{
    return body->graph->tensor_list[body->graph->output_tensors[index]];
}
