// SPDX-License-Identifier: Apache-2.0
// A hash table by string and one by address, chained; both have as many buckets.
#include "graph/string_pool.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "graph/core.h"
#include "graph/preparation.h"
#include "graph/sequence.h"

enum
{
    FIRST_BUCKETS = 64  // a power of two, as all their numbers
};
#define MOST_TEXT_BYTES ((size_t)1 << 30)

typedef struct entry
{
    struct entry* next_text;
    struct entry* next_address;
    uint64_t hash;
    size_t length;
    bool kept;
    bool used;  // by an input, during forget_ir_strings()
    char text[];
} entry_t;

struct ir_strings
{
    pthread_mutex_t mutex;
    int holder_num;  // graphs
    size_t num;
    size_t bytes;  // in the entries
    size_t bucket_num;
    entry_t** by_text;
    entry_t** by_address;  // the second half of the same block
};

// ---- holders ----

static struct ir_strings* create_strings(void)
{
    struct ir_strings* made = alloc_memory(sizeof *made);
    if (!made) return NULL;
    pthread_mutex_init(&made->mutex, NULL);
    made->holder_num = 1;
    return made;
}

static struct ir_strings* find_or_create(const struct graph* graph)
{
    if (!graph->core->strings) graph->core->strings = create_strings();
    if (!graph->core->strings) tengine_error_set(TENGINE_ENOMEM, "out of memory for strings");
    return graph->core->strings;
}

int join_ir_strings(struct graph* graph, const struct graph* other)
{
    struct ir_strings* shared = find_or_create(other);
    if (!shared) return TENGINE_ENOMEM;
    pthread_mutex_lock(&shared->mutex);
    ++shared->holder_num;
    pthread_mutex_unlock(&shared->mutex);
    release_ir_strings(graph->core->strings);
    graph->core->strings = shared;
    return TENGINE_OK;
}

static void free_entries(struct ir_strings* strings)
{
    for (size_t i = 0; i < strings->bucket_num; ++i) {
        for (entry_t* entry = strings->by_text[i]; entry;) {
            entry_t* next = entry->next_text;
            free_memory(entry);
            entry = next;
        }
    }
    free_memory(strings->by_text);
}

void release_ir_strings(struct ir_strings* strings)
{
    if (!strings) return;
    pthread_mutex_lock(&strings->mutex);
    const bool is_last = --strings->holder_num == 0;
    pthread_mutex_unlock(&strings->mutex);
    if (!is_last) return;
    free_entries(strings);
    pthread_mutex_destroy(&strings->mutex);
    free_memory(strings);
}

// ---- strings ----

int check_ir_text(const char* text, size_t length, const char* owner, int64_t index)
{
    for (size_t i = 0; i < length;) {
        const size_t size = text[i] == 0 ? 0 : measure_utf8_character(text + i, length - i);
        if (size == 0)
            return tengine_error_set(
                TENGINE_EINVAL, "%s: string %lld has byte 0x%02x at %zu, which %s", owner,
                (long long)index, (unsigned char)text[i], i,
                text[i] == 0 ? "is NUL: no string may have it" : "is not UTF-8");
        i += size;
    }
    return TENGINE_OK;
}

// FNV-1a.
static uint64_t hash_text(const char* text, size_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; ++i)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return hash;
}

// Fibonacci hashing.
static uint64_t hash_address(const char* address)
{
    return (uint64_t)(uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15) >> 20;
}

static entry_t* find_text(const struct ir_strings* strings, const char* text, size_t length,
                          uint64_t hash)
{
    if (strings->bucket_num == 0) return NULL;
    entry_t* entry = strings->by_text[hash & (strings->bucket_num - 1)];
    while (entry && (entry->hash != hash || entry->length != length ||
                     memcmp(entry->text, text, length) != 0))
        entry = entry->next_text;
    return entry;
}

static entry_t* find_address(const struct ir_strings* strings, const char* address)
{
    if (strings->bucket_num == 0) return NULL;
    entry_t* entry = strings->by_address[hash_address(address) & (strings->bucket_num - 1)];
    while (entry && entry->text != address)
        entry = entry->next_address;
    return entry;
}

static void link_entry(struct ir_strings* strings, entry_t* entry)
{
    const size_t mask = strings->bucket_num - 1;
    entry_t** text = &strings->by_text[entry->hash & mask];
    entry_t** address = &strings->by_address[hash_address(entry->text) & mask];
    entry->next_text = *text;
    entry->next_address = *address;
    *text = entry;
    *address = entry;
}

// Removes all entries from both tables and chains them.
static entry_t* unlink_entries(struct ir_strings* strings)
{
    entry_t* all = NULL;
    for (size_t i = 0; i < strings->bucket_num; ++i) {
        for (entry_t* entry = strings->by_text[i]; entry;) {
            entry_t* next = entry->next_text;
            entry->next_text = all;
            all = entry;
            entry = next;
        }
        strings->by_text[i] = NULL;
        strings->by_address[i] = NULL;
    }
    return all;
}

