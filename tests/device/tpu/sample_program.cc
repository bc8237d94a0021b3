// SPDX-License-Identifier: Apache-2.0
#include "device/tpu/sample_program.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/sha256.h"
#include "device/tpu/simulator/simulator.h"
#include "tengine/error.h"

namespace tengine::tpu {
namespace {

constexpr uint64_t kMaxHostBytes = 1 << 20;
constexpr int64_t kMaxCycles = 1 << 20;

constexpr char kSampleText[] = R"(.version 1
.fingerprint 0x0
.host 2048
.input "x" int8 1x8x4x4 at=0x200 channels_last
.input "z" bf16 16 at=0x300
.output "y" uint8 1x10 at=0x400
.output "a \"name\" \\ \x01" int8 scalar at=0x500
.node "conv"
.node "pool"
.weights
    .bytes 000102030405060708090a0b0c0d0e0ff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff
    .bytes 7f80000000000000000000000000000000000000000000000000000000000000
    .zeros 128
.constants
    .bytes 0100000000000040220000000200000000000040220000000300000000000040
    .bytes 2200000004000000000000402200000000000000000000000000000000000000
    .zeros 448
.code
tag value=0  # "conv"
read_host outer=1 inner=1 length=352 host=0x0 d=0x400
read_host outer=4 inner=4 length=8 host=0x200/32/8 d=0x0/64/8
read_weights tiles=1
matrix_multiply next_tile signed_a outer=2 inner=4 length=8 columns=8 a=0x0/64/8 d=0
matrix_multiply accumulate wide_a outer=2 inner=4 length=4 columns=8 a=0x0/64/8 d=0
read_weights wide_weights tiles=1 weights=0x40
matrix_multiply next_tile wide_weights outer=1 inner=8 length=8 columns=8 a=0x0/0/8 d=8
matrix_multiply wide_weights float outer=1 inner=4 length=4 columns=8 a=0x0/0/8 d=16
activate signed_d table outer=2 inner=4 length=4 a=0 parameters=0x400 d=0x600/64/8 table=0x460 zero_d=-3 lowest=-128 highest=127
activate outer=1 inner=8 length=4 a=8 parameters=0x400 d=0x700/0/8 zero_d=128 highest=255
activate float outer=1 inner=4 length=4 a=16 parameters=0x400 d=0x780/0/16 low=-inf high=6.5
sync
tag value=1  # "pool"
copy outer=2 inner=4 length=8 a=0x600/64/8 d=0x800/32/8
fill outer=1 inner=2 length=16 d=0x880/0/16 value=7
fill wide outer=1 inner=2 length=8 d=0x8a0/0/16 value=16256
lookup outer=1 inner=1 length=32 a=0x800 d=0x900 table=0x460
add signed_a signed_d outer=1 inner=4 length=8 a=0x600/0/8 b=0x700/0/8 d=0xa00/0/8 factor_a=1073741824 factor_b=-5 shift=31 zero_a=-3 zero_b=128 zero_d=1 lowest=-128 highest=127
add float outer=1 inner=4 length=4 a=0x780/0/16 b=0x8a0 d=0xa40/0/8 low=-1e+30 high=0.1
multiply signed_b outer=1 inner=4 length=8 a=0x600/0/8 b=0x700 d=0xa80/0/8 factor_a=1073741824 shift=40 zero_a=3 zero_b=-128 highest=255
multiply float outer=1 inner=4 length=4 a=0x780/0/16 b=0x8a0 d=0xac0/0/8 low=-3 high=3
max_pool signed_a outer=2 inner=2 length=8 a=0x0/64/8 d=0xb00/16/8 window=2/2/64/8
max_pool float outer=1 inner=2 length=4 a=0x780/0/16 d=0xb40/0/8 window=1/2/0/16
average_pool signed_a signed_d outer=2 inner=2 length=8 a=0x0/64/8 d=0xb80/16/8 window=2/2/64/8 factor_a=1073741824 shift=32 zero_a=-3 zero_d=-3 lowest=-128 highest=127
average_pool float outer=1 inner=2 length=4 a=0x780/0/16 d=0xbc0/0/8 window=1/2/0/16 scale=0.5
nop
write_host outer=1 inner=2 length=5 a=0xb00/0/8 host=0x400/0/5
write_host outer=1 inner=1 length=1 a=0xb80 host=0x500
halt
)";

}  // namespace

Config sample_config()
{
    Config config;
    config.name = "sample";
    config.rows = 8;
    config.columns = 8;
    config.clock_mhz = 100;
    config.unified_buffer_bytes = 4096;
    config.accumulator_rows = 64;
    config.weight_fifo_tiles = 4;
    config.weight_gbps = 1;
    config.host_gbps = 1;
    config.vector_lanes = 8;
    config.dma_latency = 10;
    return config;
}

const std::string& sample_text()
{
    static const std::string text = kSampleText;
    return text;
}

Program sample_program()
{
    Program program;
    if (assemble(sample_text(), &program) < 0) {
        std::fprintf(stderr, "the sample program: %s\n", tengine_error_message());
        std::abort();
    }
    program.fingerprint = fingerprint_of(sample_config());
    return program;
}

void sign_program(std::vector<uint8_t>* file)
{
    if (file->size() < SHA256_BYTES) return;
    uint8_t digest[SHA256_BYTES];
    find_sha256(file->data(), file->size() - SHA256_BYTES, digest);
    std::copy(std::begin(digest), std::end(digest), file->end() - SHA256_BYTES);
}

bool use_program(const std::vector<uint8_t>& file, const Config& config)
{
    Program program;
    if (load_program(file.data(), file.size(), &program) < 0) return false;
    const std::string text = disassemble(program);
    Program again;
    if (assemble(text, &again) < 0 || save_program(again) != file) {
        std::fprintf(stderr, "text and back changed the program: %s\n%s", tengine_error_message(),
                     text.c_str());
        std::abort();
    }
    if (validate_program(program, config) < 0) return false;
    Counters counters;
    if (program.host_bytes > kMaxHostBytes || count_cycles(program, config, &counters) < 0 ||
        counters.total > kMaxCycles)
        return true;
    std::unique_ptr<Machine> machine;
    std::vector<uint8_t> host(program.host_bytes);
    std::copy(program.constants.begin(), program.constants.end(), host.begin());
    if (Machine::create(config, &machine) == TENGINE_OK)
        (void)machine->run(program, host.data(), Faults(), [] { return true; });
    return true;
}

}  // namespace tengine::tpu
