// SPDX-License-Identifier: Apache-2.0
#include "scheduler/part_store.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/minimal.h"
#include "graph/core.h"
#include "graph/graph_pool.h"
#include "graph/hint.h"
#include "graph/model_part.h"
#include "graph/option.h"
#include "graph/prepared.h"
#include "graph/variant.h"
#include "operator/node_part.h"
#include "optimizer/optimizer.h"
#include "scheduler/failure.h"
#include "scheduler/fingerprint.h"
#include "scheduler/part_report.h"
#include "tengine/inspect.h"
#include "tengine/log.h"
#include "tengine/version.h"

// A build for compiled files keeps nothing.
static const char* find_folder(const ir_context_t* context)
{
    return IS_RUNTIME_ONLY ? NULL : find_ir_part_cache(context);
}

// The stores in which a part is looked up and stored.
typedef struct stores
{
    const char* folder;    // NULL: none
    struct graph* source;  // the model
    bool keeps_in_model;
    thread_pool_t* pool;  // threads that hash; NULL: none
} stores_t;

static bool keeps_in_model(const ir_context_t* context, const struct device* device)
{
    if (IS_RUNTIME_ONLY || get_ir_context_number(context, "model.keep_parts") == 0) return false;
    return device != find_default_device() ||
           get_ir_context_number(context, "model.keep_host_parts") != 0;
}

static stores_t find_stores(const struct subgraph* part, const struct device* device)
{
    const ir_context_t* context = part->graph->attribute->context;
    return (stores_t){.folder = find_folder(context),
                      .source = (struct graph*)part->graph->core->source,
                      .keeps_in_model = keeps_in_model(context, device)};
}

// ---- finding ----

static bool is_unaltered(const ir_model_bytes_t* bytes, thread_pool_t* pool)
{
    if (bytes->checksum.words[0] != 0 || bytes->checksum.words[1] != 0) {
        const checksum_t sum = find_checksum(bytes->data, bytes->size);
        return memcmp(&sum, &bytes->checksum, sizeof sum) == 0;
    }
    uint8_t digest[SHA256_BYTES];
    find_sha256_of_pieces(pool, bytes->data, bytes->size, digest);
    return memcmp(digest, bytes->digest, SHA256_BYTES) == 0;
}

static int copy_bytes(const ir_model_bytes_t* bytes, ir_kept_part_t* out_found)
{
    TENGINE_RETURN_IF_ERROR(map_zeroes(bytes->size + 1, &out_found->file));
    memcpy(out_found->file.bytes, bytes->data, bytes->size);
    out_found->bytes = (const uint8_t*)out_found->file.bytes;
    return TENGINE_OK;
}

// The bytes of a file in memory that the program gave are not aligned.
static void find_in_model(const stores_t* stores, const struct device* device, int part_index,
                          bool isolated, ir_stored_part_t* stored)
{
    const ir_model_bytes_t* bytes = find_ir_model_bytes(stores->source, stored->fingerprint);
    if (!bytes) return;
    if (!is_unaltered(bytes, stores->pool)) {
        TLOG_WARNING(
            "part %d: the model's part for %s has been altered: its bytes have another "
            "hash; the part is compiled again",
            part_index, device->name);
        return;
    }
    ir_kept_part_t found = {.bytes = bytes->data, .size = bytes->size};
    if ((isolated || (uintptr_t)bytes->data % IR_SINK_HEAD_BYTES != 0) &&
        copy_bytes(bytes, &found) < 0) {
        TLOG_WARNING("part %d: %s; the part is compiled again", part_index,
                     tengine_error_message());
        return;
    }
    stored->found = found;
    stored->is_in_model = true;
    stored->origin = TENGINE_PART_FROM_MODEL;
}

static void find_in_folder(const stores_t* stores, int part_index, ir_stored_part_t* stored)
{
    const int status =
        open_ir_kept_part(stores->folder, stored->fingerprint, stores->pool, &stored->found);
    if (status == TENGINE_OK)
        stored->origin = TENGINE_PART_FROM_CACHE;
    else if (status != TENGINE_ENOENT)
        TLOG_WARNING("part %d: %s; the part is compiled again", part_index,
                     tengine_error_message());
}

