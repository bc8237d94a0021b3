// SPDX-License-Identifier: Apache-2.0
// Cycles of small programs, each computed by hand from the rules in docs/tpu-simulator.md.
#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

#include "device/tpu/reference_random.h"
#include "device/tpu/simulator/simulator.h"
#include "device/tpu/simulator/timing_port.h"
#include "tengine/error.h"

namespace tengine::tpu {
namespace {

// 4 x 4, a byte a cycle from weight memory (a tile: 16 cycles) and from the host (10 more to the
// first byte), 4 lanes. Results are complete 6 cycles after the last vector.
Config tiny_config()
{
    Config config = small_config(4, 4);
    config.weight_gbps = config.host_gbps = 1;
    config.weight_fifo_tiles = 2;
    config.vector_lanes = 4;
    config.dma_latency = 10;
    return config;
}

// Programs one instruction after the other.
class Cycles : public ::testing::Test
{
  protected:
    Instruction& add(Opcode opcode)
    {
        program_.instructions.emplace_back();
        Instruction& in = program_.instructions.back();
        in.opcode = opcode;
        in.outer = in.inner = 1;
        return in;
    }
    void fetch(int flags = 0)
    {
        Instruction& in = add(Opcode::kReadWeights);
        in.tiles = 1;
        in.flags = static_cast<uint16_t>(flags);
    }
    // `vectors` of 4 bytes at `a` to accumulator rows from `row`.
    Instruction& multiply(int vectors, int flags, uint32_t a = 0, uint32_t row = 0)
    {
        Instruction& in = add(Opcode::kMatrixMultiply);
        in.flags = static_cast<uint16_t>(flags);
        in.inner = static_cast<uint16_t>(vectors);
        in.length = in.columns = 4;
        in.a = {a, 0, 4};
        in.d.address = row;
        return in;
    }
    void activate(int vectors, uint32_t row, uint32_t d)
    {
        Instruction& in = add(Opcode::kActivate);
        in.inner = static_cast<uint16_t>(vectors);
        in.length = 4;
        in.a.address = row;
        in.b.address = 4000;
        in.d = {d, 0, 4};
    }
    // `vectors` of `length` bytes.
    Instruction& fill(int vectors, int length, uint32_t d)
    {
        Instruction& in = add(Opcode::kFill);
        in.inner = static_cast<uint16_t>(vectors);
        in.length = static_cast<uint32_t>(length);
        in.d = {d, 0, in.length};
        return in;
    }
    void read(uint32_t bytes, uint64_t host, uint32_t d)
    {
        Instruction& in = add(Opcode::kReadHost);
        in.length = bytes;
        in.host_address = host;
        in.d.address = d;
    }
    void write(uint32_t bytes, uint32_t a, uint64_t host)
    {
        Instruction& in = add(Opcode::kWriteHost);
        in.length = bytes;
        in.host_address = host;
        in.a.address = a;
    }
    Counters count()
    {
        Counters counters;
        EXPECT_EQ(count_cycles(program_, config_, &counters), TENGINE_OK)
            << tengine_error_message();
        return counters;
    }
    void restart() { program_.instructions.clear(); }

