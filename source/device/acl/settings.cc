// SPDX-License-Identifier: Apache-2.0
#include "device/acl/settings.h"

namespace tengine::acl {
namespace {

struct Key
{
    const char* name;
    bool Settings::*value;
};

constexpr Key kKeys[] = {
    {"fast_math", &Settings::fast_math},
};

}  // namespace

int set_option(const std::string& key, const std::string& value, Settings* settings)
{
    std::string known;
    for (const Key& candidate : kKeys) {
        known += std::string(known.empty() ? "" : ", ") + candidate.name;
        if (key != candidate.name) continue;
        if (value != "0" && value != "1")
            return tengine_error_set(TENGINE_EINVAL, "%s: '%.100s' is neither 0 nor 1",
                                     candidate.name, value.c_str());
        settings->*candidate.value = value == "1";
        return TENGINE_OK;
    }
    return tengine_error_set(TENGINE_ENOENT, "ACL has no option '%.100s'; it has %s", key.c_str(),
                             known.c_str());
}

int read_settings(const graph& graph, const device& device, Settings* out_settings)
{
    *out_settings = {};
    for (const Key& key : kKeys) {
        const char* value = get_ir_device_option(&graph, &device, key.name);
        if (value) TENGINE_RETURN_IF_ERROR(set_option(key.name, value, out_settings));
    }
    return TENGINE_OK;
}

}  // namespace tengine::acl
