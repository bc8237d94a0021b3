// SPDX-License-Identifier: Apache-2.0
// Loads the library, gets its table, makes an environment. The contract is in runtime.h.
#include "runtime.h"

#include <dlfcn.h>

#include <cstring>
#include <filesystem>

#include "leak_check.h"
#include "tensor_file/failure.h"

namespace tengine::ort_host {
namespace {

using tools::Failure;

std::map<std::string, std::string> read_pairs(const OrtApi& api, const OrtKeyValuePairs* pairs)
{
    const char* const* keys = nullptr;
    const char* const* values = nullptr;
    size_t count = 0;
    std::map<std::string, std::string> result;
    if (pairs) api.GetKeyValuePairs(pairs, &keys, &values, &count);
    for (size_t i = 0; i < count; ++i)
        result[keys[i]] = values[i];
    return result;
}

}  // namespace

Runtime::Runtime(const std::string& library)
{
    void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) throw Failure(dlerror());
    const auto get_base = reinterpret_cast<const OrtApiBase* (*)()>(dlsym(handle, "OrtGetApiBase"));
    if (!get_base) throw Failure("'" + library + "' does not export OrtGetApiBase");
    version_ = get_base()->GetVersionString();
    api_ = get_base()->GetApi(ORT_API_VERSION);
    if (!api_)
        throw Failure("ONNX Runtime " + version_ + " does not have version " +
                      std::to_string(ORT_API_VERSION) + " of the API");
    SUSPEND_LEAK_CHECK();
    OrtStatus* status = api_->CreateEnvWithCustomLogger(log, this, ORT_LOGGING_LEVEL_WARNING,
                                                        "ort_host", &environment_);
    RESUME_LEAK_CHECK();
    check(status);
}

Runtime::~Runtime()
{
    api_->ReleaseEnv(environment_);
}

void Runtime::check(OrtStatus* status) const
{
    if (!status) return;
    const std::string message = api_->GetErrorMessage(status);
    api_->ReleaseStatus(status);
    throw Failure(message);
}

void Runtime::register_provider(const std::string& path)
{
    const std::string absolute = std::filesystem::absolute(path).string();
    check(api_->RegisterExecutionProviderLibrary(environment_, "tengine", absolute.c_str()));
}

void Runtime::unregister_provider()
{
    check(api_->UnregisterExecutionProviderLibrary(environment_, "tengine"));
}

std::vector<Device> Runtime::devices() const
{
    static const char* const kHardware[] = {"CPU", "GPU", "NPU"};
    const OrtEpDevice* const* handles = nullptr;
    size_t count = 0;
    check(api_->GetEpDevices(environment_, &handles, &count));
    std::vector<Device> devices;
    for (size_t i = 0; i < count; ++i) {
        const OrtEpDevice* handle = handles[i];
        const OrtHardwareDeviceType type = api_->HardwareDevice_Type(api_->EpDevice_Device(handle));
        devices.push_back({handle, api_->EpDevice_EpName(handle), api_->EpDevice_EpVendor(handle),
                           kHardware[type], read_pairs(*api_, api_->EpDevice_EpMetadata(handle)),
                           read_pairs(*api_, api_->EpDevice_EpOptions(handle))});
    }
    return devices;
}

std::vector<std::string> Runtime::take_messages()
{
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::move(messages_);
}

void Runtime::log(void* runtime, OrtLoggingLevel, const char*, const char*, const char* location,
                  const char* message)
{
    // placement() reports that not all nodes are on the first provider.
    if (std::strstr(location, "VerifyEachNodeIsAssignedToAnEp")) return;
    auto* self = static_cast<Runtime*>(runtime);
    const std::lock_guard<std::mutex> lock(self->mutex_);
    self->messages_.push_back(std::string(location) + ": " + message);
}

}  // namespace tengine::ort_host
