// SPDX-License-Identifier: Apache-2.0
// C API, attributes that are pointers in Tengine's parameter structs: lists and strings. Programs
// pass the address of such a pointer; its target is copied.
#include <string.h>

#include "api/attribute.h"
#include "api/check.h"
#include "base/alloc.h"
#include "tengine/vector.h"

// ---- returned lists ----

typedef struct lent
{
    const struct node* node;
    const op_field_t* field;
    void* integers;
    vector_t* vector;  // one of the two is NULL
} lent_t;

static void release_lent(void* element)
{
    const lent_t* lent = element;
    free_memory(lent->integers);
    release_vector(lent->vector);
}

void release_lent_memory(api_graph_t* graph)
{
    release_vector(graph->lent);
    graph->lent = NULL;
}

// Stores a returned list in place of the one returned for the same attribute before.
static int keep_lent(api_graph_t* owner, const lent_t* lent)
{
    if (!owner->lent) owner->lent = create_vector(sizeof *lent, release_lent);
    for (int i = 0; i < get_vector_num(owner->lent); ++i) {
        const lent_t* other = get_vector_data(owner->lent, i);
        if (other->node != lent->node || other->field != lent->field) continue;
        remove_vector_via_index(owner->lent, i);
        break;
    }
    if (owner->lent && push_vector_data(owner->lent, lent) == 0) return TENGINE_OK;
    release_lent((void*)lent);
    return tengine_error_set(TENGINE_ENOMEM, "attribute '%s': out of memory", lent->field->name);
}

// ---- set ----

static int fail_value_attribute(const struct node* node, const char* function,
                                const op_field_t* field)
{
    return tengine_error_set(
        TENGINE_EINVAL, "%s: %s '%s': attribute '%s' has type %s, not a pointer type", function,
        get_ir_node_op(node), node->name, field->name, get_attribute_type_name(field));
}

static int find_length(const struct node* node, const char* function, const op_field_t* field,
                       int* out_num)
{
    if (!field->length)
        return tengine_error_set(TENGINE_EINVAL,
                                 "%s: %s '%s': no attribute holds the length of '%s'; set it with "
                                 "set_node_attr_generic as \"%s\"",
                                 function, get_ir_node_op(node), node->name, field->name,
                                 get_attribute_type_name(field));
    *out_num = (int)get_ir_node_int(node, field->length, 0);
    if (*out_num > 0) return TENGINE_OK;
    return tengine_error_set(
        TENGINE_EINVAL,
        "%s: %s '%s': attribute '%s' is %d; it is the element count of '%s' and must be set first",
        function, get_ir_node_op(node), node->name, field->length, *out_num, field->name);
}

static int set_list(struct node* node, const op_field_t* field, const void* values, int number)
{
    return field->kind == OP_FIELD_INTS ? set_attribute_ints(node, field, values, number)
                                        : set_attribute_floats(node, field, values, number);
}

// Elements may be structs of floats (anchors).
static int set_vector(struct node* node, const char* function, const op_field_t* field,
                      const vector_t* vector)
{
    const int word = sizeof(float);
    const bool fits = field->kind == OP_FIELD_INTS
                          ? vector->elem_size == word
                          : vector->elem_size > 0 && vector->elem_size % word == 0;
    if (!fits)
        return tengine_error_set(
            TENGINE_EINVAL,
            "%s: %s '%s': attribute '%s' is a vector of %s, not of elements of %d bytes", function,
            get_ir_node_op(node), node->name, field->name,
            field->kind == OP_FIELD_INTS ? "int" : "float", vector->elem_size);
    const int64_t number = (int64_t)get_vector_num(vector) * (vector->elem_size / word);
    if (number > INT32_MAX / word)
        return tengine_error_set(TENGINE_ERANGE,
                                 "%s: attribute '%s': %lld elements, expected at most %d", function,
                                 field->name, (long long)number, INT32_MAX / word);
    return set_list(node, field, get_vector_data(vector, 0), (int)number);
}

