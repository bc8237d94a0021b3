// SPDX-License-Identifier: Apache-2.0
// See op.h. One lock guards all lists and counts; no function of a program is called while it is
// held.
#include "operator/custom/op.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/context.h"
#include "graph/core.h"
#include "operator/custom/op_node.h"

static struct
{
    pthread_mutex_t mutex;
    struct vector* ops;  // tengine_op_t*, of the process
    uint64_t revision;
    // NULL before the first registration, so that programs without any are linked without
    // op_node.c.
    int (*resolve)(const struct graph* source, const int32_t nodes[], int node_num,
                   bool only_unknown);
} registry = {.mutex = PTHREAD_MUTEX_INITIALIZER};

// ---- life ----

static void free_op(tengine_op_t* op)
{
    if (op->release) op->release(op->user_data);
    free_memory(op->domain);
    free_memory(op->name);
    free_memory(op->full_name);
    free_memory(op->device);
    free_memory(op);
}

static char* make_full_name(const char* domain, const char* name)
{
    const size_t size = strlen(domain) + strlen(name) + 2;
    char* full_name = alloc_memory(size);
    if (full_name) snprintf(full_name, size, "%s%s%s", domain, *domain != '\0' ? "." : "", name);
    return full_name;
}

static int check_description(const char* domain, const char* name, int min_version, int max_version,
                             const char* function)
{
    if (!domain || !name)
        return tengine_error_set(TENGINE_EINVAL, "%s: %s is NULL", function,
                                 !domain ? "domain" : "name");
    if (*name == '\0' || strchr(name, '.'))
        return tengine_error_set(TENGINE_EINVAL,
                                 "%s: name '%s': expected a name without domain, e.g. Atan",
                                 function, name);
    if (min_version < 1 || max_version < min_version)
        return tengine_error_set(TENGINE_ERANGE,
                                 "%s: versions %d to %d: expected a range that begins at 1 or "
                                 "later",
                                 function, min_version, max_version);
    return TENGINE_OK;
}

tengine_op_t* create_custom_op(const char* domain, const char* name, int min_version,
                               int max_version, const char* function)
{
    if (check_description(domain, name, min_version, max_version, function) < 0) return NULL;
    if (strcmp(domain, "ai.onnx") == 0) domain = "";
    tengine_op_t* op = alloc_memory(sizeof *op);
    if (!op) goto out_of_memory;
    *op = (tengine_op_t){.domain = duplicate_string(domain),
                         .name = duplicate_string(name),
                         .full_name = make_full_name(domain, name),
                         .min_version = min_version,
                         .max_version = max_version,
                         .like_input = -1,
                         .holder_num = 1};
    if (op->domain && op->name && op->full_name) return op;
    free_op(op);

out_of_memory:
    tengine_error_set(TENGINE_ENOMEM, "%s: out of memory for an operator", function);
    return NULL;
}

int set_custom_op_device(tengine_op_t* op, const char* device, const char* function)
{
    if (*device == '\0')
        return tengine_error_set(TENGINE_EINVAL, "%s: device '': expected its name", function);
    char* copy = duplicate_string(device);
    if (!copy) return tengine_error_set(TENGINE_ENOMEM, "%s: out of memory for a name", function);
    free_memory(op->device);
    op->device = copy;
    return TENGINE_OK;
}

const char* get_custom_op_device(const tengine_op_t* op)
{
    return op->device ? op->device : ir_default_device_name;
}

void drop_custom_op(tengine_op_t* op)
{
    pthread_mutex_lock(&registry.mutex);
    const bool is_last = --op->holder_num == 0;
    pthread_mutex_unlock(&registry.mutex);
    if (is_last) free_op(op);
}

// ---- lists ----

static tengine_op_t* get_op(const struct vector* list, int index)
{
    tengine_op_t** entry = get_vector_data(list, index);
    return entry ? *entry : NULL;
}

