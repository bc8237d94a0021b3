// SPDX-License-Identifier: Apache-2.0
// Compares the simulator with published figures: SCALE-Sim's cycles of the array, and the tables of
// N. Jouppi et al., ISCA 2017, for the machine around it. `tengine-tpu validate` prints it; the
// figures are explained in docs/tpu-simulator.md.
#pragma once

#include <string>
#include <vector>

#include "device/tpu/machine/config.h"
#include "device/tpu/published/topology.h"

namespace tengine::tpu {

struct ValidationRow
{
    std::string name;
    double ours = 0;
    double reference = 0;      // of the source
    double low = 0, high = 0;  // the accepted range
    std::string unit;
    std::string source;
    bool ok = false;  // low <= ours <= high
};

// Runs the validation, in well below a second. Fails only as count_cycles() and load_config() do.
int run_validation(std::vector<ValidationRow>* out_rows);

// Compares the layers of a topology and their sum, as programs on the array of `config` with
// memories that never stall it, with SCALE-Sim's formula. Fails as run_validation() does.
int run_topology_validation(const std::vector<TopologyLayer>& layers, const Config& config,
                            std::vector<ValidationRow>* out_rows);

// Returns a table, a line each, with the ratio ours / reference and whether the row is accepted.
std::string print_validation(const std::vector<ValidationRow>& rows);

}  // namespace tengine::tpu