static void find_in_stores(const struct subgraph* part, struct device* device,
                           const stores_t* stores, bool isolated, ir_stored_part_t* stored)
{
    const int status =
        find_ir_fingerprint(part, device, TENGINE_VERSION_MAJOR, stores->pool, stored->fingerprint);
    if (status < 0) {
        if (status != TENGINE_ENOENT)
            TLOG_WARNING("%s; parts that were compiled earlier are not looked up",
                         tengine_error_message());
        return;
    }
    stored->is_kept = stores->folder || stores->keeps_in_model;
    find_in_model(stores, device, part->index, isolated, stored);
    if (!IS_RUNTIME_ONLY && !stored->found.bytes && stores->folder)
        find_in_folder(stores, part->index, stored);
}

void find_ir_stored_part(const struct subgraph* part, struct device* device, bool isolated,
                         ir_stored_part_t* stored)
{
    stores_t stores = find_stores(part, device);
    stored->origin = TENGINE_PART_COMPILED;
    const bool keeps = stores.folder || stores.keeps_in_model;
    if (!keeps && count_ir_model_parts(stores.source) == 0) return;
    if ((!IS_RUNTIME_ONLY && !device->interface->save) || !device->interface->load) return;
    // Without threads the calling thread hashes.
    if (share_graph_pool(part->graph, &stores.pool) < 0) tengine_error_clear();
    find_in_stores(part, device, &stores, isolated, stored);
    if (stores.pool) leave_graph_pool(part->graph->core->pool);
}

// Lets the device load the bytes found; after a failure they are dropped. `next`: the next step,
// for the log.
static bool load_found(struct subgraph* subgraph, int part_index, const char* next,
                       ir_stored_part_t* stored)
{
    struct device* device = subgraph->device;
    tengine_error_clear();
    const int status =
        device->interface->load(device, subgraph, stored->found.bytes, stored->found.size);
    if (status == 0) {
        TLOG_INFO("part %d (%d nodes): %s has loaded %zu bytes that it compiled earlier",
                  part_index, subgraph->node_num, device->name, stored->found.size);
        return true;
    }
    fail_ir_entry(device, "load", part_index, subgraph->node_num, status);
    // ENOTSUP: the part may be for another machine, such as a board, so it stays in the model.
    if (status == TENGINE_ENOTSUP) {
        TLOG_INFO("%s; %s", tengine_error_message(), next);
    } else {
        TLOG_WARNING("%s; %s", tengine_error_message(), next);
        stored->is_in_model = false;
    }
    close_ir_kept_part(&stored->found);
    stored->origin = TENGINE_PART_COMPILED;
    return false;
}

// A device that refuses the model's part may have a newer driver. The folder then has the part that
// the device compiled after the first refusal.
static void find_in_folder_instead(const struct subgraph* subgraph, int part_index,
                                   const char* folder, ir_stored_part_t* stored)
{
    stores_t stores = {.folder = folder};
    if (share_graph_pool(subgraph->graph, &stores.pool) < 0) tengine_error_clear();
    find_in_folder(&stores, part_index, stored);
    if (stores.pool) leave_graph_pool(subgraph->graph->core->pool);
}

bool load_ir_stored_part(struct subgraph* subgraph, int part_index, ir_stored_part_t* stored)
{
    static const char compiles[] = "the part is compiled again";
    if (!stored->found.bytes) return false;
    const char* folder = stored->origin == TENGINE_PART_FROM_MODEL
                             ? find_folder(subgraph->graph->attribute->context)
                             : NULL;
    const char* next = folder ? "the part is looked up in the folder of compiled parts" : compiles;
    if (load_found(subgraph, part_index, next, stored)) return true;
    if (IS_RUNTIME_ONLY || !folder) return false;
    find_in_folder_instead(subgraph, part_index, folder, stored);
    return stored->found.bytes && load_found(subgraph, part_index, compiles, stored);
}