    Config config_ = tiny_config();
    Program program_;
};

// Compared in the order of the counters' definition.
void expect_array(const Counters& counters, int64_t total, int64_t active, int64_t stall,
                  int64_t shift, int64_t raw, int64_t input)
{
    EXPECT_EQ(counters.total, total);
    EXPECT_EQ(counters.active, active);
    EXPECT_EQ(counters.weight_stall, stall);
    EXPECT_EQ(counters.weight_shift, shift);
    EXPECT_EQ(counters.non_matrix, total - active - stall - shift);
    EXPECT_EQ(counters.raw_stall, raw);
    EXPECT_EQ(counters.input_stall, input);
}

TEST_F(Cycles, OneProduct)
{
    fetch();
    multiply(8, kNextTile);
    add(Opcode::kHalt);
    // The tile arrives at 16, is in the array at 20; vectors enter until 28, the last result is
    // complete at 34.
    expect_array(count(), 34, 8, 0, 0, 0, 0);
}

TEST_F(Cycles, SecondTileIsLate)
{
    for (int i = 0; i < 2; ++i) {
        fetch();
        multiply(8, kNextTile);
    }
    // The second arrives at 32, 4 cycles after the array becomes idle, and is in the array at 36.
    expect_array(count(), 50, 16, 4, 4, 0, 0);
}

TEST_F(Cycles, ShiftHidesBehindTheProduct)
{
    for (int i = 0; i < 2; ++i) {
        fetch();
        multiply(40, kNextTile);
    }
    expect_array(count(), 20 + 40 + 40 + 6, 80, 0, 0, 0, 0);
}

TEST_F(Cycles, WithoutDoubleBufferNothingHides)
{
    config_.double_buffer = false;
    for (int i = 0; i < 2; ++i) {
        fetch();
        multiply(40, kNextTile);
    }
    // 6 cycles until the array is empty, 4 to shift.
    expect_array(count(), 20 + 40 + 10 + 40 + 6, 80, 0, 4, 0, 0);
    multiply(40, 0);  // the same tile: one stream
    expect_array(count(), 20 + 40 + 10 + 80 + 6, 120, 0, 4, 0, 0);
}

TEST_F(Cycles, FifoHoldsWhatItHolds)
{
    config_.weight_fifo_tiles = 1;
    for (int i = 0; i < 2; ++i) {
        fetch();
        multiply(8, kNextTile);
    }
    // The second may be fetched after the first is in the array, at 20: it arrives at 36.
    expect_array(count(), 36 + 4 + 8 + 6, 16, 8, 4, 0, 0);
}

TEST_F(Cycles, FetchesRunAheadOfProducts)
{
    for (int i = 0; i < 4; ++i)
        fetch();
    for (int i = 0; i < 4; ++i)
        multiply(8, kNextTile);
    // Tiles 3 and 4 wait for places 1 and 2, free at 20 and 36: all arrive 16 cycles apart, and
    // each product begins 4 later.
    expect_array(count(), 68 + 8 + 6, 32, 12, 12, 0, 0);
    for (Instruction& in : program_.instructions)
        if (in.opcode == Opcode::kMatrixMultiply) in.inner = 100;
    expect_array(count(), 20 + 400 + 6, 400, 0, 0, 0, 0);
}

TEST_F(Cycles, WideTilesTakeOnePlaceAndTwiceTheTime)
{
    config_.weight_fifo_tiles = 1;
    for (int i = 0; i < 2; ++i) {
        fetch(kWideWeights);
        multiply(8, kNextTile | kWideWeights);
    }
    // 32 cycles each; the second has room after the first is in the array at 36. It arrives at 68,
    // is in at 72; a vector takes 2 cycles, so the array was idle from 52.
    expect_array(count(), 72 + 16 + 6, 32, 16, 4, 0, 0);
    config_.weight_fifo_tiles = 2;  // the second arrives at 64, is in at 68
    expect_array(count(), 68 + 16 + 6, 32, 12, 4, 0, 0);
}

TEST_F(Cycles, ModesTakeOneTwoOrFourCyclesAVector)
{
    const struct
    {
        int flags;
        int64_t active;
    } modes[] = {{0, 8},
                 {kWideA, 16},
                 {kWideWeights, 16},
                 {kWideA | kWideWeights, 32},
                 {kFloat | kWideWeights, 32}};
    for (const auto& mode : modes) {
        restart();
        fetch(mode.flags & kWideWeights);
        multiply(8, kNextTile | mode.flags);
        const Counters counters = count();
        EXPECT_EQ(counters.active, mode.active);
        EXPECT_EQ(counters.macs, 8 * 16);
        EXPECT_EQ(counters.mac_slots, 8 * 16);
    }
}

TEST_F(Cycles, ProductWaitsForInput)
{
    fetch();
    read(16, 0, 0);
    multiply(4, kNextTile);
    // Requested at 1, first byte at 11, last at 27.
    expect_array(count(), 27 + 4 + 6, 4, 0, 0, 0, 27);
    restart();
    fetch();
    multiply(8, kNextTile, 100);
    read(40, 0, 0);
    multiply(8, 0);
    // Requested at 2, last byte at 52; idle since 28.
    expect_array(count(), 52 + 8 + 6, 16, 0, 0, 0, 24);
}

TEST_F(Cycles, ProductWaitsForTheVectorUnit)
{
    fetch();
    multiply(8, kNextTile);
    activate(8, 0, 200);
    multiply(8, 0, 200, 8);
    // Sums at 34, activated at 42; idle since 28.
    expect_array(count(), 42 + 8 + 6, 16, 0, 0, 14, 0);
}

TEST_F(Cycles, ProductDoesNotOverwriteSumsThatAreRead)
{
    fetch();
    multiply(8, kNextTile);
    activate(8, 0, 200);
    multiply(8, 0, 0, 7);  // one row in common
    expect_array(count(), 42 + 8 + 6, 16, 0, 0, 14, 0);
    program_.instructions.back().d.address = 8;
    expect_array(count(), 42, 16, 0, 0, 0, 0);
}

TEST_F(Cycles, ProductsOnTheSameSumsStream)
{
    fetch();
    multiply(8, kNextTile);
    multiply(8, kAccumulate);
    expect_array(count(), 20 + 16 + 6, 16, 0, 0, 0, 0);
}

TEST_F(Cycles, InputIsNotOverwrittenWhileItIsRead)
{
    fetch();
    multiply(8, kNextTile, 0);
    read(4, 0, 28);  // the last of the vectors, read until 28
    EXPECT_EQ(count().total, 28 + 10 + 4);
    program_.instructions.back().d.address = 32;
    EXPECT_EQ(count().total, 34);
}

TEST_F(Cycles, ChannelSlicesOfOneTensorAreApart)
{
    fill(8, 4, 0).d.pitch_inner = 8;  // until 8
    read(4, 0, 0);
    Instruction& in = program_.instructions.back();
    in.inner = 8;
    in.a.pitch_inner = 4;
    in.d.pitch_inner = 8;
    in.d.address = 4;  // the other slice: requested at 1
    EXPECT_EQ(count().total, 1 + 10 + 32);
    program_.instructions.back().d.address = 3;
    EXPECT_EQ(count().total, 8 + 10 + 32);
}

TEST_F(Cycles, TransfersShareThePortAndHideLatency)
{
    read(16, 0, 0);
    read(16, 16, 16);
    EXPECT_EQ(count().total, 10 + 32) << "the second's latency passes meanwhile";
    restart();
    read(16, 0, 0);
    write(16, 16, 100);
    EXPECT_EQ(count().total, 10 + 32) << "both ways share the bandwidth";
    EXPECT_EQ(count().dma_busy, 32);
}

TEST_F(Cycles, LatencyBeginsWhenOperandsAreReady)
{
    fill(24, 4, 100);    // until 24
    write(16, 0, 0);     // 11 to 27
    write(4, 100, 100);  // requested at 24, while the previous one is still in flight
    EXPECT_EQ(count().total, 24 + 10 + 4);
}

TEST_F(Cycles, LaterTransfersTakeTheGaps)
{
    fetch();
    fill(100, 4, 0);     // until 101
    write(16, 0, 0);     // waits for it: 111 to 127
    read(16, 100, 800);  // no need to wait: 13 to 29
    multiply(4, kNextTile, 800);
    const Counters counters = count();
    EXPECT_EQ(counters.total, 127);
    EXPECT_EQ(counters.input_stall, 29);
}

TEST_F(Cycles, SpilledValuesComeBackAfterTheyWent)
{
    fill(1, 16, 0);      // until 4
    write(16, 0, 100);   // 14 to 30
    read(16, 115, 500);  // one byte in common: requested at 30
    EXPECT_EQ(count().total, 30 + 10 + 16);
    program_.instructions.back().host_address = 116;
    // Requested at 2: two bytes from 12 on, the other 14 after the write.
    EXPECT_EQ(count().total, 30 + 14);
}

TEST_F(Cycles, SharedMemoryHasOnePortForAll)
{
    read(16, 0, 0);
    fetch();
    multiply(8, kNextTile, 100);
    // Weights have a port of their own: 1 to 17, in at 21.
    EXPECT_EQ(count().total, 21 + 8 + 6);
    config_.shared_memory = true;
    // 9 bytes until the transfer's first byte at 10, the other 7 after its last: 33, in at 37.
    EXPECT_EQ(count().total, 37 + 8 + 6);
}

TEST_F(Cycles, FractionsOfACycleAddUp)
{
    config_.weight_fifo_tiles = 4;
    for (const int tenths : {7, 9, 11, 13, 17, 19, 21, 23, 27, 29, 30}) {
        config_.weight_gbps = tenths / 10.0;
        restart();
        for (int i = 0; i < 20 * tenths; ++i) {
            fetch();
            multiply(1, kNextTile);
        }
        // The last arrives at exactly 3200: 4 to shift, 1 vector, 6.
        EXPECT_EQ(count().total, 3200 + 4 + 1 + 6) << config_.weight_gbps;
    }
}

TEST_F(Cycles, VectorUnitTakesLanesAtATime)
{
    const auto total = [&](Opcode opcode, int flags, uint32_t length) {
        restart();
        Instruction& in = fill(3, static_cast<int>(length), 0);
        in.opcode = opcode;
        in.flags = static_cast<uint16_t>(flags);
        in.window_outer = 2;
        in.window_inner = 3;
        return count().total;
    };
    EXPECT_EQ(total(Opcode::kCopy, 0, 4), 3);
    EXPECT_EQ(total(Opcode::kCopy, 0, 5), 6);
    EXPECT_EQ(total(Opcode::kFill, kWide, 4), 6);
    EXPECT_EQ(total(Opcode::kLookup, 0, 9), 9);
    EXPECT_EQ(total(Opcode::kAdd, 0, 4), 3);
    EXPECT_EQ(total(Opcode::kAdd, kFloat, 4), 6);
    EXPECT_EQ(total(Opcode::kMultiply, 0, 1), 3);
    EXPECT_EQ(total(Opcode::kMaxPool, 0, 4), 18);
    EXPECT_EQ(total(Opcode::kAveragePool, kFloat, 4), 36);
    EXPECT_EQ(total(Opcode::kActivate, 0, 4), 3);
}

TEST_F(Cycles, SyncWaitsForAll)
{
    fill(40, 4, 0);
    add(Opcode::kSync);
    read(16, 0, 500);
    EXPECT_EQ(count().total, 40 + 10 + 16);
    program_.instructions[1].opcode = Opcode::kNop;
    EXPECT_EQ(count().total, 40);
}

TEST_F(Cycles, NodesShareTheTotal)
{
    program_.nodes = {"conv", "relu", "unused"};
    add(Opcode::kTag);
    fetch();
    multiply(8, kNextTile);
    add(Opcode::kTag).value = 1;
    activate(8, 0, 100);
    const Counters counters = count();
    // One cycle later than OneProduct, because of the tag.
    EXPECT_EQ(counters.node_cycles, (std::vector<int64_t>{35, 8, 0}));
    EXPECT_EQ(counters.total, 43);
    EXPECT_EQ(counters.instructions[static_cast<size_t>(Opcode::kTag)], 2);
}

TEST_F(Cycles, BytesAndEnergy)
{
    fetch();
    read(32, 0, 0);
    multiply(8, kNextTile);
    multiply(8, kAccumulate);
    activate(8, 0, 100);
    write(32, 100, 0);
    const Counters counters = count();
    EXPECT_EQ(counters.weight_bytes, 16);
    EXPECT_EQ(counters.host_read_bytes, 32);
    EXPECT_EQ(counters.host_write_bytes, 32);
    EXPECT_EQ(counters.buffer_write_bytes, 32 + 32);
    EXPECT_EQ(counters.buffer_read_bytes, 32 + 32 + 4 * kParameterBytes + 32);
    EXPECT_EQ(counters.sum_write_bytes, 2 * 8 * 4 * 4);
    EXPECT_EQ(counters.sum_read_bytes, 8 * 4 * 4 + 8 * 4 * 4);
    EXPECT_EQ(counters.macs, 2 * 8 * 16);
    // 256 products of 0.3 pJ, 32 activated elements of 3.3, 80 bytes of DRAM of 162.5; and SRAM:
    // below 1.25 pJ a byte, as both memories are smaller than 8 KiB.
    const double rest = counters.energy_pj - 256 * 0.3 - 32 * 3.3 - 80 * 162.5;
    EXPECT_GT(rest, 0);
    EXPECT_LT(rest, 1.25 * (64 + 144 + 256 + 256));
}

TEST_F(Cycles, NothingTakesNoTimeButItsDispatch)
{
    add(Opcode::kHalt);
    expect_array(count(), 1, 0, 0, 0, 0, 0);
}

// For any valid program the parts add up (count_cycles() checks it), and no unit is busy longer
// than the total.
TEST(CyclesOfRandomPrograms, AddUp)
{
    for (unsigned seed = 0; seed < 200; ++seed) {
        Random random(seed);
        Config config = small_config(random_int(&random, 1, 20), random_int(&random, 1, 20));
        config.dma_latency = random_int(&random, 0, 50);
        config.double_buffer = random_int(&random, 0, 1) == 1;
        config.shared_memory = random_int(&random, 0, 1) == 1;
        config.weight_gbps = random_int(&random, 1, 40) / 7.0;
        config.weight_fifo_tiles = random_int(&random, 1, 5);
        Program program;
        program.nodes = {"a", "b"};
        for (int i = 0; i < 100; ++i) {
            const auto opcode = static_cast<Opcode>(random_int(&random, 2, 12));
            const std::vector<uint16_t>& all = legal_flags(opcode);
            uint16_t flags =
                all[static_cast<size_t>(random_int(&random, 0, static_cast<int>(all.size()) - 1))];
            if (opcode == Opcode::kMatrixMultiply && i % 3 != 0)
                flags &= static_cast<uint16_t>(~kNextTile);
            if (flags & kNextTile)
                program.instructions.push_back(random_instruction(
                    &random, Opcode::kReadWeights, flags & kWideWeights, config, 4096));
            program.instructions.push_back(
                random_instruction(&random, opcode, flags, config, 4096));
            program.instructions.emplace_back();
            program.instructions.back().opcode = i % 7 == 0 ? Opcode::kSync : Opcode::kTag;
            program.instructions.back().value = i % 2;
        }
        Counters counters;
        ASSERT_EQ(count_cycles(program, config, &counters), TENGINE_OK) << tengine_error_message();
        EXPECT_GE(counters.total, counters.active);
        EXPECT_GE(counters.total, counters.vector_busy);
        EXPECT_GE(counters.total + 1,
                  counters.dma_busy + (config.shared_memory ? counters.weight_busy : 0));
        EXPECT_GE(counters.total + 1, counters.weight_busy);
        EXPECT_EQ(counters.node_cycles[0] + counters.node_cycles[1], counters.total);
    }
}

TEST(Port, GivesTheFirstFreeTime)
{
    Port port(2);  // bytes a cycle
    EXPECT_EQ(port.reserve(10, 8), 14);
    EXPECT_EQ(port.reserve(0, 8), 4);
    EXPECT_EQ(port.reserve(2, 16), 16) << "4 to 10, then 14 to 16";
    EXPECT_EQ(port.reserve(0, 2), 17);
    EXPECT_EQ(port.reserve(20.5, 1), 21);
    EXPECT_EQ(port.reserve(0, 7), 20.5);
    EXPECT_EQ(port.reserve(0, 1), 21.5);
}

}  // namespace
}  // namespace tengine::tpu
