// SPDX-License-Identifier: Apache-2.0
// Sets of data types, and the check that an input is of one of them.
#pragma once

#include <stdint.h>

#include "operator/operator.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TYPE_BIT(name) (UINT32_C(1) << TENGINE_DT_##name)

// The sets the ONNX specification uses most. bf16 counts as a float everywhere.
#define TYPES_FLOAT (TYPE_BIT(FP32) | TYPE_BIT(FP16) | TYPE_BIT(BF16) | TYPE_BIT(FP64))
#define TYPES_BYTE (TYPE_BIT(INT8) | TYPE_BIT(UINT8))
#define TYPES_WORD (TYPE_BIT(INT32) | TYPE_BIT(UINT32) | TYPE_BIT(INT64) | TYPE_BIT(UINT64))
#define TYPES_NUMBER (TYPES_FLOAT | TYPES_BYTE | TYPES_WORD | TYPE_BIT(INT16) | TYPE_BIT(UINT16))

// Input `index` is absent or of a type in `types`; EDTYPE otherwise.
TENGINE_MUST_USE int require_type(const struct node* node, int index, uint32_t types);

#ifdef __cplusplus
}
#endif
