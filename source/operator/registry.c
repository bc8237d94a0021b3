// SPDX-License-Identifier: Apache-2.0
// The list of operator rows. Filled at start-up from the generated list of tables, read-only after.
// Looked up by binary search, since reading a model takes some look-ups for each of its nodes.
#include "operator/registry.h"

#include <string.h>

#include "operator/param.h"
#include "operator/selection.h"

typedef struct registered_method
{
    int type;
    const char* domain;  // "" is ONNX's
    const char* name;
    const ir_method_t* method;
} registered_method_t;

// All rows three times: in the order of registration, by type, by full name ("com.microsoft.QGemm",
// "Conv"). Rows that are equal in an order stay in that of their registration.
static struct vector* methods;
static struct vector* methods_by_type;
static struct vector* methods_by_name;
// The first row of each operator, in the order of registration; it is found by number in constant
// time.
static struct vector* operators;
static int next_type = OP_BUILTIN_LAST;

static const char* method_domain(const ir_method_t* method)
{
    return method->domain ? method->domain : "";
}

static int method_until(const ir_method_t* method)
{
    return method->until ? method->until : NEWEST_KNOWN_OPSET;
}

static const registered_method_t* entry_at(int index)
{
    return methods ? get_vector_data(methods, index) : NULL;
}

int get_op_method_count(void)
{
    return methods ? get_vector_num(methods) : 0;
}

const struct method* find_op_method_via_index(int index)
{
    const registered_method_t* entry = entry_at(index);
    return entry ? entry->method : NULL;
}

int get_op_count(void)
{
    return operators ? get_vector_num(operators) : 0;
}

const struct method* find_op_via_index(int index)
{
    const registered_method_t* entry = get_vector_data(operators, index);
    return entry ? entry->method : NULL;
}

// ---- sorted lists ----

// Returns less than, equal to or greater than 0, as strcmp() does.
typedef int (*method_order_t)(const registered_method_t* a, const registered_method_t* b);

static int compare_types(const registered_method_t* a, const registered_method_t* b)
{
    return (a->type > b->type) - (a->type < b->type);
}

// Goes through the letters of a full name without putting it together.
typedef struct letters
{
    const char* next;
    const char* name;  // the part after the dot, NULL after it
} letters_t;

static letters_t letters_of(const registered_method_t* entry)
{
    if (*entry->domain == '\0') return (letters_t){entry->name, NULL};
    return (letters_t){entry->domain, entry->name};
}

static int next_letter(letters_t* letters)
{
    if (*letters->next != '\0') return (unsigned char)*letters->next++;
    if (!letters->name) return 0;
    letters->next = letters->name;
    letters->name = NULL;
    return '.';
}

static int compare_names(const registered_method_t* a, const registered_method_t* b)
{
    letters_t left = letters_of(a), right = letters_of(b);
    for (;;) {
        const int letter = next_letter(&left);
        const int difference = letter - next_letter(&right);
        if (difference != 0 || letter == 0) return difference;
    }
}

