// SPDX-License-Identifier: Apache-2.0
// The comparison with published figures, and its stand-in programs: they are valid, and small ones
// compute the network that they represent.
#include "device/tpu/published/comparison.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "device/tpu/published/stand_in.h"
#include "device/tpu/reference_machine.h"
#include "device/tpu/reference_random.h"
#include "device/tpu/simulator/simulator.h"
#include "tengine/error.h"

namespace tengine::tpu {
namespace {

TEST(Validation, EveryRowIsAccepted)
{
    std::vector<ValidationRow> rows;
    ASSERT_EQ(run_validation(&rows), TENGINE_OK) << tengine_error_message();
    EXPECT_GE(rows.size(), 30u);
    for (const ValidationRow& row : rows) {
        EXPECT_TRUE(row.ok) << row.name << ": " << row.ours;
        EXPECT_LE(row.low, row.high) << row.name;
        EXPECT_FALSE(row.source.empty()) << row.name;
    }
}

TEST(Validation, TableHasALineForEachRow)
{
    const std::vector<ValidationRow> rows = {
        {"good", 1.5, 1, 1, 2, "x", "here", true},
        {"bad", 3, 0, 1, 2, "", "there", false},
    };
    const std::string text = print_validation(rows);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
    EXPECT_NE(text.find("1.500"), std::string::npos);
    EXPECT_NE(text.find(" yes here"), std::string::npos);
    EXPECT_NE(text.find(" NO  there"), std::string::npos);
}

TEST(Validation, StandInsAreValidPrograms)
{
    Config config;
    ASSERT_EQ(load_config("tpu-v1", &config), TENGINE_OK);
    const Program programs[] = {
        build_dense_program({{2048, 2048, 2048}, 200}, config),
        build_convolution_program({3, 256, 19, 3, 8}, config),
        build_product_program({96, 600, 600}, config),
    };
    for (const Program& program : programs)
        EXPECT_EQ(validate_program(program, config), TENGINE_OK) << tengine_error_message();
}

// Runs the program with random inputs and weights; returns host memory after it.
std::vector<uint8_t> run_filled(Program* program, const Config& config)
{
    Random random(1);
    std::vector<uint8_t> weights(program->weights.size());
    for (uint8_t& weight : weights)
        weight = static_cast<uint8_t>(random_int(&random, -9, 9));
    program->weights = weights;
    for (size_t at = 0; at < program->constants.size(); at += kParameterBytes) {
        program->constants[at] = static_cast<uint8_t>(random_int(&random, 0, 20));  // bias
        program->constants[at + 8] = 34;                                            // times 1/16
    }
    EXPECT_EQ(validate_program(*program, config), TENGINE_OK) << tengine_error_message();
    std::vector<uint8_t> host = program->constants;
    host.resize(program->host_bytes);
    for (size_t at = program->constants.size(); at < host.size(); ++at)
        host[at] = static_cast<uint8_t>(random_int(&random, -30, 30));
    std::unique_ptr<Machine> machine;
    EXPECT_EQ(Machine::create(config, &machine), TENGINE_OK);
    EXPECT_EQ(machine->run(*program, host.data(), {}, {}), TENGINE_OK);
    return host;
}

// Bias 0 to 20 and factor 1/16, as set by run_filled().
int activate(int64_t sum, const Program& program, int channel)
{
    const int64_t biased = sum + program.constants[static_cast<size_t>(channel * kParameterBytes)];
    return static_cast<int>(
        std::min<int64_t>(127, std::max<int64_t>(-128, reference_round(biased * (1 << 30), 34))));
}

// The weights of the tiles: of column block `n` and row block `k` of `row_blocks`.
class Tiles
{
  public:
    Tiles(const Program& program, const Config& config) : program_(program), config_(config) {}
    int at(int tile, int row, int column) const
    {
        const int64_t index = (int64_t{tile} * config_.rows + row) * config_.columns + column;
        return static_cast<int8_t>(program_.weights.data()[index]);
    }

