// SPDX-License-Identifier: Apache-2.0
#include "operator/node_part.h"

#include "base/text_hash.h"
#include "graph/graph.h"
#include "graph/model_part.h"
#include "operator/operator.h"

// Set in keys of nodes, not in indices.
#define NODE_KEY_BIT (UINT64_C(1) << 63)

uint64_t find_ir_node_key(const struct node* node)
{
    uint64_t hash = hash_text(HASH_START, node->name);
    hash = hash_text(hash, get_ir_node_domain(node));
    hash = hash_text(hash, get_ir_node_op(node));
    for (int i = 0; i < node->output_num; ++i) {
        const struct tensor* output = get_ir_node_output(node, i);
        hash = hash_text(hash, output ? output->name : "");
    }
    return hash | NODE_KEY_BIT;
}

int get_ir_node_compiled_part(const struct node* node, const struct device* device)
{
    const struct graph* source = node->graph->core->source;
    if (!source || count_ir_model_parts(source) == 0) return 0;
    const uint32_t options = hash_ir_device_options(node->graph, device);
    int found = find_ir_model_part(source, find_ir_node_key(node), device, options);
    const int32_t index = node->core->source_index;
    if (found < 0 && index >= 0)
        found = find_ir_model_part(source, (uint64_t)index, device, options);
    return found + 1;
}
