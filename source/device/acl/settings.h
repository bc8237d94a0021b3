// SPDX-License-Identifier: Apache-2.0
// The device's options by key: fast_math.
#pragma once

#include <string>

#include "tengine/device.h"

namespace tengine::acl {

struct Settings
{
    // Convolutions may use algorithms that round differently (Winograd).
    bool fast_math = false;
};

// Sets one option. TENGINE_ENOENT, TENGINE_EINVAL with a message.
int set_option(const std::string& key, const std::string& value, Settings* settings);

// An entry of the list of options; null after the last.
const ir_device_option_t* get_option(int index);

// All options that the graph's context has for the device.
int read_settings(const graph& graph, const device& device, Settings* out_settings);

}  // namespace tengine::acl
