// SPDX-License-Identifier: Apache-2.0
// The room adapter: what is no device of its own becomes one here. It sees devices as their authors
// do, through include/tengine, and may do no more than they.
//
// A vendor's compiler and dispatch (tengine/compiler_plugin.h) as a device.
#pragma once

#include <atomic>

#include "base/containers.hpp"
#include "tengine/compiler_plugin.h"

namespace tengine::adapter {

struct VendorDevice : Allocated
{
    String name;
    String features;
    const tengine_compiler_t* compiler = nullptr;
    const tengine_dispatch_t* dispatch = nullptr;
    std::atomic<int> use_number{0};  // parts and surveys that graphs have
    struct interface interface
    {
    };
    struct allocator allocator
    {
    };
    struct optimizer optimizer
    {
    };
    struct device device
    {
    };
    VendorDevice* next = nullptr;
};

inline VendorDevice& vendor_device(const struct device* device)
{
    return *static_cast<VendorDevice*>(device->privacy);
}

// ---- a preparation: what the compiler wants of a graph (vendor_survey.cc) ----

// An instance of the compiler, with what partition() chose.
class Survey;

int survey_graph(struct device* device, const struct graph* graph);
int inspect_node(struct device* device, const struct node* node, ir_verdict_t* out_verdict);
// Compiles one part with the instance of its preparation.
int compile_part(VendorDevice& vendor, const struct subgraph& subgraph, void** out_result);

// ---- parts (vendor_part.cc) ----

void fill_part_entries(struct interface& interface);

}  // namespace tengine::adapter
