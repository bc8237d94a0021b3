// SPDX-License-Identifier: Apache-2.0
// Open addressing with linear probing (Knuth, volume 3, 6.4, algorithm L), at most half full. Names
// stay where they are; the first of equal ones is in the table. Minimal builds read the whole list.
#include "graph/name_index.h"

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text_hash.h"

// The list of a graph's nodes or tensors.
typedef struct named_list
{
    void* const* entries;  // NULL for a removed one
    int32_t number;
    size_t name_offset;
} named_list_t;

static bool has_name(const named_list_t* list, int32_t index, const char* name)
{
    const char* entry = list->entries[index];
    return entry && strcmp(*(char* const*)(const void*)(entry + list->name_offset), name) == 0;
}

static int read_list(const named_list_t* list, const char* name)
{
    for (int32_t i = 0; i < list->number; ++i)
        if (has_name(list, i, name)) return i;
    return -1;
}

#ifdef TENGINE_MINIMAL
static int find_name(const named_list_t* list, ir_name_index_t* index, const char* name)
{
    (void)index;
    return read_list(list, name);
}
#else
enum
{
    FEW = 32  // lists this short are searched without a table
};

// The slot of the name, or the free slot for it.
static int32_t* find_slot(const named_list_t* list, const ir_name_index_t* index, const char* name)
{
    // Fibonacci hashing: names that end in numbers differ little in the lowest bits.
    uint32_t slot = (uint32_t)(hash_text(HASH_START, name) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
    for (;; ++slot) {
        int32_t* found = &index->slots[slot & ((uint32_t)index->capacity - 1)];
        if (*found == 0 || has_name(list, *found - 1, name)) return found;
    }
}

static bool make_room(const named_list_t* list, ir_name_index_t* index)
{
    if (list->number <= index->capacity / 2) return true;
    int32_t capacity = 4 * FEW;
    while (capacity / 2 < list->number)
        if (__builtin_mul_overflow(capacity, 2, &capacity)) return false;
    int32_t* slots = alloc_memory(sizeof *slots * (size_t)capacity);
    if (!slots) {
        forget_memory_shortage();
        return false;
    }
    free_memory(index->slots);
    *index = (ir_name_index_t){.slots = slots, .capacity = capacity};
    return true;
}

static void complete(const named_list_t* list, ir_name_index_t* index)
{
    for (; index->number < list->number; ++index->number) {
        const char* entry = list->entries[index->number];
        if (!entry) continue;
        const char* name = *(char* const*)(const void*)(entry + list->name_offset);
        int32_t* slot = find_slot(list, index, name);
        if (*slot == 0) *slot = index->number + 1;
    }
}

static int find_name(const named_list_t* list, ir_name_index_t* index, const char* name)
{
    if (list->number <= FEW || !make_room(list, index)) return read_list(list, name);
    complete(list, index);
    return *find_slot(list, index, name) - 1;
}

static void forget(ir_name_index_t* index)
{
    free_memory(index->slots);
    *index = (ir_name_index_t){.slots = NULL};
}

void forget_ir_names(struct graph* graph)
{
    forget(&graph->core->node_names);
    forget(&graph->core->tensor_names);
}
#endif

int find_ir_node_name(const struct graph* graph, const char* name)
{
    const named_list_t list = {(void* const*)graph->node_list, graph->node_num,
                               offsetof(struct node, name)};
    return find_name(&list, &graph->core->node_names, name);
}

int find_ir_tensor_name(const struct graph* graph, const char* name)
{
    const named_list_t list = {(void* const*)graph->tensor_list, graph->tensor_num,
                               offsetof(struct tensor, name)};
    return find_name(&list, &graph->core->tensor_names, name);
}
