// SPDX-License-Identifier: Apache-2.0
#include "graph/metadata.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "graph/core.h"
#include "tengine/vector.h"

struct ir_metadata
{
    atomic_int holder_num;
    struct vector* entries;
};

static void release_entry(void* data)
{
    // The key and the text are one block.
    free_memory((char*)(uintptr_t)((ir_metadata_entry_t*)data)->key);
}

struct ir_metadata* create_ir_metadata(void)
{
    struct ir_metadata* made = alloc_memory(sizeof *made);
    if (!made) return NULL;
    made->entries = create_vector(sizeof(ir_metadata_entry_t), release_entry);
    atomic_init(&made->holder_num, 1);
    if (made->entries) return made;
    free_memory(made);
    return NULL;
}

struct ir_metadata* hold_ir_metadata(struct ir_metadata* metadata)
{
    if (metadata) atomic_fetch_add(&metadata->holder_num, 1);
    return metadata;
}

void release_ir_metadata(struct ir_metadata* metadata)
{
    if (!metadata || atomic_fetch_sub(&metadata->holder_num, 1) > 1) return;
    release_vector(metadata->entries);
    free_memory(metadata);
}

int add_ir_metadata(struct ir_metadata* metadata, const ir_metadata_entry_t* entry)
{
    const size_t key_bytes = strlen(entry->key) + 1;
    const size_t text_bytes = strlen(entry->text) + 1;
    char* block = alloc_small_memory(key_bytes + text_bytes);
    ir_metadata_entry_t copy = {entry->kind, entry->number, block, block + key_bytes};
    if (block) {
        memcpy(block, entry->key, key_bytes);
        memcpy(block + key_bytes, entry->text, text_bytes);
        if (push_vector_data(metadata->entries, &copy) == 0) return TENGINE_OK;
    }
    free_memory(block);
    return tengine_error_set(TENGINE_ENOMEM, "out of memory for %zu bytes of the model's metadata",
                             key_bytes + text_bytes);
}

int own_ir_metadata(struct graph* source)
{
    struct ir_metadata* held = source->core->metadata;
    if (held && atomic_load(&held->holder_num) == 1) return TENGINE_OK;
    struct ir_metadata* made = create_ir_metadata();
    int status = made ? TENGINE_OK
                      : tengine_error_set(TENGINE_ENOMEM, "out of memory for the model's metadata");
    const ir_metadata_entry_t* entry;
    for (int i = 0; status == TENGINE_OK && (entry = get_any_ir_metadata(held, i)) != NULL; ++i)
        status = add_ir_metadata(made, entry);
    if (status < 0) {
        release_ir_metadata(made);
        return status;
    }
    release_ir_metadata(held);
    source->core->metadata = made;
    return TENGINE_OK;
}

static const ir_metadata_entry_t* at(const struct ir_metadata* metadata, int index)
{
    return get_vector_data(metadata->entries, index);
}

static bool is_of_node(const ir_metadata_entry_t* entry)
{
    return entry->kind == IR_METADATA_NODE;
}

static int compare_names(const void* left, const void* right)
{
    return strcmp(((const ir_metadata_entry_t*)left)->key,
                  ((const ir_metadata_entry_t*)right)->key);
}

// Moves the entries of nodes to the end.
static int part_entries(struct vector* entries)
{
    const int number = get_vector_num(entries);
    ir_metadata_entry_t* list = get_vector_data(entries, 0);
    int front = 0;
    for (int i = 0; i < number; ++i) {
        if (is_of_node(&list[i])) continue;
        const ir_metadata_entry_t entry = list[i];
        list[i] = list[front];
        list[front++] = entry;
    }
    return front;
}

void order_ir_metadata(struct ir_metadata* metadata)
{
    const int number = get_vector_num(metadata->entries);
    const int first = part_entries(metadata->entries);
    if (first < number)
        sort_items(get_vector_data(metadata->entries, first), (size_t)(number - first),
                   sizeof(ir_metadata_entry_t), compare_names);
}

struct ir_metadata* find_ir_metadata(const struct graph* graph)
{
    const struct graph* owner = graph->core->source ? graph->core->source : graph;
    return owner->core->metadata;
}

const ir_metadata_entry_t* get_any_ir_metadata(const struct ir_metadata* metadata, int index)
{
    return metadata ? at(metadata, index) : NULL;
}

int count_ir_metadata(const struct ir_metadata* metadata, int kind)
{
    int number = 0;
    const ir_metadata_entry_t* entry;
    for (int i = 0; (entry = get_any_ir_metadata(metadata, i)) != NULL; ++i)
        number += entry->kind == kind;
    return number;
}

const ir_metadata_entry_t* get_ir_metadata(const struct ir_metadata* metadata, int kind, int index)
{
    const ir_metadata_entry_t* entry;
    for (int i = 0; (entry = get_any_ir_metadata(metadata, i)) != NULL; ++i)
        if (entry->kind == kind && index-- == 0) return entry;
    return NULL;
}

const char* find_ir_property(const struct ir_metadata* metadata, const char* key)
{
    const ir_metadata_entry_t* entry;
    for (int i = 0; (entry = get_any_ir_metadata(metadata, i)) != NULL; ++i)
        if (entry->kind == IR_METADATA_PROPERTY && strcmp(entry->key, key) == 0) return entry->text;
    return "";
}

const char* match_ir_property(const ir_metadata_entry_t* entry, const char* prefix)
{
    const size_t length = strlen(prefix);
    const bool matches =
        entry->kind == IR_METADATA_PROPERTY && strncmp(entry->key, prefix, length) == 0;
    return matches ? entry->key + length : NULL;
}

const char* find_ir_node_doc_string(const struct ir_metadata* metadata, const char* node_name)
{
    if (!metadata) return "";
    // The entries of nodes come last: binary search among all.
    int begin = 0, end = get_vector_num(metadata->entries);
    while (begin < end) {
        const int middle = begin + (end - begin) / 2;
        const ir_metadata_entry_t* entry = at(metadata, middle);
        if (is_of_node(entry) && strcmp(entry->key, node_name) >= 0)
            end = middle;
        else
            begin = middle + 1;
    }
    const ir_metadata_entry_t* found = at(metadata, begin);
    return found && strcmp(found->key, node_name) == 0 ? found->text : "";
}
