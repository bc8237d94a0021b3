// SPDX-License-Identifier: Apache-2.0
#include "graph/entry.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "tengine/error.h"
#include "tengine/vector.h"

struct ir_entries
{
    pthread_mutex_t mutex;
    struct vector* names;    // char*
    struct vector* members;  // struct graph*
};

static void free_name(void* item)
{
    free_memory(*(char**)item);
}

static int fail_without_memory(void)
{
    return tengine_error_set(TENGINE_ENOMEM, "out of memory for the entries of a model");
}

static void release_entries(struct ir_entries* entries)
{
    pthread_mutex_destroy(&entries->mutex);
    release_vector(entries->names);
    release_vector(entries->members);
    free_memory(entries);
}

// NULL when out of memory.
static struct ir_entries* create_entries(void)
{
    struct ir_entries* created = alloc_memory(sizeof *created);
    if (!created) return NULL;
    pthread_mutex_init(&created->mutex, NULL);
    created->names = create_vector(sizeof(char*), free_name);
    created->members = create_vector(sizeof(struct graph*), NULL);
    if (created->names && created->members) return created;
    release_entries(created);
    return NULL;
}

// ---- names ----

static const char* name_at(const struct ir_entries* entries, int index)
{
    return *(char**)get_vector_data(entries->names, index);
}

static int find_name(const struct ir_entries* entries, const char* name)
{
    for (int i = 0; i < get_vector_num(entries->names); ++i)
        if (strcmp(name_at(entries, i), name) == 0) return i;
    return -1;
}

static int add_name(struct ir_entries* entries, const char* name)
{
    const size_t length = strlen(name);
    if (length == 0 || length > IR_MOST_ENTRY_NAME)
        return tengine_error_set(TENGINE_EFORMAT,
                                 "the name of entry %d has %zu bytes, expected 1 to %d",
                                 get_vector_num(entries->names), length, IR_MOST_ENTRY_NAME);
    if (find_name(entries, name) >= 0)
        return tengine_error_set(TENGINE_EFORMAT, "two entries have the name '%s'", name);
    char* copy = duplicate_string(name);
    if (copy && push_vector_data(entries->names, &copy) == 0) return TENGINE_OK;
    free_memory(copy);
    return fail_without_memory();
}

static int add_names(struct ir_entries* entries, const char* const names[], int number)
{
    if (number < 1 || number > IR_MOST_ENTRIES)
        return tengine_error_set(TENGINE_EFORMAT, "the model has %d entries, expected 1 to %d",
                                 number, IR_MOST_ENTRIES);
    for (int i = 0; i < number; ++i)
        TENGINE_RETURN_IF_ERROR(add_name(entries, names[i]));
    return TENGINE_OK;
}

int count_ir_entries(const struct graph* graph)
{
    return graph->core->entries ? get_vector_num(graph->core->entries->names) : 0;
}

int get_ir_entry(const struct graph* graph)
{
    return graph->core->entries ? graph->core->entry : -1;
}

const char* get_ir_entry_name(const struct graph* graph, int index)
{
    return name_at(graph->core->entries, index);
}

int find_ir_entry(const struct graph* graph, const char* name)
{
    return graph->core->entries ? find_name(graph->core->entries, name) : -1;
}

int fail_without_ir_entry(const struct graph* graph, const char* subject, const char* name)
{
    text_t names = {0};
    const int number = count_ir_entries(graph);
    for (int i = 0; i < number; ++i)
        append_text(&names, "%s'%s'", i > 0 ? ", " : "", get_ir_entry_name(graph, i));
    tengine_error_set(TENGINE_ENOENT, "%s: the model has no entry '%s', expected %s", subject, name,
                      names.data ? names.data : "none");
    free_text(&names);
    return TENGINE_ENOENT;
}

// ---- members ----

static int add_member(struct ir_entries* entries, struct graph* graph, int own)
{
    pthread_mutex_lock(&entries->mutex);
    const int status = push_vector_data(entries->members, &graph);
    pthread_mutex_unlock(&entries->mutex);
    if (status < 0) return fail_without_memory();
    graph->core->entries = entries;
    graph->core->entry = own;
    return TENGINE_OK;
}

int begin_ir_entries(struct graph* graph, const char* const names[], int number, int own)
{
    struct ir_entries* entries = create_entries();
    if (!entries) return fail_without_memory();
    int status = add_names(entries, names, number);
    if (status == TENGINE_OK) status = add_member(entries, graph, own);
    if (status < 0) release_entries(entries);
    return status;
}

int copy_ir_entries(struct graph* graph, const struct graph* other)
{
    const struct ir_entries* model = other->core->entries;
    return model ? begin_ir_entries(graph, (const char* const*)model->names->mem,
                                    get_vector_num(model->names), other->core->entry)
                 : TENGINE_OK;
}

int join_ir_entries(struct graph* graph, struct graph* member, int own)
{
    struct ir_entries* old = graph->core->entries;
    if (old == member->core->entries) return TENGINE_OK;
    const int old_entry = graph->core->entry;
    TENGINE_RETURN_IF_ERROR(add_member(member->core->entries, graph, own));
    graph->core->entries = old;
    graph->core->entry = old_entry;
    leave_ir_entries(graph);
    graph->core->entries = member->core->entries;
    graph->core->entry = own;
    return TENGINE_OK;
}

static bool remove_member(struct ir_entries* entries, const struct graph* graph)
{
    pthread_mutex_lock(&entries->mutex);
    for (int i = get_vector_num(entries->members) - 1; i >= 0; --i)
        if (*(struct graph**)get_vector_data(entries->members, i) == graph)
            remove_vector_via_index(entries->members, i);
    const bool is_last = get_vector_num(entries->members) == 0;
    pthread_mutex_unlock(&entries->mutex);
    return is_last;
}

void leave_ir_entries(struct graph* graph)
{
    struct ir_entries* entries = graph->core->entries;
    if (entries && remove_member(entries, graph)) release_entries(entries);
    graph->core->entries = NULL;
}

struct graph* get_ir_entry_member(const struct graph* graph, int place)
{
    const struct ir_entries* entries = graph->core->entries;
    struct graph** member = entries ? get_vector_data(entries->members, place) : NULL;
    return member ? *member : NULL;
}

struct graph* find_ir_entry_graph(const struct graph* graph, int index)
{
    struct graph* found = NULL;
    struct graph* member;
    lock_ir_entries(graph);
    for (int i = 0; !found && (member = get_ir_entry_member(graph, i)) != NULL; ++i)
        if (member->core->entry == index) found = member;
    unlock_ir_entries(graph);
    return found;
}

void lock_ir_entries(const struct graph* graph)
{
    if (graph->core->entries) pthread_mutex_lock(&graph->core->entries->mutex);
}

void unlock_ir_entries(const struct graph* graph)
{
    if (graph->core->entries) pthread_mutex_unlock(&graph->core->entries->mutex);
}
