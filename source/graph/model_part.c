// SPDX-License-Identifier: Apache-2.0
#include "graph/model_part.h"

#include <string.h>

#include "base/alloc.h"
#include "base/key_map.h"
#include "base/sort.h"
#include "base/text_hash.h"
#include "graph/body.h"
#include "graph/context.h"
#include "graph/graph.h"
#include "graph/hint.h"
#include "graph/variant.h"
#include "tengine/error.h"
#include "tengine/vector.h"

// Shared by the forms of a graph: a body and its copies in execution graphs.
struct ir_model_parts
{
    int32_t holder_num;            // instances on several threads may be holders
    struct ir_model_parts* model;  // that of the instance it was copied from, whose memory it uses
    struct vector* list;           // ir_model_part_t
    struct vector* contents;       // ir_model_bytes_t*
    struct vector* preparations;   // ir_model_bytes_t*, which are also in `contents`
    struct vector* memory;     // mapped_file_t: a compiled part may use bytes that were replaced
    key_map_t by_fingerprint;  // places in `contents`
    key_map_t by_node;         // places in `list`, by keys; without these by source nodes
    key_map_t by_nodes;        // the same, by a hash of fingerprint and all nodes
    struct ir_variants* variants;  // NULL: none
};

// ---- hashes ----

uint32_t hash_ir_device_options(const struct graph* graph, const struct device* device)
{
    const ir_context_t* context = graph->attribute->context;
    const ir_context_device_t* entry = context ? find_ir_context_device(context, device) : NULL;
    uint64_t sum = 0;
    for (int i = 0; entry && i < get_vector_num(entry->key_values); ++i) {
        const ir_key_value_t* option = get_vector_data(entry->key_values, i);
        sum += hash_text(hash_text(HASH_START, option->key), option->value);
    }
    const uint32_t hash = (uint32_t)(sum ^ sum >> 32);
    return hash ? hash : 1;
}

static uint64_t find_fingerprint_key(const uint8_t fingerprint[SHA256_BYTES])
{
    uint64_t key;
    memcpy(&key, fingerprint, sizeof key);
    return key;
}

// ---- the lists of a part ----

void release_ir_model_part_lists(ir_model_part_t* part)
{
    free_memory(part->keys);
    free_memory(part->nodes);
    part->keys = NULL;
    part->nodes = NULL;
    part->key_num = part->node_num = 0;
}

static int compare_keys(const void* a, const void* b)
{
    const uint64_t left = *(const uint64_t*)a, right = *(const uint64_t*)b;
    return (left > right) - (left < right);
}

static int fail_without_memory(void)
{
    return tengine_error_set(TENGINE_ENOMEM, "out of memory for compiled parts of the model");
}

// NULL also for no items.
static void* copy_items(const void* items, int number, size_t size)
{
    void* copy = number > 0 ? alloc_memory(size * (size_t)number) : NULL;
    if (copy) memcpy(copy, items, size * (size_t)number);
    return copy;
}

int set_ir_model_part_nodes(ir_model_part_t* part, const int32_t* nodes, int number)
{
    int32_t* copy = copy_items(nodes, number, sizeof *nodes);
    if (!copy && number > 0) return fail_without_memory();
    sort_indices(copy, (size_t)number);
    part->nodes = copy;
    part->node_num = number;
    return TENGINE_OK;
}

int set_ir_model_part_keys(ir_model_part_t* part, const uint64_t* keys, int number)
{
    uint64_t* copy = copy_items(keys, number, sizeof *keys);
    if (!copy && number > 0) return fail_without_memory();
    sort_items(copy, (size_t)number, sizeof *copy, compare_keys);
    part->keys = copy;
    part->key_num = number;
    return TENGINE_OK;
}

// ---- holders ----

static void release_part(void* item)
{
    release_ir_model_part_lists(item);
}

static void release_content(void* item)
{
    free_memory(*(ir_model_bytes_t**)item);
}

static void release_memory(void* item)
{
    unmap_file(item);
}

void release_ir_model_parts(struct ir_model_parts* parts)
{
    if (!parts || __atomic_sub_fetch(&parts->holder_num, 1, __ATOMIC_ACQ_REL) > 0) return;
    release_ir_model_parts(parts->model);
    release_vector(parts->list);
    release_vector(parts->preparations);
    release_vector(parts->contents);
    release_vector(parts->memory);
    release_key_map(&parts->by_fingerprint);
    release_key_map(&parts->by_node);
    release_key_map(&parts->by_nodes);
    release_ir_variants(parts->variants);
    free_memory(parts);
}