static int set_pointer(struct node* node, const char* function, const op_field_t* field,
                       const void* pointer)
{
    TENGINE_RETURN_IF_ERROR(check_pointer(pointer, function, "the pointer at attr_val"));
    if (field->kind == OP_FIELD_STRING)
        return set_node_text(node, field->name, pointer, strlen(pointer));
    if (field->kind != OP_FIELD_INTS && field->kind != OP_FIELD_FLOATS)
        return fail_value_attribute(node, function, field);
    if (field->in_vector) return set_vector(node, function, field, pointer);
    int number = 0;
    TENGINE_RETURN_IF_ERROR(find_length(node, function, field, &number));
    return set_list(node, field, pointer, number);
}

int set_node_attr_pointer(node_t node, const char* attr_name, const void* attr_val)
{
    api_graph_t* owner = NULL;
    struct node* target = find_node(node, __func__, &owner);
    const op_field_t* field = NULL;
    void* pointer;
    if (!target || find_attribute(target, __func__, attr_name, &field) < 0 ||
        check_pointer(attr_val, __func__, "attr_val") < 0 || check_idle(owner, __func__) < 0)
        return api_failure();
    memcpy(&pointer, attr_val, sizeof pointer);
    return end_change(owner, set_pointer(target, __func__, field, pointer));
}

// ---- get ----

static int32_t* copy_integers(const struct op_ints* list)
{
    int32_t* values = alloc_memory(sizeof *values * (size_t)list->num);
    for (int i = 0; values && i < list->num; ++i)
        values[i] = (int32_t)list->values[i];
    return values;
}

static vector_t* copy_vector(const op_field_t* field, const void* member)
{
    const struct op_floats* floats = member;
    const int group = field->file_kind == OP_FILE_ANCHORS ? 4 : 1;
    int32_t* integers = field->kind == OP_FIELD_INTS ? copy_integers(member) : NULL;
    const char* values = integers ? (const char*)integers : (const char*)floats->values;
    vector_t* vector = create_vector((int)sizeof(float) * group, NULL);
    int status = !vector ? -1 : 0;
    for (int i = 0; status == 0 && i < floats->num / group; ++i)
        status = push_vector_data(vector, values + vector->elem_size * i);
    free_memory(integers);
    if (status == 0) return vector;
    release_vector(vector);
    return NULL;
}

static int lend_list(api_graph_t* owner, const struct node* node, const op_field_t* field,
                     const void* member, void** out_pointer)
{
    lent_t lent = {.node = node, .field = field};
    if (field->in_vector)
        *out_pointer = lent.vector = copy_vector(field, member);
    else
        *out_pointer = lent.integers = copy_integers(member);
    if (*out_pointer != NULL) return keep_lent(owner, &lent);
    return tengine_error_set(TENGINE_ENOMEM, "attribute '%s': out of memory", field->name);
}

// Both kinds of lists begin with the number of elements.
static int get_pointer(api_graph_t* owner, const struct node* node, const char* function,
                       const op_field_t* field, void** out_pointer)
{
    const void* member = get_attribute_member(node, field);
    *out_pointer = NULL;
    if (field->kind == OP_FIELD_STRING) {
        *out_pointer = *(char* const*)member;
        return TENGINE_OK;
    }
    if (field->kind != OP_FIELD_INTS && field->kind != OP_FIELD_FLOATS)
        return fail_value_attribute(node, function, field);
    if (((const struct op_ints*)member)->num == 0) return TENGINE_OK;
    if (field->kind == OP_FIELD_INTS || field->in_vector)
        return lend_list(owner, node, field, member, out_pointer);
    *out_pointer = ((const struct op_floats*)member)->values;
    return TENGINE_OK;
}

int get_node_attr_pointer(node_t node, const char* attr_name, void* attr_val)
{
    api_graph_t* owner = NULL;
    const struct node* target = find_node(node, __func__, &owner);
    const op_field_t* field = NULL;
    void* pointer;
    if (!target || find_attribute(target, __func__, attr_name, &field) < 0 ||
        check_pointer(attr_val, __func__, "attr_val") < 0 ||
        get_pointer(owner, target, __func__, field, &pointer) < 0)
        return api_failure();
    memcpy(attr_val, &pointer, sizeof pointer);
    return 0;
}
