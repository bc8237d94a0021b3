// SPDX-License-Identifier: Apache-2.0
// Buckets: shapes of inputs for which a model is prepared, so that it runs smaller inputs in them,
// too (scheduler/bucket.h). A bucket is a property of the model (graph/metadata.h), which all
// formats and copies keep:
//     tengine.bucket.<any name> = <input>=4x3x224x224,<input>=4x10
// An input that it does not name has the shape of each request. Minimal builds read no properties
// and have no buckets.
#pragma once

#include "graph/core.h"

TENGINE_EXTERN_C_BEGIN

#define IR_BUCKET_KEY "tengine.bucket."
#define IR_MOST_BUCKETS 256

// The shape of an input in a bucket.
typedef struct ir_bucket_shape
{
    int bucket;     // its number
    int32_t input;  // which of graph.input_tensors
    int dim_num;
    int dims[MAX_SHAPE_DIM_NUM];
} ir_bucket_shape_t;

int count_ir_buckets(const struct graph* source);
// The text of a bucket.
const char* get_ir_bucket(const struct graph* source, int index);

// Appends the shapes of all buckets, in their order. EINVAL: a text is not a list of inputs of the
// graph with shapes of their ranks, or names a state; or there are too many. ENOMEM.
TENGINE_MUST_USE int list_ir_bucket_shapes(const struct graph* source, struct vector* out_shapes);

// Adds a bucket of this text to the properties. EINVAL as above; ENOMEM.
TENGINE_MUST_USE int add_ir_bucket(struct graph* source, const char* text);

TENGINE_EXTERN_C_END
