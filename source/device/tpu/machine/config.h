// SPDX-License-Identifier: Apache-2.0
// The machine as the compiler and the simulator know it. Presets and JSON files are read in
// config.cc; the instruction set is in isa.h.
#pragma once

#include <cstdint>
#include <string>

namespace tengine::tpu {

// A weight-stationary systolic array with a unified buffer, accumulators, a weight FIFO, a vector
// unit and DMA, after N. Jouppi et al., In-Datacenter Performance Analysis of a Tensor Processing
// Unit, ISCA 2017.
struct Config
{
    std::string name;
    int rows = 0;     // of the array: the products that a column sums
    int columns = 0;  // of the array: the sums that it computes in parallel
    double clock_mhz = 0;
    int64_t unified_buffer_bytes = 0;
    int accumulator_rows = 0;   // each `columns` wide, 32 bits an element
    int weight_fifo_tiles = 0;  // tiles of rows x columns elements with 8 or 16 bits
    double weight_gbps = 0;     // 10^9 bytes a second of weight memory
    // the same between host memory and unified buffer, both directions together
    double host_gbps = 0;
    bool shared_memory = false;  // weights and host memory share one port of host_gbps
    int vector_lanes = 0;        // bytes that the vector unit processes in a cycle
    int dma_latency = 0;         // cycles from a transfer's start to its first byte
    bool double_buffer = true;   // whether a tile may be shifted in while another is in use
};

// Loads a preset (tpu-v1, edge, scale32) or a JSON file by its path; "" is edge. Checks every
// member: TENGINE_ENOENT, TENGINE_EINVAL or TENGINE_ERANGE with member and value.
int load_config(const std::string& name_or_path, Config* out_config);
// Reads and checks the members of a JSON text; `where` begins error messages. A file may have
// "base": "<preset>" and only the members that differ.
int parse_config(const std::string& json, const std::string& where, Config* out_config);
int check_config(const Config& config, const std::string& where);
// Returns all members as JSON, which parse_config() reads.
std::string print_config(const Config& config);
// Returns a number that differs if programs for one configuration cannot run on the other: the
// first 8 bytes of the SHA-256 over everything that the instruction set depends on (rows, columns,
// buffer, accumulators, FIFO).
uint64_t fingerprint_of(const Config& config);

}  // namespace tengine::tpu
