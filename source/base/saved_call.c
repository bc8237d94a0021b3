// SPDX-License-Identifier: Apache-2.0
#include "base/saved_call.h"

#include <string.h>

bool read_saved_call(const void* data, size_t size, saved_call_t* out_call)
{
    const uint64_t room = SAVED_CALL_MODULE - sizeof(saved_call_head_t);
    if (size < SAVED_CALL_MODULE) return false;
    saved_call_head_t head;
    memcpy(&head, data, sizeof head);
    if (memcmp(head.magic, SAVED_CALL_MAGIC, sizeof head.magic) != 0 || head.entry_size > room ||
        head.sdk_size > room - head.entry_size || head.module_size != size - SAVED_CALL_MODULE)
        return false;
    const char* texts = (const char*)data + sizeof head;
    const char* end = (const char*)data + SAVED_CALL_MODULE;
    const char* maker = texts + head.entry_size + head.sdk_size;
    const char* maker_end = memchr(maker, '\0', (size_t)(end - maker));
    const char* chip = maker_end ? maker_end + 1 : end;
    const bool has_chip = chip < end && memchr(chip, '\0', (size_t)(end - chip));
    *out_call = (saved_call_t){.head = head,
                               .entry_point = texts,
                               .sdk_version = texts + head.entry_size,
                               .maker = has_chip ? maker : "",
                               .chip = has_chip ? chip : "",
                               .module = end};
    return true;
}
