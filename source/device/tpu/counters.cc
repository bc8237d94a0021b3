// SPDX-License-Identifier: Apache-2.0
// The simulator's counters as the core reports them. docs/tpu-simulator.md explains each.
#include <cstdio>

#include "device/tpu/driver.h"

namespace tengine::tpu {
namespace {

class List
{
  public:
    void add(const char* name, const char* unit, double value)
    {
        ir_counter_t counter = {};
        std::snprintf(counter.name, sizeof counter.name, "%s", name);
        std::snprintf(counter.unit, sizeof counter.unit, "%s", unit);
        counter.value = value;
        counters_.push_back(counter);
    }

    void add(const char* name, const char* unit, int64_t value)
    {
        add(name, unit, static_cast<double>(value));
    }

    // Also adds the counter as a share of `total`.
    void add_share(const char* name, int64_t cycles, int64_t total)
    {
        add(name, "cycles", cycles);
        const double share =
            total > 0 ? 100.0 * static_cast<double>(cycles) / static_cast<double>(total) : 0;
        add((std::string(name) + " share").c_str(), "%", share);
    }

    std::vector<ir_counter_t> take() { return std::move(counters_); }

  private:
    std::vector<ir_counter_t> counters_;
};

void add_cycles(const Counters& c, const Config& config, List* list)
{
    list->add("time", "ms", static_cast<double>(c.total) / (config.clock_mhz * 1e3));
    list->add("cycles", "cycles", c.total);
    list->add_share("array active", c.active, c.total);
    list->add_share("weight stall", c.weight_stall, c.total);
    list->add_share("weight shift", c.weight_shift, c.total);
    list->add_share("non-matrix", c.non_matrix, c.total);
    list->add_share("raw stall", c.raw_stall, c.total);
    list->add_share("input stall", c.input_stall, c.total);
    list->add("weight fetch busy", "cycles", c.weight_busy);
    list->add("vector unit busy", "cycles", c.vector_busy);
    list->add("dma busy", "cycles", c.dma_busy);
}

void add_work(const Counters& c, const Config& config, int64_t macs, List* list)
{
    list->add("macs", "", macs);
    list->add("products", "", c.macs);
    const auto work = static_cast<double>(macs);
    const double peak = static_cast<double>(c.total) * config.rows * config.columns;
    list->add("array utilisation", "%", peak > 0 ? 100.0 * work / peak : 0);
    const double seconds = static_cast<double>(c.total) / (config.clock_mhz * 1e6);
    list->add("throughput", "TOPS", seconds > 0 ? 2e-12 * work / seconds : 0);
    list->add("weights read", "B", c.weight_bytes);
    list->add("host read", "B", c.host_read_bytes);
    list->add("host written", "B", c.host_write_bytes);
    list->add("buffer read", "B", c.buffer_read_bytes);
    list->add("buffer written", "B", c.buffer_write_bytes);
    list->add("accumulators read", "B", c.sum_read_bytes);
    list->add("accumulators written", "B", c.sum_write_bytes);
    list->add("energy", "uJ", c.energy_pj * 1e-6);
}

}  // namespace

std::vector<ir_counter_t> list_counters(const Counters& counters, const Config& config,
                                        int64_t macs)
{
    List list;
    add_cycles(counters, config, &list);
    add_work(counters, config, macs, &list);
    for (int opcode = 0; opcode < kOpcodeNum; ++opcode) {
        const int64_t number = counters.instructions[static_cast<size_t>(opcode)];
        if (number > 0)
            list.add(
                (std::string("instructions ") + opcode_name(static_cast<Opcode>(opcode))).c_str(),
                "", number);
    }
    return list.take();
}

}  // namespace tengine::tpu