static int make_room(struct ir_strings* strings)
{
    if (strings->num < strings->bucket_num) return TENGINE_OK;
    const size_t bucket_num = strings->bucket_num ? strings->bucket_num * 2 : FIRST_BUCKETS;
    entry_t** buckets = alloc_memory(sizeof *buckets * bucket_num * 2);
    if (!buckets) return TENGINE_ENOMEM;
    entry_t* all = unlink_entries(strings);
    free_memory(strings->by_text);
    strings->by_text = buckets;
    strings->by_address = buckets + bucket_num;
    strings->bucket_num = bucket_num;
    while (all) {
        entry_t* next = all->next_text;
        link_entry(strings, all);
        all = next;
    }
    return TENGINE_OK;
}

static size_t measure_entry(size_t length)
{
    return sizeof(entry_t) + length + 1;
}

// NULL after setting the error. The graph's limit counts the strings of all graphs that share the
// pool.
static entry_t* find_or_add(const struct graph* graph, const char* text, size_t length)
{
    struct ir_strings* strings = graph->core->strings;
    const uint64_t hash = hash_text(text, length);
    entry_t* entry = find_text(strings, text, length, hash);
    if (entry) return entry;
    const size_t bytes = measure_entry(length);
    if (check_ir_memory(graph, (int64_t)(strings->bytes + bytes), "its strings") < 0) return NULL;
    if (make_room(strings) == TENGINE_OK) entry = alloc_small_memory(bytes);
    if (!entry) {
        tengine_error_set(TENGINE_ENOMEM, "out of memory for a string of %zu bytes", length);
        return NULL;
    }
    if (length > 0) memcpy(entry->text, text, length);
    entry->hash = hash;
    entry->length = length;
    link_entry(strings, entry);
    ++strings->num;
    strings->bytes += bytes;
    return entry;
}

static int intern(const struct graph* graph, const char* text, size_t length, bool kept,
                  const char** out_string)
{
    if (length > MOST_TEXT_BYTES)
        return tengine_error_set(TENGINE_ERANGE, "the string has %zu bytes, expected at most %zu",
                                 length, MOST_TEXT_BYTES);
    struct ir_strings* strings = find_or_create(graph);
    if (!strings) return TENGINE_ENOMEM;
    pthread_mutex_lock(&strings->mutex);
    entry_t* entry = find_or_add(graph, text, length);
    if (entry) entry->kept |= kept;
    pthread_mutex_unlock(&strings->mutex);
    if (!entry) return tengine_error_code();
    *out_string = entry->text;
    return TENGINE_OK;
}

int intern_ir_string(const struct graph* graph, const char* text, size_t length,
                     const char** out_string)
{
    return intern(graph, text, length, false, out_string);
}

int keep_ir_string(const struct graph* graph, const char* text, size_t length,
                   const char** out_string)
{
    return intern(graph, text, length, true, out_string);
}

bool is_ir_string(const struct graph* graph, const char* address)
{
    struct ir_strings* strings = graph->core->strings;
    if (!strings) return false;
    pthread_mutex_lock(&strings->mutex);
    const bool found = find_address(strings, address) != NULL;
    pthread_mutex_unlock(&strings->mutex);
    return found;
}

// ---- of tensors ----

static void mark_element(const struct ir_strings* strings, const ir_element_t* element, bool keep)
{
    const char* const* texts = element->data;
    const size_t num = get_ir_element_bytes(element) / sizeof *texts;
    for (size_t i = 0; i < num; ++i) {
        entry_t* entry = find_address(strings, texts[i]);
        if (entry) *(keep ? &entry->kept : &entry->used) = true;
    }
}

static void mark_tensor(const struct ir_strings* strings, const struct tensor* tensor, bool keep)
{
    if (!tensor->data || get_ir_element_type(tensor->data_type) != TENGINE_DT_STRING) return;
    const bool is_sequence = get_ir_container(tensor->data_type) != 0;
    if (!is_sequence) {
        const ir_element_t element = get_ir_element_of(tensor);
        mark_element(strings, &element, keep);
    }
    for (int i = 0; is_sequence && i < count_ir_sequence(tensor->data); ++i) {
        const ir_element_t element = get_ir_sequence_element(tensor->data, i);
        mark_element(strings, &element, keep);
    }
}

void keep_ir_strings(const struct graph* graph, const struct tensor* tensor)
{
    struct ir_strings* strings = graph->core->strings;
    if (!strings) return;
    pthread_mutex_lock(&strings->mutex);
    mark_tensor(strings, tensor, true);
    pthread_mutex_unlock(&strings->mutex);
}

void forget_ir_strings(const struct graph* source)
{
    struct ir_strings* strings = source->core->strings;
    if (!strings || strings->num == 0) return;
    pthread_mutex_lock(&strings->mutex);
    for (int i = 0; i < source->input_tensor_num; ++i)
        mark_tensor(strings, source->tensor_list[source->input_tensors[i]], false);
    for (entry_t* entry = unlink_entries(strings); entry;) {
        entry_t* next = entry->next_text;
        if (entry->kept || entry->used) {
            entry->used = false;
            link_entry(strings, entry);
        } else {
            --strings->num;
            strings->bytes -= measure_entry(entry->length);
            free_memory(entry);
        }
        entry = next;
    }
    pthread_mutex_unlock(&strings->mutex);
}
