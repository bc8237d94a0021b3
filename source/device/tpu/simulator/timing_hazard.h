// SPDX-License-Identifier: Apache-2.0
// The instructions that an instruction must wait for: earlier ones on other units that use the same
// memory.
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

// The times at which operands are ready, by their source: a unit that computes or a transfer.
struct Readiness
{
    int64_t computed = 0;
    int64_t transferred = 0;
};

// The accesses so far. A unit works in order, so that only its last overlapping access counts, and
// the search backwards ends at the first access that ends before the instruction could start
// anyway.
class HazardTable
{
  public:
    // `earliest`: the time at which the instruction could start otherwise; accesses that end
    // earlier are not searched.
    Readiness find(Unit unit, const Access* accesses, int number, int64_t earliest) const;
    // Adds accesses of a unit; reads end at `read_end`, writes at `write_end`.
    void add(Unit unit, const Access* accesses, int number, int64_t read_end, int64_t write_end);

  private:
    struct Record
    {
        Access access;
        int64_t end;
    };
    using Records = std::vector<Record>;

    static int64_t last_overlap(const Records& records, const Access& access, int64_t earliest);

    // Indexed by unit, memory, read or write.
    std::array<std::array<std::array<Records, 2>, kMemoryNum>, kUnitNum> records_;
};

}  // namespace tengine::tpu
