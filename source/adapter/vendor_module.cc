// SPDX-License-Identifier: Apache-2.0
// Modules of byte code: how they are kept, and loaded by the dispatch.
#include <cstring>

#include "adapter/vendor_device.h"
#include "base/saved_call.h"

namespace tengine::adapter {
namespace {

constexpr size_t kMaxTexts = SAVED_CALL_MODULE - sizeof(saved_call_head_t);

// ---- modules of several parts ----
// Each of these parts is saved with all of the module. The first that is loaded copies it, since
// the bytes that parts are loaded from are freed with them, in any order.

ModulePointer find_loaded(VendorDevice& vendor, const void* bytes, size_t size)
{
    const std::lock_guard<std::mutex> lock(vendor.mutex);
    Module* module = vendor.loaded;
    while (module && (module->size != size || std::memcmp(module->bytes, bytes, size) != 0))
        module = module->next;
    return module ? ModulePointer(module) : ModulePointer();
}

void share(Module& module)
{
    const std::lock_guard<std::mutex> lock(module.vendor.mutex);
    module.next = module.vendor.loaded;
    module.vendor.loaded = &module;
}

void remove_loaded(Module& module)
{
    Module** link = &module.vendor.loaded;
    while (*link && *link != &module)
        link = &(*link)->next;
    if (*link) *link = module.next;
}

int load_module(VendorDevice& vendor, const void* bytes, const saved_call_head_t& head,
                ModulePointer* out_module)
{
    const auto size = static_cast<size_t>(head.module_size);
    if (head.is_shared != 0) return load_shared_module(vendor, bytes, size, out_module);
    ModulePointer module(new Module(vendor));
    module->bytes = bytes;
    module->size = size;
    *out_module = module;
    return module->load();
}

int check_sdk(const VendorDevice& vendor, const String& version)
{
    if (!vendor.compiler || version == vendor.compiler->sdk_version) return 0;
    return tengine_error_set(TENGINE_EVERSION,
                             "device '%s': compiled by version '%s' of the SDK, expected '%s'",
                             vendor.name.c_str(), version.c_str(), vendor.compiler->sdk_version);
}

}  // namespace

void* align(Vector<uint8_t>& bytes, size_t size, size_t alignment)
{
    bytes.resize(size + alignment);
    const auto address = reinterpret_cast<uintptr_t>(bytes.data());
    return bytes.data() + (alignment - address % alignment) % alignment;
}

void Module::copy(const void* from, size_t number)
{
    void* aligned = align(memory, number, SAVED_CALL_MODULE);
    if (number > 0) std::memcpy(aligned, from, number);
    bytes = aligned;
    size = number;
}

int load_shared_module(VendorDevice& vendor, const void* bytes, size_t size,
                       ModulePointer* out_module)
{
    *out_module = find_loaded(vendor, bytes, size);
    if (*out_module) return 0;
    ModulePointer module(new Module(vendor));
    module->is_shared = true;
    module->copy(bytes, size);
    *out_module = module;
    return module->load();
}

int Module::load()
{
    if (handle) return 0;
    TENGINE_RETURN_IF_ERROR(as_failure("load", vendor.dispatch->load(bytes, size, &handle)));
    if (is_shared) share(*this);
    return 0;
}

void leave_module(Module* module)
{
    {
        const std::lock_guard<std::mutex> lock(module->vendor.mutex);
        if (--module->use_num > 0) return;
        remove_loaded(*module);
    }
    delete module;
}

int save_call(const Call& call, const struct graph& graph, struct ir_sink* sink)
{
    const Module& module = *call.module;
    const VendorDevice& vendor = module.vendor;
    const char* maker =
        vendor.compiler ? vendor.compiler->manufacturer : vendor.dispatch->manufacturer;
    const char* chip = find_soc_model(vendor, graph);
    saved_call_head_t head{};
    std::memcpy(head.magic, SAVED_CALL_MAGIC, sizeof head.magic);
    head.entry_size = call.entry_point.size();
    head.sdk_size = module.sdk_version.size();
    head.module_size = module.size;
    head.is_shared = module.is_shared ? 1 : 0;
    const String texts = call.entry_point + module.sdk_version;
    if (texts.size() > kMaxTexts)
        return tengine_error_set(TENGINE_ELIMIT,
                                 "entry point '%.100s': its name and the SDK's version have %zu "
                                 "bytes, expected at most %zu",
                                 call.entry_point.c_str(), texts.size(), kMaxTexts);
    String owner = maker ? maker : "";
    owner.push_back('\0');
    owner += chip ? chip : "";
    const bool has_room = texts.size() + owner.size() < kMaxTexts;
    Vector<uint8_t> front(SAVED_CALL_MODULE);
    std::memcpy(front.data(), &head, sizeof head);
    std::memcpy(front.data() + sizeof head, texts.data(), texts.size());
    if (has_room)
        std::memcpy(front.data() + sizeof head + texts.size(), owner.data(), owner.size());
    TENGINE_RETURN_IF_ERROR(write_ir_sink(sink, front.data(), front.size()));
    return write_ir_sink(sink, module.bytes, module.size);
}

int load_call(VendorDevice& vendor, const void* data, size_t size, Call* out_call)
{
    saved_call_t saved;
    if (!read_saved_call(data, size, &saved))
        return tengine_error_set(TENGINE_EFORMAT,
                                 "the saved part is damaged: its %zu bytes are not those of a "
                                 "vendor's part, or fewer or more than its head states",
                                 size);
    TENGINE_RETURN_IF_ERROR(
        check_sdk(vendor, String(saved.sdk_version, static_cast<size_t>(saved.head.sdk_size))));
    out_call->entry_point.assign(saved.entry_point, static_cast<size_t>(saved.head.entry_size));
    return load_module(vendor, saved.module, saved.head, &out_call->module);
}

}  // namespace tengine::adapter
