// SPDX-License-Identifier: Apache-2.0
// C API, attributes of nodes: parameters of the operator by name. The operator's field list says
// which parameters it has and which values are allowed (operator/param.h).
#include "api/attribute.h"

#include <string.h>

#include "api/check.h"
#include "base/alloc.h"
#include "base/text.h"
#include "operator/added_field.h"

// A type of value that `buf` can hold, under the name that the program gives. `set` gets the
// checked buffer and the number of its elements; `get` copies a member of the parameter struct that
// has this type.
typedef struct attribute_type
{
    const char* name;
    op_field_kind_t kind;
    int size;      // bytes of one element
    bool is_list;  // any number of elements, not exactly one
    int (*set)(struct node* node, const op_field_t* field, const void* buf, int number);
    void (*get)(const void* member, void* buf);
} attribute_type_t;

static int set_int(struct node* node, const op_field_t* field, const void* buf, int number)
{
    (void)number;
    int value;
    memcpy(&value, buf, sizeof value);
    return set_node_int(node, field->name, value);
}

static int set_float(struct node* node, const op_field_t* field, const void* buf, int number)
{
    (void)number;
    float value;
    memcpy(&value, buf, sizeof value);
    return set_node_float(node, field->name, value);
}

static int set_text(struct node* node, const op_field_t* field, const void* buf, int number)
{
    const char* end = memchr(buf, '\0', (size_t)number);
    const size_t length = !end ? (size_t)number : (size_t)(end - (const char*)buf);
    return set_node_text(node, field->name, buf, length);
}

int set_attribute_ints(struct node* node, const op_field_t* field, const int32_t* values,
                       int number)
{
    int64_t* wide = alloc_memory(sizeof *wide * (size_t)number);
    if (!wide) return tengine_error_set(TENGINE_ENOMEM, "out of memory for %d integers", number);
    for (int i = 0; i < number; ++i) {
        int32_t value;
        memcpy(&value, values + i, sizeof value);
        wide[i] = value;
    }
    const int status = set_node_ints(node, field->name, wide, number);
    free_memory(wide);
    return status;
}

int set_attribute_floats(struct node* node, const op_field_t* field, const float* values,
                         int number)
{
    return set_node_floats(node, field->name, values, number);
}

static int set_int32_list(struct node* node, const op_field_t* field, const void* buf, int number)
{
    return set_attribute_ints(node, field, buf, number);
}

static int set_int64_list(struct node* node, const op_field_t* field, const void* buf, int number)
{
    return set_node_ints(node, field->name, buf, number);
}

static int set_float_list(struct node* node, const op_field_t* field, const void* buf, int number)
{
    return set_attribute_floats(node, field, buf, number);
}

static int set_text_list(struct node* node, const op_field_t* field, const void* buf, int number)
{
    const char* const* texts = buf;
    for (int i = 0; i < number; ++i)
        TENGINE_RETURN_IF_ERROR(check_pointer(texts[i], "set_node_attr_generic", field->name));
    return set_node_texts(node, field->name, texts, number);
}

static int set_tensor_value(struct node* node, const op_field_t* field, const void* buf, int number)
{
    (void)number;
    tensor_t handle;
    memcpy(&handle, buf, sizeof handle);
    const struct tensor* tensor = find_tensor(handle, "set_node_attr_generic", NULL);
    if (!tensor) return TENGINE_EHANDLE;
    if (!tensor->data || !is_ir_tensor_shape_known(tensor))
        return tengine_error_set(TENGINE_EINVAL,
                                 "set_node_attr_generic: tensor '%s' has no shape or no data",
                                 tensor->name);
    struct op_tensor value = {.data_type = tensor->data_type,
                              .dim_num = tensor->dim_num,
                              .size = get_ir_tensor_bytes(tensor),
                              .data = tensor->data};
    memcpy(value.dims, tensor->dims, sizeof value.dims);
    return set_node_tensor(node, field->name, &value);
}

static void get_number(const void* member, void* buf)
{
    memcpy(buf, member, 4);
}

static void get_text(const void* member, void* buf)
{
    const char* text = *(char* const*)member;
    strcpy(buf, !text ? "" : text);
}

static void get_int32_list(const void* member, void* buf)
{
    const struct op_ints* list = member;
    for (int i = 0; i < list->num; ++i) {
        const int32_t value = (int32_t)list->values[i];
        memcpy((char*)buf + sizeof value * (size_t)i, &value, sizeof value);
    }
}

static void get_int64_list(const void* member, void* buf)
{
    const struct op_ints* list = member;
    if (list->num > 0) memcpy(buf, list->values, sizeof *list->values * (size_t)list->num);
}

static void get_float_list(const void* member, void* buf)
{
    const struct op_floats* list = member;
    if (list->num > 0) memcpy(buf, list->values, sizeof *list->values * (size_t)list->num);
}