static int find_op_index(const struct vector* list, const tengine_op_t* op)
{
    for (int i = 0; i < get_vector_num(list); ++i)
        if (get_op(list, i) == op) return i;
    return -1;
}

static void drop_entry(void* entry)
{
    tengine_op_t* op = *(tengine_op_t**)entry;
    if (op) drop_custom_op(op);
}

static bool has_name(const tengine_op_t* op, const char* domain, const char* name)
{
    return strcmp(op->name, name) == 0 && strcmp(op->domain, domain) == 0;
}

static bool is_for_same_device(const tengine_op_t* a, const tengine_op_t* b)
{
    return strcmp(get_custom_op_device(a), get_custom_op_device(b)) == 0;
}

// The newest operator for a device is used for unknown versions, which are 0.
static bool is_newest(const struct vector* list, const tengine_op_t* op)
{
    for (int i = 0; i < get_vector_num(list); ++i) {
        const tengine_op_t* other = get_op(list, i);
        if (other->max_version > op->max_version && has_name(other, op->domain, op->name) &&
            is_for_same_device(other, op))
            return false;
    }
    return true;
}

// The first operator in the list from `begin` on for `version`; 0: any.
static tengine_op_t* find_op(const struct vector* list, int begin, const char* domain,
                             const char* name, int version)
{
    for (int i = begin; i < get_vector_num(list); ++i) {
        tengine_op_t* op = get_op(list, i);
        const bool fits = version == 0 ? is_newest(list, op)
                                       : op->min_version <= version && version <= op->max_version;
        if (fits && has_name(op, domain, name)) return op;
    }
    return NULL;
}

// A context's own operators precede those of the process.
static tengine_op_t* look_up(const struct context* context, const char* domain, const char* name,
                             int version)
{
    tengine_op_t* own = context ? find_op(context->custom_ops, 0, domain, name, version) : NULL;
    return own ? own : find_op(registry.ops, 0, domain, name, version);
}

static tengine_op_t* look_up_next(const struct context* context, const tengine_op_t* last,
                                  int version)
{
    const struct vector* own = context ? context->custom_ops : NULL;
    const struct vector* list = find_op_index(own, last) >= 0 ? own : registry.ops;
    return find_op(list, find_op_index(list, last) + 1, last->domain, last->name, version);
}

// ---- registration ----

static int check_complete(const tengine_op_t* op, const char* function)
{
    if (op->invoke && op->invoke_async)
        return tengine_error_set(TENGINE_EINVAL,
                                 "%s: operator '%s' has invoke and invoke_async, expected one",
                                 function, op->full_name);
    const char* missing = !op->invoke && !op->invoke_async     ? "invoke"
                          : !op->prepare && op->like_input < 0 ? "prepare"
                                                               : NULL;
    if (!missing) return TENGINE_OK;
    return tengine_error_set(TENGINE_EINVAL, "%s: operator '%s' has no function %s", function,
                             op->full_name, missing);
}

static int check_no_other(const struct vector* list, const tengine_op_t* op, const char* function)
{
    for (int i = 0; i < get_vector_num(list); ++i) {
        const tengine_op_t* other = get_op(list, i);
        if (!has_name(other, op->domain, op->name) || !is_for_same_device(other, op) ||
            other->max_version < op->min_version || op->max_version < other->min_version)
            continue;
        return tengine_error_set(
            TENGINE_EEXIST, "%s: operator '%s' is registered already for versions %d to %d on %s",
            function, op->full_name, other->min_version, other->max_version,
            get_custom_op_device(other));
    }
    return TENGINE_OK;
}

static int enter_op(struct vector** list, tengine_op_t* op, const char* function)
{
    TENGINE_RETURN_IF_ERROR(check_complete(op, function));
    TENGINE_RETURN_IF_ERROR(check_no_other(*list, op, function));
    if (!*list) *list = create_vector(sizeof op, drop_entry);
    if (!*list || push_vector_data(*list, &op) < 0)
        return tengine_error_set(TENGINE_ENOMEM,
                                 "%s: operator '%s': out of memory while registering it", function,
                                 op->full_name);
    ++op->holder_num;
    ++op->registration_num;
    return TENGINE_OK;
}

