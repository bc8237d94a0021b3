// SPDX-License-Identifier: Apache-2.0
// The device TPU: compiler, program and simulator have a folder each and share only the machine
// (machine/) and its programs; this folder implements the contract of devices.
//
// A part of the graph on the machine: compiles it, keeps its program and its host memory, and
// copies tensors in and out. tpu_device.cc offers it to the core.
#pragma once

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/tpu/machine/config.h"
#include "device/tpu/program/program.h"
#include "device/tpu/simulator/simulator.h"
#include "tengine/device.h"

namespace tengine::tpu {

// The device's options by key.
struct Options
{
    Config config;
    std::string save_program;  // folder for the programs of parts, or ""
    Faults faults;
};

// TENGINE_ENOENT for an unknown key, TENGINE_EINVAL or the error of load_config() for a value; the
// message gives the accepted ones.
int set_option(const std::string& key, const std::string& value, Options* options);
// Returns an entry of the list of all options; null after the last.
const ir_device_option_t* get_option(int index);
// Reads the options that the graph's context has for `device`, once in a preparation; by default
// edge and no faults.
int read_options(const graph& graph, const device& device, Options* out_options);

// A program that save_program() has made, in memory that outlives the driver.
struct SavedProgram
{
    const uint8_t* data = nullptr;  // null: there is no program
    size_t size = 0;
};

struct FreeHostMemory
{
    void operator()(uint8_t* memory) const { std::free(memory); }
};
using HostMemory = std::unique_ptr<uint8_t, FreeHostMemory>;

// Allocates the host memory that a machine runs the program on: program.host_bytes bytes, which
// begin with the constants. The others are zeros that take no physical memory before they are used:
// a loaded program may claim 64 GB. ENOMEM.
int make_host_memory(const Program& program, HostMemory* out_memory);

class Driver
{
  public:
    // Compiles the part, or takes `saved`, its program, and validates it.
    static int create(const subgraph& part, const Options& options, const SavedProgram& saved,
                      std::unique_ptr<Driver>* out_driver);

    // Makes one run on the data of the part's tensors. It ends early when the part is cancelled.
    int run(const subgraph& part);

    const Config& config() const { return options_.config; }
    // Computes the times of the units in a run, as interface.timeline has them.
    int list_intervals(std::vector<ir_interval_t>* out_intervals) const;
    // Returns the counters of a run, which are equal for all runs; they are computed at the first
    // call.
    int count(const Counters** out_counters);
    const Program& program() const { return program_; }
    // Returns the bytes of the program, of host memory and of the machine's buffers.
    ir_part_memory_t memory() const;
    // Returns the multiply-accumulates of the part's nodes, without the zeros that pad tiles.
    int64_t macs() const { return macs_; }

  private:
    explicit Driver(const Options& options) : options_(options) {}

    int load(const subgraph& part, const SavedProgram& saved);
    // If options request the file: writes it, flips the bit, and checks that a device can read it.
    int try_file(const subgraph& part);

    Options options_;
    Program program_;
    std::optional<Counters> counters_;
    int64_t macs_ = 0;
    std::unique_ptr<Machine> machine_;
    HostMemory host_;
};

// Copy the dense elements of a tensor to and from its place in host memory; `element` is their size
// in bytes.
void pack_tensor(const Binding& binding, int element, const uint8_t* tensor, uint8_t* host);
void unpack_tensor(const Binding& binding, int element, const uint8_t* host, uint8_t* tensor);

// Lists the counters for the core's reports. `macs`: of the part, for utilisation and throughput.
std::vector<ir_counter_t> list_counters(const Counters& counters, const Config& config,
                                        int64_t macs);

}  // namespace tengine::tpu