  private:
    const Program& program_;
    const Config& config_;
};

TEST(Validation, DenseProgramComputesItsLayers)
{
    const Config config = small_config(4, 6);
    const std::vector<int> widths = {10, 7, 13};
    const int batch = 3;
    Program program = build_dense_program({widths, batch}, config);
    const std::vector<uint8_t> host = run_filled(&program, config);
    const Tiles tiles(program, config);
    for (int b = 0; b < batch; ++b) {
        std::vector<int> values;
        for (int i = 0; i < widths[0]; ++i)
            values.push_back(static_cast<int8_t>(
                host[program.bindings[0].address + static_cast<size_t>(b * widths[0] + i)]));
        int first_tile = 0, channel = 0;
        for (size_t l = 1; l < widths.size(); ++l) {
            const int inputs = widths[l - 1], outputs = widths[l];
            const int blocks = (inputs + config.rows - 1) / config.rows;
            std::vector<int> next;
            for (int n = 0; n < outputs; ++n) {
                int64_t sum = 0;
                for (int k = 0; k < inputs; ++k)
                    sum += values[static_cast<size_t>(k)] *
                           tiles.at(first_tile + n / config.columns * blocks + k / config.rows,
                                    k % config.rows, n % config.columns);
                next.push_back(activate(sum, program, channel + n));
            }
            values = next;
            first_tile += (outputs + config.columns - 1) / config.columns * blocks;
            channel += outputs;
        }
        for (int n = 0; n < widths.back(); ++n)
            EXPECT_EQ(
                static_cast<int8_t>(
                    host[program.bindings[1].address + static_cast<size_t>(b * widths.back() + n)]),
                values[static_cast<size_t>(n)])
                << "batch " << b << " output " << n;
    }
}

TEST(Validation, ConvolutionProgramComputesItsLayers)
{
    const Config config = small_config(4, 4);
    const int channels = 6, size = 4, batch = 2, layers = 2, blocks = 2;
    Program program = build_convolution_program({layers, channels, size, 3, batch}, config);
    const std::vector<uint8_t> host = run_filled(&program, config);
    const Tiles tiles(program, config);
    const auto index = [&](int b, int y, int x, int c) {
        return static_cast<size_t>(((b * size + y) * size + x) * channels + c);
    };
    std::vector<int> values;
    for (size_t i = 0; i < index(batch, 0, 0, 0); ++i)
        values.push_back(static_cast<int8_t>(host[program.bindings[0].address + i]));
    for (int l = 0; l < layers; ++l) {
        std::vector<int> next(values.size());
        for (int at = 0; at < static_cast<int>(values.size()); ++at) {
            const int n = at % channels, x = at / channels % size, y = at / channels / size % size;
            const int b = at / channels / size / size;
            int64_t sum = 0;
            for (int tap = 0; tap < 9; ++tap) {
                const int from_y = y + tap / 3 - 1, from_x = x + tap % 3 - 1;
                if (from_y < 0 || from_y >= size || from_x < 0 || from_x >= size) continue;
                const int tile = ((l * blocks + n / 4) * 9 + tap) * blocks;
                for (int k = 0; k < channels; ++k)
                    sum +=
                        values[index(b, from_y, from_x, k)] * tiles.at(tile + k / 4, k % 4, n % 4);
            }
            next[static_cast<size_t>(at)] = activate(sum, program, l * channels + n);
        }
        values = next;
    }
    for (size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(static_cast<int8_t>(host[program.bindings[1].address + i]), values[i]) << i;
}

// The subjects of the paper's sweeps, on small machines too.
TEST(Validation, DoubleBufferingAndTheFifoHelp)
{
    Config config = small_config(16, 16);
    config.unified_buffer_bytes = 1 << 16;
    config.vector_lanes = 16;
    const Program program = build_dense_program({{64, 64, 64}, 32}, config);
    const auto total = [&] {
        Counters counters;
        EXPECT_EQ(count_cycles(program, config, &counters), TENGINE_OK);
        return counters.total;
    };
    config.weight_gbps = 32;
    const int64_t overlapped = total();
    config.weight_fifo_tiles = 1;
    const int64_t shallow = total();
    config.weight_fifo_tiles = 4;
    config.double_buffer = false;
    const int64_t single = total();
    EXPECT_LE(overlapped, shallow);
    EXPECT_LT(overlapped, single);
}

}  // namespace
}  // namespace tengine::tpu
