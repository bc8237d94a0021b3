// SPDX-License-Identifier: Apache-2.0
// Compiled parts that belong to a model: they came with its file, or were kept when it was prepared
// (option model.keep_parts), and go into the tmfile that it is saved as.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mapped_file.h"
#include "base/sha256.h"
#include "tengine/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ir_model_part
{
    uint8_t fingerprint[SHA256_BYTES];   // see scheduler/fingerprint.h
    uint8_t digest[SHA256_BYTES];        // of the device's bytes
    char device[64];                     // its name, for people
    char target[IR_COMPATIBILITY_SIZE];  // what its compatibility() said, for people
    const void* bytes;                   // of the device
    size_t size;
    mapped_file_t owned;  // the same bytes, when they are the graph's own; else the file's
    int32_t* nodes;       // of the source graph that became it, as far as known, in order
    int32_t node_num;
    bool is_replaced;  // by a later one, but a compiled part may still use the bytes
} ir_model_part_t;

// Adds `part` to those of a source graph; what it owns is the graph's from here on, also after a
// failure. One of the same fingerprint is replaced. ENOMEM.
TENGINE_MUST_USE int add_ir_model_part(struct graph* graph, const ir_model_part_t* part);

// Before that: which nodes of the source graph it consists of, in any order. ENOMEM.
TENGINE_MUST_USE int set_ir_model_part_nodes(ir_model_part_t* part, const int32_t* nodes,
                                             int number);

// How many there are, without those that were replaced, and one of them. 0 for an execution graph.
int count_ir_model_parts(const struct graph* graph);
const ir_model_part_t* get_ir_model_part(const struct graph* graph, int index);

// NULL: none.
const ir_model_part_t* find_ir_model_part(const struct graph* graph,
                                          const uint8_t fingerprint[SHA256_BYTES]);

#ifdef __cplusplus
}
#endif
