// SPDX-License-Identifier: Apache-2.0
#include "device/tpu/machine/access.h"

#include <algorithm>

namespace tengine::tpu {
namespace {

// Returns the common pitch of the grid, or 0: then only the range around the grid is known.
uint64_t period_of(const Instruction& in, uint64_t pitch_outer, uint64_t pitch_inner)
{
    if (in.inner == 1) return in.outer == 1 ? 0 : pitch_outer;
    if (in.outer == 1 || (pitch_inner != 0 && pitch_outer % pitch_inner == 0)) return pitch_inner;
    return 0;
}

class AccessList
{
  public:
    AccessList(const Instruction& instruction, Access* out) : in_(instruction), out_(out) {}

    void add(Memory memory, bool is_write, uint64_t begin, uint64_t length)
    {
        out_[number_++] = {memory, is_write, begin, begin + length, 0, 0, 0};
    }

    // Adds the grid of vectors at `address`, each of `bytes`.
    void add_grid(Memory memory, bool is_write, uint64_t address, const Operand& pitch,
                  uint64_t bytes)
    {
        const uint64_t last = address + uint64_t{in_.outer - 1u} * pitch.pitch_outer +
                              uint64_t{in_.inner - 1u} * pitch.pitch_inner;
        Access access{memory, is_write, address, last + bytes, 0, 0, 0};
        const uint64_t period = period_of(in_, pitch.pitch_outer, pitch.pitch_inner);
        if (period > bytes) {
            access.period = period;
            access.residue = address % period;
            access.length = bytes;
        }
        out_[number_++] = access;
    }

    void add_sums(bool is_write, uint32_t row)
    {
        add(Memory::kSums, is_write, row, uint64_t{in_.outer} * in_.inner);
    }

    int number() const { return number_; }

  private:
    const Instruction& in_;
    Access* out_;
    int number_ = 0;
};

void list_activate(const Instruction& in, AccessList* list)
{
    list->add_sums(false, in.a.address);
    list->add(Memory::kBuffer, false, in.b.address, uint64_t{in.length} * kParameterBytes);
    if (in.flags & kTable) list->add(Memory::kBuffer, false, in.table, 256);
}

// Adds the range that a pool reads: the one around all windows.
void list_pool(const Instruction& in, AccessList* list)
{
    const uint64_t reach = uint64_t{in.outer - 1u} * in.a.pitch_outer +
                           uint64_t{in.inner - 1u} * in.a.pitch_inner +
                           uint64_t{in.window_outer - 1u} * in.window_pitch_outer +
                           uint64_t{in.window_inner - 1u} * in.window_pitch_inner;
    const uint64_t bytes = uint64_t{in.length} * static_cast<uint64_t>(element_bytes(in));
    list->add(Memory::kBuffer, false, in.a.address, reach + bytes);
}

}  // namespace

int element_bytes(const Instruction& instruction)
{
    return instruction.flags & (kFloat | kWide) ? 2 : 1;
}

int list_accesses(const Instruction& in, Access out[kMaxAccesses])
{
    AccessList list(in, out);
    const uint64_t bytes = uint64_t{in.length} * static_cast<uint64_t>(element_bytes(in));
    switch (in.opcode) {
        case Opcode::kMatrixMultiply:
            list.add_grid(Memory::kBuffer, false, in.a.address, in.a,
                          uint64_t{in.length} * (in.flags & (kWideA | kFloat) ? 2 : 1));
            list.add_sums(true, in.d.address);
            return list.number();
        case Opcode::kReadHost:
            list.add_grid(Memory::kHost, false, in.host_address, in.a, in.length);
            list.add_grid(Memory::kBuffer, true, in.d.address, in.d, in.length);
            return list.number();
        case Opcode::kWriteHost:
            list.add_grid(Memory::kBuffer, false, in.a.address, in.a, in.length);
            list.add_grid(Memory::kHost, true, in.host_address, in.d, in.length);
            return list.number();
        case Opcode::kActivate:
            list_activate(in, &list);
            break;
        case Opcode::kLookup:
            list.add(Memory::kBuffer, false, in.table, 256);
            list.add_grid(Memory::kBuffer, false, in.a.address, in.a, bytes);
            break;
        case Opcode::kAdd:
        case Opcode::kMultiply:
            list.add_grid(Memory::kBuffer, false, in.b.address, in.b, bytes);
            list.add_grid(Memory::kBuffer, false, in.a.address, in.a, bytes);
            break;
        case Opcode::kCopy:
            list.add_grid(Memory::kBuffer, false, in.a.address, in.a, bytes);
            break;
        case Opcode::kMaxPool:
        case Opcode::kAveragePool:
            list_pool(in, &list);
            break;
        case Opcode::kFill:
            break;
        default:
            return 0;
    }
    list.add_grid(Memory::kBuffer, true, in.d.address, in.d, bytes);
    return list.number();
}

bool accesses_overlap(const Access& a, const Access& b)
{
    if (a.memory != b.memory || a.begin >= b.end || b.begin >= a.end) return false;
    if (a.period == 0 || a.period != b.period) return true;
    // Two arcs on a circle of `period` bytes overlap unless each begins after the other's end.
    const uint64_t from_a = (b.residue + a.period - a.residue) % a.period;
    const uint64_t from_b = (a.residue + a.period - b.residue) % a.period;
    return from_a < a.length || from_b < b.length;
}

}  // namespace tengine::tpu
