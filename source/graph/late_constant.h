// SPDX-License-Identifier: Apache-2.0
// Late constants: constants of the model in another type that have no data. A reader computes the
// values (copy_ir_constant()) and frees them after its kernel has packed them. `pack` of the tensor
// describes how they are made; a part's tensor refers to that of the execution graph, and has no
// `pack_pool`. Minimal builds have none.
#pragma once

#include "base/minimal.h"
#include "graph/graph.h"
#include "graph/graph_pool.h"

TENGINE_EXTERN_C_BEGIN

typedef struct ir_late_values
{
    // The model's constant: its index in the source graph, its values, at any address, and their
    // number. Instances of a model share the values, but not the tensor.
    int32_t origin;
    const void* data;
    int64_t elem_num;
    int64_t sizes[2];  // anything else make() needs
    // Writes all values of `constant`. `is_file`: those of the origin lie in a file, whose pages
    // are to leave memory as they have been read. Any thread.
    void (*make)(const struct ir_late_values* late, const struct tensor* constant, bool is_file,
                 void* out_values);
} ir_late_values_t;

// The way in which the values of a late constant are made; NULL for any other constant.
static inline const ir_late_values_t* find_ir_late_values(const struct tensor* constant)
{
    return IS_MINIMAL || constant->data ? NULL : (const ir_late_values_t*)constant->core->pack;
}

// Whether the data begin at a multiple of their element's size. All but large constants of an ONNX
// file do, and in minimal builds, which copy these, all.
static inline bool is_ir_tensor_aligned(const struct tensor* tensor)
{
    return IS_MINIMAL || tensor->elem_size == 0 || (uintptr_t)tensor->data % tensor->elem_size == 0;
}

// Whether values can be read where `data` points.
static inline bool is_ir_constant_readable(const struct tensor* constant)
{
    return is_ir_tensor_aligned(constant) && !find_ir_late_values(constant);
}

// An address that distinguishes a constant from all others of the preparations that share it: that
// of its data, or of their stand-in.
static inline const void* find_ir_constant_place(const struct tensor* constant)
{
    return constant->data ? constant->data : (const void*)find_ir_late_values(constant);
}

// Makes `constant`, whose type and shape are set, a late constant. All preparations find the same
// one by this key. ENOMEM.
TENGINE_MUST_USE int make_ir_constant_late(struct graph* graph, struct tensor* constant,
                                           const ir_pack_key_t* key,
                                           const ir_late_values_t* values);

// Makes the tensor of a part, which has no data, the same late constant as `constant` of the
// execution graph.
void share_ir_late_constant(struct tensor* of_part, const struct tensor* constant);

TENGINE_EXTERN_C_END
