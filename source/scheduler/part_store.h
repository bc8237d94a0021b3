// SPDX-License-Identifier: Apache-2.0
// Compiled parts that outlive the process. They are looked up by fingerprint before a device
// compiles, and stored after it has. The stores are the model (graph/model_part.h), which comes
// first, and a folder (scheduler/part_cache.h). A failure of a store does not fail a preparation:
// it is logged, and the device compiles.
#pragma once

#include "scheduler/part_cache.h"

TENGINE_EXTERN_C_BEGIN

// The entry of one compiled part, from before pre_run until its end. Starts as all zero bytes.
typedef struct ir_stored_part
{
    bool is_kept;      // the compiled part is to be stored: the device is asked to save
    bool is_in_model;  // the model has an equal part, which makes storing it unnecessary
    uint8_t fingerprint[SHA256_BYTES];
    int origin;            // TENGINE_PART_*: of the loaded or compiled part
    ir_kept_part_t found;  // the bytes to load
    struct ir_sink sink;   // the bytes that the device has saved, until they are stored
} ir_stored_part_t;

// Finds the kept bytes of a part of an execution graph. `isolated`: the bytes must not be those of
// the model, which the part may outlive.
void find_ir_stored_part(const struct subgraph* part, struct device* device, bool isolated,
                         ir_stored_part_t* stored);

// Lets the device of a compiled part load the bytes found, and if it refuses the model's bytes,
// those of the folder. False: the device must compile. Any thread.
bool load_ir_stored_part(struct subgraph* subgraph, int part_index, ir_stored_part_t* stored);

// Lets the device save its compiled part, and writes that to the stores. These are two steps, since
// the thread of a device whose call timed out must not write.
void save_ir_stored_part(struct subgraph* subgraph, int part_index, ir_stored_part_t* stored);
void keep_ir_stored_part(const struct subgraph* part, struct device* device,
                         ir_stored_part_t* stored);

// Adds the preparation of an execution graph to those of its model (graph/prepared.h), if the user
// keeps compiled parts in it (option model.keep_parts). `options`: those of the prerun.
void keep_ir_preparation(const struct graph* execution, const ir_run_options_t* options);

void release_ir_stored_part(ir_stored_part_t* stored);

TENGINE_EXTERN_C_END
