// SPDX-License-Identifier: Apache-2.0
// Sets of data types, and the check that an input is of one of them.
#pragma once

#include <stdint.h>

#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

#define TYPE_BIT(name) (UINT32_C(1) << TENGINE_DT_##name)

// The sets the ONNX specification uses most. bf16 counts as a float everywhere.
#define TYPES_FLOAT (TYPE_BIT(FP32) | TYPE_BIT(FP16) | TYPE_BIT(BF16) | TYPE_BIT(FP64))
#define TYPES_BYTE (TYPE_BIT(INT8) | TYPE_BIT(UINT8))
#define TYPES_WORD (TYPE_BIT(INT32) | TYPE_BIT(UINT32) | TYPE_BIT(INT64) | TYPE_BIT(UINT64))
#define TYPES_NUMBER (TYPES_FLOAT | TYPES_BYTE | TYPES_WORD | TYPE_BIT(INT16) | TYPE_BIT(UINT16))

// The types that no operator takes without OP_TAKES_SMALL.
#define TYPES_FLOAT8                                                            \
    (TYPE_BIT(FLOAT8E4M3FN) | TYPE_BIT(FLOAT8E4M3FNUZ) | TYPE_BIT(FLOAT8E5M2) | \
     TYPE_BIT(FLOAT8E5M2FNUZ))
#define TYPES_FEW_BITS (TYPE_BIT(UINT4) | TYPE_BIT(INT4) | TYPE_BIT(UINT2) | TYPE_BIT(INT2))
#define TYPES_SMALL (TYPES_FLOAT8 | TYPES_FEW_BITS | TYPE_BIT(FLOAT4E2M1) | TYPE_BIT(FLOAT8E8M0))

#define TYPES_COMPLEX (TYPE_BIT(COMPLEX64) | TYPE_BIT(COMPLEX128))

// TENGINE_EDTYPE unless input `index` is absent or of a type in `types`.
TENGINE_MUST_USE int require_type(const struct node* node, int index, uint32_t types);

// No input or output is of TYPES_SMALL, of TYPES_COMPLEX, a string, or a sequence or optional
// value, unless the operator takes these; EDTYPE otherwise. Elements of the first do not lie as
// others do, those of the second are two numbers, strings are pointers, and the bytes of the last
// tell where their elements are, so that every node must pass, the types of whose outputs are
// known.
TENGINE_MUST_USE int check_small_types(const struct node* node);
// Refuses small types and strings, whatever the operator takes: for nodes whose kernel is not the
// library's.
TENGINE_MUST_USE int refuse_small_types(const struct node* node);

TENGINE_EXTERN_C_END
