// SPDX-License-Identifier: Apache-2.0
#include "calibration/handle.h"

#include <mutex>

#include "calibration/failure.h"

namespace tengine::calibration {
namespace {

std::mutex mutex;
Entry* first_entry = nullptr;  // guarded by `mutex`, in a chain

// The link to the entry; to null if there is none.
Entry** find_link(const void* handle)
{
    Entry** link = &first_entry;
    while (*link && *link != handle)
        link = &(*link)->next;
    return link;
}

// Null when the entry cannot be used, as find_entry() does.
Entry* check_entry(Entry* entry, const char* function)
{
    if (!entry)
        fail(TENGINE_EHANDLE, "%s: calibration is NULL, destroyed or not a calibration", function);
    else if (entry->is_busy)
        fail(TENGINE_ESTATE, "%s: the calibration is in a function that calls the program",
             function);
    return entry && !entry->is_busy ? entry : nullptr;
}

}  // namespace

tengine_calibration_t add_entry(std::unique_ptr<Entry> entry)
{
    const std::lock_guard<std::mutex> lock(mutex);
    entry->next = first_entry;
    first_entry = entry.release();
    return first_entry;
}

Entry* find_entry(tengine_calibration_t handle, const char* function)
{
    const std::lock_guard<std::mutex> lock(mutex);
    return check_entry(*find_link(handle), function);
}

std::unique_ptr<Entry> remove_entry(tengine_calibration_t handle, const char* function)
{
    const std::lock_guard<std::mutex> lock(mutex);
    Entry** link = find_link(handle);
    Entry* entry = check_entry(*link, function);
    if (entry) *link = entry->next;
    return std::unique_ptr<Entry>(entry);
}

}  // namespace tengine::calibration
