// SPDX-License-Identifier: Apache-2.0
// The table of live handles: a hash table with linear probing under one mutex. A removed entry
// stays as a tombstone until the table is rebuilt, so that destroying does not allocate.
#include "api/handle.h"

#include <pthread.h>
#include <stdint.h>

#include "base/alloc.h"
#include "module/module.h"

typedef struct entry
{
    const void* object;  // NULL: free
    api_graph_t* owner;
    handle_kind_t kind;
    bool live;  // false with an object: tombstone
} entry_t;

static struct
{
    pthread_mutex_t mutex;
    entry_t* entries;
    size_t capacity;  // 0 or a power of two
    size_t used;      // live entries and tombstones
    size_t live;
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static const char* const kind_names[] = {"context", "graph", "node", "tensor"};

// Allocators align objects, so the low bits of addresses differ little: Fibonacci hashing spreads
// the rest over the high half.
static size_t slot_of(const void* object, size_t capacity)
{
    return (size_t)(((uint64_t)(uintptr_t)object * UINT64_C(0x9e3779b97f4a7c15)) >> 32) &
           (capacity - 1);
}

// The live entry of an object or NULL. A recycled address may have left a tombstone in front.
static entry_t* find_entry(const void* object)
{
    if (table.capacity == 0 || !object) return NULL;
    size_t slot = slot_of(object, table.capacity);
    while (table.entries[slot].object) {
        entry_t* entry = &table.entries[slot];
        if (entry->object == object && entry->live) return entry;
        slot = (slot + 1) & (table.capacity - 1);
    }
    return NULL;
}

static void place_entry(entry_t* entries, size_t capacity, const entry_t* entry)
{
    size_t slot = slot_of(entry->object, capacity);
    while (entries[slot].object)
        slot = (slot + 1) & (capacity - 1);
    entries[slot] = *entry;
}

// Makes room for one more entry with at most half of the slots in use.
static int reserve_entry(void)
{
    if (2 * (table.used + 1) <= table.capacity) return TENGINE_OK;
    size_t capacity = 64;
    while (capacity < 4 * (table.live + 1))
        capacity *= 2;
    entry_t* entries = alloc_memory(capacity * sizeof *entries);
    if (!entries) return tengine_error_set(TENGINE_ENOMEM, "out of memory for a handle");
    for (size_t i = 0; i < table.capacity; ++i)
        if (table.entries[i].live) place_entry(entries, capacity, &table.entries[i]);
    free_memory(table.entries);
    table.entries = entries;
    table.capacity = capacity;
    table.used = table.live;
    return TENGINE_OK;
}

// An empty table frees its memory, so that release_tengine frees everything.
static void drop_entry(entry_t* entry)
{
    entry->live = false;
    if (--table.live > 0) return;
    free_memory(table.entries);
    table.entries = NULL;
    table.capacity = table.used = 0;
}

static int insert_entry(const entry_t* entry)
{
    if (find_entry(entry->object)) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(reserve_entry());
    place_entry(table.entries, table.capacity, entry);
    ++table.used;
    ++table.live;
    return TENGINE_OK;
}

int add_handle(void* object, handle_kind_t kind, api_graph_t* owner)
{
    const entry_t entry = {object, owner, kind, true};
    pthread_mutex_lock(&table.mutex);
    const int status = insert_entry(&entry);
    pthread_mutex_unlock(&table.mutex);
    return status;
}

static bool is_context_in_use(const struct context* context)
{
    if (find_entry(context)) return true;
    for (size_t i = 0; i < table.capacity; ++i) {
        const entry_t* entry = &table.entries[i];
        if (entry->live && entry->kind == HANDLE_GRAPH && entry->owner->context == context)
            return true;
    }
    return false;
}

bool remove_context_handle(const struct context* context)
{
    pthread_mutex_lock(&table.mutex);
    entry_t* entry = find_entry(context);
    if (entry) drop_entry(entry);
    const bool in_use = is_context_in_use(context);
    pthread_mutex_unlock(&table.mutex);
    return !in_use;
}

bool remove_graph_handles(const api_graph_t* graph)
{
    pthread_mutex_lock(&table.mutex);
    for (size_t i = 0; i < table.capacity; ++i)
        if (table.entries[i].live && table.entries[i].owner == graph) drop_entry(&table.entries[i]);
    const bool in_use = is_context_in_use(graph->context);
    pthread_mutex_unlock(&table.mutex);
    return !in_use;
}

void* find_any_handle(handle_kind_t kind)
{
    const void* object = NULL;
    pthread_mutex_lock(&table.mutex);
    for (size_t i = 0; i < table.capacity && !object; ++i)
        if (table.entries[i].live && table.entries[i].kind == kind)
            object = table.entries[i].object;
    pthread_mutex_unlock(&table.mutex);
    return (void*)object;
}

bool has_handle(handle_kind_t kind, handle_test_t fits, const void* argument)
{
    bool found = false;
    pthread_mutex_lock(&table.mutex);
    for (size_t i = 0; i < table.capacity && !found; ++i) {
        const entry_t* entry = &table.entries[i];
        found = entry->live && entry->kind == kind && fits(entry->object, entry->owner, argument);
    }
    pthread_mutex_unlock(&table.mutex);
    return found;
}

int check_initialised(const char* function)
{
    if (are_modules_initialised()) return TENGINE_OK;
    return tengine_error_set(TENGINE_ESTATE, "%s: call init_tengine first", function);
}

static int fail_handle(const void* handle, handle_kind_t wanted, const entry_t* entry,
                       const char* function)
{
    const char* name = kind_names[wanted];
    if (!handle)
        return tengine_error_set(TENGINE_EHANDLE, "%s: the %s handle is NULL", function, name);
    if (!entry->live)
        return tengine_error_set(TENGINE_EHANDLE,
                                 "%s: invalid handle %p: expected a %s (was it destroyed?)",
                                 function, handle, name);
    return tengine_error_set(TENGINE_EHANDLE, "%s: the handle is a %s, expected a %s", function,
                             kind_names[entry->kind], name);
}

// Copies the entry, since another thread may rebuild the table once the mutex is released.
static int find_handle(const void* handle, handle_kind_t kind, const char* function,
                       entry_t* out_entry)
{
    *out_entry = (entry_t){.object = handle};
    TENGINE_RETURN_IF_ERROR(check_initialised(function));
    pthread_mutex_lock(&table.mutex);
    const entry_t* entry = find_entry(handle);
    if (entry) *out_entry = *entry;
    pthread_mutex_unlock(&table.mutex);
    if (out_entry->live && out_entry->kind == kind) return TENGINE_OK;
    return fail_handle(handle, kind, out_entry, function);
}

struct context* find_context(context_t handle, const char* function)
{
    entry_t entry;
    return find_handle(handle, HANDLE_CONTEXT, function, &entry) < 0 ? NULL : handle;
}

api_graph_t* find_graph(graph_t handle, const char* function)
{
    entry_t entry;
    return find_handle(handle, HANDLE_GRAPH, function, &entry) < 0 ? NULL : entry.owner;
}

struct node* find_node(node_t handle, const char* function, api_graph_t** out_owner)
{
    entry_t entry;
    if (find_handle(handle, HANDLE_NODE, function, &entry) < 0) return NULL;
    if (out_owner) *out_owner = entry.owner;
    return handle;
}

struct tensor* find_tensor(tensor_t handle, const char* function, api_graph_t** out_owner)
{
    entry_t entry;
    if (find_handle(handle, HANDLE_TENSOR, function, &entry) < 0) return NULL;
    if (out_owner) *out_owner = entry.owner;
    return handle;
}

node_t give_node(struct node* node, api_graph_t* owner)
{
    if (!node || add_handle(node, HANDLE_NODE, owner) < 0) return NULL;
    return node;
}

tensor_t give_tensor(struct tensor* tensor, api_graph_t* owner)
{
    if (!tensor || add_handle(tensor, HANDLE_TENSOR, owner) < 0) return NULL;
    return tensor;
}
