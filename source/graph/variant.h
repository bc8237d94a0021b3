// SPDX-License-Identifier: Apache-2.0
// Variants of a model: for whom compiled parts (graph/model_part.h) are. The file names devices, a
// chip, a driver, a precision and options of the devices, and prerun takes the best that fits the
// process (optimizer/placement/variant.h). They belong to the model's graph, not to bodies.
#pragma once

#include "base/sha256.h"
#include "graph/context.h"

TENGINE_EXTERN_C_BEGIN

#define IR_MOST_VARIANTS 256

typedef struct ir_variant
{
    char* name;              // unique in the model
    char* devices;           // "TPU,CPU": the first ones of the context, best first; not empty
    char* chip;              // of the first device; "": any
    char* driver;            // the version of its driver, or the begin of it before a dot; "": any
    int precision;           // TENGINE_MODE_*
    struct vector* options;  // ir_key_value_t: "<device>.<key>", or a key that is_ir_hint_option()
    struct vector* parts;    // the fingerprints of its compiled parts, SHA256_BYTES each, sorted
} ir_variant_t;

// The name of a TENGINE_MODE_* ("int8"), and back; -1: there is none.
const char* get_ir_precision_name(int precision);
int find_ir_precision(const char* name);

// `variant` has no strings and lists yet: it gets copies. The caller releases it after a failure,
// too. ENOMEM.
TENGINE_MUST_USE int init_ir_variant(ir_variant_t* variant, const char* name, const char* devices,
                                     const char* chip, const char* driver);
void release_ir_variant(ir_variant_t* variant);

// Adds the fingerprints of parts, in any order. ENOMEM.
TENGINE_MUST_USE int add_ir_variant_parts(ir_variant_t* variant, const uint8_t* fingerprints,
                                          uint32_t number);
bool has_ir_variant_part(const ir_variant_t* variant, const uint8_t fingerprint[SHA256_BYTES]);

// ---- those of a model ----

int count_ir_variants(const struct graph* model);
const ir_variant_t* get_ir_variant(const struct graph* model, int index);

// Adds a variant, or replaces the one of its name unless that is the same except for its parts. The
// graph owns the members from then on, also after a failure. *out_index is its place. Parts that
// only a replaced one had are not written to files. ELIMIT: there are IR_MOST_VARIANTS. ENOMEM.
TENGINE_MUST_USE int put_ir_variant(struct graph* model, ir_variant_t* variant, int* out_index);

void drop_ir_variants(struct graph* model);  // all of them

// The variant that the preparation has taken or records; NULL: none. The parts of others are then
// not used.
const ir_variant_t* get_ir_taken_variant(const struct graph* model);
// `precision`: that of the run. -1 as the index: none.
void take_ir_variant(struct graph* model, int index, bool is_recorded, int precision);
int get_ir_variant_precision(const struct graph* model);  // of the last preparation; -1: none yet
// Adds a part to the variant that is recorded, if there is one. ENOMEM.
TENGINE_MUST_USE int record_ir_variant_part(struct graph* model,
                                            const uint8_t fingerprint[SHA256_BYTES]);

// Whether a part is to be written: not one that a replaced variant alone had.
bool is_ir_part_of_use(const struct graph* model, const uint8_t fingerprint[SHA256_BYTES]);

// ---- for model_part.c, which holds them ----

struct ir_variants;
struct ir_variants** find_ir_variants(const struct graph* model);    // NULL: the graph has no place
struct ir_variants** create_ir_variants_place(struct graph* model);  // NULL when out of memory
TENGINE_MUST_USE int copy_ir_variants(const struct ir_variants* from, struct ir_variants** to);
void release_ir_variants(struct ir_variants* variants);

TENGINE_EXTERN_C_END
