// SPDX-License-Identifier: Apache-2.0
// The shape that a model declares for an input or an output: for messages about shapes, since the
// program may set another one, and for the names of dimensions.
#pragma once

#include "base/minimal.h"
#include "graph/core.h"

TENGINE_EXTERN_C_BEGIN

// The size of a printed shape, with its NUL. Long names are cut.
#define IR_SHAPE_TEXT_SIZE 320

// Sets the shape that the model declares for a tensor, and the names of its dimensions, "" for
// none. set_ir_tensor_dim_names() declares the tensor's present shape. ENOMEM.
TENGINE_MUST_USE int declare_ir_tensor_shape(struct tensor* tensor, const int dims[],
                                             const char* const names[], int dim_num);

// Whether the model declares anything about the shape. Tmfiles, which minimal builds read, do not.
static inline bool is_ir_shape_declared(const struct tensor* tensor)
{
    const ir_declaration_t* declaration = tensor->core->declaration;
    return !IS_MINIMAL && declaration && declaration->dim_num >= 0;
}

// Whether the shape has the rank that is declared, and each dimension that is declared as a number;
// true when nothing is declared.
bool has_ir_declared_shape(const struct tensor* tensor);

// Prints a declared shape: "batch x 3 x ?", "1x3x8x8" or "scalar". `out_text` is also returned.
const char* print_ir_declared_shape(const struct tensor* tensor, char out_text[IR_SHAPE_TEXT_SIZE]);
// The same for the shape that the tensor has.
const char* print_ir_shape(const struct tensor* tensor, char out_text[IR_SHAPE_TEXT_SIZE]);

TENGINE_EXTERN_C_END
