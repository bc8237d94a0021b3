// SPDX-License-Identifier: Apache-2.0
// Values: every instruction in every form against the plain reference, whole programs, both kinds
// of kernels, faults.
#include <algorithm>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "device/tpu/machine/isa_table.h"
#include "device/tpu/reference_machine.h"
#include "device/tpu/reference_random.h"
#include "device/tpu/simulator/machine_matrix.h"
#include "device/tpu/simulator/machine_product.h"
#include "device/tpu/simulator/machine_vector.h"
#include "device/tpu/simulator/simulator.h"
#include "tengine/error.h"

namespace tengine::tpu {
namespace {

constexpr uint64_t kHostBytes = 4096;

// The units of the machine on memories of their own, and the reference.
class Pair
{
  public:
    Pair(const Config& config, Random* random) : reference(config), matrix_(config)
    {
        memory_.columns = config.columns;
        reference.weights = random_bytes(
            random, static_cast<size_t>(config.rows) * static_cast<size_t>(config.columns) * 8);
        reference.buffer = random_bytes(random, reference.buffer.size());
        const std::vector<uint8_t> sums = random_bytes(random, reference.sums.size() * 4);
        std::memcpy(reference.sums.data(), sums.data(), sums.size());
        memory_.buffer = reference.buffer;
        memory_.sums = reference.sums;
        memory_.sums.resize(memory_.sums.size() + kProductSlack / sizeof(int32_t));
        matrix_.reset(reference.weights.data());
    }

    void execute(const Instruction& in)
    {
        if (in.opcode == Opcode::kReadWeights) {
            matrix_.read_weights(in);
        } else if (in.opcode == Opcode::kMatrixMultiply) {
            ASSERT_EQ(matrix_.multiply(in, &memory_), TENGINE_OK);
        } else {
            vector_.run(in, &memory_);
        }
        reference.execute(in);
    }

    // Compares everything except the padding.
    void compare() const
    {
        ASSERT_EQ(memory_.buffer, reference.buffer);
        const std::vector<int32_t> sums(memory_.sums.begin(),
                                        memory_.sums.end() - kProductSlack / sizeof(int32_t));
        ASSERT_EQ(sums, reference.sums);
    }

    MachineMemory& memory() { return memory_; }

    ReferenceMachine reference;

