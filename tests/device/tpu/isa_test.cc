// SPDX-License-Identifier: Apache-2.0
// The encoding: every opcode and form in both directions, bytes that are not an instruction, and
// the layout that files rely on.
#include "device/tpu/machine/isa.h"

#include <cstring>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <sstream>
#include <string>

#include "device/tpu/machine/isa_table.h"
#include "tengine/error.h"

namespace tengine::tpu {
namespace {

using testing::HasSubstr;

// Returns every form: its opcode with the flags that it requires.
std::vector<const Form*> all_forms()
{
    std::vector<const Form*> forms;
    for (int opcode = 0; opcode < kOpcodeNum; ++opcode) {
        const Form* plain = find_form(static_cast<Opcode>(opcode), 0);
        const Form* real = find_form(static_cast<Opcode>(opcode), kFloat);
        forms.push_back(plain);
        if (real != plain) forms.push_back(real);
    }
    return forms;
}

Instruction random_instruction(const Form& form, std::mt19937_64* random)
{
    Instruction instruction;
    instruction.opcode = form.opcode;
    instruction.flags = ((*random)() & form.flags) | form.required_flags;
    for (int f = 0; f < form.field_num; ++f) {
        for (int m = 0; m < form.fields[f].member_num; ++m)
            set_member(&instruction, form.fields[f].members[m], (*random)());
    }
    return instruction;
}

TEST(Isa, EveryOpcodeHasAName)
{
    std::set<std::string> names;
    for (int opcode = 0; opcode < kOpcodeNum; ++opcode)
        EXPECT_TRUE(names.insert(opcode_name(static_cast<Opcode>(opcode))).second);
    EXPECT_EQ(opcode_name(static_cast<Opcode>(kOpcodeNum)), nullptr);
    EXPECT_EQ(opcode_name(static_cast<Opcode>(255)), nullptr);
    EXPECT_STREQ(opcode_name(Opcode::kMatrixMultiply), "matrix_multiply");
}

TEST(Isa, InstructionsAreTheSameAfterwards)
{
    std::mt19937_64 random(1);
    for (const Form* form : all_forms()) {
        for (int i = 0; i < 100; ++i) {
            const Instruction written = random_instruction(*form, &random);
            uint8_t bytes[kInstructionBytes];
            encode_instruction(written, bytes);
            Instruction read;
            ASSERT_EQ(decode_instruction(bytes, &read), TENGINE_OK)
                << form->name << ": " << tengine_error_message();
            uint8_t again[kInstructionBytes];
            encode_instruction(read, again);
            ASSERT_EQ(std::memcmp(bytes, again, sizeof bytes), 0) << form->name;
            EXPECT_EQ(read.opcode, written.opcode);
            EXPECT_EQ(read.flags, written.flags);
            for (int f = 0; f < form->field_num; ++f) {
                for (int m = 0; m < form->fields[f].member_num; ++m) {
                    const Member& member = form->fields[f].members[m];
                    EXPECT_EQ(get_member(read, member), get_member(written, member))
                        << form->name << " " << form->fields[f].name;
                }
            }
        }
    }
}

TEST(Isa, MembersThatAreNotUsedAreNotEncoded)
{
    Instruction copy;
    copy.opcode = Opcode::kCopy;
    copy.length = 3;
    copy.b.address = 77;
    uint8_t bytes[kInstructionBytes];
    encode_instruction(copy, bytes);
    Instruction read;
    ASSERT_EQ(decode_instruction(bytes, &read), TENGINE_OK);
    EXPECT_EQ(read.length, 3u);
    EXPECT_EQ(read.b.address, 0u);
}

TEST(Isa, TheLayoutOfAFile)
{
    Instruction product;
    product.opcode = Opcode::kMatrixMultiply;
    product.flags = kNextTile | kSignedA;
    product.outer = 0x0102;
    product.inner = 3;
    product.length = 0x04050607;
    product.columns = 32;
    product.a = {0x10111213, 0x20, 0x30};
    product.d.address = 0x40414243;
    uint8_t bytes[kInstructionBytes];
    encode_instruction(product, bytes);
    const uint8_t expected[kInstructionBytes] = {
        2,    6,    0,                                // opcode, flags
        2,    1,    3,    0,                          // outer, inner
        7,    6,    5,    4,    32,   0,              // length, columns
        0x13, 0x12, 0x11, 0x10, 0x20, 0,    0,    0,  // a
        0x30, 0,    0,    0,    0x43, 0x42, 0x41, 0x40};
    for (int i = 0; i < kInstructionBytes; ++i)
        EXPECT_EQ(bytes[i], expected[i]) << "byte " << i;
}

TEST(Isa, WhatIsNoInstruction)
{
    uint8_t bytes[kInstructionBytes] = {};
    Instruction read;
    for (int opcode = kOpcodeNum; opcode < 256; ++opcode) {
        bytes[0] = static_cast<uint8_t>(opcode);
        EXPECT_EQ(decode_instruction(bytes, &read), TENGINE_EFORMAT);
        EXPECT_THAT(tengine_error_message(), HasSubstr("invalid opcode " + std::to_string(opcode)));
    }
    bytes[0] = static_cast<uint8_t>(Opcode::kCopy);
    bytes[1] = kNextTile;
    EXPECT_EQ(decode_instruction(bytes, &read), TENGINE_EFORMAT);
    EXPECT_THAT(tengine_error_message(), HasSubstr("copy cannot have the flag next_tile"));
    bytes[1] = 0;
    bytes[2] = 0x80;
    EXPECT_EQ(decode_instruction(bytes, &read), TENGINE_EFORMAT);
    bytes[2] = 0;
    bytes[kInstructionBytes - 1] = 1;
    EXPECT_EQ(decode_instruction(bytes, &read), TENGINE_EFORMAT);
    EXPECT_THAT(tengine_error_message(), HasSubstr("byte 63, after its members"));
}

TEST(Isa, FlagsOfFloatForms)
{
    const Form* product = find_form(Opcode::kMatrixMultiply, kFloat);
    EXPECT_EQ(check_flags(*product, kFloat), TENGINE_EFORMAT);
    EXPECT_THAT(tengine_error_message(), HasSubstr("needs the flag wide_weights"));
    EXPECT_EQ(check_flags(*product, kFloat | kWideWeights | kAccumulate), TENGINE_OK);
    EXPECT_EQ(check_flags(*product, kFloat | kWideWeights | kSignedA), TENGINE_EFORMAT);
    EXPECT_EQ(check_flags(*find_form(Opcode::kActivate, kFloat), kFloat | kTable), TENGINE_EFORMAT);
    EXPECT_EQ(check_flags(*find_form(Opcode::kCopy, kFloat), kFloat), TENGINE_EFORMAT);
}

TEST(Isa, FieldsOfAFormHaveDifferentNames)
{
    for (const Form* form : all_forms()) {
        std::set<std::string> names;
        for (int f = 0; f < form->field_num; ++f)
            EXPECT_TRUE(names.insert(form->fields[f].name).second)
                << form->name << " " << form->fields[f].name;
    }
}

std::string manual_row(const Form& form)
{
    std::string row =
        "| " + std::to_string(static_cast<int>(form.opcode)) + " | `" + form.name + "` |";
    for (const FlagName& known : kFlagNames)
        row += form.flags & known.flag ? std::string(" ") + known.name : "";
    row += " |";
    for (int f = 0; f < form.field_num; ++f) {
        const Field& field = form.fields[f];
        for (int m = 0; m < field.member_num; ++m) {
            row += m == 0 ? std::string(" ") + field.name + ":" : "/";
            row += std::to_string(int{field.members[m].bytes});
        }
    }
    return row + " |\n";
}

TEST(Isa, TheManualHasTheTable)
{
    std::ostringstream manual;
    manual << std::ifstream(TENGINE_SOURCE_DIR "/docs/tpu.md").rdbuf();
    for (const Form* form : all_forms())
        EXPECT_THAT(manual.str(), HasSubstr(manual_row(*form)));
}

}  // namespace
}  // namespace tengine::tpu