// ---- keeping ----

static void drop_saved(ir_stored_part_t* stored)
{
    free_memory(stored->sink.bytes);
    stored->sink = (struct ir_sink){.bytes = NULL};
}

void save_ir_stored_part(struct subgraph* subgraph, int part_index, ir_stored_part_t* stored)
{
    if (IS_RUNTIME_ONLY || !stored->is_kept) return;
    struct device* device = subgraph->device;
    tengine_error_clear();
    const int status = device->interface->save(device, subgraph, &stored->sink);
    if (status == 0) return;
    drop_saved(stored);
    if (status == TENGINE_ENOENT) return;
    fail_ir_entry(device, "save", part_index, subgraph->node_num, status);
    TLOG_WARNING("%s; the part is not kept", tengine_error_message());
}

// The source nodes that the part's nodes stand for. The source of a body is a copy that may have
// its nodes in another order, so the list is empty.
static int find_nodes(const struct subgraph* part, ir_model_part_t* made)
{
    if (part->graph->core->source->core->outer) return TENGINE_OK;
    int32_t* nodes = alloc_memory(sizeof *nodes * (size_t)part->node_num);
    if (!nodes) return tengine_error_set(TENGINE_ENOMEM, "out of memory for a list of nodes");
    int number = 0;
    for (int i = 0; i < part->node_num; ++i) {
        const int32_t index = part->graph->node_list[part->node_list[i]]->core->source_index;
        if (index >= 0) nodes[number++] = index;
    }
    const int status = set_ir_model_part_nodes(made, nodes, number);
    free_memory(nodes);
    return status;
}

static int find_keys(const struct subgraph* part, ir_model_part_t* made)
{
    uint64_t* keys = alloc_memory(sizeof *keys * (size_t)part->node_num);
    if (!keys) return tengine_error_set(TENGINE_ENOMEM, "out of memory for a list of nodes");
    for (int i = 0; i < part->node_num; ++i)
        keys[i] = find_ir_node_key(part->graph->node_list[part->node_list[i]]);
    const int status = set_ir_model_part_keys(made, keys, part->node_num);
    free_memory(keys);
    return status;
}

// Describes the saved bytes, of which `memory` gets a copy.
static int describe_bytes(const struct subgraph* part, struct device* device,
                          const ir_stored_part_t* stored, const uint8_t* data, size_t size,
                          mapped_file_t* memory, ir_model_bytes_t* out_bytes)
{
    TENGINE_RETURN_IF_ERROR(find_ir_compatibility(part, device, out_bytes->target));
    TENGINE_RETURN_IF_ERROR(map_zeroes(size + 1, memory));  // a device may save nothing
    memcpy(memory->bytes, data, size);
    memcpy(out_bytes->fingerprint, stored->fingerprint, SHA256_BYTES);
    find_sha256_of_pieces(NULL, data, size, out_bytes->digest);
    out_bytes->checksum = find_checksum(data, size);
    out_bytes->data = memory->bytes;
    out_bytes->size = size;
    return TENGINE_OK;
}

// Lets this part also use the bytes that the model has of an equal part.
static int keep_in_model(struct graph* source, const struct subgraph* part, struct device* device,
                         const ir_stored_part_t* stored, const uint8_t* data, size_t size)
{
    ir_model_bytes_t bytes = {.size = 0};
    mapped_file_t memory = {.bytes = NULL};
    if (stored->is_in_model)
        bytes = *find_ir_model_bytes(source, stored->fingerprint);
    else
        TENGINE_RETURN_IF_ERROR(describe_bytes(part, device, stored, data, size, &memory, &bytes));
    ir_model_part_t made = {.options = hash_ir_device_options(part->graph, device)};
    snprintf(made.device, sizeof made.device, "%s", device->name);
    int status = find_nodes(part, &made);
    if (status == TENGINE_OK) status = find_keys(part, &made);
    if (status == TENGINE_OK)
        status = record_ir_variant_part((struct graph*)find_ir_model(source), stored->fingerprint);
    if (status == TENGINE_OK)
        return add_ir_model_part(source, &made, &bytes, memory.bytes ? &memory : NULL);
    release_ir_model_part_lists(&made);
    unmap_file(&memory);
    return status;
}

