// SPDX-License-Identifier: Apache-2.0
// placement.h: the variants of a model.
#include "graph/variant.h"

#include <stdio.h>
#include <string.h>

#include "api/check.h"
#include "graph/model_part.h"
#include "graph/option.h"
#include "optimizer/optimizer.h"
#include "tengine/placement.h"

int tengine_graph_get_variant_number(graph_t graph)
{
    const api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_idle(target, __func__) < 0) return api_failure();
    return count_ir_variants(target->graph);
}

static void print_options(const ir_variant_t* variant, char* text, size_t capacity)
{
    size_t used = 0;
    for (int i = 0; i < get_vector_num(variant->options) && used < capacity; ++i) {
        const ir_key_value_t* option = get_vector_data(variant->options, i);
        used += (size_t)snprintf(text + used, capacity - used, "%s%s=%s", i > 0 ? "," : "",
                                 option->key, option->value);
    }
}

static bool has_same_bytes(const struct graph* model, const ir_variant_t* variant, int end,
                           const ir_model_part_t* part)
{
    for (int i = 0; i < end; ++i) {
        const ir_model_part_t* other = get_ir_whole_model_part(model, i);
        if (memcmp(other->bytes->digest, part->bytes->digest, SHA256_BYTES) == 0 &&
            has_ir_variant_part(variant, other->bytes->fingerprint))
            return true;
    }
    return false;
}

static void count_parts(const struct graph* model, const ir_variant_t* variant,
                        struct tengine_variant* out_variant)
{
    const int number = count_ir_whole_model_parts(model);
    for (int i = 0; i < number; ++i) {
        const ir_model_part_t* part = get_ir_whole_model_part(model, i);
        if (!has_ir_variant_part(variant, part->bytes->fingerprint)) continue;
        ++out_variant->part_number;
        if (!has_same_bytes(model, variant, i, part))
            out_variant->bytes += (int64_t)part->bytes->size;
    }
}

static bool is_forced(const struct graph* model)
{
    return *get_ir_context_option(model->attribute->context, "model.variant") != '\0';
}

static int judge(const api_graph_t* target, int index, struct tengine_variant* made)
{
    const struct graph* model = target->graph;
    const ir_variant_t* taken = get_ir_taken_variant(model);
    const int prepared = get_ir_variant_precision(model);
    const int precision = prepared >= 0 ? prepared : target->thread.precision;
    TENGINE_RETURN_IF_ERROR(
        judge_ir_variant(model, index, precision, made->reason, sizeof made->reason));
    made->is_usable = made->reason[0] == '\0';
    made->is_taken = taken && taken == get_ir_variant(model, index);
    if (made->is_taken && made->is_usable)
        snprintf(made->reason, sizeof made->reason, "%s",
                 is_forced(model) ? "the option model.variant names it" : "the best one that fits");
    else if (made->is_usable && taken)
        snprintf(made->reason, sizeof made->reason, "it fits, variant '%.60s' comes first",
                 taken->name);
    return TENGINE_OK;
}

int tengine_graph_get_variant(graph_t graph, int index, struct tengine_variant* out_variant,
                              size_t size)
{
    const api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_struct(out_variant, size, __func__, "out_variant") < 0 ||
        check_idle(target, __func__) < 0 ||
        check_index(index, count_ir_variants(target->graph), __func__, "variants") < 0)
        return api_failure();
    const ir_variant_t* variant = get_ir_variant(target->graph, index);
    struct tengine_variant made = {.precision = variant->precision};
    snprintf(made.name, sizeof made.name, "%s", variant->name);
    snprintf(made.devices, sizeof made.devices, "%s", variant->devices);
    snprintf(made.chip, sizeof made.chip, "%s", variant->chip);
    snprintf(made.driver, sizeof made.driver, "%s", variant->driver);
    print_options(variant, made.options, sizeof made.options);
    count_parts(target->graph, variant, &made);
    if (judge(target, index, &made) < 0) return api_failure();
    give_struct(&made, sizeof made, out_variant, size);
    return 0;
}
