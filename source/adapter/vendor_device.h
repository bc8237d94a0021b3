// SPDX-License-Identifier: Apache-2.0
// The room adapter: makes devices of code that is built in another way. It sees devices as their
// authors do, through include/tengine, and may do no more than they.
//
// A vendor's compiler and dispatch (tengine/compiler_plugin.h) as a device.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "base/containers.hpp"
#include "tengine/compiler_plugin.h"

namespace tengine::adapter {

struct Module;
struct Run;

// A table that was registered: a copy, whose entries that a shorter one lacks are NULL.
template <class Table>
class Registered
{
  public:
    void set(const Table* given)
    {
        given_ = given;
        copy_ = {};
        if (given) std::memcpy(&copy_, given, std::min<size_t>(given->size, sizeof copy_));
    }
    const Table* given() const { return given_; }
    const Table* operator->() const { return &copy_; }
    const Table& operator*() const { return copy_; }
    explicit operator bool() const { return given_ != nullptr; }

  private:
    const Table* given_ = nullptr;
    Table copy_ = {};
};

struct VendorDevice : Allocated
{
    String name;
    String features;
    Registered<tengine_compiler_t> compiler;
    Registered<tengine_dispatch_t> dispatch;
    Vector<int> operators;        // ids of those that the compiler lists
    Vector<int> all_operators;    // all operators, after the first request; guarded by `mutex`
    std::atomic<int> use_num{0};  // parts and surveys that graphs have
    std::mutex mutex;             // guards `loaded` and `runs`
    Module* loaded = nullptr;     // modules that later parts may share, in a chain
    Run* runs = nullptr;          // in flight, in a chain
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

// The model of the chip that the graph is compiled for: the user's option, else the model of this
// machine; NULL when neither is known.
const char* find_soc_model(const VendorDevice& vendor, const struct graph& graph);
// TENGINE_EINVAL: the compiler does not know the model.
int check_soc_model(const tengine_compiler_t& compiler, const char* model);

// ---- byte code (vendor_module.cc) ----

// A module of byte code, which the compiler has made or a file has. Parts share it.
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
    // The dispatch loads the module, once; parts that are loaded later may share it then.
    int load();

    VendorDevice& vendor;
    Vector<uint8_t> memory;  // holds the bytes, unless they lie in a file
    const void* bytes = nullptr;
    size_t size = 0;
    String sdk_version;      // the version of the compiler that made it
    bool is_shared = false;  // it has entry points of several parts
    void* handle = nullptr;
    std::atomic<int> use_num{0};
    Module* next = nullptr;
};

// Releases the module; the last holder deletes it.
void leave_module(Module* module);

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
        if (module_) leave_module(module_);
    }
    Module* operator->() const { return module_; }
    Module& operator*() const { return *module_; }
    explicit operator bool() const { return module_ != nullptr; }

  private:
    Module* module_ = nullptr;
};

// The entry point of a part in a module.
struct Call
{
    ModulePointer module;
    String entry_point;
};

// Memory in `bytes` for `size` bytes at such an address.
void* align(Vector<uint8_t>& bytes, size_t size, size_t alignment);

// Writes and reads the form in which a part is saved; reading also loads the module.
// TENGINE_EFORMAT: the bytes are not a saved part. TENGINE_EVERSION: another version of the SDK
// than that of the present compiler.
int save_call(const Call& call, const struct graph& graph, struct ir_sink* sink);
int load_call(VendorDevice& vendor, const void* data, size_t size, Call* out_call);

// The failure of a vendor's function, with a message if the function gave none.
int as_failure(const char* entry, int status);

// ---- a preparation: the nodes that the compiler chooses (vendor_survey.cc) ----

// An instance of the compiler, and the nodes that its partition() has chosen.
class Survey;

int survey_graph(struct device* device, const struct graph* graph);
int keep_nodes(struct device* device, const struct graph* graph, struct vector* nodes);
int inspect_node(struct device* device, const struct node* node, ir_verdict_t* out_verdict);
// Compiles all parts at once, and one part, which is compiled alone when it was not among these;
// with the preparation's instance of the compiler. TENGINE_ESTATE: an earlier call was given up and
// has not returned.
int compile_parts(struct device* device, const struct subgraph* const parts[], int number);
int find_call(VendorDevice& vendor, const struct subgraph& subgraph, Call* out_call);

// ---- byte code of .tflite files (vendor_dispatch.cc) ----

// Whether the node runs byte code that its file has.
bool is_dispatch(const struct node& node);
// The node of a part that is such a node; NULL: it is another part.
const struct node* find_dispatch(const struct subgraph& part);
// The maker of the chip must be the vendor's, and the model this machine's, as far as each is
// known.
void judge_dispatch(const VendorDevice& vendor, const struct node& node, ir_verdict_t* out_verdict);
int take_dispatch(VendorDevice& vendor, const struct node& node, Call* out_call);

// The module of these bytes, a copy. Parts of the same bytes share it.
int load_shared_module(VendorDevice& vendor, const void* bytes, size_t size,
                       ModulePointer* out_module);

// ---- parts (vendor_part.cc) ----

void fill_part_entries(struct interface& interface);

}  // namespace tengine::adapter
