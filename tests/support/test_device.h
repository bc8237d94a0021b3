// SPDX-License-Identifier: Apache-2.0
// A device for tests: takes the given operators, runs them with the default device's kernels,
// counts calls, and misbehaves on demand. It is registered during its lifetime.
// support/devices/scripted_device.h has its abilities; this class is its C++ interface.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "support/devices/scripted_device.h"

namespace tengine::test {

class TestDevice
{
  public:
    explicit TestDevice(std::string name, std::vector<std::string> operators = {});
    // Ends the hangs and waits until all calls into the device have returned.
    ~TestDevice();
    TestDevice(const TestDevice&) = delete;
    TestDevice& operator=(const TestDevice&) = delete;

    device* get() { return &scripted_.device; }

    // Called by inspect() if set: returns a reason to refuse, or "".
    std::function<std::string(const node&)> refusal;
    // Called by the entries if set, on the thread of the call; see script_hooks_t.
    std::function<int(const node&)> on_inspect;
    std::function<int(const node&)> group;  // of the verdict
    std::function<int(const graph&)> on_survey;
    std::function<void(subgraph*)> on_pre_run;
    std::function<int(subgraph*)> on_run, on_async_run;
    std::function<int(subgraph*, int try_wait)> on_async_wait;
    std::function<void()> before_end;  // called before the device is unregistered
    std::atomic<const void*> last_options{nullptr};

    // The optional entries estimate (script.estimate_*), survey, async_run with async_wait, cancel,
    // which ends the hangs, and the optimizer's.
    void use_estimate() { enable_scripted_estimate(&scripted_); }
    void use_survey() { enable_scripted_survey(&scripted_); }
    void use_async() { enable_scripted_async(&scripted_); }
    void use_cancel() { enable_scripted_cancel(&scripted_); }
    void use_optimizer();
    // Called as optimizer.split_graph and counted as optimizer.optimize_graph if set.
    int (*split)(graph*) = nullptr;
    static int optimizations;  // of all test devices: the entry does not get its device

    void release_hangs() { release_scripted_hangs(&scripted_); }

  private:
    std::string name_, operators_;
    scripted_device_t scripted_ = {};
    ir_optimizer_t optimizer_ = {};

  public:
    // Changes take effect with the next call; not allowed while calls are in flight.
    script_t& script = scripted_.script;
    int& fail_pre_run = script.fail_pre_run;
    int& fail_run = script.fail_all_runs;

    const script_count_t& describes = scripted_.describes;
    const script_count_t& surveys = scripted_.surveys;
    const script_count_t& inspects = scripted_.inspects;
    const script_count_t& estimates = scripted_.estimates;
    const script_count_t& evaluations = scripted_.evaluations;
    const script_count_t& pre_runs = scripted_.pre_runs;
    const script_count_t& runs = scripted_.runs;
    const script_count_t& async_runs = scripted_.async_runs;
    const script_count_t& async_waits = scripted_.async_waits;
    const script_count_t& post_runs = scripted_.post_runs;
    const script_count_t& releases = scripted_.releases;
    const script_count_t& allocations = scripted_.allocations;
    const script_count_t& allocator_releases = scripted_.allocator_releases;
    const script_count_t& hanging = scripted_.hanging;
    const script_count_t& cancels = scripted_.cancels;
};

}  // namespace tengine::test
