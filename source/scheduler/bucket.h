// SPDX-License-Identifier: Apache-2.0
// Requests in buckets (graph/bucket.h): the program's inputs are smaller than those of the present
// preparation. They are padded at the ends of their axes, and results are cut. That happens only
// where the optimizer knows that padding does not reach the results (judge_ir_padding). A graph
// without buckets has NULL for them, as in all minimal builds, for which the inline functions are.
#pragma once

#include "base/minimal.h"
#include "scheduler/frame.h"

TENGINE_EXTERN_C_BEGIN

// A shape and the type that goes with it, of the source graph's tensor.
typedef struct ir_request_shape
{
    int32_t source_index;
    ir_frame_value_t value;
} ir_request_shape_t;

// Input shapes of the program's that no bucket has, and the answer about them.
typedef struct ir_request
{
    int bucket;             // in which they run; -1: none
    char* message;          // about that
    struct vector* inputs;  // ir_request_shape_t: of all inputs in their order
    struct vector* shapes;  // ir_request_shape_t: of all tensors for which they are known
} ir_request_t;

// The buckets of a source graph and the requests that were answered; opaque.
typedef struct ir_buckets ir_buckets_t;

// Reads the buckets, if the program's options allow them: *out_buckets is NULL without any. EINVAL:
// a property is wrong. ENOMEM.
TENGINE_MUST_USE int read_ir_buckets(const struct graph* source, ir_buckets_t** out_buckets);
void free_ir_buckets(ir_buckets_t* buckets);  // NULL is allowed
int count_ir_listed_buckets(const ir_buckets_t* buckets);
static inline int count_ir_read_buckets(const ir_buckets_t* buckets)
{
    return IS_MINIMAL || !buckets ? 0 : count_ir_listed_buckets(buckets);
}

// The bucket that has exactly the shapes that the inputs of `source` have now, or -1.
int find_ir_exact_bucket(const ir_buckets_t* buckets, const struct graph* source);

// Lists the buckets that hold the present input shapes, the smallest first. *out_list is to be
// freed. ENOMEM.
TENGINE_MUST_USE int list_ir_fitting_buckets(const ir_buckets_t* buckets,
                                             const struct graph* source, int** out_list,
                                             int* out_num);

// The answer for the present input shapes, or NULL. add: `request` is the execution graph for them.
// ENOMEM.
const ir_request_t* find_ir_request(const ir_buckets_t* buckets, const struct graph* source);
TENGINE_MUST_USE int add_ir_request(ir_buckets_t* buckets, const struct graph* source,
                                    const struct graph* request, int bucket, const char* message);

// While execution graphs are made or looked for: gives the inputs of `source` the shapes of a
// bucket, without data, and their own ones again. ERANGE: more bytes than a tensor has.
TENGINE_MUST_USE int take_ir_bucket_shapes(ir_buckets_t* buckets, struct graph* source, int bucket);
void return_ir_own_shapes(const ir_buckets_t* buckets, struct graph* source);

// The reason why the inputs and outputs of these execution graphs cannot be padded and cut, or
// NULL.
const char* find_ir_padding_obstacle(const struct graph* bucket, const struct graph* request);

// Writes "input 'x' of 3x4 is padded to 4x4, ..." for the present input shapes.
void describe_ir_padding(const ir_buckets_t* buckets, const struct graph* source, int bucket,
                         char out_text[], size_t capacity);
// Writes "no bucket holds input 'x' of 5x4" for them.
void describe_ir_misfit(const ir_buckets_t* buckets, const struct graph* source, char out_text[],
                        size_t capacity);
// The answer for the shapes that a prepared graph has now: *out_bucket is the bucket in which it
// runs, or -1. "": the shapes are those of the bucket, or there are no buckets.
const char* explain_ir_bucket(const ir_buckets_t* buckets, const struct graph* source,
                              int* out_bucket);

// From enter to leave the present preparation is that of the request's bucket. hold: allocates the
// memory of padded inputs and cut results, when the source graph has its shapes; ENOMEM. leave
// frees it: the source graph must not show these results any more.
void enter_ir_request(ir_buckets_t* buckets, const ir_request_t* request);
TENGINE_MUST_USE int hold_ir_request_memory(ir_buckets_t* buckets, const struct graph* source);
void leave_ir_request(ir_buckets_t* buckets);
// The request in the present preparation; NULL: its shapes are the program's.
const ir_request_t* find_ir_present_request(const ir_buckets_t* buckets);
static inline const ir_request_t* get_ir_present_request(const ir_buckets_t* buckets)
{
    return IS_MINIMAL || !buckets ? NULL : find_ir_present_request(buckets);
}
// Bytes of its padded inputs and cut results.
size_t measure_ir_request_bytes(const ir_buckets_t* buckets);
static inline size_t count_ir_request_bytes(const ir_buckets_t* buckets)
{
    return IS_MINIMAL || !buckets ? 0 : measure_ir_request_bytes(buckets);
}

// The memory for input `index` after padding, and for result `index` after the cut; NULL: it is not
// padded, or not cut.
void* find_ir_padded_input(const ir_buckets_t* buckets, int index);
static inline void* get_ir_padded_input(const ir_buckets_t* buckets, int index)
{
    return IS_MINIMAL || !buckets ? NULL : find_ir_padded_input(buckets, index);
}
void* find_ir_cut_output(const ir_buckets_t* buckets, int index);
static inline void* get_ir_cut_output(const ir_buckets_t* buckets, int index)
{
    return IS_MINIMAL || !buckets ? NULL : find_ir_cut_output(buckets, index);
}

// Copies an input of the source graph to the begin of each axis of a larger value, whose other
// elements are zeros, or the zero point of a quantised tensor.
void pad_ir_input(const struct tensor* given, const struct tensor* larger, void* out_data);
// Copies the elements of a result that `wanted` has.
void cut_ir_output(const struct tensor* larger, const void* data, const struct tensor* wanted,
                   void* out_data);

TENGINE_EXTERN_C_END
