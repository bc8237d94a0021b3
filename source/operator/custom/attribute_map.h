// SPDX-License-Identifier: Apache-2.0
// A node's attributes as one FlexBuffer, which is how TensorFlow Lite stores those of a custom
// operator. https://flatbuffers.dev/internals (FlexBuffers) describes the bytes.
#pragma once

#include <stddef.h>

#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

// A map from names to integers, floats, strings and vectors of these; tensors and strings without a
// value are left out. A node with the attribute custom_options, a tensor, gives its bytes instead,
// which are the file's. For an operator of the library it also has the attributes that the model
// does not state. *out_bytes is to be freed. TENGINE_ENOMEM.
int make_attribute_map(const struct node* node, uint8_t** out_bytes, size_t* out_size);

TENGINE_EXTERN_C_END
