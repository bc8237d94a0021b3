// SPDX-License-Identifier: Apache-2.0
#include "graph/declaration.h"

#include <stdio.h>

bool has_ir_declared_shape(const struct tensor* tensor)
{
    if (!is_ir_shape_declared(tensor)) return true;
    const ir_declaration_t* declared = tensor->core->declaration;
    if (!tensor->shape_set || tensor->dim_num != declared->dim_num) return false;
    for (int i = 0; i < declared->dim_num; ++i)
        if (declared->dims[i] >= 0 && declared->dims[i] != tensor->dims[i]) return false;
    return true;
}

// A product needs numbers only: names and unknown dimensions are left out.
static bool is_of_numbers(const int dims[], const char* const names[], int dim_num)
{
    for (int i = 0; i < dim_num; ++i)
        if (dims[i] < 0 || *names[i]) return false;
    return true;
}

static const char* print_dims(const int dims[], const char* const names[], int dim_num,
                              char* out_text)
{
    const char* const between = is_of_numbers(dims, names, dim_num) ? "x" : " x ";
    size_t end = (size_t)snprintf(out_text, IR_SHAPE_TEXT_SIZE, dim_num == 0 ? "scalar" : "");
    for (int i = 0; i < dim_num; ++i) {
        char number[16] = "?";
        if (dims[i] >= 0) snprintf(number, sizeof number, "%d", dims[i]);
        end += (size_t)snprintf(out_text + end, IR_SHAPE_TEXT_SIZE - end, "%s%.32s",
                                i > 0 ? between : "", *names[i] ? names[i] : number);
    }
    return out_text;
}

const char* print_ir_declared_shape(const struct tensor* tensor, char out_text[IR_SHAPE_TEXT_SIZE])
{
    const ir_declaration_t* declared = tensor->core->declaration;
    const char* names[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < declared->dim_num; ++i)
        names[i] = get_ir_tensor_dim_name(tensor, i);
    return print_dims(declared->dims, names, declared->dim_num, out_text);
}

const char* print_ir_shape(const struct tensor* tensor, char out_text[IR_SHAPE_TEXT_SIZE])
{
    static const char* const names[MAX_SHAPE_DIM_NUM] = {"", "", "", "", "", "", "", ""};
    return print_dims(tensor->dims, names, tensor->dim_num, out_text);
}