  private:
    MachineMemory memory_;
    MatrixUnit matrix_;
    VectorUnit vector_;
};

// Parameters' shifts are data: saturated sums show little, so that most shifts are made to fit.
void tame_parameters(const Instruction& in, Random* random, Pair* pair)
{
    for (uint32_t c = 0; c < in.length; ++c) {
        const size_t at = in.b.address + c * kParameterBytes;
        for (std::vector<uint8_t>* buffer : {&pair->reference.buffer, &pair->memory().buffer}) {
            std::fill_n(buffer->begin() + static_cast<std::ptrdiff_t>(at) + 8, 4, uint8_t{0});
        }
        const auto shift = static_cast<uint8_t>(random_int(random, 30, 62));
        pair->reference.buffer[at + 8] = pair->memory().buffer[at + 8] = shift;
    }
}

void compare_form(Opcode opcode, uint16_t flags, const Config& config, int times)
{
    Random random(static_cast<unsigned>(opcode) * 1024u + flags);
    for (int t = 0; t < times; ++t) {
        Pair pair(config, &random);
        const Instruction in = random_instruction(&random, opcode, flags, config, kHostBytes);
        if (opcode == Opcode::kMatrixMultiply) {
            const auto wide = static_cast<uint16_t>(flags & kWideWeights);
            pair.execute(
                random_instruction(&random, Opcode::kReadWeights, wide, config, kHostBytes));
            Instruction first = in;
            first.flags |= kNextTile;
            pair.execute(first);
            if (flags & kNextTile)
                pair.execute(
                    random_instruction(&random, Opcode::kReadWeights, wide, config, kHostBytes));
        }
        if (opcode == Opcode::kActivate && !(flags & kFloat)) tame_parameters(in, &random, &pair);
        pair.execute(in);
        pair.compare();
        if (::testing::Test::HasFatalFailure()) {
            ADD_FAILURE() << opcode_name(opcode) << " flags " << flags << " time " << t;
            return;
        }
    }
}

class MachineForm : public ::testing::TestWithParam<int>
{
};

TEST_P(MachineForm, AgreesWithReference)
{
    const Opcode opcode = static_cast<Opcode>(GetParam());
    for (const uint16_t flags : legal_flags(opcode)) {
        compare_form(opcode, flags, small_config(5, 7), 60);
        compare_form(opcode, flags, small_config(32, 48), 8);
    }
}

INSTANTIATE_TEST_SUITE_P(All, MachineForm,
                         ::testing::Range(static_cast<int>(Opcode::kMatrixMultiply),
                                          static_cast<int>(Opcode::kReadHost)),
                         [](const auto& parameter) {
                             return std::string(opcode_name(static_cast<Opcode>(parameter.param)));
                         });

void add_whole_transfer(Opcode opcode, uint64_t host_address, const Config& config,
                        Program* program)
{
    Instruction in;
    in.opcode = opcode;
    in.outer = in.inner = 1;
    in.length = static_cast<uint32_t>(config.unified_buffer_bytes);
    in.host_address = host_address;
    program->instructions.push_back(in);
}

// Integers only, since random bytes as bf16 soon become NaN.
Program random_program(Random* random, const Config& config)
{
    Program program;
    program.fingerprint = fingerprint_of(config);
    program.host_bytes = 2 * static_cast<uint64_t>(config.unified_buffer_bytes);
    program.weights = random_bytes(random, static_cast<size_t>(config.rows * config.columns * 8));
    const auto add = [&](Opcode opcode, int flags) {
        program.instructions.push_back(random_instruction(
            random, opcode, static_cast<uint16_t>(flags), config, program.host_bytes));
    };
    add_whole_transfer(Opcode::kReadHost, 0, config, &program);
    for (int i = 0; i < 80; ++i) {
        const Opcode opcode =
            static_cast<Opcode>(random_int(random, static_cast<int>(Opcode::kMatrixMultiply),
                                           static_cast<int>(Opcode::kWriteHost)));
        const std::vector<uint16_t>& all = legal_flags(opcode);
        const int flags =
            all[static_cast<size_t>(random_int(random, 0, static_cast<int>(all.size()) - 1))];
        if (flags & kFloat) continue;
        if (opcode != Opcode::kMatrixMultiply) {
            add(opcode, flags);
            continue;
        }
        add(Opcode::kReadWeights, flags & kWideWeights);
        add(opcode, flags | kNextTile);
        add(opcode, flags & ~kNextTile);
    }
    add_whole_transfer(Opcode::kWriteHost, program.host_bytes / 2, config, &program);
    program.instructions.emplace_back();
    program.instructions.back().opcode = Opcode::kHalt;
    return program;
}

TEST(Machine, RunsWholeProgramsAsReferenceDoes)
{
    const Config config = small_config(9, 6);
    std::unique_ptr<Machine> machine;
    ASSERT_EQ(Machine::create(config, &machine), TENGINE_OK);
    for (unsigned seed = 0; seed < 40; ++seed) {
        Random random(seed);
        const Program program = random_program(&random, config);
        ASSERT_EQ(validate_program(program, config), TENGINE_OK) << tengine_error_message();
        std::vector<uint8_t> host = random_bytes(&random, program.host_bytes);
        ReferenceMachine reference(config);
        reference.host = host;
        reference.weights.assign(program.weights.begin(), program.weights.end());
        for (const Instruction& in : program.instructions)
            reference.execute(in);
        ASSERT_EQ(machine->run(program, host.data(), {}, {}), TENGINE_OK);
        ASSERT_EQ(host, reference.host) << "seed " << seed;
    }
}

TEST(Machine, ForgetsTheRunBefore)
{
    const Config config = small_config(4, 4);
    std::unique_ptr<Machine> machine;
    ASSERT_EQ(Machine::create(config, &machine), TENGINE_OK);
    Program program;
    add_whole_transfer(Opcode::kWriteHost, 4096, config, &program);
    add_whole_transfer(Opcode::kReadHost, 0, config, &program);
    std::vector<uint8_t> host(8192, 7);
    for (int run = 0; run < 2; ++run) {
        ASSERT_EQ(machine->run(program, host.data(), {}, {}), TENGINE_OK);
        EXPECT_EQ(std::vector<uint8_t>(host.begin() + 4096, host.end()),
                  std::vector<uint8_t>(4096, 0));
    }
}

// Runs one element through the vector unit, at addresses 0 (a), 16 (b) and 32 (d).
int run_element(Instruction in, int a, int b)
{
    MachineMemory memory;
    memory.columns = 1;
    memory.buffer.assign(64, 0);
    memory.sums.assign(1 + kProductSlack / sizeof(int32_t), 0);
    memory.buffer[0] = static_cast<uint8_t>(a);
    memory.buffer[16] = static_cast<uint8_t>(b);
    in.outer = in.inner = 1;
    in.length = 1;
    in.b.address = 16;
    in.d.address = 32;
    in.window_outer = in.window_inner = 1;
    in.flags = kSignedA | kSignedB | kSignedD;
    in.lowest = 0x80;
    in.highest = 0x7f;
    VectorUnit().run(in, &memory);
    return static_cast<int8_t>(memory.buffer[32]);
}

TEST(Machine, RoundsHalvesToEvenAndSaturates)
{
    Instruction half;  // times a half
    half.opcode = Opcode::kAdd;
    half.factor_a = half.factor_b = 1 << 30;
    half.shift = 31;
    EXPECT_EQ(run_element(half, 1, 0), 0);
    EXPECT_EQ(run_element(half, 3, 0), 2);
    EXPECT_EQ(run_element(half, 5, 0), 2);
    EXPECT_EQ(run_element(half, -1, 0), 0);
    EXPECT_EQ(run_element(half, -3, 0), -2);
    EXPECT_EQ(run_element(half, -5, 0), -2);
    EXPECT_EQ(run_element(half, 1, 2), 2);
    Instruction product = half;
    product.opcode = Opcode::kMultiply;
    EXPECT_EQ(run_element(product, 127, 127), 127);
    EXPECT_EQ(run_element(product, -128, 127), -128);
    EXPECT_EQ(run_element(product, 5, 7), 18);     // 17.5
    EXPECT_EQ(run_element(product, -3, 11), -16);  // -16.5
}

// A product of one vector and one column, all elements a and w, added to the accumulator.
int32_t run_sum(int a, int w, int length, int32_t before, uint16_t flags)
{
    const Config config = small_config(32, 1);
    MatrixUnit matrix(config);
    MachineMemory memory;
    memory.columns = 1;
    memory.sums.assign(1 + kProductSlack / sizeof(int32_t), 0);
    memory.sums[0] = before;
    memory.buffer.resize(64);
    std::vector<uint8_t> weights;
    for (int k = 0; k < 32; ++k) {
        store_16(static_cast<uint16_t>(a), memory.buffer.data() + 2 * k);
        weights.push_back(static_cast<uint8_t>(w));
        weights.push_back(static_cast<uint8_t>(w >> 8));
    }
    matrix.reset(weights.data());
    Instruction in;
    in.opcode = Opcode::kReadWeights;
    in.flags = kWideWeights;
    in.tiles = 1;
    matrix.read_weights(in);
    in.opcode = Opcode::kMatrixMultiply;
    in.flags = static_cast<uint16_t>(flags | kNextTile | kWideWeights);
    in.outer = in.inner = in.columns = 1;
    in.length = static_cast<uint32_t>(length);
    EXPECT_EQ(matrix.multiply(in, &memory), TENGINE_OK);
    return memory.sums[0];
}

TEST(Machine, SumsWrapAround)
{
    EXPECT_EQ(run_sum(-32768, -32768, 1, 0, kWideA), 1 << 30);
    EXPECT_EQ(run_sum(-32768, -32768, 2, 0, kWideA), INT32_MIN);
    EXPECT_EQ(run_sum(-32768, -32768, 3, 0, kWideA), INT32_MIN + (1 << 30));
    EXPECT_EQ(run_sum(-32768, -32768, 4, 5, kWideA | kAccumulate), 5);
    EXPECT_EQ(run_sum(1, 1, 1, INT32_MAX, kWideA | kAccumulate), INT32_MIN);
}

TEST(Machine, Bf16SumsBeginWithZeroAndRoundEachStep)
{
    const uint16_t one = fp32_to_bf16(1.0f), tiny = fp32_to_bf16(0x1p-12f);
    const auto run = [&](uint16_t a, uint16_t w, int length, float before, int flags) {
        int32_t bits;
        memcpy(&bits, &before, sizeof bits);
        return bits_to_fp32(static_cast<uint32_t>(
            run_sum(a, w, length, bits, static_cast<uint16_t>(flags | kFloat))));
    };
    EXPECT_EQ(run(one, one, 5, 100.0f, 0), 5.0f);
    EXPECT_EQ(run(one, one, 5, 100.0f, kAccumulate), 105.0f);
    // Each is 2^-24: added one by one to 1 they would vanish, summed first they do not.
    EXPECT_EQ(run(tiny, tiny, 2, 1.0f, kAccumulate), 1.0f + 0x1p-23f);
    EXPECT_EQ(run(tiny, tiny, 1, 1.0f, kAccumulate), 1.0f);
}

TEST(Machine, ProductWithoutATileFails)
{
    MatrixUnit matrix(small_config(4, 4));
    MachineMemory memory;
    memory.columns = 4;
    memory.buffer.resize(64);
    memory.sums.resize(64 + kProductSlack / sizeof(int32_t));
    const std::vector<uint8_t> weights(64);
    Instruction in;
    in.opcode = Opcode::kMatrixMultiply;
    in.outer = in.inner = in.columns = 1;
    in.length = in.tiles = 1;
    const auto multiply = [&](int flags) {
        in.flags = static_cast<uint16_t>(flags);
        return matrix.multiply(in, &memory);
    };
    matrix.reset(weights.data());
    EXPECT_EQ(multiply(kNextTile), TENGINE_EDEVICE);
    EXPECT_EQ(multiply(0), TENGINE_EDEVICE);
    matrix.read_weights(in);
    EXPECT_EQ(multiply(kNextTile), TENGINE_OK);
    EXPECT_EQ(multiply(kFloat | kWideWeights), TENGINE_EDEVICE) << "the tile is one of bytes";
    matrix.reset(weights.data());
    EXPECT_EQ(multiply(0), TENGINE_EDEVICE) << "a tile of the run before";
}

// Compares the kernels for this processor with the plain ones, for extents around their blocks.
TEST(Machine, KernelsAgree)
{
    Random random(7);
    for (int t = 0; t < 400; ++t) {
        const int64_t vectors = random_int(&random, 1, 9), pairs = random_int(&random, 1, 20);
        const int64_t columns = random_int(&random, 1, 70);
        const int64_t tile_columns = columns + random_int(&random, 0, 3);
        const int64_t stride = tile_columns;
        const size_t slack = kProductSlack;
        std::vector<int16_t> a(static_cast<size_t>(vectors * pairs * 2));
        std::vector<int16_t> tile(static_cast<size_t>(pairs * tile_columns * 2) + slack);
        std::vector<float> real_a(a.size()), real_tile(tile.size());
        std::vector<int32_t> sums(static_cast<size_t>(vectors * stride) + slack);
        for (size_t i = 0; i < a.size(); ++i) {
            a[i] = static_cast<int16_t>(t % 3 == 0 ? -32768 : static_cast<int>(random()));
            real_a[i] = static_cast<float>(random_int(&random, -999, 999)) / 64;
        }
        for (size_t i = 0; i < tile.size(); ++i) {
            tile[i] = static_cast<int16_t>(t % 3 == 0 ? -32768 : static_cast<int>(random()));
            real_tile[i] = static_cast<float>(random_int(&random, -999, 999)) / 77;
        }
        for (int32_t& sum : sums)
            sum = static_cast<int32_t>(random() & 0x7effffff);
        std::vector<int32_t> other = sums;
        const bool accumulate = t % 2 == 0;
        IntegerProduct integer = {vectors,      pairs,       columns, a.data(),  tile.data(),
                                  tile_columns, sums.data(), stride,  accumulate};
        multiply_integers(integer);
        integer.sums = other.data();
        multiply_integers_plain(integer);
        ASSERT_EQ(sums, other) << vectors << " x " << pairs << " x " << columns;
        FloatProduct real = {vectors,      2 * pairs,   columns, real_a.data(), real_tile.data(),
                             tile_columns, sums.data(), stride,  accumulate};
        multiply_floats(real);
        real.sums = other.data();
        multiply_floats_plain(real);
        ASSERT_EQ(sums, other) << vectors << " x " << pairs << " x " << columns;
    }
}

class MachineFault : public ::testing::Test
{
  protected:
    void SetUp() override
    {
        ASSERT_EQ(Machine::create(config_, &machine_), TENGINE_OK);
        add_whole_transfer(Opcode::kReadHost, 0, config_, &program_);
        program_.instructions.emplace_back();
        add_whole_transfer(Opcode::kWriteHost, 4096, config_, &program_);
        host_.assign(8192, 1);
    }
    int run(const Faults& faults, const std::function<bool()>& cancelled = {})
    {
        return machine_->run(program_, host_.data(), faults, cancelled);
    }

