// SPDX-License-Identifier: Apache-2.0
#include "module/abi.h"

int check_ir_abi(const char* kind, const char* name, const ir_abi_t* abi)
{
    if (!abi)
        return tengine_error_set(TENGINE_EINVAL, "%s '%s': its ABI is not stated", kind, name);
    if (abi->major != IR_ABI_MAJOR)
        return tengine_error_set(
            TENGINE_EVERSION, "%s '%s' was compiled for device ABI %u.%u; this library has %d.%d",
            kind, name, abi->major, abi->minor, IR_ABI_MAJOR, IR_ABI_MINOR);
    if (abi->device_size != sizeof(struct device) ||
        abi->scheduler_size != sizeof(struct scheduler))
        return tengine_error_set(TENGINE_EVERSION,
                                 "%s '%s': struct device and struct scheduler have %u and %u bytes "
                                 "in it, %zu and %zu in this library",
                                 kind, name, abi->device_size, abi->scheduler_size,
                                 sizeof(struct device), sizeof(struct scheduler));
    return TENGINE_OK;
}
