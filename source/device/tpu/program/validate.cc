// SPDX-License-Identifier: Apache-2.0
// Checks that a machine can run a program. With a valid program the simulator stays within its
// memories, and makes no checks of its own. Instructions: validate_instruction.cc.
#include <algorithm>
#include <cstdint>

#include "base/guard.hpp"
#include "device/tpu/program/program.h"
#include "device/tpu/program/validate_instruction.h"
#include "tengine/defines.h"
#include "tengine/error.h"

namespace tengine::tpu {
namespace {

// The limit of one allocation on 32-bit machines.
constexpr uint64_t kMaxHostBytes = std::min<uint64_t>(uint64_t{1} << 36, PTRDIFF_MAX);
constexpr size_t kMaxRank = 8;

int check_sizes(const Program& program, const Config& config)
{
    const uint64_t expected = fingerprint_of(config);
    if (program.fingerprint != expected)
        return tengine_error_set(TENGINE_EINVAL,
                                 "TPU program: it is for another configuration than '%s' "
                                 "(fingerprint %016llx, expected %016llx)",
                                 config.name.c_str(),
                                 static_cast<unsigned long long>(program.fingerprint),
                                 static_cast<unsigned long long>(expected));
    if (program.host_bytes > kMaxHostBytes || program.constants.size() > program.host_bytes)
        return tengine_error_set(
            TENGINE_EINVAL,
            "TPU program: host memory of %llu bytes, expected %zu (the constants) to %llu",
            static_cast<unsigned long long>(program.host_bytes), program.constants.size(),
            static_cast<unsigned long long>(kMaxHostBytes));
    if (program.instructions.empty() || program.instructions.back().opcode != Opcode::kHalt)
        return tengine_error_set(TENGINE_EINVAL, "TPU program: it does not end with halt");
    return TENGINE_OK;
}

int check_binding(const Program& program, const Binding& binding)
{
    const char* name = binding.name.c_str();
    const bool is_byte =
        binding.data_type == TENGINE_DT_INT8 || binding.data_type == TENGINE_DT_UINT8;
    if (!is_byte && binding.data_type != TENGINE_DT_BF16)
        return tengine_error_set(
            TENGINE_EINVAL,
            "TPU program: binding '%.80s' has data type %d, expected int8, uint8 or bf16", name,
            int{binding.data_type});
    if (binding.dims.size() > kMaxRank || (binding.channels_last && binding.dims.size() < 2))
        return tengine_error_set(
            TENGINE_EINVAL, "TPU program: binding '%.80s' has %zu dimensions%s", name,
            binding.dims.size(), binding.channels_last ? ", channels last" : "");
    // The memory that may have the binding; nothing beyond it has room.
    const uint64_t first = binding.is_output ? 0 : program.constants.size();
    const bool begins = binding.address >= first && binding.address <= program.host_bytes;
    const uint64_t room = begins ? program.host_bytes - binding.address : 0;
    uint64_t bytes = is_byte ? 1 : 2;
    for (const int dim : binding.dims) {
        if (dim < 1)
            return tengine_error_set(
                TENGINE_EINVAL, "TPU program: binding '%.80s' has a dimension of %d", name, dim);
        bytes = static_cast<uint64_t>(dim) <= room / bytes ? bytes * dim : room + 1;
        if (bytes > room) break;
    }
    if (bytes > room)
        return tengine_error_set(
            TENGINE_EINVAL,
            "TPU program: binding '%.80s' at host address %llu does not fit in "
            "%llu to %llu",
            name, static_cast<unsigned long long>(binding.address),
            static_cast<unsigned long long>(first),
            static_cast<unsigned long long>(program.host_bytes));
    return TENGINE_OK;
}

int check_program(const Program& program, const Config& config)
{
    TENGINE_RETURN_IF_ERROR(check_sizes(program, config));
    for (const Binding& binding : program.bindings)
        TENGINE_RETURN_IF_ERROR(check_binding(program, binding));
    InstructionValidator validator(program, config);
    for (size_t i = 0; i < program.instructions.size(); ++i)
        TENGINE_RETURN_IF_ERROR(validator.check(i));
    return TENGINE_OK;
}

}  // namespace

int validate_program(const Program& program, const Config& config)
{
    return guarded([&] { return check_program(program, config); },
                   "TPU program: out of memory while checking it");
}

}  // namespace tengine::tpu