    const Config config_ = small_config(4, 4);
    Program program_;
    std::unique_ptr<Machine> machine_;
    std::vector<uint8_t> host_;
};

TEST_F(MachineFault, BadOpcode)
{
    Faults faults;
    faults.bad_opcode_at = 1;
    EXPECT_EQ(run(faults), TENGINE_EDEVICE);
    EXPECT_STREQ(tengine_error_message(), "instruction 1: invalid opcode 255");
    faults.bad_opcode_at = 3;
    EXPECT_EQ(run(faults), TENGINE_OK);
}

TEST_F(MachineFault, TransferAtOrBehindTheIndex)
{
    Faults faults;
    faults.dma_error_at = 1;
    EXPECT_EQ(run(faults), TENGINE_EDEVICE);
    EXPECT_STREQ(tengine_error_message(), "instruction 2: the write_host transfer failed");
    faults.dma_error_at = 3;
    EXPECT_EQ(run(faults), TENGINE_OK);
}

TEST_F(MachineFault, HangsUntilCancelled)
{
    Faults faults;
    faults.hang_at = 1;
    int asked = 0;
    EXPECT_EQ(run(faults, [&] { return ++asked == 3; }), TENGINE_EDEVICE);
    EXPECT_EQ(asked, 3);
    EXPECT_EQ(run(faults), TENGINE_EDEVICE) << "no thread to cancel it";
    EXPECT_EQ(run({}), TENGINE_OK);
}

TEST_F(MachineFault, ALongRunEndsWhenCancelled)
{
    program_.instructions.insert(program_.instructions.begin(), 1000, Instruction());
    int asked = 0;
    EXPECT_EQ(run({}, [&] { return ++asked == 2; }), TENGINE_EDEVICE);
    EXPECT_STREQ(tengine_error_message(),
                 "instruction 511 did not finish before the run was cancelled");
    EXPECT_EQ(run({}, [] { return false; }), TENGINE_OK);
}

}  // namespace
}  // namespace tengine::tpu
