// SPDX-License-Identifier: Apache-2.0
// The room adapter: makes devices of what is built in another way. It sees devices as their authors
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
    std::atomic<int> use_num{0};  // parts and surveys that graphs have
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

// Byte code: of a result of the compiler, or what was kept. Parts share it.
struct Module : Allocated
{
    explicit Module(VendorDevice& of) : vendor(of) {}
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;
    ~Module()
    {
        if (handle) vendor.dispatch->unload(handle);
    }
    void copy(const void* from, size_t number);

    VendorDevice& vendor;
    Vector<uint8_t> memory;  // of the bytes, unless they lie in a file
    const void* bytes = nullptr;
    size_t size = 0;
    void* handle = nullptr;  // of the dispatch, once it has been loaded
    std::atomic<int> use_num{0};
};

class ModulePointer
{
  public:
    ModulePointer() = default;
    explicit ModulePointer(Module* module) : module_(module) { ++module_->use_num; }
    ModulePointer(const ModulePointer& other) : module_(other.module_)
    {
        if (module_) ++module_->use_num;
    }
    ModulePointer& operator=(ModulePointer other)
    {
        std::swap(module_, other.module_);
        return *this;
    }
    ~ModulePointer()
    {
        if (module_ && --module_->use_num == 0) delete module_;
    }
    Module* operator->() const { return module_; }
    Module& operator*() const { return *module_; }
    explicit operator bool() const { return module_ != nullptr; }

  private:
    Module* module_ = nullptr;
};

// How a part is called.
struct Call
{
    ModulePointer module;
    String entry_point;
};

// A failure of a vendor's function, with a sentence if it gave none.
int as_failure(const char* entry, int status);

// ---- a preparation: what the compiler wants of a graph (vendor_survey.cc) ----

// An instance of the compiler, with what partition() chose.
class Survey;

int survey_graph(struct device* device, const struct graph* graph);
int inspect_node(struct device* device, const struct node* node, ir_verdict_t* out_verdict);
// With the instance of the preparation: all parts at once, and the call of one, which is compiled
// alone when it was not among these.
int compile_parts(struct device* device, const struct subgraph* const parts[], int number);
int find_call(VendorDevice& vendor, const struct subgraph& subgraph, Call* out_call);

// ---- parts (vendor_part.cc) ----

void fill_part_entries(struct interface& interface);

}  // namespace tengine::adapter
