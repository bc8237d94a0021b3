// SPDX-License-Identifier: Apache-2.0
#include "scheduler/fingerprint.h"

#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "graph/context.h"
#include "graph/graph.h"
#include "graph/graph_pool.h"
#include "graph/late_constant.h"
#include "operator/param.h"
#include "scheduler/failure.h"
#include "tengine/fixed_point.h"

// Numbers the tensors in the order in which the nodes mention them.
typedef struct digest
{
    sha256_t hash;
    int32_t* number_of;  // by index in the graph; -1: not mentioned yet
    int32_t tensor_num;  // mentioned so far
    thread_pool_t* pool;
} digest_t;

static void add_number(digest_t* digest, int64_t number)
{
    update_sha256_number(&digest->hash, number);
}

// ---- constants ----

static void hash_data(const digest_t* digest, const void* data, size_t bytes,
                      uint8_t out_digest[SHA256_BYTES])
{
    find_sha256_of_pieces(digest->pool, data, bytes, out_digest);
}

// The hash of a constant that passes have made of the model's, which is kept with its values.
static void find_pack_hash(const digest_t* digest, const struct tensor* tensor,
                           uint8_t out_digest[SHA256_BYTES])
{
    struct graph_pool* pool = tensor->core->pack_pool;
    const size_t bytes = get_ir_tensor_bytes(tensor);
    if (get_graph_pack_digest(pool, tensor->core->pack, bytes, out_digest)) return;
    hash_data(digest, tensor->data, bytes, out_digest);
    set_graph_pack_digest(pool, tensor->core->pack, bytes, out_digest);
}

// The hash of the values that a constant has or, if it is late, is made of. That of the model's
// constant is kept with it for the next preparation; other values belong to this preparation alone.
static void find_hash(const digest_t* digest, const struct graph* graph,
                      const struct tensor* tensor, uint8_t out_digest[SHA256_BYTES])
{
    const ir_late_values_t* late = find_ir_late_values(tensor);
    const void* data = late ? late->data : tensor->data;
    const size_t bytes =
        late ? (size_t)late->elem_num * sizeof(float) : get_ir_tensor_bytes(tensor);
    const struct tensor* origin = find_ir_origin(graph, tensor);
    if (origin && !origin->core->digest)
        origin->core->digest = alloc_memory(sizeof *origin->core->digest);
    ir_digest_t* known = origin ? origin->core->digest : NULL;
    const uint64_t revision = graph->core->source ? graph->core->source->core->revision : 0;
    if (known && known->found && known->revision == revision) {
        memcpy(out_digest, known->bytes, SHA256_BYTES);
        return;
    }
    hash_data(digest, data, bytes, out_digest);
    if (!known) return;
    memcpy(known->bytes, out_digest, SHA256_BYTES);
    known->found = true;
    known->revision = revision;
}

// Hashes a constant. A late constant is hashed as its source, the way it is made, and its type.
static void add_constant(digest_t* digest, const struct graph* graph, const struct tensor* tensor)
{
    const ir_late_values_t* late = find_ir_late_values(tensor);
    uint8_t hash[SHA256_BYTES];
    if (tensor->core->pack && !late)
        find_pack_hash(digest, tensor, hash);
    else
        find_hash(digest, graph, tensor, hash);
    update_sha256(&digest->hash, hash, sizeof hash);
    for (int i = 0; late && i < 2; ++i)
        add_number(digest, late->sizes[i]);
}

// ---- the graph ----

static void add_scales(digest_t* digest, const struct tensor* tensor)
{
    const int number = tensor->quant_param_num;
    add_number(digest, number);
    if (number == 0) return;
    const float* scales = number == 1 ? &tensor->scale : tensor->scale_list;
    const int* zero_points = number == 1 ? &tensor->zero_point : tensor->zp_list;
    add_number(digest, tensor->quant_axis);
    update_sha256(&digest->hash, scales, sizeof *scales * (size_t)number);
    update_sha256(&digest->hash, zero_points, sizeof *zero_points * (size_t)number);
}

static void describe_tensor(digest_t* digest, const struct graph* graph,
                            const struct tensor* tensor)
{
    const bool is_constant = tensor->tensor_type == TENSOR_TYPE_CONST;
    add_number(digest, is_constant);
    add_number(digest, tensor->data_type);
    add_number(digest, tensor->layout);
    add_number(digest, tensor->shape_set ? tensor->dim_num : -1);
    for (int i = 0; i < tensor->dim_num; ++i)
        add_number(digest, tensor->dims[i]);
    add_scales(digest, tensor);
    if (is_constant) add_constant(digest, graph, tensor);
}