// NULL when out of memory.
static struct ir_model_parts* find_or_create(struct graph* graph)
{
    if (graph->core->model_parts) return graph->core->model_parts;
    struct ir_model_parts* made = alloc_memory(sizeof *made);
    if (!made) return NULL;
    made->holder_num = 1;
    made->list = create_vector(sizeof(ir_model_part_t), release_part);
    made->contents = create_vector(sizeof(ir_model_bytes_t*), release_content);
    made->memory = create_vector(sizeof(mapped_file_t), release_memory);
    made->preparations = create_vector(sizeof(ir_model_bytes_t*), NULL);
    if (!made->list || !made->contents || !made->memory || !made->preparations) {
        release_ir_model_parts(made);
        return NULL;
    }
    graph->core->model_parts = made;
    return made;
}

int share_ir_model_parts(struct graph* graph, struct graph* copy)
{
    struct ir_model_parts* parts = find_or_create(graph);
    if (!parts) return fail_without_memory();
    __atomic_add_fetch(&parts->holder_num, 1, __ATOMIC_RELAXED);
    copy->core->model_parts = parts;
    return TENGINE_OK;
}

struct ir_variants** find_ir_variants(const struct graph* model)
{
    return model->core->model_parts ? &model->core->model_parts->variants : NULL;
}

struct ir_variants** create_ir_variants_place(struct graph* model)
{
    struct ir_model_parts* parts = find_or_create(model);
    return parts ? &parts->variants : NULL;
}

// ---- adding ----

static ir_model_part_t* at(const struct ir_model_parts* parts, int index)
{
    return get_vector_data(parts->list, index);
}

static ir_model_bytes_t* find_content(const struct ir_model_parts* parts,
                                      const uint8_t fingerprint[SHA256_BYTES])
{
    const key_entry_t* entry = find_key(&parts->by_fingerprint, find_fingerprint_key(fingerprint));
    for (; entry; entry = find_next_key(&parts->by_fingerprint, entry)) {
        ir_model_bytes_t* content =
            *(ir_model_bytes_t**)get_vector_data(parts->contents, entry->value);
        if (memcmp(content->fingerprint, fingerprint, SHA256_BYTES) == 0) return content;
    }
    return NULL;
}

// Replaces the content with this fingerprint by `bytes`.
static int take_content(struct ir_model_parts* parts, const ir_model_bytes_t* bytes,
                        ir_model_bytes_t** out_content)
{
    *out_content = find_content(parts, bytes->fingerprint);
    if (*out_content) {
        **out_content = *bytes;
        return TENGINE_OK;
    }
    ir_model_bytes_t* made = alloc_memory(sizeof *made);
    if (!made || push_vector_data(parts->contents, &made) < 0) {
        free_memory(made);
        return fail_without_memory();
    }
    *made = *bytes;
    *out_content = made;
    return add_key(&parts->by_fingerprint, find_fingerprint_key(bytes->fingerprint),
                   get_vector_num(parts->contents) - 1);
}

// A list of keys or of places, by which a part's nodes are identified.
typedef struct node_list
{
    const void* items;
    size_t bytes;
} node_list_t;

static node_list_t keys_of(const ir_model_part_t* part)
{
    return (node_list_t){part->keys, sizeof *part->keys * (size_t)part->key_num};
}

static node_list_t nodes_of(const ir_model_part_t* part)
{
    return (node_list_t){part->nodes, sizeof *part->nodes * (size_t)part->node_num};
}

static bool is_same_list(node_list_t a, node_list_t b)
{
    return a.bytes == b.bytes && (a.bytes == 0 || memcmp(a.items, b.items, a.bytes) == 0);
}

static uint64_t hash_list(const ir_model_part_t* part, node_list_t list)
{
    return hash_bytes(find_fingerprint_key(part->bytes->fingerprint), list.items, list.bytes);
}

