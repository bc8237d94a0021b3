// SPDX-License-Identifier: Apache-2.0
// The members of Config as data: checked, read and printed by one table (config.cc,
// config_json.cc).
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "device/tpu/machine/config.h"

namespace tengine::tpu {

// A member's place and range; `low` and `high` do not apply to bool.
struct ConfigField
{
    const char* name;
    std::variant<int Config::*, int64_t Config::*, double Config::*, bool Config::*> member;
    double low;
    double high;
};

// Returns all members except Config::name, in the order of the struct.
const std::vector<ConfigField>& config_fields();

const std::vector<Config>& all_presets();
// Returns null if there is no preset of that name.
const Config* find_preset(const std::string& name);
// Returns "tpu-v1, edge, scale32".
std::string preset_names();

}  // namespace tengine::tpu
