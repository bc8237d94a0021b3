// SPDX-License-Identifier: Apache-2.0
// Encoding of instructions by the table of isa_table.h.
#include "device/tpu/machine/isa.h"

#include <cstring>

#include "device/tpu/machine/isa_table.h"
#include "tengine/error.h"

namespace tengine::tpu {
namespace {

void put(uint64_t bits, int bytes, uint8_t* out)
{
    for (int i = 0; i < bytes; ++i)
        out[i] = static_cast<uint8_t>(bits >> (8 * i));
}

uint64_t get(const uint8_t* bytes, int number)
{
    uint64_t bits = 0;
    for (int i = 0; i < number; ++i)
        bits |= static_cast<uint64_t>(bytes[i]) << (8 * i);
    return bits;
}

}  // namespace

// An injected invalid opcode has no members.
void encode_instruction(const Instruction& instruction, uint8_t out[kInstructionBytes])
{
    std::memset(out, 0, kInstructionBytes);
    out[0] = static_cast<uint8_t>(instruction.opcode);
    put(instruction.flags, 2, out + 1);
    const Form* form = find_form(instruction.opcode, instruction.flags);
    uint8_t* place = out + 3;
    for (int f = 0; form && f < form->field_num; ++f) {
        const Field& field = form->fields[f];
        for (int m = 0; m < field.member_num; ++m) {
            put(get_member(instruction, field.members[m]), field.members[m].bytes, place);
            place += field.members[m].bytes;
        }
    }
}

int decode_instruction(const uint8_t bytes[kInstructionBytes], Instruction* out_instruction)
{
    Instruction decoded;
    decoded.opcode = static_cast<Opcode>(bytes[0]);
    decoded.flags = static_cast<uint16_t>(get(bytes + 1, 2));
    const Form* form = find_form(decoded.opcode, decoded.flags);
    if (!form)
        return tengine_error_set(TENGINE_EFORMAT, "invalid opcode %d: expected 0 to %d",
                                 int{bytes[0]}, kOpcodeNum - 1);
    TENGINE_RETURN_IF_ERROR(check_flags(*form, decoded.flags));
    const uint8_t* place = bytes + 3;
    for (int f = 0; f < form->field_num; ++f) {
        const Field& field = form->fields[f];
        for (int m = 0; m < field.member_num; ++m) {
            set_member(&decoded, field.members[m], get(place, field.members[m].bytes));
            place += field.members[m].bytes;
        }
    }
    constexpr uint8_t kZeroes[kInstructionBytes] = {};
    if (std::memcmp(place, kZeroes, static_cast<size_t>(bytes + kInstructionBytes - place)) != 0) {
        while (*place == 0)
            ++place;
        return tengine_error_set(TENGINE_EFORMAT, "%s: byte %d, after its members, is not zero",
                                 form->name, static_cast<int>(place - bytes));
    }
    *out_instruction = decoded;
    return TENGINE_OK;
}

const char* opcode_name(Opcode opcode)
{
    const Form* form = find_form(opcode, 0);
    return form ? form->name : nullptr;
}

}  // namespace tengine::tpu
