// SPDX-License-Identifier: Apache-2.0
// The bytes that an instruction is declared to access against those that it accesses.
#include "device/tpu/machine/access.h"

#include <gtest/gtest.h>
#include <set>
#include <vector>

#include "device/tpu/reference_random.h"

namespace tengine::tpu {
namespace {

constexpr uint64_t kHostBytes = 4096;

// Marks the bytes of the buffer under the grid of `operand`, `extent` from each vector's beginning.
void touch(const Instruction& in, const Operand& operand, uint64_t extent, std::set<uint64_t>* out)
{
    for (unsigned o = 0; o < in.outer; ++o)
        for (unsigned i = 0; i < in.inner; ++i)
            for (uint64_t e = 0; e < extent; ++e)
                out->insert(operand.address + o * operand.pitch_outer + i * operand.pitch_inner +
                            e);
}

struct Touched
{
    std::set<uint64_t> read, written;
};

// Returns the accesses to the buffer by isa.h, for instructions on the buffer only.
Touched touched_by(const Instruction& in)
{
    const uint64_t bytes = uint64_t{in.length} * (in.flags & (kFloat | kWide) ? 2 : 1);
    Touched touched;
    touch(in, in.d, bytes, &touched.written);
    if (in.opcode != Opcode::kFill) touch(in, in.a, bytes, &touched.read);
    if (in.opcode == Opcode::kAdd || in.opcode == Opcode::kMultiply)
        touch(in, in.b, bytes, &touched.read);
    if (in.opcode == Opcode::kLookup)
        for (uint64_t e = 0; e < 256; ++e)
            touched.read.insert(in.table + e);
    for (uint32_t p = 0; p < in.window_outer; ++p)
        for (uint32_t q = 0; q < in.window_inner; ++q) {
            Operand a = in.a;
            a.address += p * in.window_pitch_outer + q * in.window_pitch_inner;
            touch(in, a, bytes, &touched.read);
        }
    return touched;
}

bool meet(const std::set<uint64_t>& a, const std::set<uint64_t>& b)
{
    for (const uint64_t byte : a)
        if (b.count(byte) != 0) return true;
    return false;
}

bool accesses_meet(const Instruction& first, bool first_writes, const Instruction& second,
                   bool second_writes)
{
    Access a[kMaxAccesses], b[kMaxAccesses];
    const int a_num = list_accesses(first, a), b_num = list_accesses(second, b);
    for (int i = 0; i < a_num; ++i)
        for (int j = 0; j < b_num; ++j)
            if (a[i].is_write == first_writes && b[j].is_write == second_writes &&
                accesses_overlap(a[i], b[j]))
                return true;
    return false;
}

Instruction random_vector_instruction(Random* random, const Config& config)
{
    static const Opcode kOpcodes[] = {Opcode::kCopy,       Opcode::kFill,     Opcode::kLookup,
                                      Opcode::kAdd,        Opcode::kMultiply, Opcode::kMaxPool,
                                      Opcode::kAveragePool};
    const Opcode opcode = kOpcodes[random_int(random, 0, 6)];
    const std::vector<uint16_t>& flags = legal_flags(opcode);
    const int last = static_cast<int>(flags.size()) - 1;
    return random_instruction(random, opcode,
                              flags[static_cast<size_t>(random_int(random, 0, last))], config,
                              kHostBytes);
}

TEST(Access, NeverMissesACommonByte)
{
    Random random(3);
    const Config config = small_config(4, 4);
    int common = 0;
    for (int t = 0; t < 3000; ++t) {
        const Instruction first = random_vector_instruction(&random, config);
        const Instruction second = random_vector_instruction(&random, config);
        const Touched a = touched_by(first), b = touched_by(second);
        if (meet(a.written, b.read)) {
            ++common;
            EXPECT_TRUE(accesses_meet(first, true, second, false)) << t;
        }
        if (meet(a.written, b.written)) {
            EXPECT_TRUE(accesses_meet(first, true, second, true)) << t;
        }
        if (meet(a.read, b.written)) {
            EXPECT_TRUE(accesses_meet(first, false, second, true)) << t;
        }
        if (meet(a.read, a.written)) {
            EXPECT_TRUE(accesses_meet(first, false, first, true)) << t;
        }
    }
    EXPECT_GT(common, 150);
}

TEST(Access, IsExactForGridsOfOnePitch)
{
    for (uint32_t first = 0; first < 8; ++first)
        for (uint32_t second = 0; second < 8; ++second)
            for (uint32_t length = 1; length <= 8; ++length) {
                Instruction a, b;
                a.opcode = b.opcode = Opcode::kFill;
                a.outer = b.outer = 5;
                a.inner = b.inner = 4;
                a.length = 3;
                b.length = length;
                a.d = {100 + first, 32, 8};
                b.d = {116 + second, 32, 8};
                EXPECT_EQ(accesses_meet(a, true, b, true),
                          meet(touched_by(a).written, touched_by(b).written))
                    << first << " " << second << " " << length;
            }
}

TEST(Access, ProductsTransfersAndActivates)
{
    Instruction in;
    in.opcode = Opcode::kMatrixMultiply;
    in.outer = 2;
    in.inner = 3;
    in.length = 4;
    in.flags = kWideA;
    in.a = {10, 100, 20};
    in.d.address = 7;
    Access out[kMaxAccesses];
    ASSERT_EQ(list_accesses(in, out), 2);
    EXPECT_EQ(out[0].begin, 10u);
    EXPECT_EQ(out[0].end, 10u + 100 + 40 + 8);
    EXPECT_EQ(out[1].memory, Memory::kSums);
    EXPECT_TRUE(out[1].is_write);
    EXPECT_EQ(out[1].begin, 7u);
    EXPECT_EQ(out[1].end, 13u);

    in.opcode = Opcode::kActivate;
    in.flags = kTable;
    in.a.address = 3;
    in.b.address = 50;
    in.table = 1000;
    ASSERT_EQ(list_accesses(in, out), 4);
    EXPECT_EQ(out[0].memory, Memory::kSums);
    EXPECT_EQ(out[0].end, 9u);
    EXPECT_EQ(out[1].end, 50u + 4 * kParameterBytes);
    EXPECT_EQ(out[2].begin, 1000u);
    EXPECT_EQ(out[2].end, 1256u);
    EXPECT_TRUE(out[3].is_write);

    in.opcode = Opcode::kWriteHost;
    in.flags = 0;
    in.host_address = uint64_t{1} << 40;
    in.d = {0, 4, 8};
    ASSERT_EQ(list_accesses(in, out), 2);
    EXPECT_FALSE(out[0].is_write);
    EXPECT_EQ(out[1].memory, Memory::kHost);
    EXPECT_TRUE(out[1].is_write);
    EXPECT_EQ(out[1].begin, uint64_t{1} << 40);
    EXPECT_EQ(out[1].end, (uint64_t{1} << 40) + 4 + 16 + 4);
    in.opcode = Opcode::kSync;
    EXPECT_EQ(list_accesses(in, out), 0);
}

}  // namespace
}  // namespace tengine::tpu
