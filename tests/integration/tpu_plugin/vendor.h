// SPDX-License-Identifier: Apache-2.0
// The TPU as a vendor's compiler and dispatch, registered for a test, and a model for it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "device/tpu/plugin/module.h"
#include "fixture.h"

// The entries of the plug-ins, which are sources of this program (CMakeLists.txt).
extern "C" const tengine_plugin_t* tpu_compiler_plugin(void);
extern "C" const tengine_plugin_t* tpu_dispatch_plugin(void);

namespace tengine::tpu {

using Bytes = std::vector<uint8_t>;
using OptionValues = std::vector<std::pair<std::string, std::string>>;

class VendorTest : public ApiTest
{
  protected:
    void SetUp() override;
    void TearDown() override;

    // Registers the tables below, until the end of the test.
    void register_both();

    // Saves a model: x, int8 of 1x4x8x8, through two convolutions of 3x3, with dequantisation, Tanh
    // and quantisation between them, to y, int8 of 1x4x4x4; in `format`.
    std::string save_model(const char* format);

    // Returns a prepared graph on `device`, then the CPU. No part is pruned.
    static graph_t prepare(const std::string& path, const char* device,
                           const OptionValues& options = {});
    // Returns the results of a run with a fixed input.
    static Bytes run(graph_t graph);
    // Returns one letter for each part, its device's last: U (TPU, CPU), N (TPU_PLUGIN).
    static std::string list_parts(graph_t graph);
    // Returns "cycles" of a part, -1 without.
    static double count_cycles(graph_t graph, int part);
    // Returns the reason for the first node.
    static std::string refusal(graph_t graph);

    std::string path(const std::string& name) const { return folder_ + "/" + name; }

    tengine_compiler_t compiler_ = *plugin_compiler();
    tengine_dispatch_t dispatch_ = *plugin_dispatch();

  private:
    std::string folder_;
    bool is_registered_ = false;
};

}  // namespace tengine::tpu
