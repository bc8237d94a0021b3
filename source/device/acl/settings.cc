// SPDX-License-Identifier: Apache-2.0
#include "device/acl/settings.h"

#include <iterator>

namespace tengine::acl {
namespace {

struct Key
{
    ir_device_option_t option;
    bool Settings::*value;
};

constexpr Key kKeys[] = {
    {{"fast_math", "0", "1: convolutions may use algorithms that round differently"},
     &Settings::fast_math},
};

}  // namespace

int set_option(const std::string& key, const std::string& value, Settings* settings)
{
    std::string known;
    for (const Key& candidate : kKeys) {
        known += std::string(known.empty() ? "" : ", ") + candidate.option.key;
        if (key != candidate.option.key) continue;
        if (value != "0" && value != "1")
            return tengine_error_set(TENGINE_EINVAL, "%s: invalid value '%.100s': expected 0 or 1",
                                     candidate.option.key, value.c_str());
        settings->*candidate.value = value == "1";
        return TENGINE_OK;
    }
    return tengine_error_set(TENGINE_ENOENT, "ACL: unknown option '%.100s': expected %s",
                             key.c_str(), known.c_str());
}

const ir_device_option_t* get_option(int index)
{
    const int number = static_cast<int>(std::size(kKeys));
    return index >= 0 && index < number ? &kKeys[index].option : nullptr;
}

int read_settings(const graph& graph, const device& device, Settings* out_settings)
{
    *out_settings = {};
    for (const Key& key : kKeys) {
        const char* value = get_ir_device_option(&graph, &device, key.option.key);
        if (value) TENGINE_RETURN_IF_ERROR(set_option(key.option.key, value, out_settings));
    }
    return TENGINE_OK;
}

}  // namespace tengine::acl
