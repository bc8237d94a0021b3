// SPDX-License-Identifier: Apache-2.0
// The validator: the sample program passes; after one change it fails and names that place.
#include <cmath>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "device/tpu/sample_program.h"
#include "tengine/error.h"

namespace tengine::tpu {
namespace {

using testing::HasSubstr;

constexpr uint32_t kAll = 0xffffffff;

std::string refusal(const Program& program, const Config& config = sample_config())
{
    const int status = validate_program(program, config);
    if (status == TENGINE_OK) return "valid";
    EXPECT_EQ(status, TENGINE_EINVAL);
    return tengine_error_message();
}

// Returns the number-th instruction with this opcode, and with kFloat or not.
Instruction* find(Program* program, Opcode opcode, bool is_float = false, int number = 0)
{
    for (Instruction& instruction : program->instructions) {
        if (instruction.opcode != opcode || ((instruction.flags & kFloat) != 0) != is_float)
            continue;
        if (number-- == 0) return &instruction;
    }
    ADD_FAILURE() << "the sample has no such instruction";
    return &program->instructions.back();
}

struct Case
{
    Opcode opcode;
    bool is_float;
    std::function<void(Instruction*)> change;
    const char* reason;
};

class ValidateInstruction : public testing::TestWithParam<Case>
{
};

TEST_P(ValidateInstruction, IsRefused)
{
    Program program = sample_program();
    ASSERT_EQ(refusal(program), "valid");
    Instruction* instruction = find(&program, GetParam().opcode, GetParam().is_float);
    GetParam().change(instruction);
    const std::string reason = refusal(program);
    const auto index = std::to_string(instruction - program.instructions.data());
    EXPECT_THAT(reason, HasSubstr("instruction " + index + " ("));
    EXPECT_THAT(reason, HasSubstr(GetParam().reason));
}

using I = Instruction;

const Case kCases[] = {
    {Opcode::kNop, false, [](I* i) { i->opcode = static_cast<Opcode>(16); }, "invalid opcode 16"},
    {Opcode::kNop, false, [](I* i) { i->flags = kTable; }, "cannot have the flag table"},
    {Opcode::kNop, false, [](I* i) { i->opcode = Opcode::kHalt; }, "not the last instruction"},
    {Opcode::kTag, false, [](I* i) { i->value = 2; }, "value is 2, the program has 2 nodes"},

    {Opcode::kReadWeights, false, [](I* i) { i->tiles = 0; }, "tiles is 0"},
    {Opcode::kReadWeights, false, [](I* i) { i->tiles = 5; }, "5 tiles; the FIFO holds 4"},
    {Opcode::kReadWeights, false, [](I* i) { i->tiles = 4; }, "the weight memory ends at 192"},
    {Opcode::kReadWeights, false, [](I* i) { i->host_address = 129; }, "takes 64 from 129 on"},
    {Opcode::kReadWeights, false, [](I* i) { i->host_address = ~uint64_t{0} - 63; }, "takes 64"},
    {Opcode::kReadWeights, false, [](I* i) { i->flags = kWideWeights, i->tiles = 4; },
     "takes 512 from 0 on"},
    {Opcode::kReadWeights, false, [](I* i) { i->flags = kWideWeights, i->tiles = 5; },
     "5 tiles; the FIFO holds 4"},

    {Opcode::kMatrixMultiply, false, [](I* i) { i->outer = 0; }, "outer is 0"},
    {Opcode::kMatrixMultiply, false, [](I* i) { i->inner = 0; }, "inner is 0"},
    {Opcode::kMatrixMultiply, false, [](I* i) { i->length = 0; }, "length is 0"},
    {Opcode::kMatrixMultiply, false, [](I* i) { i->length = 9; }, "the array has 8 rows"},
    {Opcode::kMatrixMultiply, false, [](I* i) { i->columns = 0; }, "columns is 0"},
    {Opcode::kMatrixMultiply, false, [](I* i) { i->columns = 9; }, "the array has 8"},
    {Opcode::kMatrixMultiply, false, [](I* i) { i->d.address = 57; },
     "d takes 8 from 57 on, the accumulators end at 64"},
    {Opcode::kMatrixMultiply, false, [](I* i) { i->d.address = kAll; }, "accumulators end at 64"},
    {Opcode::kMatrixMultiply, false, [](I* i) { i->outer = i->inner = 0xffff; }, "ends at 4096"},
    {Opcode::kMatrixMultiply, false, [](I* i) { i->a.address = 4096 - 95; },
     "a takes 96 from 4001 on, the unified buffer ends at 4096"},
    {Opcode::kMatrixMultiply, false, [](I* i) { i->a.pitch_outer = kAll; }, "a takes 4294967327"},
    {Opcode::kMatrixMultiply, false, [](I* i) { i->flags = kSignedA; }, "no tile is in the array"},
    {Opcode::kMatrixMultiply, false, [](I* i) { i->flags |= kWideWeights; },
     "elements of 1 bytes, but it has wide_weights"},
    {Opcode::kMatrixMultiply, true, [](I* i) { i->flags |= kNextTile; }, "no tile was fetched"},
    {Opcode::kMatrixMultiply, true, [](I* i) { i->flags |= kWideA; },
     "cannot have the flag wide_a"},
    {Opcode::kMatrixMultiply, true, [](I* i) { i->a.address = 4096 - 31; }, "a takes 32"},

    {Opcode::kActivate, false, [](I* i) { i->length = 9; }, "accumulators have 8 columns"},
    {Opcode::kActivate, false, [](I* i) { i->a.address = 57; }, "a takes 8 from 57 on"},
    {Opcode::kActivate, false, [](I* i) { i->b.address = 4096 - 47; }, "parameters takes 48"},
    {Opcode::kActivate, false, [](I* i) { i->table = 4096 - 255; }, "table takes 256"},
    {Opcode::kActivate, false, [](I* i) { i->d.address = 4005; }, "d takes 92 from 4005 on"},
    {Opcode::kActivate, false, [](I* i) { i->d.pitch_inner = 3; }, "overlap"},
    {Opcode::kActivate, false, [](I* i) { i->d.pitch_outer = 27; }, "overlap"},
    {Opcode::kActivate, false, [](I* i) { i->lowest = 127, i->highest = 128; },
     "lowest 127 is above highest -128"},
    {Opcode::kActivate, true, [](I* i) { i->low_real = 7; }, "low 7 is above high 6.5"},
    {Opcode::kActivate, true, [](I* i) { i->high_real = std::nanf(""); }, "high nan"},
    {Opcode::kActivate, true, [](I* i) { i->d.pitch_inner = 7; }, "vectors of 8 bytes"},

    {Opcode::kCopy, false, [](I* i) { i->a.address = kAll; }, "a takes 96 from 4294967295"},
    {Opcode::kCopy, false, [](I* i) { i->d.pitch_outer = 0; }, "overlap"},
    {Opcode::kCopy, false, [](I* i) { i->length = kAll; }, "a takes 4294967383"},
    {Opcode::kFill, false, [](I* i) { i->flags = kWide; }, "vectors of 32 bytes"},
    {Opcode::kFill, false, [](I* i) { i->d.address = 4096 - 31; }, "d takes 32"},
    {Opcode::kLookup, false, [](I* i) { i->table = 4096 - 255; }, "table takes 256"},
    {Opcode::kLookup, false, [](I* i) { i->d.address = 4096 - 31; }, "d takes 32"},

    {Opcode::kAdd, false, [](I* i) { i->shift = 63; }, "shift is 63, expected 0 to 62"},
    {Opcode::kAdd, false, [](I* i) { i->b.address = 4096 - 31; }, "b takes 32"},
    {Opcode::kAdd, false, [](I* i) { i->d.pitch_inner = 7; }, "overlap"},
    {Opcode::kAdd, false, [](I* i) { i->highest = 0x7f, i->flags = 0; }, "lowest 128"},
    {Opcode::kAdd, true, [](I* i) { i->a.address = 4096 - 55; }, "a takes 56"},
    {Opcode::kAdd, true, [](I* i) { i->low_real = 1; }, "low 1"},
    {Opcode::kMultiply, false, [](I* i) { i->shift = 255; }, "shift is 255"},
    {Opcode::kMultiply, false, [](I* i) { i->b.address = 4096 - 7; }, "b takes 8"},
    {Opcode::kMultiply, true, [](I* i) { i->high_real = -4; }, "high -4"},

    {Opcode::kMaxPool, false, [](I* i) { i->window_outer = 0; }, "a window of 0 x 2"},
    {Opcode::kMaxPool, false, [](I* i) { i->window_inner = 0; }, "a window of 2 x 0"},
    {Opcode::kMaxPool, false, [](I* i) { i->window_pitch_outer = 4096; }, "a takes 4184"},
    {Opcode::kMaxPool, false, [](I* i) { i->a.address = 4096 - 151; }, "a takes 152"},
    {Opcode::kMaxPool, false, [](I* i) { i->window_outer = i->window_inner = 0xffff; }, "a takes"},
    {Opcode::kMaxPool, true, [](I* i) { i->d.pitch_inner = 7; }, "overlap"},
    {Opcode::kAveragePool, false, [](I* i) { i->shift = 63; }, "shift is 63"},
    {Opcode::kAveragePool, false,
     [](I* i) {
         i->window_outer = 0x8000, i->window_inner = 0x101;
         i->window_pitch_outer = i->window_pitch_inner = 0;
     },
     "a window of 8421376, expected at most 8388608"},
    {Opcode::kAveragePool, true, [](I* i) { i->low_real = std::numeric_limits<float>::infinity(); },
     "scale is inf"},

    {Opcode::kReadHost, false, [](I* i) { i->host_address = 2048 - 351; },
     "host takes 352 from 1697 on, the host memory ends at 2048"},
    {Opcode::kReadHost, false, [](I* i) { i->host_address = ~uint64_t{0}; }, "host takes 352"},
    {Opcode::kReadHost, false, [](I* i) { i->d.address = 4096 - 351; }, "d takes 352"},
    {Opcode::kReadHost, false, [](I* i) { i->inner = 2; }, "overlap"},
    {Opcode::kReadHost, false, [](I* i) { i->length = kAll; }, "host takes 4294967295"},
    {Opcode::kWriteHost, false, [](I* i) { i->host_address = 511; },
     "where constants extend to 512"},
    {Opcode::kWriteHost, false, [](I* i) { i->host_address = 2048 - 9; }, "host takes 10"},
    {Opcode::kWriteHost, false, [](I* i) { i->d.pitch_inner = 4; }, "host: 1 x 2 vectors"},
    {Opcode::kWriteHost, false, [](I* i) { i->a.address = 4096 - 12; }, "a takes 13"},
};

INSTANTIATE_TEST_SUITE_P(Table, ValidateInstruction, testing::ValuesIn(kCases));

TEST(Validate, TheProgramAroundTheInstructions)
{
    Program program = sample_program();
    program.fingerprint ^= 1;
    EXPECT_THAT(refusal(program), HasSubstr("another configuration than 'sample'"));
    Config other = sample_config();
    other.accumulator_rows = 65;
    EXPECT_THAT(refusal(sample_program(), other), HasSubstr("another configuration"));
    other = sample_config();
    other.clock_mhz = 5;
    EXPECT_EQ(refusal(sample_program(), other), "valid");

    program = sample_program();
    program.instructions.pop_back();
    EXPECT_THAT(refusal(program), HasSubstr("does not end with halt"));
    program.instructions.clear();
    EXPECT_THAT(refusal(program), HasSubstr("does not end with halt"));
    program = sample_program();
    program.host_bytes = 511;
    EXPECT_THAT(refusal(program), HasSubstr("host memory of 511 bytes"));
    program.host_bytes = ~uint64_t{0};
    EXPECT_THAT(refusal(program), HasSubstr("host memory of 18446744073709551615 bytes"));
    // The memory becomes one block: its size must not be truncated to 32 bits.
    program.host_bytes = (uint64_t{1} << 32) + 2048;
    EXPECT_EQ(refusal(program) == "valid", sizeof(size_t) > 4) << refusal(program);
}

TEST(Validate, Bindings)
{
    const auto reason = [](auto change) {
        Program program = sample_program();
        change(&program.bindings[0]);
        return refusal(program);
    };
    EXPECT_THAT(reason([](Binding* b) { b->data_type = 0; }), HasSubstr("'x' has data type 0"));
    EXPECT_THAT(reason([](Binding* b) { b->dims[1] = 0; }), HasSubstr("a dimension of 0"));
    EXPECT_THAT(reason([](Binding* b) { b->dims[1] = -8; }), HasSubstr("a dimension of -8"));
    EXPECT_THAT(reason([](Binding* b) { b->dims.assign(9, 1); }), HasSubstr("9 dimensions"));
    EXPECT_THAT(reason([](Binding* b) { b->dims = {8}; }),
                HasSubstr("1 dimensions, channels last"));
    EXPECT_THAT(reason([](Binding* b) { b->address = 2048 - 127; }), HasSubstr("does not fit"));
    EXPECT_THAT(reason([](Binding* b) { b->address = ~uint64_t{0}; }), HasSubstr("does not fit"));
    EXPECT_THAT(reason([](Binding* b) { b->address = 511; }), HasSubstr("512 to 2048"));
    EXPECT_THAT(reason([](Binding* b) { b->dims.assign(8, 0x7fffffff); }),
                HasSubstr("does not fit"));
    EXPECT_THAT(reason([](Binding* b) { b->dims.assign(8, 0x10000); }), HasSubstr("does not fit"));
    EXPECT_EQ(reason([](Binding* b) { b->address = 2048 - 128; }), "valid");
    EXPECT_EQ(reason([](Binding* b) { b->address = 0, b->is_output = true; }), "valid");
}

Program program_of(const std::string& code)
{
    Program program;
    const std::string text = ".version 1\n.host 64\n.weights\n.zeros 1024\n.code\n" + code;
    EXPECT_EQ(assemble(text, &program), TENGINE_OK) << tengine_error_message();
    program.fingerprint = fingerprint_of(sample_config());
    return program;
}

constexpr char kTake[] = "matrix_multiply next_tile outer=1 inner=1 length=1 columns=1\n";

TEST(Validate, TilesOfTheFifo)
{
    const std::string take = kTake;
    EXPECT_EQ(refusal(program_of("read_weights tiles=1\n" + take + "halt\n")), "valid");
    EXPECT_THAT(refusal(program_of("read_weights tiles=1\n" + take + take + "halt\n")),
                HasSubstr("instruction 2 (matrix_multiply): next_tile, but no tile was fetched"));
    // More tiles than it holds may be in transit, if products take them.
    EXPECT_EQ(refusal(program_of("read_weights tiles=4\nread_weights tiles=2\n" + take + take +
                                 "halt\n")),
              "valid");
    EXPECT_THAT(
        refusal(program_of("read_weights tiles=4\nread_weights tiles=2\n" + take + "halt\n")),
        HasSubstr("(halt): 5 tiles were fetched and not taken"));
    EXPECT_THAT(
        refusal(program_of("read_weights tiles=4\nread_weights tiles=1\nsync\n" + take + "halt\n")),
        HasSubstr("(sync): 5 tiles"));
    // A wide tile takes one place.
    EXPECT_EQ(
        refusal(program_of("read_weights tiles=1\nread_weights wide_weights tiles=3\nhalt\n")),
        "valid");
    EXPECT_THAT(
        refusal(program_of("read_weights tiles=1\nread_weights wide_weights tiles=4\nhalt\n")),
        HasSubstr("(halt): 5 tiles"));
    EXPECT_THAT(refusal(program_of("read_weights wide_weights tiles=1\n" + take + "halt\n")),
                HasSubstr("elements of 2 bytes, but it does not have wide_weights"));
}

TEST(Validate, VectorsThatTouchDoNotOverlap)
{
    const auto reason = [](const std::string& grid) {
        return refusal(program_of("copy length=8 " + grid + "\nhalt\n"));
    };
    EXPECT_EQ(reason("outer=3 inner=4 d=0/32/8"), "valid");
    EXPECT_EQ(reason("outer=3 inner=4 d=0/8/24"), "valid");
    EXPECT_EQ(reason("outer=1 inner=4 d=0/0/8"), "valid");
    EXPECT_EQ(reason("outer=3 inner=1 d=0/8/0"), "valid");
    EXPECT_EQ(reason("outer=1 inner=1 d=0"), "valid");
    EXPECT_THAT(reason("outer=3 inner=4 d=0/31/8"), HasSubstr("overlap"));
    EXPECT_THAT(reason("outer=3 inner=4 d=0/8/23"), HasSubstr("overlap"));
    EXPECT_THAT(reason("outer=3 inner=4 d=0/32/7"), HasSubstr("overlap"));
    EXPECT_THAT(reason("outer=2 inner=2 d=0/8/8"), HasSubstr("overlap"));
    EXPECT_THAT(reason("outer=2 inner=1 d=0/7/100"), HasSubstr("overlap"));
}

TEST(Validate, EverythingUpToTheEdge)
{
    EXPECT_EQ(refusal(program_of("copy outer=1 inner=1 length=4096\nhalt\n")), "valid");
    EXPECT_EQ(refusal(program_of("copy outer=512 inner=1 length=8 a=4088 d=0/8\nhalt\n")), "valid");
    EXPECT_EQ(refusal(program_of("write_host outer=1 inner=1 length=64 a=4032\nhalt\n")), "valid");
    EXPECT_EQ(refusal(program_of("read_weights tiles=4 weights=768\nhalt\n")), "valid");
    EXPECT_EQ(refusal(program_of("activate outer=8 inner=8 length=8 parameters=0x1000\nhalt\n")),
              "TPU program: instruction 0 (activate): parameters takes 96 from 4096 on, the "
              "unified buffer ends at 4096");
}

}  // namespace
}  // namespace tengine::tpu