static void get_text_list(const void* member, void* buf)
{
    const struct op_strings* list = member;
    if (list->num > 0) memcpy(buf, list->values, sizeof *list->values * (size_t)list->num);
}

static const attribute_type_t attribute_types[] = {
    {"int", OP_FIELD_INT, sizeof(int), false, set_int, get_number},
    {"float", OP_FIELD_FLOAT, sizeof(float), false, set_float, get_number},
    {"string", OP_FIELD_STRING, 1, true, set_text, get_text},
    {"int[]", OP_FIELD_INTS, sizeof(int32_t), true, set_int32_list, get_int32_list},
    {"int64[]", OP_FIELD_INTS, sizeof(int64_t), true, set_int64_list, get_int64_list},
    {"float[]", OP_FIELD_FLOATS, sizeof(float), true, set_float_list, get_float_list},
    {"string[]", OP_FIELD_STRINGS, sizeof(char*), true, set_text_list, get_text_list},
    {"tensor", OP_FIELD_TENSOR, sizeof(tensor_t), false, set_tensor_value, NULL},
};

enum
{
    ATTRIBUTE_TYPE_NUMBER = sizeof attribute_types / sizeof attribute_types[0]
};

// The name of the first type that holds the field's kind.
const char* get_attribute_type_name(const op_field_t* field)
{
    for (int i = 0; i < ATTRIBUTE_TYPE_NUMBER; ++i)
        if ((int)attribute_types[i].kind == field->kind) return attribute_types[i].name;
    return "unknown";
}

static int fail_unknown_attribute(const struct node* node, const char* function, const char* name)
{
    text_t known = {0};
    for (int i = 0; i < node->op.method->field_num; ++i) {
        const op_field_t* field = &node->op.method->fields[i];
        if (find_op_field(node->op.method, field->name, node->op.version) == field)
            append_text(&known, "%s%s", known.length > 0 ? ", " : "", field->name);
    }
    const int status = tengine_error_set(
        TENGINE_ENOENT, "%s: %s '%s' has no attribute '%s': expected %s", function,
        get_ir_node_op(node), node->name, name, known.length > 0 ? known.data : "none");
    free_text(&known);
    return status;
}

int find_attribute(const struct node* node, const char* function, const char* attr_name,
                   const op_field_t** out_field)
{
    TENGINE_RETURN_IF_ERROR(check_name(attr_name, function, "attr_name"));
    *out_field = find_op_field(node->op.method, attr_name, node->op.version);
    if (!*out_field) return fail_unknown_attribute(node, function, attr_name);
    return TENGINE_OK;
}

const void* get_attribute_member(const struct node* node, const op_field_t* field)
{
    return (const char*)node->op.param_mem + field->offset;
}

static int find_type(const struct node* node, const char* function, const op_field_t* field,
                     const char* type_name, const attribute_type_t** out_type)
{
    TENGINE_RETURN_IF_ERROR(check_pointer(type_name, function, "type_name"));
    for (int i = 0; i < ATTRIBUTE_TYPE_NUMBER; ++i) {
        *out_type = &attribute_types[i];
        if (strcmp((*out_type)->name, type_name) == 0 && (int)(*out_type)->kind == field->kind)
            return TENGINE_OK;
    }
    return tengine_error_set(TENGINE_EINVAL, "%s: %s '%s': attribute '%s' has type %s, not %s",
                             function, get_ir_node_op(node), node->name, field->name,
                             get_attribute_type_name(field), type_name);
}

static int count_elements(const op_field_t* field, const void* member)
{
    switch ((op_field_kind_t)field->kind) {
        case OP_FIELD_STRING: {
            const char* text = *(char* const*)member;
            return !text ? 0 : (int)strlen(text);
        }
        case OP_FIELD_INTS:
            return ((const struct op_ints*)member)->num;
        case OP_FIELD_FLOATS:
            return ((const struct op_floats*)member)->num;
        case OP_FIELD_STRINGS:
            return ((const struct op_strings*)member)->num;
        case OP_FIELD_TENSOR:
            return ((const struct op_tensor*)member)->dim_num >= 0;
        case OP_FIELD_INT:
        case OP_FIELD_FLOAT:
            break;
    }
    return 1;
}

static int set_attribute(struct node* node, const char* function, const op_field_t* field,
                         const attribute_type_t* type, const void* buf, int size)
{
    TENGINE_RETURN_IF_ERROR(check_pointer(buf, function, "the value"));
    const bool fits = type->is_list ? size >= 0 && size % type->size == 0 : size == type->size;
    if (!fits)
        return tengine_error_set(
            TENGINE_EINVAL, "%s: attribute '%s': %d bytes, expected %s%d of %s", function,
            field->name, size, type->is_list ? "a multiple of " : "", (int)type->size, type->name);
    return type->set(node, field, buf, size / type->size);
}