static ir_model_part_t* find_by_list(const struct ir_model_parts* parts,
                                     const ir_model_part_t* part,
                                     node_list_t (*list_of)(const ir_model_part_t* part))
{
    const node_list_t list = list_of(part);
    const key_entry_t* entry = find_key(&parts->by_nodes, hash_list(part, list));
    for (; entry; entry = find_next_key(&parts->by_nodes, entry)) {
        ir_model_part_t* other = at(parts, entry->value);
        // Equal places of nodes say nothing where both have keys.
        const bool may_be_same = other->key_num == 0 || part->key_num == 0 ||
                                 is_same_list(keys_of(other), keys_of(part));
        if (may_be_same && other->bytes == part->bytes && is_same_list(list_of(other), list))
            return other;
    }
    return NULL;
}

// The part with the same nodes, NULL: none. A part from a file of an older version has no keys.
static ir_model_part_t* find_same(const struct ir_model_parts* parts, const ir_model_part_t* part)
{
    ir_model_part_t* same = part->key_num > 0 ? find_by_list(parts, part, keys_of) : NULL;
    return same ? same : find_by_list(parts, part, nodes_of);
}

static int list_nodes(struct ir_model_parts* parts, const ir_model_part_t* part)
{
    const int index = (int)(part - at(parts, 0));
    for (int i = 0; i < part->key_num; ++i)
        TENGINE_RETURN_IF_ERROR(add_key(&parts->by_node, part->keys[i], index));
    for (int i = 0; part->key_num == 0 && i < part->node_num; ++i)
        TENGINE_RETURN_IF_ERROR(add_key(&parts->by_node, (uint64_t)part->nodes[i], index));
    const node_list_t list = part->key_num > 0 ? keys_of(part) : nodes_of(part);
    return add_key(&parts->by_nodes, hash_list(part, list), index);
}

// `old` has the same nodes: it gets the keys that it lacks.
static int renew_part(struct ir_model_parts* parts, ir_model_part_t* old, ir_model_part_t* part)
{
    if (old->key_num > 0 || part->key_num == 0) {
        release_ir_model_part_lists(part);
        return TENGINE_OK;
    }
    release_ir_model_part_lists(old);
    *old = *part;
    return list_nodes(parts, old);
}

static int add_part(struct ir_model_parts* parts, ir_model_part_t* part,
                    const ir_model_bytes_t* bytes)
{
    ir_model_bytes_t* content = NULL;
    const int status = take_content(parts, bytes, &content);
    part->bytes = content;
    ir_model_part_t* same = status < 0 ? NULL : find_same(parts, part);
    if (same) return renew_part(parts, same, part);
    if (status < 0 || push_vector_data(parts->list, part) < 0) {
        release_ir_model_part_lists(part);
        return fail_without_memory();
    }
    return list_nodes(parts, at(parts, get_vector_num(parts->list) - 1));
}

int add_ir_model_part(struct graph* graph, ir_model_part_t* part, const ir_model_bytes_t* bytes,
                      mapped_file_t* memory)
{
    struct ir_model_parts* parts = find_or_create(graph);
    if (!parts || (memory && push_vector_data(parts->memory, memory) < 0)) {
        release_ir_model_part_lists(part);
        if (memory) unmap_file(memory);
        return fail_without_memory();
    }
    return add_part(parts, part, bytes);
}

// ---- preparations ----

int add_ir_model_preparation(struct graph* graph, const ir_model_bytes_t* bytes,
                             mapped_file_t* memory)
{
    struct ir_model_parts* parts = find_or_create(graph);
    if (!parts || (memory && push_vector_data(parts->memory, memory) < 0)) {
        if (memory) unmap_file(memory);
        return fail_without_memory();
    }
    const bool is_new = !find_content(parts, bytes->fingerprint);
    ir_model_bytes_t* content = NULL;
    TENGINE_RETURN_IF_ERROR(take_content(parts, bytes, &content));
    if (!is_new || push_vector_data(parts->preparations, &content) == 0) return TENGINE_OK;
    return fail_without_memory();
}

int count_ir_model_preparations(const struct graph* graph)
{
    const struct ir_model_parts* parts = graph->core->model_parts;
    return parts ? get_vector_num(parts->preparations) : 0;
}

const ir_model_bytes_t* get_ir_model_preparation(const struct graph* graph, int index)
{
    const struct ir_model_parts* parts = graph->core->model_parts;
    return *(ir_model_bytes_t**)get_vector_data(parts->preparations, index);
}

// ---- instances ----

