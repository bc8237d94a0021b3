// SPDX-License-Identifier: Apache-2.0
// Parameter structs driven by their field lists.
#include "operator/param.h"

#include <float.h>
#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "operator/fail.h"

static void* field_memory(const ir_op_t* op, const op_field_t* field)
{
    return (char*)op->param_mem + field->offset;
}

static void release_strings(struct op_strings* list)
{
    for (int i = 0; i < list->num; ++i)
        free_memory(list->values[i]);
    free_memory(list->values);
}

static void release_field(const op_field_t* field, void* memory)
{
    switch (field->kind) {
        case OP_FIELD_STRING:
            free_memory(*(char**)memory);
            break;
        case OP_FIELD_INTS:
            free_memory(((struct op_ints*)memory)->values);
            break;
        case OP_FIELD_FLOATS:
            free_memory(((struct op_floats*)memory)->values);
            break;
        case OP_FIELD_STRINGS:
            release_strings(memory);
            break;
        case OP_FIELD_TENSOR:
            free_memory(((struct op_tensor*)memory)->data);
            break;
        default:
            break;
    }
}

// Returns the bytes of the member that a kind stands for.
static size_t field_size(uint8_t kind)
{
    static const size_t sizes[] = {
        [OP_FIELD_INT] = sizeof(int),
        [OP_FIELD_FLOAT] = sizeof(float),
        [OP_FIELD_STRING] = sizeof(char*),
        [OP_FIELD_INTS] = sizeof(struct op_ints),
        [OP_FIELD_FLOATS] = sizeof(struct op_floats),
        [OP_FIELD_STRINGS] = sizeof(struct op_strings),
        [OP_FIELD_TENSOR] = sizeof(struct op_tensor),
    };
    return sizes[kind];
}

static bool same_place_before(const ir_method_t* method, int index)
{
    for (int i = 0; i < index; ++i)
        if (method->fields[i].offset == method->fields[index].offset) return true;
    return false;
}

static int set_default(ir_op_t* op, const op_field_t* field)
{
    void* memory = field_memory(op, field);
    if (field->kind == OP_FIELD_INT) *(int*)memory = (int)field->number;
    if (field->kind == OP_FIELD_FLOAT) *(float*)memory = (float)field->number;
    if (field->kind == OP_FIELD_TENSOR) ((struct op_tensor*)memory)->dim_num = -1;
    if (field->kind == OP_FIELD_STRING && field->text) {
        *(char**)memory = duplicate_string(field->text);
        if (!*(char**)memory) return TENGINE_ENOMEM;
    }
    return TENGINE_OK;
}

void reset_op_number(ir_op_t* op, const op_field_t* field)
{
    const op_field_t* first = op->method->fields;
    while (first->offset != field->offset)
        ++first;
    release_field(field, field_memory(op, field));
    memset(field_memory(op, field), 0, field_size(field->kind));
    const int status = set_default(op, first);
    (void)status;  // numbers need no memory
}

int init_op_param(ir_op_t* op, const ir_method_t* method)
{
    op->method = method;
    op->param_size = method->param_size;
    op->param_mem = NULL;
    if (method->param_size == 0) return TENGINE_OK;
    op->param_mem = alloc_small_memory(method->param_size);
    int status = op->param_mem ? TENGINE_OK : TENGINE_ENOMEM;
    // Two fields may share a member (an attribute that changed its kind never does).
    for (int i = 0; status == TENGINE_OK && i < method->field_num; ++i)
        if (!same_place_before(method, i)) status = set_default(op, &method->fields[i]);
    if (status == TENGINE_OK) return TENGINE_OK;
    release_op_param(op);
    return tengine_error_set(TENGINE_ENOMEM, "%s: out of memory for its parameters", method->name);
}

void release_op_param(ir_op_t* op)
{
    if (!op->param_mem) return;
    for (int i = 0; i < op->method->field_num; ++i)
        if (!same_place_before(op->method, i))
            release_field(&op->method->fields[i], field_memory(op, &op->method->fields[i]));
    free_memory(op->param_mem);
    op->param_mem = NULL;
}

static void* duplicate_bytes(const void* bytes, size_t size)
{
    void* copy = alloc_raw_memory(size);
    if (copy && size) memcpy(copy, bytes, size);
    return copy;
}

static int duplicate_strings(struct op_strings* target, const char* const* values, int num)
{
    target->values = alloc_small_memory(sizeof(char*) * (size_t)num);
    if (!target->values) return TENGINE_ENOMEM;
    for (target->num = 0; target->num < num; ++target->num) {
        target->values[target->num] = duplicate_string(values[target->num]);
        if (!target->values[target->num]) return TENGINE_ENOMEM;
    }
    return TENGINE_OK;
}

