// SPDX-License-Identifier: Apache-2.0
#include "scheduler/part_store.h"

#include "base/alloc.h"
#include "graph/option.h"
#include "scheduler/failure.h"
#include "scheduler/fingerprint.h"
#include "tengine/log.h"

static bool can_store(const struct device* device)
{
    return device->interface->save && device->interface->load;
}

static void find_in_cache(const char* folder, const struct subgraph* part, ir_stored_part_t* stored)
{
    const int status = open_ir_kept_part(folder, stored->fingerprint, &stored->kept);
    if (status == TENGINE_OK || status == TENGINE_ENOENT) return;
    TLOG_WARNING("part %d: %s; it is compiled again", part->index, tengine_error_message());
}

void find_ir_stored_part(const struct subgraph* part, struct device* device,
                         ir_stored_part_t* stored)
{
    const char* folder = find_ir_part_cache(part->graph->attribute->context);
    if (!folder || !can_store(device)) return;
    const int status = find_ir_fingerprint(part, device, stored->fingerprint);
    stored->has_fingerprint = status == TENGINE_OK;
    if (status == TENGINE_OK)
        find_in_cache(folder, part, stored);
    else if (status != TENGINE_ENOENT)
        TLOG_WARNING("%s; the part is not looked up in '%s'", tengine_error_message(), folder);
}

bool load_ir_stored_part(struct subgraph* subgraph, int part_index, ir_stored_part_t* stored)
{
    if (!stored->kept.bytes) return false;
    struct device* device = subgraph->device;
    tengine_error_clear();
    const int status =
        device->interface->load(device, subgraph, stored->kept.bytes, stored->kept.size);
    if (status == 0) {
        TLOG_INFO("part %d (%d nodes): %s has loaded %zu bytes that it compiled earlier",
                  part_index, subgraph->node_num, device->name, stored->kept.size);
        return true;
    }
    fail_ir_entry(device, "load", part_index, subgraph->node_num, status);
    TLOG_WARNING("%s; the part is compiled again", tengine_error_message());
    close_ir_kept_part(&stored->kept);
    return false;
}

void save_ir_stored_part(struct subgraph* subgraph, int part_index, ir_stored_part_t* stored)
{
    if (!stored->has_fingerprint) return;
    struct device* device = subgraph->device;
    tengine_error_clear();
    const int status = device->interface->save(device, subgraph, &stored->sink);
    if (status == 0) return;
    fail_ir_entry(device, "save", part_index, subgraph->node_num, status);
    TLOG_WARNING("%s; the part is not kept", tengine_error_message());
    free_memory(stored->sink.bytes);
    stored->sink = (struct ir_sink){.bytes = NULL};
}

void keep_ir_stored_part(const struct subgraph* part, const struct device* device,
                         ir_stored_part_t* stored)
{
    if (!stored->sink.bytes) return;
    const ir_context_t* context = part->graph->attribute->context;
    const double limit = get_ir_context_number(context, "cache.limit_mb") * (1 << 20);
    if (keep_ir_part(find_ir_part_cache(context), (uint64_t)limit, stored->fingerprint,
                     device->name, &stored->sink) < 0)
        TLOG_WARNING("part %d is not kept: %s", part->index, tengine_error_message());
    free_memory(stored->sink.bytes);
    stored->sink = (struct ir_sink){.bytes = NULL};
}

void release_ir_stored_part(ir_stored_part_t* stored)
{
    free_memory(stored->sink.bytes);
    close_ir_kept_part(&stored->kept);
}