static int keep(const struct subgraph* part, struct device* device, const stores_t* stores,
                ir_stored_part_t* stored)
{
    const bool is_new = stored->sink.bytes != NULL;
    const uint8_t* bytes = is_new ? stored->sink.bytes + IR_SINK_HEAD_BYTES : stored->found.bytes;
    const size_t size = is_new ? stored->sink.size - IR_SINK_HEAD_BYTES : stored->found.size;
    if (stores->keeps_in_model)
        TENGINE_RETURN_IF_ERROR(keep_in_model(stores->source, part, device, stored, bytes, size));
    if (!stores->folder || !is_new) return TENGINE_OK;
    const double limit =
        get_ir_context_number(part->graph->attribute->context, "cache.limit_mb") * (1 << 20);
    return keep_ir_part(stores->folder, (uint64_t)limit, stored->fingerprint, device->name,
                        &stored->sink);
}

void keep_ir_stored_part(const struct subgraph* part, struct device* device,
                         ir_stored_part_t* stored)
{
    const stores_t stores = find_stores(part, device);
    part->core->origin = stored->origin;
    if (IS_RUNTIME_ONLY) return;
    if (!stored->is_kept || (!stored->sink.bytes && !stored->found.bytes)) return;
    if (keep(part, device, &stores, stored) < 0)
        TLOG_WARNING("part %d is not kept: %s", part->index, tengine_error_message());
    drop_saved(stored);
}

// ---- preparations ----

static int write_preparation(const struct graph* execution, ir_model_bytes_t* bytes,
                             mapped_file_t* memory)
{
    struct ir_sink sink = {.bytes = NULL};
    struct vector* blocks = create_vector(sizeof(ir_arena_block_t), NULL);
    if (!blocks) return tengine_error_set(TENGINE_ENOMEM, "out of memory for a list of blocks");
    int status = list_ir_arena_blocks(execution, blocks);
    if (status == TENGINE_OK)
        status = execution->core->source->core->prepared_format->write(execution, blocks, &sink);
    release_vector(blocks);
    const size_t size = sink.bytes ? sink.size - IR_SINK_HEAD_BYTES : 0;
    if (status == TENGINE_OK) status = map_zeroes(size + 1, memory);
    if (status == TENGINE_OK) {
        memcpy(memory->bytes, sink.bytes + IR_SINK_HEAD_BYTES, size);
        bytes->data = memory->bytes;
        bytes->size = size;
        find_sha256_of_pieces(NULL, bytes->data, size, bytes->digest);
        status = check_ir_preparation(execution, bytes->data, size);
    }
    free_memory(sink.bytes);
    return status;
}

static int add_preparation(const struct graph* execution, const ir_run_options_t* options)
{
    struct graph* source = (struct graph*)execution->core->source;
    ir_model_bytes_t bytes = {.size = 0};
    mapped_file_t memory = {.bytes = NULL};
    TENGINE_RETURN_IF_ERROR(find_ir_preparation_terms(source, options, &bytes));
    const int status = write_preparation(execution, &bytes, &memory);
    if (status == TENGINE_OK) return add_ir_model_preparation(source, &bytes, &memory);
    unmap_file(&memory);
    return status;
}

void keep_ir_preparation(const struct graph* execution, const ir_run_options_t* options)
{
    if (IS_RUNTIME_ONLY || execution->core->source->core->outer) return;
    if (get_ir_context_number(execution->attribute->context, "model.keep_parts") == 0) return;
    if (add_preparation(execution, options) < 0)
        TLOG_INFO("graph '%s': the file has no preparation of it, each start makes its own: %s",
                  execution->name, tengine_error_message());
    tengine_error_clear();
}

void release_ir_stored_part(ir_stored_part_t* stored)
{
    free_memory(stored->sink.bytes);
    close_ir_kept_part(&stored->found);
}
