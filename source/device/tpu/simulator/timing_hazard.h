// SPDX-License-Identifier: Apache-2.0
// The instructions that one must wait for: earlier ones on other units that touch the same memory.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "device/tpu/machine/access.h"

namespace tengine::tpu {

enum class Unit : uint8_t
{
    kArray = 0,
    kVector = 1,
    kHostRead = 2,
    kHostWrite = 3,
};
constexpr int kUnitNum = 4;

// When operands are ready, by what made them: a unit that computes or a transfer.
struct Readiness
{
    int64_t computed = 0;
    int64_t transferred = 0;
};

// The accesses so far. A unit works in order, so only the last access of each unit that overlaps
// counts, and the search back ends at the first that is over before the instruction could start
// anyway.
class HazardTable
{
  public:
    // `earliest`: when the instruction could start otherwise; nothing that ends before is sought.
    Readiness find(Unit unit, const Access* accesses, int number, int64_t earliest) const;
    // The unit's reads end at `read_end`, its writes at `write_end`.
    void add(Unit unit, const Access* accesses, int number, int64_t read_end, int64_t write_end);

  private:
    struct Record
    {
        Access access;
        int64_t end;
    };
    using Records = std::vector<Record>;

    static int64_t last_overlap(const Records& records, const Access& access, int64_t earliest);

    // By unit, memory, read or write.
    std::array<std::array<std::array<Records, 2>, kMemoryNum>, kUnitNum> records_;
};

}  // namespace tengine::tpu
