// SPDX-License-Identifier: Apache-2.0
// The instruction set as data: each opcode's flags and fields. Encoding and decoding (isa.cc), text
// (assembler.cc, disassembler.cc) and the manual follow this one table.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/tpu/machine/isa.h"

namespace tengine::tpu {

// A member of Instruction: its offset, and its size in bytes, which is also that in a file.
struct Member
{
    uint16_t offset;
    uint8_t bytes;
};

enum class FieldKind : uint8_t
{
    kNumber,   // unsigned
    kAddress,  // unsigned, its first member shown in hexadecimal
    kSigned,   // two's complement
    kByte,     // signed if the instruction has the field's flag
    kReal,     // fp32
};

constexpr int kMaxFieldMembers = 4;

// Members that text writes together, as in a=0x100/256/32.
struct Field
{
    const char* name;
    FieldKind kind;
    uint16_t sign_flag;
    uint8_t member_num;
    Member members[kMaxFieldMembers];
};

// An opcode, or an opcode with kFloat if bf16 has other fields.
struct Form
{
    Opcode opcode;
    const char* name;
    uint16_t flags;           // allowed ones
    uint16_t required_flags;  // required ones
    const Field* fields;
    int field_num;
};

struct FlagName
{
    Flag flag;
    const char* name;
};

constexpr int kFlagNum = 10;
extern const FlagName kFlagNames[kFlagNum];

// Returns the form that an opcode has with these flags; null for a number that is not an opcode.
// The caller checks whether the form allows the flags.
const Form* find_form(Opcode opcode, uint16_t flags);
// Finds a form by the opcode's name; null if there is none.
const Form* find_form(const char* name, uint16_t flags);

// TENGINE_EFORMAT: flags that the form does not have, or missing ones.
int check_flags(const Form& form, uint16_t flags);

// Returns a member's bits, zero-extended.
uint64_t get_member(const Instruction& instruction, const Member& member);
void set_member(Instruction* instruction, const Member& member, uint64_t bits);

}  // namespace tengine::tpu
