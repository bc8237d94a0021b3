// SPDX-License-Identifier: Apache-2.0
#include "support/test_device.h"

#include <gtest/gtest.h>
#include <utility>

#include "module/module.h"

namespace tengine::test {
namespace {

TestDevice& self(device* device)
{
    return *static_cast<TestDevice*>(device->privacy);
}

int do_nothing(device*)
{
    return TENGINE_OK;
}

int describe(device* device, vector* allowed, vector*, vector* precision)
{
    for (const std::string& name : self(device).operators()) {
        const char* text = name.c_str();
        TENGINE_RETURN_IF_ERROR(push_op_names(allowed, &text, 1));
    }
    int type = TENGINE_DT_FP32;
    return push_vector_data(precision, &type);
}

int inspect(device* device, const node* node, ir_verdict_t* verdict)
{
    const auto& refusal = self(device).refusal;
    const std::string reason = refusal ? refusal(*node) : "";
    if (!reason.empty())
        refuse_ir_node(verdict, IR_REASON_ATTRIBUTE, "attribute", "value", "%s", reason.c_str());
    return TENGINE_OK;
}

int pre_run(device* device, subgraph* part, void* options)
{
    self(device).pre_runs++;
    self(device).last_options = options;
    if (self(device).fail_pre_run) return tengine_error_set(TENGINE_EDEVICE, "told to fail");
    struct device* host = find_default_device();
    return host->interface->pre_run(host, part, nullptr);
}

int run(device* device, subgraph* part)
{
    self(device).runs++;
    if (self(device).fail_run) return -7;  // a bare status, without a sentence
    struct device* host = find_default_device();
    return host->interface->run(host, part);
}

int post_run(device* device, subgraph*)
{
    self(device).post_runs++;
    return TENGINE_OK;
}

int release_graph(device* device, void* device_graph)
{
    self(device).releases++;
    struct device* host = find_default_device();
    return host->interface->release_graph(host, device_graph);
}

int allocate(device* device, subgraph*)
{
    self(device).allocations++;
    return TENGINE_OK;
}

int release(device* device, subgraph*)
{
    self(device).allocator_releases++;
    return TENGINE_OK;
}

}  // namespace

int TestDevice::optimizations = 0;

void TestDevice::use_optimizer()
{
    optimizer_.split_graph = split;
    optimizer_.optimize_graph = [](graph*, int) {
        optimizations++;
        return int{TENGINE_OK};
    };
    device_.optimizer = &optimizer_;
}

TestDevice::TestDevice(std::string name, std::vector<std::string> operators)
    : name_(std::move(name)), operators_(std::move(operators))
{
    EXPECT_EQ(init_modules(), TENGINE_OK) << tengine_error_message();
    interface_.init = do_nothing;
    interface_.pre_run = pre_run;
    interface_.run = run;
    interface_.post_run = post_run;
    interface_.release_graph = release_graph;
    interface_.release_device = do_nothing;
    allocator_.describe = describe;
    allocator_.inspect = inspect;
    allocator_.allocate = allocate;
    allocator_.release = release;
    init_ir_device(&device_, name_.c_str());
    device_.interface = &interface_;
    device_.allocator = &allocator_;
    device_.privacy = this;
    EXPECT_EQ(register_device(&device_), TENGINE_OK) << tengine_error_message();
}

TestDevice::~TestDevice()
{
    EXPECT_EQ(unregister_device(&device_), TENGINE_OK);
}

}  // namespace tengine::test
