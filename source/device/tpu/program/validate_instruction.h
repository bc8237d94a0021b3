// SPDX-License-Identifier: Apache-2.0
// The part of the validator that checks instructions one after the other; validate.cc checks the
// program around them.
#pragma once

#include <cstdint>
#include <vector>

#include "device/tpu/machine/isa_table.h"
#include "device/tpu/program/program.h"
#include "tengine/export.h"

namespace tengine::tpu {

// The vectors of an operand: counts, pitches, and the bytes of each.
struct Spacing
{
    uint64_t outer, inner;
    uint64_t pitch_outer, pitch_inner;
    uint64_t bytes;
};

class InstructionValidator
{
  public:
    InstructionValidator(const Program& program, const Config& config)
        : program_(program), config_(config)
    {
    }
    // Called for each instruction in program order. TENGINE_EINVAL with index, name and value.
    int check(size_t index);

  private:
    int check_fields(const Form& form);
    int check_operation();
    int check_read_weights();
    int check_product();
    int take_tile();
    int check_drained();
    int check_activate();
    int check_vectors();
    int check_pool();
    int check_read_host();
    int check_write_host();
    int check_host(const Operand& pitches);
    int check_read(const char* name, const Operand& operand, uint64_t bytes);
    int check_written(const Operand& operand, uint64_t bytes);
    int check_apart(const char* name, const Spacing& grid);
    int check_sums(const char* name, uint32_t address);
    int check_buffer(const char* name, uint32_t address, uint64_t span);
    int check_span(const char* name, const char* memory, uint64_t address, uint64_t span,
                   uint64_t limit);
    Spacing grid_of(const Operand& operand, uint64_t bytes) const
    {
        return {at_->outer, at_->inner, operand.pitch_outer, operand.pitch_inner, bytes};
    }
    bool has(Flag flag) const { return (at_->flags & flag) != 0; }
    uint64_t vector_bytes() const
    {
        return uint64_t{at_->length} * (has(kFloat) || has(kWide) ? 2 : 1);
    }
    int fail(const char* format, ...) const TENGINE_PRINTF(2, 3);

    const Program& program_;
    const Config& config_;
    size_t index_ = 0;
    const Instruction* at_ = nullptr;
    // Weight tiles, by whether they are wide: fetched and not taken yet, in order, and the one in
    // the array.
    std::vector<bool> fifo_;
    size_t fifo_first_ = 0;
    bool has_tile_ = false;
    bool tile_is_wide_ = false;
};

}  // namespace tengine::tpu