// The part has lists of its own, and the bytes of `from`.
static int copy_part(struct ir_model_parts* parts, const ir_model_part_t* from)
{
    ir_model_part_t copy = *from;
    copy.keys = NULL;
    copy.nodes = NULL;
    int status = set_ir_model_part_keys(&copy, from->keys, from->key_num);
    if (status == TENGINE_OK) status = set_ir_model_part_nodes(&copy, from->nodes, from->node_num);
    if (status == TENGINE_OK) return add_part(parts, &copy, from->bytes);
    release_ir_model_part_lists(&copy);
    return status;
}

int copy_ir_model_parts(const struct graph* graph, struct graph* instance)
{
    struct ir_model_parts* from = graph->core->model_parts;
    if (!from) return TENGINE_OK;
    struct ir_model_parts* parts = find_or_create(instance);
    if (!parts) return fail_without_memory();
    __atomic_add_fetch(&from->holder_num, 1, __ATOMIC_RELAXED);
    parts->model = from;
    for (int i = 0; i < get_vector_num(from->list); ++i)
        TENGINE_RETURN_IF_ERROR(copy_part(parts, at(from, i)));
    return copy_ir_variants(from->variants, &parts->variants);
}

// ---- looking up ----

// `taken` NULL: parts of all variants.
static int find_part_of_key(const struct ir_model_parts* parts, const ir_variant_t* taken,
                            uint64_t key, const struct device* device, uint32_t options)
{
    const key_entry_t* entry = find_key(&parts->by_node, key);
    int of_options = -1, of_others = -1;
    for (; entry; entry = find_next_key(&parts->by_node, entry)) {
        const ir_model_part_t* part = at(parts, entry->value);
        if (strncmp(part->device, device->name, sizeof part->device - 1) != 0) continue;
        if (taken && !has_ir_variant_part(taken, part->bytes->fingerprint)) continue;
        *(part->options == options ? &of_options : &of_others) = entry->value;
    }
    return of_options >= 0 ? of_options : of_others;
}

int find_ir_model_part(const struct graph* graph, uint64_t key, const struct device* device,
                       uint32_t options)
{
    const struct ir_model_parts* parts = graph->core->model_parts;
    if (!parts) return -1;
    const ir_variant_t* taken = get_ir_taken_variant(find_ir_model(graph));
    return find_part_of_key(parts, taken, key, device, options);
}

int count_ir_model_parts(const struct graph* graph)
{
    const struct ir_model_parts* parts = graph->core->model_parts;
    return parts ? get_vector_num(parts->list) : 0;
}

const ir_model_part_t* get_ir_model_part(const struct graph* graph, int index)
{
    const struct ir_model_parts* parts = graph->core->model_parts;
    return parts ? at(parts, index) : NULL;
}

const ir_model_bytes_t* find_ir_model_bytes(const struct graph* graph,
                                            const uint8_t fingerprint[SHA256_BYTES])
{
    const struct ir_model_parts* parts = graph->core->model_parts;
    return parts ? find_content(parts, fingerprint) : NULL;
}

// ---- those of bodies, too ----

static bool count_parts(const struct graph* graph, void* data)
{
    *(int*)data += count_ir_model_parts(graph);
    return true;
}

int count_ir_whole_model_parts(const struct graph* graph)
{
    int number = 0;
    visit_ir_graphs(graph, count_parts, &number);
    return number;
}

typedef struct wanted_part
{
    int index;  // index that is left
    const ir_model_part_t* found;
} wanted_part_t;

static bool find_part(const struct graph* graph, void* data)
{
    wanted_part_t* wanted = data;
    wanted->found = get_ir_model_part(graph, wanted->index);
    wanted->index -= count_ir_model_parts(graph);
    return !wanted->found;
}

const ir_model_part_t* get_ir_whole_model_part(const struct graph* graph, int index)
{
    wanted_part_t wanted = {index, NULL};
    visit_ir_graphs(graph, find_part, &wanted);
    return wanted.found;
}

static bool count_memory(const struct graph* graph, void* data)
{
    const struct ir_model_parts* parts = graph->core->model_parts;
    for (int i = 0; parts && i < get_vector_num(parts->memory); ++i)
        *(size_t*)data += ((const mapped_file_t*)get_vector_data(parts->memory, i))->size;
    return true;
}

size_t count_ir_whole_model_part_memory(const struct graph* graph)
{
    size_t bytes = 0;
    visit_ir_graphs(graph, count_memory, &bytes);
    return bytes;
}