// Returns the index of the first entry that is not less than `key`.
static int find_first(const struct vector* list, method_order_t order,
                      const registered_method_t* key)
{
    int begin = 0, end = get_vector_num(list);
    while (begin < end) {
        const int middle = begin + (end - begin) / 2;
        if (order(get_vector_data(list, middle), key) < 0)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

// Returns the entry at `index`, if it is equal to `key`.
static const registered_method_t* match(const struct vector* list, method_order_t order,
                                        const registered_method_t* key, int index)
{
    const registered_method_t* entry = get_vector_data(list, index);
    return entry && order(entry, key) == 0 ? entry : NULL;
}

static int insert(struct vector** list, method_order_t order, const registered_method_t* entry)
{
    if (!*list) *list = create_vector(sizeof(*entry), NULL);
    if (!*list || push_vector_data(*list, entry) < 0) return -1;
    const int last = get_vector_num(*list) - 1;
    int place = find_first(*list, order, entry);
    while (place < last && match(*list, order, entry, place))
        ++place;
    registered_method_t* target = get_vector_data(*list, place);
    memmove(target + 1, target, sizeof(*target) * (size_t)(last - place));
    *target = *entry;
    return 0;
}

static void erase(struct vector* list, const ir_method_t* method, int type)
{
    for (int i = 0; i < get_vector_num(list); ++i) {
        const registered_method_t* entry = get_vector_data(list, i);
        if (entry->method != method || entry->type != type) continue;
        remove_vector_via_index(list, i);
        return;
    }
}

// ---- looking up ----

static const registered_method_t* find_full_name(const char* domain, const char* name)
{
    const registered_method_t key = {.domain = domain, .name = name};
    return match(methods_by_name, compare_names, &key,
                 find_first(methods_by_name, compare_names, &key));
}

int get_op_type(const char* domain, const char* name)
{
    if (!domain) domain = "";
    const registered_method_t* entry = find_full_name(domain, name);
    return entry && strcmp(entry->domain, domain) == 0 ? entry->type : -1;
}

int get_op_type_by_name(const char* full_name)
{
    const registered_method_t* entry = find_full_name("", full_name);
    // A full name may also begin with the name of ONNX's own domain.
    static const char onnx[] = "ai.onnx.";
    if (!entry && strncmp(full_name, onnx, sizeof(onnx) - 1) == 0)
        entry = find_full_name("", full_name + sizeof(onnx) - 1);
    return entry ? entry->type : -1;
}

// Returns row `index` of an operator's rows, NULL when there are fewer.
static const ir_method_t* find_row(int type, int index)
{
    const registered_method_t key = {.type = type};
    const int first = find_first(methods_by_type, compare_types, &key);
    const registered_method_t* entry = match(methods_by_type, compare_types, &key, first + index);
    return entry ? entry->method : NULL;
}

const char* find_op_name(int type)
{
    const ir_method_t* method = find_row(type, 0);
    return method ? method->name : NULL;
}

const struct method* find_op_method(int type, int version)
{
    const ir_method_t* newest = NULL;
    const ir_method_t* method;
    for (int i = 0; (method = find_row(type, i)) != NULL; ++i) {
        if (version > 0 && version >= method->version && version <= method_until(method))
            return method;
        if (!newest || method->version > newest->version) newest = method;
    }
    return version > 0 ? NULL : newest;
}

// ---- registering ----

static bool ranges_overlap(const ir_method_t* a, const ir_method_t* b)
{
    return a->version <= method_until(b) && b->version <= method_until(a);
}

static int check_method(int type, const char* name, const ir_method_t* method)
{
    if (!name || !method || !method->name || strcmp(name, method->name) != 0)
        return tengine_error_set(TENGINE_EINVAL, "operator '%s': its row has another name",
                                 name ? name : "");
    if (method->version < 1 || method_until(method) < method->version)
        return tengine_error_set(TENGINE_EINVAL, "operator '%s': opset range %d..%d", name,
                                 method->version, method_until(method));
    for (int i = 0; i < method->field_num; ++i)
        if (method->fields[i].offset >= method->param_size)
            return tengine_error_set(TENGINE_EINVAL,
                                     "operator '%s': field '%s' lies outside its %u bytes", name,
                                     method->fields[i].name, (unsigned)method->param_size);
    const ir_method_t* other;
    for (int i = 0; (other = find_row(type, i)) != NULL; ++i)
        if (ranges_overlap(other, method))
            return tengine_error_set(TENGINE_EEXIST,
                                     "operator '%s': opsets %d..%d are already described", name,
                                     method->version, method_until(method));
    return TENGINE_OK;
}

static void remove_entry(int type, const ir_method_t* method)
{
    erase(methods, method, type);
    erase(methods_by_type, method, type);
    erase(methods_by_name, method, type);
    erase(operators, method, type);
}

static int push(struct vector** list, const registered_method_t* entry)
{
    if (!*list) *list = create_vector(sizeof(*entry), NULL);
    return *list ? push_vector_data(*list, entry) : -1;
}

static int add_entry(int type, const ir_method_t* method)
{
    const registered_method_t entry = {type, method_domain(method), method->name, method};
    const bool is_first_row = get_op_type(entry.domain, entry.name) < 0;
    if (push(&methods, &entry) == 0 && (!is_first_row || push(&operators, &entry) == 0) &&
        insert(&methods_by_type, compare_types, &entry) == 0 &&
        insert(&methods_by_name, compare_names, &entry) == 0)
        return TENGINE_OK;
    remove_entry(type, method);
    return tengine_error_set(TENGINE_ENOMEM, "operator '%s': out of memory while registering it",
                             method->name);
}

int register_op(int type, const char* name, const struct method* method)
{
    if (type < 0 && method && method->tengine) type = method->tengine->type;
    if (type < 0 && method && name) type = get_op_type(method->domain, name);
    if (type < 0) type = next_type;
    TENGINE_RETURN_IF_ERROR(check_method(type, name, method));
    TENGINE_RETURN_IF_ERROR(add_entry(type, method));
    if (type >= next_type) next_type = type + 1;
    return TENGINE_OK;
}

int release_op_registry(void)
{
    release_vector(methods);
    release_vector(methods_by_type);
    release_vector(methods_by_name);
    release_vector(operators);
    methods = methods_by_type = methods_by_name = operators = NULL;
    next_type = OP_BUILTIN_LAST;
    return TENGINE_OK;
}

int push_op_names(struct vector* ops, const char* const names[], int number)
{
    for (int i = 0; i < number; ++i) {
        int type = get_op_type_by_name(names[i]);
        if (type < 0 && is_build_selective()) continue;
        if (type < 0)
            return tengine_error_set(TENGINE_EOPERATOR, "unknown operator '%s'", names[i]);
        if (push_vector_data(ops, &type) < 0)
            return tengine_error_set(TENGINE_ENOMEM, "out of memory for a list of operators");
    }
    return TENGINE_OK;
}
