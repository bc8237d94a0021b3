// SPDX-License-Identifier: Apache-2.0
// The list of operator rows. Filled at start-up from the generated list of tables, read-only after.
#include "operator/registry.h"

#include <string.h>

#include "operator/param.h"

typedef struct registered_method
{
    int type;
    const ir_method_t* method;
} registered_method_t;

static struct vector* methods;
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

int get_op_type(const char* domain, const char* name)
{
    for (int i = 0; i < get_op_method_count(); i++) {
        const registered_method_t* entry = entry_at(i);
        if (strcmp(entry->method->name, name) == 0 &&
            strcmp(method_domain(entry->method), domain ? domain : "") == 0)
            return entry->type;
    }
    return -1;
}

// "Conv", "com.microsoft.QGemm".
static bool has_full_name(const ir_method_t* method, const char* name)
{
    const char* domain = method_domain(method);
    const size_t length = strlen(domain);
    if (length == 0) return strcmp(name, method->name) == 0;
    return strncmp(name, domain, length) == 0 && name[length] == '.' &&
           strcmp(name + length + 1, method->name) == 0;
}

int get_op_type_by_name(const char* full_name)
{
    // ONNX's own domain may also be spelled out.
    static const char onnx[] = "ai.onnx.";
    if (strncmp(full_name, onnx, sizeof(onnx) - 1) == 0) full_name += sizeof(onnx) - 1;
    for (int i = 0; i < get_op_method_count(); i++)
        if (has_full_name(entry_at(i)->method, full_name)) return entry_at(i)->type;
    return -1;
}

static const ir_method_t* first_method(int type)
{
    for (int i = 0; i < get_op_method_count(); i++)
        if (entry_at(i)->type == type) return entry_at(i)->method;
    return NULL;
}

const char* find_op_name(int type)
{
    const ir_method_t* method = first_method(type);
    return method ? method->name : NULL;
}

const struct method* find_op_method(int type, int version)
{
    const ir_method_t* newest = NULL;
    for (int i = 0; i < get_op_method_count(); i++) {
        const registered_method_t* entry = entry_at(i);
        if (entry->type != type) continue;
        const ir_method_t* method = entry->method;
        if (version > 0 && version >= method->version && version <= method_until(method))
            return method;
        if (!newest || method->version > newest->version) newest = method;
    }
    return version > 0 ? NULL : newest;
}

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
    for (int i = 0; i < method->field_num; i++)
        if (method->fields[i].offset >= method->param_size)
            return tengine_error_set(TENGINE_EINVAL,
                                     "operator '%s': field '%s' lies outside its %u bytes", name,
                                     method->fields[i].name, (unsigned)method->param_size);
    for (int i = 0; i < get_op_method_count(); i++)
        if (entry_at(i)->type == type && ranges_overlap(entry_at(i)->method, method))
            return tengine_error_set(TENGINE_EEXIST,
                                     "operator '%s': opsets %d..%d are described already", name,
                                     method->version, method_until(method));
    return TENGINE_OK;
}

int register_op(int type, const char* name, const struct method* method)
{
    if (!methods) methods = create_vector(sizeof(registered_method_t), NULL);
    if (!methods) return tengine_error_set(TENGINE_ENOMEM, "no memory for the operator registry");
    if (type < 0 && method && method->tengine) type = method->tengine->type;
    if (type < 0 && method && name) type = get_op_type(method->domain, name);
    if (type < 0) type = next_type;
    TENGINE_RETURN_IF_ERROR(check_method(type, name, method));
    registered_method_t entry = {type, method};
    if (push_vector_data(methods, &entry) < 0)
        return tengine_error_set(TENGINE_ENOMEM, "no memory to register operator '%s'", name);
    if (type >= next_type) next_type = type + 1;
    return TENGINE_OK;
}

int unregister_op(int type, int version)
{
    for (int i = 0; i < get_op_method_count(); i++) {
        const registered_method_t* entry = entry_at(i);
        if (entry->type != type || entry->method->version != version) continue;
        remove_vector_via_index(methods, i);
        return TENGINE_OK;
    }
    return tengine_error_set(TENGINE_ENOENT, "operator %d of opset %d is not registered", type,
                             version);
}

int release_op_registry(void)
{
    if (methods) release_vector(methods);
    methods = NULL;
    next_type = OP_BUILTIN_LAST;
    return TENGINE_OK;
}

int push_op_names(struct vector* ops, const char* const names[], int number)
{
    for (int i = 0; i < number; i++) {
        int type = get_op_type_by_name(names[i]);
        if (type < 0)
            return tengine_error_set(TENGINE_EOPERATOR, "'%s' is not an operator known here",
                                     names[i]);
        if (push_vector_data(ops, &type) < 0)
            return tengine_error_set(TENGINE_ENOMEM, "no memory for a list of operators");
    }
    return TENGINE_OK;
}
