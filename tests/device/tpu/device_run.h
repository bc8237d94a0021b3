// SPDX-License-Identifier: Apache-2.0
// Prepares and runs one graph on the TPU or on the CPU alone, for comparisons bit by bit.
#pragma once

#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/context.h"
#include "graph/core.h"
#include "support/ir_builder.h"
#include "support/placement.h"

namespace tengine::tpu {

using Bytes = std::vector<uint8_t>;
using Build = std::function<void(test::IrBuilder&)>;
using OptionValues = std::map<std::string, std::string>;

class DeviceRun
{
  public:
    // `device`: "TPU" (then the CPU takes the rest) or "CPU". Options of the device and of the
    // context by their keys ("config", "split.prune"). `build` makes the source graph.
    DeviceRun(const std::string& device, const OptionValues& options, const Build& build,
              int precision = TENGINE_MODE_FP32);
    ~DeviceRun();
    DeviceRun(const DeviceRun&) = delete;
    DeviceRun& operator=(const DeviceRun&) = delete;

    int prerun();
    // Sets the data of an input, which is kept until the next call for this input.
    void feed(const std::string& name, Bytes data);
    // Sets random bytes for every input, which depend only on the seed. Floats are from -1 to 1.
    void feed_all(unsigned seed);
    int run();

    // Returns all outputs, one after the other.
    Bytes outputs();
    graph* source() { return builder_->get(); }
    const graph* execution() { return source()->core->execution; }
    // Returns the number of nodes that the device runs.
    int nodes_on(const std::string& device) { return test::count_nodes_on(*execution(), device); }
    // Returns "name: reason" of every refusal, a line for each.
    std::string refusals() { return test::list_refusals(*execution()); }

  private:
    std::unique_ptr<ir_context_t, void (*)(ir_context_t*)> context_;
    std::unique_ptr<test::IrBuilder> builder_;
    std::map<std::string, Bytes> fed_;
    int precision_;
};

// Checks that both devices compute the same bits, and that the TPU runs every node.
void expect_same_bits(const Build& build, const OptionValues& options = {}, unsigned seed = 1,
                      int precision = TENGINE_MODE_FP32);

}  // namespace tengine::tpu
