// SPDX-License-Identifier: Apache-2.0
// A device for tests: takes the operators it is told to, runs them with the default device's
// kernels, counts calls, and fails on demand. Registered while it lives.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tengine/device.h"

namespace tengine::test {

class TestDevice
{
  public:
    explicit TestDevice(std::string name, std::vector<std::string> operators = {});
    ~TestDevice();
    TestDevice(const TestDevice&) = delete;
    TestDevice& operator=(const TestDevice&) = delete;

    device* get() { return &device_; }

    // Asked by inspect() when set: a reason to refuse, or "".
    std::function<std::string(const node&)> refusal;
    // Entries that fail from now on.
    bool fail_pre_run = false;
    bool fail_run = false;
    int pre_runs = 0, runs = 0, post_runs = 0, releases = 0;
    int allocations = 0, allocator_releases = 0;
    // Called as optimizer.split_graph and counted as optimizer.optimize_graph when set.
    int (*split)(graph*) = nullptr;
    static int optimizations;  // of all test devices: the entry does not say whose it is
    void use_optimizer();
    const void* last_options = nullptr;

    const std::vector<std::string>& operators() const { return operators_; }

  private:
    std::string name_;
    std::vector<std::string> operators_;
    ir_interface_t interface_ = {};
    ir_allocator_t allocator_ = {};
    ir_optimizer_t optimizer_ = {};
    ir_device_t device_ = {};
};

}  // namespace tengine::test
