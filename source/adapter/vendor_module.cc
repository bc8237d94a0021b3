// SPDX-License-Identifier: Apache-2.0
// Modules of byte code: how they are kept, and loaded by the dispatch.
#include <cinttypes>
#include <cstring>

#include "adapter/vendor_device.h"

namespace tengine::adapter {
namespace {

// The head of a saved part: this struct, the entry point, the SDK's version, and the module at
// kModuleOffset.
struct SavedHead
{
    char magic[8];
    uint64_t entry_size;
    uint64_t sdk_size;
    uint64_t module_size;
    uint64_t is_shared;  // 0 or 1
};
constexpr char kMagic[8] = {'T', 'V', 'E', 'N', 'D', 'O', 'R', '2'};
constexpr size_t kModuleOffset = 4096;
constexpr size_t kMaxTexts = kModuleOffset - sizeof(SavedHead);

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

int load_module(VendorDevice& vendor, const void* bytes, const SavedHead& head,
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
    void* aligned = align(memory, number, kModuleOffset);
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

int save_call(const Call& call, struct ir_sink* sink)
{
    const Module& module = *call.module;
    SavedHead head{};
    std::memcpy(head.magic, kMagic, sizeof kMagic);
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
    Vector<uint8_t> front(kModuleOffset);
    std::memcpy(front.data(), &head, sizeof head);
    std::memcpy(front.data() + sizeof head, texts.data(), texts.size());
    TENGINE_RETURN_IF_ERROR(write_ir_sink(sink, front.data(), front.size()));
    return write_ir_sink(sink, module.bytes, module.size);
}

int load_call(VendorDevice& vendor, const void* data, size_t size, Call* out_call)
{
    if (size < kModuleOffset)
        return tengine_error_set(TENGINE_EFORMAT,
                                 "the saved part is truncated: %zu bytes, expected at least %zu",
                                 size, kModuleOffset);
    SavedHead head;
    std::memcpy(&head, data, sizeof head);
    if (std::memcmp(head.magic, kMagic, sizeof kMagic) != 0 || head.entry_size > kMaxTexts ||
        head.sdk_size > kMaxTexts - head.entry_size || head.module_size != size - kModuleOffset)
        return tengine_error_set(TENGINE_EFORMAT,
                                 "the saved part is damaged: its head states %" PRIu64 ", %" PRIu64
                                 " and %" PRIu64 " bytes, it has %zu",
                                 head.entry_size, head.sdk_size, head.module_size, size);
    const char* bytes = static_cast<const char*>(data);
    const char* texts = bytes + sizeof head;
    TENGINE_RETURN_IF_ERROR(
        check_sdk(vendor, String(texts + head.entry_size, static_cast<size_t>(head.sdk_size))));
    out_call->entry_point.assign(texts, static_cast<size_t>(head.entry_size));
    return load_module(vendor, bytes + kModuleOffset, head, &out_call->module);
}

}  // namespace tengine::adapter
