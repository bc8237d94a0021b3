// SPDX-License-Identifier: Apache-2.0
// inspect.h, compiled parts: those that a model has.
#include <stdio.h>
#include <string.h>

#include "api/check.h"
#include "graph/core.h"
#include "graph/model_part.h"
#include "graph/prepared.h"
#include "tengine/inspect.h"

static void write_hex(const uint8_t bytes[SHA256_BYTES], char out_text[2 * SHA256_BYTES + 1])
{
    for (int i = 0; i < SHA256_BYTES; ++i)
        snprintf(out_text + 2 * i, 3, "%02x", bytes[i]);
}

int tengine_graph_get_compiled_part_number(graph_t graph)
{
    const api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_idle(target, __func__) < 0) return api_failure();
    return count_ir_whole_model_parts(target->graph);
}

int tengine_graph_get_compiled_part(graph_t graph, int index,
                                    struct tengine_compiled_part* out_part, size_t size)
{
    const api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_struct(out_part, size, __func__, "out_part") < 0 ||
        check_idle(target, __func__) < 0)
        return api_failure();
    const ir_model_part_t* part = index < 0 ? NULL : get_ir_whole_model_part(target->graph, index);
    if (!part)
        return api_result(check_index(index, count_ir_whole_model_parts(target->graph), __func__,
                                      "compiled parts"));
    struct tengine_compiled_part made = {.bytes = (int64_t)part->bytes->size};
    snprintf(made.device, sizeof made.device, "%s", part->device);
    snprintf(made.target, sizeof made.target, "%s", part->bytes->target);
    write_hex(part->bytes->fingerprint, made.fingerprint);
    write_hex(part->bytes->digest, made.hash);
    give_struct(&made, sizeof made, out_part, size);
    return 0;
}

// ---- preparations ----

int tengine_graph_get_model_preparation_number(graph_t graph)
{
    const api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_idle(target, __func__) < 0) return api_failure();
    return count_ir_model_preparations(target->graph);
}

static int check_hash(const ir_model_bytes_t* bytes)
{
    uint8_t digest[SHA256_BYTES];
    find_sha256_of_pieces(NULL, bytes->data, bytes->size, digest);
    if (memcmp(digest, bytes->digest, sizeof digest) == 0) return TENGINE_OK;
    return tengine_error_set(TENGINE_EFORMAT,
                             "the preparation for %s has been altered: its hash differs",
                             bytes->target);
}

static int describe_preparation(const struct graph* graph, const ir_model_bytes_t* bytes,
                                struct tengine_model_preparation* out_made)
{
    ir_prepared_memory_t memory = {0};
    TENGINE_RETURN_IF_ERROR(check_hash(bytes));
    TENGINE_RETURN_IF_ERROR(
        graph->core->prepared_format->measure(bytes->data, bytes->size, &memory));
    snprintf(out_made->terms, sizeof out_made->terms, "%s", bytes->target);
    out_made->bytes = (int64_t)bytes->size;
    out_made->between_bytes = memory.between;
    out_made->arena_bytes = memory.arenas;
    out_made->part_number = memory.part_num;
    return TENGINE_OK;
}

int tengine_graph_get_model_preparation(graph_t graph, int index,
                                        struct tengine_model_preparation* out_preparation,
                                        size_t size)
{
    const api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_struct(out_preparation, size, __func__, "out_preparation") < 0 ||
        check_idle(target, __func__) < 0 ||
        check_index(index, count_ir_model_preparations(target->graph), __func__, "preparations") <
            0)
        return api_failure();
    struct tengine_model_preparation made = {.bytes = 0};
    if (describe_preparation(target->graph, get_ir_model_preparation(target->graph, index), &made) <
        0)
        return api_failure();
    give_struct(&made, sizeof made, out_preparation, size);
    return 0;
}
