// SPDX-License-Identifier: Apache-2.0
// Compiled parts that outlive the process: looked up by fingerprint before a device compiles, kept
// after it has. The stores are the model (graph/model_part.h), which is asked first, and a folder
// (scheduler/part_cache.h). Nothing here fails a preparation: a failure is logged, and the device
// compiles.
#pragma once

#include "scheduler/part_cache.h"

TENGINE_EXTERN_C_BEGIN

// The entry of one compiled part, from before pre_run until its end. Starts as all zero bytes.
typedef struct ir_stored_part
{
    bool is_kept;      // the compiled part is to be kept: the device is asked to save
    bool is_in_model;  // and the model has the same part, which is as good
    uint8_t fingerprint[SHA256_BYTES];
    int origin;            // TENGINE_PART_*: that of the loaded or compiled part
    ir_kept_part_t found;  // the bytes to load
    struct ir_sink sink;   // the bytes that the device has saved, while they are to be kept
} ir_stored_part_t;

// Finds the kept bytes of a part of an execution graph. `isolated`: the bytes must not be those of
// the model, which the part may outlive.
void find_ir_stored_part(const struct subgraph* part, struct device* device, bool isolated,
                         ir_stored_part_t* stored);

// Lets the device of a compiled subgraph load the bytes found, and after it has refused the model's
// bytes those of the folder; false: it has to compile. Any thread.
bool load_ir_stored_part(struct subgraph* subgraph, int part_index, ir_stored_part_t* stored);

// Lets the device save its compiled part, and writes that to the stores: two steps, for the
// second must not be done by a device that is late.
void save_ir_stored_part(struct subgraph* subgraph, int part_index, ir_stored_part_t* stored);
void keep_ir_stored_part(const struct subgraph* part, struct device* device,
                         ir_stored_part_t* stored);

void release_ir_stored_part(ir_stored_part_t* stored);

TENGINE_EXTERN_C_END
