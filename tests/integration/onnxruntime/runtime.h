// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime in a program that does not link it: loaded by path, with one environment, which has
// the tested execution provider. Sessions are in session.h.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "onnxruntime_c_api.h"

namespace tengine::ort_host {

inline constexpr char kProvider[] = "TengineExecutionProvider";

struct Device
{
    const OrtEpDevice* handle = nullptr;
    std::string provider;
    std::string vendor;
    std::string hardware;  // "CPU", "GPU" or "NPU"
    std::map<std::string, std::string> metadata;
    std::map<std::string, std::string> options;
};

class Runtime
{
  public:
    // Throws Failure: not a library, or of an older API than the headers.
    explicit Runtime(const std::string& library);
    // No session may exist.
    ~Runtime();
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;

    const OrtApi& api() const { return *api_; }
    OrtEnv* environment() const { return environment_; }
    const std::string& version() const { return version_; }

    // Throws Failure with the message of the status, which it releases.
    void check(OrtStatus* status) const;

    // Throws Failure with the provider's message.
    void register_provider(const std::string& path);
    void unregister_provider();

    // Returns all devices, ONNX Runtime's own included.
    std::vector<Device> devices() const;

    // Returns the log messages since the last call, warnings and errors.
    std::vector<std::string> take_messages();

  private:
    static void log(void* runtime, OrtLoggingLevel severity, const char* category,
                    const char* log_id, const char* location, const char* message);

    const OrtApi* api_ = nullptr;
    OrtEnv* environment_ = nullptr;
    std::string version_;
    std::mutex mutex_;
    std::vector<std::string> messages_;
};

}  // namespace tengine::ort_host
