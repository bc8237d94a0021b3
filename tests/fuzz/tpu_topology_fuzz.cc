// SPDX-License-Identifier: Apache-2.0
// Fuzz target: any string as a topology of SCALE-Sim. Small networks are also counted.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "device/tpu/machine/config_fields.h"
#include "device/tpu/published/comparison.h"
#include "fuzz/refusal.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    using namespace tengine::tpu;
    constexpr int64_t kMostTiles = 1000;
    static const Config& config = all_presets().front();
    std::vector<TopologyLayer> layers;
    const std::string text(reinterpret_cast<const char*>(data), size);
    const bool is_read = parse_topology(text, "the input", &layers) == 0;
    tengine::test::note_input(is_read);
    int64_t tiles = 0;
    for (const TopologyLayer& layer : layers)
        tiles += count_array_cycles(Dataflow::kWeightStationary, config.rows, config.columns,
                                    layer.repeated.layer)
                     .folds;
    if (!is_read || tiles > kMostTiles) return 0;
    std::vector<ValidationRow> rows;
    if (run_topology_validation(layers, config, &rows) != 0 || print_validation(rows).empty())
        std::abort();
    for (const ValidationRow& row : rows)
        if (!row.ok) std::abort();
    return 0;
}
