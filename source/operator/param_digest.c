// SPDX-License-Identifier: Apache-2.0
// An operator and its parameters as bytes that are the same in every process; the rest of param.h
// is in param.c.
#include "operator/param.h"

// Elements are hashed as they lie in memory: compiled parts are for processors of one byte order.
static void digest_list(sha256_t* hash, const void* values, int number, size_t element)
{
    update_sha256_number(hash, number);
    update_sha256(hash, values, element * (size_t)number);
}

static void digest_texts(sha256_t* hash, const struct op_strings* list)
{
    update_sha256_number(hash, list->num);
    for (int i = 0; i < list->num; ++i)
        update_sha256_text(hash, list->values[i]);
}

static void digest_tensor(sha256_t* hash, const struct op_tensor* value)
{
    update_sha256_number(hash, value->dim_num);
    if (value->dim_num < 0) return;
    update_sha256_number(hash, value->data_type);
    digest_list(hash, value->dims, value->dim_num, sizeof *value->dims);
    update_sha256_number(hash, (int64_t)value->size);
    update_sha256(hash, value->data, value->size);
}

static void digest_field(sha256_t* hash, op_field_kind_t kind, const void* memory)
{
    switch (kind) {
        case OP_FIELD_INT:
        case OP_FIELD_FLOAT:
            update_sha256(hash, memory, 4);
            break;
        case OP_FIELD_STRING:
            update_sha256_text(hash, *(char* const*)memory);
            break;
        case OP_FIELD_INTS: {
            const struct op_ints* list = memory;
            digest_list(hash, list->values, list->num, sizeof *list->values);
            break;
        }
        case OP_FIELD_FLOATS: {
            const struct op_floats* list = memory;
            digest_list(hash, list->values, list->num, sizeof *list->values);
            break;
        }
        case OP_FIELD_STRINGS:
            digest_texts(hash, memory);
            break;
        case OP_FIELD_TENSOR:
            digest_tensor(hash, memory);
            break;
    }
}

void digest_op(sha256_t* hash, const ir_op_t* op)
{
    const ir_method_t* method = op->method;
    update_sha256_text(hash, method->domain ? method->domain : "");
    update_sha256_text(hash, method->name);
    update_sha256_number(hash, op->version);
    update_sha256_number(hash, method->field_num);
    for (int i = 0; i < method->field_num; ++i) {
        const op_field_t* field = &method->fields[i];
        update_sha256_text(hash, field->name);
        update_sha256_number(hash, field->kind);
        digest_field(hash, (op_field_kind_t)field->kind,
                     (const char*)op->param_mem + field->offset);
    }
}
