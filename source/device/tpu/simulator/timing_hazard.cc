// SPDX-License-Identifier: Apache-2.0
#include "device/tpu/simulator/timing_hazard.h"

#include <algorithm>

namespace tengine::tpu {
namespace {

bool computes(int unit)
{
    return unit == static_cast<int>(Unit::kArray) || unit == static_cast<int>(Unit::kVector);
}

}  // namespace

int64_t HazardTable::last_overlap(const Records& records, const Access& access, int64_t earliest)
{
    for (auto record = records.rbegin(); record != records.rend() && record->end > earliest;
         ++record)
        if (accesses_overlap(record->access, access)) return record->end;
    return 0;
}

Readiness HazardTable::find(Unit unit, const Access* accesses, int number, int64_t earliest) const
{
    Readiness ready;
    for (int other = 0; other < kUnitNum; ++other) {
        if (other == static_cast<int>(unit)) continue;
        int64_t& end = computes(other) ? ready.computed : ready.transferred;
        for (int i = 0; i < number; ++i) {
            const Access& access = accesses[i];
            const auto& records =
                records_[static_cast<size_t>(other)][static_cast<size_t>(access.memory)];
            end = std::max(end, last_overlap(records[1], access, earliest));
            if (access.is_write) end = std::max(end, last_overlap(records[0], access, earliest));
        }
    }
    return ready;
}

void HazardTable::add(Unit unit, const Access* accesses, int number, int64_t read_end,
                      int64_t write_end)
{
    for (int i = 0; i < number; ++i) {
        const Access& access = accesses[i];
        auto& records = records_[static_cast<size_t>(unit)][static_cast<size_t>(access.memory)];
        records[access.is_write ? 1 : 0].push_back(
            {access, access.is_write ? write_end : read_end});
    }
}

}  // namespace tengine::tpu