// Replaces the value of `target` with a deep copy of `origin`.
static int copy_field(const op_field_t* field, void* target, const void* origin)
{
    const size_t size = field_size(field->kind);
    release_field(field, target);
    memset(target, 0, size);
    switch (field->kind) {
        case OP_FIELD_STRING: {
            const char* text = *(char* const*)origin;
            *(char**)target = duplicate_string(text);
            return text && !*(char**)target ? TENGINE_ENOMEM : TENGINE_OK;
        }
        case OP_FIELD_INTS:
        case OP_FIELD_FLOATS: {
            // Both lists are {int num; element* values}; only the element size differs.
            const struct op_ints* from = origin;
            struct op_ints* to = target;
            const size_t element = field->kind == OP_FIELD_INTS ? sizeof(int64_t) : sizeof(float);
            if (from->num == 0) return TENGINE_OK;
            to->values = duplicate_bytes(from->values, element * (size_t)from->num);
            if (!to->values) return TENGINE_ENOMEM;
            to->num = from->num;
            return TENGINE_OK;
        }
        case OP_FIELD_STRINGS: {
            const struct op_strings* from = origin;
            return duplicate_strings(target, (const char* const*)from->values, from->num);
        }
        case OP_FIELD_TENSOR: {
            struct op_tensor* to = target;
            memcpy(target, origin, size);
            if (to->dim_num < 0) return TENGINE_OK;
            to->data = duplicate_bytes(to->data, to->size);
            return to->data ? TENGINE_OK : TENGINE_ENOMEM;
        }
        default:
            memcpy(target, origin, size);
            return TENGINE_OK;
    }
}

int copy_op_param(ir_op_t* target, const ir_op_t* origin)
{
    for (int i = 0; i < origin->method->field_num; ++i) {
        const op_field_t* from = &origin->method->fields[i];
        const op_field_t* to = find_op_field(target->method, from->name, 0);
        if (!to || to->kind != from->kind) continue;
        if (copy_field(to, field_memory(target, to), field_memory(origin, from)) < 0)
            return tengine_error_set(TENGINE_ENOMEM, "%s: out of memory for its parameters",
                                     target->method->name);
    }
    return TENGINE_OK;
}

size_t get_node_tensor_bytes(const struct node* node)
{
    size_t bytes = 0;
    for (int i = 0; i < node->op.method->field_num; ++i) {
        const op_field_t* field = &node->op.method->fields[i];
        if (field->kind != OP_FIELD_TENSOR || same_place_before(node->op.method, i)) continue;
        const struct op_tensor* value = field_memory(&node->op, field);
        if (value->dim_num >= 0) bytes += value->size;
    }
    return bytes;
}

const op_field_t* find_op_field(const ir_method_t* method, const char* name, int version)
{
    for (int i = 0; i < method->field_num; ++i) {
        const op_field_t* field = &method->fields[i];
        const bool in_range = version == 0 || ((!field->since || version >= field->since) &&
                                               (!field->until || version <= field->until));
        if (in_range && strcmp(field->name, name) == 0) return field;
    }
    return NULL;
}

static const char* kind_name(uint8_t kind)
{
    static const char* const names[] = {"int",        "float",       "string", "int list",
                                        "float list", "string list", "tensor"};
    return names[kind];
}

static int fail_absent(const struct node* node, const char* name)
{
    const int version = node->op.version;
    const op_field_t* other = find_op_field(node->op.method, name, 0);
    if (other && version < other->since)
        return fail_node(node, TENGINE_ENOENT, "has no attribute '%s' in opset %d, only from %d on",
                         name, version, other->since);
    if (other)
        return fail_node(node, TENGINE_ENOENT, "has no attribute '%s' in opset %d, only up to %d",
                         name, version, other->until);
    return fail_node(node, TENGINE_ENOENT, "has no attribute '%s' in opset %d", name, version);
}

static int find_settable(const struct node* node, const char* name, op_field_kind_t kind,
                         const op_field_t** out_field)
{
    const op_field_t* field = find_op_field(node->op.method, name, node->op.version);
    if (!field) return fail_absent(node, name);
    if (field->kind != kind)
        return fail_node(node, TENGINE_EINVAL, "attribute '%s' is a %s, not a %s", name,
                         kind_name(field->kind), kind_name((uint8_t)kind));
    *out_field = field;
    return TENGINE_OK;
}

