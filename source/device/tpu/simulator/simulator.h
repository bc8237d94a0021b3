// SPDX-License-Identifier: Apache-2.0
// Runs programs: values (machine.cc, one instruction after the other, bit-exact) and cycles
// (timing.cc, units that overlap). The two are independent.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "device/tpu/machine/config.h"
#include "device/tpu/program/program.h"

namespace tengine::tpu {

// The counters of one run. The cycles of the array add up: active + weight_stall + weight_shift +
// non_matrix = total.
struct Counters
{
    int64_t total = 0;
    int64_t active = 0;        // multiplying
    int64_t weight_stall = 0;  // idle: the next tile has not arrived
    int64_t weight_shift = 0;  // idle: the next tile is being shifted in
    int64_t non_matrix = 0;    // idle for any other reason
    int64_t raw_stall = 0;     // part of non_matrix: waiting for an earlier instruction's results
    int64_t input_stall = 0;   // part of non_matrix: waiting for a transfer from the host
    int64_t macs = 0;          // useful products
    int64_t mac_slots = 0;     // rows * columns * active, in products that the mode allows
    int64_t weight_bytes = 0, host_read_bytes = 0, host_write_bytes = 0;
    int64_t buffer_read_bytes = 0, buffer_write_bytes = 0;
    int64_t sum_read_bytes = 0, sum_write_bytes = 0;
    int64_t weight_busy = 0, vector_busy = 0, dma_busy = 0;  // cycles of the other units
    std::array<int64_t, kOpcodeNum> instructions{};
    double energy_pj = 0;
    // Cycles by tag, at least one tag; they add up to total. Cycles before the first tag belong to
    // 0.
    std::vector<int64_t> node_cycles;
    // All counters by tag, without those two lists. They add up to these, energy_pj up to rounding.
    // The array's cycles of a tag are idle and busy times until its last product has begun, so that
    // they differ from `total`, its share of node_cycles.
    std::vector<Counters> nodes;
};

// A time in which a unit works, or the array waits.
struct Interval
{
    const char* unit;
    const char* cause;   // the reason why it waits; "": it works
    size_t node;         // the tag, as in Counters
    int64_t begin, end;  // cycles
};

// Counts the cycles of one run; they do not depend on values. `program` must have been validated.
// `out_intervals`, which may be null, gets the times of the units, in any order.
int count_cycles(const Program& program, const Config& config, Counters* out_counters,
                 std::vector<Interval>* out_intervals = nullptr);

// Injected faults, each at the instruction of this index (-1: never).
struct Faults
{
    int64_t bad_opcode_at = -1;  // its opcode is invalid
    int64_t dma_error_at = -1;   // the first transfer at or after it fails
    int64_t hang_at = -1;        // it never finishes (until `cancelled`)
    int64_t bit_flip = -1;       // this bit of the program's file is flipped before it is loaded
};

// Computes the values of a run: executes a validated program on host memory of program.host_bytes
// bytes, which the caller has filled with constants and inputs. Buffers keep nothing between runs.
class Machine
{
  public:
    static int create(const Config& config, std::unique_ptr<Machine>* out_machine);
    virtual ~Machine() = default;
    // TENGINE_EDEVICE: a fault, or `cancelled`, which is called periodically, has returned true.
    virtual int run(const Program& program, uint8_t* host, const Faults& faults,
                    const std::function<bool()>& cancelled) = 0;
    // Returns the bytes of its buffers in the process.
    virtual size_t memory_bytes() const = 0;
};

}  // namespace tengine::tpu
