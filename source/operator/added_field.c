// SPDX-License-Identifier: Apache-2.0
// See added_field.h.
#include "operator/added_field.h"

#include <string.h>

#include "base/alloc.h"
#include "operator/infer.h"
#include "operator/param.h"

// A row for one node. `method` is the first member, since node->op.method points to it.
typedef struct own_method
{
    ir_method_t method;
    int row_field_num;  // the first fields are the operator's, the others the node's
} own_method_t;

enum
{
    MEMBER_ALIGNMENT = 8,
    MOST_PARAM_BYTES = UINT16_MAX  // offsets have 16 bits
};

static void release_own_method(own_method_t* own)
{
    for (int i = own->row_field_num; i < own->method.field_num; ++i)
        free_memory((char*)own->method.fields[i].name);
    free_memory((op_field_t*)own->method.fields);
    free_memory(own);
}

static void release_own_op(ir_op_t* op)
{
    own_method_t* own = (own_method_t*)op->method;
    release_op_param(op);
    release_own_method(own);
}

static bool has_own_method(const struct node* node)
{
    return node->op.release == release_own_op;
}

static int make_own_method(struct node* node)
{
    if (has_own_method(node)) return TENGINE_OK;
    const ir_method_t* row = node->op.method;
    const size_t bytes = sizeof(op_field_t) * (size_t)row->field_num;
    own_method_t* own = alloc_memory(sizeof *own);
    op_field_t* fields = alloc_memory(bytes);
    if (!own || !fields) {
        free_memory(own);
        free_memory(fields);
        return TENGINE_ENOMEM;
    }
    if (bytes > 0) memcpy(fields, row->fields, bytes);
    own->method = *row;
    own->method.fields = fields;
    own->row_field_num = row->field_num;
    node->op.method = &own->method;
    node->op.release = release_own_op;
    return TENGINE_OK;
}

// Appends a field to both lists; its member starts as zeroes.
static int append_field(struct node* node, const char* name, op_field_kind_t kind)
{
    own_method_t* own = (own_method_t*)node->op.method;
    ir_method_t* method = &own->method;
    const size_t offset =
        ((size_t)method->param_size + MEMBER_ALIGNMENT - 1) & ~(size_t)(MEMBER_ALIGNMENT - 1);
    const size_t size = offset + sizeof(struct op_tensor);  // the largest kind
    const size_t bytes = sizeof(op_field_t) * (size_t)method->field_num;
    char* copy = duplicate_string(name);
    op_field_t* fields =
        !copy ? NULL
              : resize_memory((op_field_t*)method->fields, bytes, bytes + sizeof(op_field_t));
    if (!fields) {
        free_memory(copy);
        return TENGINE_ENOMEM;
    }
    method->fields = fields;
    void* param = resize_memory(node->op.param_mem, node->op.param_size, size);
    if (!param) {
        free_memory(copy);
        return TENGINE_ENOMEM;
    }
    node->op.param_mem = param;
    node->op.param_size = method->param_size = (uint32_t)size;
    if (kind == OP_FIELD_TENSOR) ((struct op_tensor*)((char*)param + offset))->dim_num = -1;
    fields[method->field_num++] =
        (op_field_t){.name = copy, .kind = (uint8_t)kind, .offset = (uint16_t)offset};
    return TENGINE_OK;
}

int add_node_field(struct node* node, const char* name, op_field_kind_t kind)
{
    const ir_method_t* method = node->op.method;
    if (find_op_field(method, name, 0))
        return fail_node(node, TENGINE_EEXIST, "already has an attribute '%s'", name);
    if (!(method->traits & OP_OPEN))
        return fail_node(node, TENGINE_ENOTSUP,
                         "has only the attributes of its operator; '%s' cannot be added", name);
    const size_t most = MOST_PARAM_BYTES - sizeof(struct op_tensor) - MEMBER_ALIGNMENT;
    if (method->param_size > most)
        return fail_node(node, TENGINE_ELIMIT, "has %d attributes, no room for '%s'",
                         method->field_num, name);
    int status = make_own_method(node);
    if (status == TENGINE_OK) status = append_field(node, name, kind);
    return status < 0 ? fail_node(node, status, "attribute '%s': out of memory", name) : status;
}

int copy_added_fields(struct node* target, const struct node* origin)
{
    if (!has_own_method(origin)) return TENGINE_OK;
    const own_method_t* own = (const own_method_t*)origin->op.method;
    for (int i = own->row_field_num; i < own->method.field_num; ++i) {
        const op_field_t* field = &own->method.fields[i];
        TENGINE_RETURN_IF_ERROR(add_node_field(target, field->name, (op_field_kind_t)field->kind));
    }
    return TENGINE_OK;
}

int get_first_attribute(const struct node* node)
{
    const ir_method_t* method = node->op.method;
    if (has_own_method(node)) return ((const own_method_t*)method)->row_field_num;
    return method->traits & OP_OPEN ? method->field_num : 0;
}