// Hashes the number of a tensor; at the first mention also its contents.
static void add_tensor(digest_t* digest, const struct graph* graph, int32_t index)
{
    if (index < 0) {
        add_number(digest, -1);
        return;
    }
    int32_t* number = &digest->number_of[index];
    const bool is_new = *number < 0;
    if (is_new) *number = digest->tensor_num++;
    add_number(digest, *number);
    if (is_new) describe_tensor(digest, graph, graph->tensor_list[index]);
}

static void add_tensors(digest_t* digest, const struct graph* graph, const int32_t* tensors,
                        int number)
{
    add_number(digest, number);
    for (int i = 0; i < number; ++i)
        add_tensor(digest, graph, tensors[i]);
}

static void add_node(digest_t* digest, const struct node* node)
{
    digest_op(&digest->hash, &node->op);
    add_number(digest, node->dynamic_shape);
    add_tensors(digest, node->graph, node->input_tensors, node->input_num);
    add_tensors(digest, node->graph, node->output_tensors, node->output_num);
}

static int add_part(digest_t* digest, const struct subgraph* part)
{
    add_number(digest, part->node_num);
    // The hash of a run that rounds as ever is the one that it was.
    if (part->graph->run_options->rounding != IR_ROUNDING_NEAREST)
        add_number(digest, part->graph->run_options->rounding);
    for (int i = 0; i < part->node_num; ++i) {
        const struct node* node = part->graph->node_list[part->node_list[i]];
        if (node->core->custom_kernel)
            return tengine_error_set(TENGINE_ENOENT, "node '%s' has a custom kernel", node->name);
        add_node(digest, node);
    }
    add_tensors(digest, part->graph, part->input_tensor_list, part->input_num);
    add_tensors(digest, part->graph, part->output_tensor_list, part->output_num);
    return TENGINE_OK;
}

// ---- the device ----

static int compare_keys(const void* a, const void* b)
{
    return strcmp(((const ir_key_value_t*)a)->key, ((const ir_key_value_t*)b)->key);
}

// Options are hashed in the order of their keys, not in the order in which they were set.
static int add_options(digest_t* digest, const ir_context_device_t* entry)
{
    const int number = entry ? get_vector_num(entry->key_values) : 0;
    add_number(digest, number);
    if (number == 0) return TENGINE_OK;
    ir_key_value_t* sorted = alloc_memory(sizeof *sorted * (size_t)number);
    if (!sorted) return tengine_error_set(TENGINE_ENOMEM, "out of memory for a fingerprint");
    memcpy(sorted, get_vector_data(entry->key_values, 0), sizeof *sorted * (size_t)number);
    sort_items(sorted, (size_t)number, sizeof *sorted, compare_keys);
    for (int i = 0; i < number; ++i) {
        update_sha256_text(&digest->hash, sorted[i].key);
        update_sha256_text(&digest->hash, sorted[i].value);
    }
    free_memory(sorted);
    return TENGINE_OK;
}

int find_ir_compatibility(const struct subgraph* part, struct device* device,
                          char out_text[IR_COMPATIBILITY_SIZE])
{
    memset(out_text, 0, IR_COMPATIBILITY_SIZE);
    if (!device->interface->compatibility) return TENGINE_OK;
    const int status = device->interface->compatibility(device, part, out_text);
    out_text[IR_COMPATIBILITY_SIZE - 1] = '\0';
    if (status == 0) return TENGINE_OK;
    return fail_ir_entry(device, "compatibility", part->index, part->node_num, status);
}

static int add_device(digest_t* digest, const struct subgraph* part, struct device* device)
{
    const ir_context_t* context = part->graph->attribute->context;
    char text[IR_COMPATIBILITY_SIZE];
    update_sha256_text(&digest->hash, device->name);
    TENGINE_RETURN_IF_ERROR(find_ir_compatibility(part, device, text));
    update_sha256_text(&digest->hash, text);
    return add_options(digest, context ? find_ir_context_device(context, device) : NULL);
}

int find_ir_fingerprint(const struct subgraph* part, struct device* device, int version,
                        thread_pool_t* pool, uint8_t out_fingerprint[SHA256_BYTES])
{
    const size_t bytes = sizeof(int32_t) * (size_t)part->graph->tensor_num;
    digest_t digest = {.number_of = alloc_memory(bytes), .pool = pool};
    if (!digest.number_of)
        return tengine_error_set(TENGINE_ENOMEM, "out of memory for a fingerprint");
    memset(digest.number_of, 0xff, bytes);  // all -1
    start_sha256(&digest.hash);
    add_number(&digest, version);
    int status = add_device(&digest, part, device);
    if (status == TENGINE_OK) status = add_part(&digest, part);
    finish_sha256(&digest.hash, out_fingerprint);
    free_memory(digest.number_of);
    return status;
}
