// SPDX-License-Identifier: Apache-2.0
// The values of a run: one instruction after the other, bit-exact as isa.h says. Products are in
// machine_matrix.cc, vectors in machine_vector.cc; transfers and faults here.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/guard.hpp"
#include "device/tpu/simulator/machine_matrix.h"
#include "device/tpu/simulator/machine_memory.h"
#include "device/tpu/simulator/machine_product.h"
#include "device/tpu/simulator/machine_vector.h"
#include "device/tpu/simulator/simulator.h"
#include "tengine/error.h"

namespace tengine::tpu {
namespace {

constexpr std::chrono::milliseconds kHangStep{1};
constexpr int64_t kCancelStep = 256;  // instructions between checks for cancellation

bool is_transfer(Opcode opcode)
{
    return opcode == Opcode::kReadHost || opcode == Opcode::kWriteHost ||
           opcode == Opcode::kReadWeights;
}

// Copies `length` bytes from each vector of a grid to the other grid's.
void transfer(const Instruction& in, const uint8_t* from, const Operand& from_grid, uint8_t* to,
              const Operand& to_grid)
{
    for (unsigned o = 0; o < in.outer; ++o)
        for (unsigned i = 0; i < in.inner; ++i)
            memcpy(to + vector_offset(to_grid, o, i), from + vector_offset(from_grid, o, i),
                   in.length);
}

// Returns the pitches of a grid in host memory; the caller adds the 64-bit address.
Operand host_grid(const Operand& pitches)
{
    return {0, pitches.pitch_outer, pitches.pitch_inner};
}

class PlainMachine final : public Machine
{
  public:
    explicit PlainMachine(const Config& config) : matrix_(config)
    {
        memory_.columns = config.columns;
        memory_.buffer.resize(static_cast<size_t>(config.unified_buffer_bytes));
        memory_.sums.resize(static_cast<size_t>(config.accumulator_rows) *
                                static_cast<size_t>(config.columns) +
                            kProductSlack / sizeof(int32_t));
    }

    int run(const Program& program, uint8_t* host, const Faults& faults,
            const std::function<bool()>& cancelled) override
    {
        return guarded([&] { return run_instructions(program, host, faults, cancelled); },
                       "out of memory while running a program");
    }

    size_t memory_bytes() const override
    {
        return memory_.buffer.capacity() + memory_.sums.capacity() * sizeof(int32_t) +
               matrix_.memory_bytes();
    }

  private:
    int run_instructions(const Program& program, uint8_t* host, const Faults& faults,
                         const std::function<bool()>& cancelled);
    int execute(const Instruction& in, uint8_t* host);

    MachineMemory memory_;
    MatrixUnit matrix_;
    VectorUnit vector_;
};

int PlainMachine::execute(const Instruction& in, uint8_t* host)
{
    uint8_t* buffer = memory_.buffer.data();
    switch (in.opcode) {
        case Opcode::kReadWeights:
            matrix_.read_weights(in);
            return TENGINE_OK;
        case Opcode::kMatrixMultiply:
            return matrix_.multiply(in, &memory_);
        case Opcode::kReadHost:
            transfer(in, host + in.host_address, host_grid(in.a), buffer, in.d);
            return TENGINE_OK;
        case Opcode::kWriteHost:
            transfer(in, buffer, in.a, host + in.host_address, host_grid(in.d));
            return TENGINE_OK;
        default:
            vector_.run(in, &memory_);
            return TENGINE_OK;
    }
}

int give_up(int64_t index)
{
    return tengine_error_set(TENGINE_EDEVICE,
                             "instruction %lld did not finish before the run was cancelled",
                             static_cast<long long>(index));
}

int hang(int64_t index, const std::function<bool()>& cancelled)
{
    while (cancelled && !cancelled())
        std::this_thread::sleep_for(kHangStep);
    return give_up(index);
}

int PlainMachine::run_instructions(const Program& program, uint8_t* host, const Faults& faults,
                                   const std::function<bool()>& cancelled)
{
    std::fill(memory_.buffer.begin(), memory_.buffer.end(), uint8_t{0});
    std::fill(memory_.sums.begin(), memory_.sums.end(), 0);
    matrix_.reset(program.weights.data());
    const int64_t number = static_cast<int64_t>(program.instructions.size());
    for (int64_t i = 0; i < number; ++i) {
        const Instruction& in = program.instructions[static_cast<size_t>(i)];
        if (i == faults.bad_opcode_at)
            return tengine_error_set(TENGINE_EDEVICE, "instruction %lld: invalid opcode 255",
                                     static_cast<long long>(i));
        if (i == faults.hang_at) return hang(i, cancelled);
        if (i % kCancelStep == kCancelStep - 1 && cancelled && cancelled()) return give_up(i);
        if (faults.dma_error_at >= 0 && i >= faults.dma_error_at && is_transfer(in.opcode))
            return tengine_error_set(TENGINE_EDEVICE, "instruction %lld: the %s transfer failed",
                                     static_cast<long long>(i), opcode_name(in.opcode));
        TENGINE_RETURN_IF_ERROR(execute(in, host));
    }
    return TENGINE_OK;
}

}  // namespace

int Machine::create(const Config& config, std::unique_ptr<Machine>* out_machine)
{
    return guarded(
        [&]() -> int {
            *out_machine = std::make_unique<PlainMachine>(config);
            return TENGINE_OK;
        },
        "out of memory for a machine with a buffer of %lld bytes",
        static_cast<long long>(config.unified_buffer_bytes));
}

}  // namespace tengine::tpu
