// SPDX-License-Identifier: Apache-2.0
// Replaces part_store.c in a build that keeps no compiled parts (TENGINE_WITH_PART_CACHE).
#include "graph/option.h"
#include "scheduler/part_store.h"
#include "tengine/log.h"

void find_ir_stored_part(const struct subgraph* part, struct device* device, bool isolated,
                         ir_stored_part_t* stored)
{
    (void)device, (void)isolated, (void)stored;
    const ir_context_t* context = part->graph->attribute->context;
    if (*get_ir_context_option(context, "cache.dir") != '\0' ||
        get_ir_context_number(context, "model.keep_parts") != 0)
        TLOG_WARNING(
            "part %d is not kept: this build needs the CMake option "
            "TENGINE_WITH_PART_CACHE for cache.dir and model.keep_parts",
            part->index);
}

bool load_ir_stored_part(struct subgraph* subgraph, int part_index, ir_stored_part_t* stored)
{
    (void)subgraph, (void)part_index, (void)stored;
    return false;
}

void save_ir_stored_part(struct subgraph* subgraph, int part_index, ir_stored_part_t* stored)
{
    (void)subgraph, (void)part_index, (void)stored;
}

void keep_ir_stored_part(const struct subgraph* part, struct device* device,
                         ir_stored_part_t* stored)
{
    (void)part, (void)device, (void)stored;
}

void release_ir_stored_part(ir_stored_part_t* stored)
{
    (void)stored;
}

void keep_ir_preparation(const struct graph* execution, const ir_run_options_t* options)
{
    (void)execution, (void)options;
}