int register_custom_op(struct context* context, tengine_op_t* op, const char* function)
{
    pthread_mutex_lock(&registry.mutex);
    const int status = enter_op(context ? &context->custom_ops : &registry.ops, op, function);
    if (status == TENGINE_OK) ++registry.revision;
    registry.resolve = give_custom_ops;
    pthread_mutex_unlock(&registry.mutex);
    return status;
}

int resolve_custom_ops(const struct graph* source, const int32_t nodes[], int node_num,
                       bool only_unknown)
{
    pthread_mutex_lock(&registry.mutex);
    int (*const resolve)(const struct graph*, const int32_t*, int, bool) = registry.resolve;
    pthread_mutex_unlock(&registry.mutex);
    return resolve ? resolve(source, nodes, node_num, only_unknown) : TENGINE_OK;
}

// The entry is emptied when it is removed, since releasing its contents takes the lock.
static int take_out(struct vector* list, tengine_op_t* op, const char* function)
{
    const int index = find_op_index(list, op);
    if (index < 0)
        return tengine_error_set(TENGINE_ENOENT, "%s: this operator is not registered there",
                                 function);
    if (op->node_num > 0)
        return tengine_error_set(TENGINE_ESTATE,
                                 "%s: operator '%s' is in use by %d nodes; destroy_graph ends that",
                                 function, op->full_name, op->node_num);
    *(tengine_op_t**)get_vector_data(list, index) = NULL;
    remove_vector_via_index(list, index);
    return TENGINE_OK;
}

int unregister_custom_op(struct context* context, tengine_op_t* op, const char* function)
{
    pthread_mutex_lock(&registry.mutex);
    const int status = take_out(context ? context->custom_ops : registry.ops, op, function);
    if (status == TENGINE_OK) ++registry.revision;
    pthread_mutex_unlock(&registry.mutex);
    if (status == TENGINE_OK) drop_custom_op(op);
    return status;
}

uint64_t get_custom_op_revision(void)
{
    pthread_mutex_lock(&registry.mutex);
    const uint64_t revision = registry.revision;
    pthread_mutex_unlock(&registry.mutex);
    return revision;
}

tengine_op_t* find_custom_op_via_index(int index)
{
    pthread_mutex_lock(&registry.mutex);
    tengine_op_t* op = get_op(registry.ops, index);
    pthread_mutex_unlock(&registry.mutex);
    return op;
}

bool is_custom_op_used(const tengine_op_t* op)
{
    pthread_mutex_lock(&registry.mutex);
    const bool is_used = op->node_num > 0;
    pthread_mutex_unlock(&registry.mutex);
    return is_used;
}

void release_custom_ops(void)
{
    pthread_mutex_lock(&registry.mutex);
    struct vector* ops = registry.ops;
    registry.ops = NULL;
    pthread_mutex_unlock(&registry.mutex);
    release_vector(ops);
}

// ---- looking up ----

bool has_custom_op(const struct context* context, const char* domain, const char* name, int version)
{
    pthread_mutex_lock(&registry.mutex);
    const bool is_there = look_up(context, domain, name, version) != NULL;
    pthread_mutex_unlock(&registry.mutex);
    return is_there;
}

tengine_op_t* hold_custom_op(const struct context* context, const char* domain, const char* name,
                             int version, const tengine_op_t* last)
{
    pthread_mutex_lock(&registry.mutex);
    tengine_op_t* op =
        last ? look_up_next(context, last, version) : look_up(context, domain, name, version);
    if (op) {
        ++op->holder_num;
        ++op->node_num;
    }
    pthread_mutex_unlock(&registry.mutex);
    return op;
}

void release_custom_op(tengine_op_t* op)
{
    pthread_mutex_lock(&registry.mutex);
    --op->node_num;
    pthread_mutex_unlock(&registry.mutex);
    drop_custom_op(op);
}
