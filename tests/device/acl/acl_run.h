// SPDX-License-Identifier: Apache-2.0
// Prepares and runs one graph on a list of devices, for comparisons.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/context.h"
#include "graph/core.h"
#include "support/ir_builder.h"
#include "support/placement.h"
#include "tengine/compat/tengine/acl_device.h"

namespace tengine::acl {

using Build = std::function<void(test::IrBuilder&)>;
using OptionValues = std::map<std::string, std::string>;

struct RunSettings
{
    std::vector<std::string> devices = {"ACL"};  // before the default device
    OptionValues options = {};                   // of the first device, by key
    int precision = TENGINE_MODE_FP32;
    // The program's option struct for ACL, or NULL.
    const acl_option* option = nullptr;
    size_t option_size = sizeof(acl_option);
    int threads = 1;
};

class AclRun
{
  public:
    AclRun(const RunSettings& settings, const Build& build);
    ~AclRun();
    AclRun(const AclRun&) = delete;
    AclRun& operator=(const AclRun&) = delete;

    int prerun();
    // Gives an input its bytes, which are copied.
    void feed(const std::string& name, const void* data, size_t size);
    // Every input that was not fed: floats from low to high, any bytes, the same for the same seed.
    void feed_all(unsigned seed, float low = -1, float high = 1);
    int run();

    // An output's elements as floats; fp32, fp16 and integers.
    std::vector<float> output(const std::string& name);
    std::vector<float> outputs();
    graph* source() { return builder_->get(); }
    const graph* execution() { return source()->core->execution; }
    // Nodes that the device runs.
    int nodes_on(const std::string& device) { return test::count_nodes_on(*execution(), device); }
    // "name: reason" of every refusal of ACL, a line for each.
    std::string refusals() { return test::list_refusals(*execution()); }
    // Parts that the default device had to do in another's place.
    int64_t redone();

  private:
    RunSettings settings_;
    std::unique_ptr<ir_context_t, void (*)(ir_context_t*)> context_;
    std::unique_ptr<test::IrBuilder> builder_;
    std::map<std::string, std::vector<uint8_t>> fed_;
};

std::vector<float> read_floats(const tensor& tensor);

}  // namespace tengine::acl
