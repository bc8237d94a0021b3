// SPDX-License-Identifier: Apache-2.0
// The check of code compiled against headers of another time (docs/compatibility.md).
#pragma once

#include "tengine/device.h"

TENGINE_EXTERN_C_BEGIN

// TENGINE_EVERSION when `abi` has another major version than the library, or other sizes of structs
// that may not change. `kind` and `name` are for the message.
int check_ir_abi(const char* kind, const char* name, const ir_abi_t* abi);

TENGINE_EXTERN_C_END
