// SPDX-License-Identifier: Apache-2.0
// tengine-tpu config: a configuration as JSON, and figures derived from it.
#include <cstdio>
#include <string>

#include "device/tpu/machine/config.h"
#include "device/tpu/machine/config_fields.h"
#include "device/tpu/tool/command.h"

namespace tengine::tpu {
namespace {

// Prints to standard error, so that standard output is a configuration file.
void print_derived(const Config& config)
{
    const double macs = 1.0 * config.rows * config.columns;
    const double weight_bytes_a_cycle = config.weight_gbps * 1e3 / config.clock_mhz;
    std::fprintf(stderr, "peak                 %10.4g TOPS, int8 (2 operations a MAC)\n",
                 2 * macs * config.clock_mhz / 1e6);
    std::fprintf(stderr, "weight tile          %10.0f bytes\n", macs);
    std::fprintf(stderr, "  from weight memory %10.2f cycles\n", macs / weight_bytes_a_cycle);
    std::fprintf(stderr, "  shifted in         %10d cycles, %s\n", config.rows,
                 config.double_buffer ? "hidden behind products" : "while nothing is multiplied");
    std::fprintf(stderr, "ridge                %10.2f MACs for each byte of weights\n",
                 macs / weight_bytes_a_cycle);
    std::fprintf(stderr, "host memory          %10.4g bytes a cycle\n",
                 config.host_gbps * 1e3 / config.clock_mhz);
    std::fprintf(stderr, "accumulators         %10.0f bytes\n",
                 4.0 * config.accumulator_rows * config.columns);
    std::fprintf(stderr, "fingerprint    %016llx\n",
                 static_cast<unsigned long long>(fingerprint_of(config)));
}

}  // namespace

void run_config(const std::string& name)
{
    Config config;
    check(load_config(name, &config));
    std::fputs(print_config(config).c_str(), stdout);
    std::fflush(stdout);
    print_derived(config);
}

}  // namespace tengine::tpu
