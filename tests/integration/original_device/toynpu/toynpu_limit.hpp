// SPDX-License-Identifier: Apache-2.0
// The operators that the chip has.
#pragma once

extern "C" {
#include "operator/op.h"
}

const int toynpu_supported_ops[] = {
    OP_CONST,
    OP_CONV,
    OP_ELTWISE,
    OP_INPUT,
    OP_RELU,
};
