// SPDX-License-Identifier: Apache-2.0
// Compiled parts that belong to a model: they came with its file, or were stored when it was
// prepared (option model.keep_parts), and are written to the tmfile that it is saved as. Each graph
// of a model, the bodies of its nodes among them, has the parts of its own nodes.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/checksum.h"
#include "base/mapped_file.h"
#include "base/sha256.h"
#include "tengine/device.h"

TENGINE_EXTERN_C_BEGIN

struct ir_model_parts;  // those of a graph

// The bytes that a device has saved. Parts with the same fingerprint share them.
typedef struct ir_model_bytes
{
    uint8_t fingerprint[SHA256_BYTES];   // see scheduler/fingerprint.h
    uint8_t digest[SHA256_BYTES];        // the bytes' SHA-256
    checksum_t checksum;                 // theirs, too; two words of 0: not known
    char target[IR_COMPATIBILITY_SIZE];  // the string of the device's compatibility(), for reports
    const void* data;
    size_t size;
    bool is_in_file;  // they lie in the model's file, not in the graph's memory
} ir_model_bytes_t;

typedef struct ir_model_part
{
    const ir_model_bytes_t* bytes;
    char device[64];   // its name
    uint32_t options;  // hash_ir_device_options(); 0: not known
    // The keys, in order, of the part's nodes in the execution graph (find_ir_node_key(),
    // operator/node_part.h). Files of older versions have none: they name nodes of the source
    // graph.
    uint64_t* keys;
    int32_t key_num;
    int32_t* nodes;  // the source nodes that became these, as far as known, in order
    int32_t node_num;
} ir_model_part_t;

// ---- parts ----

// Adds `part` with a copy of `bytes`, whose data are not copied, to the parts of a source graph.
// The graph owns the lists of the part from then on, and `memory`, in which the data lie (NULL: the
// file or another part owns it); also after a failure. All parts with the fingerprint get these
// bytes, and parts with the same nodes are stored once. ENOMEM.
TENGINE_MUST_USE int add_ir_model_part(struct graph* graph, ir_model_part_t* part,
                                       const ir_model_bytes_t* bytes, mapped_file_t* memory);

// Before that: sets the part's nodes, by places in the source graph or by keys of the execution
// graph, in any order. ENOMEM.
TENGINE_MUST_USE int set_ir_model_part_nodes(ir_model_part_t* part, const int32_t* nodes,
                                             int number);
TENGINE_MUST_USE int set_ir_model_part_keys(ir_model_part_t* part, const uint64_t* keys,
                                            int number);
void release_ir_model_part_lists(ir_model_part_t* part);

// Hashes the options by key that the graph's context has for the device, in any order; never
// 0.
uint32_t hash_ir_device_options(const struct graph* graph, const struct device* device);

// ---- preparations ----

// Adds a preparation (graph/prepared.h): `bytes->fingerprint` is that of its terms, which
// `bytes->target` has in words. It replaces one of the same terms. `memory` as above. ENOMEM.
TENGINE_MUST_USE int add_ir_model_preparation(struct graph* graph, const ir_model_bytes_t* bytes,
                                              mapped_file_t* memory);
// The number of preparations of a source graph, and one of them. 0 for an execution graph.
int count_ir_model_preparations(const struct graph* graph);
const ir_model_bytes_t* get_ir_model_preparation(const struct graph* graph, int index);

// ---- those of a graph ----

// The number of parts, and one of them. 0 for an execution graph.
int count_ir_model_parts(const struct graph* graph);
const ir_model_part_t* get_ir_model_part(const struct graph* graph, int index);

// The parts of a source graph and of the bodies of its nodes, in this order.
int count_ir_whole_model_parts(const struct graph* graph);
const ir_model_part_t* get_ir_whole_model_part(const struct graph* graph, int index);
// Bytes of memory that these take for saved parts.
size_t count_ir_whole_model_part_memory(const struct graph* graph);

// The part of a device, of the variant that the model has taken (graph/variant.h) if it has taken
// one, that has the node with this key (find_ir_node_key(), or in files of older
// versions the place in the source graph), if possible one compiled with these options. -1: none.
int find_ir_model_part(const struct graph* graph, uint64_t key, const struct device* device,
                       uint32_t options);

// The bytes with a fingerprint; NULL: none.
const ir_model_bytes_t* find_ir_model_bytes(const struct graph* graph,
                                            const uint8_t fingerprint[SHA256_BYTES]);

// Shares the parts of `graph` with `copy`, another form of the same graph of a model: parts added
// to one of them are in the other, too. ENOMEM.
TENGINE_MUST_USE int share_ir_model_parts(struct graph* graph, struct graph* copy);
// Gives `instance`, another instance of the same model, the parts that `graph` has now; either may
// get further parts of its own. ENOMEM.
TENGINE_MUST_USE int copy_ir_model_parts(const struct graph* graph, struct graph* instance);
// For the end of a graph. NULL is allowed.
void release_ir_model_parts(struct ir_model_parts* parts);

TENGINE_EXTERN_C_END