static int get_attribute(const struct node* node, const char* function, const op_field_t* field,
                         const attribute_type_t* type, void* buf, int size)
{
    TENGINE_RETURN_IF_ERROR(check_pointer(buf, function, "the value"));
    if (!type->get)
        return tengine_error_set(TENGINE_ENOTSUP,
                                 "%s: attribute '%s' is a tensor, which can only be set", function,
                                 field->name);
    const void* member = get_attribute_member(node, field);
    const int64_t terminator = field->kind == OP_FIELD_STRING;
    const int64_t needed = ((int64_t)count_elements(field, member) + terminator) * type->size;
    if (size < needed)
        return tengine_error_set(
            TENGINE_ERANGE, "%s: attribute '%s': the buffer has %d bytes, expected at least %lld",
            function, field->name, size, (long long)needed);
    type->get(member, buf);
    return TENGINE_OK;
}

static int read_attribute(node_t node, const char* function, const char* attr_name,
                          const char* type_name, void* buf, int size)
{
    const struct node* target = find_node(node, function, NULL);
    const op_field_t* field = NULL;
    const attribute_type_t* type = NULL;
    if (!target || find_attribute(target, function, attr_name, &field) < 0 ||
        find_type(target, function, field, type_name, &type) < 0)
        return api_failure();
    return api_result(get_attribute(target, function, field, type, buf, size));
}

static int write_attribute(node_t node, const char* function, const char* attr_name,
                           const char* type_name, const void* buf, int size)
{
    api_graph_t* owner = NULL;
    struct node* target = find_node(node, function, &owner);
    const op_field_t* field = NULL;
    const attribute_type_t* type = NULL;
    if (!target || find_attribute(target, function, attr_name, &field) < 0 ||
        find_type(target, function, field, type_name, &type) < 0 || check_idle(owner, function) < 0)
        return api_failure();
    return end_change(owner, set_attribute(target, function, field, type, buf, size));
}

int get_node_attr_int(node_t node, const char* attr_name, int* attr_val)
{
    return read_attribute(node, __func__, attr_name, "int", attr_val, sizeof *attr_val);
}

int get_node_attr_float(node_t node, const char* attr_name, float* attr_val)
{
    return read_attribute(node, __func__, attr_name, "float", attr_val, sizeof *attr_val);
}

int get_node_attr_generic(node_t node, const char* attr_name, const char* type_name, void* buf,
                          int size)
{
    return read_attribute(node, __func__, attr_name, type_name, buf, size);
}

int set_node_attr_int(node_t node, const char* attr_name, const int* attr_val)
{
    return write_attribute(node, __func__, attr_name, "int", attr_val, sizeof *attr_val);
}

int set_node_attr_float(node_t node, const char* attr_name, const float* attr_val)
{
    return write_attribute(node, __func__, attr_name, "float", attr_val, sizeof *attr_val);
}

int set_node_attr_generic(node_t node, const char* attr_name, const char* type_name,
                          const void* buf, int size)
{
    return write_attribute(node, __func__, attr_name, type_name, buf, size);
}

int tengine_node_get_attr_number(node_t node, const char* attr_name)
{
    const struct node* target = find_node(node, __func__, NULL);
    const op_field_t* field = NULL;
    if (!target || find_attribute(target, __func__, attr_name, &field) < 0) return api_failure();
    return count_elements(field, get_attribute_member(target, field));
}

static int find_new_kind(const char* function, const char* type_name, op_field_kind_t* out_kind)
{
    text_t known = {0};
    for (int i = 0; i < ATTRIBUTE_TYPE_NUMBER; ++i) {
        *out_kind = attribute_types[i].kind;
        if (strcmp(attribute_types[i].name, type_name) == 0) {
            free_text(&known);
            return TENGINE_OK;
        }
        append_text(&known, "%s%s", i > 0 ? ", " : "", attribute_types[i].name);
    }
    const int status = tengine_error_set(TENGINE_EINVAL, "%s: unknown type '%s': expected %s",
                                         function, type_name, known.data ? known.data : "none");
    free_text(&known);
    return status;
}

int add_node_attr(node_t node, const char* attr_name, const char* type_name, int size)
{
    (void)size;
    api_graph_t* owner = NULL;
    op_field_kind_t kind;
    struct node* target = find_node(node, __func__, &owner);
    if (!target || check_name(attr_name, __func__, "attr_name") < 0 ||
        check_name(type_name, __func__, "type_name") < 0 ||
        find_new_kind(__func__, type_name, &kind) < 0 || check_idle(owner, __func__) < 0)
        return api_failure();
    return end_change(owner, add_node_field(target, attr_name, kind));
}
