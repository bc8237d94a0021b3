// SPDX-License-Identifier: Apache-2.0
// The machine: everything the compiler and the simulator know of it. Presets and JSON files are
// read in config.cc; the instruction set is in isa.h.
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
    int rows = 0;     // the array's: the products a column sums
    int columns = 0;  // the array's: the sums it makes at once
    double clock_mhz = 0;
    int64_t unified_buffer_bytes = 0;
    int accumulator_rows = 0;    // each `columns` wide, 32 bits an element
    int weight_fifo_tiles = 0;   // tiles of rows x columns elements with 8 or 16 bits
    double weight_gbps = 0;      // 10^9 bytes a second from weight memory
    double host_gbps = 0;        // and between host memory and unified buffer, both ways together
    bool shared_memory = false;  // weights and host memory share one port of host_gbps
    int vector_lanes = 0;        // bytes the vector unit handles in a cycle
    int dma_latency = 0;         // cycles from a transfer's start to its first byte
    bool double_buffer = true;   // a tile may be shifted in while another is in use
};

// A preset's name (tpu-v1, edge, scale32) or the path of a JSON file; "" is edge. Every member is
// checked: TENGINE_ENOENT, TENGINE_EINVAL or TENGINE_ERANGE with member and value.
int load_config(const std::string& name_or_path, Config* out_config);
// The members a JSON file has, checked; `where` begins the messages of errors. A file may say
// "base": "<preset>" and give only what differs.
int parse_config(const std::string& json, const std::string& where, Config* out_config);
int check_config(const Config& config, const std::string& where);
// All members as JSON, which parse_config() reads.
std::string print_config(const Config& config);
// Differs when programs for one configuration cannot run on the other: the first 8 bytes of the
// SHA-256 over what the instruction set can see (rows, columns, buffer, accumulators, FIFO).
uint64_t fingerprint_of(const Config& config);

}  // namespace tengine::tpu
