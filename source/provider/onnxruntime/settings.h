// SPDX-License-Identifier: Apache-2.0
// The options of the provider for one session, and the context that has them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime.h"
#include "tengine/c_api.h"

namespace tengine::provider {

// The provider's name: prefix of options, source of compiled nodes, and its name in the host's
// reports.
constexpr const char* kProviderName = "TengineExecutionProvider";

// Metadata of the devices that the host lists: the name of the library's device.
constexpr const char* kDeviceKey = "device";

using ContextPointer = std::shared_ptr<void>;  // a context_t

// The device that runs on the processor of the host, and takes every node.
std::string default_device();

// How compiled parts are stored in the model that the host writes.
struct KeptParts
{
    bool is_wanted = false;
    bool is_embedded = false;  // in the model itself, else in files beside it
    std::string model;         // that the host writes; "" when it has not named it
};

struct Settings
{
    std::vector<std::string> devices;  // the library's, best first
    options_t options = {0, TENGINE_CLUSTER_BIG, TENGINE_MODE_FP32, 0};
    std::string precision = "fp32";
    std::string report;  // file for the placement, "" for none
    KeptParts kept_parts;
    ContextPointer context;  // with all these devices and options

    bool has_device(const std::string& name) const;
    // "TPU, ACL", for messages.
    std::string device_list() const;
};

// Reads the options of `session`, whose devices are these unless an option names others. Throws
// Failure for an unknown one, with the known ones.
Settings read_settings(const OrtSessionOptions* session, std::vector<std::string> devices);

// The options of the provider that are not those of a context: the key, and a description.
struct OptionHelp
{
    const char* key;
    const char* help;
};
const std::vector<OptionHelp>& list_options();

}  // namespace tengine::provider
