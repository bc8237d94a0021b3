// SPDX-License-Identifier: Apache-2.0
// Errors about a node.
#pragma once

#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

// Records "Conv 'conv1': <message>" as error `code`; returns the code.
int fail_node(const struct node* node, int code, const char* format, ...) TENGINE_PRINTF(3, 4);

TENGINE_EXTERN_C_END
