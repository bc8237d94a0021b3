// SPDX-License-Identifier: Apache-2.0
// Whether two operators have the same parameters; the rest of param.h is in param.c.
#include <string.h>

#include "operator/param.h"

static bool is_same_text(const char* a, const char* b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_same_list(const struct op_ints* a, const struct op_ints* b, size_t size)
{
    return a->num == b->num &&
           (a->num == 0 || memcmp(a->values, b->values, size * (size_t)a->num) == 0);
}

static bool are_same_texts(const struct op_strings* a, const struct op_strings* b)
{
    if (a->num != b->num) return false;
    for (int i = 0; i < a->num; ++i)
        if (!is_same_text(a->values[i], b->values[i])) return false;
    return true;
}

static bool is_same_tensor(const struct op_tensor* a, const struct op_tensor* b)
{
    if (a->dim_num != b->dim_num) return false;
    if (a->dim_num < 0) return true;
    return a->data_type == b->data_type && a->size == b->size &&
           memcmp(a->dims, b->dims, sizeof *a->dims * (size_t)a->dim_num) == 0 &&
           (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

// All lists begin with the same members. Numbers are compared by their bits, as devices read them.
static bool is_same_field(op_field_kind_t kind, const void* a, const void* b)
{
    switch (kind) {
        case OP_FIELD_INT:
            return memcmp(a, b, sizeof(int)) == 0;
        case OP_FIELD_FLOAT:
            return memcmp(a, b, sizeof(float)) == 0;
        case OP_FIELD_STRING:
            return is_same_text(*(char* const*)a, *(char* const*)b);
        case OP_FIELD_INTS:
            return is_same_list(a, b, sizeof(int64_t));
        case OP_FIELD_FLOATS:
            return is_same_list(a, b, sizeof(float));
        case OP_FIELD_STRINGS:
            return are_same_texts(a, b);
        case OP_FIELD_TENSOR:
            return is_same_tensor(a, b);
    }
    return false;
}

bool has_same_op_param(const ir_op_t* a, const ir_op_t* b)
{
    if (a->type != b->type || a->version != b->version || a->method != b->method) return false;
    for (int i = 0; i < a->method->field_num; ++i) {
        const op_field_t* field = &a->method->fields[i];
        if (!is_same_field((op_field_kind_t)field->kind, (char*)a->param_mem + field->offset,
                           (char*)b->param_mem + field->offset))
            return false;
    }
    return true;
}