static int check_range(const struct node* node, const op_field_t* field, double value)
{
    const bool ranged = field->minimum != 0 || field->maximum != 0;
    // A maximum of 0 beside a minimum above 0 is not set.
    const double maximum = field->maximum != 0 || field->minimum < 0 ? field->maximum : DBL_MAX;
    if (!ranged || (value >= field->minimum && value <= maximum)) return TENGINE_OK;
    return fail_node(node, TENGINE_ERANGE, "attribute '%s' is %g, expected %g to %g", field->name,
                     value, field->minimum, maximum);
}

int set_node_int(struct node* node, const char* name, int64_t value)
{
    const op_field_t* field = NULL;
    TENGINE_RETURN_IF_ERROR(find_settable(node, name, OP_FIELD_INT, &field));
    TENGINE_RETURN_IF_ERROR(check_range(node, field, (double)value));
    if (value < INT_MIN || value > INT_MAX)
        return fail_node(node, TENGINE_ERANGE, "attribute '%s' is %lld, more than 32 bits", name,
                         (long long)value);
    *(int*)field_memory(&node->op, field) = (int)value;
    return TENGINE_OK;
}

int set_node_float(struct node* node, const char* name, float value)
{
    const op_field_t* field = NULL;
    TENGINE_RETURN_IF_ERROR(find_settable(node, name, OP_FIELD_FLOAT, &field));
    TENGINE_RETURN_IF_ERROR(check_range(node, field, value));
    *(float*)field_memory(&node->op, field) = value;
    return TENGINE_OK;
}

// Whether `value` is one of the words of "A|B|C".
static bool is_choice(const char* choices, const char* value)
{
    const size_t length = strlen(value);
    for (const char* word = choices; word; word = strchr(word, '|')) {
        if (*word == '|') ++word;
        if (strncmp(word, value, length) == 0 && (word[length] == '|' || !word[length]))
            return true;
    }
    return false;
}

static int no_memory(const struct node* node, const char* name)
{
    return fail_node(node, TENGINE_ENOMEM, "attribute '%s': out of memory", name);
}

int set_node_text(struct node* node, const char* name, const char* value, size_t length)
{
    const op_field_t* field = NULL;
    TENGINE_RETURN_IF_ERROR(find_settable(node, name, OP_FIELD_STRING, &field));
    char* copy = alloc_memory(length + 1);
    if (!copy) return no_memory(node, name);
    if (length) memcpy(copy, value, length);
    if (field->choices && !is_choice(field->choices, copy)) {
        const int status = fail_node(node, TENGINE_ERANGE, "attribute '%s' is '%s', expected %s",
                                     name, copy, field->choices);
        free_memory(copy);
        return status;
    }
    char** target = field_memory(&node->op, field);
    free_memory(*target);
    *target = copy;
    return TENGINE_OK;
}

// Sets the field that has the list's length, if there is one.
static int follow_length(struct node* node, const op_field_t* field, int num)
{
    return field->length ? set_node_int(node, field->length, num) : TENGINE_OK;
}

int set_node_ints(struct node* node, const char* name, const int64_t* values, int num)
{
    const op_field_t* field = NULL;
    TENGINE_RETURN_IF_ERROR(find_settable(node, name, OP_FIELD_INTS, &field));
    for (int i = 0; i < num; ++i)
        TENGINE_RETURN_IF_ERROR(check_range(node, field, (double)values[i]));
    const struct op_ints list = {num, (int64_t*)values};
    if (copy_field(field, field_memory(&node->op, field), &list) < 0) return no_memory(node, name);
    return follow_length(node, field, num);
}

int set_node_floats(struct node* node, const char* name, const float* values, int num)
{
    const op_field_t* field = NULL;
    TENGINE_RETURN_IF_ERROR(find_settable(node, name, OP_FIELD_FLOATS, &field));
    for (int i = 0; i < num; ++i)
        TENGINE_RETURN_IF_ERROR(check_range(node, field, values[i]));
    const struct op_floats list = {num, (float*)values};
    if (copy_field(field, field_memory(&node->op, field), &list) < 0) return no_memory(node, name);
    return follow_length(node, field, num);
}

int set_node_texts(struct node* node, const char* name, const char* const* values, int num)
{
    const op_field_t* field = NULL;
    TENGINE_RETURN_IF_ERROR(find_settable(node, name, OP_FIELD_STRINGS, &field));
    const struct op_strings list = {num, (char**)values};
    return copy_field(field, field_memory(&node->op, field), &list) < 0 ? no_memory(node, name)
                                                                        : TENGINE_OK;
}

int set_node_tensor(struct node* node, const char* name, const struct op_tensor* value)
{
    const op_field_t* field = NULL;
    TENGINE_RETURN_IF_ERROR(find_settable(node, name, OP_FIELD_TENSOR, &field));
    return copy_field(field, field_memory(&node->op, field), value) < 0 ? no_memory(node, name)
                                                                        : TENGINE_OK;
}
