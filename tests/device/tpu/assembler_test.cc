// SPDX-License-Identifier: Apache-2.0
// Text: the sample in both directions, alternative spellings, and errors that name the line.
#include "device/tpu/program/assembler.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <random>

#include "device/tpu/machine/isa_table.h"
#include "device/tpu/sample_program.h"
#include "tengine/error.h"

namespace tengine::tpu {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Program assembled(const std::string& lines)
{
    Program program;
    EXPECT_EQ(assemble(".version 1\n" + lines, &program), TENGINE_OK) << tengine_error_message();
    return program;
}

std::string refusal(const std::string& line)
{
    Program program;
    EXPECT_EQ(assemble(".version 1\n" + line + "\n", &program), TENGINE_EFORMAT) << line;
    EXPECT_THAT(tengine_error_message(), StartsWith("line 2: "));
    return tengine_error_message();
}

TEST(Assembler, TheSampleIsItsOwnDisassembly)
{
    Program program = sample_program();
    program.fingerprint = 0;
    EXPECT_EQ(disassemble(program), sample_text());
}

TEST(Assembler, EveryInstructionIsTheSameAfterwards)
{
    std::mt19937_64 random(1);
    Program program;
    for (int i = 0; i < 2000; ++i) {
        Instruction instruction;
        const auto opcode = static_cast<Opcode>(random() % kOpcodeNum);
        const Form* form = find_form(opcode, random() % 2 ? kFloat : 0);
        instruction.opcode = opcode;
        instruction.flags = (random() & form->flags) | form->required_flags;
        form = find_form(opcode, instruction.flags);
        instruction.flags |= form->required_flags;
        for (int f = 0; f < form->field_num; ++f) {
            for (int m = 0; m < form->fields[f].member_num; ++m)
                set_member(&instruction, form->fields[f].members[m], random() >> random() % 64);
        }
        program.instructions.push_back(instruction);
    }
    program.fingerprint = ~uint64_t{0};
    std::vector<uint8_t> weights(77);
    weights[40] = 9;
    program.weights = weights;
    program.bindings.push_back({"", true, 200, true, {-1, 0x7fffffff}, ~uint64_t{0}});
    Program again;
    ASSERT_EQ(assemble(disassemble(program), &again), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(save_program(again), save_program(program));
}

TEST(Assembler, WhatMayBeWrittenOtherwise)
{
    const Program program = assembled(
        "# a comment, and an empty line\n\n"
        "\t.node \"a#b\"  # another\r\n"
        ".constants\n.bytes 00ff AB\n.zeros 2\n.bytes 01\n"
        ".code\n"
        "copy d=5 length=0x10 a=0x1/2/0x3 inner=7\r\n"
        "activate float high=1e-3 low=-inf\n"
        "average_pool float scale=0x7fc00001\n"
        "add signed_a zero_a=-1 zero_b=255 factor_a=-2147483648");
    EXPECT_EQ(program.nodes, std::vector<std::string>{"a#b"});
    EXPECT_EQ(program.constants, (std::vector<uint8_t>{0, 0xff, 0xab, 0, 0, 1}));
    ASSERT_EQ(program.instructions.size(), 4u);
    const Instruction& copy = program.instructions[0];
    EXPECT_EQ(copy.length, 16u);
    EXPECT_EQ(copy.outer, 0);
    EXPECT_EQ(copy.inner, 7);
    EXPECT_EQ(copy.a.pitch_outer, 2u);
    EXPECT_EQ(copy.a.pitch_inner, 3u);
    EXPECT_EQ(copy.d.address, 5u);
    EXPECT_EQ(program.instructions[1].high_real, 1e-3f);
    EXPECT_EQ(program.instructions[1].low_real, -std::numeric_limits<float>::infinity());
    EXPECT_TRUE(std::isnan(program.instructions[2].low_real));
    EXPECT_EQ(program.instructions[3].zero_a, 255);
    EXPECT_EQ(program.instructions[3].factor_a, std::numeric_limits<int32_t>::min());
}

TEST(Assembler, ErrorsNameTheLine)
{
    EXPECT_THAT(refusal("frobnicate"), HasSubstr("unknown instruction 'frobnicate'"));
    EXPECT_THAT(refusal(".frobnicate"), HasSubstr("unknown directive '.frobnicate'"));
    EXPECT_THAT(refusal("\"copy\""), HasSubstr("expected an instruction or a directive"));
    EXPECT_THAT(refusal("copy fast"), HasSubstr("unknown flag 'fast'"));
    EXPECT_THAT(refusal("copy next_tile"), HasSubstr("copy cannot have the flag next_tile"));
    EXPECT_THAT(refusal("matrix_multiply float"), HasSubstr("needs the flag wide_weights"));
    EXPECT_THAT(refusal("copy b=1"), HasSubstr("no field 'b=1'"));
    EXPECT_THAT(refusal("copy a=1 a=2"), HasSubstr("given twice: 'a=2'"));
    EXPECT_THAT(refusal("copy a=1/2/3/4"), HasSubstr("too many numbers"));
    EXPECT_THAT(refusal("copy outer=65536"), HasSubstr("outer cannot be '65536'"));
    EXPECT_THAT(refusal("copy outer=-1"), HasSubstr("outer cannot be '-1'"));
    EXPECT_THAT(refusal("copy outer="), HasSubstr("outer cannot be"));
    EXPECT_THAT(refusal("copy a=1//3"), HasSubstr("a cannot be"));
    EXPECT_THAT(refusal("copy outer=1x"), HasSubstr("outer cannot be '1x'"));
    EXPECT_THAT(refusal("copy outer=0x"), HasSubstr("outer cannot be '0x'"));
    EXPECT_THAT(refusal("copy a=4294967296"), HasSubstr("a cannot be"));
    EXPECT_THAT(refusal("read_weights weights=18446744073709551616"), HasSubstr("cannot be"));
    EXPECT_THAT(refusal("add zero_a=-1"), HasSubstr("zero_a cannot be '-1'"));
    EXPECT_THAT(refusal("add signed_a zero_a=128"), HasSubstr("zero_a cannot be '128'"));
    EXPECT_THAT(refusal("add factor_a=2147483648"), HasSubstr("factor_a cannot be"));
    EXPECT_THAT(refusal("add float low=x"), HasSubstr("low cannot be 'x'"));
    EXPECT_THAT(refusal(".bytes 00"), HasSubstr("must follow .weights or .constants"));
    EXPECT_THAT(refusal(".host"), HasSubstr("one number must follow '.host'"));
    EXPECT_THAT(refusal(".host -1"), HasSubstr("one number must follow"));
    EXPECT_THAT(refusal(".node a"), HasSubstr("a name in quotes must follow"));
    EXPECT_THAT(refusal(".node \"a"), HasSubstr("unterminated string"));
    EXPECT_THAT(refusal(".node \"a\\"), HasSubstr("unterminated string"));
    EXPECT_THAT(refusal(".node \"a\\\""), HasSubstr("unterminated string"));
    EXPECT_THAT(refusal(".node \"a\\x1\""), HasSubstr("two hexadecimal digits"));
    EXPECT_THAT(refusal(".node \"a\" \"b\""), HasSubstr("more than one name"));
    EXPECT_THAT(refusal(".weights 1"), HasSubstr("nothing may follow"));
    EXPECT_THAT(refusal(".version 1"), HasSubstr("duplicate .version"));
    EXPECT_THAT(refusal(".input \"x\" int8 1x2"), HasSubstr("expected: name, type"));
    EXPECT_THAT(refusal(".input \"x\" fp32 1x2 at=0"), HasSubstr("unknown data type 'fp32'"));
    EXPECT_THAT(refusal(".input \"x\" int8 1x at=0"), HasSubstr("no dimensions: '1x'"));
    EXPECT_THAT(refusal(".input \"x\" int8 2 at=y"), HasSubstr("no address: 'at=y'"));
}

TEST(Assembler, DataAndVersion)
{
    Program program;
    EXPECT_EQ(assemble("", &program), TENGINE_EFORMAT);
    EXPECT_EQ(assemble("nop\n.version 1\n", &program), TENGINE_EFORMAT);
    EXPECT_THAT(tengine_error_message(), HasSubstr("the first line must be .version"));
    EXPECT_EQ(assemble(".version 2\n", &program), TENGINE_ENOTSUP);
    const std::string start = ".version 1\n.weights\n";
    for (const char* line : {".bytes 0", ".bytes 0g", ".zeros", ".zeros 99999999999"}) {
        EXPECT_EQ(assemble(start + line, &program), TENGINE_EFORMAT) << line;
        EXPECT_THAT(tengine_error_message(), StartsWith("line 3: "));
    }
}

TEST(Assembler, AShortTextTakesLittleMemory)
{
    const std::string most = ".weights\n.zeros 67108864\n";  // 64 MiB
    EXPECT_EQ(assembled(most).weights.size(), 67108864u);
    Program program;
    EXPECT_EQ(assemble(".version 1\n" + most + ".constants\n.zeros 1000\n", &program),
              TENGINE_EFORMAT);
    EXPECT_THAT(tengine_error_message(),
                HasSubstr("line 5: more zeros than the program may have: '1000'"));
}

// Letters are removed, doubled and exchanged: any string is accepted or refused.
TEST(Assembler, DamagedTextDoesNoHarm)
{
    const std::string& text = sample_text();
    for (size_t i = 0; i < text.size(); ++i) {
        Program program;
        (void)assemble(text.substr(0, i), &program);
        (void)assemble(text.substr(0, i) + text.substr(i + 1), &program);
        for (const char letter : {'"', '\\', '=', '/', '-', '\0', '\xff', '9'})
            (void)assemble(text.substr(0, i) + letter + text.substr(i), &program);
    }
}

}  // namespace
}  // namespace tengine::tpu
