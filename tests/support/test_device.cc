// SPDX-License-Identifier: Apache-2.0
#include "support/test_device.h"

#include <gtest/gtest.h>
#include <utility>

#include "module/module.h"
#include "scheduler/watchdog.h"

namespace tengine::test {
namespace {

// Longer than any test may take.
constexpr int kHungCallsMs = 60000;

std::string join(const std::vector<std::string>& words)
{
    std::string text;
    for (const std::string& word : words)
        text += (text.empty() ? "" : ",") + word;
    return text;
}

TestDevice& self(void* privacy)
{
    return *static_cast<TestDevice*>(privacy);
}

int inspect(void* privacy, const node* node, ir_verdict_t* verdict)
{
    const auto& refusal = self(privacy).refusal;
    const std::string reason = refusal ? refusal(*node) : "";
    if (!reason.empty())
        refuse_ir_node(verdict, IR_REASON_ATTRIBUTE, "attribute", "value", "%s", reason.c_str());
    if (self(privacy).group) verdict->group = self(privacy).group(*node);
    const auto& hook = self(privacy).on_inspect;
    return hook ? hook(*node) : TENGINE_OK;
}

int survey(void* privacy, const graph* graph)
{
    const auto& hook = self(privacy).on_survey;
    return hook ? hook(*graph) : TENGINE_OK;
}

void pre_run(void* privacy, subgraph* part, void* options)
{
    self(privacy).last_options = options;
    if (self(privacy).on_pre_run) self(privacy).on_pre_run(part);
}

int run(void* privacy, subgraph* part)
{
    const auto& hook = self(privacy).on_run;
    return hook ? hook(part) : TENGINE_OK;
}

int async_run(void* privacy, subgraph* part)
{
    const auto& hook = self(privacy).on_async_run;
    return hook ? hook(part) : TENGINE_OK;
}

int async_wait(void* privacy, subgraph* part, int try_wait)
{
    const auto& hook = self(privacy).on_async_wait;
    return hook ? hook(part, try_wait) : 1;
}

}  // namespace

int TestDevice::optimizations = 0;

void TestDevice::use_optimizer()
{
    optimizer_.split_graph = split;
    optimizer_.optimize_graph = [](graph*, int) {
        ++optimizations;
        return int{TENGINE_OK};
    };
    scripted_.device.optimizer = &optimizer_;
}

TestDevice::TestDevice(std::string name, std::vector<std::string> operators)
    : name_(std::move(name)), operators_(join(operators))
{
    EXPECT_EQ(init_modules(), TENGINE_OK) << tengine_error_message();
    init_scripted_device(&scripted_, name_.c_str());
    script.operators = operators_.c_str();
    scripted_.hooks = {this, inspect, survey, pre_run, run, async_run, async_wait};
    EXPECT_EQ(register_device(get()), TENGINE_OK) << tengine_error_message();
}

TestDevice::~TestDevice()
{
    release_hangs();
    if (before_end) before_end();
    EXPECT_EQ(wait_hung_calls(kHungCallsMs), 0);
    EXPECT_EQ(unregister_device(get()), TENGINE_OK) << tengine_error_message();
}

}  // namespace tengine::test
