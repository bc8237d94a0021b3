// SPDX-License-Identifier: Apache-2.0
// See kernel_tensors.h.
#include "operator/custom/kernel_tensors.h"

#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "operator/infer.h"

typedef struct kernel_slot
{
    struct custom_kernel_tensor tensor;
    int quant_number;
} kernel_slot_t;

// custom_kernel_tensor.quant_type
enum
{
    NOT_QUANTISED,
    QUANTISED_WHOLE,
    QUANTISED_PER_CHANNEL
};

static int copy_quantisation(const struct node* node, const struct tensor* from,
                             kernel_slot_t* slot)
{
    const int number = from->quant_param_num;
    slot->tensor.quant_number = &slot->quant_number;
    slot->tensor.quant_type = number == 0   ? NOT_QUANTISED
                              : number == 1 ? QUANTISED_WHOLE
                                            : QUANTISED_PER_CHANNEL;
    if (number == 0) return TENGINE_OK;
    slot->tensor.scale = alloc_memory(sizeof(float) * (size_t)number);
    slot->tensor.zero_point = alloc_memory(sizeof(int) * (size_t)number);
    if (!slot->tensor.scale || !slot->tensor.zero_point)
        return fail_node(node, TENGINE_ENOMEM, "out of memory for %d scales", number);
    slot->quant_number = number;
    return get_ir_tensor_quantization_parameter(from, slot->tensor.scale, slot->tensor.zero_point,
                                                number) < 0
               ? tengine_error_code()
               : TENGINE_OK;
}

static int fill_slot(const struct node* node, const struct tensor* from, kernel_slot_t* slot)
{
    struct custom_kernel_tensor* to = &slot->tensor;
    if (from->elem_num > INT_MAX)
        return fail_node(node, TENGINE_ELIMIT,
                         "'%s' has %lld elements, more than a custom kernel can count", from->name,
                         (long long)from->elem_num);
    memcpy(to->dim, from->dims, sizeof *from->dims * from->dim_num);
    to->dim_num = from->dim_num;
    to->element_num = (int)from->elem_num;
    to->element_size = from->elem_size;
    to->data_type = from->data_type;
    to->layout_type = from->layout;
    if (from->tensor_type == TENSOR_TYPE_CONST) to->data = from->data;
    return copy_quantisation(node, from, slot);
}

int make_kernel_tensors(const struct node* node, ir_kernel_tensors_t* out_tensors)
{
    const size_t number = (size_t)node->input_num + (size_t)node->output_num;
    *out_tensors = (ir_kernel_tensors_t){.slots = alloc_memory(sizeof(kernel_slot_t) * number),
                                         .inputs = alloc_memory(sizeof(void*) * number),
                                         .input_num = node->input_num,
                                         .output_num = node->output_num};
    int status = out_tensors->slots && out_tensors->inputs
                     ? TENGINE_OK
                     : fail_node(node, TENGINE_ENOMEM, "out of memory for %zu tensors", number);
    for (int i = 0; i < node->input_num + node->output_num && status == TENGINE_OK; ++i) {
        const struct tensor* tensor = i < node->input_num
                                          ? get_ir_node_input(node, i)
                                          : get_ir_node_output(node, i - node->input_num);
        if (!tensor) continue;
        out_tensors->inputs[i] = &out_tensors->slots[i].tensor;
        status = fill_slot(node, tensor, &out_tensors->slots[i]);
    }
    if (status < 0)
        free_kernel_tensors(out_tensors);
    else
        out_tensors->outputs = out_tensors->inputs + node->input_num;
    return status;
}

void free_kernel_tensors(ir_kernel_tensors_t* tensors)
{
    for (int i = 0; tensors->slots && i < tensors->input_num + tensors->output_num; ++i) {
        free_memory(tensors->slots[i].tensor.scale);
        free_memory(tensors->slots[i].tensor.zero_point);
    }
    free_memory(tensors->slots);
    free_memory(tensors->inputs);
    memset(tensors, 0, sizeof *tensors);
}

static bool has_same_dims(const struct custom_kernel_tensor* a,
                          const struct custom_kernel_tensor* b)
{
    return a->dim_num == b->dim_num &&
           memcmp(a->dim, b->dim, sizeof *a->dim * (size_t)a->dim_num) == 0;
}

static bool is_same_kind(const struct custom_kernel_tensor* a, const struct custom_kernel_tensor* b)
{
    const size_t number = (size_t)*a->quant_number;
    return a->data_type == b->data_type && a->layout_type == b->layout_type &&
           *a->quant_number == *b->quant_number &&
           (number == 0 || (memcmp(a->scale, b->scale, sizeof *a->scale * number) == 0 &&
                            memcmp(a->zero_point, b->zero_point, sizeof(int) * number) == 0));
}

kernel_change_t compare_kernel_tensors(const ir_kernel_tensors_t* before,
                                       const ir_kernel_tensors_t* after)
{
    kernel_change_t change = KERNEL_TENSORS_SAME;
    if (before->input_num != after->input_num || before->output_num != after->output_num)
        return KERNEL_TENSORS_OTHER;
    for (int i = 0; i < after->input_num + after->output_num; ++i) {
        const struct custom_kernel_tensor* old = before->inputs[i];
        const struct custom_kernel_tensor* now = after->inputs[i];
        if (!old && !now) continue;
        if (!old || !now || !is_same_kind(old, now)) return KERNEL_TENSORS_OTHER;
        if (!has_same_dims(old, now)) change = KERNEL_TENSORS_RESHAPED;
    }
    return change;
}

void set_kernel_data(const struct node* node, ir_kernel_tensors_t* tensors)
{
    for (int i = 0; i < tensors->input_num; ++i)
        if (tensors->inputs[i]) tensors->inputs[i]->data = get_ir_node_input(node, i)->data;
    for (int i = 0; i < tensors->output_num; ++i)
        if (tensors->outputs[i]) tensors->outputs[i]->data = get_ir_node_output(node, i)->data;
}

void clear_kernel_data(ir_kernel_tensors_t* tensors)
{
    for (int i = 0; i < tensors->input_num + tensors->output_num; ++i)
        if (tensors->inputs[i]) tensors->inputs[i]->data = NULL;
}
