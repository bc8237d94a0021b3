// SPDX-License-Identifier: Apache-2.0
// The library that ONNX Runtime loads: its two functions, and the factory of providers, which lists
// every device that is registered.
#include <dlfcn.h>

#include <memory>
#include <mutex>

#include "context_node.h"
#include "log.h"
#include "session.h"
#include "tengine/inspect.h"

#define TENGINE_PROVIDER_EXPORT extern "C" __attribute__((visibility("default")))

namespace tengine::provider {
namespace {

constexpr const char* kVendor = "tengine";

struct Factory : OrtEpFactory
{
    Factory() : OrtEpFactory{} {}
    ~Factory()
    {
        if (accelerator) runtime().provider->ReleaseHardwareDevice(accelerator);
    }
    Factory(const Factory&) = delete;
    Factory& operator=(const Factory&) = delete;

    // The host's device type of all devices but the CPU; the host does not detect them.
    OrtHardwareDevice* accelerator = nullptr;
    // The holders are the registration and the providers of sessions: the host may end the
    // registration while sessions run, and later returns their providers to the factory.
    int holder_num = 1;
    bool is_registered = true;
};

// Registrations that have not ended, and ended ones whose sessions live. The library is initialised
// for the first and released with the last, unless the program had initialised it; the log then
// stays as the program set it.
std::mutex factory_mutex;
int factory_num = 0;
bool is_programs = false;

const char* get_name(const OrtEpFactory*) noexcept
{
    return kProviderName;
}

const char* get_vendor(const OrtEpFactory*) noexcept
{
    return kVendor;
}

const char* get_version(const OrtEpFactory*) noexcept
{
    return get_tengine_version();
}

uint32_t get_vendor_id(const OrtEpFactory*) noexcept
{
    return 0;  // there is no bus
}

// ---- devices ----

struct ReleasePairs
{
    void operator()(OrtKeyValuePairs* pairs) const { runtime().api->ReleaseKeyValuePairs(pairs); }
};
using Pairs = std::unique_ptr<OrtKeyValuePairs, ReleasePairs>;

Pairs make_pairs()
{
    OrtKeyValuePairs* pairs = nullptr;
    runtime().api->CreateKeyValuePairs(&pairs);
    return Pairs(pairs);
}

void add_pair(const Pairs& pairs, const std::string& key, const std::string& value)
{
    runtime().api->AddKeyValuePair(pairs.get(), key.c_str(), value.c_str());
}

// Returns `text`; NULL throws the library's last failure.
const char* require(const char* text, const std::string& device)
{
    if (!text) fail_library("device '" + device + "'");
    return text;
}

int require(int number, const std::string& device)
{
    if (number < 0) fail_library("device '" + device + "'");
    return number;
}

std::string list_operators(const char* device)
{
    std::string text;
    const int number = require(tengine_device_get_operator_number(device), device);
    for (int i = 0; i < number; ++i)
        text +=
            (i ? " " : "") + std::string(require(tengine_device_get_operator(device, i), device));
    return text;
}

std::string list_data_types(const char* device)
{
    std::string text;
    const int number = require(tengine_device_get_data_type_number(device), device);
    for (int i = 0; i < number; ++i) {
        const int type = require(tengine_device_get_data_type(device, i), device);
        text += (i ? " " : "") + std::string(require(tengine_data_type_get_name(type), device));
    }
    return text;
}

// The description of the device that a program can read before it creates a session.
Pairs describe_device(const char* name)
{
    Pairs pairs = make_pairs();
    add_pair(pairs, kDeviceKey, name);
    add_pair(pairs, "runs_on", require(tengine_device_get_features(name), name));
    add_pair(pairs, "operators", list_operators(name));
    add_pair(pairs, "data_types", list_data_types(name));
    for (const OptionHelp& option : list_options())
        add_pair(pairs, std::string("option.") + option.key, option.help);
    const int options = require(tengine_device_get_option_number(name), name);
    for (int i = 0; i < options; ++i)
        add_pair(pairs,
                 "option." + std::string(name) + "." +
                     require(tengine_device_get_option_name(name, i), name),
                 text_of(tengine_device_get_option_help(name, i)));
    return pairs;
}

const OrtHardwareDevice* find_cpu(const OrtHardwareDevice* const* hardware, size_t number)
{
    for (size_t i = 0; i < number; ++i)
        if (runtime().api->HardwareDevice_Type(hardware[i]) == OrtHardwareDeviceType_CPU)
            return hardware[i];
    return nullptr;
}

const OrtHardwareDevice* find_accelerator(Factory* factory)
{
    if (!factory->accelerator)
        check(runtime().provider->CreateHardwareDevice(OrtHardwareDeviceType_NPU, 0, 0, kVendor,
                                                       nullptr, &factory->accelerator));
    return factory->accelerator;
}

// All devices, the default one first.
std::vector<std::string> list_devices()
{
    std::vector<std::string> names = {default_device()};
    for (int i = 0; i < tengine_device_get_number(); ++i) {
        const std::string name = text_of(tengine_device_get_name(i));
        if (name != names[0]) names.push_back(name);
    }
    return names;
}

// The host takes at most `capacity` devices; the option devices names others.
OrtStatus* get_supported_devices(OrtEpFactory* factory, const OrtHardwareDevice* const* hardware,
                                 size_t hardware_num, OrtEpDevice** devices, size_t capacity,
                                 size_t* out_number) noexcept
{
    return guarded([&] {
        *out_number = 0;
        for (const std::string& name : list_devices()) {
            if (*out_number == capacity) return;
            const OrtHardwareDevice* place = name == default_device()
                                                 ? find_cpu(hardware, hardware_num)
                                                 : find_accelerator(static_cast<Factory*>(factory));
            if (!place) continue;
            check(runtime().provider->CreateEpDevice(factory, place,
                                                     describe_device(name.c_str()).get(), nullptr,
                                                     &devices[*out_number]));
            ++*out_number;
        }
    });
}

// ---- life ----

void start_library(const OrtLogger* logger)
{
    is_programs = tengine_is_initialised() == 1;
    if (is_programs) return;
    open_log(logger);
    if (init_tengine() == 0) return;
    close_log();
    fail_library("init_tengine");
}

void enter_library(const OrtLogger* logger)
{
    const std::lock_guard<std::mutex> lock(factory_mutex);
    if (factory_num == 0) start_library(logger);
    ++factory_num;
}

// A handle of this library, which keeps it loaded; null on failure.
void* open_itself()
{
    Dl_info own;
    if (!dladdr(&factory_num, &own) || !own.dli_fname) return nullptr;
    return dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD);
}

// Releases a holder, the registration or a provider. The last one destroys the factory and, with
// the last factory, releases the library.
void drop_factory(Factory* factory)
{
    const std::lock_guard<std::mutex> lock(factory_mutex);
    if (--factory->holder_num > 0) return;
    delete factory;
    if (--factory_num > 0 || is_programs) return;
    release_tengine();
    close_log();
}

void end_registration(Factory* factory)
{
    {
        const std::lock_guard<std::mutex> lock(factory_mutex);
        factory->is_registered = false;
    }
    drop_factory(factory);
}

// Adds a provider as holder. The host closes its handle of this library when it ends the
// registration, so each provider has a handle, too.
void hold_factory(Factory* factory)
{
    if (!open_itself()) throw Failure("the provider cannot keep itself loaded", ORT_FAIL);
    const std::lock_guard<std::mutex> lock(factory_mutex);
    ++factory->holder_num;
}

// After the end of the registration, the provider's handle stays open: it may be the last, and
// closing it would unload the code that closes it.
void leave_factory(Factory* factory)
{
    bool is_registered;
    {
        const std::lock_guard<std::mutex> lock(factory_mutex);
        is_registered = factory->is_registered;
    }
    drop_factory(factory);
    void* handle = is_registered ? open_itself() : nullptr;
    if (!handle) return;
    dlclose(handle);
    dlclose(handle);
}

// ---- providers ----

OrtStatus* create_provider(OrtEpFactory* factory, const OrtHardwareDevice* const*,
                           const OrtKeyValuePairs* const* metadata, size_t number,
                           const OrtSessionOptions* options, const OrtLogger* logger,
                           OrtEp** out_provider) noexcept
{
    return guarded([&] {
        std::vector<std::string> devices;
        for (size_t i = 0; i < number; ++i) {
            const char* name =
                metadata[i] ? runtime().api->GetKeyValue(metadata[i], kDeviceKey) : nullptr;
            if (name) devices.emplace_back(name);
        }
        hold_factory(static_cast<Factory*>(factory));
        std::unique_ptr<Factory, void (*)(Factory*)> held(static_cast<Factory*>(factory),
                                                          leave_factory);
        *out_provider = create_session_provider(read_settings(options, std::move(devices)), logger);
        held.release();
    });
}

void release_provider(OrtEpFactory* factory, OrtEp* provider) noexcept
{
    if (!provider) return;
    delete_session_provider(provider);
    leave_factory(static_cast<Factory*>(factory));
}

OrtStatus* judge_model(OrtEpFactory*, const OrtHardwareDevice* const*, size_t,
                       const char* description, OrtCompiledModelCompatibility* out_answer) noexcept
{
    return guarded([&] { *out_answer = judge_compatibility(text_of(description)); });
}

// Values are in ordinary memory, so they need no transfer.
OrtStatus* create_data_transfer(OrtEpFactory*, OrtDataTransferImpl** out_transfer) noexcept
{
    *out_transfer = nullptr;
    return nullptr;
}

OrtStatus* create_allocator(OrtEpFactory*, const OrtMemoryInfo*, const OrtKeyValuePairs*,
                            OrtAllocator** out_allocator) noexcept
{
    *out_allocator = nullptr;
    return nullptr;
}

void release_allocator(OrtEpFactory*, OrtAllocator*) noexcept {}

bool is_stream_aware(const OrtEpFactory*) noexcept
{
    return false;
}

std::unique_ptr<Factory> make_factory()
{
    auto made = std::make_unique<Factory>();
    made->ort_version_supported = ORT_API_VERSION;
    made->GetName = get_name;
    made->GetVendor = get_vendor;
    made->GetVersion = get_version;
    made->GetVendorId = get_vendor_id;
    made->GetSupportedDevices = get_supported_devices;
    made->CreateEp = create_provider;
    made->ReleaseEp = release_provider;
    made->ValidateCompiledModelCompatibilityInfo = judge_model;
    made->CreateDataTransfer = create_data_transfer;
    made->CreateAllocator = create_allocator;
    made->ReleaseAllocator = release_allocator;
    made->IsStreamAware = is_stream_aware;
    return made;
}

}  // namespace
}  // namespace tengine::provider

TENGINE_PROVIDER_EXPORT OrtStatus* CreateEpFactories(const char*, const OrtApiBase* base,
                                                     const OrtLogger* logger,
                                                     OrtEpFactory** factories, size_t capacity,
                                                     size_t* out_number)
{
    using namespace tengine::provider;
    *out_number = 0;
    if (!set_runtime(base))
        return base->GetApi(1)->CreateStatus(
            ORT_NOT_IMPLEMENTED, "ONNX Runtime is too old for tengine: expected 1.24 or newer");
    return guarded([&] {
        if (capacity < 1)
            throw Failure("the capacity is 0 factories: expected 1 or more", ORT_INVALID_ARGUMENT);
        std::unique_ptr<Factory> made = make_factory();
        enter_library(logger);
        factories[0] = made.release();
        *out_number = 1;
    });
}

TENGINE_PROVIDER_EXPORT OrtStatus* ReleaseEpFactory(OrtEpFactory* factory)
{
    using namespace tengine::provider;
    end_registration(static_cast<Factory*>(factory));
    return nullptr;
}
