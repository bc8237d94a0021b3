// SPDX-License-Identifier: Apache-2.0
// The fixture of the tests of precisions: small graphs with QuantizeLinear and DequantizeLinear,
// run in any precision.
#pragma once

#include <cstdint>
#include <gtest/gtest.h>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/context.h"
#include "graph/core.h"
#include "operator/param.h"
#include "scheduler/scheduler.h"
#include "support/ir_builder.h"

namespace tengine::test {

using Floats = std::vector<float>;

class PrecisionGraph
{
  public:
    // Devices in their order, the default one last.
    explicit PrecisionGraph(std::initializer_list<device*> devices = {});

    IrBuilder& builder() { return *builder_; }
    void option(const char* key, const std::string& value);

    // Adds an input of fp32 with its data.
    std::string input(const std::string& name, std::vector<int> dims, Floats values);
    // Adds QuantizeLinear <value>_q and DequantizeLinear <value>_dq, whose name it returns.
    std::string pair(const std::string& value, float scale, int zero_point,
                     int data_type = TENGINE_DT_INT8);
    std::string quantize(const std::string& value, const std::string& result, float scale,
                         int zero_point, int data_type = TENGINE_DT_INT8);
    // Adds constants of int8, uint8 or int32 that a DequantizeLinear <name>_dq reads, which is
    // returned.
    std::string bytes(const std::string& name, std::vector<int> dims,
                      const std::vector<int>& values, const Floats& scales, int axis = 0,
                      int data_type = TENGINE_DT_INT8);
    std::string words(const std::string& name, const std::vector<int32_t>& values,
                      const Floats& scales);
    // Sets a tensor's calibration.
    void calibrate(const std::string& value, float scale, int zero_point);

    int prepare(int precision);
    // Prepares, runs, and reads an output of any of the fixture's types.
    Floats run(int precision, const std::string& output = "y");

    const graph* execution() { return builder_->get()->core->execution; }
    // Returns the operators of the execution graph in its order, separated by blanks.
    std::string operators();
    const node* find(const std::string& name) { return find_node(execution(), name); }

  private:
    std::string dequantize(const std::string& value, const std::string& scale,
                           const std::string& zero_point, int axis);
    std::string add_zero_point(const std::string& name, int zero_point, int data_type);

    std::unique_ptr<ir_context_t, void (*)(ir_context_t*)> context_;
    std::unique_ptr<IrBuilder> builder_;
    std::map<std::string, Floats> fed_;
};

Floats ramp(int number, float first, float step);

// Adds an input of shape 1 x 1 x 16 x 16 whose pair, which is returned, has each of the 256 values
// once.
std::string add_all_bytes(PrecisionGraph& graph, const std::string& name, float scale, int zero);

// Whether the message of the last failure contains `part`.
testing::AssertionResult says(const std::string& part);

// Returns the largest difference in steps of `scale`.
double steps_between(const Floats& a, const Floats& b, double scale);

}  // namespace tengine::test
